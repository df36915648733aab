"""Learner: one Lightning module for every network and task."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torchmetrics.utilities.distributed import gather_all_tensors

from elene.experiments.config.spec import Training
from elene.experiments.data.batches import Loader, seed_of
from elene.experiments.train.batchnorm import freeze, reestimate
from elene.experiments.train.objective import Objective


class Learner(pl.LightningModule):
    """Trains a network, and remembers its learning curve and its best epoch.

    All randomness of an epoch depends on the seed and the epoch's number alone, so that a run that goes on from the
    checkpoint of any epoch ends as if it had never stopped.

    Args:
        network: gives an output for a batch.
        objective: what is minimised and measured.
        training: epochs and learning rates.
        seed: of the order of graphs, of dropout and of sampling.
        statistics: batches that the statistics of BatchNorms are taken of, where ``training`` says so.

    Attributes:
        curve: for each epoch so far ``loss``, ``validation``, None where nothing was evaluated, and ``seconds``, the
            time without validation.
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
        self.network, self.objective, self.schedule, self.seed = network, objective, training, seed
        self.statistics = statistics
        self.curve: dict[str, list[Any]] = {"loss": [], "validation": [], "seconds": []}
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
        return torch.optim.Adam(self.network.parameters(), lr=self.schedule.lr)

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
            group["lr"] = self.schedule.rate(epoch)
        if epoch == self.schedule.first_frozen:
            self._take_statistics()
        if epoch >= self.schedule.first_frozen:
            freeze(self.network)
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
        if self.trainer.state.fn == "fit":
            self._end_training()
            if self.schedule.reestimate and self.current_epoch < self.schedule.first_frozen:
                self._take_statistics()

    def _take_statistics(self) -> None:
        assert self.statistics is not None
        reestimate(self.network, (batch.to(self.device) for batch in self.statistics))

    def _end_training(self) -> None:
        loss = self.trainer.strategy.reduce(self._loss / max(self._steps, 1), reduce_op="mean")
        self.curve["loss"].append(float(loss))
        self.curve["seconds"].append(perf_counter() - self._began)

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
        """Log what is known already, and stop if the epoch of the checkpoint was the last one."""
        for epoch in range(self.current_epoch):
            self._log_epoch(epoch)
        self._stop_without_hope()

    def on_train_epoch_end(self) -> None:
        """Log the epoch, with what has not been told by its evaluation."""
        if len(self.curve["loss"]) == self.current_epoch:
            self._end_training()
            self.curve["validation"].append(None)
        self._log_epoch(self.current_epoch)

    def _log_epoch(self, epoch: int) -> None:
        told = {name: values[epoch] for name, values in self.curve.items() if values[epoch] is not None}
        values = {name: float(format(value, ".6g")) for name, value in told.items()}
        for logger in self.loggers:
            logger.log_metrics({"epoch": epoch, "lr": self.schedule.rate(epoch), **values}, step=epoch)

    def _stop_without_hope(self) -> None:
        """Stop if no epoch can be chosen any more before the best one so far, or if patience is at its end."""
        patience, validation = self.schedule.patience, self.curve["validation"]
        if self.best_epoch is None:
            return
        waited = len(validation) - 1 - self.best_epoch
        if self.objective.perfect(validation[self.best_epoch]) or (patience is not None and waited >= patience):
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
