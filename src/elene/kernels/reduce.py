"""The fused op of ELENE-L: gather, add, relu and reduce over a list of entries, forward and backward, storing none.

An entry e joins a key i with an other j and carries one or two rows of a table:
``z(e) = X[i] + Y[j] + T[codes[e, 0]] (+ T[codes[e, 1]])``. Entries are grouped by key, and each key's sum is multiplied
by its scale (1, or one over its number of entries for means). The inner loops run over features, and vectorise.
The two kernels of the variance go through the same entries without the relu.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.jit import kernel


@kernel
def reduce_forward(entries: Any, inputs: Any, scale: Any, out: Any, start: int, stop: int, row: Any) -> None:
    """``out[i] = scale[i] * sum of relu(z(e))`` over the entries of each key in a range."""
    pointers, others, codes = entries
    x, y, table = inputs
    zero = x.dtype.type(0)
    width = row.shape[0]
    for i in range(start, stop):
        for f in range(width):
            row[f] = zero
        for e in range(pointers[i], pointers[i + 1]):
            j, c = np.int64(others[e]), np.int64(codes[e, 0])
            if codes.shape[1] == 1:
                for f in range(width):
                    z = x[i, f] + y[j, f] + table[c, f]
                    row[f] += z if z > zero else zero
            else:
                d = np.int64(codes[e, 1])
                for f in range(width):
                    z = x[i, f] + y[j, f] + (table[c, f] + table[d, f])
                    row[f] += z if z > zero else zero
        mine = scale[i]
        for f in range(width):
            out[i, f] = mine * row[f]


@kernel
def reduce_backward(
    entries: Any, inputs: Any, scales: Any, grads: Any, out: Any, start: int, stop: int, rows: Any
) -> None:
    """Give ``[z(e) > 0] (gradient of the key + gradient of the other)`` to the key, the other and the table.

    ``grads`` are those of the scaled sums by key and by other; an empty array stands for none. Of ``out``, the keys'
    rows in the range are overwritten, and those of others and of the table are cleared first: no two ranges share them.
    """
    pointers, others, codes = entries
    x, y, table = inputs
    by_key, by_other = grads
    key_scale, other_scale = scales
    d_x, d_y, d_table = out
    zero = x.dtype.type(0)
    width = rows.shape[1]
    d_y[:] = zero
    d_table[:] = zero
    for i in range(start, stop):
        mine = key_scale[i]
        for f in range(width):
            rows[0, f] = zero
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(others[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            for f in range(width):
                rows[1, f] = x[i, f] + y[j, f] + table[c, f]
            if codes.shape[1] == 2:
                for f in range(width):
                    rows[1, f] += table[d, f]
            theirs = other_scale[j]
            if by_key.shape[0] == 0:
                for f in range(width):
                    rows[1, f] = theirs * by_other[j, f] if rows[1, f] > zero else zero
            elif by_other.shape[0] == 0:
                for f in range(width):
                    rows[1, f] = mine * by_key[i, f] if rows[1, f] > zero else zero
            else:
                for f in range(width):
                    grad = mine * by_key[i, f] + theirs * by_other[j, f]
                    rows[1, f] = grad if rows[1, f] > zero else zero
            for f in range(width):
                rows[0, f] += rows[1, f]
            for f in range(width):
                d_y[j, f] += rows[1, f]
            for f in range(width):
                d_table[c, f] += rows[1, f]
            if codes.shape[1] == 2:
                for f in range(width):
                    d_table[d, f] += rows[1, f]
        for f in range(width):
            d_x[i, f] = rows[0, f]


@kernel
def squares_forward(entries: Any, inputs: Any, total: Any, start: int, stop: int, row: Any) -> None:
    """Add ``z(e)^2`` over the entries of a range of keys to a total of doubles."""
    pointers, others, codes = entries
    x, y, table = inputs
    width = row.shape[0]
    for i in range(start, stop):
        row[:] = 0
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(others[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            if codes.shape[1] == 1:
                for f in range(width):
                    z = x[i, f] + y[j, f] + table[c, f]
                    row[f] += z * z
            else:
                for f in range(width):
                    z = x[i, f] + y[j, f] + (table[c, f] + table[d, f])
                    row[f] += z * z
        for f in range(width):
            total[f] += row[f]


@kernel
def squares_backward(entries: Any, inputs: Any, out: Any, start: int, stop: int, rows: Any) -> None:
    """Give ``z(e)`` to the key, the other and the table: what :func:`reduce_backward` does with its gradients."""
    pointers, others, codes = entries
    x, y, table = inputs
    d_x, d_y, d_table = out
    width = rows.shape[1]
    d_y[:] = 0
    d_table[:] = 0
    for i in range(start, stop):
        rows[0] = 0
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(others[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            for f in range(width):
                rows[1, f] = x[i, f] + y[j, f] + table[c, f]
            if codes.shape[1] == 2:
                for f in range(width):
                    rows[1, f] += table[d, f]
                for f in range(width):
                    d_table[d, f] += rows[1, f]
            for f in range(width):
                rows[0, f] += rows[1, f]
            for f in range(width):
                d_y[j, f] += rows[1, f]
            for f in range(width):
                d_table[c, f] += rows[1, f]
        for f in range(width):
            d_x[i, f] = rows[0, f]
