"""The encoding kernels with counting removed: the same scans and decisions, nothing tallied and nothing put out."""

from __future__ import annotations

from functools import partial

import numpy as np

from elene.engine.counting import Job, plan_nodes, plan_pairs, state_bits
from elene.kernels.connect import EIGHT, LISTS, SHORT, connect_scratch, copy_eight
from elene.kernels.jit import inlined, kernel
from elene.kernels.lanes import LANES, first_steps, lane_scratch, reach, worth_counting
from elene.kernels.triangle import MEMBER, triangle_scratch

ONE = np.uint32(1)


@inlined
def scan_lists(graph, nodes, start, stop, state, lists):
    indptr, ranked, split = graph
    entries = lists[0]
    flag = state.dtype.type(8 * state.itemsize - 1)
    hits = 0
    while start < stop:
        pause, end = min(start + np.uint64(LISTS), stop), np.uint64(0)
        for j in range(start, pause):
            first, last = np.uint64(split[nodes[j]]), np.uint64(indptr[nodes[j] + ONE])
            if last - first > SHORT:
                for e in range(first, last):
                    hits += state[ranked[e]] >> flag
            else:
                copy_eight(ranked, first, entries, end)
                copy_eight(ranked, first + EIGHT, entries, end + EIGHT)
                end += last - first
        for i in range(end):
            hits += state[entries[i]] >> flag
        start = pause
    return hits


@kernel
def scan_ego(graph, root, k, state, queue, lists):
    indptr, ranked, _ = graph
    empty, unit = state.dtype.type(0), state.dtype.type(1)
    queue[0] = root
    state[root] = unit
    head, tail = 0, 1
    for distance in range(k):
        following = unit << state.dtype.type(8 * state.itemsize - 1) if distance + 1 == k else unit
        end = tail
        for j in range(head, tail):
            u = queue[j]
            for e in range(indptr[u], indptr[u + ONE]):
                x = ranked[e]
                seen = state[x]
                new = seen == empty
                queue[end] = x
                end += new
                state[x] = following if new else seen
        head, tail = tail, end
    hits = scan_lists(graph, queue, np.uint64(head), np.uint64(tail), state, lists)
    for j in range(tail):
        state[queue[j]] = empty
    return hits


@kernel
def touch_lanes(indptr, ranked, tail, codes, queue, line):
    for j in range(tail):
        w = queue[j]
        for e in range(indptr[w], indptr[w + ONE]):
            x = ranked[e]
            for r in range(LANES):
                line[r] = max(line[r], codes[x, r])


@kernel
def scan_nodes(graph, roots, k, scratch):
    indptr, ranked, split = graph
    state, queue, together, line, lists = scratch
    codes, marks, touched = together[0], together[1], together[2]
    hits, pause, patience = 0, 0, 0
    for start in range(0, roots.shape[0], LANES):
        group = roots[start : start + LANES]
        shared, tail = False, 0
        if pause:
            pause -= 1
        elif codes.shape[0]:
            tail, shared = first_steps(indptr, ranked, group, k, together)
            if shared:
                tail = reach(indptr, ranked, k, tail, together)
                shared = worth_counting(indptr, split, tail, codes, touched)
            if shared:
                touch_lanes(indptr, ranked, tail, codes, touched, line)
            for j in range(tail):
                marks[touched[j]] = 0
                codes[touched[j]] = 0
            patience = 0 if shared else min(2 * patience + 1, 63)
            pause = patience
        if not shared:
            for root in group:
                hits += scan_ego(graph, root, k, state, queue, lists)
    return hits + line[0]


@kernel
def scan_neighbours(graph, roots, scratch):
    indptr, ranked, _ = graph
    state, lists = scratch[1], scratch[4]
    hits = 0
    for root in roots:
        start, stop = np.uint64(indptr[root]), np.uint64(indptr[root + ONE])
        for e in range(start, stop):
            state[ranked[e]] = MEMBER
        hits += scan_lists(graph, ranked, start, stop, state, lists)
        for e in range(start, stop):
            state[ranked[e]] = 0
    return hits


@inlined
def scan_members(graph, size, members, place):
    indptr, ranked, split = graph
    hits = 0
    for i in range(size):
        place[members[i]] = 1
    for i in range(size):
        w = members[i]
        for e in range(split[w], indptr[w + ONE]):
            hits += place[ranked[e]]
    for i in range(size):
        place[members[i]] = 0
    return hits


@kernel
def scan_edges(graph, us, vs, scratch):
    indptr, ranked, _ = graph
    members, place, marks = scratch[0], scratch[1], scratch[3]
    hits = 0
    for i in range(us.shape[0]):
        if i == 0 or us[i] != us[i - 1]:
            for e in range(indptr[us[i]], indptr[us[i] + ONE]):
                marks[ranked[e]] = 1
        size = 0
        for e in range(indptr[vs[i]], indptr[vs[i] + ONE]):
            members[size] = ranked[e]
            size += marks[ranked[e]]
        hits += scan_members(graph, size, members, place)
        if i + 1 == us.shape[0] or us[i + 1] != us[i]:
            for e in range(indptr[us[i]], indptr[us[i] + ONE]):
                marks[ranked[e]] = 0
    return hits


def node_limit(graph, k):
    """Scan what encoding all nodes at depth k scans."""
    n, plan = graph.num_nodes, plan_nodes(graph, np.arange(graph.num_nodes), k)
    if k == 1:
        return list(Job(plan, scan_neighbours, (), partial(triangle_scratch, n, 0)).run(None))

    state = state_bits(graph).dtype

    def scratch():
        return (
            np.zeros(n, state),
            np.empty(n + 1, np.uint32),
            lane_scratch(n if plan.together else 0, 0),
            np.zeros(LANES, np.uint8),
            connect_scratch(),
        )

    return list(Job(plan, scan_nodes, (k,), scratch).run(None))


def edge_limit(graph, rows):
    """Scan what encoding edges at k = 1 scans."""
    plan = plan_pairs(graph, rows, 1)
    return list(Job(plan, scan_edges, (), partial(triangle_scratch, graph.num_nodes, 0)).run(None))
