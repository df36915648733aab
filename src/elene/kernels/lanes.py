"""Ego-networks of 64 roots side by side: one cache line a node holds its distance to every root.

Where the ego-networks of neighbouring roots overlap, around hubs and in dense parts, one scan of an adjacency list
serves all of them, and comparing 64 distances takes a few vector instructions. A lane's code is
``k + 1 - distance``, 0 where the root is farther than k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.count import layout_of, put
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
    """A node as every lane sees it: its code and neighbours, counted in bytes and in all; and which lanes see it how.

    ``above`` is the code one step closer to the root, ``alike`` who sees what the guide does, ``rest`` a list of lanes.
    """

    code: Any
    above: Any
    few_closer: Any
    few_level: Any
    closer: Any
    level: Any
    alike: Any
    rest: Any


@inlined
def make_view() -> View:
    """Room for a view; counting takes a tenth longer where it is scratch that comes from outside."""
    few, many = np.empty((4, LANES), np.uint8), np.empty((3, LANES), np.int32)
    return View(few[0], few[1], few[2], few[3], many[0], many[1], many[2], np.empty(LANES + 1, np.uint64))


@inlined
def view_node(graph: Any, w: Any, codes: Any, view: Any) -> Any:
    """Look at a node from all lanes; gives its degree."""
    code, above, closer, level = view.code, view.above, view.closer, view.level
    few_closer, few_level = view.few_closer, view.few_level
    for r in range(LANES):
        code[r] = codes[w, r]
        above[r] = code[r] + np.uint8(1)
        closer[r] = 0
        level[r] = 0
    start, stop = np.int64(graph.pointers[w]), np.int64(graph.pointers[w + ONE])
    degree = stop - start
    while start < stop:  # as many neighbours at a time as eight bits can count
        pause = min(stop, start + 255)
        few_closer[:] = 0
        few_level[:] = 0
        compare_codes(graph.neighbours, start, pause, codes, above, code, few_closer, few_level)
        for r in range(LANES):
            closer[r] += few_closer[r]
            level[r] += few_level[r]
        start = pause
    return degree


@inlined
def find_alike(guide: int, view: Any) -> int:
    """Find the lanes that see a node as the guide does, if that reaches it; gives how many there are."""
    code, closer, level, alike = view.code, view.closer, view.level, view.alike
    the_code, the_closer, the_level = code[guide], closer[guide], level[guide]
    many = 0
    for r in range(LANES):
        alike[r] = (code[r] == the_code) & (closer[r] == the_closer) & (level[r] == the_level)
        many += alike[r]
    return many if the_code > 0 else 0


class Columns(NamedTuple):
    """Where a node counts in a row; at distance k, there is no farther."""

    closer: Any
    degree: Any
    farther: Any


@inlined
def columns_of(lane: Any, degree: int, setting: Any, layout: Any, view: Any) -> Columns:
    """Where a node of this degree counts for a lane that reaches it; at distance k, some neighbours are outside."""
    code, closer, rho = np.int64(view.code[lane]), np.int64(view.closer[lane]), setting.rho
    inside = closer + np.int64(view.level[lane])
    first = (setting.k + 1 - code) * layout.step
    return Columns(
        first + min(closer, rho),
        first + layout.degree + min(inside if code == 1 else degree, rho),
        first + layout.farther + min(degree - inside, rho),
    )


@inlined
def count_all(column: int, times: Any, scratch: Any) -> None:
    """Count in a column of all lanes, as often as each says."""
    for r in range(LANES):
        scratch.histogram[column, r] += times[r]
    scratch.met[column] = 1


@inlined
def count_alike(guide: int, degree: int, setting: Any, layout: Any, view: Any, scratch: Any) -> None:
    """Count a node for all lanes that see it as the guide does, and take it out of their reach."""
    code, alike = view.code, view.alike
    columns = columns_of(guide, degree, setting, layout, view)
    count_all(columns.degree, alike, scratch)
    if layout.kept:
        count_all(columns.closer, alike, scratch)
        if code[guide] > 1:
            count_all(columns.farther, alike, scratch)
    for r in range(LANES):
        code[r] = 0 if alike[r] else code[r]


@inlined
def count_one(column: int, lane: Any, scratch: Any) -> None:
    """Count once in a column of one lane."""
    scratch.histogram[np.uint64(column), lane] += 1
    scratch.met[np.uint64(column)] = 1


@inlined
def count_apart(degree: int, setting: Any, layout: Any, view: Any, scratch: Any) -> None:
    """Count a node for all lanes that reach it, one by one."""
    code, rest = view.code, view.rest
    left = 0
    for r in range(LANES):
        rest[left] = r
        left += code[r] > 0
    for i in range(left):
        lane = rest[i]
        columns = columns_of(lane, degree, setting, layout, view)
        count_one(columns.degree, lane, scratch)
        if layout.kept:
            count_one(columns.closer, lane, scratch)
            if code[lane] > 1:
                count_one(columns.farther, lane, scratch)


@kernel
def count_lanes(graph: Any, tail: int, lanes: int, setting: Any, policy: Any, scratch: Any) -> None:
    """Count every explored node for all lanes that reach it: at once for those that see it alike, and then one by one.

    A lane in the middle is the guide to what many see: most do where a hub leads to the node. At distance k nobody has
    neighbours farther away: how many nodes are there is counted for all of them at the end.
    """
    view, boundary, layout, guide = make_view(), np.zeros(LANES, np.int32), layout_of(setting), lanes // 2
    for j in range(tail):
        degree = view_node(graph, scratch.queue[j], scratch.codes, view)
        for r in range(LANES):
            boundary[r] += view.code[r] == 1
        if find_alike(guide, view) >= policy.alike:
            count_alike(guide, degree, setting, layout, view, scratch)
        count_apart(degree, setting, layout, view, scratch)
    if layout.kept:
        count_all(setting.k * layout.step + layout.farther, boundary, scratch)


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
