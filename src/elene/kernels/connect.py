"""The edges among some nodes, each found once, from its lower-ranked end, and counted for both ends.

Most lists are short, and a processor that guesses wrong where one ends loses the time of ten entries. So short lists
are copied one behind the other, always sixteen entries whatever the length, and then scanned as if they were one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.jit import inlined
from elene.kernels.order import AHEAD

ONE = np.uint32(1)
LISTS = 64  # at a time: what they fill stays in the cache
EIGHT, SHORT = np.uint64(8), np.uint64(AHEAD)


class ListScratch(NamedTuple):
    """Entries of short lists, how many of them were hits up to each, and where each list ends."""

    entries: Any
    hits: Any
    ends: Any


def list_scratch() -> ListScratch:
    """Scratch for as many lists as are scanned at a time."""
    return ListScratch(
        np.empty(LISTS * AHEAD, np.uint32), np.zeros(LISTS * AHEAD + 1, np.uint32), np.empty(LISTS, np.uint64)
    )


@inlined
def copy_eight(source: Any, e: Any, target: Any, end: Any) -> None:
    """Copy eight entries; in a loop, they would be copied one by one."""
    a, b, c, d = source[e], source[e + np.uint64(1)], source[e + np.uint64(2)], source[e + np.uint64(3)]
    e += np.uint64(4)
    f, g, h, i = source[e], source[e + np.uint64(1)], source[e + np.uint64(2)], source[e + np.uint64(3)]
    target[end], target[end + np.uint64(1)], target[end + np.uint64(2)], target[end + np.uint64(3)] = a, b, c, d
    end += np.uint64(4)
    target[end], target[end + np.uint64(1)], target[end + np.uint64(2)], target[end + np.uint64(3)] = f, g, h, i


@inlined
def scan_list(neighbours: Any, first: Any, last: Any, w: Any, state: Any) -> None:
    """Count the edges to one node's higher-ranked neighbours."""
    flag = state.dtype.type(8 * state.itemsize - 1)
    above = state.dtype.type(0)
    for e in range(first, last):
        x = neighbours[e]
        hit = state[x] >> flag
        state[x] += hit
        above += hit
    state[w] += above


@inlined
def gather_lists(graph: Any, nodes: Any, start: Any, stop: Any, state: Any, scratch: Any) -> Any:
    """Copy the lists of some nodes behind each other, and scan long ones at once; gives the end of the copies."""
    pointers, neighbours, split = graph.pointers, graph.neighbours, graph.split
    entries, ends = scratch.entries, scratch.ends
    end = np.uint64(0)
    for j in range(stop - start):
        w = nodes[start + j]
        first, last = np.uint64(split[w]), np.uint64(pointers[w + ONE])
        if last - first > SHORT:
            scan_list(neighbours, first, last, w, state)
        else:  # always sixteen entries; the next list overwrites those that are too many
            copy_eight(neighbours, first, entries, end)
            copy_eight(neighbours, first + EIGHT, entries, end + EIGHT)
            end += last - first
        ends[j] = end
    return end


@inlined
def scan_gathered(end: Any, state: Any, scratch: Any) -> None:
    """Count the edges to the gathered neighbours for these, and note how many edges there were up to each."""
    entries, hits = scratch.entries, scratch.hits
    flag = state.dtype.type(8 * state.itemsize - 1)
    total = state.dtype.type(0)
    for i in range(end):
        x = entries[i]
        hit = state[x] >> flag
        state[x] += hit
        total += hit
        hits[i + np.uint64(1)] = total


@inlined
def credit_owners(nodes: Any, start: Any, stop: Any, state: Any, scratch: Any) -> None:
    """Count for each node the edges that were found in its own list."""
    hits, ends = scratch.hits, scratch.ends
    before = np.uint32(0)
    for j in range(stop - start):
        now = hits[ends[j]]
        state[nodes[start + j]] += state.dtype.type(now - before)
        before = now


@inlined
def connect(graph: Any, nodes: Any, start: Any, stop: Any, state: Any, scratch: Any) -> None:
    """Count the edges among ``nodes[start:stop]`` in the states of both their ends.

    These nodes have the highest bit of their state set, and no others, so that this bit is what there is to add: there
    is no branch, and no bin that every scan of another node would have to wait for.
    """
    while start < stop:
        pause = min(start + np.uint64(LISTS), stop)
        end = gather_lists(graph, nodes, start, pause, state, scratch)
        scan_gathered(end, state, scratch)
        credit_owners(nodes, start, pause, state, scratch)
        start = pause


@inlined
def connect_few(graph: Any, nodes: Any, size: int, state: Any) -> None:
    """The same for ``nodes[:size]``, list by list: for the common neighbours of two nodes copying would take longer."""
    pointers, neighbours, split = graph.pointers, graph.neighbours, graph.split
    for i in range(size):
        scan_list(neighbours, split[nodes[i]], pointers[nodes[i] + ONE], nodes[i], state)
