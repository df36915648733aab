"""Nodes at k = 1 with every triangle found once, beside the oracle and beside one root at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elene
import naive
from elene.engine import policy
from elene.engine.tallying import worth_tallying
from graphs import graphs, relabelled
from tuning import tune

MANY = {"hand_out": 0.001, "ranked_arcs": 1, "tallied_arcs": 1}  # pieces for every thread, however small the graph


def encoded(graph, threads=1, constants=MANY, **options):
    with pytest.MonkeyPatch.context() as patch:
        tune(patch, **constants)
        return elene.encode(graph, 1, threads=threads, **options).matrix


def assert_same_bytes(matrix, other):
    for part in ("data", "indices", "indptr"):
        mine, theirs = getattr(matrix, part), getattr(other, part)
        assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()


@settings(max_examples=60, deadline=None)
@given(
    graph=graphs,
    threads=st.integers(1, 5),
    max_degree=st.sampled_from([None, 0, 1, 2, 3, 20]),
    degrees=st.sampled_from(["relative", "absolute"]),
)
def test_triangles_found_once_are_counted_as_those_around_each_root(graph, threads, max_degree, degrees):
    options = {"max_degree": max_degree, "degrees": degrees}
    apart = encoded(graph, 1, {"tallying_threads": 0}, **options)
    assert_same_bytes(encoded(graph, threads, **options), apart)


@settings(max_examples=60, deadline=None)
@given(graph=graphs, threads=st.integers(1, 3), seed=st.integers(0, 99))
def test_rows_are_those_of_the_oracle_however_nodes_are_numbered(graph, threads, seed):
    copy, new = relabelled(graph, seed)
    rho = max((degree for _, degree in graph.degree), default=0)
    found = encoded(copy, threads).toarray()
    kinds = ("closer", "degree", "farther")
    names = [(distance, kind, value) for distance in (0, 1) for kind in kinds for value in range(rho + 1)]
    for node in graph:
        row = found[new[node]]
        expected = naive.marginal(naive.node_encoding(graph, node, 1), rho)
        assert {names[column]: row[column] for column in np.flatnonzero(row)} == expected


@settings(max_examples=60, deadline=None)
@given(graph=graphs, threads=st.integers(1, 3), data=st.data())
def test_roots_in_any_order_and_more_than_once(graph, threads, data):
    roots = data.draw(st.permutations(list(graph))) + data.draw(st.lists(st.sampled_from(list(graph) or [0])))
    roots = [root for root in roots if root in graph]
    assert_same_bytes(encoded(graph, threads, roots=roots), encoded(graph)[roots])


def test_few_nodes_many_threads_and_many_arcs_are_counted_apart(monkeypatch):
    graph = elene.Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    most = policy.POLICY.tallying_threads
    assert worth_tallying(graph, np.arange(3), most)
    assert not worth_tallying(graph, np.arange(2), most)
    assert not worth_tallying(graph, np.arange(4), most + 1)
    tune(monkeypatch, tallied_most=5)
    assert not worth_tallying(graph, np.arange(4), most)
