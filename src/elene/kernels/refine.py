"""Colour refinement: 1-WL on coloured arcs and folklore 2-WL on coloured pairs, with 64-bit colours.

A multiset is hashed as the sum of its members' scrambled hashes, so colours depend on structure alone, not on
numbering, and are comparable between graphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.count import chain, mix
from elene.kernels.jit import kernel


@kernel
def refine_nodes(indptr: Any, indices: Any, arcs: Any, colors: Any) -> Any:
    """One round of 1-WL: a node's colour, and the multiset of (arc colour, colour) over its neighbours."""
    refined = np.empty_like(colors)
    for v in range(colors.shape[0]):
        around = np.uint64(0)
        for e in range(indptr[v], indptr[v + 1]):
            around += chain(arcs[e], colors[indices[e]])
        refined[v] = chain(colors[v], around)
    return refined


@kernel
def refine_pairs(colors: Any) -> Any:
    """One round of folklore 2-WL: a pair's colour, and the multiset of the colours of (u,w) and (w,v) over all w."""
    n = colors.shape[0]
    transposed = colors.T.copy()
    refined = np.empty_like(colors)
    for u in range(n):
        for v in range(n):
            around = np.uint64(0)
            for w in range(n):
                around += mix(colors[u, w] + np.uint64(3) * mix(transposed[v, w]))
            refined[u, v] = chain(colors[u, v], around)
    return refined


@kernel
def chain_all(codes: Any, values: Any) -> Any:
    """Extend each of many hashes by a value of its own."""
    chained = np.empty_like(codes)
    for i in range(codes.shape[0]):
        chained[i] = chain(codes[i], values[i])
    return chained
