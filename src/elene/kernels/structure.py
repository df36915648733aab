"""The lists ELENE-L sums over: the quadruplets of edges around roots, and lists grouped and numbered anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.count import find_or_add, is_full, put
from elene.kernels.data import Progress
from elene.kernels.jit import kernel
from elene.kernels.node import pack_member, read_ego

ONE = np.uint32(1)
# The steps and factors of a hash: odd, without a pattern.
STEP = np.uint64(0x9E3779B97F4A7C15)
FACTOR = np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)


@kernel
def fill_rooted(graph: Any, roots: Any, setting: Any, scratch: Any, out: Any, progress: Any, triples: Any) -> Any:
    """For every edge around a root, the number of its ends' unordered quadruplets in the root's ego-network.

    ``triples`` says where each node's edges begin, which they are, and the two ends of every edge.
    """
    pointers, edges, ends = triples
    used, known, queue, key_of = progress.used, progress.known, scratch.ego.queue, scratch.numbers
    for i in range(progress.done, roots.shape[0]):
        first, last = pointers[roots[i]], pointers[roots[i] + ONE]
        count = last - first
        if is_full(out, used, known, count):
            return Progress(i, used, known, count)
        size = read_ego(graph, roots[i], setting, scratch) if count else 0
        for j in range(size):
            key_of[queue[j]] = pack_member(j, setting, scratch)
        for e in range(first, last):
            u, v = key_of[ends[edges[e], 0]], key_of[ends[edges[e], 1]]
            number = find_or_add(min(u, v), max(u, v), out.table, out.keys, known)
            used = put(number, 0, 1, out.entries, used)
            known = max(known, number + 1)
        out.ends[i] = used
    return Progress(roots.shape[0], used, known, 0)


@kernel
def transpose(sizes: Any, columns: Any, num_columns: int) -> Any:
    """A list grouped by row, grouped by column instead: (pointers, rows, where each entry stood)."""
    pointers = np.zeros(num_columns + 1, np.int64)
    for column in columns:
        pointers[column + 1] += 1
    for i in range(num_columns):
        pointers[i + 1] += pointers[i]
    fill = pointers[:-1].copy()
    rows, came_from = np.empty(columns.shape[0], np.int32), np.empty(columns.shape[0], np.int64)
    e = 0
    for row in range(sizes.shape[0]):
        for _ in range(sizes[row]):
            place = fill[columns[e]]
            rows[place] = row
            came_from[place] = e
            fill[columns[e]] += 1
            e += 1
    return pointers, rows, came_from


@kernel
def stamps(arcs: Any, nodes: Any, counts: Any, ordered: bool) -> Any:
    """A hash of each graph's arcs, wherever its nodes begin; of their set or, if ordered, of their list.

    ``nodes`` and ``counts`` are the nodes and arcs of each graph.
    """
    found = np.empty(nodes.shape[0], np.int64)
    step = STEP if ordered else np.uint64(0)
    first, start = np.uint64(0), 0
    for graph in range(nodes.shape[0]):
        stop = start + counts[graph]
        sources, targets = arcs[0, start:stop], arcs[1, start:stop]
        total = np.uint64(0)
        for i in range(sources.shape[0]):
            source, target = np.uint64(sources[i]) - first, np.uint64(targets[i]) - first
            code = ((source << HALF | target) + np.uint64(i) * step) * FACTOR
            code ^= code >> HALF
            total += code * code  # squared, for sums of what is linear in the ends are often equal
        found[graph] = np.int64(total)
        first += np.uint64(nodes[graph])
        start = stop
    return found


@kernel
def renumber(codes: Any, sizes: Any, columns: Any, shape: Any, number: Any) -> Any:
    """Each graph's own codes as numbers for all graphs, and the first graph whose entries do not fit it, or -1.

    ``shape`` has the nodes, columns and rows of each graph; there are as many nodes as sizes, and rows as numbers.
    """
    renumbered = np.empty(codes.shape[0], np.int32)
    node, start, first, first_column = 0, 0, 0, 0
    for graph in range(shape.shape[0]):
        stop = start
        for size in sizes[node : node + shape[graph, 0]]:
            if size < 0:
                return renumbered, graph
            stop += size
        if stop > codes.shape[0] or stop > columns.shape[0]:
            return renumbered, graph
        rows, num_columns, outside = shape[graph, 2], shape[graph, 1], False
        for column in columns[start:stop]:
            outside |= (column < first_column) | (column >= first_column + num_columns)
        if outside:
            return renumbered, graph
        for e in range(start, stop):
            if codes[e] < 0 or codes[e] >= rows:
                return renumbered, graph
            renumbered[e] = number[first + codes[e]]
        node += shape[graph, 0]
        first += rows
        first_column += num_columns
        start = stop
    whole = start == codes.shape[0] == columns.shape[0]
    return renumbered, -1 if whole else shape.shape[0] - 1


@kernel
def localise(codes: Any, counts: Any, num_codes: int) -> Any:
    """Codes numbered anew within each graph, by first appearance: (codes, the old codes of all graphs, how many each).

    ``counts`` is the number of codes of each graph.
    """
    known, stamp = np.empty(num_codes, np.int32), np.full(num_codes, -1, np.int64)
    local, picked = np.empty(codes.shape[0], np.int32), np.empty(codes.shape[0], np.int64)
    sizes, e, used = np.zeros(counts.shape[0], np.int64), 0, 0
    for graph in range(counts.shape[0]):
        for _ in range(counts[graph]):
            code = codes[e]
            if stamp[code] != graph:
                stamp[code] = graph
                known[code] = sizes[graph]
                picked[used] = code
                used += 1
                sizes[graph] += 1
            local[e] = known[code]
            e += 1
    return local, picked[:used], sizes
