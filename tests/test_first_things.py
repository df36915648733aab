"""What people type first, in one table: each line is a call and what it must give."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import rustworkx
import torch
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import elene
from elene import Graph, encode
from graphs import LikeDGL

KARATE = nx.karate_club_graph()
PATH = nx.path_graph(["a", "b", "c", "d"])
NODES = encode(PATH, k=1)
JOINT = encode(PATH, k=1, form="joint")
EDGES = encode(PATH, k=1, level="edge")
ENDS = {"source": ["a", "b", "c"], "target": ["b", "c", "d"]}
NUMBERS = {"source": [3, 5], "target": [5, 9]}


def with_a_gap():
    graph = rustworkx.PyGraph()
    graph.extend_from_edge_list([(0, 1), (1, 2), (0, 2)])
    graph.remove_node(1)
    return graph


CALLS = {
    "a column by its name": (lambda: NODES["k1.distance1.degree1"].tolist(), [1, 2, 2, 1]),
    "a column by its tuple": (lambda: JOINT[JOINT.columns[0]].tolist(), [1, 0, 0, 1]),
    "shape": (lambda: NODES.shape, (4, 18)),
    "length": (lambda: len(EDGES), 3),
    "a row by its node": (lambda: JOINT.row("b").tolist(), [0, 1, 2]),
    "a row by its number": (lambda: encode(nx.path_graph(3), 1, form="joint").row(1).tolist(), [0, 1, 2]),
    "a row by its edge": (lambda: (EDGES.row(("c", "b")) == EDGES.matrix.toarray()[1]).all(), True),
    "an array": (lambda: (np.asarray(JOINT) == JOINT.matrix.toarray()).all(), True),
    "an array of floats": (lambda: np.array(JOINT, dtype=float).dtype.kind, "f"),
    "into an estimator": (lambda: LogisticRegression().fit(JOINT, [0, 1, 1, 0]).score(JOINT, [0, 1, 1, 0]), 1.0),
    "compact": (lambda: encode(KARATE, 1, compact=True).shape, (34, 33)),
    "string ends": (lambda: Graph.from_edges([("b", "a"), ("b", "c")]).nodes.tolist(), ["a", "b", "c"]),
    "string ends, an isolated node": (
        lambda: Graph.from_edges([("b", "a")], names=["z", "b", "a"]).to_networkx().edges(),
        nx.Graph([("b", "a")]).edges(),
    ),
    "nullable integers": (
        lambda: Graph.from_edges(pd.DataFrame(NUMBERS, dtype="Int64")).edges.tolist(),
        [[3, 5], [5, 9]],
    ),
    "columns of strings": (lambda: Graph.from_edges(pd.DataFrame(ENDS)).nodes.tolist(), list("abcd")),
    "from_pandas": (lambda: Graph.from_pandas(pd.DataFrame(ENDS)), Graph.from_networkx(PATH)),
    "from_pandas, named columns": (
        lambda: Graph.from_pandas(pd.DataFrame({"w": [1, 2], "b": [7, 9], "a": [9, 30]}), "a", "b").nodes.tolist(),
        [7, 9, 30],
    ),
    "from_pandas, nullable": (
        lambda: Graph.from_pandas(pd.DataFrame(NUMBERS, dtype="Int64")).nodes.tolist(),
        [3, 5, 9],
    ),
    "from_pandas, categories": (
        lambda: Graph.from_pandas(pd.DataFrame(ENDS).astype("category")),
        Graph.from_networkx(PATH),
    ),
    "from_pandas, polars": (lambda: Graph.from_pandas(pl.DataFrame(ENDS)), Graph.from_networkx(PATH)),
    "from_pandas, positions have no names": (
        lambda: Graph.from_pandas(pd.DataFrame({"source": [0, 1], "target": [1, 2]})).names,
        None,
    ),
    "from_pandas, no rows": (lambda: Graph.from_pandas(pd.DataFrame({"source": [], "target": []})).num_nodes, 0),
    "to_networkx": (lambda: nx.utils.graphs_equal(Graph.from_networkx(PATH).to_networkx(), PATH), True),
    "equal graphs": (lambda: Graph.from_edges([(0, 1), (1, 2)]) == Graph.from_edges([(2, 1), (1, 0)]), True),
    "other edges": (lambda: Graph.from_edges([(0, 1), (1, 2)]) == Graph.from_edges([(0, 2), (1, 2)]), False),
    "other names": (lambda: Graph.from_networkx(PATH) == Graph.from_networkx(nx.path_graph(4)), False),
    "other nodes": (lambda: Graph.from_edges([(0, 1)]) == Graph.from_edges([(0, 1)], num_nodes=3), False),
    "no graph": (lambda: Graph.from_edges([(0, 1)]) == [(0, 1)], False),
    "graphs in a set": (lambda: len({Graph.from_networkx(PATH), Graph.from_networkx(PATH)}), 1),
    "edge_label_index": (
        lambda: encode(KARATE, 1, level="pair", roots=torch.tensor([[0, 1, 4], [1, 2, 6]])).edges.tolist(),
        [[0, 1], [1, 2], [4, 6]],
    ),
    "edge_label_index as an array": (
        lambda: encode(KARATE, 1, level="edge", roots=np.array([[0, 0, 4], [1, 2, 6]])).edges.tolist(),
        [[0, 1], [0, 2], [4, 6]],
    ),
    "pairs a row": (
        lambda: encode(KARATE, 1, level="pair", roots=torch.tensor([[0, 1], [1, 2], [4, 6]])).edges.tolist(),
        [[0, 1], [1, 2], [4, 6]],
    ),
    "two pairs a row": (
        lambda: encode(KARATE, 1, level="edge", roots=np.array([[0, 1], [1, 2]])).edges.tolist(),
        [[0, 1], [1, 2]],
    ),
    "rustworkx": (lambda: encode(rustworkx.generators.path_graph(4), 1).nodes.tolist(), [0, 1, 2, 3]),
    "rustworkx, a node removed": (
        lambda: Graph.from_rustworkx(with_a_gap()).to_networkx().edges,
        nx.Graph([(0, 2)]).edges,
    ),
    "DGL": (lambda: Graph.from_dgl(LikeDGL([0, 1, 1, 2], [1, 0, 2, 1], 4)), Graph.from_edges([(0, 1), (1, 2)], 4)),
    # g.get_edges() and g.num_vertices()
    "graph-tool's arrays": (
        lambda: Graph.from_edges(np.array([[0, 1], [1, 2]], dtype=np.uint64), 4),
        Graph.from_edges([(0, 1), (1, 2)], 4),
    ),
    "graph-tool's arrays, no edge": (lambda: Graph.from_edges(np.empty((0, 2), dtype=np.int64), 4).num_nodes, 4),
    "radius in Encoder": (lambda: elene.Encoder(1, "pair", radius=1).fit_transform([nx.path_graph(4)]).shape[0], 7),
    "mean": (
        lambda: elene.Encoder(1, form="joint", per="mean").fit_transform([PATH, nx.empty_graph(0)]).toarray().tolist(),
        [[0.5, 0.5, 1.5, 0], [0, 0, 0, 0]],
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_it_gives(call):
    function, expected = CALLS[call]
    assert function() == expected


class LikeGraphTool:
    """A graph of a library whose graphs go through their arrays."""


ERRORS = {
    "a graph of graph-tool": (
        lambda: encode(LikeGraphTool(), 1),
        TypeError,
        r"graph-tool: Graph.from_edges\(g.get_edges\(\), g.num_vertices\(\)\)",
    ),
    "no such column": (lambda: NODES["k1.degree3"], KeyError, r"no column 'k1.degree3' among 'k1.distance0.closer0'"),
    "a row that is not there": (lambda: NODES.row("z"), ValueError, r"node 'z' has 0 rows"),
    "half an edge": (lambda: EDGES.row(["b"]), ValueError, r"name must be the two ends of a row, got \['b'\]"),
    "one node for an edge": (lambda: EDGES.row("b"), TypeError, r"name must be a list of two nodes"),
    "rows one after the other": (lambda: list(NODES), TypeError, r"not iterable"),
    "names and numbers": (lambda: Graph.from_edges([("a", 1)]), TypeError, r"edges must be integers, got object"),
    "a missing end": (
        lambda: Graph.from_edges(pd.DataFrame({"a": [1, None], "b": [2, 3]}, dtype="Int64")),
        TypeError,
        r"edges must be integers, got .*(nan|<NA>)",
    ),
    "names and num_nodes": (lambda: Graph.from_edges([("a", "b")], num_nodes=3), ValueError, r"num_nodes=3 is for pos"),
    "an unknown name": (lambda: Graph.from_edges([("a", "b")], names=["a"]), ValueError, r"node 'b' is not among"),
    "a name twice": (lambda: Graph.from_edges([("a", "b")], names=["a", "b", "a"]), ValueError, r"names repeat"),
    "no such column of ends": (
        lambda: Graph.from_pandas(pd.DataFrame(ENDS), "from"),
        ValueError,
        r"source='from' is not a column of the table, which has \['source', 'target'\]",
    ),
    "no end": (
        lambda: Graph.from_pandas(pd.DataFrame({"source": ["a", None], "target": ["b", "c"]})),
        ValueError,
        r"source: row 1 of the column 'source', counted from 0, misses an end",
    ),
    "fractions": (
        lambda: Graph.from_pandas(pd.DataFrame({"source": [0.5], "target": [1]})),
        TypeError,
        r"source: the column 'source' must hold integers or strings, it holds float64",
    ),
    "numbers and names": (
        lambda: Graph.from_pandas(pd.DataFrame({"source": ["a"], "target": [1]})),
        TypeError,
        r"source and target must both be integers or both be strings",
    ),
    "no table": (lambda: Graph.from_pandas([(0, 1)]), TypeError, r"table must be a pandas or polars DataFrame"),
    "names that repeat": (
        lambda: Graph.from_edges([(0, 1)], names=["a", "a"]).to_networkx(),
        ValueError,
        r"names repeat",
    ),
    "a directed rustworkx graph": (
        lambda: encode(rustworkx.generators.directed_path_graph(3), 1),
        ValueError,
        r"pass graph.to_undirected\(\)",
    ),
    "one direction in DGL": (
        lambda: Graph.from_dgl(LikeDGL([0], [1], 2)),
        ValueError,
        r"graph is directed .*dgl.to_bidirected\(graph\)",
    ),
    "several types in DGL": (
        lambda: Graph.from_dgl(LikeDGL([0], [1], 2, is_homogeneous=False)),
        TypeError,
        r"pass dgl.to_homogeneous\(graph\)",
    ),
    "two pairs that may be either": (
        lambda: encode(KARATE, 1, level="pair", roots=torch.tensor([[0, 1], [1, 2]])),
        ValueError,
        r"roots of shape \(2, 2\) may hold a pair a row or a pair a column",
    ),
}


@pytest.mark.parametrize("call", ERRORS)
def test_it_says(call):
    function, kind, message = ERRORS[call]
    with pytest.raises(kind, match=message):
        function()


def test_compact_leaves_out_zeros_only():
    whole, small = encode(KARATE, [1, 2]), encode(KARATE, [1, 2], compact=True)
    used = whole.matrix.sum(axis=0) > 0
    assert used.sum() == small.shape[1] < whole.shape[1]
    assert np.array_equal(whole.matrix.toarray()[:, used], small.matrix.toarray())
    assert [str(column) for column, kept in zip(whole.columns, used, strict=True) if kept] == list(
        map(str, small.columns)
    )


def test_compact_is_saved(tmp_path):
    small = encode(KARATE, 2, compact=True)
    small.save(tmp_path / "small.npz")
    again = elene.Encoding.load(tmp_path / "small.npz")
    assert (again.matrix != small.matrix).nnz == 0 and again.columns == small.columns


@pytest.mark.parametrize("level", ["node", "edge", "pair"])
@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_tables_hold_names_and_counts(level, form):
    encoding = encode(PATH, k=[1, 2], level=level, form=form)
    frame, table = encoding.to_pandas(), encoding.to_arrow()
    assert frame.shape == encoding.shape and (frame.to_numpy() == encoding.matrix.toarray()).all()
    assert frame.columns.tolist() == [str(column) for column in encoding.columns]
    names = {"node": ["node"], "edge": ["source", "target"], "pair": ["source", "target", "pair_distance"]}[level]
    assert list(frame.index.names) == names
    rows = encoding.nodes.tolist() if level == "node" else list(map(tuple, encoding.edges.tolist()))
    assert [row if level == "node" else row[:2] for row in frame.index] == rows
    assert table.to_pandas().set_index(names).equals(frame)


def test_tables_larger_than_memory_are_refused():
    rows = 2**16
    matrix = csr_array((rows, 2**16))
    huge = elene.Encoding(matrix, np.zeros((2**16, 4), np.int64), NODES.spec, nodes=np.arange(rows))
    with pytest.raises(ValueError, match=r"would take 17 GB: encode with compact=True"):
        huge.to_pandas()


def test_progress_is_shown_where_it_is_asked_for(capsys):
    quiet = encode(KARATE, [1, 2])
    assert capsys.readouterr().err == ""
    loud = encode(KARATE, [1, 2], progress=True)
    assert "encoding 34 nodes: done in" in capsys.readouterr().err
    assert (quiet.matrix != loud.matrix).nnz == 0


def test_progress_says_what_is_left(capsys, monkeypatch):
    from elene import progress

    clock = iter([0.0, 1.0, 1.1, 3.0, 4.0, 5.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.showing("counting"):
        for share in (0.5, 0.55, 0.75, 0.25):  # of which the last is of a second stage
            progress.tell(share)
    shown = [line.strip() for line in capsys.readouterr().err.split("\r") if line.strip()]
    assert shown == [
        "counting:  50%, 1 s left",
        "counting:  75%, 1 s left",
        "counting:  25%, 3 s left",
        "counting: done in 5.0 s",
    ]


def test_notebooks_show_tables_and_small_pictures():
    graph = Graph.from_edges([("<a>", "b"), ("b", "c")])
    view = graph._repr_html_()
    assert view.count("<circle") == 3 and view.count("<line") == 2 and "&lt;a&gt;" in view and "<a>" not in view
    assert "<svg" not in Graph.from_edges([(0, 1)], num_nodes=1000)._repr_html_()
    assert "nan" not in Graph.from_edges([(0, 1)], num_nodes=4)._repr_html_()
    assert "<svg" in Graph.from_edges([], num_nodes=1)._repr_html_() and Graph.from_edges([])._repr_html_()
    rows = encode(KARATE, 1)._repr_html_()
    assert rows.count("<tr>") == 9 and "8 of 34 rows" in rows
    assert encode(KARATE, 1, level="pair")._repr_html_().count("<th>pair_distance</th>") == 1
    differ = elene.compare(nx.cycle_graph(6), nx.path_graph(6))._repr_html_()
    assert "differ by number of edges" in differ and "<td>6</td><td>5</td>" in differ
    assert "not told apart" in elene.compare(PATH, PATH)._repr_html_()
