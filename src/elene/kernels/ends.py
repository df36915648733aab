"""Products of the features of edges' ends, forward and backward, in one pass each: too short a work for threads."""

from __future__ import annotations

from typing import Any

from elene.kernels.jit import kernel


@kernel
def multiply_ends(x: Any, ends: Any, products: Any) -> None:
    """``products[e] = x[a] * x[b]`` for the ends of each edge."""
    for e in range(ends.shape[1]):
        a, b = ends[0, e], ends[1, e]
        for f in range(x.shape[1]):
            products[e, f] = x[a, f] * x[b, f]


@kernel
def give_to_ends(x: Any, ends: Any, grads: Any, d_x: Any) -> None:
    """Give each end the gradient of the product, times the other end; ``d_x`` must be cleared before."""
    for e in range(ends.shape[1]):
        a, b = ends[0, e], ends[1, e]
        for f in range(x.shape[1]):
            d_x[a, f] += grads[e, f] * x[b, f]
        for f in range(x.shape[1]):
            d_x[b, f] += grads[e, f] * x[a, f]
