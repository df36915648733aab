from __future__ import annotations

from functools import partial

import pytest

from elene import warmup
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


def test_steps_run_in_several_processes_where_the_first_had_to_compile(monkeypatch):
    names, here = ["nodes, k = 1", "edges, k = 1", "pairs"], []
    monkeypatch.setattr(warmup, "steps", lambda: {name: partial(here.append, name) for name in names})
    assert [name for name, _ in warmup.warm_up(names)] == names == here
    here.clear()
    compiled = iter((3, 4))
    monkeypatch.setattr(warmup, "compiled", lambda: next(compiled))
    told = list(warmup.warm_up(names))
    # Processes of their own have the steps that there are.
    assert here == names[:1] and [name for name, _ in told] == names and all(seconds >= 0 for _, seconds in told)
    compiled = iter((3, 4))
    assert [name for name, _ in warmup.warm_up(names[:1])] == names[:1]
