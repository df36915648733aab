"""What happens beside training, by Lightning's own means: checkpoints, logs and a progress bar."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins import TorchCheckpointIO
from pytorch_lightning.callbacks import ModelCheckpoint, RichProgressBar
from pytorch_lightning.callbacks.progress.rich_progress import RichProgressBarTheme
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger
from rich.progress import ProgressColumn, TextColumn

from elene.experiments.train.learner import Learner
from elene.files import replacing


class WholeFiles(TorchCheckpointIO):
    """Checkpoints that are there whole or not at all, and are read without unpickling anything but tensors.

    Lightning writes them in place: a run that is killed meanwhile would have none.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write a checkpoint."""
        with replacing(path) as temporary, open(temporary, "wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())

    def load_checkpoint(self, path: Any, map_location: Any = None, weights_only: bool | None = True) -> dict[str, Any]:
        """Read a checkpoint."""
        return torch.load(path, map_location=map_location or "cpu", weights_only=True)


class PausingCheckpoint(ModelCheckpoint):
    """Lightning's checkpoint at the end of an epoch, if the last one is some seconds old.

    Lightning's own ``train_time_interval`` saves in the middle of an epoch, from where no run goes on as if it had not
    stopped.

    Args:
        path: the file.
        pause: seconds between checkpoints; what is lost when a run is killed.
    """

    def __init__(self, path: Path, pause: float) -> None:
        settings = {"every_n_epochs": 1, "save_on_train_epoch_end": True, "enable_version_counter": False}
        super().__init__(path.parent, path.stem, **settings)
        self.pause, self._saved = pause, monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save, if it is time: the first process decides for all."""
        if trainer.strategy.broadcast(monotonic() - self._saved >= self.pause):
            super().on_train_epoch_end(trainer, pl_module)
            self._saved = monotonic()


def loggers(folder: Path) -> list[Logger]:
    """What writes the learning curve to ``metrics.csv`` and, if it is installed, to TensorBoard's events.

    An interrupted run may have logged epochs that its checkpoint does not know: files begin anew, and the learner logs
    the epochs before again.
    """
    for events in folder.glob("events.out.tfevents*"):
        events.unlink(missing_ok=True)
    place = {"save_dir": folder, "name": "", "version": ""}
    found: list[Logger] = [CSVLogger(**place, flush_logs_every_n_steps=1)]
    return [*found, TensorBoardLogger(**place)] if find_spec("tensorboard") else found


class RunProgress(RichProgressBar):
    """Lightning's progress bar, on a terminal, with the title of the run and its best epoch so far.

    Args:
        title: what is trained.
    """

    def __init__(self, title: str) -> None:
        theme = RichProgressBarTheme(metrics_format=".4g")
        super().__init__(10 if sys.stderr.isatty() else 0, theme=theme, console_kwargs={"stderr": True})
        self.title = title

    def configure_columns(self, trainer: pl.Trainer) -> list[ProgressColumn]:
        """The title before all others; times of batches, the last two, are left out for want of room."""
        return [TextColumn(self.title, markup=False), *super().configure_columns(trainer)[:-2]]

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        """The last and the best validation metric."""
        assert isinstance(pl_module, Learner)
        values, best = pl_module.curve["validation"], pl_module.best_epoch
        if best is None:
            return {}
        last = next(value for value in reversed(values) if value is not None)
        return {pl_module.objective.metric: last, "best": values[best]}
