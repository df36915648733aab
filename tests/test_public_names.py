"""The names and arguments that users were promised: what is renamed here breaks their code."""

from __future__ import annotations

import inspect

import pytest

import elene

PROMISED = {
    "Graph.from_edges": "edges num_nodes labels",
    "Graph.from_pandas": "table source target",
    "Graph.from_networkx": "graph",
    "Graph.from_scipy": "matrix",
    "Graph.from_igraph": "graph",
    "Graph.from_rustworkx": "graph",
    "Graph.from_pyg": "data",
    "Graph.from_dgl": "graph",
    "Graph.read": "path source target header undirected",
    "Graph.to_networkx": "",
    "GraphStore.build": "files folder",
    "GraphStore.open": "folder",
    "encode": "graph k level degrees form max_degree radius roots threads compact progress",
    "Encoding.row": "name",
    "Encoding.save": "path",
    "Encoding.load": "path",
    "Encoding.to_pandas": "",
    "Encoding.to_arrow": "",
    "affected": "graph edges k",
    "quadruplets": "graph node k",
    "edge_quadruplets": "graph edge k",
    "fingerprint": "graph k level refine",
    "compare": "a b k level refine",
    "Encoder": "k level degrees form max_degree radius per log1p sparse_output threads",
    "Encoder.get_feature_names_out": "",
    "Encoder.set_output": "transform",
    "transforms.AddELENE": "k level degrees form max_degree log1p",
    "transforms.EgoStructure": "k level max_degree",
    "transforms.EgoLoader": "",
    "transforms.Cached": "transform folder",
    "nn.ELENE": "channels k level max_degree",
    "nn.ELENE.forward": "x edge_index edge_attr ego",
    "nn.Ego.of": "data",
    "nn.GNN": "encoder convs updates head elene",
    "datasets.load": "name root",
}


@pytest.mark.parametrize("path", PROMISED)
def test_a_promised_name_takes_its_arguments(path):
    found = elene
    for name in path.split("."):
        found = getattr(found, name)
    assert set(PROMISED[path].split()) <= inspect.signature(found).parameters.keys()


def test_what_an_encoding_and_a_comparison_have():
    graph = elene.Graph.from_edges([(0, 1), (1, 2)])
    encoding = elene.encode(graph, k=1, level="edge")
    assert encoding.matrix.format == "csr" and len(encoding.columns) == encoding.matrix.shape[1]
    assert encoding.edges.tolist() == [[0, 1], [1, 2]]
    found = elene.compare(graph, elene.Graph.from_edges([(0, 1)]))
    assert found.distinguished and found.by == "number of nodes" and "number of nodes" in repr(found)


def test_every_name_is_there_and_is_listed():
    assert set(elene.__all__) <= set(dir(elene))
    for name in elene.__all__:
        assert getattr(elene, name) is not None
    with pytest.raises(AttributeError, match="module 'elene' has no attribute 'encodr'"):
        elene.encodr  # noqa: B018 - the look-up is what fails
