"""Encodings as colours of 64 bits, and their refinement: 1-WL on coloured arcs, folklore 2-WL on coloured pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.engine.parallel import run_ranges
from elene.engine.plan import Rows, WorkPlan, labelled, node_setting, pair_setting, plan_in_order, plan_pairs
from elene.graph import Graph
from elene.kernels.data import Setting

Colors = NDArray[np.uint64]


def color_nodes(
    graph: Graph,
    rows: Rows,
    k: int,
    rho: int | None = None,
    absolute: bool = False,
    threads: int | None = None,
) -> Colors:
    """Each node's encoding as one colour; labels are part of it, where the graph has them.

    Args:
        graph: the graph.
        rows: the nodes.
        k: the depth.
        rho: larger values count as this one; by default there is no such.
        absolute: whether only degrees are kept (IGEL).
        threads: how many threads to use.
    """
    from elene.kernels.node import hash_egos, reading_scratch

    setting = node_setting(graph, k, graph.max_degree if rho is None else rho, absolute)
    plan = plan_in_order(graph, rows.first)
    setting = _with_labels(setting, plan, graph)
    colors = np.empty(len(rows), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_egos(plan.graph, plan.cut(start, stop), setting, scratch, colors[start:stop])

    scratch = partial(reading_scratch, graph.num_nodes, setting.k, setting.shift.dtype)
    run_ranges(color, scratch, plan.work, threads)
    return colors


def _with_labels(setting: Setting, plan: WorkPlan, graph: Graph) -> Setting:
    return setting if graph.label_colors is None else labelled(setting, plan, graph.label_colors, 1)


def color_pairs(
    graph: Graph,
    rows: Rows,
    k: int,
    rho: int | None = None,
    absolute: bool = False,
    threads: int | None = None,
) -> Colors:
    """Both readings of each pair as two colours: from the first end, and from the second; see :func:`color_nodes`."""
    from elene.kernels.pair import hash_pairs, pair_scratch

    setting = pair_setting(graph, k, graph.max_degree if rho is None else rho, absolute)
    plan = plan_pairs(graph, rows, setting.k)
    setting = _with_labels(setting, plan, graph)
    codes, colors = np.empty((len(rows), 2), np.uint64), np.empty((len(rows), 2), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_pairs(plan.graph, plan.cut(start, stop), setting, scratch, codes[start:stop])

    run_ranges(color, partial(pair_scratch, graph.num_nodes), plan.work, threads)
    swapped = plan.roots[0] != rows.first[plan.order]
    codes[swapped] = codes[swapped, ::-1]
    colors[plan.order] = codes
    return colors


def fold(colors: Colors, more: Colors) -> Colors:
    """The hash of two arrays of colours, entry by entry."""
    from elene.kernels.refine import chain_all

    result: Colors = chain_all(np.ascontiguousarray(colors).ravel(), np.ascontiguousarray(more).ravel())
    return result.reshape(colors.shape)


def refine_nodes(indptr: NDArray[Any], indices: NDArray[Any], arcs: Colors, colors: Colors) -> Colors:
    """One round of 1-WL over the arcs that compressed rows list, each with a colour."""
    from elene.kernels.refine import refine_nodes

    refined: Colors = refine_nodes(indptr, indices, arcs, colors)
    return refined


def refine_pairs(colors: Colors) -> Colors:
    """One round of folklore 2-WL on a colour for every ordered pair of nodes."""
    from elene.kernels.refine import refine_pairs

    refined: Colors = refine_pairs(colors)
    return refined
