"""Training: one loss, one metric and one Lightning module for every task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pytorch_lightning as pl
import torch
import torchmetrics.functional.classification as tmc
from torch import Tensor, nn
from torch.nn import functional as F
from torchmetrics.functional.regression import mean_absolute_error, mean_squared_error
from torchmetrics.utilities.distributed import gather_all_tensors

from elene.experiments.batches import Loader, seed_of
from elene.experiments.batchnorm import reestimate
from elene.experiments.spec import Training


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
        return value < than if self.metric in ("mae", "log10_mse") else value > than

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


class Learner(pl.LightningModule):
    """Trains a network, and remembers its learning curve and its best epoch.

    All randomness of an epoch depends on the seed and the epoch's number alone, so that a run that goes on from the
    checkpoint of any epoch ends as if it had never stopped.

    Args:
        network: gives an output for a batch.
        objective: what is minimised and measured.
        training: epochs and learning rates.
        seed: of the order of graphs, of dropout and of sampling.
        statistics: batches that the statistics of BatchNorms are taken of before each evaluation; None leaves them
            running.

    Attributes:
        curve: for each epoch so far ``loss``, ``validation`` and ``seconds``, the time without validation.
        best_epoch: the first of the epochs with the best validation metric; None before the first one.
        best_state: the network's state then.
        measured: the metric of the last test.

    Example:
        >>> learner = Learner(nn.Linear(2, 1), Objective("regression", "mae", 1), Training(epochs=3), seed=0)
        >>> learner.best_epoch, learner.curve
        (None, {'loss': [], 'validation': [], 'seconds': []})
    """

    def __init__(
        self,
        network: nn.Module,
        objective: Objective,
        training: Training,
        seed: int,
        statistics: Loader | None = None,
    ) -> None:
        super().__init__()
        self.network, self.objective, self.plan, self.seed = network, objective, training, seed
        self.statistics = statistics
        self.curve: dict[str, list[float]] = {"loss": [], "validation": [], "seconds": []}
        self.best_epoch: int | None = None
        self.best_state: dict[str, Tensor] = {}
        self.measured = float("nan")
        self._found: list[tuple[Tensor, Tensor]] = []
        self._loss, self._steps, self._began = torch.zeros(()), 0, 0.0

    def forward(self, batch: Any) -> Tensor:
        """The network's output."""
        output: Tensor = self.network(batch)
        return output

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam; the learning rate is set at the start of each epoch."""
        return torch.optim.Adam(self.network.parameters(), lr=self.plan.lr)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """The batch on the device; as it is, where it is there."""
        return batch if batch.y.device == device else batch.to(device)

    def on_train_epoch_start(self) -> None:
        """Set all that is random in this epoch, and the learning rate."""
        epoch = self.current_epoch
        torch.manual_seed(seed_of("epoch", self.seed, epoch, self.global_rank))
        assert isinstance(self.trainer.train_dataloader, Loader)
        self.trainer.train_dataloader.epoch = epoch
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self.plan.rate(epoch)
        self._loss, self._steps, self._began = torch.zeros((), device=self.device), 0, perf_counter()

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        """The loss of a batch."""
        loss = self.objective.loss(self(batch), batch.y)
        if self.trainer.world_size > 1:
            # The mean over processes is to be the mean over graphs.
            loss = loss * batch.share
        self._loss += loss.detach()
        self._steps += 1
        return loss

    def on_validation_start(self) -> None:
        """Training of this epoch is over: how long it took. Statistics are those of the weights that are evaluated."""
        if not self.trainer.sanity_checking and self.trainer.state.fn == "fit":
            loss = self.trainer.strategy.reduce(self._loss / max(self._steps, 1), reduce_op="mean")
            self.curve["loss"].append(float(loss))
            self.curve["seconds"].append(perf_counter() - self._began)
            if self.statistics is not None:
                reestimate(self.network, (batch.to(self.device) for batch in self.statistics))

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        """Keep the output; the metric is taken of all outputs at once."""
        self._found.append((self(batch), batch.y))

    test_step = validation_step

    def on_validation_epoch_end(self) -> None:
        """Measure, remember the best epoch, and stop if no better one is to be hoped for."""
        value, curve = self._measure(), self.curve["validation"]
        best = None if self.best_epoch is None else curve[self.best_epoch]
        curve.append(value)
        if best is None or self.objective.better(value, than=best):
            self.best_epoch = self.current_epoch
            self.best_state = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
        self._stop_without_hope()

    def on_train_start(self) -> None:
        """Stop if the epoch of the checkpoint was the last one."""
        self._stop_without_hope()

    def _stop_without_hope(self) -> None:
        patience, epochs = self.plan.patience, len(self.curve["validation"])
        if patience is not None and self.best_epoch is not None and epochs - 1 - self.best_epoch >= patience:
            self.trainer.should_stop = True

    def on_test_epoch_end(self) -> None:
        """Measure."""
        self.measured = self._measure()

    def _measure(self) -> float:
        """The metric of all outputs, those of other processes included."""
        output, y = (torch.cat(parts) for parts in zip(*self._found, strict=True))
        self._found.clear()
        if self.trainer.world_size > 1:
            output, y = (torch.cat(gather_all_tensors(values)) for values in (output, y))
        return self.objective.measure(output, y)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add what a run must remember to go on."""
        checkpoint["learner"] = {"curve": self.curve, "best_epoch": self.best_epoch, "best_state": self.best_state}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Remember it."""
        for name, value in checkpoint["learner"].items():
            setattr(self, name, value)
