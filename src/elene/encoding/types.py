"""Types: whole encodings as colours, and bags of them, counted without a matrix that has a row for each node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elene.csr import SparseRows
from elene.encoding.spec import EncodingSpec
from elene.engine.bags import count_bags, distinct_colors
from elene.engine.colors import color_nodes, color_pairs, fold
from elene.engine.plan import Rows
from elene.graph import Graph


@dataclass(frozen=True)
class Types:
    """The type of each row as a colour, for each depth; build it with :meth:`of`.

    >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
    >>> types = Types.of(star, EncodingSpec.of([1, 2], form="type"), Rows(np.arange(4)), threads=1)
    >>> types.colors.shape, len(types.table)
    ((2, 4), 4)
    >>> types.bags(types.table, np.array([1, 3])).matrix().toarray().tolist()
    [[1, 0, 0, 1, 0, 0], [0, 3, 3, 0, 0, 0]]
    """

    colors: NDArray[np.uint64]
    rows: Rows
    depths: tuple[int, ...]

    @classmethod
    def of(cls, graph: Graph, spec: EncodingSpec, rows: Rows, threads: int | None) -> Types:
        """Explore each ego-network once, for all depths."""
        limits = spec.max_degree, spec.absolute, threads
        if rows.second is None:
            return cls(color_nodes(graph, rows, spec.depths, *limits), rows, spec.depths)
        readings = color_pairs(graph, rows, spec.depths, *limits)
        return cls(np.stack([_unordered(of_depth, rows) for of_depth in readings]), rows, spec.depths)

    @property
    def table(self) -> NDArray[np.int64]:
        """The columns: a depth, a 0 and a colour for each type that occurs, depth by depth and in ascending order."""
        found = [distinct_colors(of_depth) for of_depth in self.colors]
        table = np.zeros((sum(map(len, found)), 3), np.int64)
        table[:, 0] = np.repeat(self.depths, [len(colors) for colors in found])
        table[:, 2] = np.concatenate(found).view(np.int64)
        return table

    def bags(self, table: NDArray[np.int64], counts: NDArray[np.int64]) -> SparseRows:
        """How often the types of a table occur in each group of so many rows; then one column a depth for all others.

        Args:
            table: the columns, those of a depth one behind the other, in the order of the depths.
            counts: how many rows each group has.
        """
        known = table[table[:, 1] >= 0]
        colors = np.ascontiguousarray(known[:, 2]).view(np.uint64)
        return count_bags(self.colors, [colors[known[:, 0] == depth] for depth in self.depths], counts)


def _unordered(readings: NDArray[np.uint64], rows: Rows) -> NDArray[np.uint64]:
    """One colour for the two readings of each pair, whichever end comes first, and for how far apart the ends are."""
    start = np.ones(len(rows), np.uint64) if rows.distance is None else rows.distance.astype(np.uint64)
    one, two = readings.T
    return fold(fold(start, np.minimum(one, two)), np.maximum(one, two))
