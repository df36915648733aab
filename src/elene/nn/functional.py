"""The fused op: gather, add, relu, reduce over a list of entries; backward recomputes, so that nothing is stored an entry.

For the entries e = (i, j) of a list, ``z(e) = x[i] + y[j] + table[codes(e)]``, and the sums are

    by_key[i] = sum over e of relu(z(e)),        by_other[j] = sum over e of relu(z(e)).

On the CPU it runs in compiled kernels; elsewhere, or with ``backend="torch"``, in torch over chunks of entries.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elene.nn.ego import Entries
from elene.parallel import run_all
from elene.spec import check_choice

CHUNK = 2**22  # numbers in flight at a time in the torch path


def ego_reduce(
    x: Tensor, y: Tensor, table: Tensor, entries: Entries, pool: str = "mean", both: bool = False, backend: str | None = None
) -> tuple[Tensor, Tensor | None]:
    """Sums or means of ``relu(x[key] + y[other] + table[codes])`` by key and, with ``both``, by other.

    Args:
        x: a row for each key, ``(keys, width)``.
        y: a row for each other, ``(others, width)``.
        table: the rows that codes name, ``(rows, width)``.
        entries: the list; see :class:`elene.nn.Entries`.
        pool: ``"mean"`` or ``"sum"``.
        both: whether to reduce by other, too.
        backend: ``"numba"`` or ``"torch"``; by default numba on the CPU.

    Returns:
        ``(keys, width)`` and ``(others, width)`` or None.

    Example:
        >>> entries = Entries(torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([[0], [0]]), 2)
        >>> by_key, _ = ego_reduce(torch.zeros(1, 1), torch.tensor([[3.0], [-5.0]]), torch.ones(1, 1), entries, "sum")
        >>> by_key
        tensor([[4.]])
    """
    check_choice("pool", pool, ("mean", "sum"))
    check_choice("backend", backend, (None, "numba", "torch"))
    _check_shapes(x, y, table, entries)
    compiled = x.device.type == "cpu" if backend is None else backend == "numba"
    by_key, by_other = _reduce(x, y, table, entries, both, compiled)
    if pool == "mean":
        by_key = by_key / entries.sizes.clamp(min=1).to(by_key.dtype)[:, None]
    if not both:
        return by_key, None
    if pool == "mean":
        by_other = by_other / entries.other_sizes.clamp(min=1).to(by_other.dtype)[:, None]
    return by_key, by_other


def _check_shapes(x: Tensor, y: Tensor, table: Tensor, entries: Entries) -> None:
    expected = (("x", x, len(entries.sizes)), ("y", y, entries.num_others))
    for name, tensor, rows in expected:
        if tensor.dim() != 2 or len(tensor) != rows:
            raise ValueError(f"{name} must have {rows} rows, one for each in the list, got shape {tuple(tensor.shape)}")
    if not x.shape[1] == y.shape[1] == table.shape[1]:
        raise ValueError(f"x, y and table must be equally wide, got {x.shape[1]}, {y.shape[1]} and {table.shape[1]}")


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _reduce(x: Tensor, y: Tensor, table: Tensor, entries: Entries, both: bool, compiled: bool) -> tuple[Tensor, Tensor]:
    dtype = x.dtype
    wide = dtype if dtype in (torch.float32, torch.float64) else torch.float32
    with torch.autocast(x.device.type, enabled=False):
        inputs = (tensor.to(wide).contiguous() for tensor in (x, y, table))
        by_key, by_other = _FusedReduce.apply(*inputs, entries, both, compiled)
    return by_key.to(dtype), by_other.to(dtype)


class _FusedReduce(torch.autograd.Function):
    """The sums, and a backward that visits the entries once more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, table: Tensor, entries: Entries, both: bool, compiled: bool) -> Any:
        ctx.save_for_backward(x, y, table)
        ctx.entries, ctx.both, ctx.compiled = entries, both, compiled
        ctx.set_materialize_grads(False)
        return (_numba_forward if compiled else _torch_forward)(x, y, table, entries, both)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        x, y, table = ctx.saved_tensors
        by_key, by_other = grads[0], grads[1] if ctx.both else None
        if by_key is None and by_other is None:
            return (None,) * 6
        backward = _numba_backward if ctx.compiled else _torch_backward
        return (*backward((x, y, table), ctx.entries, by_key, by_other), None, None, None)


def _numba_forward(x: Tensor, y: Tensor, table: Tensor, entries: Entries, both: bool) -> tuple[Tensor, Tensor]:
    from elene.kernels.reduce import reduce_forward

    def sweep(rows: Entries, x: Tensor, y: Tensor) -> Tensor:
        out = torch.empty_like(x)
        arrays = [tensor.detach().numpy() for tensor in (x, y, table, out)]
        scratch = [np.empty(x.shape[1], arrays[0].dtype) for _ in rows.ranges]
        tasks = [
            partial(reduce_forward, rows.arrays, *arrays, start, stop, scratch[i])
            for i, (start, stop) in enumerate(rows.ranges)
        ]
        run_all(tasks, None)
        return out

    return sweep(entries, x, y), sweep(entries.turned, y, x) if both else y.new_empty(0, y.shape[1])


def _numba_backward(
    inputs: tuple[Tensor, Tensor, Tensor], entries: Entries, by_key: Tensor | None, by_other: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    from elene.kernels.reduce import reduce_backward

    x, y, table = (tensor.detach().numpy() for tensor in inputs)
    none = np.empty((0, x.shape[1]), x.dtype)
    grads = [none if grad is None else grad.contiguous().numpy() for grad in (by_key, by_other)]
    d_x, d_y = np.empty_like(x), np.empty_like(y)
    tables = [np.zeros_like(table) for _ in entries.ranges]
    tasks = []
    for i, (start, stop) in enumerate(entries.ranges):
        rows = np.empty((2, x.shape[1]), x.dtype)
        out = (d_x, tables[i])
        tasks.append(partial(reduce_backward, entries.arrays, (x, y, table), tuple(grads), out, start, stop, rows))
    for start, stop in entries.turned.ranges:
        rows = np.empty((2, x.shape[1]), x.dtype)
        turned, swapped = entries.turned.arrays, (y, x, table)
        tasks.append(partial(reduce_backward, turned, swapped, (grads[1], grads[0]), (d_y, none), start, stop, rows))
    run_all(tasks, None)
    d_table = tables[0]
    for part in tables[1:]:
        d_table += part
    return torch.from_numpy(d_x), torch.from_numpy(d_y), torch.from_numpy(d_table)


def _chunks(entries: Entries, width: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Keys, others and codes of as many entries at a time as :data:`CHUNK` allows."""
    step = max(1, CHUNK // max(width, 1))
    parts = (entries.keys, entries.others.long(), entries.codes.long())
    return [tuple(part[i : i + step] for part in parts) for i in range(0, len(entries.others), step)]  # type: ignore[misc]


def _torch_forward(x: Tensor, y: Tensor, table: Tensor, entries: Entries, both: bool) -> tuple[Tensor, Tensor]:
    by_key, by_other = torch.zeros_like(x), torch.zeros_like(y) if both else y.new_empty(0, y.shape[1])
    for keys, others, codes in _chunks(entries, x.shape[1]):
        active = torch.relu(x[keys] + y[others] + table[codes].sum(1))
        by_key.index_add_(0, keys, active)
        if both:
            by_other.index_add_(0, others, active)
    return by_key, by_other


def _torch_backward(
    inputs: tuple[Tensor, Tensor, Tensor], entries: Entries, by_key: Tensor | None, by_other: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    x, y, table = inputs
    d_x, d_y, d_table = torch.zeros_like(x), torch.zeros_like(y), torch.zeros_like(table)
    for keys, others, codes in _chunks(entries, x.shape[1]):
        grad = (x[keys] + y[others] + table[codes].sum(1) > 0).to(x.dtype)
        upstream = 0 if by_key is None else by_key[keys]
        grad *= upstream if by_other is None else upstream + by_other[others]
        d_x.index_add_(0, keys, grad)
        d_y.index_add_(0, others, grad)
        for column in codes.T:
            d_table.index_add_(0, column, grad)
    return d_x, d_y, d_table
