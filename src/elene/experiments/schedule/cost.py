"""Cost: a short run of each of the paper's models on each of its benchmarks, to see what an epoch takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from elene.experiments import config
from elene.experiments.results.store import Result
from elene.experiments.results.tables import read_tsv
from elene.experiments.schedule.planning import PlannedRun, check_names
from elene.experiments.train.launch import launch

FOLDER = "cost"
EPOCHS = 3  # the median counts, so that the first one may be slow
PAUSE = 1e9  # seconds between checkpoints: none, which would take time


def datasets() -> list[str]:
    """The data sets.

    >>> datasets()[:2]
    ['zinc12k', 'pattern-generated']
    """
    return [key for key in read_tsv("cost.tsv")[0] if key not in ("row", "title")]


def models() -> list[str]:
    """The models.

    >>> models()[:2]
    ['gin', 'gin-ak']
    """
    return [line["row"] for line in read_tsv("cost.tsv")]


def plan_cost(rows: Sequence[str] = (), labels: Sequence[str] = ()) -> list[PlannedRun]:
    """A short run of each model on each data set.

    Args:
        rows: only these models; by default all.
        labels: only these data sets; by default all.

    Example:
        >>> [str(job) for job in plan_cost(["gin", "gin+elene-ed"], ["zinc12k"])]
        ['zinc12k gin, seed 0', 'zinc12k gin+elene-ed, seed 0']
    """
    check_names("rows", rows, models())
    check_names("datasets", labels, datasets())
    return [
        PlannedRun(config.load_network(label, row, [f"training.epochs={EPOCHS}"]), 0, 0)
        for label in labels or datasets()
        for row in rows or models()
        if row in config.rows_of_label(label)
    ]


def perform(job: PlannedRun, folder: str | os.PathLike[str]) -> Result:
    """Run a job in a process of its own, so that no other run has left memory that it could use."""
    assert isinstance(job.spec, config.ExperimentSpec)
    place = Path(folder, "cost", job.name)
    place.mkdir(parents=True, exist_ok=True)
    return launch(job.spec, job.seed, job.fold, place, 1, PAUSE)
