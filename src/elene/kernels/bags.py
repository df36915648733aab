"""Bags of colours: which colours there are, where each stands among known ones, and how often groups of rows have each.

Everything is linear: colours are found in an open table by their middle bits, and counts come in order by being placed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.jit import inlined, kernel


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
def sort_bags(places: Any, pointers: Any, starts: Any, owners: Any) -> None:
    """The group of every entry of ``places``, of which each row has the same groups, by place; ``starts`` are where
    places begin, and in the end where they end.
    """
    for depth in range(places.shape[0]):
        for group in range(pointers.shape[0] - 1):
            for i in range(pointers[group], pointers[group + 1]):
                place = places[depth, i]
                owners[starts[place]] = group
                starts[place] += 1


@kernel
def count_bags(owners: Any, ends: Any, filled: Any, columns: Any, counts: Any) -> None:
    """Runs of one group within a place become entries of that group's row, which begin at ``filled``."""
    begin = 0
    for place in range(ends.shape[0]):
        for i in range(begin, ends[place]):
            group = owners[i]
            if i > begin and owners[i - 1] == group:
                counts[filled[group] - 1] += 1
            else:
                columns[filled[group]] = place
                counts[filled[group]] = 1
                filled[group] += 1
        begin = ends[place]


@kernel
def size_bags(owners: Any, ends: Any, sizes: Any) -> None:
    """How many places each group has."""
    begin = 0
    for place in range(ends.shape[0]):
        for i in range(begin, ends[place]):
            if i == begin or owners[i - 1] != owners[i]:
                sizes[owners[i]] += 1
        begin = ends[place]
