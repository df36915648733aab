"""The fused op: gather, add, relu, reduce over a list of entries; backward recomputes, so that no entry is stored.

For the entries e = (i, j) of a list, ``z(e) = x[i] + y[j] + table[codes(e)]``, and the sums are

    rows[i] = sum over e of relu(z(e)),        columns[j] = sum over e of relu(z(e)).

The mean and the variance of z over the entries, for a norm before the relu, go through the same list.
On the CPU it runs in compiled kernels; elsewhere, or with ``backend="torch"``, in torch over chunks of entries.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from elene.nn.entries import Entries, check_tensor
from elene.nn.ops import chunked, compiled, fused
from elene.nn.ops.arcs import end_products, fold_arcs, forgotten, gated
from elene.validation import brief, check_choice

__all__ = ["ego_reduce", "end_products", "entry_moments", "fold_arcs", "forgotten", "gated"]


def ego_reduce(
    x: Tensor,
    y: Tensor,
    table: Tensor,
    entries: Entries,
    pool: str = "mean",
    by_column: bool = False,
    backend: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Sums or means of ``relu(x[row] + y[column] + table[codes])`` by row and, with ``by_column``, by column.

    Args:
        x: a row for each row of the list, ``(rows, width)``.
        y: a row for each column, ``(columns, width)``.
        table: the rows that codes name, ``(codes, width)``.
        entries: the list; see :class:`elene.nn.Entries`.
        pool: ``"mean"`` or ``"sum"``.
        by_column: whether to reduce by column, too.
        backend: ``"numba"`` or ``"torch"``; by default numba on the CPU.

    Returns:
        ``(rows, width)``, and ``(columns, width)`` or None.

    Example:
        >>> import torch
        >>> entries = Entries(torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([[0], [0]]), 2)
        >>> pooled, _ = ego_reduce(torch.zeros(1, 1), torch.tensor([[3.0], [-5.0]]), torch.ones(1, 1), entries, "sum")
        >>> pooled
        tensor([[4.]])
    """
    check_choice("pool", pool, ("mean", "sum"))
    module = _check(x, y, table, entries, backend)
    rows, columns = fused.reduce((x, y, table), entries, pool, by_column, module)
    return rows, columns if by_column else None


def entry_moments(
    x: Tensor, y: Tensor, table: Tensor, entries: Entries, backend: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and biased variance of ``x[row] + y[column] + table[codes]`` over all entries, for each feature.

    The mean needs no entry: it is a sum over rows, columns and codes. Backward visits the entries once more
    and stores none.

    Args:
        x: a row for each row of the list, ``(rows, width)``.
        y: a row for each column, ``(columns, width)``.
        table: the rows that codes name, ``(codes, width)``.
        entries: the list; see :class:`elene.nn.Entries`.
        backend: ``"numba"`` or ``"torch"``; by default numba on the CPU.

    Returns:
        Two vectors of ``width``; zeros where there are no entries.

    Example:
        >>> import torch
        >>> entries = Entries(torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([[0], [0]]), 2)
        >>> entry_moments(torch.zeros(1, 1), torch.tensor([[3.0], [-5.0]]), torch.ones(1, 1), entries)
        (tensor([0.]), tensor([16.]))
    """
    module = _check(x, y, table, entries, backend)
    mean, variance = fused.moments((x, y, table), entries, module)
    return mean, variance


def _check(x: Tensor, y: Tensor, table: Tensor, entries: Entries, backend: str | None) -> Any:
    """The module to run, if the arguments fit each other."""
    check_choice("backend", backend, (None, "numba", "torch"))
    if not isinstance(entries, Entries):
        raise TypeError(f"entries must be an elene.nn.Entries, got {brief(entries)}")
    check_tensor("table", table)
    expected = (("x", x, len(entries.sizes)), ("y", y, entries.num_columns))
    for name, tensor, rows in expected:
        check_tensor(name, tensor)
        if tensor.dim() != 2 or len(tensor) != rows:
            raise ValueError(f"{name} must have {rows} rows, one for each in the list, got shape {tuple(tensor.shape)}")
    if table.dim() != 2 or not x.shape[1] == y.shape[1] == table.shape[1]:
        widths = f"{x.shape[1]}, {y.shape[1]} and {table.shape[1] if table.dim() == 2 else tuple(table.shape)}"
        raise ValueError(f"x, y and table must be equally wide, got {widths}")
    if len(table) < entries.num_codes:
        raise ValueError(f"table must have {entries.num_codes} rows, as many as codes name, got {len(table)}")
    on_cpu = x.device.type == "cpu"
    return compiled if backend == "numba" or (backend is None and on_cpu) else chunked
