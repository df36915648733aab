"""Encodings as colours of 64 bits, and their refinement: 1-WL on coloured arcs, folklore 2-WL on coloured pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.engine.parallel import run_ranges
from elene.engine.plan import Rows, node_setting, pair_setting, plan_in_order, plan_pairs
from elene.graph import Graph

Colors = NDArray[np.uint64]


def color_nodes(graph: Graph, k: int) -> Colors:
    """Each node's encoding as one colour."""
    from elene.kernels.node import hash_egos, reading_scratch

    setting, plan = node_setting(graph, k, graph.max_degree), plan_in_order(graph)
    colors = np.empty(graph.num_nodes, np.uint64)
    scratch = reading_scratch(graph.num_nodes, setting.k, setting.shift.dtype)
    hash_egos(plan.graph, plan.roots[0], setting, scratch, colors)
    return colors


def color_pairs(graph: Graph, rows: Rows, k: int) -> Colors:
    """Both readings of each pair as two colours: from the first end, and from the second."""
    from elene.kernels.pair import hash_pairs, pair_scratch

    setting = pair_setting(graph, k, graph.max_degree)
    plan = plan_pairs(graph, rows, setting.k)
    codes, colors = np.empty((len(rows), 2), np.uint64), np.empty((len(rows), 2), np.uint64)

    def color(start: int, stop: int, scratch: Any) -> None:
        hash_pairs(plan.graph, plan.cut(start, stop), setting, scratch, codes[start:stop])

    for _ in run_ranges(color, partial(pair_scratch, graph.num_nodes), plan.work, None):
        pass
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
