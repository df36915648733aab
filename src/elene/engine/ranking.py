"""Neighbours ranked on disk: what :attr:`elene.Graph.ranked` holds, for arrays that are not in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

NODES_AT_ONCE = 1 << 18


def padding() -> int:
    """How many entries ranked lists have behind the last one.

    >>> padding()
    16
    """
    from elene.kernels.order import AHEAD

    return AHEAD


def rank_into(
    pointers: NDArray[Any], neighbours: NDArray[Any], degrees: NDArray[Any], ranked: NDArray[Any], split: NDArray[Any]
) -> Iterator[int]:
    """Fill ``ranked`` and ``split``, some nodes at a time; gives how many are done."""
    from elene.kernels.order import rank_neighbours

    for start in range(0, len(degrees), NODES_AT_ONCE):
        stop = min(start + NODES_AT_ONCE, len(degrees))
        rank_neighbours(pointers, neighbours, degrees, ranked, split, start, stop)
        yield stop
