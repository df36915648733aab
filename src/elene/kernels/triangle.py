"""Marginal rows at k = 1, where everything but degrees is known beforehand, and degrees are numbers of triangles.

Around a node v, a neighbour's quadruplet is ``(1, 1, degree, 0)`` and its degree in the ego-network is one (for v) more
than its triangles with v. Around an edge, the same holds for common neighbours, with two ends instead of one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.connect import ListScratch, connect, connect_few, list_scratch
from elene.kernels.count import put
from elene.kernels.data import Progress
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
MEMBER = np.uint32(2**31)
BESIDE = 8  # entries of a row beside those for degrees, of which there are no more than members


class TriangleScratch(NamedTuple):
    """Common neighbours; every node's state; a histogram of degrees; marks for one end's neighbours."""

    members: Any
    state: Any
    histogram: Any
    marks: Any
    lists: ListScratch


def triangle_scratch(n: int, rho: int) -> TriangleScratch:
    """Scratch for a graph of n nodes and degrees up to rho."""
    return TriangleScratch(
        members=np.empty(n + 1, np.uint32),
        state=np.zeros(n, np.uint32),
        histogram=np.zeros(rho + 1, np.int32),
        marks=np.zeros(n, np.uint8),
        lists=list_scratch(),
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

    The columns of a distance are closer, degree and farther, ``width`` each; with absolute degrees (``kept`` is 0) only
    those of degree are there. An edge's ends see each other as neighbours of degree ``size + 1``, too.
    """
    width = histogram.shape[0]
    own = min(size + centres - 1, width - 1)  # a centre's degree, and its farther neighbours
    others = centres * (size + centres - 1)  # all that are seen at distance 1, each with one closer neighbour a centre
    used = put(0, centres, kept, entries, used)
    used = put(kept * width + own, centres, 1, entries, used)
    used = put(2 * width + own, centres, kept, entries, used)
    used = put(3 * width + min(1, width - 1), others, kept * (others > 0), entries, used)
    histogram[own] += centres - 1
    top, first = max(top, (centres - 1) * own), (1 + 3 * kept) * width
    for degree in range(top + 1):
        count = histogram[degree]
        used = put(first + degree, centres * count, count != 0, entries, used)
        histogram[degree] = 0
    return put(5 * width, others, kept * (others > 0), entries, used)


@kernel
def fill_nodes(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of nodes.

    There are no branches around arrays, and none is replaced: numba would count references for every root.
    """
    pointers, neighbours = graph.pointers, graph.neighbours
    state, histogram, entries, ends = scratch.state, scratch.histogram, out.entries, out.ends
    kept, most = 0 if setting.absolute else 1, histogram.shape[0] + BESIDE
    done, used = progress.done, progress.used
    while done < roots.shape[0] and used + most <= entries.shape[0]:
        start, stop = np.uint64(pointers[roots[done]]), np.uint64(pointers[roots[done] + ONE])
        size = np.int64(stop - start)
        mark(neighbours, start, stop, 1, state)
        connect(graph, neighbours, start, stop, state, scratch.lists)
        top = tally_degrees(neighbours, start, stop, state, histogram)
        used = write_row(size, top, 1, kept, histogram, entries, used)
        ends[done] = used
        done += 1
    return Progress(done, used, progress.known, most)


@kernel
def fill_edges(graph: Any, pairs: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of edges, which come grouped by u: its neighbours are marked once."""
    pointers, neighbours = graph.pointers, graph.neighbours
    us, vs = pairs
    members, state, histogram, marks = scratch.members, scratch.state, scratch.histogram, scratch.marks
    entries, ends = out.entries, out.ends
    kept, most = 0 if setting.absolute else 1, histogram.shape[0] + BESIDE
    done, used = progress.done, progress.used
    while done < us.shape[0] and used + most <= entries.shape[0]:
        u = us[done]
        entered = (done > 0) & (us[max(done - 1, 0)] == u)
        for e in range(pointers[u + ONE] if entered else pointers[u], pointers[u + ONE]):
            marks[neighbours[e]] = 1
        size = 0
        for e in range(pointers[vs[done]], pointers[vs[done] + ONE]):
            members[size] = neighbours[e]
            size += marks[neighbours[e]]
        mark(members, 0, size, 2, state)
        connect_few(graph, members, size, state)
        top = tally_degrees(members, 0, size, state, histogram)
        used = write_row(size, top, 2, kept, histogram, entries, used)
        ends[done] = used
        done += 1
        stays = (done < us.shape[0]) & (us[min(done, us.shape[0] - 1)] == u)
        for e in range(pointers[u + ONE] if stays else pointers[u], pointers[u + ONE]):
            marks[neighbours[e]] = 0
    return Progress(done, used, progress.known, most)
