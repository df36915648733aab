"""What a step of training takes, many models side by side: the times of whole runs depend on what ran beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from elene.experiments.config.network import Settings
from elene.experiments.config.spec import ExperimentSpec
from elene.experiments.data.batches import untouched_rng
from elene.experiments.results.machine import machine
from elene.experiments.results.origin import Code, code
from elene.experiments.results.records import read_record, write_record
from elene.experiments.schedule.ablation import UNIT, Panel, Point
from elene.experiments.train.experiment import Experiment

FOLDER = "steps"
ROUNDS = 15


class StepTimes(Settings):
    """What a step takes, measured in one run.

    Args:
        seconds: the best of each model.
        code: what was measured.
        machine: where.
    """

    seconds: dict[str, float]
    code: Code
    machine: dict[str, Any]


def time_steps(specs: Mapping[str, ExperimentSpec], rounds: int = ROUNDS) -> StepTimes:
    """The best time of a training step of each model, all of them in turn, so that a busy moment hits none alone.

    Example:
        >>> from elene.experiments import config
        >>> sorted(time_steps({"GIN": config.load_network("sr25", "gin")}, rounds=1).seconds)
        ['GIN']
    """
    steps = {name: _step(spec) for name, spec in specs.items()}
    best = dict.fromkeys(steps, float("inf"))
    with untouched_rng():
        for _ in range(rounds):
            for name, step in steps.items():
                step()  # what another left in the caches is not its own
                begun = perf_counter()
                step()
                best[name] = min(best[name], perf_counter() - begun)
    return StepTimes(seconds=best, code=code(), machine=machine())


def _step(spec: ExperimentSpec) -> Callable[[], None]:
    experiment = Experiment(spec)
    batch, network, objective = next(iter(experiment.loader("train"))), experiment.network(), experiment.objective
    optimizer = torch.optim.Adam(network.parameters(), lr=spec.training.lr)

    def step() -> None:
        optimizer.zero_grad()
        objective.loss(network(batch), batch.y).backward()
        optimizer.step()

    return step


def time_points(folder: Path, panel: Panel, points: Sequence[Point]) -> None:
    """Time points of the ablation on a data set, and plain GIN, unless all of them were timed."""
    specs = {point.title: point.spec(panel) for point in (Point(UNIT), *points)}
    known = read_steps(folder, panel)
    if known is None or not specs.keys() <= known.seconds.keys():
        write_record(time_steps(specs), _path(folder, panel))


def read_steps(folder: Path, panel: Panel) -> StepTimes | None:
    """What :func:`time_points` wrote; None if that was nothing.

    >>> read_steps(Path("nothing here"), Panel("sr25", "SR25", epochs=1, seeds=1)) is None
    True
    """
    path = _path(folder, panel)
    return read_record(path, StepTimes, "times of steps") if path.is_file() else None


def _path(folder: Path, panel: Panel) -> Path:
    return folder / FOLDER / f"{panel.label}.json"
