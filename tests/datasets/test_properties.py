from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from elene.datasets.generators import matrices, properties
from elene.datasets.generators.properties import FAMILIES, SHARES, graph_properties, measure
from graphs import graphs


def by_networkx(graph):
    distances = [d for _, row in nx.all_pairs_shortest_path_length(graph) for d in row.values()]
    radius = max(abs(np.linalg.eigvals(nx.to_numpy_array(graph))))
    # As the released code has it: every entry of one large even power of the adjacency matrix is positive.
    power = np.linalg.matrix_power(nx.to_numpy_array(graph), 2 ** (1 + max(len(graph) - 1, 1).bit_length()))
    return [nx.is_connected(graph), max(distances), radius, power.min() > 0]


@settings(deadline=None)
@given(graphs.filter(len))
def test_labels_are_those_of_networkx(graph):
    adjacency = nx.to_numpy_array(graph) > 0
    np.testing.assert_allclose(measure([adjacency]), [by_networkx(graph)], atol=1e-9)


def test_bipartite_graphs_are_not_connected_as_released(data):
    connected, released = (data.y[:, column].astype(bool) for column in (0, 3))
    assert not (released & ~connected).any()
    differing = np.flatnonzero(connected & ~released)
    assert len(differing) > 500
    assert all(nx.is_bipartite(nx.Graph(data.graph(i).edges.tolist())) for i in differing[::20])
    assert not any(nx.is_bipartite(nx.Graph(data.graph(i).edges.tolist())) for i in np.flatnonzero(released)[::100])


def test_graphs_of_several_sizes_are_measured_together():
    shapes = [nx.path_graph(4), nx.cycle_graph(5), nx.empty_graph(4), nx.complete_graph(5)]
    labels = measure([nx.to_numpy_array(graph) > 0 for graph in shapes])
    np.testing.assert_allclose(labels, [by_networkx(graph) for graph in shapes], atol=1e-9)


@pytest.fixture(scope="module")
def data():
    return graph_properties()


def test_sizes_are_those_of_the_paper(data):
    train = data.extra["split"] == 0
    assert np.bincount(data.extra["split"]).tolist() == [5120, 640, 1280]
    # The paper's table is that of the training graphs: the others are smaller.
    assert data.num_nodes[train].mean() == 19.5
    assert data.num_arcs[train].mean() == pytest.approx(101.1, rel=0.03)


def test_one_size_for_each_batch(data):
    expected = [range(15, 25), range(15, 20), range(15, 20)]
    for part, (count, sizes) in enumerate(zip((512, 128, 256), expected, strict=True)):
        assert data.num_nodes[data.extra["split"] == part].tolist() == np.repeat(sizes, count).tolist()


def test_targets_are_divided_by_their_maxima_over_train(data):
    train = data.extra["split"] == 0
    np.testing.assert_allclose(data.y[train].max(axis=0), 1)
    for i in range(0, len(data), 97):
        graph = nx.empty_graph(data.num_nodes[i])
        graph.add_edges_from(data.graph(i).edges.tolist())
        np.testing.assert_allclose(data.y[i] * data.extra["scale"], by_networkx(graph), rtol=1e-5)


def test_no_node_is_isolated_and_one_is_the_source(data):
    assert all(data.graph(i).degrees.min() > 0 for i in range(0, len(data), 50))
    source, value = data.x.T
    assert np.add.reduceat(source, data.node_ptr[:-1]).tolist() == [1] * len(data)
    assert set(source.tolist()) == {0, 1}
    assert value.min() >= 0 and value.max() < 1 and value.mean() == pytest.approx(0.5, abs=0.01)


def test_the_seed_decides(monkeypatch):
    monkeypatch.setattr(properties, "BATCHES", ((4, range(15, 17)), (1, range(15, 16)), (1, range(15, 16))))
    first, again, other = graph_properties(5), graph_properties(5), graph_properties(6)
    assert first.edge_index.tolist() == again.edge_index.tolist() != other.edge_index.tolist()
    assert (first.x == again.x).all()


def test_a_graph_drawn_again_stays_in_its_family(monkeypatch):
    drawn = Counter()

    def edgeless(n, rng):
        drawn["edgeless"] += 1
        return np.empty((0, 2), dtype=np.int64) if drawn["edgeless"] < 4 else properties._path(n)

    monkeypatch.setattr(properties, "FAMILIES", (edgeless, properties._star))
    monkeypatch.setattr(properties, "SHARES", (1.0, 0.0))
    monkeypatch.setattr(properties, "_toggle", lambda adjacency, rng: adjacency)
    ((adjacency, _),) = properties._draw([15], 0)
    assert drawn["edgeless"] == 4
    assert nx.is_isomorphic(nx.from_numpy_array(adjacency), nx.path_graph(15))


def draw(family, n, seed=0):
    graph = nx.empty_graph(n)
    graph.add_edges_from(family(n, np.random.default_rng(seed)).tolist())
    return graph


def ladder(n):
    graph = nx.ladder_graph(n // 2)
    graph.add_edges_from([(0, n - 1)] * (n % 2))
    return graph


CLOSEST = {15: (3, 5), 16: (4, 4), 17: (1, 17), 18: (3, 6), 19: (1, 19), 20: (4, 5), 21: (3, 7), 24: (4, 6)}


@pytest.mark.parametrize("n", CLOSEST)
def test_fixed_families(n):
    for family, expected in (
        (properties._grid, nx.grid_2d_graph(*CLOSEST[n])),
        (properties._caveman, nx.caveman_graph(*CLOSEST[n])),
        (properties._ladder, ladder(n)),
        (properties._line, nx.path_graph(n)),
        (properties._star, nx.star_graph(n - 1)),
    ):
        assert nx.is_isomorphic(draw(family, n), expected), family


def is_caterpillar(tree):
    spine = tree.subgraph([node for node, degree in tree.degree if degree > 1])
    return max((degree for _, degree in spine.degree), default=0) <= 2


@pytest.mark.parametrize("seed", range(20))
def test_random_trees(seed):
    for family in (properties._power_law_tree, properties._caterpillar, properties._lobster):
        tree = draw(family, 18, seed)
        assert nx.is_tree(tree)
        # A lobster without its leaves is a caterpillar; the other two are caterpillars at once.
        if family is properties._lobster:
            tree = tree.subgraph([node for node, degree in tree.degree if degree > 1])
        assert is_caterpillar(tree), family


def test_power_law_trees_have_hubs_more_often_than_not():
    largest = [max(dict(draw(properties._power_law_tree, 20, seed).degree).values()) for seed in range(100)]
    assert 4 <= np.mean(largest) <= 9


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs(seed):
    attached = draw(properties._barabasi_albert, 16, seed)
    assert attached.number_of_edges() in [m * (16 - m) for m in range(1, 16)]
    assert nx.number_of_selfloops(draw(properties._erdos_renyi, 16, seed)) == 0


def test_families_come_in_their_shares(monkeypatch):
    drawn = Counter()

    def counted(family):
        def draw_one(n, rng):
            drawn[family] += 1
            return properties._path(n)

        return draw_one

    monkeypatch.setattr(properties, "FAMILIES", tuple(map(counted, FAMILIES)))
    monkeypatch.setattr(properties, "_toggle", lambda adjacency, rng: adjacency)
    draws = len(list(properties._draw([4] * 4000, 0)))
    for family, share in zip(FAMILIES, SHARES, strict=True):
        assert abs(drawn[family] / draws - share) < 4 * (share * (1 - share) / draws) ** 0.5, family


def test_the_density_of_a_random_graph_is_itself_uniform():
    counts = [draw(properties._erdos_renyi, 16, seed).number_of_edges() / 120 for seed in range(300)]
    assert np.mean(counts) == pytest.approx(1 / 2, abs=0.07) and np.std(counts) == pytest.approx(12**-0.5, abs=0.04)


def test_few_edges_are_toggled():
    rng = np.random.default_rng(0)
    path = matrices.from_edges(properties._path(20), 20)
    toggled = [properties._toggle(path, rng) for _ in range(500)]
    assert all((graph == graph.T).all() and not graph.diagonal().any() for graph in toggled)
    kept = np.mean([graph[path].mean() for graph in toggled])
    assert kept == pytest.approx(0.98, abs=0.005)
    complete = ~np.eye(10, dtype=bool)
    assert (properties._toggle(complete, rng) == complete).all()
    assert not properties._toggle(np.zeros((10, 10), dtype=bool), rng).any()
