"""Encodings as colours: hashes of whole multisets, for several depths in one exploration.

A quadruplet's key is a sum of its numbers, each times a large odd one, and of its node's label, which is hashed
already; scrambled keys are summed over an ego-network, in no order. What a depth adds to the next is little: a node
that is nearer than the depth has all its neighbours inside and is seen alike from there on, so only those at exactly
the depth are seen otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.count import mix
from elene.kernels.jit import inlined, kernel
from elene.kernels.node import read_ego
from elene.kernels.pair import ball_scratch, enter, find_ball, find_ball_inside, intersect, leave_ball

ONE = np.uint32(1)


class Depths(NamedTuple):
    """The depths that are wanted, by their places in ascending order.

    For each distance up to the largest depth: the place of the first depth beyond it, and that of the depth which is
    equal to it. Where there is no such depth, it is the place behind the last one.
    """

    beyond: Any
    equal: Any


class Factors(NamedTuple):
    """What the numbers of a quadruplet are multiplied by; pairs have two sets of them, for how either end sees it."""

    distance: Any
    closer: Any
    degree: Any
    farther: Any


class IntersectionScratch(NamedTuple):
    """What :func:`hash_pairs` works on; by place in the intersection, each node's distances from both ends and keys.

    A node has four keys: of the neighbours no farther from the pair than itself and of those farther, as seen from
    either end. ``place`` is where a node stands, plus one.
    """

    around_u: Any
    around_v: Any
    place: Any
    from_u: Any
    from_v: Any
    keys: Any


def intersection_scratch(n: int) -> IntersectionScratch:
    """Scratch for a graph of n nodes."""
    return IntersectionScratch(
        ball_scratch(n),
        ball_scratch(n),
        place=np.zeros(n, np.int32),
        from_u=np.empty(n, np.int64),
        from_v=np.empty(n, np.int64),
        keys=np.empty((n, 4), np.uint64),
    )


@inlined
def label_of(node: Any, setting: Any) -> Any:
    """The hash of a node's label, 0 where there are no labels."""
    return setting.labels[node] if setting.classes else np.uint64(0)


@inlined
def code_of(label: Any, distance: Any, closer: Any, degree: Any, farther: Any, rho: Any, factors: Any) -> Any:
    """The scrambled key of one quadruplet."""
    key = label + np.uint64(distance) * factors.distance + min(np.uint64(degree), rho) * factors.degree
    key += min(np.uint64(closer), rho) * factors.closer + min(np.uint64(farther), rho) * factors.farther
    return mix(key)


@kernel
def hash_egos(graph: Any, roots: Any, setting: Any, factors: Any, depths: Any, scratch: Any, codes: Any) -> None:
    """A hash of each root's encoding at each depth: the columns of ``codes``, and one more that is not used."""
    ego, rho, last = scratch.ego, np.uint64(setting.rho), codes.shape[1] - 1
    for i in range(roots.shape[0]):
        codes[i] = 0
        for j in range(read_ego(graph, roots[i], setting, scratch)):
            label, distance, closer = label_of(ego.queue[j], setting), scratch.distance[j], ego.closer[j]
            degree, farther = ego.degree[j], ego.farther[j]
            inner = code_of(label, distance, closer, degree, farther, rho, factors)
            outer = code_of(label, distance, closer, degree - farther, 0, rho, factors)
            # The sums of depths are still to be added up: what is seen alike from one on is in that one only.
            beyond, equal = depths.beyond[distance], depths.equal[distance]
            codes[i, beyond] += inner
            codes[i, equal] += outer
            codes[i, min(equal + 1, last)] -= outer
        for depth in range(1, last):
            codes[i, depth] += codes[i, depth - 1]


@inlined
def meet(graph: Any, v: Any, setting: Any, factors: Any, scratch: Any) -> int:
    """Find the nodes of the intersection of u's ball, which stands in the scratch, with v's; gives how many.

    They are left in the queue of v's ball, and their keys hold all but what neighbours add.
    """
    around, ball, place, keys = scratch.around_u.distance, scratch.around_v, scratch.place, scratch.keys
    if around[v] == 1 or around[v] == 2:
        tail = find_ball_inside(graph, v, setting.k, around, ball)
    else:
        tail = find_ball(graph, v, setting.k, ball)
    size = 0
    for j in range(tail):
        w = ball.queue[j]
        if around[w]:
            ball.queue[size] = w
            from_u, from_v = np.int64(around[w]) - 1, np.int64(ball.distance[w]) - 1
            scratch.from_u[size], scratch.from_v[size] = from_u, from_v
            one, two, label = np.uint64(from_u), np.uint64(from_v), label_of(w, setting)
            keys[size, 0] = label + one * factors[0].distance + two * factors[1].distance
            keys[size, 1] = label + two * factors[0].distance + one * factors[1].distance
            keys[size, 2] = keys[size, 3] = 0
            size += 1
            place[w] = size
        ball.distance[w] = 0
    return size


@inlined
def join(i: int, j: int, steps: Any, scratch: Any) -> None:
    """Add an edge between the places i and j to the keys of both."""
    from_u, from_v, keys = scratch.from_u, scratch.from_v, scratch.keys
    onward_u, onward_v = from_u[j] - from_u[i] + 1, from_v[j] - from_v[i] + 1
    one, two = 3 * onward_u + onward_v, 3 * onward_v + onward_u
    here, there = max(from_u[i], from_v[i]), max(from_u[j], from_v[j])
    later, earlier = 2 * np.int64(there > here), 2 * np.int64(here > there)
    keys[i, later] += steps[one]
    keys[i, later + 1] += steps[two]
    keys[j, earlier] += steps[8 - one]
    keys[j, earlier + 1] += steps[8 - two]


@inlined
def step_keys(factors: Any) -> Any:
    """What a neighbour adds to a key, by whether it is closer, as far or farther for one end, and for the other."""
    one, two = factors
    steps = np.full(9, one.degree)
    for place in range(3):
        steps[place] += one.closer
        steps[6 + place] += one.farther
        steps[3 * place] += two.closer
        steps[3 * place + 2] += two.farther
    return steps


@kernel
def hash_pairs(graph: Any, pairs: Any, setting: Any, factors: Any, depths: Any, scratch: Any, codes: Any) -> None:
    """For each pair, hashes of its encoding at each depth as read from (u, v) and from (v, u), where no count is
    clipped; ``codes`` has a column for each depth, and one more that is not used.
    """
    us, vs = pairs
    pointers, neighbours, split = graph.pointers, graph.neighbours, graph.split
    queue, place, keys = scratch.around_v.queue, scratch.place, scratch.keys
    steps, entered, last = step_keys(factors), 0, codes.shape[2] - 1
    for row in range(us.shape[0]):
        entered = enter(graph, us, row, setting.k, entered, scratch.around_u)
        size = meet(graph, vs[row], setting, factors, scratch)
        for i in range(size):
            w = queue[i]
            for e in range(split[w], pointers[w + ONE]):
                j = np.int64(place[neighbours[e]]) - 1
                if j >= 0:
                    join(i, j, steps, scratch)
        codes[row] = 0
        for i in range(size):
            place[queue[i]] = 0
            farthest = max(scratch.from_u[i], scratch.from_v[i])
            beyond, equal = depths.beyond[farthest], depths.equal[farthest]
            for end in range(2):
                outer = mix(keys[i, end])
                codes[row, end, beyond] += mix(keys[i, end] + keys[i, end + 2])
                codes[row, end, equal] += outer
                codes[row, end, min(equal + 1, last)] -= outer
        for depth in range(1, last):
            codes[row, 0, depth] += codes[row, 0, depth - 1]
            codes[row, 1, depth] += codes[row, 1, depth - 1]
    leave_ball(entered, scratch.around_u)


@inlined
def find_common(graph: Any, v: Any, scratch: Any) -> int:
    """The neighbours that v shares with u, whose ball of depth 1 stands in the scratch; gives how many.

    They are left in the queue of v's ball, and in ``from_u`` how many neighbours each has among them.
    """
    pointers, neighbours, split = graph.pointers, graph.neighbours, graph.split
    around, queue, place, inside = scratch.around_u.distance, scratch.around_v.queue, scratch.place, scratch.from_u
    size = 0
    for e in range(pointers[v], pointers[v + ONE]):
        queue[size] = neighbours[e]
        inside[size] = 0
        size += around[neighbours[e]] == 2
    if size > 1:
        for i in range(size):
            place[queue[i]] = i + 1
        for i in range(size):
            w = queue[i]
            for e in range(split[w], pointers[w + ONE]):
                j = np.int64(place[neighbours[e]]) - 1
                if j >= 0:
                    inside[i] += 1
                    inside[j] += 1
        for i in range(size):
            place[queue[i]] = 0
    return size


@inlined
def ends_keys(shared: Any, steps: Any, factors: Any) -> Any:
    """Keys of an end of an edge at depth 1 as itself reads it, and as the other does, without its label."""
    own = factors[1].distance + steps[6] + shared * steps[7]
    return own, factors[0].distance + steps[2] + shared * steps[5]


@inlined
def shared_key(inside: Any, steps: Any, factors: Any) -> Any:
    """The key of a neighbour that both ends share, which has so many others of them, without its label."""
    return factors[0].distance + factors[1].distance + steps[1] + steps[3] + inside * steps[4]


@kernel
def hash_edges(graph: Any, edges: Any, setting: Any, factors: Any, scratch: Any, codes: Any) -> None:
    """What :func:`hash_pairs` gives for edges at depth 1 alone, in a fraction of the time.

    Both ends then see themselves, one step apart, and the neighbours that they share, one step from either.
    """
    us, vs = edges
    queue, inside, steps, entered = scratch.around_v.queue, scratch.from_u, step_keys(factors), 0
    for row in range(us.shape[0]):
        entered = enter(graph, us, row, 1, entered, scratch.around_u)
        size = find_common(graph, vs[row], scratch)
        own, other = ends_keys(np.uint64(size), steps, factors)
        u, v = label_of(us[row], setting), label_of(vs[row], setting)
        one, two = mix(u + own) + mix(v + other), mix(u + other) + mix(v + own)
        for i in range(size):
            code = mix(label_of(queue[i], setting) + shared_key(np.uint64(inside[i]), steps, factors))
            one += code
            two += code
        codes[row, 0], codes[row, 1] = one, two
    leave_ball(entered, scratch.around_u)


@inlined
def clipped_key(i: int, seen: Any, rho: Any, factors: Any) -> Any:
    """What one reading of the node at a place adds to its key, beside its degree."""
    key = np.uint64(seen.distance[i]) * factors.distance + min(np.uint64(seen.closer[i]), rho) * factors.closer
    return key + min(np.uint64(seen.farther[i]), rho) * factors.farther


@kernel
def hash_clipped_pairs(graph: Any, pairs: Any, setting: Any, factors: Any, scratch: Any, codes: Any) -> None:
    """The same at one depth, where counts may be clipped: ``factors`` are those of either end in turn."""
    us, vs = pairs
    one, two = factors
    inside, rho, entered = scratch.inside, np.uint64(setting.rho), 0
    for row in range(us.shape[0]):
        entered = enter(graph, us, row, setting.k, entered, scratch.around_u)
        size = intersect(graph, vs[row], setting.k, scratch)
        codes[row, 0] = codes[row, 1] = 0
        for i in range(size):
            key = label_of(inside.nodes[i], setting) + min(np.uint64(inside.degree[i]), rho) * one.degree
            u, v = inside.from_u, inside.from_v
            codes[row, 0] += mix(key + clipped_key(i, u, rho, one) + clipped_key(i, v, rho, two))
            codes[row, 1] += mix(key + clipped_key(i, v, rho, one) + clipped_key(i, u, rho, two))
    leave_ball(entered, scratch.around_u)
