"""Nodes at k = 1, all at once: every triangle is found once, and tallied at both ends of its three edges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elene.engine import policy
from elene.engine.parallel import cut_ranges, run_all, run_ranges
from elene.graph import Graph
from elene.kernels.data import Setting

if TYPE_CHECKING:
    from elene.kernels.oriented import Matrix, Oriented, Tallies

Counts = NDArray[np.uint32]


def worth_tallying(graph: Graph, roots: NDArray[np.int64], threads: int) -> bool:
    """Whether most nodes are asked for, and there is room for counts of all edges for each thread."""
    chosen = policy.POLICY
    most = len(roots) >= chosen.tallied_share * graph.num_nodes
    few = len(graph.indices) <= chosen.tallied_most and threads <= chosen.tallying_threads
    return graph.in_memory and most and few


def tally_triangles(graph: Graph, rho: int, threads: int) -> Tallies:
    """How many neighbours of each node share so many triangles with it, or ``rho - 1`` and more."""
    from elene.kernels.oriented import Tallies, tally_edges

    arcs = len(graph.indices)
    cuts = cut_ranges(graph.indptr[1:], min(threads, 1 + arcs // policy.POLICY.ranked_arcs))
    oriented = _orient(graph, cuts, threads)
    arrays = np.zeros((1 + threads, arcs), np.uint32)  # all at once: the system gives less memory anew
    counted = _count(graph, oriented, arrays[1:], threads)
    for start, stop in cuts:  # what is between them was never touched
        edges = slice(oriented.spans[2 * start], oriented.spans[2 * stop - 1])
        for other in range(1, counted):
            arrays[1, edges] += arrays[1 + other, edges]
    tallies = Tallies(graph.scanned[0], arrays[0])
    tally_edges(oriented, arrays[1], np.uint32(max(rho - 1, 0)), tallies)
    return tallies


def _orient(graph: Graph, cuts: list[tuple[int, int]], threads: int) -> Oriented:
    """The higher-ranked neighbours of all nodes; those of each range stand together."""
    from elene.kernels.oriented import Oriented, orient

    pointers, neighbours = graph.scanned
    oriented = Oriented(np.empty(2 * graph.num_nodes, pointers.dtype), np.empty(len(neighbours), np.uint32))
    write = partial(orient, pointers, neighbours, graph.degrees.astype(np.uint32), oriented)
    run_all([partial(write, *cut) for cut in cuts], threads)
    return oriented


def _count(graph: Graph, oriented: Oriented, counts: Counts, threads: int) -> int:
    """Count the triangles of all edges, each thread in a row of its own; gives how many rows there are."""
    from elene.kernels.oriented import count_triangles

    free = list(counts[::-1])

    def make_scratch() -> tuple[Counts, Counts]:
        return np.zeros(graph.num_nodes, np.uint32), free.pop()

    def count(start: int, stop: int, scratch: tuple[Counts, Counts]) -> None:
        count_triangles(oriented, *scratch, start, stop)

    work = (oriented.spans[1::2] - oriented.spans[::2]).astype(np.int64)
    work *= 1 + graph.num_edges // graph.num_nodes // policy.POLICY.scans_a_unit
    work += 1
    run_ranges(count, make_scratch, work, threads)
    return len(counts) - len(free)


def write_tallied(tallies: Tallies, roots: NDArray[np.int64], setting: Setting, threads: int) -> Matrix:
    """The marginal rows of nodes."""
    from elene.kernels.oriented import Matrix, measure_rows, write_rows

    pieces = min(threads, 1 + len(tallies.bins) // policy.POLICY.tallied_arcs)
    cuts = cut_ranges(np.arange(1, len(roots) + 1), pieces)
    roots = roots.astype(np.uint32)
    indptr = measure_rows(tallies, roots, 0 if setting.absolute else 2)
    matrix = Matrix(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32))
    write = partial(write_rows, tallies, roots, setting, matrix)
    run_all([partial(write, *cut) for cut in cuts], threads)
    return matrix
