"""The encoding kernels with counting removed: the same scans and decisions, nothing tallied and nothing put out."""

from __future__ import annotations

import numpy as np

from elene.counting import count_bits, kernel_graph, plan_nodes, plan_pairs
from elene.kernels.jit import kernel
from elene.kernels.lanes import LANES, first_steps, lane_scratch, reach, worth_counting
from elene.kernels.pair import enter, leave, pair_scratch
from elene.parallel import run_ranges

ONE = np.uint32(1)
ZERO = np.uint32(0)


@kernel
def scan_ego(indptr, ranked, split, root, k, shift, state, queue):
    queue[0] = root
    state[root] = np.uint32(k + 1) << shift
    head, tail = 0, 1
    for distance in range(k):
        following = np.uint32(k - distance) << shift
        end = tail
        for j in range(head, tail):
            u = queue[j]
            for e in range(indptr[u], indptr[u + ONE]):
                x = ranked[e]
                seen = state[x]
                new = seen == ZERO
                queue[end] = x
                end += new
                state[x] = following if new else seen
        head, tail = tail, end
    first, hits = np.uint32(ONE << shift), 0
    for j in range(head, tail):
        w = queue[j]
        for e in range(split[w], indptr[w + ONE]):
            hits += np.uint32(state[ranked[e]] - first) < first
    for j in range(tail):
        state[queue[j]] = ZERO
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
def scan_nodes(graph, roots, k, shift, scratch):
    indptr, ranked, split = graph
    state, queue, together, line = scratch
    codes, marks, touched = together[0], together[1], together[2]
    hits = 0
    for start in range(0, roots.shape[0], LANES):
        group = roots[start : start + LANES]
        shared, tail = False, 0
        if k >= 2:
            tail, shared = first_steps(indptr, ranked, group, k, together)
            if shared:
                tail = reach(indptr, ranked, k, tail, together)
                shared = worth_counting(indptr, split, tail, codes, touched)
            if shared:
                touch_lanes(indptr, ranked, tail, codes, touched, line)
            for j in range(tail):
                marks[touched[j]] = 0
                codes[touched[j]] = 0
        if not shared:
            for root in group:
                hits += scan_ego(indptr, ranked, split, root, k, shift, state, queue)
    return hits + line[0]


@kernel
def scan_edges(graph, us, vs, scratches):
    indptr, ranked, split = graph
    scratch, common = scratches
    around, place = scratch[0], scratch[4]
    hits, entered = 0, 0
    for i in range(us.shape[0]):
        entered = enter(graph, i, us, 1, entered, scratch)
        size = 0
        for e in range(indptr[vs[i]], indptr[vs[i] + ONE]):
            x = ranked[e]
            common[size] = x
            size += around[x] == 2
        for j in range(size):
            place[common[j]] = 1
        for j in range(size):
            w = common[j]
            for e in range(split[w], indptr[w + ONE]):
                hits += place[ranked[e]]
        for j in range(size):
            place[common[j]] = 0
    leave(entered, scratch)
    return hits


def node_limit(graph, k):
    """Scan what encoding all nodes at depth k scans."""
    plan, shift, arrays = plan_nodes(graph, np.arange(graph.num_nodes), k), count_bits(graph, k), kernel_graph(graph)
    n = graph.num_nodes

    def scratch():
        lanes = lane_scratch(n if k >= 2 else 0, 0, 0)
        return np.zeros(n, np.uint32), np.empty(n + 1, np.uint32), lanes, np.zeros(LANES, np.uint8)

    return list(run_ranges(lambda a, b, s: scan_nodes(arrays, plan.first[a:b], k, shift, s), scratch, plan.work, None))


def edge_limit(graph, rows):
    """Scan what encoding edges at k = 1 scans."""
    plan, arrays = plan_pairs(graph, rows, 1), kernel_graph(graph)

    def scratch():
        return pair_scratch(graph.num_nodes), np.empty(graph.num_nodes + 1, np.uint32)

    return list(run_ranges(lambda a, b, s: scan_edges(arrays, plan.first[a:b], plan.second[a:b], s), scratch, plan.work, None))
