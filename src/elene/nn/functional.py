"""The fused op: gather, add, relu, reduce over a list of entries; backward recomputes, so that no entry is stored.

For the entries e = (i, j) of a list, ``z(e) = x[i] + y[j] + table[codes(e)]``, and the sums are

    by_key[i] = sum over e of relu(z(e)),        by_other[j] = sum over e of relu(z(e)).

The mean and the variance of z over the entries, for a norm before the relu, go through the same list.
On the CPU it runs in compiled kernels; elsewhere, or with ``backend="torch"``, in torch over chunks of entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elene.engine.parallel import run_all
from elene.nn.derivatives import once_differentiable
from elene.nn.ego import Entries, Ranges, check_tensor
from elene.validation import brief, check_choice

Inputs = tuple[Tensor, Tensor, Tensor]
Scales = tuple[Tensor, Tensor]
Grads = tuple[Tensor | None, Tensor | None]

CHUNK = 2**22  # numbers in flight at a time in the torch path
# A range of keys has a table of gradients of its own.
APART = 8  # entries of a row of the table for which one more range pays
TABLES = 2**26  # numbers in all of these tables


def ego_reduce(
    x: Tensor,
    y: Tensor,
    table: Tensor,
    entries: Entries,
    pool: str = "mean",
    both: bool = False,
    backend: str | None = None,
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
    compiled = _check(x, y, table, entries, backend)
    by_key, by_other = _reduce((x, y, table), entries, pool, both, compiled)
    return by_key, by_other if both else None


def entry_moments(
    x: Tensor, y: Tensor, table: Tensor, entries: Entries, backend: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and biased variance of ``x[key] + y[other] + table[codes]`` over all entries, for each feature.

    The mean needs no entry: it is a sum over keys, others and rows of the table. Backward visits the entries once more
    and stores none.

    Args:
        x: a row for each key, ``(keys, width)``.
        y: a row for each other, ``(others, width)``.
        table: the rows that codes name, ``(rows, width)``.
        entries: the list; see :class:`elene.nn.Entries`.
        backend: ``"numba"`` or ``"torch"``; by default numba on the CPU.

    Returns:
        Two vectors of ``width``; zeros where there are no entries.

    Example:
        >>> entries = Entries(torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([[0], [0]]), 2)
        >>> entry_moments(torch.zeros(1, 1), torch.tensor([[3.0], [-5.0]]), torch.ones(1, 1), entries)
        (tensor([0.]), tensor([16.]))
    """
    return _moments((x, y, table), entries, _check(x, y, table, entries, backend))


def end_products(x: Tensor, ends: Tensor) -> Tensor:
    """``x[ends[0]] * x[ends[1]]``; what is gathered is not stored for backward.

    >>> end_products(torch.tensor([[2.0], [3.0]]), torch.tensor([[0], [1]]))
    tensor([[6.]])
    """
    products: Tensor = _EndProducts.apply(x, ends)
    return products


class _EndProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, ends: Tensor) -> Tensor:
        ctx.save_for_backward(x, ends)
        return x.index_select(0, ends[0]) * x.index_select(0, ends[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, ends = ctx.saved_tensors
        d_x = torch.zeros_like(x)
        for mine, other in (ends, ends.flip(0)):
            d_x = d_x.index_add(0, mine, grads[0] * x.index_select(0, other))
        return d_x, None


class forgotten(torch.autograd.graph.saved_tensors_hooks):
    """Inside, some tensors are not stored for backward: each is made again, where that is cheap.

    What they are made of must be stored anyway, and stay as it is. Modules that are called inside see ordinary tensors.

    Args:
        known: pairs of a tensor that is not to be stored, and what makes it again.

    Example:
        >>> x, linear = torch.ones(2, 3), torch.nn.Linear(3, 1)
        >>> doubled = 2 * x
        >>> with forgotten((doubled, lambda: 2 * x)):
        ...     y = linear(doubled)
        >>> y.sum().backward()
        >>> linear.weight.grad
        tensor([[4., 4., 4.]])
    """

    def __init__(self, *known: tuple[Tensor, Callable[[], Tensor]]) -> None:
        makers = {(tensor.data_ptr(), tensor.shape, tensor.stride()): make for tensor, make in known}

        def pack(saved: Tensor) -> Tensor | Callable[[], Tensor]:
            return makers.get((saved.data_ptr(), saved.shape, saved.stride()), saved)

        def unpack(packed: Tensor | Callable[[], Tensor]) -> Tensor:
            return packed if isinstance(packed, Tensor) else packed()

        super().__init__(pack, unpack)


def gated(x: Tensor | None, y: Tensor, gates: Tensor, edges: tuple[Tensor, Tensor] | None = None) -> Tensor:
    """``gates[0] * x + gates[1] * y``, in fewer passes than autograd would take; without x the second term alone.

    Given the undirected edge of each arc and the places of each edge's two arcs, y is read at its edge for each arc.

    >>> gated(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([1.0, 10.0]))
    tensor([21.])
    """
    weighed: Tensor = _Gated.apply(x, y, gates, edges)
    return weighed


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor | None, y: Tensor, gates: Tensor, edges: tuple[Tensor, Tensor] | None) -> Tensor:
        ctx.save_for_backward(x, y, gates)
        ctx.edges = edges
        new = y if edges is None else y.index_select(0, edges[0])
        return new * gates[1] if x is None else (x * gates[0]).addcmul_(new, gates[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, y, gates = ctx.saved_tensors
        by_x = grads[0]
        by_y = by_x if ctx.edges is None else _fold(by_x, ctx.edges[1])
        along = [gates.new_zeros(()) if part is None else _dot(grad, part) for grad, part in ((by_x, x), (by_y, y))]
        return None if x is None else by_x * gates[0], by_y * gates[1], torch.stack(along), None


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """Of all numbers: nothing as large as either is made."""
    return torch.dot(a.flatten(), b.to(a.dtype).flatten())


def fold_arcs(values: Tensor, arcs: Tensor, both: Tensor) -> Tensor:
    """For each undirected edge the sum over its two arcs; ``both`` holds their places, ``(2, edges)``.

    >>> fold_arcs(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 0]), torch.tensor([[0], [1]]))
    tensor([[3.]])
    """
    folded: Tensor = _FoldArcs.apply(values, arcs, both)
    return folded


def _fold(values: Tensor, both: Tensor) -> Tensor:
    return values.index_select(0, both[0]) + values.index_select(0, both[1])


class _FoldArcs(torch.autograd.Function):
    """Gathers both ways, where autograd would scatter."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, arcs: Tensor, both: Tensor) -> Tensor:
        ctx.arcs = arcs
        return _fold(values, both)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return grads[0].index_select(0, ctx.arcs), None, None


def _check(x: Tensor, y: Tensor, table: Tensor, entries: Entries, backend: str | None) -> bool:
    """Whether to run compiled kernels, if the arguments fit each other."""
    check_choice("backend", backend, (None, "numba", "torch"))
    if not isinstance(entries, Entries):
        raise TypeError(f"entries must be an elene.nn.Entries, got {brief(entries)}")
    check_tensor("table", table)
    expected = (("x", x, len(entries.sizes)), ("y", y, entries.num_others))
    for name, tensor, rows in expected:
        check_tensor(name, tensor)
        if tensor.dim() != 2 or len(tensor) != rows:
            raise ValueError(f"{name} must have {rows} rows, one for each in the list, got shape {tuple(tensor.shape)}")
    if table.dim() != 2 or not x.shape[1] == y.shape[1] == table.shape[1]:
        widths = f"{x.shape[1]}, {y.shape[1]} and {table.shape[1] if table.dim() == 2 else tuple(table.shape)}"
        raise ValueError(f"x, y and table must be equally wide, got {widths}")
    if len(table) < entries.rows:
        raise ValueError(f"table must have {entries.rows} rows, as many as codes name, got {len(table)}")
    return x.device.type == "cpu" if backend is None else backend == "numba"


def _wide(dtype: torch.dtype) -> torch.dtype:
    """What is summed in: half precision loses too much."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _reduce(inputs: Inputs, entries: Entries, pool: str, both: bool, compiled: bool) -> tuple[Tensor, Tensor]:
    dtype, device = inputs[0].dtype, inputs[0].device
    wide = _wide(dtype)
    scales = tuple(entries.scale(by, pool, wide) for by in ("key", "other"))
    with torch.autocast(device.type, enabled=False):
        cast = (tensor.to(wide).contiguous() for tensor in inputs)
        by_key, by_other = _FusedReduce.apply(*cast, entries, scales, both, compiled)
    return by_key.to(dtype), by_other.to(dtype)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _moments(inputs: Inputs, entries: Entries, compiled: bool) -> tuple[Tensor, Tensor]:
    with torch.autocast(inputs[0].device.type, enabled=False):
        cast = (tensor.to(_wide(tensor.dtype)).contiguous() for tensor in inputs)
        mean, variance = _EntryMoments.apply(*cast, entries, compiled)
    return mean, variance


class _FusedReduce(torch.autograd.Function):
    """The sums, and a backward that visits the entries once more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, table: Tensor, *rest: Any) -> Any:
        entries, scales, both, compiled = rest
        ctx.save_for_backward(x, y, table)
        ctx.entries, ctx.scales, ctx.both, ctx.compiled = entries, scales, both, compiled
        ctx.set_materialize_grads(False)
        return (_numba_forward if compiled else _torch_forward)((x, y, table), entries, scales, both)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        by_key, by_other = grads[0], grads[1] if ctx.both else None
        if by_key is None and by_other is None:
            return (None,) * 7
        backward = _numba_backward if ctx.compiled else _torch_backward
        return (*backward(ctx.saved_tensors, ctx.entries, ctx.scales, (by_key, by_other)), None, None, None, None)


class _EntryMoments(torch.autograd.Function):
    """Each part is centred before it is squared: what is left is small, and single precision does."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, table: Tensor, entries: Entries, compiled: bool) -> Any:
        counts, total = entries.counts(len(table)), max(len(entries.others), 1)
        means = [count @ part.double() / total for count, part in zip(counts, (x, y, table), strict=True)]
        ctx.save_for_backward(x, y, table, *means)
        ctx.entries, ctx.counts, ctx.compiled = entries, counts, compiled
        squares = (_numba_squares if compiled else _torch_squares)(_centred((x, y, table), means, entries), entries)
        return torch.stack(means).sum(0).to(x.dtype), (squares / total).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, y, table, *means = ctx.saved_tensors
        d_mean, d_variance = (grad / max(len(ctx.entries.others), 1) for grad in grads)
        centred = _centred((x, y, table), means, ctx.entries)
        sums = (_numba_spread if ctx.compiled else _torch_spread)(centred, ctx.entries)
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


def _turns(x: Tensor, y: Tensor) -> bool:
    """Whether others are so many more than keys that it pays to go through them in order, and to keys at random."""
    return len(y) > 2 * len(x)


def _alone(ranges: Ranges) -> bool:
    """Whether whoever works on a range is alone with the others that it writes to.

    If not, the list is gone through once more, grouped by other. Either way each sum is taken in the order of keys:
    the number of threads changes no bit.
    """
    return ranges.apart or torch.get_num_threads() == 1


def _numba_forward(inputs: Inputs, entries: Entries, scales: Scales, both: bool) -> tuple[Tensor, Tensor]:
    x, y, table = (tensor.detach() for tensor in inputs)
    if both and _turns(x, y):
        by_other, by_key = _numba_forward((y, x, table), entries.turned, scales[::-1], both)
        return by_key, by_other
    by_key, by_other = torch.empty_like(x), y.new_zeros(len(y) if both else 0, y.shape[1])
    if not both or _alone(entries.ranges(x.shape[1])):
        _sweep_forward((x, y, table), entries, scales[0], (by_key, by_other))
        return by_key, by_other.mul_(scales[1][:, None]) if both else by_other
    _sweep_forward((x, y, table), entries, scales[0], (by_key, by_other[:0]))
    _sweep_forward((y, x, table), entries.turned, scales[1], (by_other, by_key[:0]))
    return by_key, by_other


def _sweep_forward(inputs: Inputs, entries: Entries, scale: Tensor, out: tuple[Tensor, Tensor]) -> None:
    from elene.kernels.reduce import reduce_forward

    shared = (entries.arrays, _arrays(inputs), scale.numpy(), _arrays(out))
    bounds = entries.ranges(inputs[0].shape[1]).bounds
    run_all([partial(reduce_forward, *shared, *each) for each in bounds], torch.get_num_threads())


def _arrays(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple(tensor.numpy() for tensor in tensors)


def _numba_squares(inputs: Inputs, entries: Entries) -> Tensor:
    from elene.kernels.reduce import squares_forward

    arrays, bounds = _arrays(inputs), entries.ranges(inputs[0].shape[1]).bounds
    totals = np.zeros((len(bounds), inputs[0].shape[1]))
    tasks = [
        partial(squares_forward, entries.arrays, arrays, total, *each)
        for total, each in zip(totals, bounds, strict=True)
    ]
    run_all(tasks, torch.get_num_threads())
    return torch.from_numpy(totals.sum(0))


def _numba_backward(inputs: Inputs, entries: Entries, scales: Scales, grads: Grads) -> Inputs:
    from elene.kernels.reduce import reduce_backward

    none = inputs[0].new_empty(0, inputs[0].shape[1])
    by_key, by_other = ((none if grad is None else grad).contiguous() for grad in grads)
    return _sweep_backward(reduce_backward, inputs, entries, [scales, (by_key, by_other)])


def _numba_spread(inputs: Inputs, entries: Entries) -> Inputs:
    from elene.kernels.reduce import squares_backward

    return _sweep_backward(squares_backward, inputs, entries, [])


def _sweep_backward(sweep: Any, inputs: Inputs, entries: Entries, pairs: Sequence[tuple[Tensor, Tensor]]) -> Inputs:
    """Run a kernel that gives to keys, others and the table; of each pair, one is the keys' and one the others'."""
    x, y, table = (tensor.detach() for tensor in inputs)
    if _turns(x, y):
        flipped = [(theirs, mine) for mine, theirs in pairs]
        d_y, d_x, d_table = _sweep_backward(sweep, (y, x, table), entries.turned, flipped)
        return d_x, d_y, d_table
    size, width = table.shape
    most = max(2, min(len(entries.others) // (APART * size + 1), TABLES // (size * width + 1)))
    ranges = entries.ranges(width, most)
    d_x, tables = torch.empty_like(x), table.new_zeros(len(ranges.bounds), size, width)

    def run(entries: Entries, inputs: Inputs, pairs: Sequence[tuple[Tensor, ...]], outs: Any) -> None:
        shared = (entries.arrays, _arrays(inputs), *map(_arrays, pairs))
        bounds = entries.ranges(width, most).bounds
        tasks = [partial(sweep, *shared, _arrays(outs(i)), *each) for i, each in enumerate(bounds)]
        run_all(tasks, torch.get_num_threads())

    def nowhere() -> Tensor:
        return x.new_zeros(1, width)

    if _alone(ranges):
        d_y = torch.zeros_like(y)
        run(entries, (x, y, table), pairs, lambda i: (d_x, d_y, tables[i]))
    else:
        d_y = torch.empty_like(y)
        run(entries, (x, y, table), pairs, lambda i: (d_x, nowhere(), tables[i]))
        flipped = [pair[::-1] for pair in pairs]
        run(entries.turned, (y, x, table), flipped, lambda i: (d_y, nowhere(), nowhere()))
    return d_x, d_y, tables.sum(0)


def _chunks(entries: Entries, width: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Keys, others and codes of as many entries at a time as :data:`CHUNK` allows."""
    step = max(1, CHUNK // max(width, 1))
    parts = (entries.keys, entries.others.long(), entries.codes.long())
    return [tuple(part[i : i + step] for part in parts) for i in range(0, len(entries.others), step)]  # type: ignore[misc]


def _torch_forward(inputs: Inputs, entries: Entries, scales: Scales, both: bool) -> tuple[Tensor, Tensor]:
    x, y, table = inputs
    by_key, by_other = torch.zeros_like(x), torch.zeros_like(y) if both else y.new_empty(0, y.shape[1])
    for keys, others, codes in _chunks(entries, x.shape[1]):
        active = torch.relu(x[keys] + y[others] + table[codes].sum(1))
        by_key.index_add_(0, keys, active)
        if both:
            by_other.index_add_(0, others, active)
    return by_key * scales[0][:, None], by_other * scales[1][:, None] if both else by_other


def _torch_backward(inputs: Inputs, entries: Entries, scales: Scales, grads: Grads) -> Inputs:
    x, y, table = inputs
    by_key, by_other = (
        None if grad is None else grad * scale[:, None] for grad, scale in zip(grads, scales, strict=True)
    )
    d_x, d_y, d_table = torch.zeros_like(x), torch.zeros_like(y), torch.zeros_like(table)
    for keys, others, codes in _chunks(entries, x.shape[1]):
        grad = (x[keys] + y[others] + table[codes].sum(1) > 0).to(x.dtype)
        upstream = 0 if by_key is None else by_key[keys]
        grad *= upstream if by_other is None else upstream + by_other[others]
        _scatter((d_x, d_y, d_table), grad, (keys, others, codes))
    return d_x, d_y, d_table


def _torch_squares(inputs: Inputs, entries: Entries) -> Tensor:
    x, y, table = inputs
    total = x.new_zeros(x.shape[1], dtype=torch.double)
    for keys, others, codes in _chunks(entries, x.shape[1]):
        total += (x[keys] + y[others] + table[codes].sum(1)).square().sum(0)
    return total


def _torch_spread(inputs: Inputs, entries: Entries) -> Inputs:
    x, y, table = inputs
    d_x, d_y, d_table = torch.zeros_like(x), torch.zeros_like(y), torch.zeros_like(table)
    for keys, others, codes in _chunks(entries, x.shape[1]):
        _scatter((d_x, d_y, d_table), x[keys] + y[others] + table[codes].sum(1), (keys, others, codes))
    return d_x, d_y, d_table


def _scatter(out: Inputs, values: Tensor, entries: tuple[Tensor, Tensor, Tensor]) -> None:
    """Add each entry's value to its key, its other and its rows of the table."""
    for target, places in zip(out, entries, strict=True):
        for column in places.reshape(len(values), -1).T:
            target.index_add_(0, column, values)
