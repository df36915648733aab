"""Files: every format against networkx, the many shapes of edge lists, and what damaged files get."""

import gzip
import os
import random
import re
import sys
import warnings
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elene.graph import Graph, GraphWarning
from elene.io.readers import parse_graph6, read_graph, read_graphs

# The folder is shared by the examples of one test, which overwrite the file.
IGNORED = pytest.mark.filterwarnings("ignore:.*ignored:elene.graph.GraphWarning")
relaxed = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def simple_graphs(draw, least_edges=0):
    n = draw(st.integers(2 if least_edges else 0, 12))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    if pairs:
        graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True, min_size=least_edges)))
    return graph


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def named_edges(graph: Graph) -> set[frozenset]:
    return {frozenset(pair) for pair in graph.nodes[graph.edges].tolist()}


def assert_same(graph: Graph, expected: nx.Graph) -> None:
    """The same nodes in the same order, and the same edges."""
    assert graph.nodes.tolist() == list(expected.nodes)
    assert graph.num_edges == expected.number_of_edges()
    assert named_edges(graph) == {frozenset(edge) for edge in expected.edges}


def by_label(expected: nx.Graph) -> nx.Graph:
    """What an edge list can keep of a graph: the nodes with edges, in ascending order."""
    kept = nx.Graph()
    kept.add_nodes_from(sorted(node for node, degree in expected.degree if degree))
    kept.add_edges_from(expected.edges)
    return kept


def bothways(graph: nx.Graph) -> np.ndarray:
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    return np.concatenate([edges, edges[:, ::-1]]).T


# Round trips


@relaxed
@given(graph=simple_graphs(least_edges=1), strings=st.booleans(), zipped=st.booleans())
def test_networkx_edge_lists(tmp_path, graph, strings, zipped):
    if strings:
        graph = nx.relabel_nodes(graph, {node: f"node{node}" for node in graph})
    path = tmp_path / ("graph.edgelist.gz" if zipped else "graph.edgelist")
    nx.write_edgelist(graph, path)
    assert_same(read_graph(path), by_label(graph))


@IGNORED
@relaxed
@given(
    graph=simple_graphs(), shift=st.sampled_from([0, 1, 10**12, -5]), kind=st.sampled_from(["int64", "int32", "str"])
)
def test_parquet(tmp_path, graph, shift, kind):
    rename = str if kind == "str" else int
    labels = {node: rename(node + shift) for node in graph}
    expected = nx.relabel_nodes(graph, labels)
    sources, targets = [[labels[edge[end]] for edge in graph.edges] for end in (0, 1)]
    narrow = kind == "int32" and shift < 10**6
    arrow_type = pa.string() if kind == "str" else pa.int32() if narrow else pa.int64()
    table = pa.table({"weight": [0.5] * len(sources), "target": targets, "source": sources})
    schema = pa.schema([("weight", pa.float64()), ("target", arrow_type), ("source", arrow_type)])
    pq.write_table(table.cast(schema), tmp_path / "graph.parquet")
    assert_same(read_graph(tmp_path / "graph.parquet"), by_label(expected))


@relaxed
@given(graph=simple_graphs(), form=st.sampled_from(["csr", "csc", "coo", "bsr", "dia"]), matrix=st.booleans())
def test_scipy_npz(tmp_path, graph, form, matrix):
    n = max(len(graph), 1)
    graph.add_nodes_from(range(n))
    adjacency = nx.to_scipy_sparse_array(graph, dtype=float).asformat(form)
    sp.save_npz(tmp_path / "graph.npz", getattr(sp, f"{form}_matrix")(adjacency) if matrix else adjacency)
    assert_same(read_graph(tmp_path / "graph.npz"), graph)


@relaxed
@given(graph=simple_graphs())
def test_network_npz(tmp_path, graph):
    edges = np.array(graph.edges, dtype=np.int32).reshape(-1, 2)
    np.savez_compressed(tmp_path / "graph.npz", edges=edges, num_nodes=len(graph))
    assert_same(read_graph(tmp_path / "graph.npz"), graph)


@relaxed
@given(graphs=st.lists(simple_graphs(), max_size=4))
def test_collection_npz(tmp_path, graphs):
    arcs = [bothways(graph) for graph in graphs]
    np.savez(
        tmp_path / "many.npz",
        node_ptr=np.cumsum([0, *map(len, graphs)]),
        edge_ptr=np.cumsum([0, *(part.shape[1] for part in arcs)]),
        edge_index=np.concatenate([np.empty((2, 0), dtype=np.uint8), *arcs], axis=1).astype(np.uint8),
        y=np.zeros(len(graphs)),
    )
    assert_many(tmp_path / "many.npz", graphs)


@relaxed
@given(graphs=st.lists(simple_graphs(), min_size=1, max_size=4), zipped=st.booleans(), header=st.booleans())
def test_graph6(tmp_path, graphs, zipped, header):
    lines = b"".join(nx.to_graph6_bytes(graph, header=False) for graph in graphs)
    path = write(tmp_path / ("many.g6.gz" if zipped else "many.g6"), b">>graph6<<" * header + lines)
    assert_many(path, graphs)


def assert_many(path: Path, expected: list[nx.Graph]) -> None:
    graphs = read_graphs(path)
    assert len(graphs) == len(expected)
    for index, (graph, one) in enumerate(zip(graphs, expected, strict=True)):
        assert_same(graph, one)
        assert_same(read_graph(path, index), one)
        assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)
    if len(expected) == 1:
        assert_same(read_graph(path), expected[0])
    else:
        with pytest.raises(ValueError, match=rf"holds {len(expected)} graphs: pass index= .* Graph\.read_all"):
            read_graph(path)


def test_one_line_of_graph6():
    assert parse_graph6(" >>graph6<<Bw\n").num_edges == 3
    with pytest.raises(ValueError, match="text is empty: graph6 has at least one character"):
        parse_graph6(" ")


@pytest.mark.parametrize("n", [62, 63, 64, 300])
def test_graph6_of_many_nodes(tmp_path, n):
    graph = nx.gnp_random_graph(n, 0.1, seed=n)
    nx.write_graph6(graph, tmp_path / "large.graph6")
    assert_same(read_graph(tmp_path / "large.graph6"), graph)


def test_graph6_size_of_eight_characters(tmp_path):
    line = nx.to_graph6_bytes(nx.path_graph(5), header=False)
    assert line[:1] == b"D"
    assert_same(read_graph(write(tmp_path / "a.g6", b"~~?????D" + line[1:])), nx.path_graph(5))


@IGNORED
@relaxed
@given(graph=simple_graphs(), ending=st.sampled_from([".graphml", ".gml"]), zipped=st.booleans())
def test_graphml_and_gml(tmp_path, graph, ending, zipped):
    graph = nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    nx.set_edge_attributes(graph, 0.5, "weight")
    path = tmp_path / f"graph{ending}{'.gz' if zipped else ''}"
    (nx.write_gml if ending == ".gml" else nx.write_graphml)(graph, path)
    assert_same(read_graph(path), graph)


def metis(graph: nx.Graph, fmt: str, weights: int) -> str:
    """The adjacency lists of METIS, with made-up sizes and weights (that look like nodes) where fmt asks for them."""
    has_size, has_weights, has_edge_weights = (flag == "1" for flag in fmt.zfill(3))
    lines = [f"{len(graph)} {graph.number_of_edges()} {fmt}" + (f" {weights}" if has_weights else "")]
    for node in graph:
        own = ["1"] * has_size + ["2"] * (weights * has_weights)
        lines.append(
            " ".join(own + [f"{other + 1} 1" if has_edge_weights else f"{other + 1}" for other in graph[node]])
        )
    return "".join(line + "\n" for line in lines)


@IGNORED
@relaxed
@given(
    graph=simple_graphs(),
    fmt=st.sampled_from(["", "0", "1", "10", "11", "100", "101", "110", "111", "001", "011"]),
    weights=st.integers(1, 3),
    comments=st.booleans(),
)
def test_metis(tmp_path, graph, fmt, weights, comments):
    text = metis(graph, fmt, weights)
    if comments:
        text = "".join(f"% a comment, 1 2\n{line}\n" for line in text.splitlines())
    assert_same(read_graph(write(tmp_path / "a.graph", text)), graph)
    assert_same(read_graph(write(tmp_path / "a.metis.gz", text.replace("\n", "\r\n"))), graph)


# Edge lists


PATH_123 = nx.Graph([(1, 2), (2, 3)])
PATH_ABC = nx.Graph([("a", "b"), ("b", "c")])


@IGNORED
@pytest.mark.parametrize(
    "text",
    [
        "1 2\n2 3\n",
        "1 2\n2 3",
        "1\t2\n2\t3\n",
        "1,2\n2,3\n",
        "1;2\n2;3\n",
        "1, 2\n2, 3\n",
        "1 2\r\n2 3\r\n",
        "1,2\r\n2,3\r\n",
        "  1   2\n 2    3  \n",
        "1 2\n2\t3\n",
        "1\t2\n2 3\n",
        "1 \t 2\n2\t\t3\n",
        "1 2 0.5\n2 3 0.25\n",
        "1 2 0,5\n2 3 0,25\n",
        "1   2 0,5\n2 3 0,25\n",
        "1\t2\t0,5\n2\t3\t0,25\n",
        "1;2;0,5\n2;3;0,25\n",
        "1,2,x;y\n2,3,z\n",
        "1 2\t0.5\n2 3\t0.5\n",
        "# a comment, with commas\n% another\n\n1 2\n2 3\n",
        "1 2\n\n# between\n2 3\n  % and after\n",
        "\ufeff1,2\n2,3\n",
        "source target\n1 2\n2 3\n",
        "Source,Target,Weight\n1,2,0.5\n2,3,0.5\n",
        "weight,dst,src\n7,1,2\n7,2,3\n",
        "id;from;to\n7;1;2\n8;2;3\n",
        "u\tv\n1\t2\n2\t3\n",
        ',"source","target"\n0,1,2\n1,2,3\n',
        "node one,node two\n1,2\n2,3\n",
        "1 2 {}\n2 3 {'weight': 1, 'name': 'x y'}\n",
        "1,2,{'weight': 1, 'name': 'x'}\n2,3,{}\n",
        "1 2\n" + 20 * "\n" + "  2\t\t3\n",
    ],
)
def test_shapes_of_integer_edge_lists(tmp_path, text):
    graph = read_graph(write(tmp_path / "a.txt", text))
    assert_same(graph, PATH_123)
    assert graph.names.dtype == np.int64


@IGNORED
@pytest.mark.parametrize(
    "text",
    [
        "a b\nb c\n",
        "a,b\nb,c\n",
        "a , b\nb, c\n",
        "  a\t b\nb   c \n",
        "source,target\na,b\nb,c\n",
        "FROM\tTO\na\tb\nb\tc\n",
        '"a","b"\n"b","c"\n',
        "weight,v,u\n1,a,b\n2,b,c\n",
        "# a b\na b 0.5\nb c 0.5\n",
        "a b {'w': 'x, y'}\nb c {}\n",
    ],
)
def test_shapes_of_string_edge_lists(tmp_path, text):
    graph = read_graph(write(tmp_path / "a.csv", text))
    assert_same(graph, PATH_ABC)
    assert graph.names.dtype.kind == "U"


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("New York\tParis\nParis\tRio\n", [("New York", "Paris"), ("Paris", "Rio")]),
        ('"Doe, J",b\nb,c\n', [("Doe, J", "b"), ("b", "c")]),
        ("NA,null\nnull,nan\n", [("NA", "null"), ("null", "nan")]),
        ("u v\nv w\n", [("u", "v"), ("v", "w")]),
        ("a,b\n#cat,b\n", [("a", "b"), ("#cat", "b")]),
        ("\u00e4 \u00df\n\u00df \u03b1\n", [("\u00e4", "\u00df"), ("\u00df", "\u03b1")]),
        ("f {x}\tg\ng\th\n", [("f {x}", "g"), ("g", "h")]),
        ("1 2\n2 x\n", [("1", "2"), ("2", "x")]),
        ("10 9\n9 x\n", [("10", "9"), ("9", "x")]),
        ("1 99999999999999999999\n", [("1", "99999999999999999999")]),
        ("-3 10000000000\n10000000000 5\n", [(-3, 10**10), (10**10, 5)]),
        ("9223372036854775807 0\n", [(2**63 - 1, 0)]),
        ("-1 1\n", [(-1, 1)]),
    ],
)
def test_names(tmp_path, text, edges):
    assert_same(read_graph(write(tmp_path / "a.tsv", text)), by_label(nx.Graph(edges)))


def test_integer_names_give_way_to_strings_far_down_the_file(tmp_path):
    edges = [(str(i), str(i + 1)) for i in range(1000)] + [("1000", "end")]
    text = "".join(f"{u} {v}\n" for u, v in edges)
    assert_same(read_graph(write(tmp_path / "a.edges", text)), by_label(nx.Graph(edges)))


@pytest.mark.parametrize("ending", [".txt", ".csv", ".tsv", ".edges", ".edgelist", ".TXT", ".csv.gz", ".txt.GZ"])
def test_endings_of_edge_lists(tmp_path, ending):
    data = b"1 2\n2 3\n"
    path = tmp_path / f"my.graph{ending}"
    path.write_bytes(gzip.compress(data) if ending.lower().endswith(".gz") else data)
    assert_same(read_graph(str(path)), PATH_123)
    assert_same(read_graphs(path)[0], PATH_123)


def test_names_that_are_positions_are_not_kept(tmp_path):
    graph = read_graph(write(tmp_path / "a.txt", "2 1\n0 2\n"))
    assert graph.names is None
    assert graph.edges.tolist() == [[0, 2], [1, 2]]
    assert read_graph(write(tmp_path / "b.txt", "3 1\n0 3\n")).names.tolist() == [0, 1, 3]


@pytest.mark.parametrize("text", ["# nothing\n", "source,target\n", "\n\n"])
def test_edge_list_without_edges(tmp_path, text):
    graph = read_graph(write(tmp_path / "a.csv", text))
    assert (graph.num_nodes, graph.num_edges) == (0, 0)


def test_self_loops_and_duplicates_warn_at_the_caller(tmp_path):
    path = write(tmp_path / "a.txt", "0 1\n1 1\n0 1\n1 0\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = read_graph(path)
    assert [str(warning.message) for warning in caught] == ["1 self-loop dropped", "1 duplicate edge dropped"]
    assert {warning.filename for warning in caught} == {__file__}
    assert graph.edges.tolist() == [[0, 1]]


def test_warnings_made_errors_stay_warnings(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GraphWarning):
            read_graph(write(tmp_path / "a.txt", "0 0\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("1\n2\n", "line 1 has one column: expected two"),
        ("# c\n\nalice\n", "line 3 has one column: expected two"),
        ("1,2\n3\n", "line 2 has 1 columns, line 1 has 2"),
        ("1 2\n3\n", "line 2 has 1 columns, line 1 has 2"),
        ("1\t2\n3\n", "line 2 has 1 columns, line 1 has 2"),
        ("1 2 5\n3 4\n", "line 2 has 2 columns, line 1 has 3"),
        ("# c\nsource,target\n1,2\n\n# d\n1,2,3\n", "line 6 has 3 columns, line 3 has 2"),
        ("source target\n1 a b\n", "line 2 has 3 columns, the header 2"),
        ("1,2\n\n# c\n3,\n", "line 4 misses an end of its edge"),
        ("a,b\n,c\n", "line 2 misses an end of its edge"),
        ("a,b\n  ,c\n", "an end of an edge is an empty name"),
        (b"a,b\n\xff\xfe,c\n", "line 2 is not UTF-8 text"),
        ("1 2\n" * 50000 + "3\n", "line 50001 has 1 columns, line 1 has 2"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_bad_edge_lists(tmp_path, text, message, ending):
    path = write(tmp_path / f"a{ending}", text)
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        read_graph(path)


# Parquet


def test_parquet_column_rule_and_kinds(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1, 2], "y": [2, 3], "source_id": [0.9, 0.9]}), path)
    with pytest.warns(GraphWarning, match=r"column 2 \('source_id'\) is ignored"):
        assert_same(read_graph(path), PATH_123)
    pq.write_table(pa.table({"x": pa.array(["a", "b"]).dictionary_encode(), "y": ["b", "c"]}), path)
    assert_same(read_graph(path), PATH_ABC)
    pq.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), path)
    assert_same(read_graph(path), by_label(nx.Graph([("1", "a"), ("2", "b")])))
    pq.write_table(pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.string())}), path)
    assert read_graph(path).num_nodes == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1]}, "an edge table needs two columns, this one has ['x']"),
        ({"x": [1.5], "y": [2.0]}, "column 'x' must hold integers or strings, it holds double"),
        ({"x": [1, 2], "y": [2, None]}, "column 'y' misses an end of its edge in row 1"),
        ({"x": ["a"], "y": [""]}, "an end of an edge is an empty name"),
    ],
)
def test_bad_parquet(tmp_path, columns, message):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        read_graph(path)


# npz


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"weights": [1]}, "expected a scipy sparse matrix, or .* the arrays in the file: weights"),
        ({"edges": [[0, 5]], "num_nodes": 3}, "num_nodes=3 is too small"),
        ({"edges": [[0.0, 1.0]], "num_nodes": 3}, "edges must be integers, got float64"),
        ({"edges": [[0, 1]], "num_nodes": 2.5}, "num_nodes must be an integer, got 2.5"),
        ({"edges": np.array([[0, None]], dtype=object), "num_nodes": 2}, "allow_pickle=False"),
    ],
)
def test_bad_network_npz(tmp_path, arrays, message):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=re.escape(f"{path}: ") + ".*" + message):
        read_graph(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_ptr": [0, 2]}, "node_ptr counts 1 graphs, edge_ptr 2"),
        ({"node_ptr": [1, 2, 4]}, "node_ptr must be one row of integers that starts at 0 and never falls"),
        ({"node_ptr": [0, 5, 4]}, "node_ptr must be one row of integers that starts at 0 and never falls"),
        ({"edge_ptr": [0.0, 2.0, 4.0]}, "edge_ptr must be one row of integers that starts at 0 and never falls"),
        ({"edge_ptr": np.empty(0, dtype=int)}, "edge_ptr must be one row of integers"),
        ({"edge_ptr": [0, 2, 6]}, "edge_ptr ends at 6, edge_index has 4 arcs"),
        (
            {"edge_index": [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]},
            "edge_index must be integers of shape (2, arcs)",
        ),
        ({"edge_index": [0, 1, 2]}, "edge_index must be integers of shape (2, arcs)"),
        ({"edge_index": [[0, 1, 0, 2], [1, 0, 2, 0]]}, "edge_index of graph 1 names a node that it has not: [0, 2]"),
        ({"edge_index": [[0, -1, 0, 1], [-1, 0, 1, 0]]}, "edge_index of graph 0 names a node that it has not: [0, -1]"),
        ({"edge_index": [[0, 1, 0, 0], [1, 0, 1, 1]]}, "edge_index is directed"),
    ],
)
def test_bad_collection_npz(tmp_path, change, message):
    arrays = {"node_ptr": [0, 2, 4], "edge_ptr": [0, 2, 4], "edge_index": [[0, 1, 0, 1], [1, 0, 1, 0]]}
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    assert [graph.num_edges for graph in read_graphs(path)] == [1, 1]
    np.savez(path, **(arrays | change))
    # Duplicates left by a change are warned about before the missing direction is found.
    with warnings.catch_warnings(), pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        warnings.simplefilter("ignore", GraphWarning)
        read_graphs(path)


def test_npz_that_is_no_archive(tmp_path):
    path = tmp_path / "a.npz"
    with path.open("wb") as file:
        np.save(file, np.zeros((4, 2), dtype=np.int64))
    with pytest.raises(ValueError, match=re.escape(f"{path}: not an .npz archive")):
        read_graph(path)


def test_directed_matrix(tmp_path):
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.csr_array(np.array([[0, 1], [0, 0]])))
    with pytest.raises(ValueError, match=re.escape(f"{path}: matrix is directed")):
        read_graph(path)


def test_sparse_matrix_with_wild_pointers(tmp_path):
    path = tmp_path / "a.npz"
    matrix = sp.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    fields = {"format": b"csr", "shape": (3, 3), "data": matrix.data, "indices": matrix.indices}
    np.savez(path, **fields, indptr=[0, 10**7, 3, 4])
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        read_graph(path)


def test_array_that_claims_more_than_memory_holds(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape in [("edges", (4 * 10**15, 2)), ("num_nodes", ())]:
            with archive.open(f"{name}.npy", "w") as file:
                header = {"descr": "<i8", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                file.write(bytes(8))
    with pytest.raises(ValueError, match=re.escape(f"{path}: an array is larger than the memory")):
        read_graph(path)


# graph6, GraphML, GML, METIS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Bw\nC\n", "line 2 is damaged: 4 nodes take 2 characters, it has 1"),
        ("Bww\n", "line 1 is damaged: 3 nodes take 2 characters, it has 3"),
        ("~\n", "line 1 is damaged"),
        ("~~~~~~~~\n", "line 1 is damaged"),
        ("Bw\n\nBx\n", "line 3 is damaged: bits are set beyond the last pair of nodes"),
        ("Bw\nB!\n", "line 2 is not graph6: its characters must lie between ? and ~"),
        (":An\n", "line 1 is sparse6 or digraph6 (it starts with :), not graph6"),
        ("&AG\n", "line 1 is sparse6 or digraph6 (it starts with &), not graph6"),
    ],
)
def test_bad_graph6(tmp_path, text, message):
    path = write(tmp_path / "a.g6", text)
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        read_graphs(path)


def test_one_bad_line_does_not_keep_the_others_from_being_read(tmp_path):
    path = write(tmp_path / "a.g6", "Bw\nC\nA_\n")
    assert_same(read_graph(path, 0), nx.complete_graph(3))
    assert_same(read_graph(path, np.int64(2)), nx.path_graph(2))


def test_graphml_with_several_graphs_and_without_name_space(tmp_path):
    one = "<graph edgedefault='undirected'><node id='a'/><node id='b'/><edge source='a' target='b'/></graph>"
    none = "<graph edgedefault='undirected'><node id='c'/></graph>"
    path = write(tmp_path / "a.graphml", f"<graphml>{one}{none}</graphml>")
    first, second = read_graphs(path)
    assert (first.nodes.tolist(), first.num_edges) == (["a", "b"], 1)
    assert read_graph(path, 1).nodes.tolist() == second.nodes.tolist() == ["c"]
    with pytest.raises(ValueError, match="holds 2 graphs"):
        read_graph(path)


@pytest.mark.parametrize("label", ["", 'label "same"'])
def test_gml_falls_back_to_ids(tmp_path, label):
    text = f"graph [ node [ id 3 {label} ] node [ id 7 {label} ] edge [ source 3 target 7 ] ]"
    assert_same(read_graph(write(tmp_path / "a.gml", text)), nx.Graph([(3, 7)]))


@pytest.mark.parametrize("ending", [".graphml", ".gml"])
def test_directed_files_are_rejected_with_the_fix(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    (nx.write_gml if ending == ".gml" else nx.write_graphml)(nx.DiGraph([("a", "b")]), path)
    with pytest.raises(ValueError, match=re.escape(f"{path}: graph is directed") + r".*to_undirected\(\)"):
        read_graph(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.graphml", "<graphml><graph>", r"no element found: line 1"),
        ("a.graphml", "<html></html>", r"no <graph> in the file"),
        ("a.gml", "graph [\n node [ id 0 ]\n edge [ source 0", r"expected .* found EOF at \(4"),
        ("a.gml", "nothing of the kind", r"\S"),
        ("a.metis", "3\n", r"the first line must be: number of nodes"),
        ("a.metis", "% only\n", r"the first line must be: number of nodes"),
        ("a.metis", "3 2\n2\n1 3\n", r"line 1 announces 3 nodes, but 2 lines follow"),
        ("a.metis", "3 2\n2\n1 3\n2\n1\n", r"line 1 announces 3 nodes, but 4 lines follow"),
        ("a.metis", "99999999999999999999 2\n2\n1\n", r"line 1 announces 9223372036854775807 nodes"),
        ("a.metis", "3 2\n2\n1 3\n\n", r"line 1 announces 2 edges, so 4 neighbours; 3 are listed"),
        ("a.metis", "%\n3 2\n2\n%\n1 4\n2\n", r"line 5 names node 4, but nodes are 1 to 3"),
        ("a.metis", "3 2\n2\n1 0\n2\n", r"line 3 names node 0, but nodes are 1 to 3"),
        ("a.metis", "3 2\n2\n1 3\n1\n", r"the adjacency list is directed .* both of its ends"),
        ("a.metis", "3 2\n2\n1 x\n2\n", r"line 3 holds 'x': only whole numbers"),
        ("a.metis", "3 2 1\n2 5\n1 5 3\n2 6\n", r"line 3 holds 3 numbers, which does not fit the fmt"),
        ("a.metis", "3 2 10\n2 5\n\n2 6\n", r"line 3 holds 0 numbers, which does not fit the fmt"),
        ("a.metis", "3 2 2\n2\n1 3\n2\n", r"line 1: fmt must be up to three digits 0 or 1, got 2"),
        ("a.metis", "3 2 1111\n2\n1 3\n2\n", r"line 1: fmt must be up to three digits 0 or 1, got 1111"),
    ],
)
def test_bad_text_formats(tmp_path, name, text, message):
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError, match=re.escape(f"{path}: ") + message):
        read_graph(path)


# Any file


def test_index_of_a_file_with_one_graph(tmp_path):
    path = write(tmp_path / "a.txt", "0 1\n")
    assert_same(read_graph(path, 0), nx.path_graph(2))
    for index in (1, -1):
        with pytest.raises(ValueError, match=re.escape(f"{path}: index={index} is out of range: the file holds 1 ")):
            read_graph(path, index)
    for index in (0.0, "0", True):
        with pytest.raises(TypeError, match=f"index must be an integer, got {index!r}"):
            read_graph(path, index)


def test_graph_methods(tmp_path):
    path = write(tmp_path / "two.g6", "Bw\nA_\n")
    assert_same(Graph.read(path, index=1), nx.path_graph(2))
    assert [graph.num_nodes for graph in Graph.read_all(path)] == [3, 2]


@pytest.mark.parametrize("name", ["a.txt", "a.npz", "a.parquet", "a.g6.gz", "a.unknown"])
def test_missing_file(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / name))):
        read_graph(tmp_path / name)


@pytest.mark.parametrize("name", ["a.xlsx", "a", "a.gz", "a.npz.gz", "a.parquet.gz"])
def test_unknown_ending(tmp_path, name):
    path = write(tmp_path / name, "0 1\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}: no reader") + r".*\.txt \.csv .* \.parquet \.npz"):
        read_graph(path)


def test_folder(tmp_path):
    with pytest.raises(ValueError, match=re.escape(f"{str(tmp_path)!r} is no graph store: it has no manifest.json")):
        read_graph(tmp_path)


@pytest.mark.parametrize(
    ("name", "package"),
    [("a.txt", "pyarrow"), ("a.parquet", "pyarrow"), ("a.graphml", "networkx"), ("a.gml", "networkx")],
)
def test_missing_package(tmp_path, monkeypatch, name, package):
    path = write(tmp_path / name, "0 1\n")
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "elene\[io\]"'):
        read_graph(path)


def test_formats_without_packages(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", edges=[[0, 1]], num_nodes=2)
    write(tmp_path / "a.g6", "A_\n")
    write(tmp_path / "a.graph", "2 1\n2\n1\n")
    for package in ("pyarrow", "networkx"):
        for module in [module for module in sys.modules if module.partition(".")[0] == package]:
            monkeypatch.setitem(sys.modules, module, None)
    for name in ("a.npz", "a.g6", "a.graph"):
        assert read_graph(tmp_path / name).num_edges == 1


def whole_files(folder: Path) -> dict[str, bytes]:
    """One sound file of each format."""
    graph = nx.gnp_random_graph(30, 0.15, seed=1)
    named = nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    edges, arcs = np.array(graph.edges), bothways(graph)
    write(folder / "a.txt", "".join(f"{u} {v}\n" for u, v in graph.edges))
    write(folder / "a.csv", "source,target\n" + "".join(f"{u},{v}\n" for u, v in named.edges))
    write(folder / "a.txt.gz", (folder / "a.txt").read_bytes())
    pq.write_table(pa.table({"source": edges[:, 0], "target": edges[:, 1]}), folder / "a.parquet")
    sp.save_npz(folder / "matrix.npz", nx.to_scipy_sparse_array(graph), compressed=False)
    np.savez(folder / "network.npz", edges=edges, num_nodes=30)
    pointers = {"node_ptr": [0, 30, 60], "edge_ptr": [0, arcs.shape[1], 2 * arcs.shape[1]]}
    np.savez_compressed(folder / "collection.npz", **pointers, edge_index=np.concatenate([arcs, arcs], axis=1))
    nx.write_graph6(graph, folder / "a.g6")
    nx.write_graphml(named, folder / "a.graphml")
    nx.write_gml(named, folder / "a.gml")
    write(folder / "a.graph", metis(graph, "11", 1))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


NAMES = ["a.txt", "a.csv", "a.txt.gz", "a.parquet", "matrix.npz", "network.npz", "collection.npz"]
NAMES += ["a.g6", "a.graphml", "a.gml", "a.graph"]


@IGNORED
@pytest.mark.parametrize("name", NAMES)
def test_half_a_file(tmp_path, name):
    whole = whole_files(tmp_path)[name]
    path = tmp_path / name
    assert all(graph.num_nodes == 30 for graph in read_graphs(path))
    # A list of edges that ends between two of them is a list of edges: it is cut inside the first end of one.
    cut = whole.index(b"\n", len(whole) // 2) + 2 if name in ("a.txt", "a.csv") else len(whole) // 2
    for length in (cut, 0):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=re.escape(f"{path}: ")) as caught:
            read_graphs(path)
        assert type(caught.value) is ValueError


@IGNORED
@pytest.mark.parametrize("name", NAMES)
def test_damage_is_a_value_error_that_names_the_file_or_harmless(tmp_path, name):
    whole = whole_files(tmp_path)[name]
    path = tmp_path / name
    intact = [graph.edges.tolist() for graph in read_graphs(path)]
    dice = random.Random(name)
    errors = 0
    for _ in range(60):
        damaged = bytearray(whole[: dice.choice([len(whole), dice.randrange(len(whole))])])
        for _ in range(dice.choice([1, 2, 5]) if damaged else 0):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            try:
                graphs = read_graphs(path)
            except ValueError as error:
                assert type(error) is ValueError
                assert str(path) in str(error)
                errors += 1
            else:
                # These formats carry checksums, so what is read is what was written.
                assert not name.endswith((".npz", ".gz")) or [graph.edges.tolist() for graph in graphs] == intact
    assert errors > 10


# Real data


def data_folder() -> Path:
    if "ELENE_DATA" not in os.environ:
        pytest.skip("ELENE_DATA is unset: it names the folder of the real data sets")
    return Path(os.environ["ELENE_DATA"])


def test_real_networks():
    paths = sorted(data_folder().glob("networks/*.npz"))
    assert paths
    for path in paths[:5]:
        with np.load(path) as archive:
            graph = Graph.read(path)
            assert (graph.num_nodes, graph.num_edges) == (archive["num_nodes"], len(archive["edges"]))


def test_real_collection():
    path = data_folder() / "collections" / "csl.npz"
    graphs = Graph.read_all(path)
    assert len(graphs) == 150
    assert all((graph.degrees == 4).all() for graph in graphs)
    assert np.array_equal(Graph.read(path, 77).edges, graphs[77].edges)


def test_real_graph6(tmp_path):
    lines = (data_folder() / "brec_pairs.tsv").read_text().splitlines()[1:]
    strings = [line.split("\t")[3] for line in lines]
    path = write(tmp_path / "brec.g6", "\n".join(strings))
    for graph, string in zip(Graph.read_all(path), strings, strict=True):
        assert_same(graph, nx.from_graph6_bytes(string.encode()))


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ("<edge source='a' targat='b'/>", r"a <edge> without target: \{'source': 'a', 'targat': 'b'\}"),
        ("<node/>", "a <node> without id"),
        ("<edg source='a' target='b'/>", "an element <edg> in <graph>, which may hold node, edge"),
        ("<node id='c'><graph edgedefault='undirected'/></node>", "nested graphs cannot be read"),
    ],
)
def test_graphml_that_loses_or_makes_up_an_edge_is_refused(element, message, tmp_path):
    text = f"<graphml><graph edgedefault='undirected'><node id='a'/><node id='b'/>{element}</graph></graphml>"
    with pytest.raises(ValueError, match=message):
        read_graph(write(tmp_path / "a.graphml", text))


def test_what_is_a_comment_among_integers_is_a_name_among_others(tmp_path):
    graph = read_graph(write(tmp_path / "a.csv", "1,2\n2,3\n%3,1\n2,x\n"))
    assert named_edges(graph) == {frozenset(pair) for pair in [("1", "2"), ("2", "3"), ("%3", "1"), ("2", "x")]}
