"""Lists that stand one behind the other in one array, as compressed rows do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pointers(sizes: ArrayLike) -> NDArray[np.int64]:
    """Where each of several lists begins, and where the last one ends.

    >>> pointers([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    sizes = np.asarray(sizes)
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found
