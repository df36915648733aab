"""Orders of nodes and rows: by degree for the kernels' scans, by key for locality, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.count import COLUMN, HALF
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
AHEAD = 16  # entries behind the last list, which may be copied along with it


@inlined
def degree_of(indptr: Any, u: Any) -> Any:
    """A node's degree as a signed integer: pointers are unsigned, and numba makes floats of sums of both kinds."""
    return np.int64(indptr[u + ONE]) - np.int64(indptr[u])


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


@kernel
def rank_adjacency(indptr: Any, indices: Any) -> Any:
    """Each node's neighbours, those ranked above it by (degree, position) at the end; and where these begin.

    Scanning only higher-ranked neighbours meets every edge once, from the end that has fewer of them. The lists are
    padded, for more may be copied than there is.
    """
    n = indptr.shape[0] - 1
    ranked, split = np.zeros(indices.shape[0] + AHEAD, np.uint32), np.empty(n, indptr.dtype)
    degrees = np.empty(n, np.uint32)
    for u in range(n):
        degrees[u] = indptr[u + 1] - indptr[u]
    for u in range(n):
        # Every neighbour is written to both ends of what is left of the list, one of which then moves: no branch.
        low, high = np.uint64(indptr[u]), np.uint64(indptr[u + 1]) - ONE
        for e in range(indptr[u], indptr[u + 1]):
            x = indices[e]
            above = (degrees[x] > degrees[u]) | ((degrees[x] == degrees[u]) & (x > u))
            ranked[low] = x
            ranked[high] = x
            low += np.uint64(not above)
            high -= np.uint64(above)
        split[u] = low
    return ranked, split


@kernel
def count_near(indptr: Any, indices: Any, reach: int) -> int:
    """How many neighbours in all lists have numbers less than ``reach`` away from that of the node."""
    near = 0
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            near += abs(np.int64(indices[e]) - u) < reach
    return near


@kernel
def breadth_first(indptr: Any, indices: Any) -> Any:
    """All nodes in the order in which a breadth-first search meets them, so that neighbours stand close together."""
    n = indptr.shape[0] - 1
    met, queue = np.zeros(n, np.uint8), np.empty(n + 1, np.int64)
    head, tail = 0, 0
    for u in range(n):
        queue[tail] = u
        tail += met[u] == 0
        met[u] = 1
        while head < tail:
            for e in range(indptr[queue[head]], indptr[queue[head] + 1]):
                x = indices[e]
                queue[tail] = x
                tail += met[x] == 0
                met[x] = 1
            head += 1
    return queue[:n]


@kernel
def renumber(indptr: Any, indices: Any, old: Any) -> Any:
    """The same graph with the node ``old[i]`` called i: each node's number, and pointers and neighbours by number."""
    n = old.shape[0]
    numbers = np.empty(n, np.int64)
    for i in range(n):
        numbers[old[i]] = i
    pointers, neighbours = np.zeros(n + 1, indptr.dtype), np.empty(indices.shape[0], np.uint32)
    end = 0
    for i in range(n):
        for e in range(indptr[old[i]], indptr[old[i] + 1]):
            neighbours[end] = numbers[indices[e]]
            end += 1
        pointers[i + 1] = end
    return numbers, pointers, neighbours


@kernel
def hub_order(indptr: Any, ranked: Any, roots: Any) -> Any:
    """The roots ordered by their largest neighbour: neighbours in this order share most of their two-hop paths."""
    n = indptr.shape[0] - 1
    hub = np.empty(roots.shape[0], np.int64)
    for i in range(roots.shape[0]):
        hub[i] = n
        most = 0
        for e in range(indptr[roots[i]], indptr[roots[i] + 1]):
            x = np.int64(ranked[e])
            degree = degree_of(indptr, x)
            if degree > most or (degree == most and x > hub[i]):
                hub[i], most = x, degree
    return sort_by_key(hub, n + 1)


@kernel
def two_hop_paths(indptr: Any, indices: Any, roots: Any) -> Any:
    """For each root, one plus the degrees of its neighbours: an estimate of its work."""
    paths = np.empty(roots.shape[0], np.int64)
    for i in range(roots.shape[0]):
        total = 1
        for e in range(indptr[roots[i]], indptr[roots[i] + 1]):
            total += degree_of(indptr, indices[e])
        paths[i] = total
    return paths


@kernel
def place_rows(places: Any, row_ends: Any, entries: Any, out: Any) -> None:
    """Copy sparse rows to the places where they belong in the result."""
    indptr, columns, counts = out
    begin = 0
    for i in range(places.shape[0]):
        shift = indptr[places[i]] - begin
        for e in range(begin, row_ends[i]):
            columns[e + shift] = entries[e] & COLUMN
            counts[e + shift] = entries[e] >> HALF
        begin = row_ends[i]


@kernel
def place_all(entries: Any, columns: Any, counts: Any) -> None:
    """The same for rows that are in order."""
    for e in range(entries.shape[0]):
        columns[e] = entries[e] & COLUMN
        counts[e] = entries[e] >> HALF
