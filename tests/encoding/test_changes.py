from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from elene import affected, encode
from graphs import random_graphs


@st.composite
def changes(draw):
    """A graph, the same after some edges were added and others removed, and those edges."""
    before = draw(random_graphs(10))
    pairs = [(u, v) for u in before for v in range(u)]
    changed = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=4)) if pairs else []
    after = before.copy()
    for u, v in changed:
        (after.remove_edge if after.has_edge(u, v) else after.add_edge)(u, v)
    return before, after, changed


@given(changes(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_the_others_keep_their_encodings(change, k):
    before, after, edges = change
    found = affected(before, edges, k).tolist()
    assert affected(after, edges, k).tolist() == found
    for node in set(before) - set(found):
        assert naive.node_encoding(before, node, k) == naive.node_encoding(after, node, k)
    if len(edges) == 1 and k:
        # One edge is in the subgraph of every node found, before or after: none is found in vain.
        whole = before if before.number_of_edges() > after.number_of_edges() else after
        for node in found:
            distances = nx.single_source_shortest_path_length(whole, node, cutoff=k)
            assert set(edges[0]) <= set(distances)


@given(changes(), st.integers(1, 2))
@settings(max_examples=15, deadline=None)
@pytest.mark.jit
def test_encoding_those_again_is_encoding_the_changed_graph(change, k):
    before, after, edges = change
    matrix = encode(before, k, max_degree=12).matrix.toarray()
    roots = affected(before, edges, k)
    if len(roots):
        matrix[roots] = encode(after, k, max_degree=12, roots=roots).matrix.toarray()
    assert np.array_equal(matrix, encode(after, k, max_degree=12).matrix.toarray())


@given(changes(), st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_edges_differ_only_at_affected_nodes(change, k):
    before, after, edges = change
    found = set(affected(before, edges, k).tolist())
    for u, v in set(map(tuple, map(sorted, before.edges))) & set(map(tuple, map(sorted, after.edges))):
        if not {u, v} & found:
            assert naive.pair_encoding(before, u, v, k) == naive.pair_encoding(after, u, v, k)


def test_names_and_several_depths():
    graph = nx.path_graph(list("abcdefgh"))
    assert affected(graph, [("a", "b")], [1, 2]).tolist() == ["a", "b", "c"]
    assert affected(graph, [], 2).tolist() == [] and affected(graph, [("a", "b")], 0).tolist() == []


@pytest.mark.parametrize(
    "edges, message",
    [([(0, 9)], "edges: node 9 is not in the graph"), ([(0, 1, 2)], "edges must be pairs"), ("ab", "edges must be")],
)
def test_bad_edges(edges, message):
    with pytest.raises((ValueError, TypeError), match=message):
        affected(nx.path_graph(4), edges, 1)
