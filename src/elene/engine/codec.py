"""Quadruplets as integers, and back: the one place that knows how the digits stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Codec:
    """A quadruplet is a number in the base ``rho + 1``: distance, closer, degree, farther; IGEL's: distance, degree.

    With labels, of which there are so many ``classes``, one more digit follows, in a base of its own. Kernels pack with
    :func:`elene.kernels.count.pack`.

    >>> codec = Codec(rho=9)
    >>> codec.pack(np.array([[1, 1, 6, 3]])).tolist(), codec.unpack(np.array([1163])).tolist()
    ([1163], [[1, 1, 6, 3]])
    """

    rho: int
    absolute: bool = False
    classes: int = 0

    @property
    def width(self) -> int:
        """How many fields a quadruplet has, without the label."""
        return 2 if self.absolute else 4

    def check(self, depth: int) -> None:
        """An error where quadruplets at this depth do not fit into an integer."""
        if (depth + 1) * (self.rho + 1) ** (self.width - 1) * max(self.classes, 1) >= 2**63:
            raise ValueError(
                f"k={depth} with degrees up to {self.rho} is too large for whole quadruplets: pass max_degree=1000000 "
                "or less"
            )

    def pack(self, quadruplets: NDArray[Any]) -> NDArray[np.int64]:
        """Rows of fields as integers."""
        keys = quadruplets[:, 0].astype(np.int64)
        for field in range(1, self.width):
            keys = keys * (self.rho + 1) + quadruplets[:, field]
        return keys * self.classes + quadruplets[:, self.width] if self.classes else keys

    def unpack(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Integers as rows of fields; several columns of integers as one quadruplet beside the other."""
        if keys.ndim == 2:
            return np.hstack([self.unpack(column) for column in keys.T])
        fields = []
        for base in [self.classes] * (self.classes > 0) + [self.rho + 1] * (self.width - 1):
            keys, digit = np.divmod(keys, base)
            fields.append(digit)
        return np.stack([keys, *fields[::-1]], axis=1)
