"""PyG's in-memory data sets: the one place that touches their private fields, beside the data set of our own.

A data set keeps all its graphs one behind the other in one ``Data``, with pointers into each of its arrays.
"""

from __future__ import annotations

import copy
from typing import Any

from torch_geometric.data import Data, InMemoryDataset


def is_part(dataset: InMemoryDataset) -> bool:
    """Whether a data set is a selection of another one's graphs, and shares its arrays."""
    return dataset._indices is not None


def whole(dataset: InMemoryDataset) -> InMemoryDataset:
    """The data set, or a copy of the graphs that it selects."""
    return dataset.copy() if is_part(dataset) else dataset


def stored(dataset: InMemoryDataset) -> tuple[Data, Any]:
    """The arrays of all graphs, and for each of them where each graph begins; None for PyG's way to keep a single one.

    >>> import torch
    >>> path = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> data, slices = stored(restored(InMemoryDataset(), *InMemoryDataset.collate([path, path])[:2]))
    >>> data.x.shape, slices["x"].tolist()
    (torch.Size([4, 1]), [0, 2, 4])
    """
    return dataset._data, dataset.slices


def restored(dataset: InMemoryDataset, data: Data, slices: Any) -> InMemoryDataset:
    """A copy of the data set with other arrays and pointers; graphs that it may have kept are forgotten."""
    result = copy.copy(dataset)
    result._data, result.slices, result._data_list = data, slices, None
    return result
