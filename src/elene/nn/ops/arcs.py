"""Sums and products of nodes, arcs and edges that store less for backward, or take fewer passes, than autograd's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from elene.nn.derivatives import once_differentiable


@torch.compiler.disable  # type: ignore[untyped-decorator]
def end_products(x: Tensor, ends: Tensor) -> Tensor:
    """``x[ends[0]] * x[ends[1]]``; what is gathered is not stored for backward.

    >>> end_products(torch.tensor([[2.0], [3.0]]), torch.tensor([[0], [1]]))
    tensor([[6.]])
    """
    if ends.dtype != torch.long or ends.dim() != 2 or len(ends) != 2:
        raise ValueError(f"ends must be integers of shape (2, edges), got {ends.dtype} of shape {tuple(ends.shape)}")
    least, largest = map(int, ends.aminmax()) if ends.numel() else (0, -1)
    if least < 0 or largest >= len(x):
        raise ValueError(f"ends must be from 0 to {len(x) - 1}, got {least if least < 0 else largest}")
    products: Tensor = _EndProducts.apply(x, ends)
    return products


class _EndProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, ends: Tensor) -> Tensor:
        ctx.save_for_backward(x, ends)
        if not _is_compiled(x):
            return x.index_select(0, ends[0]) * x.index_select(0, ends[1])
        from elene.kernels.ends import multiply_ends

        products = x.new_empty(ends.shape[1], x.shape[1])
        multiply_ends(*_arrays(x, ends, products))
        return products

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, ends = ctx.saved_tensors
        d_x = x.new_zeros(x.shape)
        if not _is_compiled(x):
            for mine, other in (ends, ends.flip(0)):
                d_x.index_add_(0, mine, grads[0] * x.index_select(0, other))
            return d_x, None
        from elene.kernels.ends import give_to_ends

        give_to_ends(*_arrays(x, ends, grads[0], d_x))
        return d_x, None


def _is_compiled(x: Tensor) -> bool:
    """Whether there is a kernel for such a tensor."""
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def _arrays(*tensors: Tensor) -> tuple[Any, ...]:
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


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


def fold_arcs(values: Tensor, arcs: Tensor, directions: Tensor) -> Tensor:
    """For each undirected edge the sum over its two arcs; ``directions`` holds their places, ``(2, edges)``.

    >>> fold_arcs(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 0]), torch.tensor([[0], [1]]))
    tensor([[3.]])
    """
    folded: Tensor = _FoldArcs.apply(values, arcs, directions)
    return folded


def _fold(values: Tensor, directions: Tensor) -> Tensor:
    return values.index_select(0, directions[0]) + values.index_select(0, directions[1])


class _FoldArcs(torch.autograd.Function):
    """Gathers both ways, where autograd would scatter."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, arcs: Tensor, directions: Tensor) -> Tensor:
        ctx.arcs = arcs
        return _fold(values, directions)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return grads[0].index_select(0, ctx.arcs), None, None
