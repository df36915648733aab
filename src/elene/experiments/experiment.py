"""Experiment: a spec's data set, made ready, with all that the training of its model needs."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch_geometric.data import InMemoryDataset

from elene.datasets import load
from elene.datasets.pyg import GraphDataset
from elene.experiments.batches import Loader, Stock, seed_of
from elene.experiments.models import Preparation, Shape, build
from elene.experiments.spec import Spec
from elene.experiments.training import Objective

ENOUGH = 128  # relabelled graphs


class Experiment:
    """What is trained on what.

    Args:
        spec: what to train.
        seed: of weights and of the order of graphs.
        fold: which of the data set's splits to use.
        dataset: to be used instead of loading the one that the spec names.

    Attributes:
        objective: what is minimised and measured.

    Example:
        >>> from elene.experiments import spec
        >>> experiment = Experiment(spec.load("sr25", row="gin"))
        >>> experiment.objective.metric, len(experiment.loader("train"))
        ('accuracy', 1)
        >>> network = experiment.network()
    """

    def __init__(self, spec: Spec, seed: int = 0, fold: int = 0, dataset: GraphDataset | None = None) -> None:
        dataset = load(spec.dataset.name) if dataset is None else dataset
        if not 0 <= fold < len(dataset.splits):
            raise ValueError(f"fold must be from 0 to {len(dataset.splits) - 1} for {spec.dataset.name}, got {fold}")
        self.spec, self.seed, self.dataset = spec, seed, _with_target(dataset, spec.dataset.target)
        self.split = dataset.splits[fold]
        info, several = dataset.info, dataset.info.task in ("regression", "multilabel")
        outputs = self.dataset._data.y.shape[1] if several else info.outputs
        # In node tasks, published accuracies are means over the classes.
        balanced = info.level == "node" and info.metric == "accuracy"
        self.objective = Objective(info.task, "balanced_accuracy" if balanced else info.metric, outputs)
        self._preparation = Preparation.learn(spec.model, self.dataset, self.split.train)
        self._stock = Stock(self._preparation(self.dataset))

    def network(self) -> nn.Module:
        """The network, with weights that the seed decides."""
        with torch.random.fork_rng():
            torch.manual_seed(seed_of("weights", self.seed))
            return build(self._preparation, self._shape())

    def _shape(self) -> Shape:
        sample, info = self._stock.gather(self.split.train[:1]), self.dataset.info
        nodes, edges = info.node_categories or (), info.edge_categories or ()
        edge_columns = sample.edge_attr.shape[1] if "edge_attr" in sample else 0
        return Shape(
            nodes, sample.x.shape[1] - len(nodes), edges, edge_columns - len(edges), self.objective.outputs, info.level
        )

    def loader(self, part: str, rank: int = 0, world: int = 1) -> Loader:
        """The batches of the ``"train"`` graphs, shuffled, or of those for ``"validation"`` or ``"test"``."""
        seed = self.seed if part == "train" else None
        return Loader(self._stock, getattr(self.split, part), self.spec.training.batch_size, seed, rank, world)

    def relabelled(self, rank: int = 0, world: int = 1) -> Iterator[Loader]:
        """Where test graphs are those trained on: copies of them that no model has seen, nodes in random order."""
        if self.dataset.info.split != "all":
            return
        for copy_number in range(-(-ENOUGH // len(self.dataset))):
            dataset = relabelled(self.dataset, seed_of("relabelled", self.seed, copy_number))
            stock = Stock(self._preparation(dataset))
            yield Loader(stock, self.split.test, self.spec.training.batch_size, None, rank, world)


def _with_target(dataset: GraphDataset, target: str | None) -> GraphDataset:
    """The data set with only one of its targets."""
    if target is None:
        return dataset
    names = dataset.info.targets
    if target not in names:
        choices = ", ".join(names) or "none: leave it out"
        raise ValueError(f"dataset.target {target!r} is not a target of {dataset.info.name}: choose from {choices}")
    result, data = copy.copy(dataset), copy.copy(dataset._data)
    if data.y.dim() > 1:
        data.y = data.y[:, [names.index(target)]]
    result._data = data
    return result


def relabelled(dataset: InMemoryDataset, seed: int) -> InMemoryDataset:
    """The same graphs, the nodes and arcs of each in a random order.

    >>> from elene.datasets import load
    >>> dataset = load("rook-shrikhande")
    >>> other = relabelled(dataset, seed=0)
    >>> other[0].num_edges, torch.equal(other[0].edge_index, dataset[0].edge_index)
    (96, False)
    """
    generator = torch.Generator().manual_seed(seed)
    node_order, arc_order = (_shuffled(dataset.slices[key], generator) for key in ("x", "edge_index"))
    data, first = copy.copy(dataset._data), dataset.slices["x"][:-1]
    place = torch.empty_like(node_order)
    place[node_order] = torch.arange(len(place))
    shift = first.repeat_interleave(dataset.slices["edge_index"].diff())
    data.edge_index = (place[data.edge_index.long() + shift] - shift)[:, arc_order]
    for key, ends in dataset.slices.items():
        if key == "edge_index":
            continue
        if torch.equal(ends, dataset.slices["x"]):
            data[key] = data[key][node_order]
        elif torch.equal(ends, dataset.slices["edge_index"]):
            data[key] = data[key][arc_order]
    result = copy.copy(dataset)
    result._data, result._data_list = data, None
    return result


def _shuffled(ends: Tensor, generator: torch.Generator) -> Tensor:
    """All rows in a random order, but each graph's in its place."""
    graph = torch.arange(len(ends) - 1).repeat_interleave(ends.diff())
    order = torch.randperm(len(graph), generator=generator)
    return order[graph[order].argsort(stable=True)]
