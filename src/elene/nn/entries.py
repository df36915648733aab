"""Entries: a list that joins rows with columns, as a sparse matrix does, and the ways to go through it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from elene.forking import cached_property
from elene.validation import brief

SMALL = 2**19  # numbers that are summed before a second thread could start


class Ranges(NamedTuple):
    """Ranges of rows, and whether no two of them share a column."""

    bounds: list[tuple[int, int]]
    apart: bool


@dataclass(frozen=True, eq=False)
class Entries:
    """A list that joins rows with columns, grouped by row: a sparse matrix with codes in the place of values.

    Rows are what is summed for first (roots), columns what is summed over (the nodes or edges around them).

    Args:
        sizes: how many entries each row has.
        columns: the column of each entry.
        codes: one or two numbers of rows of a table for each entry, shape ``(entries, 1 or 2)``.
        num_columns: how many columns there are.
    """

    sizes: Tensor
    columns: Tensor
    codes: Tensor
    num_columns: int
    _scales: dict[tuple[str, str, torch.dtype], Tensor] = field(default_factory=dict)
    _counts: dict[int, tuple[Tensor, Tensor, Tensor]] = field(default_factory=dict)
    _ranges: dict[int, Ranges] = field(default_factory=dict)

    @cached_property
    def pointers(self) -> Tensor:
        """Where the entries of each row begin."""
        return torch.cat([self.sizes.new_zeros(1, dtype=torch.long), self.sizes.cumsum(0)])

    @cached_property
    def rows(self) -> Tensor:
        """The row of each entry."""
        return torch.repeat_interleave(torch.arange(len(self.sizes), device=self.sizes.device), self.sizes.long())

    def scale(self, by: str, pool: str, dtype: torch.dtype) -> Tensor:
        """What the sums by row or by column are multiplied with: ones, or one over the number of entries."""
        if (by, pool, dtype) not in self._scales:
            count = len(self.sizes) if by == "row" else self.num_columns
            sizes = self.sizes if by == "row" else torch.bincount(self.columns, minlength=count)
            ones = torch.ones(count, dtype=dtype, device=self.sizes.device)
            self._scales[by, pool, dtype] = ones if pool == "sum" else ones / sizes.clamp(min=1)
        return self._scales[by, pool, dtype]

    def counts(self, table_size: int) -> tuple[Tensor, Tensor, Tensor]:
        """How many entries each row, each column and each row of a table has, as doubles."""
        if table_size not in self._counts:
            columns = torch.bincount(self.columns, minlength=self.num_columns)
            codes = torch.bincount(self.codes.flatten(), minlength=table_size)
            self._counts[table_size] = (self.sizes.double(), columns.double(), codes.double())
        return self._counts[table_size]

    @cached_property
    def num_codes(self) -> int:
        """How many rows a table needs that the codes are read from; an error if this is no list at all.

        Kernels index without looking: nothing may reach them that has not been asked this.
        """
        if self.codes.dim() != 2 or not len(self.columns) == len(self.codes) == int(self.sizes.sum()):
            raise ValueError(
                f"entries: sizes must sum to the number of columns and of rows of codes, got {int(self.sizes.sum())}, "
                f"{len(self.columns)} and codes of shape {tuple(self.codes.shape)}"
            )
        _largest("sizes", self.sizes, len(self.columns) + 1)
        _largest("columns", self.columns, self.num_columns)
        return _largest("codes", self.codes, 2**31) + 1

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """Pointers, columns and codes for the kernels."""
        return self.pointers.numpy(), self.columns.numpy(), self.codes.numpy()

    @cached_property
    def transposed(self) -> Entries:
        """The same entries, grouped by column; on the CPU."""
        from elene.kernels.structure import transpose

        pointers, rows, came_from = transpose(self.sizes.numpy(), self.columns.numpy(), self.num_columns)
        codes = torch.from_numpy(self.codes.numpy()[came_from])
        return Entries(torch.from_numpy(np.diff(pointers)), torch.from_numpy(rows), codes, len(self.sizes))

    @cached_property
    def closed(self) -> NDArray[np.int64]:
        """The rows before which the list can be cut so that no column has entries on both sides, as between graphs."""
        pointers, columns, _ = self.arrays
        starts = np.flatnonzero((pointers[1:-1] > 0) & (pointers[1:-1] < len(columns))) + 1
        highest, lowest = np.maximum.accumulate(columns), np.minimum.accumulate(columns[::-1])[::-1]
        return starts[highest[pointers[starts] - 1] < lowest[pointers[starts]]]

    def ranges(self, width: int, most: int | None = None) -> Ranges:
        """Rows cut into ranges of about equal work, none too small to be worth a thread, and at most so many.

        The cut depends on the entries and the width and never on threads, so that sums over ranges do not either.
        """
        count = max(1, min(len(self.columns) * width // SMALL, len(self.columns) if most is None else most))
        if count not in self._ranges:
            pointers, goals = self.pointers.numpy(), np.arange(1, count) * (len(self.columns) / count)
            places = np.searchsorted(pointers[self.closed], goals)
            cuts = np.unique([0, *self.closed[places[places < len(self.closed)]], len(self.sizes)])
            apart = bool(np.diff(pointers[cuts]).max(initial=0) <= 2 * len(self.columns) / count)
            if not apart:
                cuts = np.unique([0, *np.searchsorted(pointers[1:], goals), len(self.sizes)])
            self._ranges[count] = Ranges([(int(a), int(b)) for a, b in pairwise(cuts)], apart)
        return self._ranges[count]


def check_tensor(name: str, value: Any) -> None:
    """An error unless the value is a tensor.

    >>> check_tensor("x", None)
    Traceback (most recent call last):
    TypeError: x must be a tensor, got None
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {brief(value)}")


def _largest(name: str, values: Tensor, limit: int) -> int:
    """The largest of integers that must be from 0 to below the limit; -1 if there are none."""
    if values.is_floating_point() or values.dtype == torch.bool:
        raise TypeError(f"entries: {name} must be integers, got {values.dtype}")
    if not values.numel():
        return -1
    least, largest = (int(value) for value in values.aminmax())
    if least < 0 or largest >= limit:
        raise ValueError(f"entries: {name} must be from 0 to {limit - 1}, got {least if least < 0 else largest}")
    return largest
