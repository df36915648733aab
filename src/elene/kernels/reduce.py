"""The fused op of ELENE-L: gather, add, relu and reduce over a list of entries, forward and backward, storing none.

An entry e joins a row i with a column j and carries one or two rows of a table:
``z(e) = X[i] + Y[j] + T[codes[e, 0]] (+ T[codes[e, 1]])``. Entries are grouped by row, and each row's sum is multiplied
by its scale (1, or one over its number of entries for means). The two kernels of the variance go through the same
entries without the relu.

A kernel takes a range of rows. It writes what is theirs, and adds to what is their columns' and codes', which must be
cleared before and is no one else's meanwhile. Where that is not wanted, a single row takes it all in.

The inner loops run over features, and few arrays are read and written in each: LLVM vectorises a loop if a handful of
checks can show that they do not overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.jit import kernel


@kernel
def reduce_forward(entries: Any, inputs: Any, scales: Any, out: Any, start: int, stop: int) -> None:
    """``to_rows[i] = scale[i] * sum of relu(z(e))`` over the entries of a row; those of a column are added, unscaled.

    An empty array stands for no sums by column.
    """
    pointers, columns, codes = entries
    x, y, table = inputs
    to_rows, to_columns = out
    zero, width = x.dtype.type(0), x.shape[1]
    two, shared = codes.shape[1] == 2, to_columns.shape[0] != 0
    active, total = np.empty(width, x.dtype), np.empty(width, x.dtype)
    for i in range(start, stop):
        total[:] = zero
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(columns[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            if not shared:
                for f in range(width):
                    z = x[i, f] + y[j, f] + table[c, f]
                    if two:
                        z += table[d, f]
                    total[f] += max(z, zero)
                continue
            for f in range(width):
                z = x[i, f] + y[j, f] + table[c, f]
                if two:
                    z += table[d, f]
                active[f] = max(z, zero)
            for f in range(width):
                total[f] += active[f]
                to_columns[j, f] += active[f]
        mine = scales[0][i]
        for f in range(width):
            to_rows[i, f] = mine * total[f]


@kernel
def reduce_backward(entries: Any, inputs: Any, scales: Any, grads: Any, out: Any, start: int, stop: int) -> None:
    """Give ``[z(e) > 0] (gradient of the row + gradient of the column)`` to the row, the column and the table.

    ``grads`` are those of the scaled sums by row and by column; an empty array stands for none.
    """
    pointers, columns, codes = entries
    x, y, table = inputs
    row_scale, column_scale = scales
    of_rows, of_columns = grads
    d_x, d_y, d_table = out
    zero, width = x.dtype.type(0), x.shape[1]
    two, shared = codes.shape[1] == 2, of_columns.shape[0] != 0
    to_columns, to_table = d_y.shape[0] > 1, d_table.shape[0] > 1
    given, total, above = np.empty(width, x.dtype), np.empty(width, x.dtype), np.zeros(width, x.dtype)
    for i in range(start, stop):
        if of_rows.shape[0] != 0:
            mine = row_scale[i]
            for f in range(width):
                above[f] = mine * of_rows[i, f]
        total[:] = zero
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(columns[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            theirs = column_scale[j]
            for f in range(width):
                z = x[i, f] + y[j, f] + table[c, f]
                if two:
                    z += table[d, f]
                grad = above[f]
                if shared:
                    grad += theirs * of_columns[j, f]
                given[f] = grad if z > zero else zero
            to_j, to_c, to_d = j if to_columns else 0, c if to_table else 0, d if to_table else 0
            for f in range(width):
                grad = given[f]
                total[f] += grad
                d_y[to_j, f] += grad
                d_table[to_c, f] += grad
            if two:
                for f in range(width):
                    d_table[to_d, f] += given[f]
        for f in range(width):
            d_x[i, f] = total[f]


@kernel
def squares_forward(entries: Any, inputs: Any, out: Any, start: int, stop: int) -> None:
    """Add ``z(e)^2`` over the entries of a range of rows to a total of doubles."""
    pointers, columns, codes = entries
    x, y, table = inputs
    total = out[0]
    width, two = x.shape[1], codes.shape[1] == 2
    row = np.empty(width, x.dtype)
    for i in range(start, stop):
        row[:] = 0
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(columns[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            for f in range(width):
                z = x[i, f] + y[j, f] + table[c, f]
                if two:
                    z += table[d, f]
                row[f] += z * z
        for f in range(width):
            total[f] += row[f]


@kernel
def squares_backward(entries: Any, inputs: Any, out: Any, start: int, stop: int) -> None:
    """Give ``z(e)`` to the row, the column and the table, as :func:`reduce_backward` does with gradients."""
    pointers, columns, codes = entries
    x, y, table = inputs
    d_x, d_y, d_table = out
    width, two = x.shape[1], codes.shape[1] == 2
    to_columns, to_table = d_y.shape[0] > 1, d_table.shape[0] > 1
    given, total = np.empty(width, x.dtype), np.empty(width, x.dtype)
    for i in range(start, stop):
        total[:] = 0
        for e in range(pointers[i], pointers[i + 1]):
            j, c, d = np.int64(columns[e]), np.int64(codes[e, 0]), np.int64(codes[e, codes.shape[1] - 1])
            for f in range(width):
                z = x[i, f] + y[j, f] + table[c, f]
                if two:
                    z += table[d, f]
                given[f] = z
            to_j, to_c, to_d = j if to_columns else 0, c if to_table else 0, d if to_table else 0
            for f in range(width):
                z = given[f]
                total[f] += z
                d_y[to_j, f] += z
                d_table[to_c, f] += z
            if two:
                for f in range(width):
                    d_table[to_d, f] += given[f]
        for f in range(width):
            d_x[i, f] = total[f]
