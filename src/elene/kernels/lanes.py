"""Ego-networks of 64 roots side by side: one cache line a node holds its distance to every root.

Where the ego-networks of neighbouring roots overlap, around hubs and in dense parts, one scan of an adjacency list
serves all of them, and comparing 64 distances takes a few vector instructions. A lane's code is
``k + 1 - distance``, 0 where the root is farther than k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.count import put
from elene.kernels.data import Progress
from elene.kernels.jit import inlined, kernel
from elene.kernels.node import MarginalScratch, fill_marginal, marginal_scratch
from elene.kernels.order import degree_of

ONE = np.uint32(1)
LANES = 64  # bytes in a line of the cache
MAX_DEPTH = 250


class LaneScratch(NamedTuple):
    """Codes, marks and queue of nodes; for each lane a histogram, of which some columns are met, and then listed."""

    codes: Any
    marks: Any
    queue: Any
    histogram: Any
    met: Any
    listed: Any


class GroupScratch(NamedTuple):
    """What :func:`fill_groups` works on: lanes, and what single roots take."""

    lanes: LaneScratch
    single: MarginalScratch
    waiting: Any  # how many groups to leave untried, how many the next time, how many columns wait for room


def lane_scratch(n: int, columns: int) -> LaneScratch:
    """Scratch for a graph of n nodes and rows of so many columns."""
    return LaneScratch(
        codes=np.zeros((n, LANES), np.uint8),
        marks=np.zeros(n, np.uint8),
        queue=np.empty(n + 1, np.uint32),
        histogram=np.zeros((columns, LANES), np.int32),
        met=np.zeros(-(-columns // 8) * 8, np.uint8),
        listed=np.zeros(columns + 1, np.int32),
    )


def group_scratch(n: int, k: int, state: Any, rho: int) -> GroupScratch:
    """Scratch for a graph of n nodes, depth k, states of a type and values up to rho."""
    return GroupScratch(
        lane_scratch(n, 3 * (k + 1) * (rho + 1)), marginal_scratch(n, k, state, rho), np.zeros(3, np.int64)
    )


@inlined
def push(x: Any, tail: int, marks: Any, queue: Any) -> int:
    """Put a node at the queue's end unless it is there; gives the new end."""
    queue[tail] = x
    tail += marks[x] == 0
    marks[x] = 1
    return tail


@inlined
def enter_roots(roots: Any, k: int, scratch: Any) -> Any:
    """Put the roots into the queue, each with the code of its own lane; gives the queue's end."""
    tail = np.int64(0)
    for r in range(roots.shape[0]):
        tail = push(roots[r], tail, scratch.marks, scratch.queue)
        scratch.codes[roots[r], r] = k + 1
    return tail


@kernel
def relax(graph: Any, u: Any, scratch: Any, tail: int) -> int:
    """Lead every lane of a node on to its neighbours, one code lower; gives the queue's end."""
    neighbours, codes, marks, queue = graph.neighbours, scratch.codes, scratch.marks, scratch.queue
    for e in range(graph.pointers[u], graph.pointers[u + ONE]):
        x = neighbours[e]
        tail = push(x, tail, marks, queue)
        for r in range(LANES):
            onward = np.uint8(max(codes[u, r], np.uint8(1)) - np.uint8(1))
            codes[x, r] = max(codes[x, r], onward)
    return tail


@inlined
def reach(graph: Any, k: int, tail: int, scratch: Any) -> int:
    """Set the codes of all other nodes, distance by distance; gives the queue's end."""
    codes, queue = scratch.codes, scratch.queue
    for distance in range(k):
        code = np.uint8(k + 1 - distance)
        for j in range(tail):
            u = queue[j]
            frontier = False
            for r in range(LANES):
                frontier |= codes[u, r] == code
            if frontier:
                tail = relax(graph, u, scratch, tail)
    return tail


@kernel
def worth_counting(graph: Any, tail: int, policy: Any, scratch: Any) -> bool:
    """Whether counting all lanes at once beats one root at a time."""
    pointers, codes, queue = graph.pointers, scratch.codes, scratch.queue
    together, apart = 0, 0
    for j in range(tail):
        w = queue[j]
        inner, reached = 0, 0
        for r in range(LANES):
            reached += codes[w, r] > 0
            inner += codes[w, r] > 1
        degree, above = degree_of(pointers, w), np.int64(pointers[w + ONE]) - np.int64(graph.split[w])
        together += policy.lane_node + policy.lane_arc * degree
        apart += policy.apart_scan * (inner * degree + (reached - inner) * above) + policy.apart_node * reached
    return together < apart


@kernel
def compare_codes(
    neighbours: Any, start: int, stop: int, codes: Any, above: Any, same: Any, closer: Any, level: Any
) -> None:
    """Count, for each lane, the neighbours one step closer to its root and those at the same distance."""
    for e in range(start, stop):
        x = neighbours[e]
        for r in range(LANES):
            closer[r] += np.uint8(codes[x, r] == above[r])
            level[r] += np.uint8(codes[x, r] == same[r])


class View(NamedTuple):
    """A node as all lanes see it: its code, that one step closer; closer and level neighbours, in bytes and in all."""

    same: Any
    above: Any
    few_closer: Any
    few_level: Any
    closer: Any
    level: Any


@inlined
def view_node(graph: Any, w: Any, codes: Any, view: Any) -> Any:
    """Look at a node from all lanes; gives its degree."""
    same, above, closer, level = view.same, view.above, view.closer, view.level
    few_closer, few_level = view.few_closer, view.few_level
    for r in range(LANES):
        same[r] = codes[w, r]
        above[r] = same[r] + np.uint8(1)
        closer[r] = 0
        level[r] = 0
    start, stop = np.int64(graph.pointers[w]), np.int64(graph.pointers[w + ONE])
    degree = stop - start
    while start < stop:  # as many neighbours at a time as eight bits can count
        pause = min(stop, start + 255)
        few_closer[:] = 0
        few_level[:] = 0
        compare_codes(graph.neighbours, start, pause, codes, above, same, few_closer, few_level)
        for r in range(LANES):
            closer[r] += few_closer[r]
            level[r] += few_level[r]
        start = pause
    return degree


@inlined
def count_in(column: int, lane: Any, scratch: Any) -> None:
    """Count one node in one lane's column."""
    scratch.histogram[np.uint64(column), lane] += 1
    scratch.met[np.uint64(column)] = 1


@inlined
def count_apart(setting: Any, degree: int, view: Any, lanes: Any, scratch: Any) -> None:
    """Add one node to the histograms of some lanes that reach it, in fewer than k steps or in k."""
    same, closer, level = view.same, view.closer, view.level
    rho, width = setting.rho, setting.rho + 1
    for lane in lanes:
        near = np.int64(closer[lane])
        inside = near + np.int64(level[lane])
        distance = setting.k + 1 - np.int64(same[lane])
        seen = inside if same[lane] == 1 else degree
        if setting.absolute:
            count_in(distance * width + min(seen, rho), lane, scratch)
        else:
            count_in(3 * distance * width + min(near, rho), lane, scratch)
            count_in((3 * distance + 1) * width + min(seen, rho), lane, scratch)
            if same[lane] > 1:
                count_in((3 * distance + 2) * width + min(degree - inside, rho), lane, scratch)


@inlined
def count_for(column: int, alike: Any, scratch: Any) -> None:
    """Count one node in a column for all lanes, once or as often as each lane says."""
    for r in range(LANES):
        scratch.histogram[column, r] += alike[r]
    scratch.met[column] = 1


@inlined
def count_alike(setting: Any, degree: int, code: Any, near: Any, level: Any, alike: Any, scratch: Any) -> None:
    """Add one node to the histograms of all lanes that see it alike: most do where a hub leads to it."""
    rho, width, inside, distance = setting.rho, setting.rho + 1, near + level, setting.k + 1 - code
    seen = inside if code == 1 else degree
    if setting.absolute:
        count_for(distance * width + min(seen, rho), alike, scratch)
    else:
        count_for(3 * distance * width + min(near, rho), alike, scratch)
        count_for((3 * distance + 1) * width + min(seen, rho), alike, scratch)
        if code > 1:
            count_for((3 * distance + 2) * width + min(degree - inside, rho), alike, scratch)


@kernel
def count_lanes(graph: Any, tail: int, lanes: int, setting: Any, policy: Any, scratch: Any) -> None:
    """Count every explored node for all lanes that reach it: for those that see it alike, and then for the others."""
    codes, queue = scratch.codes, scratch.queue
    small = np.empty((4, LANES), np.uint8)
    counts, boundary = np.empty((3, LANES), np.int32), np.zeros(LANES, np.int32)
    view = View(small[0], small[1], small[2], small[3], counts[0], counts[1])
    same, closer, level, alike = view.same, view.closer, view.level, counts[2]
    rest, guide = np.empty(LANES + 1, np.uint64), lanes // 2
    for j in range(tail):
        degree = view_node(graph, queue[j], codes, view)
        code, near, beside = same[guide], closer[guide], level[guide]
        many = 0
        for r in range(LANES):
            boundary[r] += same[r] == 1
            alike[r] = (same[r] == code) & (closer[r] == near) & (level[r] == beside)
            many += alike[r]
        if code > 0 and many >= policy.alike:
            count_alike(setting, degree, np.int64(code), np.int64(near), np.int64(beside), alike, scratch)
            for r in range(LANES):
                same[r] = 0 if alike[r] else same[r]
        left = 0
        for r in range(LANES):
            rest[left] = r
            left += same[r] > 0
        count_apart(setting, degree, view, rest[:left], scratch)
    if not setting.absolute:  # nodes at distance k have no neighbour farther away
        count_for((3 * setting.k + 2) * (setting.rho + 1), boundary, scratch)


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
                used += np.int64(met[column])
            eights[i] = 0
    return used


@kernel
def explore_lanes(graph: Any, roots: Any, setting: Any, policy: Any, scratch: Any) -> int:
    """Count the ego-networks of up to 64 roots into the lanes' histograms; gives how many columns are listed, sorted.

    0 means that the ego-networks share too little for it, and nothing was counted.
    """
    codes, marks, queue = scratch.codes, scratch.marks, scratch.queue
    tail = reach(graph, setting.k, enter_roots(roots, setting.k, scratch), scratch)
    shared = worth_counting(graph, tail, policy, scratch)
    if shared:
        count_lanes(graph, tail, roots.shape[0], setting, policy, scratch)
    for j in range(tail):
        marks[queue[j]] = 0
        codes[queue[j]] = 0
    return list_columns(scratch.met, scratch.listed) if shared else 0


@kernel
def flush_lanes(columns: int, scratch: Any, ends: Any, entries: Any, used: int) -> int:
    """Append each lane's nonzero counts in the listed columns, which ascend, as a row, and clear them."""
    histogram, listed = scratch.histogram, scratch.listed
    for lane in range(ends.shape[0]):
        for i in range(columns):
            column = listed[i]
            count = histogram[column, lane]
            used = put(column, count, count != 0, entries, used)
            histogram[column, lane] = 0
        ends[lane] = used
    return used


@kernel
def fill_groups(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any, policy: Any) -> Any:
    """Marginal rows of roots, in groups of 64 side by side where their ego-networks overlap enough, else one by one.

    Where lanes do not pay, they seldom do a little further on: they are tried again after ever longer pauses.
    """
    lanes, waiting = scratch.lanes, scratch.waiting
    pause, patience, columns = waiting[0], waiting[1], waiting[2]
    while progress.done < roots.shape[0]:
        stop = min(progress.done + LANES, roots.shape[0])
        if pause:
            pause -= 1
        elif columns == 0:
            columns = explore_lanes(graph, roots[progress.done : stop], setting, policy, lanes)
            patience = 0 if columns else min(2 * patience + 1, 63)
            pause = patience
        wanted = (stop - progress.done) * columns + 1
        if columns and progress.used + wanted <= out.entries.shape[0]:
            used = flush_lanes(columns, lanes, out.ends[progress.done : stop], out.entries, progress.used)
            progress = Progress(stop, used, progress.known, np.int64(0))
            columns = 0
        elif columns:
            progress = Progress(progress.done, progress.used, progress.known, wanted)
        else:
            progress = fill_marginal(graph, roots[:stop], setting, scratch.single, out, progress)
        if progress.done < stop:
            break
    waiting[0], waiting[1], waiting[2] = pause, patience, columns
    return progress
