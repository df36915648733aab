"""Marginal rows at k = 1, where everything but degrees is known beforehand, and degrees are numbers of triangles.

Around a node v, a neighbour's quadruplet is ``(1, 1, degree, 0)`` and its degree in the ego-network is one (for v) more
than its triangles with v. Around an edge, the same holds for common neighbours, with two ends instead of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.connect import connect, connect_few, connect_scratch
from elene.kernels.count import put, reserve
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
ROOM_A_ROW = 12  # entries to begin with: untouched memory costs nothing, growing costs a copy
MEMBER = np.uint32(2**31)
BESIDE = 8  # entries of a row beside those for degrees, of which there are no more than members


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
def write_row(size: int, top: int, centres: int, kept: int, histogram: Any, entries: Any, used: int) -> int:
    """Append the row of one node (one centre) or edge (two centres, both readings); gives how many entries there are.

    An edge's two ends see each other, too, as neighbours of degree ``size + 1``. With absolute degrees, only those are
    kept.
    """
    rho = histogram.shape[0] - 1
    width, end, rest = rho + 1, min(size + centres - 1, rho), centres * (size + centres - 1)
    used = put(0, centres, kept, entries, used)
    used = put(kept * width + end, centres, 1, entries, used)
    used = put(2 * width + end, centres, kept, entries, used)
    used = put(3 * width + min(1, rho), rest, kept * (rest > 0), entries, used)
    histogram[end] += centres - 1
    top, first = max(top, (centres - 1) * end), (1 + 3 * kept) * width
    for value in range(top + 1):
        count = histogram[value]
        used = put(first + value, centres * count, count != 0, entries, used)
        histogram[value] = 0
    return put(5 * width, rest, kept * (rest > 0), entries, used)


@kernel
def fill_nodes(graph: Any, roots: Any, kept: int, scratch: Any, out: Any, done: int, used: int) -> Any:
    """Append the rows of ``roots[done:]`` as long as there is room; gives how many are done and used.

    There are no branches around arrays, and none is replaced: numba would count references for every root.
    """
    indptr, ranked, _ = graph
    _, state, histogram, _, lists = scratch
    row_ends, entries = out
    most = histogram.shape[0] + BESIDE
    while done < roots.shape[0] and used + most <= entries.shape[0]:
        start, stop = np.uint64(indptr[roots[done]]), np.uint64(indptr[roots[done] + ONE])
        size = np.int64(stop - start)
        mark(ranked, start, stop, 1, state)
        connect(graph, ranked, start, stop, state, lists)
        top = tally_degrees(ranked, start, stop, state, histogram)
        used = write_row(size, top, 1, kept, histogram, entries, used)
        row_ends[done] = used
        done += 1
    return done, used


@kernel
def node_rows(graph: Any, roots: Any, absolute: bool, scratch: Any) -> Any:
    """Marginal rows of nodes at k = 1: (row ends, entries)."""
    row_ends = np.empty(roots.shape[0], np.int64)
    most = scratch[2].shape[0] + BESIDE
    room = ROOM_A_ROW * roots.shape[0] + most
    entries, done, used = np.empty(room, np.int64), 0, 0
    while done < roots.shape[0]:
        out = row_ends, entries
        done, used = fill_nodes(graph, roots, 0 if absolute else 1, scratch, out, done, used)
        if done < roots.shape[0]:
            entries = reserve(entries, used, most)
    return row_ends, entries[:used]


@kernel
def fill_edges(graph: Any, ends: Any, kept: int, scratch: Any, out: Any, done: int, used: int) -> Any:
    """The same for edges, which are grouped by u."""
    indptr, ranked, _ = graph
    us, vs = ends
    members, state, histogram, marks, _ = scratch
    row_ends, entries = out
    most = histogram.shape[0] + BESIDE
    while done < us.shape[0] and used + most <= entries.shape[0]:
        u = us[done]
        entered = (done > 0) & (us[max(done - 1, 0)] == u)
        for e in range(indptr[u + ONE] if entered else indptr[u], indptr[u + ONE]):
            marks[ranked[e]] = 1
        size = 0
        for e in range(indptr[vs[done]], indptr[vs[done] + ONE]):
            members[size] = ranked[e]
            size += marks[ranked[e]]
        mark(members, 0, size, 2, state)
        connect_few(graph, members, size, state)
        top = tally_degrees(members, 0, size, state, histogram)
        used = write_row(size, top, 2, kept, histogram, entries, used)
        row_ends[done] = used
        done += 1
        stays = (done < us.shape[0]) & (us[min(done, us.shape[0] - 1)] == u)
        for e in range(indptr[u + ONE] if stays else indptr[u], indptr[u + ONE]):
            marks[ranked[e]] = 0
    return done, used


@kernel
def edge_rows(graph: Any, us: Any, vs: Any, absolute: bool, scratch: Any) -> Any:
    """Marginal rows of edges at k = 1, grouped by u: (row ends, entries)."""
    row_ends = np.empty(us.shape[0], np.int64)
    most = scratch[2].shape[0] + BESIDE
    room = ROOM_A_ROW * us.shape[0] + most
    entries, done, used = np.empty(room, np.int64), 0, 0
    while done < us.shape[0]:
        out = row_ends, entries
        done, used = fill_edges(graph, (us, vs), 0 if absolute else 1, scratch, out, done, used)
        if done < us.shape[0]:
            entries = reserve(entries, used, most)
    return row_ends, entries[:used]
