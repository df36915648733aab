"""GraphDataset: a collection as a PyG data set, its arrays kept in small types and widened graph by graph."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.data.separate import separate

from elene.datasets.canonical import canonical
from elene.datasets.collection import Collection
from elene.datasets.info import DatasetInfo, Edition
from elene.datasets.splits import find_units, make_splits

MOST_KEPT = 2**29  # bytes
_BYTES_OF_A_GRAPH = 4096  # of a Data and its tensors, beside their numbers
_WIDENED = ("x", "edge_index", "edge_attr")


class Split(NamedTuple):
    """Numbers of the graphs to train on, to select a model by and to judge it by.

    >>> from elene.datasets import load
    >>> dataset = load("sr25")
    >>> [split] = dataset.splits
    >>> len(dataset[split.test])
    15
    """

    train: Tensor
    validation: Tensor
    test: Tensor


class GraphDataset(InMemoryDataset):  # type: ignore[misc]
    """The graphs of a data set with their targets, for PyG; :func:`elene.datasets.load` makes it.

    Graphs without node features have one constant column ``x``. Discrete features are 64-bit integers in each graph, as
    embeddings want them, and bytes where possible in memory. ``y`` of a graph has the shape ``(1, targets)`` in
    regression and multilabel tasks, where NaN marks a missing label, and ``(1,)`` for classes; in node tasks
    ``(nodes,)``. In paired data sets ``pair`` is the number of the pair.

    Args:
        info: the row of the registry.
        edition: which of its editions this is.
        collection: the graphs.

    Attributes:
        info, edition: as above.
        splits: one :class:`Split`, or one for each fold; their numbers are those of the whole data set.
        provenance: where the graphs and the splits come from, and what to know about them.
        target_scale: what ``y`` was divided by, a number for each target; None unless ``info.scaled``.

    Example:
        >>> from elene.datasets import load
        >>> dataset = load("rook-shrikhande")
        >>> dataset
        GraphDataset(rook-shrikhande, 2 graphs)
        >>> dataset[1]
        Data(x=[16, 1], edge_index=[2, 96], y=[1])
        >>> dataset.info.metric, dataset.node_categories, dataset.edge_categories
        ('accuracy', (1,), None)
    """

    def __init__(self, info: DatasetInfo, edition: Edition, collection: Collection) -> None:
        super().__init__()
        _check_features("x", info.node_categories, collection.x)
        _check_features("edge_attr", info.edge_categories, collection.edge_attr)
        self.info, self.edition = info, edition
        self.splits = [Split(*map(torch.from_numpy, parts)) for parts in make_splits(info, collection)]
        self.provenance = _provenance(info, edition, "fold" in collection.extra)
        self.target_scale: Tensor | None = None
        y = _targets(info, collection)
        if info.scaled:
            self.target_scale = y.double().std(dim=0, correction=0).float()
            y = y / self.target_scale
        self._data, self.slices = _collated(info, collection, y)
        self._data_list: list[Data | None] | None = None

    def __repr__(self) -> str:
        return f"GraphDataset({self.info.name}, {len(self)} graphs)"

    @property
    def title(self) -> str:
        """What to call it in a table of results; it says so where this is not the published content.

        >>> from elene.datasets import load
        >>> load("rook-shrikhande").title
        'Rook and Shrikhande'
        """
        return f"{self.info.title}, {self.edition.label}" if self.edition.label else self.info.title

    @property
    def node_categories(self) -> tuple[int, ...] | None:
        """How many values each column of ``x`` can have; None where they are continuous."""
        return self.info.node_categories

    @property
    def edge_categories(self) -> tuple[int, ...] | None:
        """How many values each column of ``edge_attr`` can have; None where they are continuous or absent."""
        return self.info.edge_categories

    def get(self, idx: int) -> Data:
        """One graph; it is kept for the next time where all graphs together do not take too much memory."""
        if self._data_list is None:
            self._data_list = [None] * self.len() if self._bytes_of_all() < MOST_KEPT else []
        if self._data_list and self._data_list[idx] is not None:
            return copy.copy(self._data_list[idx])
        data = separate(type(self._data), self._data, idx, self.slices, decrement=False)
        for key in _WIDENED:
            if key in data and not data[key].is_floating_point():
                data[key] = data[key].long()
        if self._data_list:
            self._data_list[idx] = copy.copy(data)
        return data

    def _bytes_of_all(self) -> int:
        """What all graphs would take, each with arrays of its own and most of them of 64 bits."""
        numbers = sum(value.numel() for value in self._data.to_dict().values() if isinstance(value, Tensor))
        return 8 * numbers + _BYTES_OF_A_GRAPH * int(self.len())


def _check_features(name: str, categories: tuple[int, ...] | None, values: NDArray[np.generic] | None) -> None:
    """Whether features are what the registry says, before an embedding finds out."""
    if values is None:
        return
    discrete = values.dtype.kind in "iu"
    most = values.reshape(len(values), -1).max(axis=0, initial=0).tolist() if discrete else []
    if discrete != (categories is not None):
        raise ValueError(f"{name} has the type {values.dtype}, but the registry says its categories are {categories}")
    if categories is not None and (len(most) != len(categories) or any(np.greater_equal(most, categories))):
        raise ValueError(f"{name} goes up to {most}, but the registry says there are {categories} categories")


def _targets(info: DatasetInfo, collection: Collection) -> Tensor:
    if info.task in ("regression", "multilabel"):
        return torch.from_numpy(collection.y.astype(np.float32).reshape(len(collection.y), -1))
    # Files number classes as they like, MUTAG's 0 and 2; here they are 0, 1, 2, ...
    values, numbers = np.unique(collection.y, return_inverse=True)
    if len(values) != max(info.outputs, 2):
        raise ValueError(f"{info.name}: y has the classes {values.tolist()}, but there are {max(info.outputs, 2)}")
    return torch.from_numpy(numbers.astype(np.int64).reshape(-1))


def _collated(info: DatasetInfo, collection: Collection, y: Tensor) -> tuple[Data, dict[str, Tensor]]:
    """All graphs in the form that PyG's in-memory data sets have: one long ``Data``, and where each graph begins."""
    small = canonical(collection)
    node, arc = (torch.from_numpy(ends.astype(np.int64)) for ends in (small.node_ptr, small.edge_ptr))
    graph = torch.arange(len(collection) + 1)
    x = np.zeros(int(node[-1]), dtype=np.uint8) if small.x is None else small.x
    values: dict[str, tuple[Tensor, Tensor]] = {
        "x": (_columns(x), node),
        "edge_index": (torch.from_numpy(small.edge_index), arc),
        "y": (y, node if info.level == "node" else graph),
    }
    if small.edge_attr is not None:
        values["edge_attr"] = (_columns(small.edge_attr), arc)
    if info.paired:
        values["pair"] = (torch.from_numpy(find_units(info, collection)), graph)
    return Data(**{key: value for key, (value, _) in values.items()}), {key: ends for key, (_, ends) in values.items()}


def _columns(array: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(array.reshape(len(array), -1))


def _provenance(info: DatasetInfo, edition: Edition, has_folds: bool) -> str:
    splits = {
        "fixed": "",
        "all": "Every graph is for training, validation and test.",
        "folds": _say_folds(info, has_folds),
    }
    return " ".join(filter(None, (edition.note, splits[info.split], info.note, f"Credit: {info.credit}.")))


def _say_folds(info: DatasetInfo, has_folds: bool) -> str:
    together = ", pairs kept together" if info.paired else ""
    made = "given with the graphs" if has_folds else f"made here, stratified by class{together}"
    return (
        f"Ten folds, {made}. For validation one in {info.validation} of what the test fold leaves, chosen here, "
        f"stratified by class{together}."
    )
