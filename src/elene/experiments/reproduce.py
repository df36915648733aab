"""Reproduce: the runs of a table that are not in the store yet, one after the other, within a budget of time."""

from __future__ import annotations

import _thread
import csv
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Timer
from time import monotonic

from elene.datasets.registry import find as find_dataset
from elene.experiments import spec as specs
from elene.experiments.choices import Choices
from elene.experiments.origin import code, origin_of
from elene.experiments.pipeline import ROW, Pipeline
from elene.experiments.spec import Dataset, Spec
from elene.experiments.store import Result, Store, run_name
from elene.experiments.tables import Table

BESIDE = 1.5  # a run takes up to so many times the seconds of its training: data, validation and test come with it


@dataclass(frozen=True)
class Job:
    """One run of a table.

    Args:
        spec: what to run.
        seed: of weights, order and dropout.
        fold: which split of the data set.

    Example:
        >>> from elene.experiments import spec
        >>> job = Job(spec.load("sr25", "gin"), seed=0, fold=0)
        >>> str(job)
        'sr25 gin, seed 0'
    """

    spec: Spec | Pipeline
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
    def name(self) -> str:
        """The name of the run, with the present code and data."""
        return run_name(self.spec, origin_of(self.spec.dataset.name), self.seed, self.fold)

    @property
    def pattern(self) -> str:
        """The same for files, with any data: what can be known before the data is loaded."""
        head = f"{self.spec.dataset.label}/{self.spec.row}/{self.spec.identity}-{code().name}"
        return f"{head}-*-seed{self.seed}-fold{self.fold}"


def _has_folds(spec: Spec | Pipeline) -> bool:
    return find_dataset(spec.dataset.name).split == "folds"


def plan(
    table: Table,
    rows: Sequence[str] = (),
    datasets: Sequence[str] = (),
    seeds: int | None = None,
    changes: Sequence[str] = (),
    choices: Choices | None = None,
) -> list[Job]:
    """The runs of a table, in an order that gives every row one run before any has two.

    Args:
        table: which one.
        rows: only these models; by default all of the table that have specs.
        datasets: only these data sets, by their labels; by default all.
        seeds: how many runs of each row, with different seeds or folds; by default as many as in the paper.
        changes: settings to be changed in all rows alike, such as ``"training.epochs=5"``.
        choices: where rows have been searched, what was chosen takes the place of the spec's own settings.

    Example:
        >>> from elene.experiments.tables import find
        >>> [str(job) for job in plan(find("expressivity"), rows=["gin", "gin+elene-ed"], datasets=["sr25"])]
        ['sr25 gin, seed 0', 'sr25 gin+elene-ed, seed 0']
    """
    labels = [column.dataset for column in table.columns]
    check_names("datasets", datasets, labels)
    check_names("rows", rows, list(dict.fromkeys(row for label in labels for row in available(label))))
    if seeds is not None and seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    chosen = [
        _spec(label, row, [*_chosen(label, row, choices), *changes])
        for label in datasets or labels
        for row in rows or table.rows
        if row in available(label)
    ]
    runs = [(number, spec) for spec in chosen for number in range(seeds or spec.runs)]
    runs.sort(key=lambda run: run[0])
    return [Job(spec, 0, number) if _has_folds(spec) else Job(spec, number, 0) for number, spec in runs]


def available(dataset: str) -> list[str]:
    """The rows that can be run on a data set of a table.

    >>> available("tu-mutag")[-1], available("no specs yet")
    ('logistic', [])
    """
    rows = specs.rows(dataset) if dataset in specs.labels() else []
    return [*rows, ROW] if dataset.startswith("tu-") else rows


def _spec(dataset: str, row: str, changes: Sequence[str]) -> Spec | Pipeline:
    if row == ROW:
        return Pipeline(dataset=Dataset(name=dataset))
    try:
        return specs.load(dataset, row, changes)
    except ValueError as error:
        raise ValueError(f"{dataset} {row}: {error}") from None


def _chosen(dataset: str, row: str, choices: Choices | None) -> list[str]:
    choice = None if choices is None else choices.get(dataset, row)
    return [] if choice is None else choice.changes


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


def missing(jobs: Sequence[Job], store: Store) -> list[Job]:
    """Those jobs that the store has no result of with the present code and data.

    >>> from elene.experiments.tables import find
    >>> len(missing(plan(find("expressivity"), rows=["gin"]), Store("nothing here")))
    2
    """
    return [job for job in jobs if not _is_known(job, store)]


def _is_known(job: Job, store: Store) -> bool:
    # Data is loaded, or made, only where there is a result that may be of it.
    if not any(store.root.glob(f"runs/{job.pattern}.json")):
        return False
    return store.path(job.spec, origin_of(job.spec.dataset.name), job.seed, job.fold).is_file()


def perform(job: Job, folder: str | os.PathLike[str]) -> Result:
    """Run a job; a run that was begun in this folder goes on.

    Args:
        job: what to run.
        folder: each run has a folder of its own in it.
    """
    if isinstance(job.spec, Pipeline):
        from elene.experiments.classical import classify

        return classify(job.spec, job.fold)
    from elene.experiments.runner import run

    return run(job.spec, job.seed, job.fold, folder=Path(folder, job.name))


class Clock:
    """Estimates how long a job will take: from its own epochs if it was begun, else from runs of the same kind.

    Args:
        store: where earlier results are.
        folder: where runs that were begun are.

    Example:
        >>> from elene.experiments import spec
        >>> clock = Clock(Store("nothing here"), "nor here")
        >>> clock.estimate(Job(spec.load("sr25", "gin"), 0, 0)) is None
        True
    """

    def __init__(self, store: Store, folder: str | os.PathLike[str]) -> None:
        self.store, self.folder = store, Path(folder)

    def estimate(self, job: Job) -> float | None:
        """Seconds, roughly; None if nothing is known."""
        if isinstance(job.spec, Pipeline):
            known = [result.cost.seconds for result in self.store.find(*job.kind)]
            return BESIDE * median(known) if known else None
        epochs = job.spec.training.epochs
        begun = self._begun(job)
        if begun:
            return BESIDE * median(begun) * max(epochs - len(begun), 0)
        known = [result.cost.seconds_per_epoch for result in self.store.find(*job.kind)]
        return BESIDE * median(known) * epochs if known else None

    def _begun(self, job: Job) -> list[float]:
        """Seconds of each epoch so far."""
        for path in self.folder.glob(f"{job.pattern}/metrics.csv"):
            with path.open(encoding="utf-8") as file:
                return [float(line["seconds"]) for line in csv.DictReader(file) if line["seconds"]]
        return []


@dataclass(frozen=True)
class Step:
    """What happened to a job.

    Args:
        job: which one.
        state: ``"starts"``, ``"done"``, ``"failed"`` (its data is not at hand, or too large), ``"stopped"`` (time is
            up; it will go on next time), ``"too long"`` (for what is left of the budget, so that it was not started),
            ``"taken"`` (another process is at it) or ``"known"`` (another process has done it meanwhile).
        seconds: how long it took or, before that, will take; None if that is not known.
        result: what came out, if it is done.
        error: why it failed, if it did, or who is at it.
    """

    job: Job
    state: str
    seconds: float | None = None
    result: Result | None = None
    error: Exception | None = None


def reproduce(
    jobs: Sequence[Job],
    store: Store,
    run: Callable[[Job], Result],
    estimate: Callable[[Job], float | None],
    budget: float | None = None,
) -> Iterator[Step]:
    """Run jobs one after the other, and add their results to the store; several processes may do so at a time.

    Args:
        jobs: what is :func:`missing` of a :func:`plan`.
        store: where results are and go to.
        run: what runs a job: :func:`perform` in some folder.
        estimate: how many seconds a job will take, or None: :meth:`Clock.estimate`.
        budget: seconds; then no job is started any more, and the running one is interrupted, to go on another time.

    Yields:
        What happens, as it happens.
    """
    deadline = None if budget is None else monotonic() + budget
    absent: set[str] = set()
    for job in jobs:
        if job.spec.dataset.name in absent:
            continue
        left, expected = None if deadline is None else deadline - monotonic(), estimate(job)
        if left is not None and (left <= 0 or (expected or 0) > left):
            yield Step(job, "too long", expected)
            continue
        with ExitStack() as claims:
            step = _claim(job, store, claims)
            if step is None:
                yield Step(job, "starts", expected)
                step = _attempt(job, run, left)
            if step.result is not None:
                store.add(step.result)
        # A process that died, of too much memory perhaps, says nothing about the data.
        if step.state == "failed" and isinstance(step.error, OSError) and not isinstance(step.error, ChildProcessError):
            absent.add(job.spec.dataset.name)
        yield step


def _claim(job: Job, store: Store, claims: ExitStack) -> Step | None:
    """Keep other processes from a job; or what there is to say instead."""
    try:
        claims.enter_context(store.claim(job.name))
        return Step(job, "known") if _is_known(job, store) else None
    except BlockingIOError as error:
        return Step(job, "taken", error=error)
    except (OSError, MemoryError) as error:
        return Step(job, "failed", error=error)


def _attempt(job: Job, run: Callable[[Job], Result], left: float | None) -> Step:
    started = monotonic()
    try:
        with _interrupted_after(left):
            result = run(job)
    except KeyboardInterrupt:
        if left is None or monotonic() - started < left:
            raise
        return Step(job, "stopped", monotonic() - started)
    except (OSError, MemoryError) as error:
        return Step(job, "failed", monotonic() - started, error=error)
    return Step(job, "done", monotonic() - started, result)


@contextmanager
def _interrupted_after(seconds: float | None) -> Iterator[None]:
    """Interrupt the block, as Ctrl-C does, when so many seconds have passed."""
    if seconds is None:
        yield
        return
    timer = Timer(seconds, _thread.interrupt_main)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
