"""Bags of types: the colours that occur, and how often each occurs in each graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.csr import SparseRows, pointers
from elene.engine.colors import Colors


def distinct_colors(colors: Colors) -> Colors:
    """The colours that occur, ascending.

    >>> distinct_colors(np.array([7, 5, 7], np.uint64)).tolist()
    [5, 7]
    """
    from elene.kernels.bags import distinct_colors

    known = np.empty_like(colors)
    size = distinct_colors(colors, _table(len(colors)), known)
    return np.sort(known[:size])


def count_bags(colors: Colors, known: list[Colors], rows: NDArray[np.int64]) -> SparseRows:
    """How often each known colour occurs in each group of consecutive rows; all others are counted at the end.

    Args:
        colors: for each depth, the colour of each row.
        known: for each depth, the colours that have columns, each once.
        rows: how many rows a group has.

    Returns:
        A row for each group; a column for each known colour, depth by depth, and then one a depth for all others.

    Example:
        >>> colors = np.array([[7, 5, 7, 9]], np.uint64)
        >>> count_bags(colors, [np.array([5, 7], np.uint64)], np.array([3, 1])).matrix().toarray().tolist()
        [[1, 2, 0], [0, 0, 1]]
    """
    from elene.kernels.bags import Occurrences, place_bags, tally_bags

    places = _places(colors, known)
    columns = sum(map(len, known)) + len(known)
    begins = pointers(np.bincount(places.ravel(), minlength=columns))[:-1]
    found = Occurrences(begins, begins.copy(), np.empty(places.size, np.int32), np.empty(places.size, np.int32))
    sizes = np.zeros(len(rows), np.int64)
    tally_bags(places, pointers(rows), found, sizes)
    indptr = pointers(sizes)
    wide = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, counts = np.empty(indptr[-1], wide), np.empty(indptr[-1], np.int32)
    place_bags(found, indptr[:-1].copy(), indices, counts)
    return SparseRows(indptr.astype(wide), indices, counts, columns, ordered=True)


def beside(parts: Sequence[SparseRows]) -> SparseRows:
    """Equally many rows side by side, in numbers of double precision.

    >>> part = SparseRows(np.array([0, 1, 1], np.int32), np.array([0], np.int32), np.array([7.0]), 2, True)
    >>> beside([part, part]).matrix().toarray().tolist()
    [[7.0, 0.0, 7.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    from elene.kernels.bags import place_beside

    indptr = np.sum([part.indptr for part in parts], axis=0, dtype=parts[0].indptr.dtype)
    indices, data = np.empty(indptr[-1], parts[0].indices.dtype), np.empty(indptr[-1])
    free, columns = indptr[:-1].copy(), 0
    for part in parts:
        place_beside(part.indptr, part.indices, part.data.astype(np.float64, copy=False), columns, free, indices, data)
        columns += part.columns
    return SparseRows(indptr, indices, data, columns, all(part.ordered for part in parts))


def _places(colors: Colors, known: list[Colors]) -> NDArray[np.int32]:
    """The column of each row's colour at each depth."""
    from elene.kernels.bags import find_colors

    places, first, unknown = np.empty(colors.shape, np.int32), 0, sum(map(len, known))
    for depth, (found, ours) in enumerate(zip(colors, known, strict=True)):
        find_colors(found, ours, _table(len(ours)), first, unknown + depth, places[depth])
        first += len(ours)
    return places


def _table(entries: int) -> Any:
    """An empty table for so many entries, at most half full."""
    return np.zeros(1 << (2 * entries + 1).bit_length(), np.int32)
