"""Functions that can be differentiated once: what a second derivative gets is an error, never a wrong number."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor


class _Once(torch.autograd.Function):
    """Gradients as they are, which cannot be differentiated again."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(grad.view_as(grad) for grad in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise NotImplementedError(
            "the sums of ELENE-L do not differentiate twice: leave the layer out of what a second derivative is taken "
            "of, such as a penalty on gradients"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A backward that computes without autograd; torch's own lets some second derivatives pass as zeros."""

    @wraps(backward)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        with torch.no_grad():
            found = backward(ctx, *grads)
        places = [i for i, grad in enumerate(found) if isinstance(grad, Tensor)]
        if not places or not torch.is_grad_enabled():
            return found
        # They depend on whatever went in, and so no way back to it goes past the error.
        origins = [tensor for tensor in (*grads, *ctx.saved_tensors) if isinstance(tensor, Tensor)]
        marked = _Once.apply(len(places), *(found[i].detach() for i in places), *origins)
        replaced = dict(zip(places, marked, strict=True))
        return tuple(replaced.get(i, grad) for i, grad in enumerate(found))

    return wrapped
