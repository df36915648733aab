"""What happens beside training: checkpoints, logs and a progress bar."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins import TorchCheckpointIO
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from elene.experiments.train.learner import Learner
from elene.files import replacing


class WholeFiles(TorchCheckpointIO):
    """Checkpoints that are there whole or not at all, and are read without unpickling anything but tensors."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write a checkpoint."""
        with replacing(path) as temporary, open(temporary, "wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())

    def load_checkpoint(self, path: Any, map_location: Any = None, weights_only: bool | None = True) -> dict[str, Any]:
        """Read a checkpoint."""
        checkpoint: dict[str, Any] = torch.load(path, map_location=map_location or "cpu", weights_only=True)
        return checkpoint


class Keeper(pl.Callback):
    """Saves a checkpoint at the end of an epoch, if the last one is some seconds old.

    Args:
        path: the file.
        pause: seconds between checkpoints; what is lost when a run is killed.
    """

    def __init__(self, path: Path, pause: float) -> None:
        self.path, self.pause, self._saved = path, pause, monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save, if it is time: the first process decides for all."""
        if trainer.strategy.broadcast(monotonic() - self._saved >= self.pause):
            trainer.save_checkpoint(self.path)
            self._saved = monotonic()


class Journal(pl.Callback):
    """Writes the learning curve, a line for each epoch, to a CSV file and, if it is installed, to TensorBoard.

    Args:
        folder: where the files go.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: TextIO | None = None
        self._board: Any = None

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Open the files; an interrupted run may have logged epochs that its checkpoint does not know."""
        assert isinstance(pl_module, Learner)
        if not trainer.is_global_zero:
            return
        self._file = open(self.folder / "metrics.csv", "w", encoding="utf-8")  # noqa: SIM115 - open while it trains
        self._file.write("epoch,lr,loss,validation,seconds\n")
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            pass
        else:
            self._board = SummaryWriter(str(self.folder), purge_step=trainer.current_epoch)
        for epoch in range(trainer.current_epoch):
            self._file.write(_line(pl_module, epoch))

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write what the epoch brought."""
        assert isinstance(pl_module, Learner)
        if self._file is None:
            return
        self._file.write(_line(pl_module, trainer.current_epoch))
        self._file.flush()
        if self._board is not None:
            for name, values in pl_module.curve.items():
                self._board.add_scalar(name, values[-1], trainer.current_epoch)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Close the files."""
        self._close()

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        """Close the files."""
        self._close()

    def _close(self) -> None:
        for file in (self._file, self._board):
            if file is not None:
                file.close()
        self._file = self._board = None


def _line(learner: Learner, epoch: int) -> str:
    curve = learner.curve
    values = (learner.schedule.rate(epoch), *(curve[name][epoch] for name in ("loss", "validation", "seconds")))
    return f"{epoch},{','.join(format(value, '.6g') for value in values)}\n"


class Bar(pl.Callback):
    """Shows on a terminal how far training is, and how well it goes.

    Args:
        title: what is trained.
    """

    def __init__(self, title: str) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[news]}"),
            TimeElapsedColumn(),
        )
        self.title, self._steps, console = title, 1, Console(stderr=True)
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Begin where a checkpoint left off."""
        self._steps = max(int(trainer.num_training_batches), 1)
        if trainer.is_global_zero:
            self._bar.add_task(self.title, total=(trainer.max_epochs or 0) * self._steps, news="")
            self._bar.start()

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *ignored: Any) -> None:
        """A step further."""
        if trainer.is_global_zero:
            done = trainer.current_epoch * self._steps + int(ignored[-1]) + 1
            self._bar.update(TaskID(0), completed=done)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Say what the epoch brought."""
        assert isinstance(pl_module, Learner) and pl_module.best_epoch is not None
        if trainer.is_global_zero:
            metric, values = pl_module.objective.metric, pl_module.curve["validation"]
            news = f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}  validation {metric} {values[-1]:.4g}"
            self._bar.update(TaskID(0), news=f"{news}  best {values[pl_module.best_epoch]:.4g}")

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Take the bar away."""
        self._bar.stop()

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        """Take the bar away."""
        self._bar.stop()
