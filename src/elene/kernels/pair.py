"""Pair encodings: the intersection of two ego-networks, for edges (ED) and for pairs at any distance (PD).

Pairs come grouped by their first node u, whose ball is explored once for all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.count import find_or_add, flush, is_full, label_key, pack, put, put_tallies
from elene.kernels.data import Progress
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
MAX_DEPTH = 2**16 - 2


class Ball(NamedTuple):
    """The nodes within k of a root: every node's distance plus one, 0 where it is farther; and the nodes themselves."""

    distance: Any
    queue: Any


class Reading(NamedTuple):
    """How one end sees the intersection: distance, closer and farther of the node at each place."""

    distance: Any
    closer: Any
    farther: Any


class Intersection(NamedTuple):
    """The nodes of an intersection by place, their degrees in it, and how both ends see them."""

    nodes: Any
    degree: Any
    from_u: Reading
    from_v: Reading


class PairScratch(NamedTuple):
    """What all these kernels work on; ``place`` is where a node stands in the intersection, plus one."""

    around_u: Ball
    around_v: Ball
    place: Any
    inside: Intersection
    numbers: Any


class PairMarginalScratch(NamedTuple):
    """The same, and for one pair a histogram and the largest value in each of its segments."""

    pair: PairScratch
    histogram: Any
    tops: Any


def ball_scratch(n: int) -> Ball:
    """Scratch for one ball in a graph of n nodes."""
    return Ball(np.zeros(n, np.uint16), np.empty(n + 1, np.uint32))


def pair_scratch(n: int) -> PairScratch:
    """Scratch for a graph of n nodes."""
    from_u, from_v = (Reading(*(np.empty(n, np.int32) for _ in range(3))) for _ in range(2))
    inside = Intersection(np.empty(n, np.uint32), np.empty(n, np.int32), from_u, from_v)
    return PairScratch(ball_scratch(n), ball_scratch(n), np.zeros(n, np.int32), inside, np.empty(n, np.int64))


def pair_marginal_scratch(n: int, k: int, rho: int, absolute: bool) -> PairMarginalScratch:
    """The same, and for depth k and values up to rho."""
    segments = (1 if absolute else 3) * (k + 1)
    return PairMarginalScratch(
        pair_scratch(n), np.zeros(segments * (rho + 1), np.int32), np.full(segments, -1, np.int64)
    )


@inlined
def find_ball(graph: Any, root: Any, k: int, ball: Any) -> int:
    """All nodes within k of the root, by distance; gives their number."""
    pointers, neighbours, distance, queue = graph.pointers, graph.neighbours, ball.distance, ball.queue
    queue[0] = root
    distance[root] = 1
    head, tail = 0, 1
    for step in range(k):
        end = tail
        for j in range(head, tail):
            for e in range(pointers[queue[j]], pointers[queue[j] + ONE]):
                x = neighbours[e]
                seen = distance[x]
                queue[end] = x
                end += seen == 0
                distance[x] = seen if seen else np.uint16(step + 2)
        head, tail = tail, end
    return tail


@inlined
def find_ball_inside(graph: Any, root: Any, k: int, around: Any, ball: Any) -> int:
    """As :func:`find_ball`, among the nodes of another ball only: exact where both roots are the same or adjacent.

    Then a shortest path of at most k steps never leaves the other ball before its last step.
    """
    pointers, neighbours, distance, queue = graph.pointers, graph.neighbours, ball.distance, ball.queue
    queue[0] = root
    distance[root] = 1
    head, tail = 0, 1
    for step in range(k):
        end = tail
        for j in range(head, tail):
            for e in range(pointers[queue[j]], pointers[queue[j] + ONE]):
                x = neighbours[e]
                if around[x] != 0 and distance[x] == 0:
                    queue[end] = x
                    end += 1
                    distance[x] = step + 2
        head, tail = tail, end
    return tail


@inlined
def leave_ball(size: int, ball: Any) -> None:
    """Clear the distances of a ball of so many nodes."""
    for j in range(size):
        ball.distance[ball.queue[j]] = 0


@inlined
def credit(i: int, j: int, reading: Any) -> None:
    """Count an edge between the places i and j in one reading."""
    distance, closer, farther = reading.distance, reading.closer, reading.farther
    back, onward = distance[j] < distance[i], distance[j] > distance[i]
    closer[i] += back
    farther[j] += back
    farther[i] += onward
    closer[j] += onward


@inlined
def see(place: int, distance: Any, reading: Any) -> None:
    """A node's reading before any edge is counted; distances are kept plus one."""
    reading.distance[place], reading.closer[place], reading.farther[place] = np.int32(distance) - 1, 0, 0


@kernel
def intersect(graph: Any, v: Any, k: int, scratch: Any) -> int:
    """Explore the intersection of u's ball, which stands in the scratch, with v's; gives its size."""
    pointers, neighbours, split = graph.pointers, graph.neighbours, graph.split
    around, ball, place, inside = scratch.around_u.distance, scratch.around_v, scratch.place, scratch.inside
    nodes, degree = inside.nodes, inside.degree
    if around[v] == 1 or around[v] == 2:
        tail = find_ball_inside(graph, v, k, around, ball)
    else:
        tail = find_ball(graph, v, k, ball)
    size = 0
    for j in range(tail):
        w = ball.queue[j]
        if around[w]:
            nodes[size], degree[size] = w, 0
            see(size, around[w], inside.from_u)
            see(size, ball.distance[w], inside.from_v)
            size += 1
            place[w] = size
        ball.distance[w] = 0
    for i in range(size):
        w = nodes[i]
        for e in range(split[w], pointers[w + ONE]):
            j = place[neighbours[e]] - 1
            if j >= 0:
                degree[i] += 1
                degree[j] += 1
                credit(i, j, inside.from_u)
                credit(i, j, inside.from_v)
    for i in range(size):
        place[nodes[i]] = 0
    return size


@inlined
def enter(graph: Any, us: Any, i: int, k: int, entered: int, ball: Any) -> int:
    """Make the ball in the scratch, of ``entered`` nodes, that of ``us[i]``; gives its size."""
    if entered > 0 and us[i] == us[i - 1]:
        return entered
    leave_ball(entered, ball)
    return find_ball(graph, us[i], k, ball)


@inlined
def tally_reading(size: int, reading: Any, setting: Any, scratch: Any) -> None:
    """Add one reading of an intersection to the marginal histogram."""
    histogram, tops, degree = scratch.histogram, scratch.tops, scratch.pair.inside.degree
    distance, closer, farther = reading.distance, reading.closer, reading.farther
    rho, width = setting.rho, setting.rho + 1
    for i in range(size):
        inside = min(np.int64(degree[i]), rho)
        if setting.absolute:
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
def fill_pair_marginal(graph: Any, pairs: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of pairs, both readings summed."""
    us, vs = pairs
    ball, inside, histogram, tops = scratch.pair.around_u, scratch.pair.inside, scratch.histogram, scratch.tops
    width, used, entered = setting.rho + 1, progress.used, 0
    for i in range(progress.done, us.shape[0]):
        entered = enter(graph, us, i, setting.k, entered, ball)
        size = intersect(graph, vs[i], setting.k, scratch.pair)
        wanted = min(6 * size, histogram.shape[0]) + 1
        if used + wanted > out.entries.shape[0]:
            leave_ball(entered, ball)
            return Progress(i, used, progress.known, wanted)
        tally_reading(size, inside.from_u, setting, scratch)
        tally_reading(size, inside.from_v, setting, scratch)
        for s in range(tops.shape[0]):
            used = flush(histogram, s * width, tops[s], s * width, 1, out.entries, used)
            tops[s] = -1
        out.ends[i] = used
    leave_ball(entered, ball)
    return Progress(us.shape[0], used, progress.known, 0)


@inlined
def number_of(i: int, inside: Any, setting: Any, out: Any, known: int) -> int:
    """The number of the unordered pair of quadruplets of the node at a place."""
    u, v = inside.from_u, inside.from_v
    one = pack(u.distance[i], u.closer[i], inside.degree[i], u.farther[i], setting)
    two = pack(v.distance[i], v.closer[i], inside.degree[i], v.farther[i], setting)
    one, two = label_key(one, inside.nodes[i], setting), label_key(two, inside.nodes[i], setting)
    return find_or_add(min(one, two), max(one, two), out.table, out.keys, known)


@kernel
def fill_pair_joint(graph: Any, pairs: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Joint rows of pairs: an entry's column is the number of an unordered pair of quadruplets among the keys."""
    us, vs = pairs
    ball, inside, numbers = scratch.around_u, scratch.inside, scratch.numbers
    used, known, entered = progress.used, progress.known, 0
    for i in range(progress.done, us.shape[0]):
        entered = enter(graph, us, i, setting.k, entered, ball)
        size = intersect(graph, vs[i], setting.k, scratch)
        if is_full(out, used, known, size):
            leave_ball(entered, ball)
            return Progress(i, used, known, size)
        for j in range(size):
            number = number_of(j, inside, setting, out, known)
            numbers[j] = number
            known = max(known, number + 1)
        used = put_tallies(numbers, size, out.keys, out.entries, used)
        out.ends[i] = used
    leave_ball(entered, ball)
    return Progress(us.shape[0], used, known, 0)


@kernel
def fill_pair_members(graph: Any, pairs: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """The nodes of intersections: an entry is a node, and above it the number of its unordered pair of quadruplets."""
    us, vs = pairs
    ball, inside = scratch.around_u, scratch.inside
    used, known, entered = progress.used, progress.known, 0
    for i in range(progress.done, us.shape[0]):
        entered = enter(graph, us, i, setting.k, entered, ball)
        size = intersect(graph, vs[i], setting.k, scratch)
        if is_full(out, used, known, size):
            leave_ball(entered, ball)
            return Progress(i, used, known, size)
        for j in range(size):
            number = number_of(j, inside, setting, out, known)
            used = put(inside.nodes[j], number, 1, out.entries, used)
            known = max(known, number + 1)
        out.ends[i] = used
    leave_ball(entered, ball)
    return Progress(us.shape[0], used, known, 0)


@kernel
def read_pair(graph: Any, u: Any, v: Any, k: int, scratch: Any) -> int:
    """Explore the intersection of one pair; gives its size."""
    entered = find_ball(graph, u, k, scratch.around_u)
    size = intersect(graph, v, k, scratch)
    leave_ball(entered, scratch.around_u)
    return size


@kernel
def fill_balls(graph: Any, roots: Any, setting: Any, ball: Any, out: Any, progress: Any) -> Any:
    """The nodes around each root that are not numbered lower: an entry is a node, and above it its distance."""
    used = progress.used
    for i in range(progress.done, roots.shape[0]):
        size = find_ball(graph, roots[i], setting.k, ball)
        fits = used + size + 1 <= out.entries.shape[0]
        for j in range(size if fits else 0):
            v = ball.queue[j]
            used = put(v, np.int64(ball.distance[v]) - 1, v >= roots[i], out.entries, used)
        leave_ball(size, ball)
        if not fits:
            return Progress(i, used, progress.known, size + 1)
        out.ends[i] = used
    return Progress(roots.shape[0], used, progress.known, 0)


@kernel
def measure_distances(graph: Any, pairs: Any, radius: int, ball: Any, distances: Any) -> None:
    """The distance of each pair, -1 beyond the radius."""
    us, vs = pairs
    entered = 0
    for i in range(us.shape[0]):
        entered = enter(graph, us, i, radius, entered, ball)
        distances[i] = np.int64(ball.distance[vs[i]]) - 1
    leave_ball(entered, ball)
