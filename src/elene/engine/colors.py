"""Encodings as colours of 64 bits, and their refinement: 1-WL on coloured arcs, folklore 2-WL on coloured pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.engine import policy
from elene.engine.parallel import run_ranges
from elene.engine.plan import (
    Rows,
    WorkPlan,
    by_size,
    effective_depth,
    node_setting,
    pair_setting,
    plan_edges,
    plan_in_order,
    plan_pairs,
    plan_small,
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
    from elene.kernels.words import hash_small_egos

    setting = _with_labels(node_setting(graph, max(depths), graph.max_degree if rho is None else rho, absolute), graph)
    wanted, places = _places(graph, depths)
    told = setting, _factors(FIRST, absolute), wanted
    codes = np.empty((len(rows), places.max() + 2), np.uint64)
    scratch = partial(reading_scratch, graph.num_nodes, setting.k, setting.shift.dtype)
    for chosen, part, words in by_size(graph, rows):
        if words is None:
            plan = plan_in_order(graph, part.first, policy.POLICY.hash_work)
            codes[chosen] = _hashed(hash_egos, plan, told, codes.shape[1:], threads, scratch)
        else:
            codes[chosen] = _hashed(hash_small_egos, plan_small(words, part), told, codes.shape[1:], threads)
    return codes.T[places]


def _hashed(
    kernel: Any,
    plan: WorkPlan,
    told: tuple[Any, ...],
    shape: tuple[int, ...],
    threads: int | None,
    scratch: Callable[[], Any] | None = None,
) -> Colors:
    """The codes, of some shape, that a kernel writes for each row of a plan; each thread has its scratch, if any."""
    codes = np.empty((len(plan.work), *shape), np.uint64)

    def run(start: int, stop: int, mine: tuple[Any, ...]) -> None:
        kernel(plan.graph, plan.cut(start, stop), *told, *mine, codes[start:stop])

    run_ranges(run, lambda: () if scratch is None else (scratch(),), plan.work, threads)
    return codes


def _with_labels(setting: Setting, graph: Graph) -> Setting:
    """The same with hashes of the labels, where there are some."""
    return setting if graph.label_hashes is None else setting._replace(labels=graph.label_hashes, classes=1)


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
    setting = _with_labels(setting, graph)
    clipped = setting.rho < graph.max_degree
    if rows.distance is None and setting.k == min(depths) == 1 and not clipped:
        codes = _of_edges(graph, rows, setting, threads)
        return np.repeat(codes[None], len(depths), axis=0)
    plan = plan_pairs(graph, rows, setting.k)
    if clipped:
        codes = np.stack([_clipped(graph, plan, setting._replace(k=depth), threads) for depth in depths])
    else:
        codes = _unclipped(graph, plan, setting, depths, threads)
    return _in_order(codes, plan, rows)


def _in_order(codes: Colors, plan: WorkPlan, rows: Rows) -> Colors:
    """Both codes of each pair, last, as the rows have them: a plan may sort pairs, and turn them around."""
    if plan.order is None:
        return codes
    swapped = plan.roots[0] != rows.first[plan.order]
    colors = np.empty(codes.shape, np.uint64)
    colors[..., plan.order, :] = np.where(swapped[:, None], codes[..., ::-1], codes)
    return colors


def _unclipped(graph: Graph, plan: WorkPlan, setting: Setting, depths: Sequence[int], threads: int | None) -> Colors:
    """Both colours of each pair at all depths, in the order of the plan."""
    from elene.kernels.colors import hash_pairs, intersection_scratch

    wanted, places = _places(graph, depths)
    told, shape = (setting, _both_factors(setting), wanted), (2, int(places.max()) + 2)
    codes = _hashed(hash_pairs, plan, told, shape, threads, partial(intersection_scratch, graph.num_nodes))
    return codes.transpose(2, 0, 1)[places]


def _of_edges(graph: Graph, rows: Rows, setting: Setting, threads: int | None) -> Colors:
    """Both colours of each edge at depth 1."""
    from elene.kernels.colors import hash_edges, intersection_scratch
    from elene.kernels.words import hash_small_edges

    told, codes = (setting, _both_factors(setting)), np.empty((len(rows), 2), np.uint64)
    for chosen, part, words in by_size(graph, rows):
        if words is None:
            plan, scratch = plan_edges(graph, part), partial(intersection_scratch, graph.num_nodes)
            codes[chosen] = _in_order(_hashed(hash_edges, plan, told, (2,), threads, scratch), plan, part)
        else:
            codes[chosen] = _hashed(hash_small_edges, plan_small(words, part), told, (2,), threads)
    return codes


def _both_factors(setting: Setting) -> tuple[Any, Any]:
    """Those of either end."""
    return _factors(FIRST, setting.absolute), _factors(SECOND, setting.absolute)


def _clipped(graph: Graph, plan: WorkPlan, setting: Setting, threads: int | None) -> Colors:
    """Both colours of each pair at one depth, where larger values than some count as that one."""
    from elene.kernels.colors import hash_clipped_pairs
    from elene.kernels.pair import pair_scratch

    setting = setting._replace(k=effective_depth(graph, setting.k))
    told = setting, _both_factors(setting)
    return _hashed(hash_clipped_pairs, plan, told, (2,), threads, partial(pair_scratch, graph.num_nodes))


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
