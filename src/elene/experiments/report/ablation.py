"""The ablation as a report: what one setting changed at a time makes of accuracy and speed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from elene.experiments import config
from elene.experiments.report.blocks import Block, Cell, Grid, Heading, Paragraph, Picture, write_markdown
from elene.experiments.results.store import Result, Store
from elene.experiments.results.summary import say_mean
from elene.experiments.results.tables import LOWER_IS_BETTER, Column
from elene.experiments.schedule.ablation import FOLDER, UNIT, Panel, Point, panels, points
from elene.experiments.schedule.steps import StepTimes, read_steps

DIGITS = 3


@dataclass(frozen=True)
class Outcome:
    """A point on a data set: what came out.

    Args:
        point: what was changed.
        panel: the data set.
        results: its runs.
        time: a step's time as a multiple of plain GIN's; None if they were not measured side by side.
    """

    point: Point
    panel: Panel
    results: Sequence[Result]
    time: float | None

    @property
    def score(self) -> float:
        """The mean on the test graphs."""
        return mean(result.best.test for result in self.results)

    def __str__(self) -> str:
        return say_mean([result.best.test for result in self.results], DIGITS)


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
            runs = [result for result in results if result.origin.code == newest]
            found[panel] = _outcomes(panel, runs, read_steps(store.root, panel))
    return found


def _outcomes(panel: Panel, results: Sequence[Result], steps: StepTimes | None) -> list[Outcome]:
    wanted = {point: point.spec(panel).identity for point in points() if point.matters(panel)}
    of = {point: [one for one in results if one.spec.identity == identity] for point, identity in wanted.items()}
    seconds = {} if steps is None else steps.seconds
    unit = seconds.get(Point(UNIT).title)
    times = {point: seconds[point.title] / unit for point in of if unit and point.title in seconds}
    return [Outcome(point, panel, runs, times.get(point)) for point, runs in of.items() if runs]


def write_ablation(results: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Write ``ablation/README.md`` and its figure in the folder ``out``; gives the first.

    >>> import tempfile
    >>> write_ablation("nothing here", tempfile.mkdtemp()).name
    'README.md'
    """
    return write_markdown(Path(out, FOLDER), list(compose(gather(Store(Path(results, FOLDER))))))


def compose(found: Mapping[Panel, Sequence[Outcome]]) -> Iterator[Block]:
    """All parts of the report.

    >>> next(compose({}))
    Heading(level=1, text='Ablation')
    """
    yield Heading(1, "Ablation")
    yield Paragraph(
        "One setting changed at a time; the first lines have the defaults. The metric is that on the test graphs at "
        "the best validation epoch, the mean ± standard deviation over seeds, and behind it the time of a training "
        "step as a multiple of plain GIN's, the best of many, all models of a data set in turn; the files in steps say "
        "where and by which commit. Differences go by the validation graphs, where defaults are decided: a plus is "
        "better than the default of the same model."
    )
    if not found:
        yield Paragraph("No runs yet.")
        return
    for panel, outcomes in found.items():
        yield Paragraph(f"{panel.title}: {_say_panel(panel, outcomes)}")
    yield _grid(found)
    from elene.experiments.report.figures import draw_ablation

    yield Heading(2, "Accuracy against time")
    yield Picture("ablation", "Ablation: the test metric against the time of a step", draw_ablation("ablation", found))


def _say_panel(panel: Panel, outcomes: Sequence[Outcome]) -> str:
    published = config.load_network(panel.label, UNIT).training.epochs
    measure = Column(panel.label, panel.title, panel.metric).measure
    commit = outcomes[0].results[0].origin.code.name
    return f"{measure}; {panel.epochs} of {published} epochs; commit {commit}."


def _grid(found: Mapping[Panel, Sequence[Outcome]]) -> Grid:
    by_place = {(one.point, panel): one for panel, outcomes in found.items() for one in outcomes}
    used = [point for point in points() if any((point, panel) in by_place for panel in found)]
    used.sort(key=lambda point: (point.row != UNIT, bool(point.key)))
    rows = []
    for point in used:
        pairs = ((by_place.get((point, panel)), by_place.get((Point(point.row), panel))) for panel in found)
        rows.append([Cell(point.title), *(_cell(one, default) for one, default in pairs)])
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
