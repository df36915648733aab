"""Node encodings: ego-networks explored one root at a time, or sixty-four side by side where they overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.connect import connect, connect_scratch
from elene.kernels.count import (
    chain,
    count_keys,
    flush,
    flush_numbers,
    mix,
    put,
    quadruplet_keys,
    reserve,
)
from elene.kernels.jit import inlined, kernel
from elene.kernels.lanes import LANES, explore_lanes, flush_lanes, lane_scratch

ONE = np.uint32(1)
ROOM_A_ROW = 32  # entries to begin with: untouched memory costs nothing, growing costs a copy
ZERO = np.uint32(0)


def node_scratch(n: int, k: int, state: Any) -> Any:
    """What :func:`explore` works on: state, queue, level ends; counts by place in the queue; and more for lists.

    The counts are closer, degree and farther.
    """
    return (
        np.zeros(n, state),
        np.empty(n + 1, np.uint32),
        np.empty(k + 2, np.int64),
        np.empty(n, np.uint32),
        np.empty(n, np.uint32),
        np.empty(n, np.uint32),
        connect_scratch(),
    )


def marginal_scratch(n: int, k: int, state: Any, rho: int, lanes: bool) -> Any:
    """What :func:`marginal_rows` works on: for one root and distance, a histogram of three counts; and for lanes."""
    together = lane_scratch(n if lanes else 0, 3 * (k + 1) * (rho + 1) if lanes else 0)
    return node_scratch(n, k, state), np.zeros(3 * (rho + 1), np.int32), together


def joint_scratch(n: int, k: int, state: Any) -> Any:
    """What the other kernels work on: for one root, distances, a second key that is always 0, keys and numbers."""
    return (
        node_scratch(n, k, state),
        np.empty(n, np.int32),
        np.zeros(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )


@inlined
def expand_level(indptr: Any, ranked: Any, adds: Any, head: int, tail: int, scratch: Any) -> int:
    """Visit the nodes ``queue[head:tail]`` of one level; gives the new end of the queue.

    A node's state is 0 where it is not reached. Every visit adds one to the count in it, whatever its distance is:
    ``adds`` says what that is for a node that is not reached yet, and for others. Branches on graph data are
    mispredicted half of the time, so there are none: every neighbour is written to the queue's end, which moves only
    for new ones.
    """
    state, queue, _, _, _, _, _ = scratch
    first, again = adds
    empty = state.dtype.type(0)
    end = tail
    for j in range(head, tail):
        u = queue[j]
        for e in range(indptr[u], indptr[u + ONE]):
            x = ranked[e]
            seen = state[x]
            new = seen == empty
            queue[end] = x
            end += new
            state[x] = seen + (first if new else again)
    return end


@inlined
def explore(indptr: Any, ranked: Any, split: Any, root: Any, k: int, shift: Any, scratch: Any) -> int:
    """Explore the ego-network of one root; gives its size.

    Afterwards ``queue[:size]`` holds its nodes by distance, those at distance l ending at ``ends[l]``, and closer,
    degree and farther the counts of those nearer than k in the same order. The counts of those at distance k are still
    in the states: :func:`spell_out` or tallies must follow, and clear them.

    A state is, from the highest bit on: whether the node is at distance k, its visits, and its neighbours at distance k
    if it is there, too. A node's visits are its closer neighbours before its own level is expanded, and all but the
    farther ones after that; those from farther on are never looked at.
    """
    state, queue, ends, closer, degree, farther, lists = scratch
    unit = state.dtype.type(1)
    visit, mask = unit << shift, (unit << shift) - unit
    boundary = unit << state.dtype.type(8 * state.itemsize - 1)
    queue[0] = root
    state[root] = unit if k else boundary
    head, tail = 0, 1
    for distance in range(k):
        ends[distance] = tail
        for j in range(head, tail):
            closer[j] = (state[queue[j]] >> shift) & mask
        first = visit + boundary if distance + 1 == k else visit
        end = expand_level(indptr, ranked, (first, visit), head, tail, scratch)
        for j in range(head, tail):
            u = queue[j]
            degree[j] = indptr[u + ONE] - indptr[u]
            farther[j] = degree[j] - ((state[u] >> shift) & mask)
        head, tail = tail, end
    ends[k] = tail
    connect((indptr, ranked, split), queue, np.uint64(head), np.uint64(tail), state, lists)
    return tail


@inlined
def tally_inside(start: int, stop: int, rho: int, scratch: Any, histogram: Any) -> Any:
    """Tally the counts of nodes nearer than k, clipped, and clear their states; gives the largest of each."""
    state, queue, _, closer, degree, farther, _ = scratch
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
    state, queue, _, _, _, _, _ = scratch
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


@kernel
def fill_rows(graph: Any, roots: Any, setting: Any, scratches: Any, out: Any, done: int, used: int) -> Any:
    """Append the rows of ``roots[done:]`` one by one as long as there is room; gives how many are done and used.

    With absolute degrees, all is tallied alike but only degrees are kept. There are no branches around arrays, and none
    is replaced: numba would count references for every root, which takes longer than a small ego-network.
    """
    indptr, ranked, split = graph
    k, shift, absolute, most = setting
    scratch, histogram, _ = scratches
    row_ends, entries = out
    state, _, ends, _, degree, _, _ = scratch
    width, kept, inner = histogram.shape[0] // 3, 0 if absolute else 1, min(k, 1)
    while done < roots.shape[0] and used + most <= entries.shape[0]:
        explore(indptr, ranked, split, roots[done], k, shift, scratch)
        state[roots[done]] = 0
        own = min(np.int64(degree[0]), width - 1)
        used = put(0, 1, inner * kept, entries, used)
        used = put(kept * width + own, 1, inner, entries, used)
        used = put(2 * width + own, 1, inner * kept, entries, used)
        start, first = inner, inner * (1 + 2 * kept) * width
        for distance in range(1, k):
            stop = ends[distance]
            back, inside, onward = tally_inside(start, stop, width - 1, scratch, histogram)
            used = flush(histogram, 0, back, first, kept, entries, used)
            used = flush(histogram, width, inside, first + kept * width, 1, entries, used)
            used = flush(histogram, 2 * width, onward, first + 2 * width, kept, entries, used)
            start, first = stop, first + (1 + 2 * kept) * width
        back, inside = tally_boundary(start, ends[k], shift, width - 1, scratch, histogram)
        used = flush(histogram, 0, back, first, kept, entries, used)
        used = flush(histogram, width, inside, first + kept * width, 1, entries, used)
        used = put(first + 2 * width, ends[k] - start, kept * (ends[k] > start), entries, used)
        row_ends[done] = used
        done += 1
    return done, used


@kernel
def marginal_rows(graph: Any, roots: Any, k: int, shift: Any, absolute: bool, scratches: Any) -> Any:
    """Marginal rows of the given roots: (row ends, entries).

    With scratch for lanes, groups of 64 roots whose first steps overlap enough are explored together.
    """
    scratch, histogram, together = scratches
    width = histogram.shape[0] // 3
    most = 3 * min((k + 1) * width, scratch[0].shape[0]) + 3
    lanes = together[0].shape[0] > 0
    row_ends = np.empty(roots.shape[0], np.int64)
    room = ROOM_A_ROW * roots.shape[0] + most
    entries = np.empty(room, np.int64)
    done, used, pause, patience = 0, 0, 0, 0
    while done < roots.shape[0]:
        stop = min(done + LANES, roots.shape[0]) if lanes else roots.shape[0]
        listed = 0
        if lanes and pause == 0:
            listed = explore_lanes(graph, roots[done:stop], k, width - 1, absolute, together)
            # Where lanes do not pay, they seldom do a little further on: try again after ever longer pauses.
            patience = 0 if listed else min(2 * patience + 1, 63)
            pause = patience
        elif pause:
            pause -= 1
        if listed:
            entries = reserve(entries, used, (stop - done) * listed + 1)
            used = flush_lanes(listed, together, (row_ends[done:stop], entries), used)
            done = stop
        while done < stop:
            setting, out = (k, shift, absolute, most), (row_ends, entries)
            done, used = fill_rows(graph, roots[:stop], setting, scratches, out, done, used)
            if done < stop:
                entries = reserve(entries, used, most)
    return row_ends, entries[:used]


@inlined
def spell_out(size: int, k: int, shift: Any, scratch: Any, distance: Any) -> None:
    """Write down what :func:`explore` leaves: each node's distance, and the counts of those at distance k."""
    state, queue, ends, closer, degree, farther, _ = scratch
    empty, mask = state.dtype.type(0), (state.dtype.type(1) << shift) - state.dtype.type(1)
    start = 0
    for level in range(k + 1):
        for j in range(start, ends[level]):
            distance[j] = level
        start = ends[level]
    for j in range(ends[k - 1] if k else 0, size):
        seen = state[queue[j]]
        closer[j] = (seen >> shift) & mask
        degree[j] = (seen & mask) + ((seen >> shift) & mask)
        farther[j] = ZERO
    for j in range(size):
        state[queue[j]] = empty


@kernel
def node_joint_rows(graph: Any, roots: Any, k: int, shift: Any, rho: int, absolute: bool, scratches: Any) -> Any:
    """Joint rows: (row ends, entries, keys); column i stands for the quadruplet ``keys[i, 0]``."""
    indptr, ranked, split = graph
    scratch, distance, nothing, first, numbers = scratches
    table, keys, known = np.zeros(64, np.int32), np.empty((32, 2), np.int64), 0
    totals = np.zeros(32, np.int32)
    row_ends = np.empty(roots.shape[0], np.int64)
    entries = np.empty(1024, np.int64)
    used = 0
    for i in range(roots.shape[0]):
        size = explore(indptr, ranked, split, roots[i], k, shift, scratch)
        spell_out(size, k, shift, scratch, distance)
        quadruplet_keys(size, scratch[4], (distance, scratch[3], scratch[5]), rho, absolute, first)
        table, keys, known = count_keys(first, nothing, size, table, keys, known, numbers)
        if totals.shape[0] < keys.shape[0]:
            totals = np.zeros(keys.shape[0], np.int32)
        entries = reserve(entries, used, size + 1)
        used = flush_numbers(numbers, size, totals, entries, used)
        row_ends[i] = used
    return row_ends, entries[:used], keys[:known]


@kernel
def node_codes(graph: Any, roots: Any, k: int, shift: Any, scratches: Any) -> Any:
    """A hash of each root's encoding: the sum of its quadruplets' hashes, in no order."""
    indptr, ranked, split = graph
    scratch, distance, _, _, _ = scratches
    codes = np.zeros(roots.shape[0], np.uint64)
    for i in range(roots.shape[0]):
        size = explore(indptr, ranked, split, roots[i], k, shift, scratch)
        spell_out(size, k, shift, scratch, distance)
        for j in range(size):
            code = chain(mix(np.uint64(scratch[4][j])), np.uint64(distance[j]))
            codes[i] += chain(chain(code, np.uint64(scratch[3][j])), np.uint64(scratch[5][j]))
    return codes


@kernel
def node_members(graph: Any, root: Any, k: int, shift: Any, scratches: Any) -> Any:
    """The ego-network of one root: its nodes by distance, and their quadruplets."""
    indptr, ranked, split = graph
    scratch, distance, _, _, _ = scratches
    size = explore(indptr, ranked, split, root, k, shift, scratch)
    spell_out(size, k, shift, scratch, distance)
    members = np.empty((size, 4), np.int64)
    for j in range(size):
        members[j, 0], members[j, 1] = distance[j], scratch[3][j]
        members[j, 2], members[j, 3] = scratch[4][j], scratch[5][j]
    return scratch[1][:size].copy(), members
