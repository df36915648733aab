"""The nodes around some others in a graph of any size: found again by a hash, so that memory goes by their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.jit import inlined, kernel

ONE = np.uint32(1)


@inlined
def find_slot(node: Any, nodes: Any, table: Any) -> Any:
    """Where a node stands in the table, or where it would; an entry is its place among the nodes, plus one."""
    mask = table.shape[0] - 1
    slot = np.int64((np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while table[slot] and nodes[table[slot] - 1] != node:
        slot = (slot + 1) & mask
    return slot


@kernel
def enter_nodes(nodes: Any, first: int, last: int, table: Any) -> int:
    """Enter ``nodes[first:last]``, those that are met again left out; gives how many are there now."""
    end = first
    for i in range(first, last):
        slot = find_slot(nodes[i], nodes, table)
        if not table[slot]:
            nodes[end] = nodes[i]
            end += 1
            table[slot] = end
    return end


@kernel
def enter_neighbours(graph: Any, nodes: Any, first: int, last: int, table: Any) -> int:
    """Append the neighbours of ``nodes[first:last]`` that are not there; gives how many are there then.

    It ends early where the nodes do not fit: all of them are full then.
    """
    end = last
    for i in range(first, last):
        for e in range(graph.pointers[nodes[i]], graph.pointers[nodes[i] + ONE]):
            slot = find_slot(graph.neighbours[e], nodes, table)
            if not table[slot]:
                if end == nodes.shape[0]:
                    return end
                nodes[end] = graph.neighbours[e]
                end += 1
                table[slot] = end
    return end


@kernel
def count_scanned(graph: Any, nodes: Any, first: int, last: int) -> Any:
    """How many neighbours ``nodes[first:last]`` have in all, and how many of them are ranked higher."""
    all_of_them, above = np.int64(0), np.int64(0)
    for i in range(first, last):
        end = np.int64(graph.pointers[nodes[i] + ONE])
        all_of_them += end - np.int64(graph.pointers[nodes[i]])
        above += end - np.int64(graph.split[nodes[i]])
    return all_of_them, above


@kernel
def join_nodes(graph: Any, nodes: Any, count: int, table: Any, ends: Any) -> int:
    """Each edge among ``nodes[:count]`` once, as two rows of places among them; gives how many there are."""
    found = 0
    for i in range(count):
        for e in range(graph.split[nodes[i]], graph.pointers[nodes[i] + ONE]):
            place = table[find_slot(graph.neighbours[e], nodes, table)]
            if place:
                ends[0, found], ends[1, found] = i, place - 1
                found += 1
    return found
