"""Pair encodings: the intersection of two ego-networks, for edges (ED) and for pairs at any distance (PD)."""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.count import (
    chain,
    count_keys,
    flush,
    flush_numbers,
    mix,
    quadruplet_keys,
    reserve,
)
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
MAX_DEPTH = 2**16 - 2


def pair_scratch(n: int) -> Any:
    """Distances plus one and queues of both balls, and where each node stands in the intersection, plus one."""
    return (
        np.zeros(n, np.uint16),
        np.empty(n + 1, np.uint32),
        np.zeros(n, np.uint16),
        np.empty(n + 1, np.uint32),
        np.zeros(n, np.int32),
    )


def reading_scratch(n: int) -> Any:
    """By place in the intersection: nodes, degrees, then distance, closer and farther as u and as v sees them."""
    u, v = (tuple(np.empty(n, np.int32) for _ in range(3)) for _ in range(2))
    return np.empty(n, np.uint32), np.empty(n, np.int32), u, v


def pair_marginal_scratch(n: int, k: int, rho: int, absolute: bool) -> Any:
    """What :func:`pair_marginal_rows` works on: for one pair, its histogram and the largest values."""
    segments = (1 if absolute else 3) * (k + 1)
    histogram = np.zeros(segments * (rho + 1), np.int32)
    return pair_scratch(n), reading_scratch(n), histogram, np.full(segments, -1, np.int64)


def pair_joint_scratch(n: int) -> Any:
    """What the other kernels work on: for one pair, the keys of both readings and their numbers."""
    return pair_scratch(n), reading_scratch(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)


@inlined
def ball(indptr: Any, ranked: Any, root: Any, k: int, distance: Any, queue: Any) -> int:
    """All nodes within k of the root, by distance; ``distance`` holds 1 for the root. Gives their number."""
    queue[0] = root
    distance[root] = 1
    head, tail = 0, 1
    for step in range(k):
        end = tail
        for j in range(head, tail):
            for e in range(indptr[queue[j]], indptr[queue[j] + ONE]):
                x = ranked[e]
                seen = distance[x]
                queue[end] = x
                end += seen == 0
                distance[x] = seen if seen else np.uint16(step + 2)
        head, tail = tail, end
    return tail


@inlined
def ball_inside(indptr: Any, ranked: Any, root: Any, k: int, around: Any, distance: Any, queue: Any) -> int:
    """As :func:`ball`, among the nodes of another ball only: exact where the two roots are the same or adjacent.

    Then a shortest path of at most k steps never leaves the other ball before its last step.
    """
    queue[0] = root
    distance[root] = 1
    head, tail = 0, 1
    for step in range(k):
        end = tail
        for j in range(head, tail):
            for e in range(indptr[queue[j]], indptr[queue[j] + ONE]):
                x = ranked[e]
                if around[x] != 0 and distance[x] == 0:
                    queue[end] = x
                    end += 1
                    distance[x] = step + 2
        head, tail = tail, end
    return tail


@inlined
def credit(i: int, j: int, distance: Any, closer: Any, farther: Any) -> None:
    """Count an edge between the places i and j in one reading."""
    back, onward = distance[j] < distance[i], distance[j] > distance[i]
    closer[i] += back
    farther[j] += back
    farther[i] += onward
    closer[j] += onward


@kernel
def intersect(graph: Any, v: Any, k: int, scratch: Any, readings: Any) -> int:
    """Explore the intersection of u's ball, which stands in the scratch, with v's; gives its size."""
    indptr, ranked, split = graph
    around, _, distance, queue, place = scratch
    nodes, degree, (l_u, closer_u, farther_u), (l_v, closer_v, farther_v) = readings
    near = around[v] == 1 or around[v] == 2
    if near:
        tail = ball_inside(indptr, ranked, v, k, around, distance, queue)
    else:
        tail = ball(indptr, ranked, v, k, distance, queue)
    size = 0
    for j in range(tail):
        w = queue[j]
        if around[w]:
            nodes[size], degree[size] = w, 0
            l_u[size], closer_u[size], farther_u[size] = np.int32(around[w]) - 1, 0, 0
            l_v[size], closer_v[size], farther_v[size] = np.int32(distance[w]) - 1, 0, 0
            size += 1
            place[w] = size
        distance[w] = 0
    for i in range(size):
        w = nodes[i]
        for e in range(split[w], indptr[w + ONE]):
            j = place[ranked[e]] - 1
            if j >= 0:
                degree[i] += 1
                degree[j] += 1
                credit(i, j, l_u, closer_u, farther_u)
                credit(i, j, l_v, closer_v, farther_v)
    for i in range(size):
        place[nodes[i]] = 0
    return size


@inlined
def leave(entered: int, scratch: Any) -> None:
    """Clean the ball in the scratch."""
    for j in range(entered):
        scratch[0][scratch[1][j]] = 0


@inlined
def enter(graph: Any, i: int, us: Any, k: int, entered: int, scratch: Any) -> int:
    """Make the ball in the scratch that of ``us[i]``; pairs come grouped by u, so this is seldom work."""
    indptr, ranked, _ = graph
    around, queue, _, _, _ = scratch
    if i > 0 and us[i] == us[i - 1]:
        return entered
    leave(entered, scratch)
    return ball(indptr, ranked, us[i], k, around, queue)


@inlined
def tally_reading(size: int, degree: Any, reading: Any, rho: int, absolute: bool, target: Any) -> None:
    """Add one reading of an intersection to the marginal histogram."""
    histogram, tops = target
    distance, closer, farther = reading
    width = rho + 1
    for i in range(size):
        inside = min(np.int64(degree[i]), rho)
        if absolute:
            s = np.int64(distance[i])
        else:
            s = 3 * np.int64(distance[i])
            nearer, further = min(np.int64(closer[i]), rho), min(np.int64(farther[i]), rho)
            histogram[s * width + nearer] += 1
            tops[s] = max(tops[s], nearer)
            histogram[(s + 2) * width + further] += 1
            tops[s + 2] = max(tops[s + 2], further)
            s += 1
        histogram[s * width + inside] += 1
        tops[s] = max(tops[s], inside)


@kernel
def pair_marginal_rows(graph: Any, us: Any, vs: Any, k: int, rho: int, absolute: bool, scratches: Any) -> Any:
    """Marginal rows of pairs, both readings summed: (row ends, entries)."""
    scratch, readings, histogram, tops = scratches
    row_ends = np.empty(us.shape[0], np.int64)
    entries = np.empty(1024, np.int64)
    used, entered = 0, 0
    for i in range(us.shape[0]):
        entered = enter(graph, i, us, k, entered, scratch)
        size = intersect(graph, vs[i], k, scratch, readings)
        tally_reading(size, readings[1], readings[2], rho, absolute, (histogram, tops))
        tally_reading(size, readings[1], readings[3], rho, absolute, (histogram, tops))
        room = min(6 * size, histogram.shape[0]) + 1
        entries = reserve(entries, used, room)
        for s in range(tops.shape[0]):
            used = flush(histogram, s * (rho + 1), tops[s], s * (rho + 1), 1, entries, used)
            tops[s] = -1
        row_ends[i] = used
    leave(entered, scratch)
    return row_ends, entries[:used]


@kernel
def pair_joint_rows(graph: Any, us: Any, vs: Any, k: int, rho: int, absolute: bool, scratches: Any) -> Any:
    """Joint rows of pairs: (row ends, entries, keys); column i stands for the unordered pair ``keys[i]``."""
    scratch, readings, first, second, numbers = scratches
    table, keys, known = np.zeros(64, np.int32), np.empty((32, 2), np.int64), 0
    totals = np.zeros(32, np.int32)
    row_ends = np.empty(us.shape[0], np.int64)
    entries = np.empty(1024, np.int64)
    used, entered = 0, 0
    for i in range(us.shape[0]):
        entered = enter(graph, i, us, k, entered, scratch)
        size = intersect(graph, vs[i], k, scratch, readings)
        quadruplet_keys(size, readings[1], readings[2], rho, absolute, first)
        quadruplet_keys(size, readings[1], readings[3], rho, absolute, second)
        for j in range(size):
            first[j], second[j] = min(first[j], second[j]), max(first[j], second[j])
        table, keys, known = count_keys(first, second, size, table, keys, known, numbers)
        if totals.shape[0] < keys.shape[0]:
            totals = np.zeros(keys.shape[0], np.int32)
        entries = reserve(entries, used, size + 1)
        used = flush_numbers(numbers, size, totals, entries, used)
        row_ends[i] = used
    leave(entered, scratch)
    return row_ends, entries[:used], keys[:known]


@inlined
def reading_code(i: int, degree: Any, seen: Any, by: Any) -> Any:
    """The hash of one node's two quadruplets, first as ``seen`` and then as ``by`` has it."""
    code = mix(np.uint64(degree[i]))
    for values in seen:
        code = chain(code, np.uint64(values[i]))
    for values in by:
        code = chain(code, np.uint64(values[i]))
    return code


@kernel
def pair_codes(graph: Any, us: Any, vs: Any, k: int, scratches: Any) -> Any:
    """For each pair, hashes of its encoding as read from (u, v) and from (v, u): sums of hashes, in no order."""
    scratch, readings, _, _, _ = scratches
    codes = np.zeros((us.shape[0], 2), np.uint64)
    entered = 0
    for i in range(us.shape[0]):
        entered = enter(graph, i, us, k, entered, scratch)
        size = intersect(graph, vs[i], k, scratch, readings)
        for j in range(size):
            codes[i, 0] += reading_code(j, readings[1], readings[2], readings[3])
            codes[i, 1] += reading_code(j, readings[1], readings[3], readings[2])
    leave(entered, scratch)
    return codes


@kernel
def pair_members(graph: Any, u: Any, v: Any, k: int, scratches: Any) -> Any:
    """The intersection of one pair: its nodes, and for each the quadruplets that u and v read."""
    scratch, readings, _, _, _ = scratches
    ball(graph[0], graph[1], u, k, scratch[0], scratch[1])
    size = intersect(graph, v, k, scratch, readings)
    nodes, degree, (l_u, closer_u, farther_u), (l_v, closer_v, farther_v) = readings
    members = np.empty((size, 8), np.int64)
    for i in range(size):
        members[i, 0], members[i, 1], members[i, 2], members[i, 3] = l_u[i], closer_u[i], degree[i], farther_u[i]
        members[i, 4], members[i, 5], members[i, 6], members[i, 7] = l_v[i], closer_v[i], degree[i], farther_v[i]
    return nodes[:size].copy(), members


@kernel
def pairs_within(indptr: Any, ranked: Any, us: Any, radius: int) -> Any:
    """All pairs (u, v) with v >= u and distance at most the radius, by u and then v: (u, v, distance)."""
    n = indptr.shape[0] - 1
    distance, queue = np.zeros(n, np.uint16), np.empty(n + 1, np.uint32)
    pairs = np.empty((1024, 3), np.int32)
    used = 0
    for u in us:
        size = ball(indptr, ranked, u, radius, distance, queue)
        found = queue[:size].copy()
        found.sort()
        if used + size > pairs.shape[0]:
            larger = np.empty((2 * pairs.shape[0] + size, 3), np.int32)
            larger[:used] = pairs[:used]
            pairs = larger
        for v in found:
            if v >= u:
                pairs[used, 0] = u
                pairs[used, 1] = v
                pairs[used, 2] = np.int32(distance[v]) - 1
                used += 1
            distance[v] = 0
    return pairs[:used]


@kernel
def pair_distances(indptr: Any, ranked: Any, us: Any, vs: Any, radius: int) -> Any:
    """The distance of each pair, -1 beyond the radius; pairs come grouped by u."""
    n = indptr.shape[0] - 1
    distance, queue = np.zeros(n, np.uint16), np.empty(n + 1, np.uint32)
    found = np.empty(us.shape[0], np.int64)
    size = 0
    for i in range(us.shape[0]):
        if i == 0 or us[i] != us[i - 1]:
            for j in range(size):
                distance[queue[j]] = 0
            size = ball(indptr, ranked, np.uint32(us[i]), radius, distance, queue)
        found[i] = np.int64(distance[vs[i]]) - 1
    return found
