from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elene.datasets.generators.memory import attached_edges, barabasi_albert, regular_edges, regular_graph
from elene.kernels.generate import pair_stubs


@st.composite
def sizes(draw):
    n = draw(st.integers(1, 40))
    d = draw(st.integers(0, n - 1))
    return n, d - (n * d % 2)


@settings(deadline=None)
@given(sizes(), st.integers(0, 2**32))
def test_every_node_has_degree_d(size, seed):
    n, d = size
    # A loop or a double edge would be dropped with a warning, and warnings are errors.
    graph = regular_graph(n, d, seed)
    assert graph.num_nodes == n
    assert (graph.degrees == d).all()


@pytest.mark.jit
@pytest.mark.parametrize(("n", "d"), [(100_000, 6), (20_000, 18), (600, 299), (600, 300), (601, 600)])
def test_large_graphs_are_regular_as_well(n, d):
    assert (regular_graph(n, d).degrees == d).all()


@pytest.mark.jit
def test_regular_graphs_come_uniformly():
    # On 7 nodes, 360 graphs of degree 2 are 7-cycles, and 105 are a triangle beside a 4-cycle.
    rng = np.random.default_rng(0)
    draws = 1500
    split = sum(not nx.is_connected(nx.Graph(regular_edges(7, 2, rng).tolist())) for _ in range(draws))
    share = 105 / 465
    assert abs(split / draws - share) < 4 * (share * (1 - share) / draws) ** 0.5


def test_stubs_that_no_swap_can_place_are_reported():
    alone = np.zeros(2, dtype=np.int32)
    assert not pair_stubs(alone, np.empty((1, 2), np.int32), np.zeros(1, np.int32), np.random.default_rng(0))


@settings(deadline=None)
@given(st.integers(2, 60), st.data())
def test_a_new_node_is_linked_to_m_earlier_ones(n, data):
    m = data.draw(st.integers(1, n - 1))
    graph = barabasi_albert(n, m, data.draw(st.integers(0, 2**32)))
    assert graph.num_edges == m * (n - m)
    earlier = [int((graph.neighbors(node) < node).sum()) for node in range(n)]
    assert earlier == [0] * m + [m] * (n - m)


def test_hubs_grow_as_in_networkx():
    def squares(degrees):
        return float(np.square(degrees).sum())

    rng = np.random.default_rng(1)
    ours = [squares(np.bincount(attached_edges(60, 2, rng).ravel())) for _ in range(300)]
    theirs = [squares([d for _, d in nx.barabasi_albert_graph(60, 2, seed=i).degree]) for i in range(300)]
    deviation = (np.var(ours) / 300 + np.var(theirs) / 300) ** 0.5
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * deviation
    # Uniform attachment would be far off.
    assert np.mean(ours) - 5 * deviation > squares([4] * 60) * 1.5


@pytest.mark.parametrize("make", [regular_graph, barabasi_albert])
def test_the_seed_decides(make):
    first, again, other = make(50, 4, 7), make(50, 4, 7), make(50, 4, 8)
    assert first.edges.tolist() == again.edges.tolist() != other.edges.tolist()


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (regular_graph, (5, 3), "n=5 times d=3 is odd"),
        (regular_graph, (5, 5), "d=5 must be less than n=5"),
        (regular_graph, (0, 0), "n must be at least 1, got 0"),
        (regular_graph, (5, -1), "d must be at least 0, got -1"),
        (regular_graph, (2**31, 2), "n=2147483648 is more than"),
        (regular_graph, (6, 2, -1), "seed must be at least 0, got -1"),
        (barabasi_albert, (5, 5), "m=5 must be less than n=5"),
        (barabasi_albert, (5, 0), "m must be at least 1, got 0"),
        (barabasi_albert, (2**31, 1), "n=2147483648 is more than"),
    ],
)
def test_impossible_sizes_are_named(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments)


def test_sizes_are_integers():
    with pytest.raises(TypeError, match=r"d must be an integer, got 2\.0"):
        regular_graph(6, 2.0)
