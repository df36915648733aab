"""Experiment: a spec's data set, made ready, with all that the training of its model needs."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from elene.datasets import load
from elene.datasets.pyg import GraphDataset
from elene.experiments.config.spec import ExperimentSpec
from elene.experiments.data.batches import Loader, Stock, seed_of, untouched_rng
from elene.experiments.data.preparation import Preparation, Shape
from elene.experiments.data.selection import choose, relabelled
from elene.experiments.train.networks import build
from elene.experiments.train.objective import Objective
from elene.inmemory import stored

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
        >>> from elene.experiments import config
        >>> experiment = Experiment(config.load("sr25", row="gin"))
        >>> experiment.objective.metric, len(experiment.loader("train"))
        ('accuracy', 1)
        >>> network = experiment.network()
    """

    def __init__(self, spec: ExperimentSpec, seed: int = 0, fold: int = 0, dataset: GraphDataset | None = None) -> None:
        dataset = load(spec.dataset.name) if dataset is None else dataset
        self.spec, self.seed = spec, seed
        self.dataset, self.split = choose(dataset, spec, fold)
        info, several = dataset.info, dataset.info.task in ("regression", "multilabel")
        outputs = stored(self.dataset)[0].y.shape[1] if several else info.outputs
        # In node tasks, published accuracies are means over the classes.
        balanced = info.level == "node" and info.metric == "accuracy"
        self.objective = Objective(info.task, "balanced_accuracy" if balanced else info.metric, outputs)
        self._preparation = Preparation.learn(spec.model, self.dataset, self.split.train)
        prepared = self._preparation(self.dataset)
        self._shape = Shape.of(self.dataset, prepared, outputs)
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
