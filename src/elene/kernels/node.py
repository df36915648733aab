"""Node encodings: ego-networks explored one root at a time. :mod:`elene.kernels.lanes` explores many side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.connect import ListScratch, connect, list_scratch
from elene.kernels.count import (
    chain,
    find_or_add,
    flush,
    is_full,
    label_code,
    label_key,
    mix,
    pack,
    put,
    put_tallies,
)
from elene.kernels.data import Progress
from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)
ZERO = np.uint32(0)


class EgoScratch(NamedTuple):
    """What :func:`explore` works on; a node's counts stand at its place in the queue, which has it by distance."""

    state: Any  # of every node
    queue: Any
    ends: Any  # where each distance ends in the queue
    closer: Any
    degree: Any
    farther: Any
    lists: ListScratch


class MarginalScratch(NamedTuple):
    """What :func:`fill_marginal` works on: for one root and distance, a histogram of closer, degree and farther."""

    ego: EgoScratch
    histogram: Any


class ReadingScratch(NamedTuple):
    """What kernels that read whole quadruplets work on: for one root, by place in the queue, distances and numbers."""

    ego: EgoScratch
    distance: Any
    numbers: Any


def ego_scratch(n: int, k: int, state: Any) -> EgoScratch:
    """Scratch for a graph of n nodes, depth k and states of a type."""
    return EgoScratch(
        state=np.zeros(n, state),
        queue=np.empty(n + 1, np.uint32),
        ends=np.empty(k + 2, np.int64),
        closer=np.empty(n, np.uint32),
        degree=np.empty(n, np.uint32),
        farther=np.empty(n, np.uint32),
        lists=list_scratch(),
    )


def marginal_scratch(n: int, k: int, state: Any, rho: int) -> MarginalScratch:
    """The same, and a histogram of values up to rho."""
    return MarginalScratch(ego_scratch(n, k, state), np.zeros(3 * (rho + 1), np.int32))


def reading_scratch(n: int, k: int, state: Any) -> ReadingScratch:
    """The same, with room for the quadruplets of an ego-network."""
    return ReadingScratch(ego_scratch(n, k, state), np.empty(n, np.int32), np.zeros(n, np.int64))


@inlined
def expand_level(graph: Any, first: Any, again: Any, head: int, tail: int, scratch: Any) -> int:
    """Visit the nodes ``queue[head:tail]`` of one level; gives the new end of the queue.

    A node's state is 0 where it is not reached. Every visit adds one to the count in it, whatever its distance is:
    ``first`` is what that adds to a node that is not reached yet, and ``again`` to others. Branches on graph data are
    mispredicted half of the time, so there are none: every neighbour is written to the queue's end, which moves only
    for new ones.
    """
    pointers, neighbours, state, queue = graph.pointers, graph.neighbours, scratch.state, scratch.queue
    empty = state.dtype.type(0)
    end = tail
    for j in range(head, tail):
        u = queue[j]
        for e in range(pointers[u], pointers[u + ONE]):
            x = neighbours[e]
            seen = state[x]
            new = seen == empty
            queue[end] = x
            end += new
            state[x] = seen + (first if new else again)
    return end


@inlined
def explore(graph: Any, root: Any, k: int, shift: Any, scratch: Any) -> int:
    """Explore the ego-network of one root; gives its size.

    Afterwards ``queue[:size]`` holds its nodes by distance, those at distance l ending at ``ends[l]``, and closer,
    degree and farther the counts of those nearer than k in the same order. The counts of those at distance k are still
    in the states: :func:`read_ego` or tallies must follow, and clear them.

    A state is, from the highest bit on: whether the node is at distance k, its visits, and its neighbours at distance k
    if it is there, too. A node's visits are its closer neighbours before its own level is expanded, and all but the
    farther ones after that; those from farther on are never looked at.
    """
    pointers, state, queue = graph.pointers, scratch.state, scratch.queue
    closer, degree, farther = scratch.closer, scratch.degree, scratch.farther
    unit = state.dtype.type(1)
    visit, mask = unit << shift, (unit << shift) - unit
    boundary = unit << state.dtype.type(8 * state.itemsize - 1)
    queue[0] = root
    state[root] = unit if k else boundary
    head, tail = 0, 1
    for distance in range(k):
        scratch.ends[distance] = tail
        for j in range(head, tail):
            closer[j] = (state[queue[j]] >> shift) & mask
        first = visit + boundary if distance + 1 == k else visit
        end = expand_level(graph, first, visit, head, tail, scratch)
        for j in range(head, tail):
            u = queue[j]
            degree[j] = pointers[u + ONE] - pointers[u]
            farther[j] = degree[j] - ((state[u] >> shift) & mask)
        head, tail = tail, end
    scratch.ends[k] = tail
    connect(graph, queue, np.uint64(head), np.uint64(tail), state, scratch.lists)
    return tail


@inlined
def tally_inside(start: int, stop: int, rho: int, scratch: Any, histogram: Any) -> Any:
    """Tally the counts of nodes nearer than k, clipped, and clear their states; gives the largest of each."""
    state, queue = scratch.state, scratch.queue
    closer, degree, farther = scratch.closer, scratch.degree, scratch.farther
    empty, width = state.dtype.type(0), rho + 1
    back, inside, onward = 0, 0, 0
    for j in range(start, stop):
        state[queue[j]] = empty
        c, d, f = min(np.int64(closer[j]), rho), min(np.int64(degree[j]), rho), min(np.int64(farther[j]), rho)
        histogram[c] += 1
        histogram[width + d] += 1
        histogram[2 * width + f] += 1
        back, inside, onward = max(back, c), max(inside, d), max(onward, f)
    return back, inside, onward


@inlined
def tally_boundary(start: int, stop: int, shift: Any, rho: int, scratch: Any, histogram: Any) -> Any:
    """The same for nodes at distance k, whose counts are still in the states; none has a neighbour farther away."""
    state, queue = scratch.state, scratch.queue
    empty, mask = state.dtype.type(0), (state.dtype.type(1) << shift) - state.dtype.type(1)
    width, back, inside = rho + 1, 0, 0
    for j in range(start, stop):
        seen = state[queue[j]]
        state[queue[j]] = empty
        c = np.int64((seen >> shift) & mask)
        d = min(c + np.int64(seen & mask), rho)
        c = min(c, rho)
        histogram[c] += 1
        histogram[width + d] += 1
        back, inside = max(back, c), max(inside, d)
    return back, inside


@inlined
def put_root(own: int, width: int, kept: int, inner: int, entries: Any, used: int) -> int:
    """Append a root's counts: nobody closer, all its neighbours farther; nothing if it is its own boundary."""
    used = put(0, 1, inner * kept, entries, used)
    used = put(kept * width + own, 1, inner, entries, used)
    return put(2 * width + own, 1, inner * kept, entries, used)


@kernel
def fill_marginal(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of roots, one by one.

    With absolute degrees, all is tallied alike but only degrees are kept. There are no branches around arrays, and none
    is replaced: numba would count references for every root, which takes longer than a small ego-network.
    """
    k, shift, rho = setting.k, setting.shift, setting.rho
    ego, histogram, entries, row_ends = scratch.ego, scratch.histogram, out.entries, out.ends
    state, ends, degree = ego.state, ego.ends, ego.degree
    width, kept, inner = rho + 1, 0 if setting.absolute else 1, min(k, 1)
    step = (1 + 2 * kept) * width  # columns of a distance
    most = 3 * min((k + 1) * width, state.shape[0]) + 3
    done, used = progress.done, progress.used
    while done < roots.shape[0] and used + most <= entries.shape[0]:
        explore(graph, roots[done], k, shift, ego)
        state[roots[done]] = 0
        used = put_root(min(np.int64(degree[0]), rho), width, kept, inner, entries, used)
        start, first = inner, inner * step
        for distance in range(1, k):
            back, inside, onward = tally_inside(start, ends[distance], rho, ego, histogram)
            used = flush(histogram, 0, back, first, kept, entries, used)
            used = flush(histogram, width, inside, first + kept * width, 1, entries, used)
            used = flush(histogram, 2 * width, onward, first + 2 * width, kept, entries, used)
            start, first = ends[distance], first + step
        back, inside = tally_boundary(start, ends[k], shift, rho, ego, histogram)
        used = flush(histogram, 0, back, first, kept, entries, used)
        used = flush(histogram, width, inside, first + kept * width, 1, entries, used)
        used = put(first + 2 * width, ends[k] - start, kept * (ends[k] > start), entries, used)
        row_ends[done] = used
        done += 1
    return Progress(done, used, progress.known, most)


@kernel
def read_ego(graph: Any, root: Any, setting: Any, scratch: Any) -> int:
    """Explore the ego-network of one root and write down all its quadruplets; gives its size."""
    ego, distance = scratch.ego, scratch.distance
    state, queue, k, shift = ego.state, ego.queue, setting.k, setting.shift
    size = explore(graph, root, k, shift, ego)
    empty, mask = state.dtype.type(0), (state.dtype.type(1) << shift) - state.dtype.type(1)
    start = 0
    for level in range(k + 1):
        for j in range(start, ego.ends[level]):
            distance[j] = level
        start = ego.ends[level]
    for j in range(ego.ends[k - 1] if k else 0, size):
        seen = state[queue[j]]
        ego.closer[j] = (seen >> shift) & mask
        ego.degree[j] = (seen & mask) + ((seen >> shift) & mask)
        ego.farther[j] = ZERO
    for j in range(size):
        state[queue[j]] = empty
    return size


@inlined
def pack_member(j: int, setting: Any, scratch: Any) -> Any:
    """The key of the j-th node that :func:`read_ego` left."""
    ego = scratch.ego
    key = pack(scratch.distance[j], ego.closer[j], ego.degree[j], ego.farther[j], setting)
    return label_key(key, ego.queue[j], setting)


@kernel
def fill_joint(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Joint rows of roots: an entry's column is the number of a quadruplet among the keys."""
    used, known, numbers = progress.used, progress.known, scratch.numbers
    for i in range(progress.done, roots.shape[0]):
        size = read_ego(graph, roots[i], setting, scratch)
        if is_full(out, used, known, size):
            return Progress(i, used, known, size)
        for j in range(size):
            number = find_or_add(pack_member(j, setting, scratch), np.int64(0), out.table, out.keys, known)
            numbers[j] = number
            known = max(known, number + 1)
        used = put_tallies(numbers, size, out.keys, out.entries, used)
        out.ends[i] = used
    return Progress(roots.shape[0], used, known, 0)


@kernel
def fill_members(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """The nodes of ego-networks, by distance: an entry is a node, and above it the number of its quadruplet."""
    used, known, queue = progress.used, progress.known, scratch.ego.queue
    for i in range(progress.done, roots.shape[0]):
        size = read_ego(graph, roots[i], setting, scratch)
        if is_full(out, used, known, size):
            return Progress(i, used, known, size)
        for j in range(size):
            number = find_or_add(pack_member(j, setting, scratch), np.int64(0), out.table, out.keys, known)
            used = put(queue[j], number, 1, out.entries, used)
            known = max(known, number + 1)
        out.ends[i] = used
    return Progress(roots.shape[0], used, known, 0)


@kernel
def hash_egos(graph: Any, roots: Any, setting: Any, scratch: Any, codes: Any) -> None:
    """A hash of each root's encoding: the sum of its quadruplets' hashes, in no order."""
    ego, rho = scratch.ego, np.uint64(setting.rho)
    for i in range(roots.shape[0]):
        codes[i] = 0
        for j in range(read_ego(graph, roots[i], setting, scratch)):
            code = chain(mix(min(np.uint64(ego.degree[j]), rho)), np.uint64(scratch.distance[j]))
            if not setting.absolute:
                code = chain(code, min(np.uint64(ego.closer[j]), rho))
                code = chain(code, min(np.uint64(ego.farther[j]), rho))
            codes[i] += label_code(code, ego.queue[j], setting)
