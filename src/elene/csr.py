"""Lists that stand one behind the other in one array, as compressed rows do."""

from __future__ import annotations

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
