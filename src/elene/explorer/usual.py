"""Which nodes of a graph are the most unusual by their encodings, and which the most usual."""

from __future__ import annotations

from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from elene.encoding import encode
from elene.engine.colors import color_nodes
from elene.engine.plan import Rows
from elene.explorer.shelf import Opened
from elene.graph import Graph

MOST_PATHS = 2_000_000  # of two hops in a graph whose nodes are ranked at k = 2: seconds, not minutes


class Ranked(NamedTuple):
    """A node that stands for all with its encoding: how surprising that is, in bits, and how many have it."""

    position: int
    bits: float
    alike: int


class Ranking(NamedTuple):
    """The depth of the encodings, how many different ones there are, and the nodes at both ends of the ranking."""

    depth: int
    encodings: int
    unusual: list[Ranked]
    usual: list[Ranked]


def rank_nodes(graph: Graph, depth: int, most: int = 8) -> Ranking:
    """Rank nodes by the mean surprise of the quadruplets that they see.

    A quadruplet that m of n nodes see surprises by log2(n / m) bits. One node stands for all that have its encoding.

    Args:
        graph: the graph.
        depth: of the encodings.
        most: how many nodes to name at either end.

    Example:
        >>> lollipop = Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
        >>> ranking = rank_nodes(lollipop, 1)
        >>> [(ranked.position, round(ranked.bits, 2), ranked.alike) for ranked in ranking.unusual]
        [(6, 1.65, 1), (2, 1.51, 1), (0, 0.85, 2), (3, 0.49, 3)]
    """
    matrix = encode(graph, depth, form="joint").matrix
    seen_by = np.bincount(matrix.indices, minlength=matrix.shape[1])
    bits = np.log2(graph.num_nodes / np.maximum(seen_by, 1))
    surprise = np.add.reduceat(bits[matrix.indices], matrix.indptr[:-1]) / np.diff(matrix.indptr)
    (colors,) = color_nodes(graph, Rows(np.arange(graph.num_nodes)), [depth])
    _, first, alike = np.unique(colors, return_index=True, return_counts=True)
    order = np.lexsort((first, alike, -surprise[first].round(9)))
    ranked = [Ranked(int(first[i]), float(surprise[first[i]]), int(alike[i])) for i in (*order[:most], *order[-most:])]
    ends = min(most, len(order))
    return Ranking(depth, len(order), ranked[:ends], ranked[-ends:][::-1])


def ranking_of(opened: Opened, k: int) -> Future[Ranking]:
    """The ranking for the slider's depth, 1 or 2, and 1 in large graphs; now or later.

    >>> from elene.datasets import rook
    >>> ranking_of(Opened("rook", "Rook", rook()), 2).result().encodings
    1
    """
    depth = 2 if k >= 2 and opened.paths <= MOST_PATHS else 1
    return opened.jobs.future(("ranking", depth), lambda: rank_nodes(opened.graph, depth))
