"""What kernels read and write, by name: numba takes named tuples.

A kernel whose rows are of unknown length never grows an array, for code that does takes numba longer to compile than
the kernel itself, and every array that is replaced in a loop costs reference counts. It appends rows to a
:class:`Buffer` until one does not fit, and says in a :class:`Progress` how far it came and what it lacks; its caller,
:mod:`elene.engine.filling`, makes room and calls it again.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Adjacency(NamedTuple):
    """What all kernels scan: where each node's neighbours begin, the neighbours, where those ranked above it begin."""

    pointers: Any
    neighbours: Any
    split: Any


class Words(NamedTuple):
    """For each node the first one of its part, -1 where that is too large; its neighbours, a bit for each; and how many
    ``nodes`` there are in parts that are small.
    """

    first: Any
    neighbours: Any
    nodes: Any


class Setting(NamedTuple):
    """What is counted: depth, where a state's upper count begins (with the type of states), largest degree, IGEL.

    ``labels`` are those of all nodes, of which there are so many ``classes``; 0 where there are no labels.
    """

    k: Any
    shift: Any
    rho: Any
    absolute: Any
    labels: Any
    classes: Any


class Buffer(NamedTuple):
    """Rows: where each ends, and their entries; and the distinct keys that entries may refer to.

    An entry is two numbers in one integer, in its halves: one write, not two. ``table`` finds keys by their hash; a row
    of ``keys`` is a key, a second one, and a tally.
    """

    ends: Any
    entries: Any
    table: Any
    keys: Any


class Progress(NamedTuple):
    """Rows done, entries used, keys known; and what the next row may take of entries and keys, if it does not fit."""

    done: Any
    used: Any
    known: Any
    wanted: Any
