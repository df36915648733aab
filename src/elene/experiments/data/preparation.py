"""Preparation: what a data set needs before a model can read it, and what the columns of its features then are."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from elene.datasets.canonical import narrowed
from elene.datasets.pyg import GraphDataset
from elene.experiments.config.network import EncodingSettings, GNNAKConv, Model, NGNNConv
from elene.inmemory import restored, stored
from elene.transforms import AddELENE, EgoStructure

AT_ONCE = 2**16  # nodes that are encoded at a time: what they get is dense at first, a thousand columns on PATTERN
LEVELS = {"x": "node", "edge_attr": "edge"}


@dataclass(frozen=True, eq=False)
class Preparation:
    """What a model needs of its data: more features, ego-network lists; learned from the training graphs.

    Args:
        model: the spec of the model.
        degrees: how many nodes of the training graphs have degree 0, 1, 2, ...

    Example:
        >>> from elene.datasets import load
        >>> from elene.experiments import config
        >>> dataset = load("sr25")
        >>> preparation = Preparation.learn(config.load("sr25", "gin+elene-ed").model, dataset, torch.arange(15))
        >>> preparation.max_degree, preparation(dataset)[0].ego_shape[0, -1].item()
        (12, 1)
    """

    model: Model
    degrees: Tensor

    @classmethod
    def learn(cls, model: Model, dataset: InMemoryDataset, train: Tensor) -> Preparation:
        """Look at the degrees of the training graphs."""
        arcs, nodes = _union(dataset), stored(dataset)[1]["x"].diff()
        trained = torch.zeros(len(nodes), dtype=torch.bool).index_fill(0, train, True).repeat_interleave(nodes)
        return cls(model, torch.bincount(torch.bincount(arcs[0], minlength=len(trained))[trained]))

    @property
    def max_degree(self) -> int:
        """The largest degree of the training graphs."""
        return max(len(self.degrees) - 1, 0)

    def __call__(self, dataset: InMemoryDataset) -> InMemoryDataset:
        """A copy of a data set with all that the model reads."""
        if self.model.encoding is not None:
            dataset = self._encoded(dataset, self.model.encoding)
        if self.model.depth is not None:
            dataset = EgoStructure(self.model.depth, self._level).prepare(dataset)
        return dataset

    @property
    def _level(self) -> str:
        edges = isinstance(self.model.conv, GNNAKConv | NGNNConv)
        return "edge" if edges or (self.model.elene is not None and self.model.elene.level == "ed") else "node"

    def _encoded(self, dataset: InMemoryDataset, encoding: EncodingSettings) -> InMemoryDataset:
        data, slices = stored(dataset)
        data, slices = copy.copy(data), dict(slices)
        rho = self.max_degree if encoding.max_degree is None else encoding.max_degree
        degrees = "relative" if encoding.name == "elene" else "absolute"
        transforms = {key: AddELENE(encoding.k, level, degrees, max_degree=rho) for key, level in LEVELS.items()}
        added = {"x": _values(_counts(dataset, transforms["x"], "x"), encoding)}
        if encoding.edges == "exact":
            added["edge_attr"] = _values(_counts(dataset, transforms["edge_attr"], "edge_attr"), encoding)
        elif encoding.edges == "product":
            added["edge_attr"] = _products(added["x"], _union(dataset))
        for key, values in added.items():
            data[key] = torch.cat([data[key], values], dim=1) if key in data else values
            slices.setdefault(key, slices["edge_index"])
        return restored(dataset, data, slices)


def _counts(dataset: InMemoryDataset, transform: AddELENE, key: str) -> Tensor:
    """The encodings of all nodes or arcs, as integers of the smallest type.

    Many graphs at a time are one graph with the same ego-networks, and are encoded much faster than one by one.
    """
    found, union = [], _union(dataset)
    nodes, arcs = (stored(dataset)[1][name] for name in ("x", "edge_index"))
    for first, last in _stretches(nodes):
        edge_index = union[:, arcs[first] : arcs[last]] - nodes[first]
        made = transform(Data(edge_index=edge_index, num_nodes=int(nodes[last] - nodes[first])))[key]
        found.append(_narrow(made))
    return torch.cat(found)


def _values(counts: Tensor, encoding: EncodingSettings) -> Tensor:
    """What a model reads of counts: these themselves, still as small integers, or real numbers."""
    if not (encoding.log1p or encoding.shares):
        return counts
    values = counts.float().log1p() if encoding.log1p else counts.float()
    # The root itself is counted, so that no sum is zero.
    return values / values.sum(1, keepdim=True) if encoding.shares else values


def _products(values: Tensor, arcs: Tensor) -> Tensor:
    """For every arc the element-wise product of both ends' rows."""
    if values.is_floating_point():
        return values[arcs[0]] * values[arcs[1]]
    return torch.cat([_narrow(values[a].long() * values[b]) for a, b in arcs.split(AT_ONCE, dim=1)])


def _narrow(integers: Tensor) -> Tensor:
    return torch.from_numpy(narrowed(integers.numpy().astype(np.int64)))


def _stretches(ends: Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of graphs with not too many nodes, or of one graph.

    >>> list(_stretches(torch.tensor([0, 10, 20, 2_000_000])))
    [(0, 2), (2, 3)]
    """
    first = 0
    while first < len(ends) - 1:
        last = max(int(torch.searchsorted(ends, ends[first] + AT_ONCE, right=True)) - 1, first + 1)
        yield first, last
        first = last


def _union(dataset: InMemoryDataset) -> Tensor:
    """The arcs of all graphs, nodes numbered throughout."""
    data, slices = stored(dataset)
    nodes, arcs = (slices[key].diff() for key in ("x", "edge_index"))
    return data.edge_index.long() + (nodes.cumsum(0) - nodes).repeat_interleave(arcs)


@dataclass(frozen=True)
class Columns:
    """What the columns of features are, from left to right.

    Args:
        categories: how many values each of the first columns can have.
        numbers: how many columns of real numbers follow.
        counts: how many columns of an encoding follow.
    """

    categories: tuple[int, ...] = ()
    numbers: int = 0
    counts: int = 0


@dataclass(frozen=True)
class Shape:
    """What goes into a model and comes out of it.

    Args:
        nodes: the columns of ``x``.
        edges: those of ``edge_attr``; None where there are none.
        outputs: how many numbers come out for each graph or node.
        level: ``"graph"`` or ``"node"``.
    """

    nodes: Columns
    edges: Columns | None
    outputs: int
    level: str

    @classmethod
    def of(cls, dataset: GraphDataset, prepared: InMemoryDataset, outputs: int) -> Shape:
        """The shape of a model for a data set, given what the data set became."""
        found: list[Columns | None] = []
        for key, categories in (("x", dataset.node_categories or ()), ("edge_attr", dataset.edge_categories or ())):
            arrays = [stored(part)[0] for part in (dataset, prepared)]
            old, new = (data[key].shape[1] if key in data else 0 for data in arrays)
            found.append(Columns(categories, old - len(categories), new - old) if new else None)
        assert found[0] is not None
        return cls(found[0], found[1], outputs, dataset.info.level)
