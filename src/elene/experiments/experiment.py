"""Experiment: a spec's data set, made ready, with all that the training of its model needs."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch_geometric.data import InMemoryDataset

from elene.datasets import load
from elene.datasets.pyg import GraphDataset, Split
from elene.experiments.batches import Loader, Stock, seed_of, untouched_rng
from elene.experiments.models import Preparation, Shape, build
from elene.experiments.spec import Spec
from elene.experiments.training import Objective
from elene.inmemory import restored, stored

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
        content: the SHA-256 of the data.

    Example:
        >>> from elene.experiments import spec
        >>> experiment = Experiment(spec.load("sr25", row="gin"))
        >>> experiment.objective.metric, len(experiment.loader("train"))
        ('accuracy', 1)
        >>> network = experiment.network()
    """

    def __init__(self, spec: Spec, seed: int = 0, fold: int = 0, dataset: GraphDataset | None = None) -> None:
        dataset = load(spec.dataset.name) if dataset is None else dataset
        self.spec, self.seed, self.content = spec, seed, dataset.edition.sha256
        self.dataset, self.split = choose(dataset, spec, fold)
        info, several = dataset.info, dataset.info.task in ("regression", "multilabel")
        outputs = stored(self.dataset)[0].y.shape[1] if several else info.outputs
        # In node tasks, published accuracies are means over the classes.
        balanced = info.level == "node" and info.metric == "accuracy"
        self.objective = Objective(info.task, "balanced_accuracy" if balanced else info.metric, outputs)
        self._preparation = Preparation.learn(spec.model, self.dataset, self.split.train)
        prepared = self._preparation(self.dataset)
        self._shape = Shape.of(self.dataset, prepared, spec.model.encoding, outputs)
        self._stock = Stock(prepared)

    def network(self) -> nn.Module:
        """The network, with weights that the seed decides."""
        with untouched_rng():
            torch.manual_seed(seed_of("weights", self.seed))
            return build(self._preparation, self._shape)

    def loader(self, part: str, rank: int = 0, world: int = 1) -> Loader:
        """The batches of the ``"train"`` graphs, shuffled, or of those for ``"validation"`` or ``"test"``.

        ``"statistics"`` are those of training in one fixed order, as mixed as in training: a data set may be sorted,
        and batches of graphs of one kind would have too little variance.
        """
        seed = self.seed if part in ("train", "statistics") else None
        graphs = getattr(self.split, "train" if part == "statistics" else part)
        return Loader(self._stock, graphs, self.spec.training.batch_size, seed, rank, world)

    def relabelled(self, rank: int = 0, world: int = 1) -> Iterator[Loader]:
        """Where test graphs are those trained on: copies of them that no model has seen, nodes in random order."""
        if self.dataset.info.split != "all":
            return
        for copy_number in range(-(-ENOUGH // len(self.dataset))):
            dataset = relabelled(self.dataset, seed_of("relabelled", self.seed, copy_number))
            stock = Stock(self._preparation(dataset))
            yield Loader(stock, self.split.test, self.spec.training.batch_size, None, rank, world)


def choose(dataset: GraphDataset, spec: Spec, fold: int) -> tuple[GraphDataset, Split]:
    """The data set with the one target that a spec wants, and one of its splits.

    >>> from elene.experiments import spec
    >>> choose(load("sr25"), spec.load("sr25", row="gin"), fold=1)
    Traceback (most recent call last):
    ValueError: fold must be 0 for sr25, got 1
    """
    folds, target, names = len(dataset.splits), spec.dataset.target, dataset.info.targets
    if not 0 <= fold < folds:
        right = "0" if folds == 1 else f"from 0 to {folds - 1}"
        raise ValueError(f"fold must be {right} for {spec.dataset.name}, got {fold}")
    if target is None:
        return dataset, dataset.splits[fold]
    if target not in names:
        choices = f"choose from {', '.join(names)}" if names else "it has none, leave it out"
        raise ValueError(f"dataset.target {target!r} is not a target of {dataset.info.name}: {choices}")
    data, slices = stored(dataset)
    data = copy.copy(data)
    if data.y.dim() > 1:
        data.y = data.y[:, [names.index(target)]]
    return restored(dataset, data, slices), dataset.splits[fold]


def relabelled(dataset: InMemoryDataset, seed: int) -> InMemoryDataset:
    """The same graphs, the nodes and arcs of each in a random order.

    >>> from elene.datasets import load
    >>> dataset = load("rook-shrikhande")
    >>> other = relabelled(dataset, seed=0)
    >>> other[0].num_edges, torch.equal(other[0].edge_index, dataset[0].edge_index)
    (96, False)
    """
    generator = torch.Generator().manual_seed(seed)
    data, slices = stored(dataset)
    data, nodes, arcs = copy.copy(data), slices["x"], slices["edge_index"]
    node_order, arc_order = (_shuffled(ends, generator) for ends in (nodes, arcs))
    place = torch.empty_like(node_order)
    place[node_order] = torch.arange(len(place))
    shift = nodes[:-1].repeat_interleave(arcs.diff())
    data.edge_index = (place[data.edge_index.long() + shift] - shift)[:, arc_order]
    for key, ends in slices.items():
        if key == "edge_index":
            continue
        if torch.equal(ends, nodes):
            data[key] = data[key][node_order]
        elif torch.equal(ends, arcs):
            data[key] = data[key][arc_order]
    return restored(dataset, data, slices)


def _shuffled(ends: Tensor, generator: torch.Generator) -> Tensor:
    """All rows in a random order, but each graph's in its place."""
    graph = torch.arange(len(ends) - 1).repeat_interleave(ends.diff())
    order = torch.randperm(len(graph), generator=generator)
    return order[graph[order].argsort(stable=True)]
