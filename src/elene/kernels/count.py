"""From explored subgraphs to counts: entries of rows, keys of quadruplets, hashes of multisets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elene.kernels.jit import inlined, kernel

HALF = np.int64(32)
LOWER = np.int64(2**31 - 1)


class Layout(NamedTuple):
    """The columns of a marginal row: ``step`` for each distance, closer's first, then degree's, then farther's.

    With absolute degrees, those of degree are alone: ``kept`` is 0 then, and else 1.
    """

    step: Any
    degree: Any
    farther: Any
    kept: Any


@inlined
def layout_of(setting: Any) -> Layout:
    """Where the columns of a distance begin."""
    width, kept = setting.rho + 1, 0 if setting.absolute else 1
    return Layout((1 + 2 * kept) * width, kept * width, 2 * width, kept)


@inlined
def put(lower: Any, upper: Any, kept: Any, entries: Any, used: int) -> int:
    """Append an entry to a row if it is to be kept; gives how many there are. There is always room for one more."""
    entries[used] = (np.int64(upper) << HALF) | np.int64(lower)
    return used + kept


@inlined
def flush(histogram: Any, base: int, top: int, first: int, kept: Any, entries: Any, used: int) -> int:
    """Append the nonzero counts of the values 0 to ``top``, which begin at ``base``, to a row, and clear them.

    They get the columns from ``first`` on. The largest value never exceeds the number of nodes explored, so this costs
    no more than exploring did.
    """
    for value in range(top + 1):
        count = histogram[base + value]
        used = put(first + value, count, kept * (count != 0), entries, used)
        histogram[base + value] = 0
    return used


@inlined
def put_roots(roots: int, own: int, layout: Any, there: Any, entries: Any, used: int) -> int:
    """Append what roots of this degree see at distance 0, if they are there: nobody closer, all neighbours farther."""
    used = put(0, roots, there * layout.kept, entries, used)
    used = put(layout.degree + own, roots, there, entries, used)
    return put(layout.farther + own, roots, there * layout.kept, entries, used)


@inlined
def pack(distance: Any, closer: Any, degree: Any, farther: Any, setting: Any) -> Any:
    """A quadruplet as one integer, in the mixed radix of the clipped degrees; :mod:`elene.engine.codec` unpacks it."""
    rho = np.int64(setting.rho)
    base, key = rho + 1, np.int64(distance)
    if not setting.absolute:
        key = key * base + min(np.int64(closer), rho)
    key = key * base + min(np.int64(degree), rho)
    if not setting.absolute:
        key = key * base + min(np.int64(farther), rho)
    return key


@inlined
def label_key(key: Any, node: Any, setting: Any) -> Any:
    """The key of a quadruplet extended by the label of its node, where there are labels."""
    if setting.classes:
        key = key * setting.classes + np.int64(setting.labels[node])
    return key


@inlined
def slot_of(first: Any, second: Any, table: Any) -> Any:
    """Where a pair of keys should stand in a table: the middle bits of a product (Fibonacci hashing)."""
    scattered = np.uint64(first) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(second)
    scattered *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(scattered >> np.uint64(20)) & (table.shape[0] - 1)


@inlined
def is_full(out: Any, used: Any, known: Any, more: Any) -> bool:
    """Whether a row of so many entries, each with a key of its own, may not fit; a table is at most half full."""
    return used + more + 1 > out.entries.shape[0] or 2 * (known + more) > out.table.shape[0]


@kernel
def find_or_add(first: Any, second: Any, table: Any, keys: Any, known: int) -> Any:
    """The number of a pair of keys, which becomes ``known`` if the pair is new (open addressing)."""
    slot = slot_of(first, second, table)
    while True:
        number = np.int64(table[slot]) - 1
        if number < 0:
            table[slot] = known + 1
            keys[known, 0], keys[known, 1], keys[known, 2] = first, second, 0
            return known
        if keys[number, 0] == first and keys[number, 1] == second:
            return number
        slot = (slot + 1) & (table.shape[0] - 1)


@kernel
def fill_table(keys: Any, known: int, table: Any) -> None:
    """Enter the known keys into an empty table."""
    for number in range(known):
        slot = slot_of(keys[number, 0], keys[number, 1], table)
        while table[slot]:
            slot = (slot + 1) & (table.shape[0] - 1)
        table[slot] = number + 1


@inlined
def put_tallies(numbers: Any, size: int, keys: Any, entries: Any, used: int) -> int:
    """Append the multiset of numbers to a row, the numbers for columns, in order of appearance."""
    for j in range(size):
        keys[numbers[j], 2] += 1
    for j in range(size):
        count = keys[numbers[j], 2]
        used = put(numbers[j], count, count != 0, entries, used)
        keys[numbers[j], 2] = 0
    return used


@kernel
def mix(value: Any) -> Any:
    """A bijective scrambling of 64 bits (the finaliser of splitmix64)."""
    value = np.uint64(value)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def chain(code: Any, value: Any) -> Any:
    """The hash of a sequence whose hash was ``code``, extended by one more value."""
    return mix(np.uint64(code) + np.uint64(0x9E3779B97F4A7C15) + mix(np.uint64(value)))
