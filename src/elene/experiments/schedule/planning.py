"""Planning: the runs of a table, and which of them the store has not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elene.datasets.registry import find as find_dataset
from elene.experiments import config
from elene.experiments.config.spec import AnySpec
from elene.experiments.results.choices import Choices
from elene.experiments.results.origin import Origin, code, origin_of
from elene.experiments.results.store import Result, Store, run_name
from elene.experiments.results.tables import Table


@dataclass(frozen=True)
class PlannedRun:
    """One run of a table.

    Args:
        spec: what to run.
        seed: of weights, order and dropout.
        fold: which split of the data set.

    Example:
        >>> from elene.experiments import config
        >>> job = PlannedRun(config.load("sr25", "gin"), seed=0, fold=0)
        >>> str(job)
        'sr25 gin, seed 0'
    """

    spec: AnySpec
    seed: int
    fold: int

    def __str__(self) -> str:
        number = f"fold {self.fold}" if _has_folds(self.spec) else f"seed {self.seed}"
        return f"{self.spec.dataset.label} {self.spec.row}, {number}"

    @property
    def kind(self) -> tuple[str, str]:
        """What runs that take about as long have in common."""
        return self.spec.dataset.label, self.spec.row

    @property
    def origin(self) -> Origin:
        """The present code and data."""
        return origin_of(self.spec.dataset.name)

    @property
    def name(self) -> str:
        """The name of the run, with the present code and data."""
        return run_name(self.spec, self.origin, self.seed, self.fold)

    @property
    def pattern(self) -> str:
        """The same for files, with any data: what can be known before the data is loaded."""
        return run_name(self.spec, Origin(code=code(), data="*"), self.seed, self.fold)


def _has_folds(spec: AnySpec) -> bool:
    return find_dataset(spec.dataset.name).split == "folds"


def plan_table(
    table: Table,
    rows: Sequence[str] = (),
    datasets: Sequence[str] = (),
    seeds: int | None = None,
    changes: Sequence[str] = (),
    choices: Choices | None = None,
) -> list[PlannedRun]:
    """The runs of a table, in an order that gives every row one run before any has two.

    Args:
        table: which one.
        rows: only these models; by default all of the table that have config.
        datasets: only these data sets, by their labels; by default all.
        seeds: how many runs of each row, with different seeds or folds; by default as many as in the paper.
        changes: settings to be changed in all rows alike, such as ``"training.epochs=5"``.
        choices: where rows have been searched, what was chosen takes the place of the spec's own settings.

    Example:
        >>> from elene.experiments.results.tables import find
        >>> [str(job) for job in plan_table(find("expressivity"), rows=["gin", "gin+elene-ed"], datasets=["sr25"])]
        ['sr25 gin, seed 0', 'sr25 gin+elene-ed, seed 0']
    """
    labels = [column.dataset for column in table.columns]
    check_names("datasets", datasets, labels)
    check_names("rows", rows, list(dict.fromkeys(row for label in labels for row in config.rows_of_label(label))))
    if seeds is not None and seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    chosen = [
        _spec(label, row, changes, choices)
        for label in datasets or labels
        for row in rows or table.rows
        if row in config.rows_of_label(label)
    ]
    runs = [(number, spec) for spec in chosen for number in range(seeds or spec.runs)]
    runs.sort(key=lambda run: run[0])
    return [PlannedRun(spec, 0, number) if _has_folds(spec) else PlannedRun(spec, number, 0) for number, spec in runs]


def _spec(dataset: str, row: str, changes: Sequence[str], choices: Choices | None) -> AnySpec:
    choice = None if choices is None else choices.get(dataset, row)
    chosen = [] if choice is None else choice.changes
    try:
        return config.load(dataset, row, [*chosen, *changes])
    except ValueError as error:
        raise ValueError(f"{dataset} {row}: {error}") from None


def check_names(name: str, values: Sequence[str], choices: Sequence[str]) -> None:
    """An error for the first of some names that is not among the choices.

    >>> check_names("rows", ["gim"], ["gin"])
    Traceback (most recent call last):
    ...
    ValueError: rows: 'gim' is not in this table: choose from gin
    """
    for value in values:
        if value not in choices:
            raise ValueError(f"{name}: {value!r} is not in this table: choose from {', '.join(choices)}")


def missing(jobs: Sequence[PlannedRun], store: Store) -> list[PlannedRun]:
    """Those jobs that the store has no result of with the present code and data.

    >>> from elene.experiments.results.tables import find
    >>> len(missing(plan_table(find("expressivity"), rows=["gin"]), Store("nothing here")))
    2
    """
    return [job for job in jobs if not _is_known(job, store)]


def _is_known(job: PlannedRun, store: Store) -> bool:
    # Data is loaded, or made, only where there is a result that may be of it.
    if not any(store.root.glob(f"runs/{job.pattern}.json")):
        return False
    return store.path(job.spec, job.origin, job.seed, job.fold).is_file()


def perform(job: PlannedRun, folder: str | os.PathLike[str]) -> Result:
    """Run a job; a run that was begun in this folder goes on.

    Args:
        job: what to run.
        folder: each run has a folder of its own in it.
    """
    from elene.experiments.train.runner import run

    return run(job.spec, job.seed, job.fold, folder=Path(folder, job.name))
