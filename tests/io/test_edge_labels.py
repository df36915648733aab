"""Labels of edges from every format that has them: the same, whatever the format and the order of the edges."""

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elene import compare
from elene.graph import GraphWarning
from elene.io.readers import Options, read_edge_labels, read_graph

BONDS = ("single", "double", "aromatic")


@st.composite
def labelled_graphs(draw):
    """A few edges with a bond each, in any order and direction, by names that are text."""
    n = draw(st.integers(2, 8))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=15))
    once = {frozenset(pair): pair for pair in pairs if pair[0] != pair[1]}
    ends = [(f"n{u}", f"n{v}") for u, v in once.values()] or [("n0", "n1")]
    return {pair: draw(st.sampled_from(BONDS)) for pair in ends}


def as_networkx(bonds):
    graph = nx.Graph()
    for (u, v), bond in bonds.items():
        graph.add_edge(u, v, bond=bond, other="x")
    return graph


def as_csv(bonds, path):
    path.write_text("".join(f"{u},{bond},{v}\n" for (u, v), bond in {("from", "to"): "bond", **bonds}.items()))


def as_parquet(bonds, path):
    us, vs = zip(*bonds, strict=True)
    pq.write_table(pa.table({"u": us, "bond": list(bonds.values()), "v": vs}), path)


WRITERS = {
    "graphml": lambda bonds, path: nx.write_graphml(as_networkx(bonds), path),
    "gml": lambda bonds, path: nx.write_gml(as_networkx(bonds), path),
    "gexf": lambda bonds, path: nx.write_gexf(as_networkx(bonds), path),
    "csv": as_csv,
    "parquet": as_parquet,
}


def read(path, name="bond", **said):
    graph, labels = read_edge_labels(path, options=Options(edge_labels=name, **said))
    names = graph.nodes[graph.edges].tolist()
    return {frozenset(pair): label for pair, label in zip(names, labels, strict=True)}


@pytest.mark.parametrize("ending", WRITERS)
@settings(deadline=None, max_examples=30)
@given(bonds=labelled_graphs())
def test_every_format_gives_each_edge_its_label(bonds, ending, tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / f"graph.{ending}"
    WRITERS[ending](bonds, path)
    assert read(path) == {frozenset(pair): bond for pair, bond in bonds.items()}


@settings(deadline=None, max_examples=30)
@given(bonds=labelled_graphs())
def test_arrays_give_each_edge_its_label(bonds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    ends = np.array([[int(name[1:]) for name in pair] for pair in bonds])
    kinds = np.array([BONDS.index(bond) for bond in bonds.values()])
    n = ends.max() + 1
    wanted = {frozenset(pair): str(kind) for pair, kind in zip(ends.tolist(), kinds.tolist(), strict=True)}
    np.savez(folder / "network.npz", edges=ends, num_nodes=n, bond=kinds)
    assert read(folder / "network.npz") == wanted
    arcs, one_hot = np.concatenate([ends, ends[:, ::-1]]).T, np.eye(3)[np.tile(kinds, 2)]
    twice = {"node_ptr": [0, n, 2 * n], "edge_ptr": [0, arcs.shape[1], 2 * arcs.shape[1]]}
    both = np.concatenate([(one_hot + 0) % 2, one_hot[:, [1, 2, 0]]])
    np.savez(folder / "two.npz", **twice, edge_index=np.concatenate([arcs, arcs], axis=1), bond=both)
    graph, labels = read_edge_labels(folder / "two.npz", 1, Options(edge_labels="bond"))
    shifted = {pair: str((int(kind) + 2) % 3) for pair, kind in wanted.items()}
    assert {frozenset(pair): label for pair, label in zip(graph.edges.tolist(), labels, strict=True)} == shifted


def test_a_column_without_a_header_by_its_place(tmp_path):
    (tmp_path / "bonds.txt").write_text("7 8 1\n8 9 2\n9 7 1\n")
    assert read(tmp_path / "bonds.txt", 2) == {
        frozenset(pair): bond for pair, bond in [((7, 8), "1"), ((8, 9), "2"), ((7, 9), "1")]
    }


def test_the_column_of_labels_is_not_taken_for_an_end_and_not_reported_as_lost(tmp_path, recwarn):
    """Without it there would be three columns of names, of which any two may be ends; and weights are ignored else."""
    (tmp_path / "names.csv").write_text("person,tie,other\nann,kin,ben\nben,work,cat\ncat,kin,dan\n")
    with pytest.raises(ValueError, match="could hold the ends"):
        read_graph(tmp_path / "names.csv", options=Options(header=True))
    assert read(tmp_path / "names.csv", "tie") == {
        frozenset(("ann", "ben")): "kin",
        frozenset(("ben", "cat")): "work",
        frozenset(("cat", "dan")): "kin",
    }
    (tmp_path / "weights.csv").write_text("source,target,weight\n0,1,5\n1,2,6\n")
    assert read(tmp_path / "weights.csv", "weight") == {frozenset((0, 1)): "5", frozenset((1, 2)): "6"}
    nx.write_graphml(nx.Graph([("a", "b", {"weight": 1.5})]), tmp_path / "weights.graphml")
    assert read(tmp_path / "weights.graphml", "weight") == {frozenset("ab"): "1.5"}
    assert not recwarn.list
    with pytest.warns(GraphWarning, match="weights"):
        read_graph(tmp_path / "weights.csv")


def test_numbers_are_the_same_text_whatever_the_file_calls_them(tmp_path):
    nx.write_graphml(nx.Graph([("a", "b", {"order": 1.0}), ("b", "c", {"order": 1.5})]), tmp_path / "a.graphml")
    nx.write_gml(nx.Graph([("a", "b", {"order": 1}), ("b", "c", {"order": "1.5"})]), tmp_path / "b.gml")
    assert read(tmp_path / "a.graphml", "order") == read(tmp_path / "b.gml", "order")
    assert read(tmp_path / "a.graphml", "order")[frozenset("ab")] == "1"


def test_arcs_that_are_joined_have_one_label(tmp_path):
    arcs = nx.DiGraph([("a", "b", {"bond": "single"}), ("b", "a", {"bond": "single"}), ("b", "c", {"bond": "double"})])
    nx.write_graphml(arcs, tmp_path / "arcs.graphml")
    assert read(tmp_path / "arcs.graphml", undirected=True) == {frozenset("ab"): "single", frozenset("bc"): "double"}
    arcs.edges["b", "a"]["bond"] = "double"
    nx.write_graphml(arcs, tmp_path / "arcs.graphml")
    with pytest.raises(ValueError, match=r"edge_labels='bond': the edge \('b', 'a'\) has two, 'single' and 'double'"):
        read(tmp_path / "arcs.graphml", undirected=True)


def write_examples(folder):
    graph = nx.Graph([("a", "b", {"bond": "single", "length": "2"}), ("b", "c", {"length": "1"})])
    nx.write_graphml(graph, folder / "some.graphml")
    (folder / "edges.csv").write_text("source,target,bond\na,b,single\nb,c,\n")
    np.savez(folder / "arrays.npz", edges=[[0, 1]], num_nodes=2, bond=["single"], long=["x", "y"])
    np.savez(folder / "matrix.npz", format=b"csr", shape=(1, 1), data=[1], indices=[0], indptr=[0, 1])
    (folder / "graphs.g6").write_text("Bw\n")


@pytest.mark.parametrize(
    ("file", "name", "says"),
    [
        (
            "some.graphml",
            "colour",
            r"edge_labels='colour' is no attribute of the edges, which have \['bond', 'length'\]",
        ),
        ("some.graphml", "bond", r"edge_labels='bond': the edge \('b', 'c'\) has none"),
        (
            "edges.csv",
            "colour",
            r"edge_labels='colour' is the name of no column: there are 0 \('source'\), .*2 \('bond'\)",
        ),
        ("edges.csv", 3, r"edge_labels: there is no column 3: there are 0 \('source'\)"),
        ("edges.csv", "source", "edge_labels='source' is the column of an end"),
        ("edges.csv", "bond", r"edge_labels='bond': the edge \('b', 'c'\) has none"),
        (
            "arrays.npz",
            "colour",
            "edge_labels='colour' is none of the arrays in the file: edges, num_nodes, bond, long",
        ),
        ("arrays.npz", "long", "edge_labels='long' must be one for each of the 1 edges, got 2"),
        ("matrix.npz", "bond", "edge_labels='bond' is for attributes of edges in GraphML"),
        ("graphs.g6", "bond", "edge_labels='bond' is for attributes of edges in GraphML"),
    ],
)
def test_errors_name_what_was_asked_for_and_what_there_is(file, name, says, tmp_path):
    write_examples(tmp_path)
    with pytest.raises(ValueError, match=says):
        read(tmp_path / file, name)


def test_nobody_said_which(tmp_path):
    write_examples(tmp_path)
    with pytest.raises(ValueError, match="edge_labels must name the attribute"):
        read_edge_labels(tmp_path / "edges.csv")
    with pytest.raises(TypeError, match="edge_labels must be the name"):
        Options(edge_labels=1.5)


def test_an_attribute_that_no_edge_has_is_an_error_in_networkx_graphs_too():
    graph = as_networkx({("a", "b"): "single"})
    with pytest.raises(
        ValueError, match=r"edge_labels='colour' is no attribute of the edges, which have \['bond', 'other'\]"
    ):
        compare(graph, graph, edge_labels="colour")
