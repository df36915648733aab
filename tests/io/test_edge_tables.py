"""Edge tables: which columns are taken, what is refused and what is said; against a reader that is naive."""

from __future__ import annotations

import csv
import logging
import re
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elene.encoding import encode
from elene.encoding.spec import EncodingSpec
from elene.graph import Graph, GraphWarning
from elene.io.writing import write_encoding


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def edges_of(graph):
    return {frozenset(pair) for pair in graph.nodes[graph.edges].tolist()}


def names(*pairs):
    return {frozenset(pair) for pair in pairs}


# Quotes and line ends


@pytest.mark.parametrize(
    "text",
    [
        'a,b\nb,"c\nc,d\nd,e\n',
        'a,b\nb,c"\n"c,d\nd,e\n',
        'a,b\nb,"c"x\nc,d\n',
        'a,b\n"b,c\n',
        '"a\nx",b\nb,c\n',
        'a,b\nb, "c"\n"c",d\n',
        'a b\nb "c\nc d\n',
        'a b\nb "c  d"\n',
        'a\tb\nb\t"c\n',
        '1,2\n2,"3\n3,4\n',
    ],
)
def test_a_quote_that_is_not_closed_is_refused(text, tmp_path):
    with pytest.raises(ValueError, match=r"a\.csv: line [0-9]+ has a quote that no other closes"):
        Graph.read(write(tmp_path / "a.csv", text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a","b"\n"b","c ""x"""\n', names(("a", "b"), ("b", 'c "x"'))),
        ('"a, b",c\nc,d\n', names(("a, b", "c"), ("c", "d"))),
        ('a"b",c\nc,d5"\n', names(('a"b"', "c"), ("c", 'd5"'))),
        ('"a b" c\nc d\n', names(("a b", "c"), ("c", "d"))),
        ('"1","2"\n"2","3"\n', names((1, 2), (2, 3))),
        ("a,b\rb,c\rc,d\r", names(("a", "b"), ("b", "c"), ("c", "d"))),
        ("1 2\r2 3\r", names((1, 2), (2, 3))),
        ("1 2\r2 3", names((1, 2), (2, 3))),
        ("source,target\r1,2\r2,3\r", names((1, 2), (2, 3))),
        ("1 2\r\n2 3\r3 4\n", names((1, 2), (2, 3), (3, 4))),
    ],
)
def test_quotes_and_line_ends(text, expected, tmp_path):
    assert edges_of(Graph.read(write(tmp_path / "a.csv", text))) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n2 3\n".encode("utf-16"), "the text is UTF-16: save it as UTF-8"),
        (b"1 2\n2 3\0\n", "line 2 holds a zero byte"),
        ("a,b\nb,c\n# b,c\nc,d\n", r"line 3 may be a comment or an edge"),
        ("a;b,1\nb;c,2\n", "commas and semicolons both cut|semicolons and commas both cut"),
    ],
)
def test_what_cannot_be_accounted_for_is_refused(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        Graph.read(write(tmp_path / "a.txt", text))


def test_comments_among_names(tmp_path):
    text = "# top\na b\nb c\n# a remark in between\n#c a\n%\n"
    assert edges_of(Graph.read(write(tmp_path / "a.txt", text))) == names(("a", "b"), ("b", "c"), ("#c", "a"))


# Names


def test_zeros_in_front_make_another_name(tmp_path):
    graph = Graph.read(write(tmp_path / "a.txt", "1 007\n7 1\n"))
    assert graph.nodes.tolist() == ["007", "1", "7"]
    for text in ("1 0x10\n16 1\n", "1 -0\n0 1\n", "00 1\n1 0\n", "1 2\n2 010\n"):
        assert Graph.read(write(tmp_path / "a.txt", text)).nodes.dtype.kind == "U", text
    for text in ("1 20\n20 100\n", "0 10\n10 1\n", "0 1 0.05\n1 2 0.05\n", "-10 1\n1 2\n"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            assert Graph.read(write(tmp_path / "a.txt", text)).nodes.dtype.kind == "i", text


def test_zeros_in_front_far_down_a_file(tmp_path):
    text = "".join(f"{i},{i + 1}\n" for i in range(1, 300_000)) + "1,05\n"
    assert "05" in Graph.read(write(tmp_path / "a.csv", text)).nodes


def test_a_number_and_a_text_in_parquet_are_not_one_node(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1, 2], "y": ["a", "1"]}), path)
    with pytest.raises(ValueError, match=r"node '1' is a number in one of the columns \['x', 'y'\] and a text in"):
        Graph.read(path)


# Columns


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (",node1,node2\n0,5,6\n1,6,7\n2,7,8\n", (1, 2)),
        ("time,node1,node2\n10,1,2\n20,2,3\n", (1, 2)),
        ("weight,b,a\n0.5,ann,ben\n0.1,ben,cat\n", (1, 2)),
        ("who,whom,since\nann,ben,2010\nben,cat,2011\n", (0, 1)),
        ("a,b,w\n1,2,5\n2,3,7\n", (0, 1)),
        ("2020-01-01,ann,ben\n2020-01-02,ben,cat\n", (1, 2)),
        ("ann ben 0.5\nben cat 0.25\n", (0, 1)),
        ("from_node;weight;to_node\n1;5;2\n2;7;3\n", (0, 2)),
        ("head,relation,tail\nann,knows,ben\nben,likes,cat\n", (0, 2)),
    ],
)
def test_the_only_columns_that_can_be_ends_are_taken(text, ends, tmp_path):
    rows = [line.split(next(c for c in ",; " if c in text)) for line in text.split("\n") if line]
    first = 0 if text[0] in "2a" and "w" not in rows[0] else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = Graph.read(write(tmp_path / "a.csv", text))
    expected = {frozenset(row[end] for end in ends) for row in rows[first:]}
    assert {frozenset(map(str, pair)) for pair in edges_of(graph)} == expected


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n2 3 4\n",
        "0,5,6\n1,6,7\n",
        "when,person,friend\n5,1,2\n6,2,3\n",
        "ann knows ben\nben knows cat\n",
        "id,a,b\n1,2,3\n2,3,4\n",
        "source,target,u,v\n1,2,3,4\n",
        "source,source,target\n1,2,3\n",
        "0,5,apple\n1,5,pear\n2,7,apple\n",
        "0,apple\n1,pear\n2,fig\n",
        "1,2,ann,ben\n3,4,ann,cat\n",
    ],
)
def test_several_plausible_columns_are_not_guessed_between(text, tmp_path):
    with pytest.raises(ValueError, match=r"several of the columns 0 \(.* choose with source= and target=.*--source"):
        Graph.read(write(tmp_path / "a.csv", text), header=True if text[0].isalpha() and "ann k" not in text else None)


@pytest.mark.parametrize("text", ["0.5 0.25\n0.75 1.5\n", "node,weight\n1,5\n2,7\n", ",node\n0,7\n1,8\n"])
def test_a_table_without_ends(text, tmp_path):
    with pytest.raises(ValueError, match=r"no two of the columns .* look like the ends of edges: pass source="):
        Graph.read(write(tmp_path / "a.csv", text))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"source": 0, "target": 2}, names((1, 3), (2, 4))),
        ({"source": 2, "target": 1}, names((2, 3), (3, 4))),
        ({"source": 0, "target": 1, "header": True}, names((2, 3))),
        ({"source": "1", "target": "3"}, names((2, 4))),
    ],
)
def test_ends_that_are_asked_for(options, expected, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        assert edges_of(Graph.read(write(tmp_path / "a.csv", "1,2,3\n2,3,4\n"), **options)) == expected


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"source": "x", "target": "b"}, ValueError, r"'x' is the name of no column: there are 0 \('a'\), 1 \('b'\)"),
        ({"source": 0, "target": 3}, ValueError, "there is no column 3: there are 0"),
        ({"source": 0, "target": -1}, ValueError, "target must be at least 0, got -1"),
        ({"source": "a"}, ValueError, "pass both source= and target=, got 'a' and None"),
        ({"source": "a", "target": 0}, ValueError, "are the same column"),
        ({"source": 1.0, "target": 0}, TypeError, "source must be the name of a column or its place"),
        ({"source": True, "target": 0}, TypeError, "source must be the name of a column or its place"),
        ({"header": 1}, TypeError, "header must be True or False, got 1"),
        ({"undirected": "yes"}, TypeError, "undirected must be True or False, got 'yes'"),
    ],
)
def test_options_that_do_not_fit(options, error, message, tmp_path):
    with pytest.raises(error, match=message):
        Graph.read(write(tmp_path / "a.csv", "a,b,c\n1,2,3\n"), **options)


def test_columns_of_other_formats(tmp_path):
    for name, text in (("a.g6", "Bw\n"), ("a.metis", "2 1\n2\n1\n")):
        for options in ({"source": 0, "target": 1}, {"header": True}):
            with pytest.raises(ValueError, match=r"leave (it|them) out"):
                Graph.read(write(tmp_path / name, text), **options)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1], "b": [2], "c": [3]}), path)
    with pytest.raises(ValueError, match="header is for edge lists in text files"):
        Graph.read(path, header=True)
    with pytest.raises(ValueError, match="several of the columns"):
        Graph.read(path)
    with pytest.warns(GraphWarning, match="column 1"):
        assert edges_of(Graph.read(path, source="a", target=2)) == names((1, 3))


# Headers


@pytest.mark.parametrize(
    "text",
    [
        "person_a,person_b\nann,ben\nben,cat\n",
        "a b\n",
        "n1 n2\nn3 n4\n",
    ],
)
def test_a_first_line_that_may_be_a_header_or_an_edge_is_asked_about(text, tmp_path):
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(ValueError, match=r"whether the first line \[.*\] is a header or an edge: pass header=True"):
        Graph.read(path)
    with_header, without = Graph.read(path, header=True), Graph.read(path, header=False)
    assert without.num_edges == with_header.num_edges + 1


def test_what_seems_a_header_and_turns_up_again_is_asked_about(tmp_path):
    many = "".join(f"{i},{i + 1}\n" for i in range(200))
    for text in ("x,y\n" + many + "x,5\n", "source,target\n" + many + "a,source\n"):
        with pytest.raises(ValueError, match="is a header or an edge"):
            Graph.read(write(tmp_path / "a.csv", text))


def test_names_that_turn_up_again_are_no_header(tmp_path):
    assert Graph.read(write(tmp_path / "a.csv", "u,v\nv,w\n")).num_edges == 2
    late = "ann,ben\n" + "".join(f"x{i},x{i + 1}\n" for i in range(300)) + "x1,ben\n"
    assert Graph.read(write(tmp_path / "a.csv", late)).num_edges == 302


# What elene wrote


@pytest.mark.parametrize("level", ["node", "edge", "pair"])
@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_our_own_output_is_no_graph(level, form, tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    path = tmp_path / "out.parquet"
    write_encoding(graph, EncodingSpec.of(1, level, form=form), path)
    with pytest.raises(ValueError, match="a table of encodings that elene wrote, not of edges"):
        Graph.read(path)
    table = pq.read_table(path)
    with open(tmp_path / "out.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
    with pytest.raises(ValueError, match="a table of encodings that elene wrote, not of edges"):
        Graph.read(tmp_path / "out.csv")
    if level == "edge":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            assert edges_of(Graph.read(path, source="source", target="target")) == edges_of(graph)
    encode(graph, 1, level=level, form=form).save(tmp_path / "out.npz")
    with pytest.raises(ValueError, match=r"an encoding that elene wrote, .*Encoding\.load"):
        Graph.read(tmp_path / "out.npz")


# What is said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target,weight\n1,2,5\n2,3,6\n", r"column 2 \('weight'\) is ignored: edges have no weights here"),
        ("1 2 0.5\n2 3 0.5\n", r"column 2 \(such as '0.5'\) is ignored: edges have no weights"),
        ("source,target,timestamp\n1,2,5\n2,3,6\n", r"column 2 \('timestamp'\) is ignored: edges have no times"),
        ("1,2,2020-01-05\n2,3,2020-01-06\n", "is ignored: edges have no times"),
        ("1 2 {'weight': 3}\n2 3 {}\n", "attributes of edges are ignored"),
    ],
)
def test_weights_and_times_that_are_ignored_are_named(text, message, tmp_path):
    with pytest.warns(GraphWarning, match=message):
        assert Graph.read(write(tmp_path / "a.csv", text)).num_edges == 2


def test_weights_of_other_formats_are_named(tmp_path):
    weighted = nx.Graph([("a", "b", {"weight": 2.0})])
    nx.write_gml(weighted, tmp_path / "a.gml")
    nx.write_graphml(weighted, tmp_path / "a.graphml")
    write(tmp_path / "a.metis", "2 1 001\n2 7\n1 7\n")
    for ending in ("gml", "graphml", "metis"):
        with pytest.warns(GraphWarning, match="weights of edges are ignored"):
            Graph.read(tmp_path / f"a.{ending}")


def test_lines_columns_and_edges_are_counted(tmp_path, caplog):
    path = write(tmp_path / "a.csv", "# c\nid,from,to\n7,1,2\n\n8,2,3\n9,3,2\n")
    with caplog.at_level(logging.INFO, "elene.io"), pytest.warns(GraphWarning, match="1 of 2 edges stand in both"):
        Graph.read(path)
    assert caplog.messages == [
        "6 lines with a header, commas between 3 columns; edges are columns 1 ('from') and 2 ('to'): 3 read",
        "2 edges, 1 of them from arcs in both directions",
    ]


def test_arcs_are_joined_with_a_word(tmp_path):
    path = write(tmp_path / "a.txt", "1 2\n2 1\n2 3\n3 4\n")
    with pytest.warns(GraphWarning, match=r"1 of 3 edges stand in both directions.*--undirected"):
        assert Graph.read(path).num_edges == 3
    assert Graph.read(path, undirected=True).num_edges == 3
    # All of them in both directions is one way to list an undirected graph.
    assert Graph.read(write(tmp_path / "a.txt", "1 2\n2 1\n2 3\n3 2\n")).num_edges == 2


@pytest.mark.parametrize("ending", ["graphml", "gml", "metis", "npz"])
def test_directed_files_are_joined_on_demand(ending, tmp_path):
    import scipy.sparse as sp

    path, directed = tmp_path / f"a.{ending}", nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    if ending == "npz":
        sp.save_npz(path, sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]])))
    elif ending == "metis":
        write(path, "3 2\n2\n1 3\n1\n")
    else:
        (nx.write_gml if ending == "gml" else nx.write_graphml)(directed, path)
    with pytest.raises(ValueError, match=r"is directed .*--undirected"):
        Graph.read(path)
    expected = names((0, 1), (1, 2), *([(0, 2)] if ending == "metis" else []))
    for graph in (Graph.read(path, undirected=True), *Graph.read_all(path, undirected=True)):
        assert {frozenset(edge) for edge in graph.edges.tolist()} == expected


# Speed of errors, memory


def test_a_bad_last_line_of_many_is_found_block_by_block(tmp_path, monkeypatch):
    import elene.io.readers.tables as tables

    looked_at = []
    split = tables.split_line
    monkeypatch.setattr(tables, "split_line", lambda *args: looked_at.append(1) or split(*args))
    monkeypatch.setattr(tables, "BLOCK", 10_000)
    n = 200_000
    text = "".join(f"{i}\t{i + 1}\n" for i in range(n)) + "5\n"
    with pytest.raises(ValueError, match=f"line {n + 1} has 1 columns, line 1 has 2"):
        Graph.read(write(tmp_path / "a.tsv", text))
    assert len(looked_at) < n / 20, "most lines are never looked at one by one"


def test_a_packed_trap_is_not_unpacked(tmp_path, monkeypatch):
    import gzip

    monkeypatch.setattr("elene.io.readers.FREE_BYTES", 1000)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"1 2\n" * 100_000))
    with pytest.raises(ValueError, match="unpacks to more than"):
        Graph.read(tmp_path / "a.txt.gz")


@pytest.mark.jit
def test_the_command_line_takes_columns(tmp_path):
    write(tmp_path / "a.csv", "when,a,b\n5,1,2\n6,2,3\n")
    command = [sys.executable, "-m", "elene", "explain", "a.csv", "--node", "2", "-k", "1"]
    asked = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert asked.returncode == 2 and re.search("several of the columns 0 .'when'.*--source", asked.stderr)
    told = subprocess.run([*command, "--source", "a", "--target", "2"], capture_output=True, text=True, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "3 nodes within 1 hop" in told.stdout
    assert "edges are columns 1 ('a') and 2 ('b'): 2 read" in told.stderr
    assert "column 0 ('when') is ignored" in told.stderr
