"""Bags of colours: which colours there are, where each stands among known ones, and how often groups of rows have each.

Everything is linear: colours are found in an open table by their middle bits, and counts come in order by being placed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.jit import inlined, kernel


class Occurrences(NamedTuple):
    """For each place where its groups begin and end, and these groups with how often each has it."""

    begins: Any
    ends: Any
    groups: Any
    counts: Any


@inlined
def slot_of(color: Any, table: Any) -> Any:
    """Where a colour should stand in a table whose length is a power of two: colours are scrambled already."""
    return np.int64(color >> np.uint64(20)) & (table.shape[0] - 1)


@inlined
def find(color: Any, known: Any, table: Any) -> Any:
    """The slot that a colour has, or the free one that it would get; a slot holds a place among the known, plus one."""
    slot = slot_of(color, table)
    while table[slot] and known[table[slot] - 1] != color:
        slot = (slot + 1) & (table.shape[0] - 1)
    return slot


@kernel
def distinct_colors(colors: Any, table: Any, known: Any) -> int:
    """Write each colour that occurs to ``known``, once, in order of appearance; gives how many there are."""
    size = 0
    for color in colors:
        slot = find(color, known, table)
        if not table[slot]:
            known[size] = color
            size += 1
            table[slot] = size
    return size


@kernel
def find_colors(colors: Any, known: Any, table: Any, first: int, unknown: int, places: Any) -> None:
    """The place of each colour among the known, counted from ``first``; ``unknown`` where it is not among them."""
    for place in range(known.shape[0]):
        table[find(known[place], known, table)] = place + 1
    for i in range(colors.shape[0]):
        place = np.int64(table[find(colors[i], known, table)])
        places[i] = first + place - 1 if place else unknown


@kernel
def tally_bags(places: Any, pointers: Any, found: Any, sizes: Any) -> None:
    """By place, the groups that have it and how often; and how many places each group has.

    Each row of ``places`` has the same groups, and no place is in two rows: groups come to it in ascending order.
    """
    for depth in range(places.shape[0]):
        for group in range(pointers.shape[0] - 1):
            for i in range(pointers[group], pointers[group + 1]):
                place = places[depth, i]
                end = found.ends[place]
                if end > found.begins[place] and found.groups[end - 1] == group:
                    found.counts[end - 1] += 1
                else:
                    found.groups[end], found.counts[end] = group, 1
                    found.ends[place] = end + 1
                    sizes[group] += 1


@kernel
def place_bags(found: Any, free: Any, columns: Any, counts: Any) -> None:
    """The same by group: the entries of its row, from the first that is free, places ascending."""
    for place in range(found.ends.shape[0]):
        for i in range(found.begins[place], found.ends[place]):
            entry = free[found.groups[i]]
            columns[entry], counts[entry] = place, found.counts[i]
            free[found.groups[i]] = entry + 1


@kernel
def place_beside(
    indptr: Any, columns: Any, counts: Any, first: int, free: Any, to_columns: Any, to_counts: Any
) -> None:
    """Copy sparse rows to where each has free entries, as columns from ``first`` on."""
    for row in range(free.shape[0]):
        shift = free[row] - indptr[row]
        for e in range(indptr[row], indptr[row + 1]):
            to_columns[e + shift], to_counts[e + shift] = first + columns[e], counts[e]
        free[row] += indptr[row + 1] - indptr[row]
