"""Graph: every way in, what bad input gets, and that nothing can change it afterwards."""

import copy
import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from elene.graph import MAX_NODES, Graph, GraphWarning, as_graph, disjoint_union

SQUARE_WITH_TAIL = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]


@st.composite
def simple_graphs(draw):
    """A networkx graph on 0 .. n - 1, isolated nodes and the empty graph included."""
    n = draw(st.integers(0, 12))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph


def assert_same(graph: Graph, expected: nx.Graph) -> None:
    """The graph is what networkx says, and its arrays are as promised."""
    position = {name: i for i, name in enumerate(expected.nodes)}
    assert graph.nodes.tolist() == list(expected.nodes)
    assert graph.num_nodes == expected.number_of_nodes()
    assert graph.num_edges == expected.number_of_edges()
    for name, i in position.items():
        assert graph.neighbors(i).tolist() == sorted(position[other] for other in expected[name])
    assert graph.edges.tolist() == sorted(sorted((position[u], position[v])) for u, v in expected.edges)
    assert graph.degrees.tolist() == [degree for _, degree in expected.degree]
    assert graph.max_degree == max((degree for _, degree in expected.degree), default=0)
    assert (graph.indptr.dtype, graph.indices.dtype, graph.edges.dtype) == (np.int64, np.int32, np.int32)


def square_with_tail() -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(5))
    graph.add_edges_from(SQUARE_WITH_TAIL)
    return graph


def both_directions(edges) -> np.ndarray:
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return np.concatenate([pairs, pairs[:, ::-1]]).T


# Ways in


@settings(deadline=None)
@given(simple_graphs(), st.randoms())
def test_from_edges_takes_rows_in_any_order_and_either_direction(expected, random):
    rows = [random.choice([(u, v), (v, u)]) for u, v in expected.edges]
    random.shuffle(rows)
    assert_same(Graph.from_edges(rows, num_nodes=len(expected)), expected)


@settings(deadline=None)
@given(simple_graphs())
def test_networkx_scipy_and_edge_index_agree(expected):
    n = len(expected)
    assert_same(Graph.from_networkx(expected), expected)
    assert_same(Graph.from_pyg(both_directions(expected.edges), num_nodes=n), expected)
    matrix = sp.coo_array((n, n)) if n == 0 else nx.to_scipy_sparse_array(expected, format="csr")
    assert_same(Graph.from_scipy(matrix), expected)
    assert_same(Graph.from_scipy(Graph.from_scipy(matrix).to_scipy()), expected)


def test_from_edges_counts_nodes_and_does_not_warn_about_both_directions():
    graph = Graph.from_edges([*SQUARE_WITH_TAIL, (1, 0), (4, 3)])
    assert_same(graph, square_with_tail())
    assert graph.names is None
    assert repr(graph) == "Graph(num_nodes=5, num_edges=5)"


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.uint64])
def test_from_edges_takes_any_integer_type(dtype):
    assert_same(Graph.from_edges(np.array(SQUARE_WITH_TAIL, dtype=dtype)), square_with_tail())


@pytest.mark.parametrize("nothing", [[], np.empty((0, 2)), np.empty((0, 2), dtype=np.int64)])
def test_empty_graph_and_isolated_nodes(nothing):
    assert_same(Graph.from_edges(nothing), nx.empty_graph(0))
    assert_same(Graph.from_edges(nothing, num_nodes=3), nx.empty_graph(3))
    assert Graph.from_edges(nothing, num_nodes=3).to_scipy().shape == (3, 3)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["a", "b", "c"], "U"),
        ([10, 5, 7], "i"),
        ([1, 0, 2], "i"),
        ([(0, 0), (0, 1), (1, 0)], "O"),
        ([0, "a", (1, 2)], "O"),
        ([2**70, 1, 2], "O"),
    ],
)
def test_networkx_names_become_names_in_their_order(names, kind):
    expected = nx.path_graph(names)
    graph = Graph.from_networkx(expected)
    assert_same(graph, expected)
    assert graph.names.dtype.kind == kind
    assert graph.positions(names[::-1]).tolist() == [2, 1, 0]


def test_networkx_names_that_are_positions_are_not_kept():
    assert Graph.from_networkx(nx.path_graph(3)).names is None


def test_from_scipy_takes_dense_weighted_and_explicit_zeros():
    assert_same(Graph.from_scipy(np.array([[0, 0.5], [0.5, 0]])), nx.path_graph(2))
    stored = sp.csr_array(([1.0, 0.0, 1.0], ([0, 0, 1], [1, 2, 0])), shape=(3, 3))
    assert stored.nnz == 3
    assert Graph.from_scipy(stored).edges.tolist() == [[0, 1]]


def test_from_igraph():
    igraph = pytest.importorskip("igraph")
    plain = igraph.Graph(n=5, edges=SQUARE_WITH_TAIL)
    assert_same(Graph.from_igraph(plain), square_with_tail())
    assert_same(Graph.from_igraph(igraph.Graph(n=3)), nx.empty_graph(3))
    plain.vs["name"] = list("vwxyz")
    assert_same(Graph.from_igraph(plain), nx.relabel_nodes(square_with_tail(), dict(enumerate("vwxyz"))))


def test_from_pyg_data_and_tensor():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    arcs = torch.from_numpy(both_directions(SQUARE_WITH_TAIL))
    assert_same(Graph.from_pyg(arcs), square_with_tail())
    assert_same(Graph.from_pyg(data(edge_index=arcs, x=torch.ones(5, 1))), square_with_tail())
    assert Graph.from_pyg(data(edge_index=arcs, num_nodes=7)).num_nodes == 7
    assert Graph.from_pyg(data(edge_index=arcs, num_nodes=7), num_nodes=6).num_nodes == 6
    assert_same(Graph.from_pyg(torch.empty((2, 0), dtype=torch.long), num_nodes=2), nx.empty_graph(2))


def test_from_pyg_without_edge_index():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    with pytest.raises(ValueError, match=r"no edge_index: set data\.edge_index"):
        Graph.from_pyg(data(x=torch.ones(5, 1)))


# Self-loops and duplicates


LOOPY = [(0, 0), (0, 1), (2, 2)]
DOUBLED = [(0, 1), (1, 2), (0, 1), (0, 1)]


def matrix_of(edges) -> sp.coo_array:
    sources, targets = both_directions(edges)
    return sp.coo_array((np.ones(len(sources)), (sources, targets)), shape=(3, 3))


def ways_in(edges):
    igraph = pytest.importorskip("igraph")
    multi = nx.MultiGraph()
    multi.add_nodes_from(range(3))
    multi.add_edges_from(edges)
    return {
        "edges": lambda: Graph.from_edges(edges),
        "networkx": lambda: Graph.from_networkx(multi),
        "igraph": lambda: Graph.from_igraph(igraph.Graph(n=3, edges=edges)),
    }


@pytest.mark.parametrize("way", ["edges", "networkx", "igraph"])
def test_self_loops_are_dropped_with_a_warning(way):
    with pytest.warns(GraphWarning, match="^2 self-loops dropped$"):
        graph = ways_in(LOOPY)[way]()
    assert (graph.num_nodes, graph.edges.tolist()) == (3, [[0, 1]])


@pytest.mark.parametrize("way", ["edges", "networkx", "igraph"])
def test_duplicates_are_dropped_with_a_warning(way):
    with pytest.warns(GraphWarning, match="^2 duplicate edges dropped$"):
        graph = ways_in(DOUBLED)[way]()
    assert (graph.num_nodes, graph.edges.tolist()) == (3, [[0, 1], [1, 2]])


def test_lists_of_arcs_warn_too():
    with pytest.warns(GraphWarning, match="^1 self-loop dropped$"):
        assert Graph.from_scipy(np.array([[1, 1], [1, 0]])).num_edges == 1
    with pytest.warns(GraphWarning, match="^4 duplicate edges dropped$"):
        assert Graph.from_scipy(matrix_of(DOUBLED)).num_edges == 2
    with pytest.warns(GraphWarning, match="^4 duplicate edges dropped$"):
        assert Graph.from_pyg(both_directions(DOUBLED)).num_edges == 2


@pytest.mark.parametrize("way", ["edges", "networkx", "igraph"])
def test_warnings_point_at_the_caller(way):
    build = ways_in(LOOPY)[way]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build()
    assert [warning.filename for warning in caught] == [__file__]


# Directed input


def test_directed_networkx_is_rejected_with_the_fix():
    directed = nx.DiGraph([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match=r"graph is directed.*pass graph\.to_undirected\(\)"):
        Graph.from_networkx(directed)
    assert_same(Graph.from_networkx(directed.to_undirected()), nx.path_graph(3))


def test_directed_matrix_is_rejected_with_the_fix():
    matrix = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    with pytest.raises(ValueError, match=r"matrix is directed.*pass matrix\.maximum\(matrix\.T\)"):
        Graph.from_scipy(matrix)
    assert_same(Graph.from_scipy(matrix.maximum(matrix.T)), nx.path_graph(3))


def test_directed_igraph_is_rejected_with_the_fix():
    directed = pytest.importorskip("igraph").Graph([(0, 1), (1, 2)], directed=True)
    with pytest.raises(ValueError, match=r"graph is directed.*pass graph\.as_undirected\(\)"):
        Graph.from_igraph(directed)
    assert_same(Graph.from_igraph(directed.as_undirected()), nx.path_graph(3))


def test_directed_edge_index_is_rejected_with_the_fix():
    torch = pytest.importorskip("torch")
    utils = pytest.importorskip("torch_geometric.utils")
    arcs = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(
        ValueError, match=r"edge_index is directed.*torch_geometric\.utils\.to_undirected\(edge_index\)"
    ):
        Graph.from_pyg(arcs)
    assert_same(Graph.from_pyg(utils.to_undirected(arcs)), nx.path_graph(3))


# Bad input


@pytest.mark.parametrize(
    ("edges", "options", "error", "message"),
    [
        ([(0, 1), (1, -2)], {}, ValueError, r"^edges: node positions must not be negative, got -2$"),
        ([(0.0, 1.0)], {}, TypeError, r"^edges must be integers, got float64 \(such as 0\.0\)$"),
        ([(0, 1), (1, 2.5)], {}, TypeError, r"^edges must be integers, got float64 \(such as 2\.5\)$"),
        ([(0, 1), (1, float("nan"))], {}, TypeError, r"^edges must be integers, got float64 \(such as nan\)$"),
        ([("a", 1)], {}, TypeError, r"^edges must be integers, got object \(such as 'a'\)$"),
        ([(True, False)], {}, TypeError, r"^edges must be integers, got bool \(such as True\)$"),
        ([(0, None)], {}, TypeError, r"^edges must be integers, got object \(such as None\)$"),
        ([(0, MAX_NODES)], {}, ValueError, rf"^edges: {MAX_NODES} is beyond the largest position .* {MAX_NODES - 1}$"),
        (np.array([[0, 2**63]], dtype=np.uint64), {}, ValueError, r"^edges: 9223372036854775808 is beyond"),
        ([0, 1, 2], {}, ValueError, r"^edges must have shape \(m, 2\), got \(3,\)$"),
        ([(0, 1, 2)], {}, ValueError, r"^edges must have shape \(m, 2\), got \(1, 3\)$"),
        ([(0, 1), (2,)], {}, ValueError, r"^edges must have shape \(m, 2\), got rows of different lengths$"),
        (
            np.zeros((2, 5), dtype=int),
            {},
            ValueError,
            r"got \(2, 5\) \(an edge_index .* goes through Graph\.from_pyg\)$",
        ),
        ([(0, 5)], {"num_nodes": 3}, ValueError, r"^num_nodes=3 is too small: the edges name node 5; pass at least 6$"),
        ([(0, 1)], {"num_nodes": 3.0}, TypeError, r"^num_nodes must be an integer, got 3\.0$"),
        ([(0, 1)], {"num_nodes": True}, TypeError, r"^num_nodes must be an integer, got True$"),
        ([], {"num_nodes": -1}, ValueError, r"^num_nodes must not be negative, got -1$"),
        ([], {"num_nodes": MAX_NODES + 1}, ValueError, rf"^num_nodes={MAX_NODES + 1} is more than the {MAX_NODES}"),
        ([(0, 1)], {"names": ["a"]}, ValueError, r"^names must name all 2 nodes, got 1 names$"),
    ],
)
def test_bad_edges(edges, options, error, message):
    with pytest.raises(error, match=message):
        Graph.from_edges(edges, **options)


@pytest.mark.parametrize(
    ("arcs", "num_nodes", "error", "message"),
    [
        (np.array([[0, -1], [-1, 0]]), None, ValueError, r"^edge_index: node positions must not be negative, got -1$"),
        (np.array([[0.5], [1]]), None, TypeError, r"^edge_index must be integers, got float64 \(such as 0\.5\)$"),
        (np.zeros((5, 2), dtype=int), None, ValueError, r"^edge_index must have shape \(2, arcs\), got \(5, 2\)$"),
        (np.array([[0, 4], [4, 0]]), 2, ValueError, r"^num_nodes=2 is too small: the edges name node 4"),
    ],
)
def test_bad_edge_index(arcs, num_nodes, error, message):
    with pytest.raises(error, match=message):
        Graph.from_pyg(arcs, num_nodes=num_nodes)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"^matrix must be square, got shape \(2, 3\)$"),
        (np.array([[0, np.nan], [np.nan, 0]]), r"^matrix holds NaN"),
    ],
)
def test_bad_matrix(matrix, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_scipy(matrix)


# Positions


def test_positions_without_names():
    graph = Graph.from_edges(SQUARE_WITH_TAIL)
    assert graph.positions([4, 0, 4]).tolist() == [4, 0, 4]
    assert graph.positions(np.array([[0, 1], [3, 4]], dtype=np.int8)).tolist() == [[0, 1], [3, 4]]
    assert graph.positions([]).tolist() == []
    with pytest.raises(ValueError, match=r"^roots: node 5 is not in the graph, whose nodes are 0 to 4$"):
        graph.positions([0, 5], name="roots")
    with pytest.raises(ValueError, match=r"^nodes: node -1 is not in the graph"):
        graph.positions([-1])
    with pytest.raises(TypeError, match=r"^roots must be integers, got float64 \(such as 1\.5\)$"):
        graph.positions([1.0, 1.5], name="roots")


def test_positions_with_names():
    graph = Graph.from_edges([(0, 1), (1, 2)], names=[30, 10, 20])
    assert graph.positions([10, 30]).tolist() == [1, 0]
    assert graph.positions(np.array([20])).tolist() == [2]
    with pytest.raises(ValueError, match=r"^roots: node 0 is not in the graph, which has 30, 10, 20, \.\.\.$"):
        graph.positions([0], name="roots")


def test_repeated_names_are_an_error_where_they_would_mislead():
    graph = Graph.from_edges([(0, 1)], names=["a", "a"])
    with pytest.raises(ValueError, match="names repeat"):
        graph.positions(["a"])


# Immutability and copies


@pytest.mark.parametrize("name", ["indptr", "indices", "names", "degrees", "edges"])
def test_arrays_cannot_be_written(name):
    graph = Graph.from_edges([(0, 1)], names=["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph, name)[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        graph.neighbors(0)[0] = 0


def test_attributes_cannot_be_set():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(AttributeError):
        graph.indices = np.zeros(2, dtype=np.int32)


def test_arrays_of_the_caller_stay_writable_and_apart():
    edges, labels = np.array([[0, 1], [1, 2]]), np.array(["a", "b", "c"])
    graph = Graph.from_edges(edges, names=labels)
    edges[0], labels[0] = [1, 2], "z"
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.nodes.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("duplicate", [lambda graph: pickle.loads(pickle.dumps(graph)), copy.deepcopy])
@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c"], [(0, 1), "x", 5]])
def test_copies_are_equal_and_immutable(duplicate, names):
    expected = nx.path_graph(names)
    graph = Graph.from_networkx(expected)
    assert graph.degrees.sum() == 4
    again = duplicate(graph)
    assert_same(again, expected)
    with pytest.raises(ValueError, match="read-only"):
        again.indices[0] = 2


def test_pickles_carry_no_caches():
    graph = Graph.from_edges(SQUARE_WITH_TAIL)
    before = len(pickle.dumps(graph))
    assert len(graph.edges) == 5
    assert len(pickle.dumps(graph)) == before


# Disjoint union


@settings(deadline=None)
@given(st.lists(simple_graphs(), max_size=5))
def test_disjoint_union(parts):
    union = disjoint_union([Graph.from_networkx(part) for part in parts])
    assert_same(union, nx.disjoint_union_all(parts) if parts else nx.empty_graph(0))


def test_disjoint_union_drops_names():
    named = Graph.from_networkx(nx.path_graph(["a", "b"]))
    assert disjoint_union([named, named]).names is None


def test_disjoint_union_that_is_too_large():
    # Only the row pointers are looked at, and a repeated zero takes no memory.
    huge = Graph.trusted(np.broadcast_to(np.zeros(1, dtype=np.int64), 2**30 + 1).view(), np.empty(0, dtype=np.int32))
    with pytest.raises(ValueError, match=rf"^graphs have {2**31} nodes together, more than the {MAX_NODES}"):
        disjoint_union([huge, huge])


# as_graph


def test_as_graph_takes_every_known_type():
    igraph = pytest.importorskip("igraph")
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    expected = square_with_tail()
    arcs = torch.from_numpy(both_directions(SQUARE_WITH_TAIL))
    graph = Graph.from_edges(SQUARE_WITH_TAIL)
    assert as_graph(graph) is graph
    known = [
        expected,
        nx.to_scipy_sparse_array(expected),
        igraph.Graph(n=5, edges=SQUARE_WITH_TAIL),
        arcs,
        data(edge_index=arcs, num_nodes=5),
    ]
    for given_graph in known:
        assert_same(as_graph(given_graph), expected)


@pytest.mark.parametrize("unknown", [[(0, 1)], "edges.txt", np.eye(3), None])
def test_as_graph_says_what_it_takes(unknown):
    message = (
        rf"^graph must be an elene\.Graph.*got {type(unknown).__name__}\. Edge arrays go through Graph\.from_edges"
    )
    with pytest.raises(TypeError, match=message):
        as_graph(unknown)
