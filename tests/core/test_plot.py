"""Pictures: what is written in them is right, they are readable, and their files are whole."""

import builtins
import os
import xml.etree.ElementTree as ElementTree
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elene import Graph
from elene.datasets import rook, shrikhande
from elene.plot import draw_ego, draw_intersection


def triplet(subgraph, node, distance):
    steps = Counter(distance[other] - distance[node] for other in subgraph[node])
    return str((steps[-1], subgraph.degree(node), steps[1]))


def expected_ego(graph, root, k):
    distance = nx.single_source_shortest_path_length(graph, root, cutoff=k)
    subgraph = graph.subgraph(distance)
    return {(str(node), triplet(subgraph, node, distance)) for node in subgraph}


def expected_intersection(graph, u, v, k):
    from_u, from_v = (nx.single_source_shortest_path_length(graph, end, cutoff=k) for end in (u, v))
    subgraph = graph.subgraph(set(from_u) & set(from_v))
    names = {u: f"u = {u}", v: f"v = {v}"}
    return {
        (names.get(w, str(w)), f"u {triplet(subgraph, w, from_u)}\nv {triplet(subgraph, w, from_v)}") for w in subgraph
    }


def written(figure):
    """The (name, triplets) in each node."""
    texts = [text.get_text() for text in figure.axes[0].texts]
    return set(zip(texts[::2], texts[1::2], strict=True))


def around(figure):
    return " ".join(text.get_text() for text in figure.texts)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def places(figure):
    return np.asarray(figure.axes[0].collections[1].get_offsets())


random_graphs = st.builds(
    nx.gnp_random_graph, n=st.integers(1, 18), p=st.sampled_from([0.1, 0.2, 0.4, 0.9]), seed=st.integers(0, 99)
)


@settings(max_examples=40, deadline=None)
@given(random_graphs, st.integers(0, 4))
def test_ego_carries_its_triplets_and_no_nodes_overlap(graph, k):
    figure = draw_ego(graph, 0, k)
    assert written(figure) == expected_ego(graph, 0, k)
    assert_apart(places(figure))


@settings(max_examples=40, deadline=None)
@given(random_graphs.filter(nx.number_of_edges), st.integers(1, 4))
def test_intersection_carries_both_readings_and_no_nodes_overlap(graph, k):
    u, v = next(iter(graph.edges))
    figure = draw_intersection(graph, u, v, k)
    assert written(figure) == expected_intersection(graph, u, v, k)
    assert_apart(places(figure))


def assert_apart(points):
    gaps = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(len(points))
    assert gaps.min() > 1, "nodes are circles of diameter 1"


@pytest.mark.parametrize(
    "draw", [lambda: draw_ego(nx.star_graph(59), 0, 1), lambda: draw_intersection(nx.complete_graph(18), 0, 1, 1)]
)
def test_text_stays_inside_its_node_and_edges_inside_the_picture(draw):
    figure = draw()
    figure.canvas.draw()
    axes = figure.axes[0]
    diameter = np.diff(axes.transData.transform([(0, 0), (1, 0)])[:, 0])[0]
    assert max(text.get_window_extent().width for text in axes.texts) < diameter
    points = np.concatenate(axes.collections[0].get_segments())
    assert (points.min(axis=0) >= [axes.get_xlim()[0], axes.get_ylim()[0]]).all()
    assert (points.max(axis=0) <= [axes.get_xlim()[1], axes.get_ylim()[1]]).all()


def test_nothing_is_cut_off():
    graph = nx.relabel_nodes(nx.path_graph(9), lambda node: "a very long name of a node, number " + str(node))
    u, v, *_ = graph
    for figure in (draw_ego(graph, u, 8), draw_intersection(graph, u, v, 4), draw_ego(nx.path_graph(40), 0, 39)):
        figure.canvas.draw()
        for artist in [*figure.texts, *figure.legends]:
            box = artist.get_window_extent()
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_rook_and_shrikhande_differ_in_the_intersection_only():
    egos = [draw_ego(graph, 0, 1) for graph in (rook(), shrikhande())]
    edges = [draw_intersection(graph, 0, 1, 1) for graph in (rook(), shrikhande())]
    assert [around(figure).count("7 nodes and 12 edges") for figure in egos] == [1, 1]
    assert "4 nodes and 6 edges" in around(edges[0])
    assert "4 nodes and 5 edges" in around(edges[1])


def test_legend_and_title():
    path = nx.path_graph(["a", "b", "c", "d"])
    figure = draw_ego(path, "a", 2)
    assert "Node a, k = 2" in around(figure)
    assert legend(figure) == ["root", "distance 1", "distance 2"]
    figure = draw_intersection(path, "b", "c", 2)
    assert "Edge (b, c), k = 2" in around(figure)
    assert legend(figure) == ["distances 0 and 1", "distances 1 and 2"]


def test_rings_have_the_radius_of_their_distance():
    figure = draw_ego(nx.balanced_tree(3, 3), 0, 3)
    radii = np.linalg.norm(places(figure), axis=1).round(6)
    assert [len(set(radii[part])) for part in (slice(0, 1), slice(1, 4), slice(4, 13), slice(13, 40))] == [1, 1, 1, 1]
    assert radii[0] < radii[1] < radii[4] < radii[13]


def test_u_stands_left_and_v_right():
    graph = nx.Graph([(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (0, 6), (1, 6)])
    figure = draw_intersection(graph, 0, 1, 2)
    names = [text.get_text() for text in figure.axes[0].texts[::2]]
    x = dict(zip(names, places(figure)[:, 0], strict=True))
    assert x["2"] < x["u = 0"] < x["6"] < x["v = 1"] < x["4"]
    assert x["3"] < x["u = 0"] and x["v = 1"] < x["5"]
    assert x["6"] == pytest.approx(0)


def test_too_many_nodes_for_text():
    figure = draw_ego(nx.barabasi_albert_graph(300, 3, seed=0), 0, 2)
    assert written(figure) == set()
    assert "left out" in around(figure)
    assert_apart(places(figure))
    figure = draw_intersection(nx.complete_graph(80), 0, 1, 1)
    assert written(figure) == set()
    assert "left out" in around(figure)


def test_text_too_small_to_read_is_left_out():
    figure = draw_ego(nx.path_graph(50), 0, 49)
    assert written(figure) == set()
    assert "left out" in around(figure)
    assert len(legend(figure)) == 50


def test_isolated_node():
    figure = draw_ego(Graph.from_edges([], num_nodes=1), 0, 3)
    assert written(figure) == {("0", "(0, 0, 0)")}
    assert "1 node and 0 edges" in around(figure)


def test_empty_intersection_says_so():
    figure = draw_intersection(rook(), 0, 1, 0)
    assert [text.get_text() for text in figure.axes[0].texts] == ["no node is within k hops of both"]


def test_names_are_shortened_and_never_read_as_formulas():
    graph = nx.Graph([("$x_1$", "$"), ("$x_1$", "a name\nin two lines")])
    figure = draw_ego(graph, "$x_1$", 1)
    assert {name for name, _ in written(figure)} == {"$x_1$", "$", "a name …"}
    figure.canvas.draw()


@pytest.mark.parametrize("ending", [".png", ".svg", ".PNG"])
def test_files_are_whole_and_the_same_every_time(tmp_path, ending):
    contents = []
    for name in ("one", "two"):
        draw_ego(rook(), 0, 1, tmp_path / (name + ending))
        contents.append((tmp_path / (name + ending)).read_bytes())
    assert contents[0] == contents[1]
    if ending == ".svg":
        assert ElementTree.fromstring(contents[0]).tag.endswith("svg")
    else:
        assert contents[0].startswith(b"\x89PNG") and contents[0].endswith(b"IEND\xaeB`\x82")
    assert sorted(os.listdir(tmp_path)) == ["one" + ending, "two" + ending]


def test_intersection_is_saved_over_an_older_file(tmp_path):
    path = tmp_path / "edge.png"
    path.write_text("old")
    draw_intersection(shrikhande(), 0, 1, 2, str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "ego.png"
    path.write_text("old")

    def fail(self, target, **_):
        target.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        draw_ego(rook(), 0, 1, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["ego.png"]


@pytest.mark.parametrize(
    ("k", "error"), [(-1, ValueError), (1.0, TypeError), ("1", TypeError), (True, TypeError), (None, TypeError)]
)
def test_bad_depth(k, error):
    with pytest.raises(error, match="k must be"):
        draw_ego(rook(), 0, k)
    with pytest.raises(error, match="k must be"):
        draw_intersection(rook(), 0, 1, k)


def test_bad_nodes_edges_and_paths(tmp_path):
    with pytest.raises(ValueError, match="node: node 16 is not in the graph"):
        draw_ego(rook(), 16, 1)
    with pytest.raises(ValueError, match="v: node 99 is not in the graph"):
        draw_intersection(rook(), 0, 99, 1)
    with pytest.raises(ValueError, match="node: node 'z' is not in the graph"):
        draw_ego(nx.path_graph(["a", "b"]), "z", 1)
    with pytest.raises(ValueError, match=r"\(0, 5\) is not an edge"):
        draw_intersection(rook(), 0, 5, 1)
    with pytest.raises(ValueError, match=r"\(0, 0\) is not an edge"):
        draw_intersection(rook(), 0, 0, 1)
    with pytest.raises(TypeError, match="graph must be"):
        draw_ego([(0, 1)], 0, 1)
    with pytest.raises(ValueError, match=r"path must end in \.png or \.svg"):
        draw_ego(rook(), 0, 1, tmp_path / "ego.pdf")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        draw_ego(rook(), 0, 1, tmp_path / "nowhere" / "ego.png")
    assert os.listdir(tmp_path) == []


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name, name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "elene\[io\]"'):
        draw_ego(rook(), 0, 1)
