"""Orders of nodes and rows: by degree for the kernels' scans, by key for locality, and back again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from elene.kernels.count import HALF, LOWER
from elene.kernels.data import Adjacency, Words
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
RankRange = Callable[[int, int], None]
AHEAD = 16  # entries behind the last list, which may be copied along with it
PART = 64  # nodes that a small part has at the most: the bits of a word


@inlined
def degree_of(pointers: Any, u: Any) -> Any:
    """A node's degree as a signed integer: pointers are unsigned, and numba makes floats of sums of both kinds."""
    return np.int64(pointers[u + ONE]) - np.int64(pointers[u])


@kernel
def sort_by_key(keys: Any, num_keys: int) -> Any:
    """The stable order that sorts small non-negative integers, in linear time."""
    start = np.zeros(num_keys + 1, np.int64)
    for key in keys:
        start[key + 1] += 1
    for key in range(num_keys):
        start[key + 1] += start[key]
    order = np.empty(keys.shape[0], np.int64)
    for i in range(keys.shape[0]):
        order[start[keys[i]]] = i
        start[keys[i]] += 1
    return order


def rank_adjacency(pointers: Any, neighbours: Any, run: Callable[[RankRange], None] | None = None) -> Adjacency:
    """What kernels scan: each node's neighbours, those ranked above it by (degree, position) at the end.

    Scanning only higher-ranked neighbours meets every edge once, from the end that has fewer of them. The lists are
    padded, for more may be copied than there is. No array can be written to, so that all have one type. ``run``
    calls what ranks a range of nodes, once for each of some that cover all.
    """
    ranked, split = np.zeros(len(neighbours) + AHEAD, np.uint32), np.empty(len(pointers) - 1, pointers.dtype)
    degrees = (pointers[1:] - pointers[:-1]).astype(np.uint32, copy=False)
    rank_range = partial(rank_neighbours, pointers, neighbours, degrees, ranked, split)
    if run is None:
        rank_range(0, len(degrees))
    else:
        run(rank_range)
    return Adjacency(pointers, frozen(ranked), frozen(split))


def frozen(array: Any) -> Any:
    """The array, which can no longer be written to."""
    array.flags.writeable = False
    return array


@kernel
def rank_neighbours(
    pointers: Any, neighbours: Any, degrees: Any, ranked: Any, split: Any, start: int, stop: int
) -> None:
    """Copy the lists of a range of nodes, higher-ranked neighbours to their ends; and note where these begin."""
    for u in range(start, stop):
        # Every neighbour is written to both ends of what is left of the list, one of which then moves: no branch.
        low, high = np.uint64(pointers[u]), np.uint64(pointers[u + 1]) - ONE
        for e in range(pointers[u], pointers[u + 1]):
            x = neighbours[e]
            above = (degrees[x] > degrees[u]) | ((degrees[x] == degrees[u]) & (x > u))
            ranked[low] = x
            ranked[high] = x
            low += np.uint64(not above)
            high -= np.uint64(above)
        split[u] = low


@kernel
def renumber(pointers: Any, neighbours: Any, old: Any) -> Any:
    """The same graph with the node ``old[i]`` called i: each node's number, and pointers and neighbours by number."""
    n = old.shape[0]
    numbers = np.empty(n, np.int64)
    for i in range(n):
        numbers[old[i]] = i
    new_pointers, new_neighbours = np.zeros(n + 1, pointers.dtype), np.empty(neighbours.shape[0], np.uint32)
    end = 0
    for i in range(n):
        for e in range(pointers[old[i]], pointers[old[i] + 1]):
            new_neighbours[end] = numbers[neighbours[e]]
            end += 1
        new_pointers[i + 1] = end
    return numbers, new_pointers, new_neighbours


@kernel
def largest_neighbours(pointers: Any, neighbours: Any, roots: Any) -> Any:
    """For each root its neighbour of the largest degree, n where it has none: roots with the same one share most of
    their two-hop paths.
    """
    hubs = np.empty(roots.shape[0], np.int64)
    for i in range(roots.shape[0]):
        hubs[i] = pointers.shape[0] - 1
        most = 0
        for e in range(pointers[roots[i]], pointers[roots[i] + 1]):
            x = np.int64(neighbours[e])
            degree = degree_of(pointers, x)
            if degree > most or (degree == most and x > hubs[i]):
                hubs[i], most = x, degree
    return hubs


@kernel
def two_hop_paths(pointers: Any, neighbours: Any, roots: Any) -> Any:
    """For each root, one plus the degrees of its neighbours: an estimate of its work."""
    paths = np.empty(roots.shape[0], np.int64)
    for i in range(roots.shape[0]):
        total = 1
        for e in range(pointers[roots[i]], pointers[roots[i] + 1]):
            total += degree_of(pointers, neighbours[e])
        paths[i] = total
    return paths


def small_parts(pointers: Any, neighbours: Any) -> Words:
    """The parts of a graph that have few nodes, as words."""
    words = Words(np.empty(len(pointers) - 1, np.int32), np.empty(len(pointers) - 1, np.uint64), 0)
    return words._replace(nodes=fill_words(pointers, neighbours, PART, words))


@kernel
def fill_words(pointers: Any, neighbours: Any, most: int, words: Any) -> Any:
    """Find the parts of a graph, whose lists of neighbours ascend, with at most so many nodes; gives how many nodes
    these have together.
    """
    begin, reach, found = np.int64(0), np.int64(0), np.int64(0)
    for v in range(words.first.shape[0]):
        if pointers[v] < pointers[v + 1]:
            reach = max(reach, np.int64(neighbours[pointers[v + 1] - 1]))
        if reach > v:
            continue
        small = v - begin < most
        found += (v + 1 - begin) * small
        for u in range(begin, v + 1):
            words.first[u] = begin if small else -1
            word = np.uint64(0)
            for e in range(pointers[u], pointers[u + 1] if small else pointers[u]):
                word |= np.uint64(1) << np.uint64(np.int64(neighbours[e]) - begin)
            words.neighbours[u] = word
        begin = reach = v + 1
    return found


@kernel
def join_rows(first: Any, indptrs: Any, indices: Any) -> Any:
    """The pointers of several graphs' rows in one graph, where graph ``i`` has the nodes from ``first[i]`` on; theirs
    stand one behind the other. Neighbours are numbered anew in place.
    """
    indptr = np.zeros(first[-1] + 1, np.int64)
    begin = np.int64(0)
    for i in range(first.shape[0] - 1):
        own = first[i] + i  # each of the graphs before has one pointer more than nodes
        for v in range(first[i], first[i + 1]):
            indptr[v + 1] = begin + indptrs[own + v + 1 - first[i]]
        for e in range(begin, indptr[first[i + 1]]):
            indices[e] += first[i]
        begin = indptr[first[i + 1]]
    return indptr


@kernel
def list_edges(indptr: Any, indices: Any, start: int, stop: int) -> Any:
    """The two ends of every edge, the smaller position first, from ``start`` up to ``stop``, in ascending order."""
    room = min(indptr[stop] - indptr[start], indices.shape[0] // 2) + 1
    first, second = np.empty(room, np.int64), np.empty(room, np.int64)
    end = 0
    for u in range(start, stop):
        for e in range(indptr[u], indptr[u + 1]):  # an arc to a smaller position is overwritten by the next
            first[end], second[end] = u, indices[e]
            end += indices[e] > u
    return first[:end], second[:end]


@kernel
def place_rows(places: Any, ends: Any, entries: Any, pointers: Any, columns: Any, counts: Any) -> None:
    """Copy sparse rows to the places where they belong in the result."""
    begin = 0
    for i in range(places.shape[0]):
        shift = pointers[places[i]] - begin
        for e in range(begin, ends[i]):
            columns[e + shift] = entries[e] & LOWER
            counts[e + shift] = entries[e] >> HALF
        begin = ends[i]


@kernel
def place_all(entries: Any, columns: Any, counts: Any) -> None:
    """The same for rows that are in order."""
    for e in range(entries.shape[0]):
        columns[e] = entries[e] & LOWER
        counts[e] = entries[e] >> HALF
