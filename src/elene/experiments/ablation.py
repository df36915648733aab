"""Ablation: one setting changed at a time, on equal shorter schedules, to see what accuracy and speed depend on."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import mean, median, stdev

from elene.datasets.registry import find
from elene.experiments import spec as specs
from elene.experiments.document import Block, Cell, Grid, Heading, Paragraph, Picture, to_markdown
from elene.experiments.origin import Code
from elene.experiments.reproduce import Job, check_names
from elene.experiments.spec import Spec
from elene.experiments.store import Result, Store
from elene.experiments.tables import LOWER_IS_BETTER, METRICS, title_of
from elene.files import replacing

FOLDER = "ablation"
DEFAULT = "default"
UNIT = "gin"  # what times are multiples of: this model with its default settings
DIGITS = 3


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
    datasets: frozenset[str] = field(default=frozenset())

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

    def spec(self, panel: Panel) -> Spec:
        """What is trained."""
        short = specs.compressed(specs.load(panel.label, self.row), panel.epochs)
        return specs.load(panel.label, self.row, [*short, *([f"{self.key}={self.value}"] if self.key else [])])


@cache
def _described() -> dict[str, Mapping[str, Mapping[str, object]]]:
    return tomllib.loads((files("elene.experiments") / "ablation.toml").read_text(encoding="utf-8"))


def panels() -> list[Panel]:
    """The data sets.

    >>> [panel.label for panel in panels() if not panel.asked]
    ['graph-properties.radius', 'counting.triangle', 'counting.cycle4']
    """
    return [Panel(label, **told) for label, told in _described()["datasets"].items()]  # type: ignore[arg-type]


def points() -> list[Point]:
    """The defaults of all models, and what is different from them in one setting.

    >>> [point.title for point in points()][:3]
    ['GIN, default', 'GIN+ELENE-L (ND), default', ...]
    """
    settings: Sequence[Mapping[str, Sequence[str]]] = _described()["settings"]  # type: ignore[assignment]
    rows = dict.fromkeys(row for setting in settings for row in setting["rows"])
    found = [Point(row) for row in rows]
    for setting in settings:
        for row in setting["rows"]:
            every = [
                Point(row, str(setting["key"]), value, frozenset(setting.get("datasets", ())))
                for value in setting["values"]
            ]
            found += [point for point in every if not _is_default(point)]
    return found


def _is_default(point: Point) -> bool:
    panel = panels()[0]
    return point.spec(panel).identity == Point(point.row).spec(panel).identity


def plan(names: Sequence[str] = (), datasets: Sequence[str] = (), seeds: int | None = None) -> list[Job]:
    """The runs of the ablation, every point once before any runs twice.

    Args:
        names: only these settings, such as ``"skip"``, and ``"default"``; by default all.
        datasets: only these data sets, by their labels; by default those that are not to be asked for.
        seeds: how many runs of each; by default what is planned for the data set.

    Example:
        >>> jobs = plan(["default"], ["counting.triangle"])
        >>> [str(job) for job in jobs[:2]]
        ['counting.triangle gin, seed 0', 'counting.triangle gin+elene-nd, seed 0']
        >>> jobs[0].spec.training.epochs, jobs[0].spec.training.step
        (60, 6)
    """
    every = points()
    check_names("rows", names, list(dict.fromkeys(point.name for point in every)))
    check_names("datasets", datasets, [panel.label for panel in panels()])
    wanted = [panel for panel in panels() if (panel.label in datasets if datasets else not panel.asked)]
    runs = [
        (number, Job(point.spec(panel), number, 0))
        for panel in wanted
        for point in every
        if (not names or point.name in names) and _matters(point, panel)
        for number in range(seeds or panel.seeds)
    ]
    return [job for _, job in sorted(runs, key=lambda run: run[0])]


def _matters(point: Point, panel: Panel) -> bool:
    return not point.datasets or panel.label in point.datasets


@dataclass(frozen=True)
class Outcome:
    """A point on a data set: what came out.

    Args:
        point: what was changed.
        panel: the data set.
        results: its runs.
        unit: seconds of an epoch of plain GIN; None if it was not run.
    """

    point: Point
    panel: Panel
    results: Sequence[Result]
    unit: float | None

    @property
    def score(self) -> float:
        """The mean on the test graphs."""
        return mean(result.best.test for result in self.results)

    @property
    def deviation(self) -> float | None:
        """Over seeds; None of a single one."""
        return stdev(result.best.test for result in self.results) if len(self.results) > 1 else None

    @property
    def time(self) -> float | None:
        """Seconds of an epoch as a multiple of plain GIN's; None if that was not run."""
        return self.seconds / self.unit if self.unit else None

    @property
    def seconds(self) -> float:
        """The median over epochs and runs."""
        return median(result.cost.seconds_per_epoch for result in self.results)

    def __str__(self) -> str:
        spread = "" if self.deviation is None else f" ± {self.deviation:.{DIGITS}f}"
        return f"{self.score:.{DIGITS}f}{spread}"


def gather(store: Store) -> dict[Panel, list[Outcome]]:
    """What the store has of each data set, all of it made by one commit: the newest that has the defaults.

    >>> gather(Store("nothing here"))
    {}
    """
    found: dict[Panel, list[Outcome]] = {}
    for panel in panels():
        results = list(store.find(panel.label))
        defaults = {Point(row).spec(panel).identity for row in {point.row for point in points()}}
        codes = [result.origin.code for result in results if result.spec.identity in defaults]
        if codes:
            newest = max(codes, key=lambda code: code.age)
            found[panel] = _outcomes(panel, [result for result in results if result.origin.code == newest])
    return found


def _outcomes(panel: Panel, results: Sequence[Result]) -> list[Outcome]:
    of = {point: [one for one in results if one.spec.identity == point.spec(panel).identity] for point in points()}
    unit = [result.cost.seconds_per_epoch for result in of[Point(UNIT)]]
    return [Outcome(point, panel, runs, median(unit) if unit else None) for point, runs in of.items() if runs]


def write_ablation(results: str | os.PathLike[str]) -> Path:
    """Write ``ablation/README.md`` and its figure in the folder of results; gives the first.

    >>> import tempfile
    >>> write_ablation(tempfile.mkdtemp()).name
    'README.md'
    """
    folder = Path(results, FOLDER)
    blocks = list(compose(gather(Store(folder))))
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for block in blocks:
        if isinstance(block, Picture):
            with replacing(folder / "figures" / f"{block.name}.svg") as temporary:
                temporary.write_text(block.svg, encoding="utf-8")
    with replacing(folder / "README.md") as temporary:
        temporary.write_text(to_markdown(blocks), encoding="utf-8")
    return folder / "README.md"


def compose(found: Mapping[Panel, Sequence[Outcome]]) -> Iterator[Block]:
    """All parts of the report.

    >>> next(compose({}))
    Heading(level=1, text='Ablation')
    """
    yield Heading(1, "Ablation")
    yield Paragraph(
        "One setting changed at a time; the first lines have the defaults. The metric is that on the test graphs at "
        "the best validation epoch, the mean ± standard deviation over seeds, and behind it the seconds of an epoch as "
        "a multiple of plain GIN's, measured while other runs were made beside it. Differences go by the validation "
        "graphs, where defaults are decided: a plus is better than the default of the same model."
    )
    if not found:
        yield Paragraph("No runs yet.")
        return
    for panel, outcomes in found.items():
        yield Paragraph(f"{panel.title}: {_say_panel(panel, outcomes)}")
    yield _grid(found)
    from elene.experiments.figures import draw_ablation

    yield Heading(2, "Accuracy against time")
    yield Picture(
        "ablation", "Ablation: the test metric against the time of an epoch", draw_ablation("ablation", found)
    )


def _say_panel(panel: Panel, outcomes: Sequence[Outcome]) -> str:
    published = specs.load(panel.label, UNIT).training.epochs
    lower = "lower" if panel.metric in LOWER_IS_BETTER else "higher"
    code: Code = outcomes[0].results[0].origin.code
    return f"{METRICS[panel.metric]}, {lower} is better; {panel.epochs} of {published} epochs; commit {code.name}."


def _grid(found: Mapping[Panel, Sequence[Outcome]]) -> Grid:
    by_place = {(one.point, panel): one for panel, outcomes in found.items() for one in outcomes}
    used = [point for point in points() if any((point, panel) in by_place for panel in found)]
    used.sort(key=lambda point: (point.row != UNIT, bool(point.key)))
    rows = [
        [
            Cell(point.title),
            *(_cell(by_place.get((point, panel)), by_place.get((Point(point.row), panel))) for panel in found),
        ]
        for point in used
    ]
    return Grid(["", *(panel.title for panel in found)], rows)


def _cell(one: Outcome | None, default: Outcome | None) -> Cell:
    if one is None:
        return Cell("")
    time = "" if one.time is None else f"{one.time:.2f}x"
    if default is None or not one.point.key:
        return Cell(str(one), time)
    gain = mean(run.best.validation for run in default.results) - mean(run.best.validation for run in one.results)
    gain = gain if one.panel.metric in LOWER_IS_BETTER else -gain
    return Cell(str(one), ", ".join(filter(None, (f"{gain:+.{DIGITS}f}", time))), "better" if gain > 0 else "")
