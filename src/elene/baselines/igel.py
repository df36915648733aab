"""IGEL: counts of distances and degrees, as features."""

from __future__ import annotations

from collections.abc import Sequence

from elene.transforms import AddELENE


def igel(k: int | Sequence[int], max_degree: int, log1p: bool = False) -> AddELENE:
    """The transform that adds IGEL vectors (Alvarez-Gonzalez et al., LoG 2022) to ``x``, for a GIN + IGEL.

    A column counts the nodes at one distance that have one degree in the ego-network: ELENE without closer and farther.

    Args:
        k: depth of the ego-networks, or several depths.
        max_degree: larger degrees count as this one.
        log1p: add log(1 + count) instead of counts.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> igel(k=1, max_degree=2)(path).x.tolist()
        [[0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]]
    """
    return AddELENE(k, degrees="absolute", max_degree=max_degree, log1p=log1p)
