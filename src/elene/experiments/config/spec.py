"""Specs: what is trained on what and how, checked; see :mod:`elene.experiments.config.loading` for files of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from elene.experiments.config.classical import Classical
from elene.experiments.config.network import Count, Model, Settings, absent


class Dataset(Settings):
    """Which data set, and which of its targets.

    Args:
        name: a name that :func:`elene.datasets.load` knows.
        target: the one target to learn, where the data set has several; None learns all of them.

    Example:
        >>> Dataset(name="counting", target="star").label
        'counting.star'
    """

    name: str
    target: Annotated[str | None, BeforeValidator(absent)] = None

    @property
    def label(self) -> str:
        """The name, with the target behind a dot."""
        return self.name if self.target is None else f"{self.name}.{self.target}"


class Training(Settings):
    """How it is trained: Adam, the learning rate halved every so many epochs, the best validation epoch selected.

    Args:
        epochs: how often all training graphs are seen.
        step: after how many epochs the learning rate is halved, again and again; None never halves it.
        lr: the learning rate at the start.
        batch_size: graphs in a step, over all devices.
        patience: stop when validation has not improved for so many epochs; None goes on to the end.
        reestimate: whether the statistics of all BatchNorms are taken anew, over all training graphs, before each
            evaluation; else they are running means of the last batches.
        evaluate_every: evaluate, and look for the best epoch, after every so many epochs; the last one is among them.
        frozen: which share of the epochs, the last ones, is trained with fixed statistics in all BatchNorms, taken over
            all training graphs: what is trained there is what is evaluated.
        frozen_lr: the learning rate of the first of these epochs, from where it falls to zero in a straight line.
            It has to be small: nothing takes a shift away any more.

    Example:
        >>> schedule = Training(epochs=100, step=50, frozen=0.1, frozen_lr=2e-6)
        >>> schedule.rate(epoch=50), schedule.rate(epoch=95)
        (0.0005, 1e-06)
    """

    epochs: Count
    step: Annotated[Count | None, BeforeValidator(absent)] = None
    lr: Annotated[float, Field(gt=0)] = 1e-3
    batch_size: Count = 128
    patience: Annotated[Count | None, BeforeValidator(absent)] = None
    reestimate: bool = False
    evaluate_every: Count = 1
    frozen: Annotated[float, Field(ge=0, lt=1)] = 0.0
    frozen_lr: Annotated[float, Field(gt=0)] = 1e-6

    @model_validator(mode="after")
    def _check_last(self) -> Self:
        if self.epochs % self.evaluate_every:
            raise ValueError(f"evaluate_every must divide epochs, {self.epochs}, for the last one is evaluated")
        return self

    @property
    def first_frozen(self) -> int:
        """The first epoch with fixed statistics, from where on all have them."""
        return self.epochs - round(self.frozen * self.epochs)

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch."""
        if epoch >= self.first_frozen:
            return self.frozen_lr * (self.epochs - epoch) / (self.epochs - self.first_frozen)
        return self.lr if self.step is None else float(self.lr * 0.5 ** (epoch // self.step))


class _Row(Settings):
    """What rows of a table of results have in common."""

    @field_validator("row", check_fields=False)
    @classmethod
    def _check_row(cls, row: str) -> str:
        if not row or set(row) & set("/\\") or row.startswith("."):
            raise ValueError("must be a name that a folder can have")
        return row

    @property
    def identity(self) -> str:
        """A short hash of what decides the result: everything but the name of the row and the number of runs.

        Settings with their default values do not count, so that settings that are added later change no identity.
        """
        told = self.model_dump(mode="json", exclude={"row", "runs"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:10]


class ExperimentSpec(_Row):
    """Which network is trained on what and how.

    Args:
        dataset: see :class:`Dataset`.
        model: see :class:`Model`.
        training: see :class:`Training`.
        row: the name of the model in tables of results.
        runs: how many seeds, or folds, the paper takes the mean of.

    Example:
        >>> from elene.experiments import config
        >>> spec = config.load("zinc12k", row="gin+elene-nd")
        >>> spec.model.elene.k, spec.training.epochs, spec.runs
        (3, 310, 3)
        >>> config.load("zinc12k", row="gin", changes=["training.epochs=5"]).training.epochs
        5
    """

    dataset: Dataset
    model: Model
    training: Training
    row: str = "model"
    runs: Count = 1


class ClassicalSpec(_Row):
    """Which model without a network is fitted on what.

    Args:
        dataset: see :class:`Dataset`; its task must be to tell classes of graphs apart, in folds.
        classical: see :class:`Classical`.
        row: the name of the model in tables of results.
        runs: how many folds to take the mean of.

    Example:
        >>> from elene.experiments import config
        >>> spec = config.load("tu-mutag", row="logistic")
        >>> spec.classical.features[0].use, spec.training
        ('elene.Encoder', None)
    """

    dataset: Dataset
    classical: Classical
    row: str = "model"
    runs: Count = 1

    @property
    def training(self) -> None:
        """There are no epochs."""
        return None


def _kind(value: Any) -> str:
    has = "classical" in value if isinstance(value, Mapping) else isinstance(value, ClassicalSpec)
    return "a classical row" if has else "a network"


AnySpec = Annotated[
    Annotated[ExperimentSpec, Tag("a network")] | Annotated[ClassicalSpec, Tag("a classical row")],
    Discriminator(_kind),
]
