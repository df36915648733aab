"""Formats that other programs write: Matrix Market, Pajek, GEXF, bars between columns, zstd, standard input."""

from __future__ import annotations

import gzip
import io
import sys

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from scipy import sparse
from scipy.io import mmwrite

from elene import Graph, GraphWarning
from graphs import random_graphs

KARATE = nx.karate_club_graph()
EDGES = b"ann ben\nben cat\n"


def plain(graph):
    """A graph without the attributes that writers would write."""
    bare = nx.Graph()
    bare.add_nodes_from(graph)
    bare.add_edges_from(graph.edges())
    return bare


def edges_by_name(graph):
    names = graph.nodes.tolist()
    return {frozenset((names[u], names[v])) for u, v in graph.edges.tolist()}


@given(random_graphs())
@settings(max_examples=25, deadline=None)
def test_what_others_write_is_read(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("written")
    graph = plain(nx.convert_node_labels_to_integers(graph))
    n = len(graph)
    mmwrite(folder / "a.mtx", sparse.coo_array(nx.to_scipy_sparse_array(graph)) if n else sparse.coo_array((0, 0)))
    nx.write_gexf(graph, folder / "a.gexf")
    (folder / "a.net").write_text("\n".join(nx.generate_pajek(graph)))
    expected = Graph.from_networkx(graph)
    if n:
        assert Graph.read(folder / "a.mtx") == expected
    for name in ("a.gexf", "a.net"):
        read = Graph.read(folder / name)
        assert np.array_equal(read.indices, expected.indices) and read.nodes.tolist() == list(map(str, range(n)))


@pytest.mark.parametrize("ending", [".csv.zst", ".mtx.zst", ".gexf.gz"])
def test_packed(tmp_path, ending):
    texts = {".csv": b"0,1\n1,2\n", ".mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"}
    buffer = io.BytesIO()
    nx.write_gexf(nx.path_graph(3), buffer)
    kind, packing = ending.rsplit(".", 1)
    text = texts.get(kind, buffer.getvalue())
    packed = gzip.compress(text) if packing == "gz" else pa.Codec("zstd").compress(text, asbytes=True)
    path = tmp_path / f"a{ending}"
    path.write_bytes(packed)
    assert Graph.read(path).edges.tolist() == [[0, 1], [1, 2]]
    for damaged in (packed[:-3], text):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=str(path)):
            Graph.read(path)


@pytest.mark.parametrize("packing", ["none", "gzip", "zstd"])
def test_standard_input(monkeypatch, packing):
    packed = EDGES if packing == "none" else pa.Codec(packing).compress(EDGES, asbytes=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert Graph.read("-").nodes.tolist() == ["ann", "ben", "cat"]
    with pytest.raises(ValueError, match=r"^-: the file is empty"):
        Graph.read("-")


@pytest.mark.parametrize(
    "text, names",
    [
        ("1|2\n2|3\n", [1, 2, 3]),
        ("source|target|note\nann|ben|x, y\nben|cat|z\n", ["ann", "ben", "cat"]),
        ("ann | ben\nben | cat\n", ["ann", "ben", "cat"]),
        ("a|x,b|y\nb|y,c|z\n", ["a|x", "b|y", "c|z"]),
    ],
)
def test_bars(tmp_path, text, names):
    path = tmp_path / "a.txt"
    path.write_text(text)
    graph = Graph.read(path, header=None if "source" in text or "1" in text else False)
    assert graph.nodes.tolist() == names and graph.num_edges == 2


def test_bars_and_white_space_that_both_cut(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Ann Lee|Ben Roe\nBen Roe|Cat Poe\n")
    with pytest.raises(ValueError, match="bars and white space both cut every line into columns"):
        Graph.read(path)


def mtx(head, *lines):
    return "\n".join([f"%%MatrixMarket matrix {head}", *lines]) + "\n"


@pytest.mark.parametrize(
    "text, message",
    [
        (mtx("coordinate pattern general", "3 3 2", "1 2", "2 3"), r"one direction only.*undirected=True"),
        (mtx("coordinate pattern general", "3 4 1", "1 2"), "matrix must be square"),
        (mtx("coordinate pattern symmetric", "3 3 99999999999", "1 2"), "cannot hold the 99999999999 entries"),
        (mtx("array real general", "100000 100000", "1"), "cannot hold the 10000000000 entries"),
        (mtx("coordinate pattern symmetric", "300000000 300000000 1", "2 1"), "there would be 300000000 nodes"),
        (mtx("coordinate pattern symmetric", "3 3 2", "2 1"), ""),
        ("1 2\n2 3\n", ""),
    ],
)
def test_bad_matrices(tmp_path, text, message):
    path = tmp_path / "a.mtx"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"{path}.*{message}"):
        Graph.read(path)


def test_matrices_with_weights_and_arcs(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text(mtx("coordinate real general", "3 3 3", "1 2 0.5", "2 3 2", "3 1 0"))
    with pytest.warns(GraphWarning, match="weights"):
        assert Graph.read(path, undirected=True).edges.tolist() == [[0, 1], [1, 2]]
    path.write_text(mtx("array integer general", "2 2", "0", "1", "1", "0"))
    assert Graph.read(path).num_edges == 1


def test_pajek_names_lists_and_arcs(tmp_path):
    path = tmp_path / "a.net"
    path.write_text(
        '*Network x\n% said\n*Vertices 4\n1 "Ann Lee" 0.1 0.2\n2 ben\n3 "c"\n4 d\n*Edgeslist\n1 2 3\n*edges\n3 4 1\n'
    )
    assert edges_by_name(Graph.read(path)) == {frozenset(e) for e in [("Ann Lee", "ben"), ("Ann Lee", "c"), ("c", "d")]}
    path.write_text("*vertices 3\n*arcs\n1 2\n2 1\n*edges\n2 3\n")
    assert Graph.read(path).nodes.tolist() == [1, 2, 3] and Graph.read(path).num_edges == 2
    path.write_text("*vertices 3\n*arcs\n1 2 5\n")
    with pytest.raises(ValueError, match="undirected=True"), pytest.warns(GraphWarning, match="weights"):
        Graph.read(path)
    path.write_text("*vertices 3\n*arcs\n1 2\n")
    assert Graph.read(path, undirected=True).num_edges == 1
    path.write_text('*vertices 2\n1 "a"\n2 "a"\n*edges\n1 2\n')
    assert Graph.read(path).nodes.tolist() == [1, 2]


@pytest.mark.parametrize(
    "text, message",
    [
        ("1 2\n", "line 1 stands before"),
        ("*edges\n1 2\n", "line 2 must be two nodes from 1 to 0"),
        ("*vertices many\n", "line 1: .Vertices must name the number of nodes"),
        ("*vertices 4 2\n*edges\n1 3\n", "two kinds of nodes"),
        ("*vertices 2\n3 c\n", "line 2 must be a node from 1 to 2"),
        ("*vertices 2\n1 a\n1 b\n", "line 3 must be a node from 1 to 2, each once"),
        ("*vertices 2\n*edges\n1 x\n", "line 3 must be two nodes"),
        ("*vertices 2\n*matrix\n0 1\n1 0\n", "line 2: a section '.matrix'"),
        ("*vertices 300000000\n*edges\n1 2\n", "there would be 300000000 nodes"),
        ("%\n", "no line .Vertices"),
    ],
)
def test_bad_pajek(tmp_path, text, message):
    path = tmp_path / "a.net"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Graph.read(path)


def test_gexf_that_is_directed_or_damaged(tmp_path):
    path = tmp_path / "a.gexf"
    nx.write_gexf(nx.DiGraph([("a", "b")]), path)
    with pytest.raises(ValueError, match="undirected=True"):
        Graph.read(path)
    assert Graph.read(path, undirected=True).nodes.tolist() == ["a", "b"]
    path.write_text(path.read_text().replace('target="b"', 'target="z"'))
    with pytest.raises(ValueError, match="target='z', which is no node of the file"):
        Graph.read(path)
