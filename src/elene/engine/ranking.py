"""Neighbours ranked, what :attr:`elene.Graph.ranked` holds: on several threads, and on disk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from elene.engine import policy
from elene.engine.parallel import count_threads, cut_ranges, run_all
from elene.graph import Graph

if TYPE_CHECKING:
    from elene.kernels.order import RankRange

NODES_AT_ONCE = 1 << 18


def rank(graph: Graph, threads: int | None) -> None:
    """Have the neighbours of a graph ranked, on several threads, unless they are; the graph keeps them."""
    from elene.kernels.order import rank_adjacency

    def run(rank_range: RankRange) -> None:
        pieces = min(count_threads(threads), 1 + len(graph.indices) // policy.POLICY.ranked_arcs)
        run_all([partial(rank_range, *cut) for cut in cut_ranges(graph.indptr[1:], pieces)], threads)

    if graph.in_memory and "ranked" not in vars(graph):
        vars(graph)["ranked"] = rank_adjacency(*graph.scanned, run)


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
