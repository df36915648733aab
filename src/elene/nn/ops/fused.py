"""Gather, add, relu, reduce as differentiable functions: backward visits the entries once more, and none is stored."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from elene.nn.derivatives import once_differentiable
from elene.nn.entries import Entries

Inputs = tuple[Tensor, Tensor, Tensor]  # x, a row for each row of the list; y, one for each column; table
Scales = tuple[Tensor, Tensor]
Grads = tuple[Tensor | None, Tensor | None]


@torch.compiler.disable  # type: ignore[untyped-decorator]
def reduce(inputs: Inputs, entries: Entries, pool: str, by_column: bool, backend: Any) -> tuple[Tensor, Tensor]:
    """The sums or means of relu(z(e)) by row and, if wanted, by column; ``backend`` is a module of this package."""
    dtype, device = inputs[0].dtype, inputs[0].device
    wide = _wide(dtype)
    scales = tuple(entries.scale(by, pool, wide) for by in ("row", "column"))
    with torch.autocast(device.type, enabled=False):
        cast = (tensor.to(wide).contiguous() for tensor in inputs)
        rows, columns = _FusedReduce.apply(*cast, entries, scales, by_column, backend)
    return rows.to(dtype), columns.to(dtype)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def moments(inputs: Inputs, entries: Entries, backend: Any) -> tuple[Tensor, Tensor]:
    """Mean and biased variance of z(e) over all entries."""
    with torch.autocast(inputs[0].device.type, enabled=False):
        cast = (tensor.to(_wide(tensor.dtype)).contiguous() for tensor in inputs)
        mean, variance = _EntryMoments.apply(*cast, entries, backend)
    return mean, variance


def _wide(dtype: torch.dtype) -> torch.dtype:
    """What is summed in: half precision loses too much."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


class _FusedReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, table: Tensor, *rest: Any) -> Any:
        entries, scales, by_column, backend = rest
        ctx.save_for_backward(x, y, table)
        ctx.entries, ctx.scales, ctx.by_column, ctx.backend = entries, scales, by_column, backend
        ctx.set_materialize_grads(False)
        return backend.forward((x, y, table), entries, scales, by_column)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        given = grads[0], grads[1] if ctx.by_column else None
        if given[0] is None and given[1] is None:
            return (None,) * 7
        return (*ctx.backend.backward(ctx.saved_tensors, ctx.entries, ctx.scales, given), None, None, None, None)


class _EntryMoments(torch.autograd.Function):
    """Each part is centred before it is squared: what is left is small, and single precision does."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, table: Tensor, entries: Entries, backend: Any) -> Any:
        counts, total = entries.counts(len(table)), max(len(entries.columns), 1)
        means = [count @ part.double() / total for count, part in zip(counts, (x, y, table), strict=True)]
        ctx.save_for_backward(x, y, table, *means)
        ctx.entries, ctx.counts, ctx.backend = entries, counts, backend
        squares = backend.squares(_centred((x, y, table), means, entries), entries)
        return torch.stack(means).sum(0).to(x.dtype), (squares / total).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, y, table, *means = ctx.saved_tensors
        d_mean, d_variance = (grad / max(len(ctx.entries.columns), 1) for grad in grads)
        sums = ctx.backend.spread(_centred((x, y, table), means, ctx.entries), ctx.entries)
        found = [
            torch.outer(count.to(d_mean.dtype), d_mean) + 2 * d_variance * part
            for count, part in zip(ctx.counts, sums, strict=True)
        ]
        return *found, None, None


def _centred(inputs: Inputs, means: list[Tensor], entries: Entries) -> Inputs:
    """Each part without its mean; a table that is read several times an entry loses its share each time."""
    times = (1, 1, entries.codes.shape[1])
    parts = zip(inputs, means, times, strict=True)
    return tuple(part.detach() - (mean / time).to(part.dtype) for part, mean, time in parts)  # type: ignore[return-value]
