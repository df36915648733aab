"""Codes of quadruplets: from numbers among each graph's own rows to numbers among those of a whole batch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def renumber_codes(
    codes: Tensor, lists: tuple[Tensor, Tensor], shape: NDArray[np.int64], rows: Tensor
) -> tuple[Tensor, Tensor]:
    """Codes into each graph's own rows, as codes into the distinct rows of all graphs; and these.

    ``lists`` are the number of codes of each node, and the column that each code belongs to; ``shape`` has (nodes,
    columns, rows) of each graph.
    """
    sizes, columns = lists
    whole = shape.min() >= 0 and len(sizes) == shape[:, 0].sum() and len(rows) == shape[:, 2].sum()
    wrong = 0 if not whole or len(codes) != len(columns) else -1
    distinct, number = distinct_rows(rows.cpu().numpy())
    if wrong < 0 and codes.device.type == "cpu":
        from elene.kernels.structure import renumber

        renumbered, wrong = renumber(codes.numpy(), sizes.numpy(), columns.numpy(), shape, number)
        found = torch.from_numpy(renumbered)
    elif wrong < 0:
        found, wrong = renumber_in_torch(codes, lists, torch.from_numpy(shape).to(codes.device), number)
    if wrong >= 0:
        raise ValueError(
            f"the ego-network lists of data do not fit each other (graph {wrong} of {len(shape)}): make them with "
            "elene.transforms.EgoStructure, and keep its class of data, EgoData, until they are batched"
        )
    return found, torch.from_numpy(distinct).to(codes.device)


def renumber_in_torch(
    codes: Tensor, lists: tuple[Tensor, Tensor], shape: Tensor, number: NDArray[np.int32]
) -> tuple[Tensor, int]:
    """What the kernel does, on other devices."""
    sizes, columns = lists
    if int(sizes.sum()) != len(codes) or bool((sizes < 0).any()):
        return codes, 0
    graph = torch.repeat_interleave(torch.arange(len(shape), device=codes.device), shape[:, 0])
    graph = torch.repeat_interleave(graph, sizes.long())
    first = (shape.cumsum(0) - shape)[graph]
    limit = shape[graph]
    own, code = columns.long() - first[:, 1], codes.long()
    outside = (own < 0) | (own >= limit[:, 1]) | (code < 0) | (code >= limit[:, 2])
    if bool(outside.any()):
        return codes, int(graph[outside][0])
    return torch.from_numpy(number).to(codes.device)[code + first[:, 2]], -1


def distinct_rows(rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct rows of four or eight small integers in ascending order, and each row's number among them."""
    quadruplets = rows.reshape(-1, 4).astype(np.int64)
    base = int(quadruplets.max(initial=0)) + 1
    keys = ((quadruplets[:, 0] * base + quadruplets[:, 1]) * base + quadruplets[:, 2]) * base + quadruplets[:, 3]
    if rows.shape[1] == 8:
        single, number = np.unique(keys, return_inverse=True)
        keys = number[0::2] * len(single) + number[1::2]
    _, example, number = np.unique(keys, return_index=True, return_inverse=True)
    return rows[example], number.astype(np.int32)
