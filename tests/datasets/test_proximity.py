from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from elene import Graph
from elene.datasets.generators.proximity import BLUE, RED, count_control, h_proximity, is_positive
from graphs import graphs

DISTANCES = (1, 3, 5, 8, 10)


def blue_near_red(graph, colours, h):
    """For each red node, the blue nodes at most h hops away, one shortest path after the other."""
    return [
        sum(
            nx.has_path(graph, red, blue) and nx.shortest_path_length(graph, red, blue) <= h
            for blue in graph
            if colours[blue] == BLUE
        )
        for red in graph
        if colours[red] == RED
    ]


@settings(deadline=None)
@given(graphs, st.integers(0, 4), st.data())
def test_labels_are_those_of_networkx(graph, h, data):
    colours = data.draw(st.lists(st.integers(0, 3), min_size=len(graph), max_size=len(graph)))
    expected = all(count <= 2 for count in blue_near_red(graph, colours, h))
    assert is_positive(Graph.from_networkx(graph), np.array(colours, dtype=np.int64), h) is expected


def parts(data):
    for i in range(len(data)):
        graph = nx.empty_graph(data.num_nodes[i])
        graph.add_edges_from(data.graph(i).edges.tolist())
        yield graph, data.x[data.node_ptr[i] : data.node_ptr[i + 1], 0]


@pytest.mark.parametrize("h", DISTANCES)
def test_positive_graphs_have_two_blue_nodes_near_each_red_one_and_negative_ones_more(h):
    for i, (graph, colours) in enumerate(parts(h_proximity(h, graphs=24, seed=h))):
        counts = blue_near_red(graph, colours, h)
        if i % 2:
            assert max(counts) >= 3 and min(counts) >= 2
        else:
            assert set(counts) == {2}


def test_partners_differ_in_one_edge():
    data = h_proximity(3, graphs=60)
    pairs = list(parts(data))
    for (positive, colours), (negative, same) in zip(pairs[::2], pairs[1::2], strict=True):
        assert colours.tolist() == same.tolist()
        more = set(negative.edges) - set(positive.edges)
        assert len(more) == 1 and set(positive.edges) < set(negative.edges)
    assert data.y.tolist() == [1, 0] * 30
    assert data.extra["pair"].tolist() == np.repeat(range(30), 2).tolist()


def test_at_distance_one_the_new_edge_joins_red_and_blue():
    pairs = list(parts(h_proximity(1, graphs=40)))
    for (positive, colours), (negative, _) in zip(pairs[::2], pairs[1::2], strict=True):
        ((u, v),) = set(negative.edges) - set(positive.edges)
        assert {colours[u], colours[v]} == {RED, BLUE}


def test_layers_of_one_width_completely_connected():
    for graph, _ in list(parts(h_proximity(5, graphs=30)))[::2]:
        # The first and the last layer have half the degree of the others, which is twice the width.
        width = min(dict(graph.degree).values())
        layers = len(graph) // width
        assert 3 <= width <= 9 and 15 <= layers <= 24
        expected = nx.Graph(
            (layer * width + i, (layer + 1) * width + j)
            for layer in range(layers - 1)
            for i in range(width)
            for j in range(width)
        )
        assert set(map(frozenset, graph.edges)) == set(map(frozenset, expected.edges))


def test_colours_and_thirds():
    data = h_proximity(3, graphs=90)
    reds = np.add.reduceat(data.x[:, 0] == RED, data.node_ptr[:-1])
    assert reds.tolist() == [3] * 30 + [2] * 30 + [1] * 30
    assert np.unique(data.x).tolist() == list(range(10))
    others = np.bincount(data.x[:, 0])[[0, *range(3, 10)]]
    assert others.min() > 0.85 * others.max()


def test_folds_keep_pairs_together_and_are_alike():
    data = h_proximity(3, graphs=180)
    fold = data.extra["fold"]
    assert (fold[::2] == fold[1::2]).all()
    for group in fold.reshape(3, 60):
        assert np.bincount(group).tolist() == [6] * 10
    assert fold[:20].tolist() != sorted(fold[:20].tolist())


@pytest.mark.jit
def test_sizes_are_those_of_the_paper():
    data = h_proximity(5, graphs=4000)
    assert data.num_nodes.mean() == pytest.approx(117.14, rel=0.03)
    assert data.num_arcs.mean() == pytest.approx(1484.82, rel=0.03)


def test_counts_give_the_label_away_to_a_tree_but_not_to_a_line():
    data = h_proximity(5, graphs=1200)
    mean, deviation = count_control(data)
    assert mean > 0.97 and deviation < 0.03
    assert count_control(data, LogisticRegression())[0] == pytest.approx(0.5, abs=0.03)


def test_the_seed_decides():
    first, again, other = (h_proximity(3, graphs=4, seed=seed) for seed in (1, 1, 2))
    assert first.edge_index.tolist() == again.edge_index.tolist() != other.edge_index.tolist()
    assert first.x.tolist() == again.x.tolist()


def test_the_largest_distance_can_be_drawn():
    for i, (graph, colours) in enumerate(parts(h_proximity(13, graphs=6))):
        assert all(count <= 2 for count in blue_near_red(graph, colours, 13)) is (i % 2 == 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "h must be at least 1, got 0"),
        ((14,), "h=14 must be at most 13"),
        ((3, 5), "graphs=5 must be even"),
        ((3, 0), "graphs must be at least 2, got 0"),
    ],
)
def test_impossible_requests_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        h_proximity(*arguments)


def test_colours_are_one_for_each_node():
    with pytest.raises(ValueError, match=r"colours must be one number for each of 2 nodes, got shape \(3,\)"):
        is_positive(Graph.from_edges([(0, 1)]), [0, 1, 2], 1)
