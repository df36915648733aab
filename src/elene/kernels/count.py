"""From explored subgraphs to counts: marginal rows, joint rows and hashes of multisets.

An entry of a row is one integer, its count in the upper half and its column in the lower one: one write, not two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.jit import inlined, kernel

HALF = np.int64(32)
COLUMN = np.int64(2**31 - 1)


@inlined
def reserve(array: Any, used: int, more: int) -> Any:
    """The array, or a larger copy of it, with room for ``more`` entries behind the used ones."""
    if used + more <= array.shape[0]:
        return array
    larger = np.empty(max(2 * array.shape[0], used + more), array.dtype)
    larger[:used] = array[:used]
    return larger


@inlined
def put(column: Any, count: Any, kept: Any, entries: Any, used: int) -> int:
    """Append an entry to a row if it is to be kept; gives how many there are. There is always room for one more."""
    entries[used] = (np.int64(count) << HALF) | np.int64(column)
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
def quadruplet_keys(size: int, degree: Any, reading: Any, rho: int, absolute: bool, keys: Any) -> None:
    """Each quadruplet as one integer, in the mixed radix of the clipped degrees."""
    distance, closer, farther = reading
    base = rho + 1
    for i in range(size):
        key = np.int64(distance[i])
        if not absolute:
            key = key * base + min(np.int64(closer[i]), rho)
        key = key * base + min(np.int64(degree[i]), rho)
        if not absolute:
            key = key * base + min(np.int64(farther[i]), rho)
        keys[i] = key


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


@kernel
def find_or_add(key: Any, other: Any, table: Any, keys: Any, used: int) -> Any:
    """The number of the key pair in ``keys``, where it is put at number ``used`` if it is new (open addressing)."""
    mask = table.shape[0] - 1
    slot = np.int64(chain(mix(np.uint64(key)), other) & np.uint64(mask))
    while True:
        number = table[slot] - 1
        if number < 0:
            table[slot] = used + 1
            keys[used, 0] = key
            keys[used, 1] = other
            return used
        if keys[number, 0] == key and keys[number, 1] == other:
            return np.int64(number)
        slot = (slot + 1) & mask


@kernel
def rehash(keys: Any, used: int, size: int) -> Any:
    """A larger table for the same keys."""
    table = np.zeros(size, np.int32)
    for number in range(used):
        slot = np.int64(chain(mix(np.uint64(keys[number, 0])), keys[number, 1]) & np.uint64(size - 1))
        while table[slot]:
            slot = (slot + 1) & (size - 1)
        table[slot] = number + 1
    return table


@kernel
def count_keys(first: Any, second: Any, size: int, table: Any, keys: Any, used: int, numbers: Any) -> Any:
    """Number the key pairs of one row into ``numbers``; the table and the key list grow as needed."""
    if 2 * (used + size) > table.shape[0]:
        wanted = table.shape[0]
        while wanted < 2 * (used + size):
            wanted *= 2
        table = rehash(keys, used, wanted)
        larger = np.empty((wanted // 2, 2), np.int64)
        larger[:used] = keys[:used]
        keys = larger
    for j in range(size):
        number = find_or_add(first[j], second[j], table, keys, used)
        used = max(used, number + 1)
        numbers[j] = number
    return table, keys, used


@kernel
def flush_numbers(numbers: Any, size: int, tally_of: Any, entries: Any, used: int) -> int:
    """Append the multiset of numbers to a row, the numbers for columns, in order of appearance."""
    for j in range(size):
        tally_of[numbers[j]] += 1
    for j in range(size):
        count = tally_of[numbers[j]]
        used = put(numbers[j], count, count != 0, entries, used)
        tally_of[numbers[j]] = 0
    return used
