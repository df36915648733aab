from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elene
from elene.datasets import rook, shrikhande, sr25
from graphs import graphs, relabelled

levels = st.sampled_from(["node", "edge", "pair"])
refinements = st.sampled_from([None, "wl", "2fwl"])


@settings(max_examples=40, deadline=None)
@given(
    graph=graphs,
    k=st.sampled_from([0, 1, 2, (1, 2), (3, 1)]),
    level=levels,
    refine=refinements,
    seed=st.integers(0, 99),
)
def test_isomorphic_graphs_never_differ(graph, k, level, refine, seed):
    copy, _ = relabelled(graph, seed)
    assert elene.fingerprint(graph, k, level, refine) == elene.fingerprint(copy, k, level, refine)


@settings(max_examples=25, deadline=None)
@given(graph=graphs, other=graphs, level=levels)
def test_refinement_never_sees_less(graph, other, level):
    """What bare encodings tell apart, 1-WL on top does, and what that does, 2-FWL does."""
    differ = [
        elene.fingerprint(graph, 1, level, refine) != elene.fingerprint(other, 1, level, refine)
        for refine in (None, "wl", "2fwl")
    ]
    assert differ == sorted(differ)


def classes(family, k, level, refine=None):
    return len({elene.fingerprint(graph, k, level, refine) for graph in family})


@pytest.mark.parametrize("refine", [None, "wl"])
def test_rook_and_shrikhande(refine):
    family = [rook(), shrikhande()]
    assert classes(family, [1, 2], "node", refine) == 1
    assert classes(family, 1, "edge", refine) == 2
    assert classes(family, 1, "pair", refine) == 2


def test_rook_has_six_edges_in_the_intersection_and_shrikhande_five():
    for graph, edges in ((rook(), 6), (shrikhande(), 5)):
        readings = elene.edge_quadruplets(graph, graph.edges[0].tolist(), 1)
        assert sum(count * seen.degree for (seen, _), count in readings.items()) == 2 * edges


def test_sr25():
    family = sr25()
    assert classes(family, [1, 2], "node", "wl") == 1
    assert classes(family, 1, "edge") == 15
    assert classes(family, 2, "edge") == 1
    assert classes(family, [1, 2], "edge", "wl") == 15


def test_wl_alone_and_2fwl_alone():
    hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    assert classes([hexagon, triangles], 0, "node", "wl") == 1
    assert classes([hexagon, triangles], 0, "node", "2fwl") == 2
    assert classes([rook(), shrikhande()], 0, "node", "2fwl") == 1
    assert classes([nx.path_graph(4), nx.star_graph(3)], 0, "node", "wl") == 2


def test_isolated_nodes_count():
    assert classes([nx.path_graph(3), nx.disjoint_union(nx.path_graph(3), nx.empty_graph(1))], 1, "edge") == 2


def test_radius_limits_what_pairs_see():
    paths = [nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(3)), nx.cycle_graph(8)]
    assert elene.fingerprint(paths[0], 0, "pair", None, radius=0) == elene.fingerprint(
        paths[1], 0, "pair", None, radius=0
    )
    assert elene.fingerprint(paths[0], 0, "pair", None) != elene.fingerprint(paths[1], 0, "pair", None)


def test_compare_says_by_what():
    assert elene.compare(nx.path_graph(3), nx.path_graph(4)).by == "number of nodes"
    assert elene.compare(nx.path_graph(3), nx.cycle_graph(3)).evidence == [("edges", 2, 3)]
    found = elene.compare(rook(), shrikhande())
    assert found.distinguished and found.by == "ED at k=1"
    assert "differ by ED at k=1" in repr(found) and " in a, " in repr(found)
    assert sum(abs(a - b) for _, a, b in found.evidence) > 0


def test_compare_of_equals():
    graph = nx.petersen_graph()
    found = elene.compare(graph, relabelled(graph, 3)[0])
    assert not found.distinguished and found.by is None
    assert "not told apart by number of nodes, number of edges, ED at k=1" in repr(found)
    assert not elene.compare(graph, graph, k=1, refine=None).distinguished


def test_compare_needs_the_refinement_at_times():
    """Two trees whose edges look alike at k=1, one by one."""
    a = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (3, 7)])
    b = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 6), (4, 7)])
    found = elene.compare(a, b, k=1)
    assert found.by == "ED at k=1 with 1-WL" and found.evidence == []


def test_compare_shows_whole_encodings_where_single_quadruplets_agree():
    a = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 6)])
    b = nx.Graph([(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (1, 5), (5, 6)])
    assert elene.compare(a, b, level="node", k=1).distinguished


@pytest.mark.parametrize(
    ("options", "message"),
    [({"refine": "3wl"}, "refine must be one of None, 'wl', '2fwl'"), ({"level": "graph"}, "level must be one of")],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        elene.fingerprint(nx.path_graph(3), 1, **options)
    with pytest.raises(ValueError, match=message):
        elene.compare(nx.path_graph(3), nx.path_graph(3), **options)
