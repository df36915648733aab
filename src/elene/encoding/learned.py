"""LearnedColumns: what an estimator learns of one level in its training graphs, and the vectors of others by it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.csr import SparseRows, pointers
from elene.encoding.counts import marginal_table
from elene.encoding.encoding import Encoding, encode_rows, find_rows
from elene.encoding.spec import LEARNED, EncodingSpec, with_unknown
from elene.encoding.types import Types
from elene.graph import Graph


@dataclass(frozen=True)
class LearnedColumns:
    """The columns of one level; build them with :meth:`learn`.

    Attributes:
        spec: the parameters at the time of fitting, with ``max_degree`` filled in.
        table: the columns, as integers.
    """

    spec: EncodingSpec
    table: NDArray[np.int64]

    @classmethod
    def learn(
        cls, union: Graph, spec: EncodingSpec, apart: bool, threads: int | None
    ) -> tuple[LearnedColumns, Encoding | Types | None]:
        """The columns, and what was counted in the graphs, where that has to be done for it; see :meth:`count`."""
        spec = replace(spec, labelled=union.labels is not None)
        if spec.form in LEARNED:
            counted = cls(spec, np.empty((0, spec.width), np.int64)).count(union, apart, threads)
            return cls(spec, with_unknown(counted.table, spec.depths)), counted
        spec = replace(spec, max_degree=union.max_degree) if spec.max_degree is None else spec
        table = np.vstack([marginal_table(union, spec, depth) for depth in spec.depths])
        return cls(spec, with_unknown(table, spec.depths) if spec.learned else table), None

    def count(self, union: Graph, apart: bool, threads: int | None) -> Encoding | Types:
        """All graphs in one go: ego-networks never leave their graph, so a disjoint union changes nothing.

        Args:
            union: the graphs as one.
            apart: whether each node, edge or pair is to have a row; else their types are enough.
            threads: how many threads to use.
        """
        rows = find_rows(union, self.spec, None)
        if self.spec.form == "type" and not apart:
            return Types.of(union, self.spec, rows, threads)
        return encode_rows(union, self.spec, rows, threads)

    def vectors(self, counted: Encoding | Types, nodes: NDArray[np.int64], per: str) -> SparseRows:
        """What was counted, by these columns: a row for each row, or their sum or mean for each graph.

        Args:
            counted: what :meth:`count` gave.
            nodes: where each graph's nodes begin, and where the last one's end.
            per: ``"row"``, ``"graph"`` or ``"mean"``.
        """
        if isinstance(counted, Types):
            rows = np.diff(np.searchsorted(counted.rows.first, nodes))
            bags = counted.bags(self.table, rows)
            if per == "graph":
                return bags
            return bags._replace(data=bags.data / np.repeat(rows, np.diff(bags.indptr)))
        matrix = counted.onto(self.table).matrix if self.spec.learned else counted.matrix
        if per != "row":
            first = np.arange(len(counted)) if counted.edges is None else counted.edges[:, 0]
            matrix = _sum_rows(matrix, np.diff(np.searchsorted(first, nodes)), per == "mean")
        return SparseRows.of(matrix)


def _sum_rows(matrix: csr_array, counts: NDArray[np.int64], mean: bool) -> csr_array:
    """The sum of each group of consecutive rows, or their mean; of none it is zero.

    Indices are as wide as those of the matrix: some estimators, SVC among them, refuse wider ones than 32 bits.
    """
    wide = matrix.indices.dtype
    indptr = pointers(counts).astype(wide)
    weights = np.repeat(1 / counts.clip(1), counts) if mean else np.ones(matrix.shape[0], dtype=matrix.dtype)
    groups = csr_array((weights, np.arange(len(weights), dtype=wide), indptr), shape=(len(counts), len(weights)))
    return (groups @ matrix).tocsr()
