"""The lists ELENE-L sums over: the (root, node) pairs of ego-networks, and (root, edge) triples with quadruplets."""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.count import find_or_add, rehash, reserve
from elene.kernels.jit import inlined, kernel
from elene.kernels.node import explore, spell_out
from elene.kernels.pair import enter, intersect, leave

# The steps and factors of a hash: odd, without a pattern.
STEP = np.uint64(0x9E3779B97F4A7C15)
FACTOR = np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)
RECENT = 1024  # keys whose numbers are remembered outside the book: most quadruplets were met a moment ago


@inlined
def number_of(key: Any, other: Any, book: Any) -> Any:
    """The number of a key pair in a book (table, keys, used), which grows as needed; gives (number, book)."""
    table, keys, used = book
    if 2 * (used + 1) > table.shape[0]:
        table = rehash(keys, used, 2 * table.shape[0])
        larger = np.empty((table.shape[0] // 2, 2), np.int64)
        larger[:used] = keys[:used]
        keys = larger
    number = find_or_add(key, other, table, keys, used)
    return number, (table, keys, max(used, number + 1))


@inlined
def pack(distance: Any, closer: Any, degree: Any, farther: Any, rho: int) -> Any:
    """A quadruplet, clipped to rho, as one integer."""
    base = np.int64(rho + 1)
    key = np.int64(distance) * base + min(np.int64(closer), rho)
    return (key * base + min(np.int64(degree), rho)) * base + min(np.int64(farther), rho)


@kernel
def ego_pairs(graph: Any, start: int, stop: int, k: int, shift: Any, rho: int, scratches: Any) -> Any:
    """For a range of roots: ego-networks' sizes, nodes and numbers of their quadruplets; and the quadruplets' keys."""
    indptr, ranked, split = graph
    scratch, distance, _, _, _ = scratches
    sizes, used = np.empty(stop - start, np.int32), 0
    room = 16 * (stop - start) + 64
    nodes, numbers = np.empty(room, np.int32), np.empty(room, np.int32)
    book = (np.zeros(64, np.int32), np.empty((32, 2), np.int64), 0)
    recent_keys, recent_numbers = np.full(RECENT, -1, np.int64), np.empty(RECENT, np.int32)
    for root in range(start, stop):
        size = explore(indptr, ranked, split, np.uint32(root), k, shift, scratch)
        spell_out(size, k, shift, scratch, distance)
        if used + size > nodes.shape[0]:
            nodes, numbers = reserve(nodes, used, size), reserve(numbers, used, size)
        for j in range(size):
            key = pack(distance[j], scratch[3][j], scratch[4][j], scratch[5][j], rho)
            nodes[used + j] = scratch[1][j]
            slot = key & (RECENT - 1)
            if recent_keys[slot] != key:
                recent_keys[slot] = key
                recent_numbers[slot], book = number_of(key, 0, book)
            numbers[used + j] = recent_numbers[slot]
        used += size
        sizes[root - start] = size
    return sizes, nodes[:used], numbers[:used], book[1][: book[2]]


@kernel
def edge_members(graph: Any, us: Any, vs: Any, k: int, rho: int, scratches: Any) -> Any:
    """For every edge: its intersection's size and nodes, the numbers of their two quadruplets in it, and the keys."""
    scratch, readings, _, _, _ = scratches
    members, degree, (l_u, closer_u, farther_u), (l_v, closer_v, farther_v) = readings
    sizes, used, entered = np.empty(us.shape[0], np.int64), 0, 0
    nodes, numbers = np.empty(1024, np.int32), np.empty(1024, np.int32)
    book = (np.zeros(64, np.int32), np.empty((32, 2), np.int64), 0)
    for i in range(us.shape[0]):
        entered = enter(graph, i, us, k, entered, scratch)
        size = intersect(graph, vs[i], k, scratch, readings)
        nodes, numbers = reserve(nodes, used, size), reserve(numbers, used, size)
        for j in range(size):
            first = pack(l_u[j], closer_u[j], degree[j], farther_u[j], rho)
            second = pack(l_v[j], closer_v[j], degree[j], farther_v[j], rho)
            nodes[used + j] = members[j]
            numbers[used + j], book = number_of(min(first, second), max(first, second), book)
        used += size
        sizes[i] = size
    leave(entered, scratch)
    return sizes, nodes[:used], numbers[:used], book[1][: book[2]]


@kernel
def transpose(sizes: Any, others: Any, num_others: int) -> Any:
    """A list grouped by key, grouped by the other member instead: (pointers, keys, where each entry stood)."""
    pointers = np.zeros(num_others + 1, np.int64)
    for other in others:
        pointers[other + 1] += 1
    for i in range(num_others):
        pointers[i + 1] += pointers[i]
    fill = pointers[:-1].copy()
    keys, came_from = np.empty(others.shape[0], np.int32), np.empty(others.shape[0], np.int64)
    e = 0
    for key in range(sizes.shape[0]):
        for _ in range(sizes[key]):
            place = fill[others[e]]
            keys[place] = key
            came_from[place] = e
            fill[others[e]] += 1
            e += 1
    return pointers, keys, came_from


@kernel
def rooted_numbers(graph: Any, ends: Any, triples: Any, k: int, shift: Any, rho: int, scratches: Any) -> Any:
    """For every (root, edge) triple the number of its ends' quadruplets in the root's ego-network; and their keys."""
    indptr, ranked, split = graph
    scratch, distance, seen, _, _ = scratches
    pointers, edges = triples
    numbers = np.empty(edges.shape[0], np.int32)
    book = (np.zeros(64, np.int32), np.empty((32, 2), np.int64), 0)
    for root in range(indptr.shape[0] - 1):
        size = explore(indptr, ranked, split, np.uint32(root), k, shift, scratch)
        spell_out(size, k, shift, scratch, distance)
        for j in range(size):
            seen[scratch[1][j]] = pack(distance[j], scratch[3][j], scratch[4][j], scratch[5][j], rho)
        for e in range(pointers[root], pointers[root + 1]):
            u, v = seen[ends[edges[e], 0]], seen[ends[edges[e], 1]]
            numbers[e], book = number_of(min(u, v), max(u, v), book)
    return numbers, book[1][: book[2]]


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
def renumber(codes: Any, sizes: Any, others: Any, shape: Any, number: Any) -> Any:
    """Each graph's own codes as numbers for all graphs, and the first graph whose entries do not fit it, or -1.

    ``shape`` has the nodes, others and rows of each graph; there are as many nodes as sizes, and rows as numbers.
    """
    renumbered = np.empty(codes.shape[0], np.int32)
    node, start, first, first_other = 0, 0, 0, 0
    for graph in range(shape.shape[0]):
        stop = start
        for size in sizes[node : node + shape[graph, 0]]:
            if size < 0:
                return renumbered, graph
            stop += size
        if stop > codes.shape[0] or stop > others.shape[0]:
            return renumbered, graph
        rows, num_others, outside = shape[graph, 2], shape[graph, 1], False
        for other in others[start:stop]:
            outside |= (other < first_other) | (other >= first_other + num_others)
        if outside:
            return renumbered, graph
        for e in range(start, stop):
            if codes[e] < 0 or codes[e] >= rows:
                return renumbered, graph
            renumbered[e] = number[first + codes[e]]
        node += shape[graph, 0]
        first += rows
        first_other += num_others
        start = stop
    whole = start == codes.shape[0] == others.shape[0]
    return renumbered, -1 if whole else shape.shape[0] - 1


@kernel
def localise(codes: Any, counts: Any, num_codes: int) -> Any:
    """Codes numbered anew within each graph, by first appearance: (codes, the old codes of all graphs, how many each).

    ``counts`` is the number of codes of each graph.
    """
    known, stamp = np.empty(num_codes, np.int32), np.full(num_codes, -1, np.int64)
    local, picked, sizes = (
        np.empty(codes.shape[0], np.int32),
        np.empty(1024, np.int64),
        np.zeros(counts.shape[0], np.int64),
    )
    e, used = 0, 0
    for graph in range(counts.shape[0]):
        picked = reserve(picked, used, min(counts[graph], num_codes))
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
