"""The fused op in compiled kernels, on the CPU: ranges of rows run on threads, and none writes where another does.

A list can be gone through by row or, transposed, by column. Each sum is taken in the order of the list, whatever the
number of threads: it changes no bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elene.engine.parallel import run_all
from elene.nn.entries import Entries, Ranges
from elene.nn.ops.fused import Grads, Inputs, Scales

# In backward, a range of rows has a table of gradients of its own.
APART = 8  # entries of a row of the table for which one more range pays
TABLES = 2**26  # numbers in all of these tables


class _Sweep(NamedTuple):
    """One way through a list: its entries, what they are summed from, and pairs of which rows and columns have one."""

    entries: Entries
    inputs: Inputs
    pairs: tuple[tuple[Tensor, Tensor], ...] = ()

    def transposed(self) -> _Sweep:
        """The other way: what was the rows' is the columns'."""
        x, y, table = self.inputs
        return _Sweep(self.entries.transposed, (y, x, table), tuple((b, a) for a, b in self.pairs))

    def is_better_transposed(self) -> bool:
        """Whether columns are so many more than rows that it pays to visit them in order, and rows at random."""
        return len(self.inputs[1]) > 2 * len(self.inputs[0])

    def run(self, kernel: Callable[..., None], ranges: Ranges, outs: Sequence[tuple[Tensor, ...]]) -> None:
        """Call a kernel on every range, each with an output of its own."""
        shared = (self.entries.arrays, _arrays(self.inputs), *map(_arrays, self.pairs))
        tasks = [partial(kernel, *shared, _arrays(out), *each) for out, each in zip(outs, ranges.bounds, strict=True)]
        run_all(tasks, torch.get_num_threads())


def forward(inputs: Inputs, entries: Entries, scales: Scales, by_column: bool) -> tuple[Tensor, Tensor]:
    """The sums by row and, if wanted, by column."""
    sweep = _Sweep(entries, _detached(inputs), (scales,))
    if by_column and sweep.is_better_transposed():
        to_columns, to_rows = _sums(sweep.transposed(), by_column)
        return to_rows, to_columns
    return _sums(sweep, by_column)


def _sums(sweep: _Sweep, by_column: bool) -> tuple[Tensor, Tensor]:
    from elene.kernels.reduce import reduce_forward

    x, y, _ = sweep.inputs
    ranges = sweep.entries.ranges(x.shape[1])
    if by_column and not _is_alone(ranges):
        return _sums(sweep, by_column=False)[0], _sums(sweep.transposed(), by_column=False)[0]
    to_rows, to_columns = torch.empty_like(x), y.new_zeros(len(y) if by_column else 0, y.shape[1])
    sweep.run(reduce_forward, ranges, [(to_rows, to_columns)] * len(ranges.bounds))
    return to_rows, to_columns.mul_(sweep.pairs[0][1][:, None]) if by_column else to_columns


def backward(inputs: Inputs, entries: Entries, scales: Scales, grads: Grads) -> Inputs:
    """The gradients of x, y and the table, given those of the sums."""
    from elene.kernels.reduce import reduce_backward

    none = inputs[0].new_empty(0, inputs[0].shape[1])
    of_rows, of_columns = ((none if grad is None else grad).contiguous() for grad in grads)
    return _give(reduce_backward, _Sweep(entries, _detached(inputs), (scales, (of_rows, of_columns))))


def squares(inputs: Inputs, entries: Entries) -> Tensor:
    """The sum of z(e)^2 over all entries, in doubles."""
    from elene.kernels.reduce import squares_forward

    ranges = entries.ranges(inputs[0].shape[1])
    totals = torch.zeros(len(ranges.bounds), inputs[0].shape[1], dtype=torch.double)
    _Sweep(entries, inputs).run(squares_forward, ranges, [(total,) for total in totals])
    return totals.sum(0)


def spread(inputs: Inputs, entries: Entries) -> Inputs:
    """z(e) given to its row, its column and its rows of the table: half the gradients of the squares' sum."""
    from elene.kernels.reduce import squares_backward

    return _give(squares_backward, _Sweep(entries, inputs))


def _give(kernel: Callable[..., None], sweep: _Sweep) -> Inputs:
    """What a kernel gives to rows, to columns and to the table, each summed."""
    if sweep.is_better_transposed():
        to_columns, to_rows, to_table = _give(kernel, sweep.transposed())
        return to_rows, to_columns, to_table
    (x, y, table), entries = sweep.inputs, sweep.entries
    size, width = table.shape
    most = max(2, min(len(entries.columns) // (APART * size + 1), TABLES // (size * width + 1)))
    ranges = entries.ranges(width, most)
    to_rows, to_columns = torch.empty_like(x), torch.zeros_like(y)
    tables = table.new_zeros(len(ranges.bounds), size, width)
    if _is_alone(ranges):
        sweep.run(kernel, ranges, [(to_rows, to_columns, own) for own in tables])
        return to_rows, to_columns, tables.sum(0)
    sweep.run(kernel, ranges, [(to_rows, _nowhere(x), own) for own in tables])
    by_column = sweep.transposed()
    ranges = by_column.entries.ranges(width, most)
    by_column.run(kernel, ranges, [(to_columns, _nowhere(x), _nowhere(x)) for _ in ranges.bounds])
    return to_rows, to_columns, tables.sum(0)


def _is_alone(ranges: Ranges) -> bool:
    """Whether whoever works on a range is alone with the columns that it adds to.

    If not, the list is gone through twice, by row and by column.
    """
    return ranges.apart or torch.get_num_threads() == 1


def _nowhere(like: Tensor) -> Tensor:
    """A single row, which takes in all that is not wanted."""
    return like.new_zeros(1, like.shape[1])


def _detached(inputs: Inputs) -> Inputs:
    x, y, table = inputs
    return x.detach(), y.detach(), table.detach()


def _arrays(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple(tensor.numpy() for tensor in tensors)
