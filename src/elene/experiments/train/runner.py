"""Runner: trains what a spec says, goes on where an interrupted run stopped, and gives back what came out."""

from __future__ import annotations

import logging
import os
import signal
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.strategies import DDPStrategy
from pytorch_lightning.utilities.exceptions import SIGTERMException

from elene.datasets import load
from elene.experiments.config.spec import AnySpec, ClassicalSpec, ExperimentSpec
from elene.experiments.data.batches import Loader, untouched_rng
from elene.experiments.data.selection import choose
from elene.experiments.results.machine import PeakMemory
from elene.experiments.results.origin import origin_of
from elene.experiments.results.records import write_record
from elene.experiments.results.store import Cost, Result, Score, Store, make_result, run_name
from elene.experiments.train.batchnorm import share_batch_norms
from elene.experiments.train.callbacks import PausingCheckpoint, RunProgress, WholeFiles, loggers
from elene.experiments.train.experiment import Experiment
from elene.experiments.train.launch import launch
from elene.experiments.train.learner import Learner
from elene.files import replacing

CHECKPOINT = "last.ckpt"
PAUSE = 10.0  # seconds between checkpoints
DIGITS = 5  # of learning curves in results


def run(
    spec: AnySpec,
    seed: int = 0,
    fold: int = 0,
    *,
    folder: str | os.PathLike[str],
    devices: int = 1,
    pause: float = PAUSE,
) -> Result:
    """Train a network and test it at its best validation epoch; or fit what a spec has in place of a network.

    A run that was killed goes on from its last checkpoint, and ends as if it had not been.

    Args:
        spec: what to train.
        seed: of weights, order of graphs, dropout and sampling.
        fold: which split of the data set to use.
        folder: keeps ``metrics.csv``, TensorBoard's events, a checkpoint while it runs, and then ``model.pt``, the
            network's state at its best epoch, and ``result.json``.
        devices: how many processes share each batch.
        pause: seconds between checkpoints.

    Example:
        >>> import tempfile
        >>> from elene.experiments import config
        >>> small = config.load("sr25", row="gin", changes=["training.epochs=2", "model.hidden=8"])
        >>> result = run(small, folder=tempfile.mkdtemp())
        >>> result.metric, result.cost.epochs, len(result.curve["loss"])
        ('accuracy', 2, 2)
    """
    if devices < 1:
        raise ValueError(f"devices must be at least 1, got {devices}")
    if isinstance(spec, ClassicalSpec):
        from elene.experiments.train.classical import fit_classical

        return fit_classical(spec, fold)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if devices > 1:
        # Here, where errors can be shown, and so that the processes do not all generate or download the data set.
        choose(load(spec.dataset.name), spec, fold)
        return launch(spec, seed, fold, folder, devices, pause)
    return train(spec, seed, fold, folder, pause=pause)


def run_unless_stored(
    spec: AnySpec,
    seed: int = 0,
    fold: int = 0,
    *,
    store: Store,
    folder: str | os.PathLike[str],
    devices: int = 1,
) -> tuple[Result, bool]:
    """The result of a run from a store, or else run it and add it to the store; and whether it was run.

    Args:
        spec: what to train.
        seed: as in :func:`run`.
        fold: as in :func:`run`.
        store: where results are; see :meth:`elene.experiments.results.store.Store.obtain`.
        folder: each run has a folder of its own in it.
        devices: as in :func:`run`; a result that another number of devices gave will do.
    """
    origin = origin_of(spec.dataset.name)
    place = Path(folder, run_name(spec, origin, seed, fold))
    return store.obtain(spec, origin, seed, fold, lambda: run(spec, seed, fold, folder=place, devices=devices))


def train(
    spec: ExperimentSpec, seed: int, fold: int, folder: Path, rank: int = 0, world: int = 1, pause: float = PAUSE
) -> Result:
    """The part of :func:`run` that one process does."""
    experiment = Experiment(spec, seed, fold)
    memory = PeakMemory()
    with reproducibly():
        trainer, learner = fit(experiment, folder, rank, world, pause)
        parameters = sum(parameter.numel() for parameter in learner.network.parameters())
        cost = Cost.of(memory, learner.curve["seconds"], parameters)
        graphs, copies = experiment.loader("test", rank, world), list(experiment.relabelled(rank, world))
        last = _score(trainer, learner, graphs, copies, len(learner.curve["validation"]) - 1)
        assert learner.best_epoch is not None
        learner.network.load_state_dict(learner.best_state)
        best = _score(trainer, learner, graphs, copies, learner.best_epoch)
    result = make_result(
        spec,
        experiment.dataset,
        seed=seed,
        fold=fold,
        devices=world,
        metric=learner.objective.metric,
        best=best,
        last=last,
        cost=cost,
        curve={name: [_rounded(value) for value in learner.curve[name]] for name in ("loss", "validation")},
    )
    if rank == 0:
        with replacing(folder / "model.pt") as temporary:
            torch.save(learner.best_state, temporary)
        write_record(result, folder / "result.json")
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return result


def fit(
    experiment: Experiment, folder: Path, rank: int = 0, world: int = 1, pause: float = PAUSE
) -> tuple[pl.Trainer, Learner]:
    """Train a network, from the checkpoint in the folder if there is one; to be done :func:`reproducibly`."""
    spec, checkpoint = experiment.spec, folder / CHECKPOINT
    network = share_batch_norms(experiment.network()) if world > 1 else experiment.network()
    wanted = spec.training.reestimate or spec.training.frozen
    statistics = experiment.loader("statistics", rank, world) if wanted else None
    learner = Learner(network, experiment.objective, spec.training, experiment.seed, statistics)
    trainer = _trainer(spec, folder, world, pause)
    train, validation = (experiment.loader(part, rank, world) for part in ("train", "validation"))
    trainer.fit(learner, train, validation, ckpt_path=str(checkpoint) if checkpoint.exists() else None)
    return trainer, learner


def _trainer(spec: ExperimentSpec, folder: Path, world: int, pause: float) -> pl.Trainer:
    title = f"{spec.dataset.label} {spec.row}"
    # The last state of a virtual node is not read, nor are edge features that are not there.
    unused = spec.model.virtual_node or (spec.model.elene is not None and spec.model.elene.level == "ed")
    strategy = DDPStrategy(find_unused_parameters=unused) if world > 1 else "auto"
    return pl.Trainer(
        devices=world,
        strategy=strategy,
        max_epochs=spec.training.epochs,
        check_val_every_n_epoch=spec.training.evaluate_every,
        callbacks=[RunProgress(title), PausingCheckpoint(folder / CHECKPOINT, pause)],
        plugins=[WholeFiles()],
        logger=loggers(folder),
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )


def _score(trainer: pl.Trainer, learner: Learner, graphs: Loader, copies: Sequence[Loader], epoch: int) -> Score:
    """The metric with the weights that the learner has now."""

    def measured(loader: Loader) -> float:
        trainer.test(learner, loader, verbose=False)
        return learner.measured

    values = [measured(loader) for loader in copies]
    return Score(
        epoch=epoch,
        validation=learner.curve["validation"][epoch],
        test=measured(graphs),
        relabelled=sum(values) / len(values) if values else None,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


@contextmanager
def reproducibly() -> Iterator[None]:
    """Train quietly and reproducibly, and let interrupts be interrupts.

    >>> with reproducibly():
    ...     _ = torch.manual_seed(0)
    """
    with _quiet(), _reproducible(), _interruptible():
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Lightning's advice is for those who write the training loop: here that is us."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning_fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="pytorch_lightning|lightning_fabric")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _reproducible() -> Iterator[None]:
    """Sums in the same order each time; and the random numbers of whoever called are left alone."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filling = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    memory.fill_uninitialized_memory = False
    try:
        with untouched_rng():
            yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        memory.fill_uninitialized_memory = filling


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let an interrupt and a termination be what they are: Lightning makes others of them."""
    here = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SIGTERMException:
        raise SystemExit(128 + signal.SIGTERM) from None
    except SystemExit as error:
        if here and isinstance(error.__context__, KeyboardInterrupt):
            signal.signal(signal.SIGINT, handler)
            raise KeyboardInterrupt from None
        raise
