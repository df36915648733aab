"""Colours of edges at depth 1, and in small parts of a graph, which have kernels of their own: the same bytes as the
general ones give.
"""

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elene import Encoder
from elene.encoding.spec import EncodingSpec
from elene.encoding.types import Types
from elene.engine.colors import color_nodes, color_pairs
from elene.engine.plan import Rows, by_size, plan_edges
from elene.graph import Graph
from elene.kernels import order
from graphs import graphs, random_graphs
from tuning import tune


def rows_of(graph, order=None, turned=None):
    edges = graph.edges.astype(np.int64)
    edges = edges if order is None else edges[order]
    edges = edges if turned is None else np.where(turned[:, None], edges[:, ::-1], edges)
    return Rows(np.ascontiguousarray(edges[:, 0]), np.ascontiguousarray(edges[:, 1]))


@pytest.fixture(autouse=True, params=[64, 0], ids=["small parts in words", "all alike"])
def part_nodes(request, monkeypatch):
    """All tests here are of both kinds of kernels."""
    monkeypatch.setattr(order, "PART", request.param)


def general(graph, rows, absolute):
    """Pairs that are one step apart, in the kernel that takes any pair and any depth."""
    return color_pairs(graph, Rows(rows.first, rows.second, np.ones(len(rows), np.int64)), [1], absolute=absolute)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs, st.booleans(), st.booleans(), st.randoms(use_true_random=False))
def test_edges_at_depth_1_have_the_colours_of_pairs(source, absolute, labels, random):
    graph = Graph.from_networkx(source)
    if labels:
        graph = graph.with_labels([random.choice("CNO") for _ in range(graph.num_nodes)])
    order = np.array(random.sample(range(graph.num_edges), graph.num_edges), np.int64)
    turned = np.array([random.random() < 0.5 for _ in order], bool)
    for rows in (rows_of(graph), rows_of(graph, order, turned)):
        found = color_pairs(graph, rows, [1], absolute=absolute)
        assert found.tobytes() == general(graph, rows, absolute).tobytes()
        assert (color_pairs(graph, rows, [1, 2], absolute=absolute)[:1] == found).all()
        assert (color_pairs(graph, rows, [1, 1], absolute=absolute) == found).all()


@pytest.mark.parametrize("hub_first", [True, False])
def test_edges_of_a_hub_are_sorted_and_others_are_not(hub_first):
    star = Graph.from_networkx(nx.star_graph(50))
    rows = rows_of(star, turned=np.full(50, not hub_first))
    assert (plan_edges(star, rows).order is None) == hub_first  # else the hub's list would be scanned for each leaf
    assert color_pairs(star, rows, [1]).tobytes() == general(star, rows, False).tobytes()
    ring = Graph.from_networkx(nx.cycle_graph(50))
    assert plan_edges(ring, rows_of(ring)).order is None


def test_sorted_or_not_colours_are_the_same(monkeypatch):
    graph = Graph.from_networkx(nx.barabasi_albert_graph(200, 3, seed=1))
    found = []
    for least in (0, 10**9):
        tune(monkeypatch, sorted_edges=least)
        assert (plan_edges(graph, rows_of(graph)).order is None) == bool(least)
        found.append(color_pairs(graph, rows_of(graph), [1]).tobytes())
    assert found[0] == found[1]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(graphs, min_size=1, max_size=4),
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.integers(0, 12),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_small_parts_have_the_colours_of_large_ones(sources, depths, most, rho, absolute, random):
    """Whatever counts as small, and whatever rows there are in whatever order."""
    graph = Graph.from_networkx(nx.disjoint_union_all(sources))
    labels = [random.choice("CNO") for _ in range(graph.num_nodes)] if random.random() < 0.5 else None
    roots = Rows(np.array(random.sample(range(graph.num_nodes), graph.num_nodes), np.int64))
    some = np.array(random.sample(range(graph.num_edges), graph.num_edges), np.int64)
    edges = rows_of(graph, some, np.array([random.random() < 0.5 for _ in some], bool))
    found = []
    for nodes in (0, most, 64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(order, "PART", nodes)
            graph = graph.with_labels(labels)  # which knows no parts yet
            colors = color_nodes(graph, roots, depths, rho, absolute), color_pairs(graph, edges, [1], rho, absolute)
            found.append([of_level.tobytes() for of_level in colors])
    assert found[0] == found[1] == found[2]


def test_parts_are_runs_of_nodes_that_no_edge_leaves(monkeypatch):
    monkeypatch.setattr(order, "PART", 64)
    sizes = (1, 64, 65, 2)
    graph = Graph.from_networkx(nx.disjoint_union_all([nx.path_graph(size) for size in sizes]))
    (small, _, words), (large, rows, none) = by_size(graph, Rows(np.arange(graph.num_nodes)))
    assert np.flatnonzero(large).tolist() == rows.first.tolist() == list(range(65, 130)) and none is None
    assert (small == ~large).all()
    assert words.first[small].tolist() == [0, *[1] * 64, 130, 130]
    bits = [[i for i in range(64) if int(word) >> i & 1] for word in words.neighbours[small]]
    assert bits == [[], [1], *([i - 1, i + 1] for i in range(1, 63)), [62], [1], [0]]


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(random_graphs(), min_size=1, max_size=5), st.sampled_from(["node", "edge"]), st.booleans())
def test_bags_of_many_graphs_are_those_of_each(sources, level, labels):
    """A list is encoded as one graph, on as many threads as there are: the same bytes as one by one."""
    many = [Graph.from_networkx(source) for source in sources]
    if labels:
        many = [graph.with_labels((np.arange(graph.num_nodes) % 3).astype(str)) for graph in many]
    depths = (0, 1, 2, 3) if level == "node" else (1,)
    encoder = Encoder(k=depths, level=level, form="type", per="graph", log1p=True).fit(many)
    together, apart = encoder.transform(many), [encoder.transform([graph]) for graph in many]
    assert together.data.tobytes() == b"".join(one.data.tobytes() for one in apart)
    assert together.indices.tobytes() == b"".join(one.indices.tobytes() for one in apart)
    assert np.diff(together.indptr).tolist() == [one.nnz for one in apart]
    assert together.has_canonical_format


@pytest.mark.jit  # a graph that threads share, too large for plain Python
def test_threads_do_not_change_colours():
    graph = Graph.from_networkx(nx.barabasi_albert_graph(3000, 3, seed=2))
    for rows, depths in ((Rows(np.arange(3000)), (0, 1, 2, 3)), (rows_of(graph), (1,))):
        spec = EncodingSpec.of(depths, "node" if rows.second is None else "edge", form="type")
        one, three = (Types.of(graph, spec, rows, threads).colors for threads in (1, 3))
        assert one.tobytes() == three.tobytes()
