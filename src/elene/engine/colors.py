"""Encodings as colours of 64 bits, and their refinement: 1-WL on coloured arcs, folklore 2-WL on coloured pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.engine import policy
from elene.engine.parallel import run_ranges
from elene.engine.plan import (
    Rows,
    WorkPlan,
    effective_depth,
    labelled,
    node_setting,
    pair_setting,
    plan_edges,
    plan_in_order,
    plan_pairs,
)
from elene.graph import Graph
from elene.kernels.data import Setting

Colors = NDArray[np.uint64]

# Of distance, closer, degree and farther: odd numbers of random bits, for how either end of a pair sees a node.
FIRST = (0x5DA7AC9C3BD68B3F, 0x2B0CA882B02CAAF5, 0x9CE22B47854F0AEB, 0x0ED7857B6F6C37B5)
SECOND = (0x8FBB1EB37F46CED5, 0x7EE349461646F457, 0x9CE22B47854F0AEB, 0x85E7C380128EB6F1)


def color_nodes(
    graph: Graph,
    rows: Rows,
    depths: Sequence[int],
    rho: int | None = None,
    absolute: bool = False,
    threads: int | None = None,
) -> Colors:
    """Each node's encoding as one colour, a row for each depth; labels are part of it, where the graph has them.

    Args:
        graph: the graph.
        rows: the nodes.
        depths: the depths, all of which are seen in one exploration.
        rho: larger values count as this one; by default there is no such.
        absolute: whether only degrees are kept (IGEL).
        threads: how many threads to use.
    """
    from elene.kernels.colors import hash_egos
    from elene.kernels.node import reading_scratch

    setting = node_setting(graph, max(depths), graph.max_degree if rho is None else rho, absolute)
    plan = plan_in_order(graph, rows.first)
    setting, factors = _with_labels(setting, plan, graph), _factors(FIRST, absolute)
    wanted, places = _places(graph, depths)
    codes = np.empty((len(rows), places.max() + 2), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_egos(plan.graph, plan.cut(start, stop), setting, factors, wanted, scratch, codes[start:stop])

    scratch = partial(reading_scratch, graph.num_nodes, setting.k, setting.shift.dtype)
    run_ranges(color, scratch, policy.POLICY.hash_work * plan.work, threads)
    return codes.T[places]


def _with_labels(setting: Setting, plan: WorkPlan, graph: Graph) -> Setting:
    """The same with hashes of the labels, which are small numbers where they were not text."""
    if graph.label_colors is None:
        return setting
    hashes = fold(np.zeros_like(graph.label_colors), graph.label_colors)
    hashes.flags.writeable = False
    return labelled(setting, plan, hashes, 1)


def _factors(numbers: Sequence[int], absolute: bool) -> Any:
    from elene.kernels.colors import Factors

    distance, closer, degree, farther = map(np.uint64, numbers)
    none = np.uint64(0)
    return Factors(distance, none, degree, none) if absolute else Factors(distance, closer, degree, farther)


def _places(graph: Graph, depths: Sequence[int]) -> tuple[Any, NDArray[np.int64]]:
    """The distinct depths that matter, as kernels are told them, and the place of each depth among these."""
    from elene.kernels.colors import Depths

    seen = [effective_depth(graph, depth) for depth in depths]
    distinct = sorted(set(seen))
    distances = range(distinct[-1] + 1)
    beyond = [bisect_right(distinct, distance) for distance in distances]
    equal = [distinct.index(distance) if distance in distinct else len(distinct) for distance in distances]
    return Depths(np.array(beyond), np.array(equal)), np.array([distinct.index(depth) for depth in seen])


def color_pairs(
    graph: Graph,
    rows: Rows,
    depths: Sequence[int],
    rho: int | None = None,
    absolute: bool = False,
    threads: int | None = None,
) -> Colors:
    """Both readings of each pair as two colours: from the first end, and from the second; see :func:`color_nodes`."""
    setting = pair_setting(graph, max(depths), graph.max_degree if rho is None else rho, absolute)
    clipped, shallow = setting.rho < graph.max_degree, rows.distance is None and setting.k == min(depths) == 1
    plan = plan_edges(graph, rows) if shallow and not clipped else plan_pairs(graph, rows, setting.k)
    setting = _with_labels(setting, plan, graph)
    if shallow and not clipped:
        codes = np.broadcast_to(_of_edges(graph, plan, setting, threads), (len(depths), len(rows), 2))
    elif clipped:
        codes = np.stack([_clipped(graph, plan, setting._replace(k=depth), threads) for depth in depths])
    else:
        codes = _unclipped(graph, plan, setting, depths, threads)
    if plan.order is None:
        return codes
    swapped = plan.roots[0] != rows.first[plan.order]
    colors = np.empty(codes.shape, np.uint64)
    colors[:, plan.order] = np.where(swapped[:, None], codes[..., ::-1], codes)
    return colors


def _unclipped(graph: Graph, plan: WorkPlan, setting: Setting, depths: Sequence[int], threads: int | None) -> Colors:
    """Both colours of each pair at all depths, in the order of the plan."""
    from elene.kernels.colors import hash_pairs, intersection_scratch

    factors = _factors(FIRST, setting.absolute), _factors(SECOND, setting.absolute)
    wanted, places = _places(graph, depths)
    codes = np.empty((len(plan.work), 2, places.max() + 2), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_pairs(plan.graph, plan.cut(start, stop), setting, factors, wanted, scratch, codes[start:stop])

    run_ranges(color, partial(intersection_scratch, graph.num_nodes), plan.work, threads)
    return codes.transpose(2, 0, 1)[places]


def _of_edges(graph: Graph, plan: WorkPlan, setting: Setting, threads: int | None) -> Colors:
    """Both colours of each edge at depth 1, in the order of the plan."""
    from elene.kernels.colors import hash_edges, intersection_scratch

    factors = _factors(FIRST, setting.absolute), _factors(SECOND, setting.absolute)
    codes = np.empty((len(plan.work), 2), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_edges(plan.graph, plan.cut(start, stop), setting, factors, scratch, codes[start:stop])

    run_ranges(color, partial(intersection_scratch, graph.num_nodes), plan.work, threads)
    return codes


def _clipped(graph: Graph, plan: WorkPlan, setting: Setting, threads: int | None) -> Colors:
    """The same at one depth, where larger values than some count as that one."""
    from elene.kernels.colors import hash_clipped_pairs
    from elene.kernels.pair import pair_scratch

    factors = _factors(FIRST, setting.absolute), _factors(SECOND, setting.absolute)
    setting = setting._replace(k=effective_depth(graph, setting.k))
    codes = np.empty((len(plan.work), 2), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_clipped_pairs(plan.graph, plan.cut(start, stop), setting, factors, scratch, codes[start:stop])

    run_ranges(color, partial(pair_scratch, graph.num_nodes), plan.work, threads)
    return codes


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
