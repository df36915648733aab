"""Objective: one loss and one metric for every task."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torchmetrics.functional.classification as tmc
from torch import Tensor
from torch.nn import functional as F
from torchmetrics.functional.regression import mean_absolute_error, mean_squared_error

from elene.experiments.results.tables import LOWER_IS_BETTER


@dataclass(frozen=True)
class Objective:
    """What is minimised, and what is reported.

    Args:
        task: ``"classification"``, ``"binary"``, ``"regression"`` or ``"multilabel"``.
        metric: ``"accuracy"``, ``"balanced_accuracy"`` (the mean of the classes' accuracies), ``"mae"``,
            ``"log10_mse"``, ``"roc_auc"`` or ``"ap"``.
        outputs: how many numbers a model gives: classes, targets or labels.

    Example:
        >>> objective = Objective("regression", "mae", outputs=1)
        >>> objective.measure(torch.tensor([[1.0], [2.0]]), torch.tensor([[1.5], [2.5]]))
        0.5
        >>> objective.better(0.4, than=0.5)
        True
    """

    task: str
    metric: str
    outputs: int

    def better(self, value: float, than: float) -> bool:
        """Whether a value of the metric is better than another one."""
        return value < than if self.metric in LOWER_IS_BETTER else value > than

    def perfect(self, value: float) -> bool:
        """Whether no value of the metric could be better."""
        return value == {"mae": 0.0, "log10_mse": -math.inf}.get(self.metric, 1.0)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """The mean loss: cross-entropy, or the absolute or squared error, whichever is the metric."""
        if self.task == "classification":
            weight = _rarity(y, self.outputs) if self.metric == "balanced_accuracy" else None
            return F.cross_entropy(output, y, weight)
        if self.task == "binary":
            return F.binary_cross_entropy_with_logits(output.flatten(), y.flatten().float())
        if self.task == "multilabel":
            known = ~y.isnan()
            return F.binary_cross_entropy_with_logits(output[known], y[known])
        return F.l1_loss(output, y) if self.metric == "mae" else F.mse_loss(output, y)

    def measure(self, output: Tensor, y: Tensor) -> float:
        """The metric; where there are several targets or labels, its mean over them."""
        return float(format(float(_METRICS[self.metric](self, output, y)), ".7g"))


def _rarity(y: Tensor, classes: int) -> Tensor:
    """The share of all other classes, for each class: how much a class weighs where all are to count alike."""
    return 1 - torch.bincount(y, minlength=classes) / len(y)


def _accuracy(objective: Objective, output: Tensor, y: Tensor) -> Tensor:
    if objective.task == "binary":
        return tmc.binary_accuracy(output.flatten().sigmoid(), y.flatten().long())
    average: Any = "macro" if objective.metric == "balanced_accuracy" else "micro"
    return tmc.multiclass_accuracy(output, y, objective.outputs, average)


def _log10_mse(objective: Objective, output: Tensor, y: Tensor) -> Tensor:
    return mean_squared_error(output, y, num_outputs=objective.outputs).log10().mean()


def _roc_auc(objective: Objective, output: Tensor, y: Tensor) -> Tensor:
    return tmc.binary_auroc(_probability(output.flatten()), y.flatten().long())


def _average_precision(objective: Objective, output: Tensor, y: Tensor) -> Tensor:
    """The mean over labels that have both positives and negatives, as the Open Graph Benchmark has it."""
    found = []
    for label in range(y.shape[1]):
        known = ~y[:, label].isnan()
        truth = y[known, label].long()
        if 0 < truth.sum() < len(truth):
            found.append(tmc.binary_average_precision(_probability(output[known, label]), truth))
    return torch.stack(found).mean() if found else output.new_tensor(torch.nan)


def _probability(logits: Tensor) -> Tensor:
    # In single precision large logits would all become 1, and their order would be lost.
    return logits.double().sigmoid()


_METRICS: dict[str, Callable[[Objective, Tensor, Tensor], Tensor]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _accuracy,
    "mae": lambda _, output, y: mean_absolute_error(output, y),
    "log10_mse": _log10_mse,
    "roc_auc": _roc_auc,
    "ap": _average_precision,
}
