from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elene
from elene.engine.ranking import rank
from graphs import random_graphs
from tuning import tune


@given(graph=random_graphs(), threads=st.integers(1, 5))
def test_threads_rank_as_one_does(graph, threads):
    alone, shared = elene.Graph.from_networkx(graph), elene.Graph.from_networkx(graph)
    with pytest.MonkeyPatch.context() as patch:
        tune(patch, ranked_arcs=1)
        rank(shared, threads)
    assert "ranked" in vars(shared)
    for ours, expected in zip(shared.ranked, alone.ranked, strict=True):
        assert ours.dtype == expected.dtype and np.array_equal(ours, expected)
        assert not ours.flags.writeable


def test_what_is_ranked_is_not_ranked_again():
    graph = elene.Graph.from_edges([(0, 1), (1, 2)])
    kept = graph.ranked
    rank(graph, 2)
    assert graph.ranked is kept
