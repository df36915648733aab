"""The fused op in torch, on any device: a bounded number of entries is spelled out at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from elene.nn.entries import Entries
from elene.nn.ops.fused import Grads, Inputs, Scales

CHUNK = 2**22  # numbers in flight at a time

Places = tuple[Tensor, Tensor, Tensor]


def forward(inputs: Inputs, entries: Entries, scales: Scales, by_column: bool) -> tuple[Tensor, Tensor]:
    """The sums by row and, if wanted, by column."""
    x, y, _ = inputs
    to_rows, to_columns = torch.zeros_like(x), torch.zeros_like(y) if by_column else y.new_empty(0, y.shape[1])
    for (rows, columns, _), z in _chunks(inputs, entries):
        active = torch.relu(z)
        to_rows.index_add_(0, rows, active)
        if by_column:
            to_columns.index_add_(0, columns, active)
    return to_rows * scales[0][:, None], to_columns * scales[1][:, None] if by_column else to_columns


def backward(inputs: Inputs, entries: Entries, scales: Scales, grads: Grads) -> Inputs:
    """The gradients of x, y and the table, given those of the sums."""
    of_rows, of_columns = (
        None if grad is None else grad * scale[:, None] for grad, scale in zip(grads, scales, strict=True)
    )
    out = _zeros(inputs)
    for places, z in _chunks(inputs, entries):
        grad = (z > 0).to(z.dtype)
        upstream = 0 if of_rows is None else of_rows[places[0]]
        grad *= upstream if of_columns is None else upstream + of_columns[places[1]]
        _scatter(out, grad, places)
    return out


def squares(inputs: Inputs, entries: Entries) -> Tensor:
    """The sum of z(e)^2 over all entries, in doubles."""
    total = inputs[0].new_zeros(inputs[0].shape[1], dtype=torch.double)
    for _, z in _chunks(inputs, entries):
        total += z.square().sum(0)
    return total


def spread(inputs: Inputs, entries: Entries) -> Inputs:
    """z(e) given to its row, its column and its rows of the table: half the gradients of the squares' sum."""
    out = _zeros(inputs)
    for places, z in _chunks(inputs, entries):
        _scatter(out, z, places)
    return out


def _chunks(inputs: Inputs, entries: Entries) -> Iterator[tuple[Places, Tensor]]:
    """Rows, columns and codes of as many entries at a time as :data:`CHUNK` allows, and their z."""
    x, y, table = inputs
    step = max(1, CHUNK // max(x.shape[1], 1))
    for start in range(0, len(entries.columns), step):
        rows, columns, codes = (
            part[start : start + step].long() for part in (entries.rows, entries.columns, entries.codes)
        )
        yield (rows, columns, codes), x[rows] + y[columns] + table[codes].sum(1)


def _zeros(inputs: Inputs) -> Inputs:
    x, y, table = inputs
    return torch.zeros_like(x), torch.zeros_like(y), torch.zeros_like(table)


def _scatter(out: Inputs, values: Tensor, places: Places) -> None:
    """Add each entry's value to its row, its column and its rows of the table."""
    for target, numbers in zip(out, places, strict=True):
        for column in numbers.reshape(len(values), -1).T:
            target.index_add_(0, column, values)
