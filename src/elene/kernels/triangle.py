"""Marginal rows at k = 1, where everything but degrees is known beforehand, and degrees are numbers of triangles.

Around a node v, a neighbour's quadruplet is ``(1, 1, degree, 0)`` and its degree in the ego-network is one (for v) more
than its triangles with v. Around an edge, the same holds for common neighbours, with two ends instead of one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.connect import ListScratch, connect, connect_few, list_scratch
from elene.kernels.count import flush, layout_of, put, put_roots
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
def tally_degrees(nodes: Any, start: Any, stop: Any, centres: int, state: Any, histogram: Any) -> int:
    """Tally the degrees of members, clipped, as each centre sees them, and unmark them; gives the largest."""
    rho, top = histogram.shape[0] - 1, 0
    for i in range(start, stop):
        degree = min(np.int64(state[nodes[i]] & ~MEMBER), rho)
        state[nodes[i]] = 0
        histogram[degree] += centres
        top = max(top, degree)
    return top


@inlined
def write_row(centres: int, size: int, top: int, layout: Any, scratch: Any, out: Any, used: int) -> int:
    """Append the row of one node or edge, whose members' degrees are tallied; gives how many entries there are.

    Each centre has all members as neighbours and, in an edge, the other centre, which it sees with its own degree. At
    distance 1, nobody has more than one neighbour closer or any farther.
    """
    histogram, entries = scratch.histogram, out.entries
    rho, neighbours = histogram.shape[0] - 1, size + centres - 1
    own, seen = min(neighbours, rho), centres * neighbours
    histogram[own] += centres * (centres - 1)
    top = max(top, (centres - 1) * own)
    kept = layout.kept * (seen > 0)
    used = put_roots(centres, own, layout, 1, entries, used)
    used = put(layout.step + min(1, rho), seen, kept, entries, used)
    used = flush(histogram, 0, top, layout.step + layout.degree, 1, entries, used)
    return put(layout.step + layout.farther, seen, kept, entries, used)


@kernel
def fill_nodes(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of nodes.

    There are no branches around arrays, and none is replaced: numba would count references for every root.
    """
    pointers, neighbours = graph.pointers, graph.neighbours
    state, histogram = scratch.state, scratch.histogram
    layout, most = layout_of(setting), histogram.shape[0] + BESIDE
    done, used = progress.done, progress.used
    while done < roots.shape[0] and used + most <= out.entries.shape[0]:
        start, stop = np.uint64(pointers[roots[done]]), np.uint64(pointers[roots[done] + ONE])
        mark(neighbours, start, stop, 1, state)
        connect(graph, neighbours, start, stop, state, scratch.lists)
        top = tally_degrees(neighbours, start, stop, 1, state, histogram)
        used = write_row(1, np.int64(stop - start), top, layout, scratch, out, used)
        out.ends[done] = used
        done += 1
    return Progress(done, used, progress.known, most)


@kernel
def fill_edges(graph: Any, pairs: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of edges, which come grouped by u: its neighbours are marked once."""
    pointers, neighbours = graph.pointers, graph.neighbours
    us, vs = pairs
    members, state, histogram, marks = scratch.members, scratch.state, scratch.histogram, scratch.marks
    layout, most = layout_of(setting), histogram.shape[0] + BESIDE
    done, used = progress.done, progress.used
    while done < us.shape[0] and used + most <= out.entries.shape[0]:
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
        top = tally_degrees(members, 0, size, 2, state, histogram)
        used = write_row(2, size, top, layout, scratch, out, used)
        out.ends[done] = used
        done += 1
        stays = (done < us.shape[0]) & (us[min(done, us.shape[0] - 1)] == u)
        for e in range(pointers[u + ONE] if stays else pointers[u], pointers[u + ONE]):
            marks[neighbours[e]] = 0
    return Progress(done, used, progress.known, most)
