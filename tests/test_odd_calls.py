"""Calls that are odd, and easy to make: each is supported, or an error that says what would be right."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from torch_geometric import EdgeIndex
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GINConv

import elene
from elene.nn import ELENE, GNN, Ego, Entries, updates
from elene.nn.functional import ego_reduce
from elene.transforms import AddELENE, EgoStructure

GRAPH = elene.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
NAMED = elene.Graph.from_networkx(nx.path_graph(["Myriel", "Valjean", "Javert"]))
ARCS = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
PATH = Data(edge_index=ARCS, num_nodes=3)


class Frame:
    """What a DataFrame of pandas looks like: going through it gives the names of its columns."""

    columns = ("a", "b")

    def __iter__(self):
        return iter(self.columns)

    def to_numpy(self):
        return np.zeros((2, 2), dtype=int)


class Series:
    """A column of a DataFrame."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize("graph", [GRAPH, NAMED])
@pytest.mark.parametrize("level", ["node", "edge", "pair"])
@pytest.mark.parametrize(
    "roots, fix",
    [
        ("Valjean", "put it in a list"),
        (b"01", "put it in a list"),
        ({0, 1}, r"no order: pass sorted\(roots\)"),
        (frozenset([0]), "no order"),
        (Frame(), r"Frame: pass roots.to_numpy\(\)"),
        ({0: 1}, "dict: pass list"),
        (iter([0, 1]), r"only once: pass list\(roots\)"),
        ((n for n in [0, 1]), "only once"),
        (5, "5"),
        (np.int64(1), "int64"),
    ],
)
def test_roots_are_a_list(graph, level, roots, fix):
    with pytest.raises(TypeError, match=rf"^roots must be a list of (nodes|pairs of nodes), got .*{fix}"):
        elene.encode(graph, 1, level=level, roots=roots)


def test_every_kind_of_list_gives_the_same_rows():
    expected = elene.encode(GRAPH, 1, roots=[2, 0]).matrix.toarray()
    for roots in (
        (2, 0),
        range(2, -1, -2),
        np.array([2, 0]),
        torch.tensor([2, 0]),
        Series([2, 0]),
        {2: 0, 0: 1}.keys(),
    ):
        assert np.array_equal(elene.encode(GRAPH, 1, roots=roots).matrix.toarray(), expected)
    rows = elene.encode(NAMED, 1, roots=nx.path_graph(["Javert", "Myriel"]).nodes).nodes.tolist()
    assert rows == ["Javert", "Myriel"]


@pytest.mark.parametrize("graph", [GRAPH, NAMED])
@pytest.mark.parametrize("node", [[0, 1], [], np.array([0, 1]), {0}, ([0], 1), {"a": 1}])
def test_one_node_is_one_node(graph, node):
    with pytest.raises(TypeError, match=r"^node must be"):
        elene.quadruplets(graph, node, 1)
    with pytest.raises((TypeError, ValueError), match=r"^roots must be"):
        elene.encode(graph, 1, roots=[node, node])
    for edge in ([node, 0], [0, node]):
        with pytest.raises((TypeError, ValueError), match=r"^edge"):
            elene.edge_quadruplets(graph, edge, 1)


@pytest.mark.parametrize("edge", [None, 3, "01", {0, 1}, iter([0, 1]), [0], [0, 1, 2], Frame()])
def test_an_edge_is_two_nodes(edge):
    with pytest.raises((TypeError, ValueError), match=r"^edge must be"):
        elene.edge_quadruplets(GRAPH, edge, 1)
    with pytest.raises((TypeError, ValueError), match=r"^roots must be"):
        elene.encode(GRAPH, 1, level="edge", roots=[edge])


def test_iterators_do_not_become_empty_lists():
    graphs = [nx.path_graph(3), nx.cycle_graph(4)]
    encoder = elene.Encoder(k=1).fit(graphs)
    for call in (encoder.fit, encoder.transform, encoder.fit_transform, AddELENE(1, form="joint").fit):
        with pytest.raises(
            TypeError, match=r"^(X|dataset) must be a list of graphs, got a generator.*pass list\((X|dataset)\)"
        ):
            call(graph for graph in graphs)
        with pytest.raises(TypeError, match=r"^(X|dataset) must be a list of graphs, got a map"):
            call(map(elene.Graph.from_networkx, graphs))
    assert (
        encoder.fit_transform(tuple(graphs)).shape[0]
        == encoder.fit_transform(np.array([*graphs, 0], object)[:2]).shape[0]
    )


@pytest.mark.parametrize("X", [None, 5, "graphs", nx.path_graph(3), [None], ["g"], [nx.path_graph(2), 7], {1: 2}])
def test_an_encoder_names_what_is_no_list_of_graphs(X):
    with pytest.raises(TypeError, match=r"(X must be a list of graphs|a graph in X must be an elene.Graph)"):
        elene.Encoder(k=1).fit(X)


@pytest.mark.parametrize("wrong", [None, 7, "a", [(0, 1)], {}, object()])
def test_conversions_name_what_they_are_not_given(wrong):
    for convert, kind in ((elene.Graph.from_networkx, "networkx"), (elene.Graph.from_igraph, "python-igraph")):
        with pytest.raises(TypeError, match=f"graph must be a {kind} graph, got"):
            convert(wrong)
    with pytest.raises((TypeError, ValueError), match=r"^matrix must"):
        elene.Graph.from_scipy(wrong)
    with pytest.raises((TypeError, ValueError), match=r"^(data|edge_index)"):
        elene.Graph.from_pyg(wrong)
    with pytest.raises(TypeError, match=r"graph must be an elene.Graph"):
        elene.encode(wrong, 1)
    for transform in (EgoStructure(1), AddELENE(1, max_degree=2)):
        with pytest.raises(TypeError, match=r"data must be a torch_geometric.data.Data, got"):
            transform(wrong)
    with pytest.raises(TypeError, match=r"data must be a torch_geometric.data.Data or Batch"):
        Ego.of(wrong)


def test_graphs_with_several_types_of_nodes_are_refused():
    data = HeteroData()
    data["a"].x = torch.ones(2, 1)
    data["a", "to", "a"].edge_index = torch.tensor([[0, 1], [1, 0]])
    for call in (elene.Graph.from_pyg, EgoStructure(1), AddELENE(1, max_degree=2), lambda data: elene.encode(data, 1)):
        with pytest.raises(TypeError, match=r"HeteroData.*pass data.to_homogeneous\(\)"):
            call(data)
    with pytest.raises(ValueError, match="no ego-network lists"):
        Ego.of(data)


def test_an_edge_index_of_pyg_is_an_edge_index():
    fancy = EdgeIndex(ARCS, sparse_size=(3, 3), is_undirected=True)
    assert elene.Graph.from_pyg(fancy).num_edges == elene.encode(fancy, 1).matrix.shape[0] - 1 == 2
    data = Data(x=torch.ones(3, 2), edge_index=fancy)
    plain = EgoStructure(1, "edge")(Data(x=torch.ones(3, 2), edge_index=ARCS))
    prepared = EgoStructure(1, "edge")(data)
    layer = ELENE(2, 1, "edge")
    outs = [layer(d.x, d.edge_index, None, Ego.of(d))[0] for d in (plain, prepared)]
    assert torch.equal(*outs)
    assert AddELENE(1, "edge", max_degree=2)(data).edge_attr.shape == (4, 18)


@pytest.mark.filterwarnings("ignore:Sparse (invariant|CSR).*:UserWarning")  # torch, where PyG makes the matrix
def test_sparse_adjacency():
    sparse = T.ToSparseTensor()(Data(x=torch.ones(4, 1), edge_index=ARCS, num_nodes=4))
    assert sparse.edge_index is None
    assert (
        str(elene.Graph.from_pyg(sparse))
        == str(elene.Graph.from_pyg(sparse.adj_t))
        == "Graph(num_nodes=4, num_edges=2)"
    )
    for transform in (EgoStructure(1), AddELENE(1, max_degree=2)):
        with pytest.raises(ValueError, match=r"data has no edge_index .*apply this before"):
            transform(sparse)
    with pytest.raises(ValueError, match="data has no edge_index"):
        Ego.of(T.ToSparseTensor()(EgoStructure(1)(PATH)))


@pytest.mark.parametrize("x", [None, [[1.0, 2.0]] * 3, np.ones((3, 2)), "x"])
def test_features_are_tensors(x):
    data = EgoStructure(1, "edge")(PATH)
    ego = Ego.of(data)
    with pytest.raises(TypeError, match="x must be a tensor, got"):
        ELENE(2, 1)(x, ARCS, None, ego)
    with pytest.raises(TypeError, match="x must be a tensor, got"):
        ego_reduce(x, torch.ones(3, 2), torch.ones(9, 2), ego.pairs)
    with pytest.raises(TypeError, match="edge_index must be a tensor"):
        ego.ends(x)
    model = GNN(torch.nn.Linear(2, 2), [GINConv(torch.nn.Linear(2, 2))], updates(2, 1), torch.nn.Linear(2, 1))
    data.x = x
    with pytest.raises(ValueError, match="data has no node features x"):
        model(data)


@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_a_second_derivative_is_refused_and_the_first_is_not(backend):
    entries = Entries(torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([[0], [0]]), 2)
    x, y, table = (torch.ones(n, 3, requires_grad=True) for n in (1, 2, 1))
    out, _ = ego_reduce(x, y, table, entries, backend=backend)
    (first,) = torch.autograd.grad((out**2).sum(), x, create_graph=True)
    assert torch.equal(first.detach(), torch.full((1, 3), 6.0))
    with pytest.raises(NotImplementedError, match="do not differentiate twice"):
        torch.autograd.grad(first.sum(), x)
