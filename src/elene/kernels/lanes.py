"""Ego-networks of 64 roots side by side: one cache line a node holds its distance to every root.

Where the ego-networks of neighbouring roots overlap, around hubs and in dense parts, one scan of an adjacency list
serves all of them, and comparing 64 distances takes a few vector instructions. A lane's code is
``k + 1 - distance``, 0 where the root is farther than k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.count import put
from elene.kernels.jit import inlined, kernel
from elene.kernels.order import degree_of

ONE = np.uint32(1)
LANES = 64
MAX_DEPTH = 250
MANY = 16  # lanes that see a node alike, from which on they are counted at once


def lane_scratch(n: int, columns: int) -> Any:
    """Codes, marks and queue of the nodes; a histogram for each lane, marks and a list of its nonzero columns."""
    return (
        np.zeros((n, LANES), np.uint8),
        np.zeros(n, np.uint8),
        np.empty(n + 1, np.uint32),
        np.zeros((columns, LANES), np.int32),
        np.zeros(-(-columns // 8) * 8, np.uint8),
        np.zeros(columns + 1, np.int32),
    )


@inlined
def push(x: Any, tail: int, marks: Any, queue: Any) -> int:
    """Put a node at the queue's end unless it is there; gives the new end."""
    queue[tail] = x
    tail += marks[x] == 0
    marks[x] = 1
    return tail


@inlined
def first_steps(indptr: Any, ranked: Any, roots: Any, k: int, scratch: Any) -> Any:
    """Set the codes of roots and their neighbours; gives the queue's end and whether the roots may share enough.

    They do not where few of them have a neighbour in common, unless their paths cover much of the graph anyway.
    """
    codes, marks, queue, _, _, _ = scratch
    tail, scans, lists = 0, 0, 0
    for r in range(roots.shape[0]):
        tail = push(roots[r], tail, marks, queue)
        codes[roots[r], r] = k + 1
    for r in range(roots.shape[0]):
        for e in range(indptr[roots[r]], indptr[roots[r] + ONE]):
            x = ranked[e]
            degree = degree_of(indptr, x)
            before = tail
            tail = push(x, tail, marks, queue)
            codes[x, r] = max(codes[x, r], np.uint8(k))
            scans += degree
            lists += degree * (tail - before)
    return tail, scans >= 6 * lists or 4 * scans >= ranked.shape[0]


@kernel
def relax(indptr: Any, ranked: Any, u: Any, codes: Any, marks: Any, queue: Any, tail: int) -> int:
    """Lead every lane of a node on to its neighbours, one code lower."""
    for e in range(indptr[u], indptr[u + ONE]):
        x = ranked[e]
        queue[tail] = x
        tail += marks[x] == 0
        marks[x] = 1
        for r in range(LANES):
            onward = np.uint8(max(codes[u, r], np.uint8(1)) - np.uint8(1))
            codes[x, r] = max(codes[x, r], onward)
    return tail


@inlined
def reach(indptr: Any, ranked: Any, k: int, tail: int, scratch: Any) -> int:
    """Set the remaining codes, distance by distance; gives the queue's end."""
    codes, marks, queue, _, _, _ = scratch
    for distance in range(1, k):
        code = np.uint8(k + 1 - distance)
        for j in range(tail):
            u = queue[j]
            frontier = False
            for r in range(LANES):
                frontier |= codes[u, r] == code
            if frontier:
                tail = relax(indptr, ranked, u, codes, marks, queue, tail)
    return tail


@kernel
def compare(ranked: Any, start: int, stop: int, codes: Any, above: Any, same: Any, counters: Any) -> None:
    """Count, for each lane, the neighbours one step closer to its root and those at the same distance."""
    closer, level = counters
    for e in range(start, stop):
        x = ranked[e]
        for r in range(LANES):
            closer[r] += np.uint8(codes[x, r] == above[r])
            level[r] += np.uint8(codes[x, r] == same[r])


@inlined
def count_in(column: int, lane: Any, scratch: Any) -> None:
    """Count one node in one lane's column."""
    scratch[3][np.uint64(column), lane] += 1
    scratch[4][np.uint64(column)] = 1


@inlined
def count_apart(k: int, rho: int, absolute: bool, degree: int, counted: Any, lanes: Any, scratch: Any) -> None:
    """Add one node to the histograms of some lanes that reach it, in fewer than k steps or in k."""
    same, closer, level = counted
    width = rho + 1
    for lane in lanes:
        near = np.int64(closer[lane])
        inside = near + np.int64(level[lane])
        distance = k + 1 - np.int64(same[lane])
        seen = inside if same[lane] == 1 else degree
        if absolute:
            count_in(distance * width + min(seen, rho), lane, scratch)
        else:
            count_in(3 * distance * width + min(near, rho), lane, scratch)
            count_in((3 * distance + 1) * width + min(seen, rho), lane, scratch)
            if same[lane] > 1:
                count_in((3 * distance + 2) * width + min(degree - inside, rho), lane, scratch)


@inlined
def count_for(column: int, alike: Any, scratch: Any) -> None:
    """Count one node in the column of all lanes that are alike."""
    for r in range(LANES):
        scratch[3][column, r] += alike[r]
    scratch[4][column] = 1


@inlined
def count_alike(k: int, rho: int, absolute: bool, degree: int, seen_alike: Any, alike: Any, scratch: Any) -> None:
    """Add one node to the histograms of all lanes that see it alike: most do where a hub leads to it."""
    code, near, level = seen_alike
    width, inside, distance = rho + 1, near + level, k + 1 - code
    seen = inside if code == 1 else degree
    if absolute:
        count_for(distance * width + min(seen, rho), alike, scratch)
    else:
        count_for(3 * distance * width + min(near, rho), alike, scratch)
        count_for((3 * distance + 1) * width + min(seen, rho), alike, scratch)
        if code > 1:
            count_for((3 * distance + 2) * width + min(degree - inside, rho), alike, scratch)


@inlined
def count_boundary(k: int, rho: int, boundary: Any, scratch: Any) -> None:
    """Count, for all lanes, the nodes at distance k as having no neighbour farther away."""
    column = (3 * k + 2) * (rho + 1)
    for r in range(LANES):
        scratch[3][column, r] += boundary[r]
    scratch[4][column] = 1


@kernel
def count_lanes(graph: Any, tail: int, lanes: int, k: int, rho: int, absolute: bool, scratch: Any) -> None:
    """Count every explored node for every lane that reaches it."""
    indptr, ranked, _ = graph
    codes, queue = scratch[0], scratch[2]
    above, same = np.empty(LANES, np.uint8), np.empty(LANES, np.uint8)
    few = np.empty(LANES, np.uint8), np.empty(LANES, np.uint8)
    closer, level = np.empty(LANES, np.int32), np.empty(LANES, np.int32)
    rest, boundary = np.empty(LANES + 1, np.uint64), np.zeros(LANES, np.int32)
    alike, guide = np.empty(LANES, np.int32), lanes // 2
    for j in range(tail):
        w = queue[j]
        for r in range(LANES):
            same[r] = codes[w, r]
            above[r] = same[r] + np.uint8(1)
            closer[r] = 0
            level[r] = 0
            boundary[r] += same[r] == 1
        start, stop = np.int64(indptr[w]), np.int64(indptr[w + ONE])
        degree = stop - start
        while start < stop:  # as many neighbours at a time as eight bits can count
            piece = min(stop, start + 255)
            few[0][:] = 0
            few[1][:] = 0
            compare(ranked, start, piece, codes, above, same, few)
            for r in range(LANES):
                closer[r] += few[0][r]
                level[r] += few[1][r]
            start = piece
        code, near, beside = same[guide], closer[guide], level[guide]
        many = 0
        for r in range(LANES):
            alike[r] = (same[r] == code) & (closer[r] == near) & (level[r] == beside)
            many += alike[r]
        if code > 0 and many >= MANY:
            count_alike(k, rho, absolute, degree, (np.int64(code), np.int64(near), np.int64(beside)), alike, scratch)
            for r in range(LANES):
                same[r] = 0 if alike[r] else same[r]
        left = 0
        for r in range(LANES):
            rest[left] = r
            left += same[r] > 0
        count_apart(k, rho, absolute, degree, (same, closer, level), rest[:left], scratch)
    if not absolute:
        count_boundary(k, rho, boundary, scratch)


@inlined
def list_columns(met: Any, listed: Any) -> int:
    """List the columns that were counted in, ascending, and forget them; gives how many there are.

    With a hub in reach they are few and far between, so eight are looked at at once.
    """
    used = 0
    eights = met.view(np.uint64)
    for i in range(eights.shape[0]):
        if eights[i]:
            for column in range(8 * i, 8 * i + 8):
                listed[used] = column
                used += met[column]
            eights[i] = 0
    return used


@kernel
def worth_counting(indptr: Any, split: Any, tail: int, codes: Any, queue: Any) -> bool:
    """Whether counting all lanes at once beats one root at a time; the weights are nanoseconds, measured.

    Those of lanes are a quarter less, because the groups that follow a no are not even tried.
    """
    together, apart = 0, 0
    for j in range(tail):
        w = queue[j]
        inner, reached = 0, 0
        for r in range(LANES):
            reached += codes[w, r] > 0
            inner += codes[w, r] > 1
        degree, above = degree_of(indptr, w), np.int64(indptr[w + ONE]) - np.int64(split[w])
        together += 200 + 7 * degree
        apart += 5 * (inner * degree + (reached - inner) * above) // 4 + 15 * reached
    return together < apart


@kernel
def flush_lanes(listed: int, scratch: Any, out: Any, used: int) -> int:
    """Append each lane's nonzero counts in the listed columns, which ascend, as a row, and clear them."""
    histogram, columns_met = scratch[3], scratch[5]
    row_ends, entries = out
    for lane in range(row_ends.shape[0]):
        for i in range(listed):
            column = columns_met[i]
            count = histogram[column, lane]
            used = put(column, count, count != 0, entries, used)
            histogram[column, lane] = 0
        row_ends[lane] = used
    return used


@kernel
def explore_lanes(graph: Any, roots: Any, k: int, rho: int, absolute: bool, scratch: Any) -> int:
    """Count the ego-networks of up to 64 roots into the lanes' histograms; gives how many columns are listed, sorted.

    0 means that the ego-networks share too little for it, and nothing was counted.
    """
    indptr, ranked, split = graph
    codes, marks, queue, _, met, listed = scratch
    tail, shared = first_steps(indptr, ranked, roots, k, scratch)
    if shared:
        tail = reach(indptr, ranked, k, tail, scratch)
        shared = worth_counting(indptr, split, tail, codes, queue)
    if shared:
        count_lanes(graph, tail, roots.shape[0], k, rho, absolute, scratch)
    for j in range(tail):
        marks[queue[j]] = 0
        codes[queue[j]] = 0
    return list_columns(met, listed) if shared else 0
