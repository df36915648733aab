from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elene import Graph
from elene.datasets import Collection
from elene.datasets.generators.counting import SHAPES, TARGETS, count_substructures, substructures
from graphs import graphs

STORED = Path(os.environ.get("ELENE_DATA", "")) / "collections" / "counting-er.npz"


def brute_force(graph):
    """Every choice of nodes, looked at one by one."""

    def edges(*pairs):
        return all(graph.has_edge(u, v) for u, v in pairs)

    triangles = [set(nodes) for nodes in combinations(graph, 3) if edges(*combinations(nodes, 2))]
    tails = [(t, v, w) for t in triangles for v in t for w in set(graph) - t if graph.has_edge(v, w)]
    stars = [(v, leaves) for v in graph for leaves in combinations(graph[v], 3)]
    cycles = [
        order
        for a, b, c, d in combinations(graph, 4)
        for order in ((a, b, c, d), (a, b, d, c), (a, c, b, d))
        if edges(*zip(order, (*order[1:], order[0]), strict=True))
    ]
    return [len(triangles), len(tails), len(stars), len(cycles)]


@settings(deadline=None)
@given(st.lists(graphs, max_size=4))
def test_counts_are_those_of_brute_force(many):
    expected = [brute_force(graph) for graph in many]
    ours = [Graph.from_networkx(graph) for graph in many]
    assert count_substructures(ours).tolist() == expected
    assert count_substructures(Collection.of_graphs(ours, y=np.zeros(len(ours)))).tolist() == expected


@pytest.fixture(scope="module")
def data():
    return substructures()


@pytest.mark.jit
def test_sizes_are_those_of_the_paper(data):
    assert len(data) == 5000
    assert data.num_nodes.mean() == pytest.approx(18.8, rel=0.03)
    assert data.num_arcs.mean() == pytest.approx(62.6, rel=0.03)
    assert np.bincount(data.extra["split"]).tolist() == [1500, 1000, 2500]


@pytest.mark.jit
def test_every_shape_is_in_every_part(data):
    for part in range(3):
        found = np.unique(data.num_nodes[data.extra["split"] == part], return_counts=True)
        assert found[0].tolist() == [n for n, _ in SHAPES]
        assert (found[1] > 0.8 * found[1].mean()).all()


@pytest.mark.jit
def test_the_scale_is_the_deviation_over_all_graphs(data):
    assert data.y.shape == (5000, len(TARGETS)) and data.y.dtype == np.float32
    np.testing.assert_allclose(data.extra["scale"], data.y.std(axis=0), rtol=1e-5)


def test_graphs_are_regular_ones_less_n_edges():
    data = substructures(40, seed=3)
    assert np.unique(data.num_nodes, return_counts=True)[1].tolist() == [10] * 4
    degree = dict(SHAPES)
    for i in range(len(data)):
        graph = data.graph(i)
        n, d = graph.num_nodes, degree[graph.num_nodes]
        assert graph.num_edges == n * d // 2 - n
        assert graph.max_degree <= d
        assert data.y[i].tolist() == brute_force(nx.Graph(graph.edges.tolist()))


def test_the_seed_decides():
    first, again, other = substructures(8, seed=1), substructures(8, seed=1), substructures(8, seed=2)
    assert first.edge_index.tolist() == again.edge_index.tolist() != other.edge_index.tolist()
    assert first.extra["split"].tolist() == again.extra["split"].tolist()


def test_too_few_graphs_are_refused():
    with pytest.raises(ValueError, match="graphs must be at least 4, got 3"):
        substructures(3)


@pytest.mark.skipif(not STORED.is_file(), reason="ELENE_DATA does not name a folder with collections/counting-er.npz")
def test_stored_triangles_and_stars_are_counted_again():
    stored = Collection.load(STORED)
    counts = count_substructures(stored)
    for name in ("triangle", "star"):
        column = stored.extra["y_names"].tolist().index(name)
        assert (counts[:, TARGETS.index(name)] == stored.y[:, column]).all()
