from __future__ import annotations

import pytest

from elene.engine.plan import Rows, by_size, plan_nodes
from elene.warmup import complete_graph

pytestmark = pytest.mark.jit


def test_graphs_are_of_the_kinds_that_the_engine_treats_differently():
    small, dense = complete_graph(4), complete_graph()
    plans = [plan_nodes(graph, graph.nodes, 2) for graph in (small, dense)]
    assert [plan.together for plan in plans] == [False, True]
    assert [plan.order is None for plan in plans] == [True, False]
    assert [plan.graph is graph.ranked for plan, graph in zip(plans, (small, dense), strict=True)] == [1, 0]
    parts = [by_size(graph, Rows(graph.nodes)) for graph in (small, complete_graph(65))]
    assert [words is None for ((_, _, words),) in parts] == [False, True]
