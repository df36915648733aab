"""Distances between nodes, up to a radius."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.engine import policy
from elene.engine.counting import assemble
from elene.engine.filling import FillJob
from elene.engine.plan import Rows, effective_depth, pair_setting, plan_in_order, stable_order
from elene.graph import Graph


def pairs_within(graph: Graph, radius: int | None, start: int = 0, stop: int | None = None) -> Rows:
    """All pairs of nodes within the radius of each other (None: all that a path joins), each once, nodes with
    themselves included; by the first node, which stands from ``start`` to ``stop``, and then the second.
    """
    from elene.kernels.pair import ball_scratch, fill_balls

    setting = pair_setting(graph, _reach(graph, radius), 0)
    scratch = partial(ball_scratch, graph.num_nodes)
    roots = np.arange(start, graph.num_nodes if stop is None else stop)
    job = FillJob(plan_in_order(graph, roots), fill_balls, setting, scratch, policy.POLICY.deep_room)
    found: csr_array = assemble(job.plan, job.run(None), graph.num_nodes, None)
    found.sort_indices()
    first = np.repeat(roots, np.diff(found.indptr))
    return Rows(first, found.indices.astype(np.int64), found.data.astype(np.int64))


def distances_between(
    graph: Graph, first: NDArray[np.int64], second: NDArray[np.int64], radius: int | None
) -> NDArray[np.int64]:
    """The distance of each pair, -1 where it is more than the radius (None: where there is no path)."""
    from elene.kernels.pair import ball_scratch, measure_distances

    order = stable_order(first, graph.num_nodes)
    pairs = first[order].astype(np.uint32), second[order].astype(np.uint32)
    found, distance = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    measure_distances(graph.ranked, pairs, _reach(graph, radius), ball_scratch(graph.num_nodes), found)
    distance[order] = found
    return distance


def _reach(graph: Graph, radius: int | None) -> int:
    from elene.kernels.pair import MAX_DEPTH

    return min(MAX_DEPTH, effective_depth(graph, MAX_DEPTH if radius is None else radius))
