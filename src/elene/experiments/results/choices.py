"""Choices: which settings a search found best on the validation graphs, kept so that runs and tables can use them."""

from __future__ import annotations

import os
from pathlib import Path

from elene.experiments.config.network import Settings
from elene.experiments.results.origin import Origin
from elene.experiments.results.records import read_record, write_record

FOLDER = "search"


class Trial(Settings):
    """One combination of settings, and what it reached.

    Args:
        settings: the values that were tried.
        validation: the metric on the validation graphs at the best epoch; None if it was not a number.
    """

    settings: dict[str, str]
    validation: float | None


class Choice(Settings):
    """What a search found for a model on a data set.

    Args:
        dataset: the label of the data set.
        row: the model.
        chosen: the settings to take, as they stand in changes.
        metric: what was compared, on validation graphs alone.
        how: which combinations of the grid were tried.
        grid: for each setting the values.
        fixed: settings that were changed in all trials, the shorter schedule among them.
        epochs: of each trial.
        seed: of all trials.
        fold: of all trials.
        tried: all trials, the best one first.
        origin: the code and the data of all trials.
        date: when it was done.
    """

    dataset: str
    row: str
    chosen: dict[str, str]
    metric: str
    how: str
    grid: dict[str, list[str]]
    fixed: list[str]
    epochs: int
    seed: int
    fold: int
    tried: list[Trial]
    origin: Origin
    date: str

    @property
    def changes(self) -> list[str]:
        """What was chosen, as changes of a spec."""
        return [f"{key}={value}" for key, value in self.chosen.items()]

    def __str__(self) -> str:
        settings = ", ".join(f"{key.removeprefix('model.')} {value}" for key, value in self.chosen.items())
        return f"{settings} ({self.how}, {len(self.tried)} tried, {self.epochs} epochs each)"


class Choices:
    """The choices in a folder of results, ``search/DATASET/ROW.json`` in it.

    Args:
        results: the folder; it need not be there.

    Example:
        >>> Choices("no such folder").get("sr25", "gin") is None
        True
    """

    def __init__(self, results: str | os.PathLike[str]) -> None:
        self.root = Path(results, FOLDER)

    def path(self, dataset: str, row: str) -> Path:
        """The file that a model on a data set has, or would have."""
        return self.root / dataset / f"{row}.json"

    def get(self, dataset: str, row: str) -> Choice | None:
        """What was chosen for a model on a data set, or None."""
        path = self.path(dataset, row)
        return read_record(path, Choice, "choice") if path.is_file() else None

    def add(self, choice: Choice) -> Path:
        """Write a choice, in place of an older one; gives its file."""
        return write_record(choice, self.path(choice.dataset, choice.row))
