"""Lists that stand one behind the other in one array, as compressed rows do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def pointers(sizes: ArrayLike) -> NDArray[np.int64]:
    """Where each of several lists begins, and where the last one ends.

    >>> pointers([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    sizes = np.asarray(sizes)
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


class SparseRows(NamedTuple):
    """The arrays of a sparse matrix on their way to become one: making one in between takes longer than a small one.

    Columns ascend within a row where ``ordered``, and none is there twice.

    >>> SparseRows(np.array([0, 1]), np.array([2]), np.array([7]), 3, True).matrix().toarray().tolist()
    [[0, 0, 7]]
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    columns: int
    ordered: bool

    @classmethod
    def of(cls, matrix: csr_array) -> SparseRows:
        """The arrays of a matrix."""
        ordered = bool(matrix.has_canonical_format)
        return cls(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], ordered)

    def matrix(self) -> csr_array:
        """The matrix that they are the arrays of."""
        from scipy.sparse import csr_array

        made = csr_array((self.data, self.indices, self.indptr), shape=(len(self.indptr) - 1, self.columns))
        if self.ordered:
            made.has_canonical_format = True  # scipy would have to look
        return made


def beside(parts: Sequence[SparseRows]) -> SparseRows:
    """Equally many rows side by side.

    >>> part = SparseRows(np.array([0, 1, 1]), np.array([0]), np.array([7]), 2, True)
    >>> beside([part, part]).matrix().toarray().tolist()
    [[7, 0, 7, 0], [0, 0, 0, 0]]
    """
    if len(parts) == 1:
        return parts[0]
    indptr = np.sum([part.indptr for part in parts], axis=0, dtype=parts[0].indptr.dtype)
    indices = np.empty(indptr[-1], parts[0].indices.dtype)
    data = np.empty(indptr[-1], np.result_type(*(part.data for part in parts)))
    free, columns = indptr[:-1].copy(), 0
    for part in parts:
        lengths = np.diff(part.indptr)
        places = np.arange(len(part.data)) + np.repeat(free - part.indptr[:-1], lengths)
        indices[places], data[places] = part.indices + columns, part.data
        free += lengths
        columns += part.columns
    return SparseRows(indptr, indices, data, columns, all(part.ordered for part in parts))
