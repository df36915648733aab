"""Random lists of entries, and what stands at each of them."""

from __future__ import annotations

import torch

from elene.nn import Entries


def example(seed=0, keys=5, others=4, rows=3, width=3, columns=1, dtype=torch.double):
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(0, 4, (keys,), generator=generator)
    count = int(sizes.sum())
    chosen = torch.randint(0, others, (count,), generator=generator).int()
    codes = torch.randint(0, rows, (count, columns), generator=generator).int()
    tensors = [
        torch.randn(n, width, dtype=dtype, generator=generator, requires_grad=True) for n in (keys, others, rows)
    ]
    return tensors, Entries(sizes.int(), chosen, codes, others)


def stacked(tensors, entries):
    """z(e) of all entries."""
    x, y, table = tensors
    listed = zip(entries.keys.tolist(), entries.others.tolist(), entries.codes.tolist(), strict=True)
    rows = [x[key] + y[other] + sum(table[code] for code in codes) for key, other, codes in listed]
    return torch.stack(rows) if rows else x[:0]
