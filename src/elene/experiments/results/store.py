"""Store: a small text file for each run, which says what came out and all that it depends on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from pydantic import BeforeValidator

from elene.datasets.pyg import GraphDataset
from elene.experiments.config.classical import settings_of_pipeline
from elene.experiments.config.network import Settings
from elene.experiments.config.spec import AnySpec
from elene.experiments.results.machine import PeakMemory, machine, versions
from elene.experiments.results.origin import Origin, code
from elene.experiments.results.records import read_record, write_record
from elene.files import holding


class Score(Settings):
    """The metric after an epoch.

    Args:
        epoch: its number, from 0.
        validation: on the validation graphs.
        test: on the test graphs.
        relabelled: on copies of the graphs with nodes in random order, where test graphs are those trained on; None
            elsewhere.
    """

    epoch: int
    validation: float
    test: float
    relabelled: float | None = None


class Cost(Settings):
    """What a run took.

    Args:
        parameters: numbers that were learned.
        epochs: how many there were.
        seconds: of training, all epochs together, without validation.
        seconds_per_epoch: the median.
        peak_memory: the most megabytes in use.
        base_memory: megabytes in use before training began: libraries and data.
    """

    parameters: int
    epochs: int
    seconds: float
    seconds_per_epoch: float
    peak_memory: float
    base_memory: float

    @classmethod
    def of(cls, memory: PeakMemory, seconds: Sequence[float], parameters: int) -> Cost:
        """What it took so far, given the seconds of each epoch."""
        return cls(
            parameters=parameters,
            epochs=len(seconds),
            seconds=round(sum(seconds), 3),
            seconds_per_epoch=round(median(seconds), 4),
            peak_memory=round(memory.megabytes(), 1),
            base_memory=round(memory.base, 1),
        )


class Result(Settings):
    """One run: what came out, and all that it depends on.

    Args:
        spec: what was run.
        origin: the code and the data that made it.
        seed: of weights, order and dropout.
        fold: which of the data set's splits.
        devices: how many shared the work.
        title: what to call the data set in a table; it says so where the data is not the published one.
        data: where the data comes from.
        metric: what the scores are.
        best: the score at the best validation epoch: the one to report.
        last: the score at the last epoch.
        cost: what it took.
        curve: ``loss`` and ``validation`` after each epoch, rounded; None where nothing was evaluated.
        versions: of Python and libraries.
        machine: where it ran.
        date: when it was done.
    """

    spec: Annotated[AnySpec, BeforeValidator(settings_of_pipeline)]
    origin: Origin
    seed: int
    fold: int
    devices: int
    title: str
    data: str
    metric: str
    best: Score
    last: Score
    cost: Cost
    curve: dict[str, list[float | None]]
    versions: dict[str, str]
    machine: dict[str, str | int]
    date: str

    @property
    def name(self) -> str:
        """The name that its files have."""
        return run_name(self.spec, self.origin, self.seed, self.fold)


def make_result(spec: AnySpec, dataset: GraphDataset, **told: Any) -> Result:
    """A result with all that is to be said of this code, this machine and a data set; ``told`` is what came out."""
    common = {
        "origin": Origin(code=code(), data=dataset.edition.sha256),
        "seed": 0,
        "devices": 1,
        "title": dataset.title,
        "data": dataset.provenance,
        "metric": dataset.info.metric,
        "curve": {},
        "versions": versions(),
        "machine": machine(),
        "date": today(),
    }
    return Result(spec=spec, **{**common, **told})


def today() -> str:
    """The date, in UTC.

    >>> len(today())
    10
    """
    return datetime.now(UTC).strftime("%Y-%m-%d")


def run_name(spec: AnySpec, origin: Origin, seed: int, fold: int) -> str:
    """The name of a run, a path without ending.

    >>> from elene.experiments import config
    >>> from elene.experiments.results.origin import Code
    >>> run_name(config.load("sr25", "gin"), Origin(code=Code(commit="v1.0"), data="f" * 64), seed=0, fold=0)
    'sr25/gin/...-v1.0-ffffffffff-seed0-fold0'
    """
    return f"{spec.dataset.label}/{spec.row}/{spec.identity}-{origin.name}-seed{seed}-fold{fold}"


class Store:
    """A folder of results, ``runs/DATASET/ROW/SPEC-COMMIT-DATA-seedS-foldF.json`` in it.

    Args:
        root: the folder; it need not be there yet.

    Example:
        >>> from elene.experiments import config
        >>> from elene.experiments.results.origin import origin_of
        >>> Store("no such folder").get(config.load("sr25", "gin"), origin_of("sr25"), seed=0) is None
        True
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def path(self, spec: AnySpec, origin: Origin, seed: int, fold: int = 0) -> Path:
        """The file that a run has, or would have."""
        return self._file(run_name(spec, origin, seed, fold), "json")

    def get(self, spec: AnySpec, origin: Origin, seed: int, fold: int = 0) -> Result | None:
        """The result of a run, or None if it is not there."""
        path = self.path(spec, origin, seed, fold)
        return read_result(path) if path.is_file() else None

    def obtain(
        self, spec: AnySpec, origin: Origin, seed: int, fold: int, make: Callable[[], Result]
    ) -> tuple[Result, bool]:
        """The result of a run, made and added if it is not there; and whether it was made now.

        This is the one way to run what is not stored. While it runs no other process does the same run.

        Args:
            spec: what to run.
            origin: the code and the data: a result of other code or other data is another result.
            seed: of the run.
            fold: of the run.
            make: runs it.

        Raises:
            BlockingIOError: another process is at it.
        """
        with self.claim(run_name(spec, origin, seed, fold)):
            found = self.get(spec, origin, seed, fold)
            if found is not None:
                return found, False
            made = make()
            self.add(made)
            return made, True

    def claim(self, name: str) -> AbstractContextManager[None]:
        """Hold a run, so that no other process does it meanwhile; see :func:`elene.files.holding`."""
        return holding(self._file(name, "lock"))

    def _file(self, name: str, ending: str) -> Path:
        # with_suffix would take the dots of other names for one.
        return self.root / "runs" / f"{name}.{ending}"

    def add(self, result: Result) -> Path:
        """Write a result, in place of an older one of the same run; gives its file."""
        return write_record(result, self._file(result.name, "json"))

    def find(self, dataset: str | None = None, row: str | None = None) -> Iterator[Result]:
        """All results, or those of a data set (by its label) or a row, in the order of their files."""
        # Names hold none of the characters that mean something in a pattern: plus, dash and dot do not.
        for path in sorted((self.root / "runs").glob(f"{dataset or '*'}/{row or '*'}/*.json")):
            yield read_result(path)


def read_result(path: Path) -> Result:
    """The result in a file."""
    return read_record(path, Result, "result")
