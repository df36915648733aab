"""Node encodings: ego-networks explored one root at a time. :mod:`elene.kernels.lanes` explores many side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.connect import ListScratch, connect, list_scratch
from elene.kernels.count import (
    find_or_add,
    flush,
    is_full,
    label_key,
    layout_of,
    pack,
    put,
    put_roots,
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


class Word(NamedTuple):
    """A state from the highest bit on: the boundary (the node is at distance k), visits, and level neighbours there.

    The last two are counts of ``shift`` bits each, so many as ``mask`` has; ``visit`` is one visit.
    """

    boundary: Any
    visit: Any
    shift: Any
    mask: Any


@inlined
def word_of(state: Any, shift: Any) -> Word:
    """The parts of a state, all of the type of states."""
    one = state.dtype.type(1)
    visit = one << shift
    return Word(one << state.dtype.type(8 * state.itemsize - 1), visit, shift, visit - one)


@inlined
def visits_in(seen: Any, word: Any) -> Any:
    """How often a node of this state was visited."""
    return (seen >> word.shift) & word.mask


@inlined
def expand_level(graph: Any, start: int, stop: int, first: Any, again: Any, scratch: Any) -> int:
    """Visit all neighbours of the nodes ``queue[start:stop]`` of one level; gives the new end of the queue.

    ``first`` is what a visit adds to the state of a node that is not reached yet, which is 0, and ``again`` to others,
    whatever their distance is. Branches on graph data are mispredicted half of the time, so there are none: every
    neighbour is written to the queue's end, which moves only for new ones.
    """
    pointers, neighbours, state, queue = graph.pointers, graph.neighbours, scratch.state, scratch.queue
    empty = state.dtype.type(0)
    end = stop
    for j in range(start, stop):
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
def count_closer(start: int, stop: int, word: Any, scratch: Any) -> None:
    """Before a level is expanded, its nodes have been visited by their closer neighbours."""
    state, queue, closer = scratch.state, scratch.queue, scratch.closer
    for j in range(start, stop):
        closer[j] = visits_in(state[queue[j]], word)


@inlined
def count_farther(graph: Any, start: int, stop: int, word: Any, scratch: Any) -> None:
    """After that, by all neighbours but the farther ones, whose visits come later and are never looked at."""
    pointers, state, queue = graph.pointers, scratch.state, scratch.queue
    degree, farther = scratch.degree, scratch.farther
    for j in range(start, stop):
        u = queue[j]
        degree[j] = pointers[u + ONE] - pointers[u]
        farther[j] = degree[j] - visits_in(state[u], word)


@inlined
def explore(graph: Any, root: Any, k: int, word: Any, scratch: Any) -> int:
    """Explore the ego-network of one root; gives its size.

    Afterwards ``queue[:size]`` holds its nodes by distance, those at distance l ending at ``ends[l]``, and closer,
    degree and farther the counts of those nearer than k in the same order. The counts of those at distance k are still
    in the states: :func:`read_ego` or tallies must follow, and clear them.
    """
    state, queue, ends = scratch.state, scratch.queue, scratch.ends
    queue[0] = root
    state[root] = state.dtype.type(1) if k else word.boundary  # not 0, for it is reached, and not visited
    start, stop = 0, 1
    for distance in range(k):
        ends[distance] = stop
        first = word.visit + word.boundary if distance + 1 == k else word.visit
        count_closer(start, stop, word, scratch)
        end = expand_level(graph, start, stop, first, word.visit, scratch)
        count_farther(graph, start, stop, word, scratch)
        start, stop = stop, end
    ends[k] = stop
    connect(graph, queue, np.uint64(start), np.uint64(stop), state, scratch.lists)
    return stop


class Tops(NamedTuple):
    """The largest closer, degree and farther of some nodes."""

    closer: Any
    degree: Any
    farther: Any


@inlined
def tally_inside(start: int, stop: int, rho: int, scratch: Any, histogram: Any) -> Tops:
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
    return Tops(back, inside, onward)


@inlined
def tally_boundary(start: int, stop: int, word: Any, rho: int, scratch: Any, histogram: Any) -> Tops:
    """The same for nodes at distance k, whose counts are still in the states; none has a neighbour farther away."""
    state, queue = scratch.state, scratch.queue
    empty, width = state.dtype.type(0), rho + 1
    back, inside = 0, 0
    for j in range(start, stop):
        seen = state[queue[j]]
        state[queue[j]] = empty
        visits, level = np.int64(visits_in(seen, word)), np.int64(seen & word.mask)
        c, d = min(visits, rho), min(visits + level, rho)
        histogram[c] += 1
        histogram[width + d] += 1
        back, inside = max(back, c), max(inside, d)
    histogram[2 * width] += stop - start
    return Tops(back, inside, 0)


@inlined
def flush_distance(distance: int, tops: Any, layout: Any, histogram: Any, entries: Any, used: int) -> int:
    """Append what was tallied of the nodes at one distance to a row, and clear it."""
    width, first = histogram.shape[0] // 3, distance * layout.step
    used = flush(histogram, 0, tops.closer, first, layout.kept, entries, used)
    used = flush(histogram, width, tops.degree, first + layout.degree, 1, entries, used)
    return flush(histogram, 2 * width, tops.farther, first + layout.farther, layout.kept, entries, used)


@kernel
def fill_marginal(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any) -> Any:
    """Marginal rows of roots, one by one: the root, then distance by distance.

    With absolute degrees, all is tallied alike but only degrees are kept. There are no branches around arrays, and none
    is replaced: numba would count references for every root, which takes longer than a small ego-network.
    """
    k, rho, layout = setting.k, setting.rho, layout_of(setting)
    ego, histogram, entries = scratch.ego, scratch.histogram, out.entries
    state, ends, degree = ego.state, ego.ends, ego.degree
    word = word_of(state, setting.shift)
    most = 3 * min((k + 1) * (rho + 1), state.shape[0]) + 3
    root_inside = min(k, 1)  # at depth 0 it is its own boundary, and tallied with that
    done, used = progress.done, progress.used
    while done < roots.shape[0] and used + most <= entries.shape[0]:
        explore(graph, roots[done], k, word, ego)
        state[roots[done]] = 0
        used = put_roots(1, min(np.int64(degree[0]), rho), layout, root_inside, entries, used)
        start = root_inside
        for distance in range(1, k):
            tops = tally_inside(start, ends[distance], rho, ego, histogram)
            used = flush_distance(distance, tops, layout, histogram, entries, used)
            start = ends[distance]
        tops = tally_boundary(start, ends[k], word, rho, ego, histogram)
        used = flush_distance(k, tops, layout, histogram, entries, used)
        out.ends[done] = used
        done += 1
    return Progress(done, used, progress.known, most)


@kernel
def read_ego(graph: Any, root: Any, setting: Any, scratch: Any) -> int:
    """Explore the ego-network of one root and write down all its quadruplets; gives its size."""
    ego, distance = scratch.ego, scratch.distance
    state, queue, k, word = ego.state, ego.queue, setting.k, word_of(ego.state, setting.shift)
    size = explore(graph, root, k, word, ego)
    start = 0
    for level in range(k + 1):
        for j in range(start, ego.ends[level]):
            distance[j] = level
        start = ego.ends[level]
    for j in range(ego.ends[k - 1] if k else 0, size):
        seen = state[queue[j]]
        ego.closer[j] = visits_in(seen, word)
        ego.degree[j] = visits_in(seen, word) + (seen & word.mask)
        ego.farther[j] = ZERO
    for j in range(size):
        state[queue[j]] = 0
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
