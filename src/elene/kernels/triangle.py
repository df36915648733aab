"""Marginal rows at k = 1, where everything but degrees is known beforehand, and degrees are numbers of triangles.

Around a node v, a neighbour's quadruplet is ``(1, 1, degree, 0)`` and its degree in the ego-network is one (for v) more
than its triangles with v. Around an edge, the same holds for common neighbours, with two ends instead of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.connect import connect, connect_few, connect_scratch
from elene.kernels.count import reserve
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
ROOM_A_ROW = 12  # entries to begin with: untouched memory costs nothing, growing costs a copy
MEMBER = np.uint32(2**31)
MOST_BESIDE = 8  # entries of a row beside those for degrees, of which there are no more than members


def triangle_scratch(n: int, rho: int) -> Any:
    """Members, the nodes' states, a histogram of degrees, marks for a node's neighbours, and more for lists."""
    return (
        np.empty(n + 1, np.uint32),
        np.zeros(n, np.uint32),
        np.zeros(rho + 1, np.int32),
        np.zeros(n, np.uint8),
        connect_scratch(),
    )


@inlined
def mark(nodes: Any, start: Any, stop: Any, centres: int, state: Any) -> None:
    """Make nodes members: their state is a flag, and their degree so far."""
    for i in range(start, stop):
        state[nodes[i]] = MEMBER | np.uint32(centres)


@inlined
def tally_degrees(nodes: Any, start: Any, stop: Any, state: Any, histogram: Any) -> int:
    """Tally the degrees of members, clipped to the histogram, and unmark them; gives the largest."""
    rho, top = histogram.shape[0] - 1, 0
    for i in range(start, stop):
        degree = min(np.int64(state[nodes[i]] & ~MEMBER), rho)
        state[nodes[i]] = 0
        histogram[degree] += 1
        top = max(top, degree)
    return top


@inlined
def put(column: int, count: int, columns: Any, counts: Any, used: int) -> int:
    """Append one entry to a row; gives how many there are now."""
    columns[used] = column
    counts[used] = count
    return used + 1


@inlined
def write_row(size: int, top: int, centres: int, absolute: bool, histogram: Any, out: Any, used: int) -> int:
    """Append the row of one node (one centre) or edge (two centres, both readings); gives how many entries there are.

    An edge's two ends see each other, too, as neighbours of degree ``size + 1``.
    """
    columns, counts = out
    rho = histogram.shape[0] - 1
    width, end, rest = rho + 1, min(size + centres - 1, rho), centres * (size + centres - 1)
    if centres == 2:
        histogram[end] += 1
        top = max(top, end)
    if absolute:
        used = put(end, centres, columns, counts, used)
    else:
        used = put(0, centres, columns, counts, used)
        used = put(width + end, centres, columns, counts, used)
        used = put(2 * width + end, centres, columns, counts, used)
        if rest:
            used = put(3 * width + min(1, rho), rest, columns, counts, used)
    first = (1 if absolute else 4) * width
    for value in range(top + 1):
        count = histogram[value]
        put(first + value, centres * count, columns, counts, used)
        used += count != 0
        histogram[value] = 0
    if rest and not absolute:
        used = put(5 * width, rest, columns, counts, used)
    return used


@kernel
def node_rows(graph: Any, roots: Any, absolute: bool, scratch: Any) -> Any:
    """Marginal rows of nodes at k = 1: (row ends, columns, counts)."""
    indptr, ranked, _ = graph
    _, state, histogram, _, lists = scratch
    row_ends = np.empty(roots.shape[0], np.int64)
    room = ROOM_A_ROW * roots.shape[0] + 64
    columns, counts, used = np.empty(room, np.int32), np.empty(room, np.int32), 0
    for i in range(roots.shape[0]):
        start, stop = np.uint64(indptr[roots[i]]), np.uint64(indptr[roots[i] + ONE])
        size = np.int64(stop - start)
        mark(ranked, start, stop, 1, state)
        connect(graph, ranked, start, stop, state, lists)
        top = tally_degrees(ranked, start, stop, state, histogram)
        if used + size + MOST_BESIDE > columns.shape[0]:
            columns, counts = reserve(columns, used, size + MOST_BESIDE), reserve(counts, used, size + MOST_BESIDE)
        used = write_row(size, top, 1, absolute, histogram, (columns, counts), used)
        row_ends[i] = used
    return row_ends, columns[:used], counts[:used]


@kernel
def edge_rows(graph: Any, us: Any, vs: Any, absolute: bool, scratch: Any) -> Any:
    """Marginal rows of edges at k = 1, grouped by u: (row ends, columns, counts)."""
    indptr, ranked, _ = graph
    members, state, histogram, marks, _ = scratch
    row_ends = np.empty(us.shape[0], np.int64)
    room = ROOM_A_ROW * us.shape[0] + 64
    columns, counts, used = np.empty(room, np.int32), np.empty(room, np.int32), 0
    for i in range(us.shape[0]):
        if i == 0 or us[i] != us[i - 1]:
            for e in range(indptr[us[i]], indptr[us[i] + ONE]):
                marks[ranked[e]] = 1
        size = 0
        for e in range(indptr[vs[i]], indptr[vs[i] + ONE]):
            members[size] = ranked[e]
            size += marks[ranked[e]]
        mark(members, 0, size, 2, state)
        connect_few(graph, members, size, state)
        top = tally_degrees(members, 0, size, state, histogram)
        if used + size + MOST_BESIDE > columns.shape[0]:
            columns, counts = reserve(columns, used, size + MOST_BESIDE), reserve(counts, used, size + MOST_BESIDE)
        used = write_row(size, top, 2, absolute, histogram, (columns, counts), used)
        row_ends[i] = used
        if i + 1 == us.shape[0] or us[i + 1] != us[i]:
            for e in range(indptr[us[i]], indptr[us[i] + ONE]):
                marks[ranked[e]] = 0
    return row_ends, columns[:used], counts[:used]
