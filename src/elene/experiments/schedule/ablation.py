"""Ablation: one setting changed at a time, on equal shorter schedules, to see what accuracy and speed depend on."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from elene.datasets.registry import find
from elene.experiments import config
from elene.experiments.config.spec import ExperimentSpec
from elene.experiments.results.tables import title_of
from elene.experiments.schedule.planning import PlannedRun, check_names

FOLDER = "ablation"
DEFAULT = "default"
UNIT = "gin"  # what times are multiples of: this model with its default settings


@dataclass(frozen=True)
class Panel:
    """A data set, and how long models are trained on it.

    Args:
        label: of the data set.
        title: the heading.
        epochs: of all models alike.
        seeds: how many runs of each.
        asked: whether it runs only where it is asked for.
    """

    label: str
    title: str
    epochs: int
    seeds: int
    asked: bool = False

    @property
    def metric(self) -> str:
        """What results are measured by."""
        return find(self.label.partition(".")[0]).metric


@dataclass(frozen=True)
class Point:
    """A model with one setting changed, or with none.

    Args:
        row: the model.
        key: the setting; empty for the default.
        value: what it is set to.
        datasets: the labels of the data sets where it makes a difference; all if there are none.

    Example:
        >>> Point("gin", "model.head_norm", "none").title
        'GIN, head_norm none'
    """

    row: str
    key: str = ""
    value: str = ""
    datasets: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.key.rpartition(".")[2] or DEFAULT

    @property
    def change(self) -> str:
        """What is different, in words."""
        part = "phi" if self.key == "model.elene.hidden" else self.name
        said = "as wide as the model" if (part, self.value) == ("phi", "none") else self.value
        return f"{part} {said}" if self.key else DEFAULT

    @property
    def title(self) -> str:
        """What to call it in a table."""
        return f"{title_of(self.row)}, {self.change}"

    def matters(self, panel: Panel) -> bool:
        """Whether it makes a difference on a data set, where it may be the default."""
        if self.datasets and panel.label not in self.datasets:
            return False
        return not self.key or self.spec(panel).identity != Point(self.row).spec(panel).identity

    def spec(self, panel: Panel) -> ExperimentSpec:
        """What is trained."""
        short = config.compressed(config.load_network(panel.label, self.row), panel.epochs)
        return config.load_network(panel.label, self.row, [*short, *([f"{self.key}={self.value}"] if self.key else [])])


@cache
def _described() -> dict[str, Any]:
    return tomllib.loads((files("elene.experiments.schedule") / "ablation.toml").read_text(encoding="utf-8"))


def panels() -> list[Panel]:
    """The data sets.

    >>> [panel.label for panel in panels() if not panel.asked]
    ['graph-properties.radius', 'counting.triangle', 'counting.cycle4']
    """
    return [Panel(label, **told) for label, told in _described()["datasets"].items()]


def points() -> list[Point]:
    """The defaults of all models, and what is different from them in one setting on any of the data sets.

    >>> [point.title for point in points()][:3]
    ['GIN, default', 'GIN+ELENE-L (ND), default', ...]
    """
    settings = _described()["settings"]
    found = [Point(row) for row in dict.fromkeys(row for setting in settings for row in setting["rows"])]
    for setting in settings:
        datasets = frozenset(setting.get("datasets", ()))
        every = [Point(row, setting["key"], value, datasets) for row in setting["rows"] for value in setting["values"]]
        found += [point for point in every if any(map(point.matters, panels()))]
    return found


def plan_ablation(
    names: Sequence[str] = (), datasets: Sequence[str] = (), seeds: int | None = None
) -> list[PlannedRun]:
    """The runs of the ablation, every point once before any runs twice.

    Args:
        names: only these settings, such as ``"skip"``, and ``"default"``; by default all.
        datasets: only these data sets, by their labels; by default those that are not to be asked for.
        seeds: how many runs of each; by default what is planned for the data set.

    Example:
        >>> jobs = plan_ablation(["default"], ["counting.triangle"])
        >>> [str(job) for job in jobs[:2]]
        ['counting.triangle gin, seed 0', 'counting.triangle gin+elene-nd, seed 0']
        >>> jobs[0].spec.training.epochs, jobs[0].spec.training.step
        (60, 6)
    """
    every = points()
    check_names("rows", names, list(dict.fromkeys(point.name for point in every)))
    check_names("datasets", datasets, [panel.label for panel in panels()])
    wanted = [panel for panel in panels() if (panel.label in datasets if datasets else not panel.asked)]
    jobs = [
        PlannedRun(point.spec(panel), seed, 0)
        for panel in wanted
        for point in every
        if (not names or point.name in names) and point.matters(panel)
        for seed in range(seeds or panel.seeds)
    ]
    return sorted(jobs, key=lambda job: job.seed)
