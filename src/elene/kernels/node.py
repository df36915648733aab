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
    quadruplet_keys,
    reserve,
    room_for,
    tally,
)
from elene.kernels.jit import inlined, kernel
from elene.kernels.lanes import LANES, explore_lanes, flush_lane, lane_scratch

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


def marginal_scratch(n: int, k: int, state: Any, rho: int, absolute: bool, lanes: bool) -> Any:
    """What :func:`marginal_rows` works on: for one root, its histogram and the largest values, and for lanes."""
    segments = (1 if absolute else 3) * (k + 1)
    columns = segments * (rho + 1)
    together = lane_scratch(n if lanes else 0, columns if lanes else 0)
    return node_scratch(n, k, state), np.zeros(columns, np.int32), np.full(segments, -1, np.int64), together


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
    in the state, which is clean otherwise: :func:`spell_out` or :func:`tally_ego` must follow.

    A state is, from the highest bit on: whether the node is at distance k, its visits, and its neighbours at distance k
    if it is there, too. A node's visits are its closer neighbours before its own level is expanded, and all but the
    farther ones after that; those from farther on are never looked at.
    """
    state, queue, ends, closer, degree, farther, lists = scratch
    empty, unit = state.dtype.type(0), state.dtype.type(1)
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
    for j in range(head):
        state[queue[j]] = empty
    return tail


@inlined
def tally_alike(value: int, many: int, rho: int, histogram: Any, base: int) -> int:
    """Count one value many times."""
    clipped = min(value, rho)
    histogram[base + clipped] += many
    return clipped


@inlined
def tally_boundary(k: int, absolute: bool, rho: int, shift: Any, scratch: Any, histogram: Any, tops: Any) -> None:
    """Add the nodes at distance k, whose counts are in the state, to the marginal histogram, and clear the state."""
    state, queue, ends, _, _, _, _ = scratch
    start, stop = ends[k - 1] if k else 0, ends[k]
    empty, mask = state.dtype.type(0), (state.dtype.type(1) << shift) - state.dtype.type(1)
    s, width = (1 if absolute else 3) * k, rho + 1
    closer_base, degree_base = s * width, (s if absolute else s + 1) * width
    most_closer, most = 0, 0
    for j in range(start, stop):
        seen = state[queue[j]]
        state[queue[j]] = empty
        closer = np.int64((seen >> shift) & mask)
        degree = min(closer + np.int64(seen & mask), rho)
        closer = min(closer, rho)
        if not absolute:
            histogram[closer_base + closer] += 1
        histogram[degree_base + degree] += 1
        most_closer, most = max(most_closer, closer), max(most, degree)
    if start < stop:
        if absolute:
            tops[s] = most
        else:
            tops[s], tops[s + 1] = most_closer, most
            tops[s + 2] = tally_alike(0, stop - start, rho, histogram, (s + 2) * width)


@inlined
def tally_ego(k: int, absolute: bool, rho: int, shift: Any, scratch: Any, histogram: Any, tops: Any) -> None:
    """Add an explored ego-network to the marginal histogram; nodes next to the root have one closer neighbour."""
    _, _, ends, closer, degree, farther, _ = scratch
    start, s = 0, 0
    for distance in range(k):
        stop = ends[distance]
        if not absolute:
            if distance < 2:
                tops[s] = tally_alike(distance, stop - start, rho, histogram, s * (rho + 1))
            else:
                tops[s] = tally(closer, start, stop, rho, histogram, s * (rho + 1))
            tops[s + 2] = tally(farther, start, stop, rho, histogram, (s + 2) * (rho + 1))
            s += 1
        tops[s] = tally(degree, start, stop, rho, histogram, s * (rho + 1))
        s += 1 if absolute else 2
        start = stop
    tally_boundary(k, absolute, rho, shift, scratch, histogram, tops)


@kernel
def marginal_rows(graph: Any, roots: Any, k: int, shift: Any, rho: int, absolute: bool, scratches: Any) -> Any:
    """Marginal rows of the given roots: (row ends, columns, counts).

    With scratch for lanes, groups of 64 roots whose first steps overlap enough are explored together.
    """
    indptr, ranked, split = graph
    scratch, histogram, tops, together = scratches
    lanes = together[0].shape[0] > 0
    row_ends = np.empty(roots.shape[0], np.int64)
    room = ROOM_A_ROW * roots.shape[0] + 64
    columns, counts = np.empty(room, np.int32), np.empty(room, np.int32)
    used, pause, patience = 0, 0, 0
    for start in range(0, roots.shape[0], LANES):
        stop = min(start + LANES, roots.shape[0])
        listed = 0
        if lanes and pause == 0:
            listed = explore_lanes(graph, roots[start:stop], k, rho, absolute, together)
            # Where lanes do not pay, they seldom do a little further on: try again after ever longer pauses.
            patience = 0 if listed else min(2 * patience + 1, 63)
            pause = patience
        elif pause:
            pause -= 1
        for i in range(start, stop):
            if listed:
                columns, counts = reserve(columns, used, listed + 1), reserve(counts, used, listed + 1)
                used = flush_lane(i - start, together[5][:listed], together, columns, counts, used)
            else:
                explore(indptr, ranked, split, roots[i], k, shift, scratch)
                tally_ego(k, absolute, rho, shift, scratch, histogram, tops)
                more = room_for(tops)
                if used + more > columns.shape[0]:
                    columns, counts = reserve(columns, used, more), reserve(counts, used, more)
                used = flush(histogram, tops, rho + 1, columns, counts, used)
                tops[:] = -1
            row_ends[i] = used
    return row_ends, columns[:used], counts[:used]


@inlined
def spell_out(size: int, k: int, shift: Any, scratch: Any, distance: Any) -> None:
    """Write down what :func:`explore` leaves: each node's distance, and the counts of those at distance k."""
    state, queue, ends, closer, degree, farther, _ = scratch
    start = 0
    for level in range(k + 1):
        for j in range(start, ends[level]):
            distance[j] = level
        start = ends[level]
    empty, mask = state.dtype.type(0), (state.dtype.type(1) << shift) - state.dtype.type(1)
    for j in range(ends[k - 1] if k else 0, size):
        seen = state[queue[j]]
        closer[j] = (seen >> shift) & mask
        degree[j] = (seen & mask) + ((seen >> shift) & mask)
        farther[j] = ZERO
        state[queue[j]] = empty


@kernel
def node_joint_rows(graph: Any, roots: Any, k: int, shift: Any, rho: int, absolute: bool, scratches: Any) -> Any:
    """Joint rows: (row ends, numbers, counts, keys); number i stands for the quadruplet ``keys[i, 0]``."""
    indptr, ranked, split = graph
    scratch, distance, nothing, first, numbers = scratches
    table, keys, known = np.zeros(64, np.int32), np.empty((32, 2), np.int64), 0
    totals = np.zeros(32, np.int32)
    row_ends = np.empty(roots.shape[0], np.int64)
    columns, counts = np.empty(1024, np.int32), np.empty(1024, np.int32)
    used = 0
    for i in range(roots.shape[0]):
        size = explore(indptr, ranked, split, roots[i], k, shift, scratch)
        spell_out(size, k, shift, scratch, distance)
        quadruplet_keys(size, scratch[4], (distance, scratch[3], scratch[5]), rho, absolute, first)
        table, keys, known = count_keys(first, nothing, size, table, keys, known, numbers)
        if totals.shape[0] < keys.shape[0]:
            totals = np.zeros(keys.shape[0], np.int32)
        columns, counts = reserve(columns, used, size + 1), reserve(counts, used, size + 1)
        used = flush_numbers(numbers, size, totals, columns, counts, used)
        row_ends[i] = used
    return row_ends, columns[:used], counts[:used], keys[:known]


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
