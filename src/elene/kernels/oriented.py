"""Marginal rows of all nodes at k = 1, where every triangle is found once, for its three edges.

A neighbour's degree in the ego-network of v is one more than the triangles on its edge to v. With every edge directed
to its end of higher rank, a triangle has one lowest node u: mark u's neighbours, and scan the lists of these. A hit
credits three edges: the one that is scanned, and two of u's. Each edge is then tallied at both of its ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.count import layout_of
from elene.kernels.jit import inlined, kernel

ONE, TWO, HALF = np.uint64(1), np.uint64(2), np.uint64(32)
FLAG, MEMBER = np.uint32(31), np.uint32(2**31)


class Oriented(NamedTuple):
    """Higher-ranked neighbours: where each node's begin and end, side by side for one line of the cache; and they."""

    spans: Any
    neighbours: Any


class Tallies(NamedTuple):
    """How many neighbours of a node share so many triangles with it: in bins from 0, as many as its neighbours are."""

    pointers: Any
    bins: Any


class Matrix(NamedTuple):
    """A sparse matrix to be written: where each row begins, columns and counts."""

    indptr: Any
    columns: Any
    counts: Any


@kernel
def orient(pointers: Any, neighbours: Any, degrees: Any, graph: Any, start: int, stop: int) -> None:
    """Write the higher-ranked neighbours of a range of nodes behind each other, from where the range begins.

    The highest-ranked one comes last. Nodes rank by (degree, position), which is one integer.
    """
    spans, kept = graph.spans, graph.neighbours
    end = np.uint64(pointers[start])
    for u in range(start, stop):
        spans[2 * u] = end
        rank = np.uint64(degrees[u]) << HALF | np.uint64(u)
        highest, place = rank, end
        for e in range(pointers[u], pointers[u + 1]):
            x = neighbours[e]  # is written always, and stays if it is ranked above: no branch
            other = np.uint64(degrees[x]) << HALF | np.uint64(x)
            kept[end] = x
            place = end if other > highest else place
            highest = max(highest, other)
            end += np.uint64(other > rank)
        spans[2 * u + 1] = end
        if highest > rank:
            kept[place], kept[end - ONE] = kept[end - ONE], kept[place]


@inlined
def scan(spans: Any, neighbours: Any, v: Any, state: Any, counts: Any) -> None:
    """Count the triangles of the lowest node with v and each of v's neighbours, for the three edges."""
    above = np.uint32(0)
    for e in range(spans[TWO * v], spans[TWO * v + ONE]):
        w = neighbours[e]
        hit = state[w] >> FLAG
        state[w] += hit
        counts[e] += hit
        above += hit
    state[v] += above


@kernel
def count_triangles(graph: Any, state: Any, counts: Any, start: int, stop: int) -> None:
    """Add the triangles whose lowest node is in a range to the counts of their edges."""
    spans, neighbours = graph.spans, graph.neighbours
    for u in range(start, stop):
        first, last = np.uint64(spans[2 * u]), np.uint64(spans[2 * u + 1])
        if last < first + TWO:
            continue
        for e in range(first, last):
            state[neighbours[e]] = MEMBER
        for e in range(first, last - ONE):  # nobody is above the last
            scan(spans, neighbours, np.uint64(neighbours[e]), state, counts)
        for e in range(first, last):
            counts[e] += state[neighbours[e]] & ~MEMBER
            state[neighbours[e]] = 0


@kernel
def tally_edges(graph: Any, counts: Any, most: Any, tallies: Any) -> None:
    """Tally all edges at both ends by their triangles, ``most`` for more: each end has a bin for it."""
    spans, neighbours = graph.spans, graph.neighbours
    pointers, bins = tallies.pointers, tallies.bins
    for u in range(pointers.shape[0] - 1):
        for e in range(spans[2 * u], spans[2 * u + 1]):
            triangles = min(counts[e], most)
            bins[pointers[u] + triangles] += np.uint32(1)
            bins[pointers[neighbours[e]] + triangles] += np.uint32(1)


@kernel
def measure_rows(tallies: Any, roots: Any, beside: int) -> Any:
    """Where each row begins and the last one ends: a row has the root's degree, and a column for each bin in use.

    And ``beside`` others at each distance that there is. Bins are looked at in one loop for all nodes: short ones would
    end where no processor expects it.
    """
    pointers, bins = tallies.pointers, tallies.bins
    used = np.zeros(bins.shape[0] + 1, np.uint32)
    for place in range(bins.shape[0]):
        used[place + 1] = used[place] + np.uint32(bins[place] != 0)
    indptr = np.zeros(roots.shape[0] + 1, np.int64)
    for row in range(roots.shape[0]):
        u = np.uint64(roots[row])
        more = np.int64(used[pointers[u + ONE]] - used[pointers[u]])
        indptr[row + 1] = indptr[row] + 1 + more + beside + beside * (more > 0)
    return indptr


@kernel
def write_rows(tallies: Any, roots: Any, setting: Any, out: Any, start: int, stop: int) -> None:
    """Write a range of marginal rows, and nothing behind them: another thread may have been there."""
    pointers, bins, columns, counts = tallies.pointers, tallies.bins, out.columns, out.counts
    layout, rho = layout_of(setting), np.int64(setting.rho)
    for row in range(start, stop):
        u, place, end = np.uint64(roots[row]), np.uint64(out.indptr[row]), np.uint64(out.indptr[row + 1])
        triangles, size = np.uint64(pointers[u]), np.int64(pointers[u + ONE]) - np.int64(pointers[u])
        columns[place + layout.kept], counts[place + layout.kept] = layout.degree + min(size, rho), 1
        if layout.kept:
            columns[place], counts[place] = 0, 1
            columns[place + TWO], counts[place + TWO] = layout.farther + min(size, rho), 1
            place += TWO
        place += ONE
        if layout.kept and size:
            end -= ONE
            columns[place], counts[place] = layout.step + min(1, rho), size
            columns[end], counts[end] = layout.step + layout.farther, size
            place += ONE
        degree = layout.step + layout.degree
        last = degree + rho
        while place < end:
            degree = min(degree + 1, last)
            columns[place], counts[place] = degree, bins[triangles]
            place += np.uint64(bins[triangles] != 0)
            triangles += ONE
