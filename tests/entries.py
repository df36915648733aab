"""Random lists of entries, and what stands at each of them."""

from __future__ import annotations

import torch

from elene.nn import Entries


def example(seed=0, rows=5, columns=4, table_size=3, width=3, codes=1, dtype=torch.double):
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(0, 4, (rows,), generator=generator)
    count = int(sizes.sum())
    chosen = torch.randint(0, columns, (count,), generator=generator).int()
    listed = torch.randint(0, table_size, (count, codes), generator=generator).int()
    tensors = [
        torch.randn(n, width, dtype=dtype, generator=generator, requires_grad=True) for n in (rows, columns, table_size)
    ]
    return tensors, Entries(sizes.int(), chosen, listed, columns)


def stacked(tensors, entries):
    """z(e) of all entries."""
    x, y, table = tensors
    listed = zip(entries.rows.tolist(), entries.columns.tolist(), entries.codes.tolist(), strict=True)
    found = [x[row] + y[column] + sum(table[code] for code in codes) for row, column, codes in listed]
    return torch.stack(found) if found else x[:0]
