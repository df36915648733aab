"""Labels of nodes: every way in, what bad input gets, and that they stay with their nodes."""

import copy
import pickle

import igraph
import networkx as nx
import numpy as np
import pandas
import pytest
import rustworkx
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from elene.graph import Graph, as_graph, disjoint_union
from graphs import LikeDGL

ATOMS = ["N", "C", "C", "O"]
EDGES = [(0, 1), (1, 2), (2, 3)]
ARCS = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
CLASSES = [7, 6, 6, 8]


def molecule():
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, dict(enumerate(ATOMS)), "atom")
    nx.set_node_attributes(graph, dict(enumerate(CLASSES)), "number")
    return graph


class Featured(LikeDGL):
    @property
    def ndata(self):
        return {"kind": torch.tensor(CLASSES)}


IGRAPH = igraph.Graph(4, EDGES, vertex_attrs={"atom": ATOMS, "number": CLASSES})
ONE_HOT = torch.nn.functional.one_hot(torch.tensor([1, 0, 0, 2]), 3).float()
WAYS = {
    "edges": lambda: Graph.from_edges(EDGES, labels=CLASSES),
    "edges by name": lambda: Graph.from_edges(EDGES, labels={3: 8, 2: 6, 1: 6, 0: 7}),
    "networkx": lambda: Graph.from_networkx(molecule(), labels="number"),
    "networkx, array": lambda: Graph.from_networkx(molecule(), labels=np.array(CLASSES, np.uint8)),
    "igraph": lambda: Graph.from_igraph(IGRAPH, labels="number"),
    "scipy": lambda: Graph.from_scipy(nx.to_scipy_sparse_array(molecule()), labels=CLASSES),
    "rustworkx": lambda: Graph.from_rustworkx(rustworkx.networkx_converter(nx.path_graph(4)), labels=CLASSES),
    "dgl": lambda: Graph.from_dgl(Featured([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 4), labels="kind"),
    "pyg": lambda: Graph.from_pyg(Data(edge_index=ARCS, x=torch.tensor(CLASSES)[:, None]), labels="x"),
    "pyg, floats": lambda: Graph.from_pyg(
        Data(edge_index=ARCS, num_nodes=4, z=torch.tensor(CLASSES).float()), labels="z"
    ),
    "edge_index": lambda: Graph.from_pyg(ARCS, labels=torch.tensor(CLASSES)),
    "pandas": lambda: Graph.from_pandas(
        pandas.DataFrame(EDGES, columns=["source", "target"]), labels=pandas.Series(CLASSES, index=[0, 1, 2, 3])
    ),
    "as_graph": lambda: as_graph(molecule(), labels="number"),
    "as_graph, igraph": lambda: as_graph(IGRAPH, labels="number"),
    "constructor": lambda: Graph([0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2], labels=CLASSES),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_keeps_integers_as_they_are(way):
    graph = WAYS[way]()
    assert (graph.labels.tolist(), graph.labels.dtype, graph.label_names) == (CLASSES, np.int64, None)
    assert not graph.labels.flags.writeable
    assert graph == Graph.from_edges(EDGES, labels=CLASSES)


def test_text_is_numbered_and_kept():
    for graph in (as_graph(molecule(), labels="atom"), as_graph(IGRAPH, labels="atom")):
        assert (graph.labels.tolist(), graph.label_names.tolist()) == ([1, 0, 0, 2], ["C", "N", "O"])
        assert graph.label_values.tolist() == ATOMS


def test_one_hot_rows_are_places():
    graph = Graph.from_pyg(Data(edge_index=ARCS, x=ONE_HOT), labels="x")
    assert graph.labels.tolist() == [1, 0, 0, 2]


def test_labels_stay_with_copies_pickles_networkx_and_unions():
    graph = as_graph(molecule(), labels="atom")
    for same in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert (same, hash(same)) == (graph, hash(graph))
    assert as_graph(graph.to_networkx(), labels="label") == graph
    other = Graph.from_edges([(0, 1)], labels=["P", "C"])
    union = disjoint_union([graph, other])
    assert union.label_values.tolist() == [*ATOMS, "P", "C"]
    assert union.label_names.tolist() == ["C", "N", "O", "P"]
    assert disjoint_union([graph, Graph.from_edges([], labels=[])]) == Graph.from_edges(EDGES, labels=ATOMS)
    assert Graph(graph.indptr, graph.indices, graph.names, graph.labels, graph.label_names) == graph


def test_equality_and_hash_read_labels_by_what_they_are():
    bare = Graph.from_edges(EDGES)
    assert bare != bare.with_labels(ATOMS) != bare.with_labels([*ATOMS[:3], "C"])
    assert bare.with_labels([1, 0, 0, 2]) != bare.with_labels(ATOMS)
    # The same text under other numbers, since another label stands before it.
    part = Graph.from_edges([(0, 1)], labels=["N", "O"])
    assert (part.labels.tolist(), part) == ([0, 1], Graph([0, 1, 2], [1, 0], None, [1, 2], ["C", "N", "O"]))
    assert hash(part) == hash(Graph([0, 1, 2], [1, 0], None, [1, 2], ["C", "N", "O"]))
    assert len({hash(bare), hash(bare.with_labels(ATOMS)), hash(bare.with_labels(CLASSES))}) == 3
    assert bare.with_labels(ATOMS).with_labels(None) == bare == as_graph(bare.with_labels(ATOMS), labels=False)


def test_names_and_labels_are_two_things():
    graph = Graph.from_edges([("b", "a"), ("b", "c")], labels={"a": 1, "b": 2, "c": 1, "not there": 9})
    assert (graph.nodes.tolist(), graph.labels.tolist()) == (["a", "b", "c"], [1, 2, 1])
    people = pandas.DataFrame({"who": ["c", "b", "a"], "town": ["x", "y", "z"]}).set_index("who")
    assert graph.with_labels(people["town"]).label_values.tolist() == ["z", "y", "x"]


@pytest.mark.parametrize(
    ("labels", "error", "says"),
    [
        ([1, 2], ValueError, "one for each of the 4 nodes, got 2"),
        ([1, "a", 2, 3], TypeError, "labels must all be integers or all be text"),
        ([1.5, 2, 3, 4], TypeError, "such as 1.5"),
        ([None, 2, 3, 4], TypeError, "labels must all be"),
        ([[1, 1], [0, 0], [1, 0], [0, 1]], ValueError, "one-hot rows, got an array of shape"),
        ([[1], [2, 3], [1], [1]], ValueError, "rows of different lengths"),
        ({0: 1, 1: 1}, ValueError, "node 2 has none"),
        (pandas.Series([1, 2, 3, 4], index=[0, 0, 1, 2]), ValueError, "nodes repeat in the index"),
        (pandas.DataFrame({"a": [1, 2, 3, 4]}), TypeError, "pass one of its columns"),
        ({1, 2}, TypeError, "labels must be a list of labels"),
        (np.array([2**63, 0, 0, 0], np.uint64), ValueError, "does not fit 64 bits"),
    ],
)
def test_bad_labels_are_named(labels, error, says):
    with pytest.raises(error, match=says):
        Graph.from_edges(EDGES, labels=labels)


def test_attributes_that_are_not_there_are_named():
    bare = nx.path_graph(3)
    for graph in (
        molecule(),
        IGRAPH,
        Data(edge_index=ARCS, num_nodes=4, z=torch.tensor(CLASSES)),
    ):
        with pytest.raises(ValueError, match=r"labels='colour' is no attribute of .*(atom|z)"):
            as_graph(graph, labels="colour")
    with pytest.raises(ValueError, match=r"labels='colour' is no attribute of .*kind"):
        Graph.from_dgl(Featured([0, 1], [1, 0], 2), labels="colour")
    with pytest.raises(ValueError, match="labels='atom' is no attribute of node 0"):
        as_graph(bare, labels="atom")
    with pytest.raises(TypeError, match="an edge_index has none"):
        as_graph(ARCS, labels="x")
    with pytest.raises(TypeError, match="pass it where the graph is made"):
        as_graph(Graph.from_edges(EDGES), labels="atom")
    with pytest.raises(TypeError, match="got True"):
        as_graph(bare, labels=True)
    with pytest.raises(ValueError, match="has no labels"):
        _ = Graph.from_edges(EDGES).label_values


def test_unions_need_labels_of_one_kind_or_none():
    bare = Graph.from_edges(EDGES)
    with pytest.raises(ValueError, match="graph 1 has none"):
        disjoint_union([bare.with_labels(ATOMS), bare])
    with pytest.raises(ValueError, match="some graphs are integers"):
        disjoint_union([bare.with_labels(ATOMS), bare.with_labels(CLASSES)])
    with pytest.raises(ValueError, match="label_names are given without labels"):
        Graph([0, 1, 2], [1, 0], label_names=["a"])
    with pytest.raises(ValueError, match="integers from 0 to 0"):
        Graph([0, 1, 2], [1, 0], labels=[0, 1], label_names=["a"])


def test_files_with_attributes_and_arrays(tmp_path):
    graph = molecule()
    nx.write_graphml(graph, tmp_path / "m.graphml")
    nx.write_gml(graph, tmp_path / "m.gml")
    nx.write_gexf(graph, tmp_path / "m.gexf")
    for name in ("m.graphml", "m.gml", "m.gexf"):
        assert Graph.read(tmp_path / name, labels="atom").label_values.tolist() == ATOMS
        assert Graph.read(tmp_path / name, labels="number").labels.tolist() == CLASSES
        assert Graph.read(tmp_path / name).labels is None
    np.savez(tmp_path / "n.npz", edges=np.array(EDGES), num_nodes=4, kind=CLASSES)
    assert Graph.read(tmp_path / "n.npz", labels="kind").labels.tolist() == CLASSES
    arcs = np.concatenate([ARCS.numpy(), [[0, 1], [1, 0]]], axis=1)
    np.savez(
        tmp_path / "c.npz", node_ptr=[0, 4, 6], edge_ptr=[0, 6, 8], edge_index=arcs, x=np.array([[*CLASSES, 1, 2]]).T
    )
    assert [graph.labels.tolist() for graph in Graph.read_all(tmp_path / "c.npz", labels="x")] == [CLASSES, [1, 2]]
    assert Graph.read(tmp_path / "c.npz", 1, labels="x").labels.tolist() == [1, 2]
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    sp.save_npz(tmp_path / "s.npz", nx.to_scipy_sparse_array(graph))
    for name, says in [("e.csv", "with_labels"), ("s.npz", "with_labels"), ("c.npz", "none of the arrays")]:
        with pytest.raises(ValueError, match=says):
            Graph.read_all(tmp_path / name, labels="nothing")
