"""Figures of a report as SVG: learning curves, accuracy against cost, and memory against the size of a graph.

Each has a name that no other figure of the page has: the ids in it depend on that.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from elene.experiments.report.ablation import Outcome
from elene.experiments.results.summary import Entry
from elene.experiments.results.tables import METRICS, title_of
from elene.experiments.schedule.ablation import UNIT, Panel, Point

POINTS = 150  # of a curve; more cannot be seen
ACROSS = 3  # panels, at most
NARROW = 4.0  # a range that needs no logarithm: the largest value by the smallest
LEGEND = 1.2  # inches for many lines
WIDTH, HEIGHT = 3.6, 2.7  # of a panel, in inches

# A colour for each model, the same in all figures, and different for colour-blind eyes, too.
COLOURS = {
    "gin": "#555555",
    "gin+elene": "#E69F00",
    "gin+elene-nd": "#0072B2",
    "gin+elene-ed": "#D55E00",
    "gin+igel": "#8C6D00",
    "gin-ak": "#56B4E9",
    "gin-ak+": "#009E73",
    "gcn": "#BBBBBB",
    "gat": "#88CCEE",
    "spnn-1": "#DDAACC",
    "spnn-5": "#CC79A7",
    "graphormer": "#7B3294",
    "ngnn": "#117733",
}
_FONTS = re.compile(r"'DejaVu Sans'[^;]*")
OTHERS = ("#999933", "#332288", "#AA4499", "#44AA99", "#882255")


def draw_curves(name: str, entries: Sequence[Entry]) -> str | None:
    """The metric on the validation graphs after each epoch, the mean of all runs; None if there are no curves."""
    return _panels(name, [entry for entry in entries if _curve(entry)], "epoch", _draw_curve)


def draw_costs(name: str, entries: Sequence[Entry]) -> str | None:
    """The metric on the test graphs against the seconds of an epoch; None if there is nothing to compare."""
    costly = [entry for entry in entries if entry.results and entry.seconds_per_epoch is not None]
    count = Counter(entry.column for entry in costly)
    costly = [entry for entry in costly if count[entry.column] > 1]
    return _panels(name, costly, "seconds per epoch", _draw_cost, log=True)


def draw_memory(name: str, rows: Sequence[Mapping[str, Any]], sweep: str) -> str:
    """Peak memory of each model against the size or the density of the graph, as ``benchmarks/scaling.py`` measured it.

    Args:
        name: of the figure.
        rows: its measurements: ``sweep``, ``model``, ``degree``, ``k``, ``nodes`` and ``peak``, in bytes, or None where
            memory did not suffice.
        sweep: ``"nodes"``, ``"degree"`` of regular graphs, or ``"m"`` of Barabasi-Albert graphs.
    """
    wanted = [row for row in rows if row["sweep"] == sweep and row["peak"] is not None]
    across = "nodes" if sweep == "nodes" else "degree"
    degrees = sorted({row["degree"] for row in wanted}) if sweep == "nodes" else [None]
    panels = [(degree, k) for degree in degrees for k in sorted({row["k"] for row in wanted if row["k"]})]
    titles = [f"k = {k}" if degree is None else f"d = {degree}, k = {k}" for degree, k in panels]
    figure = _figure(titles, sweep, ["peak memory, MB"] * len(panels))
    for axes, (degree, k) in zip(figure.axes, panels, strict=True):
        for model in dict.fromkeys(row["model"] for row in wanted):
            # A model without ego-networks has no k, and is the same in all panels.
            shown = [row for row in wanted if row["model"] == model and row["k"] in (0, k)]
            points = sorted((row[across], row["peak"] / 1e6) for row in shown if degree in (None, row["degree"]))
            if points:
                style = {"color": COLOURS[model], "markersize": 3, "label": title_of(model)}
                axes.plot(*zip(*points, strict=True), "o-", **style)
        for which in "xy":
            _log(axes, which)
    return _svg(figure, name)


def draw_ablation(name: str, found: Mapping[Panel, Sequence[Outcome]]) -> str:
    """The metric on the test graphs against the time of a step, a panel for each data set.

    A setting has a colour, each of its values a marker; models without a change are black, plain GIN hollow.
    """
    keys = list(dict.fromkeys(one.point.key for outcomes in found.values() for one in outcomes if one.point.key))
    titles, ups = [panel.title for panel in found], [METRICS[panel.metric] for panel in found]
    figure = _figure(titles, "time of a step, GIN = 1", ups, LEGEND)
    for axes, (panel, outcomes) in zip(figure.axes, found.items(), strict=True):
        for one in outcomes:
            if one.time is not None:
                axes.plot(one.time, one.score, **_style(one.point, keys), linestyle="", label=one.point.title)
        _log(axes, "x")
        if panel.metric == "mae":
            _log(axes, "y")
    return _svg(figure, name)


def _style(point: Point, keys: Sequence[str]) -> dict[str, Any]:
    shown = {"markersize": 6 if point.key else 9, "marker": "*"}
    colour = "black"
    if point.key:
        colour = f"C{keys.index(point.key) % 10}"
        shown["marker"] = "osDv^<>P"[(sum(point.value.encode()) + keys.index(point.key) // 10) % 8]
    return {**shown, "color": colour, "markerfacecolor": colour if point.row != UNIT else "none"}


def _panels(
    name: str, entries: Sequence[Entry], across: str, draw: Callable[[Axes, Entry], None], log: bool = False
) -> str | None:
    """A panel for each data set, and one legend for all of them; ``log`` is about the horizontal axis."""
    columns = list(dict.fromkeys(entry.column for entry in entries))
    if not columns:
        return None
    figure = _figure([column.title for column in columns], across, [column.unit for column in columns])
    for axes, column in zip(figure.axes, columns, strict=True):
        for entry in entries:
            if entry.column == column:
                draw(axes, entry)
        for which, wanted in (("x", log), ("y", column.metric == "mae")):
            if wanted:
                _log(axes, which)
    return _svg(figure, name)


def _draw_curve(axes: Axes, entry: Entry) -> None:
    curve = _curve(entry)
    step = -(-len(curve) // POINTS)
    shown = sorted({*range(0, len(curve), step), len(curve) - 1})
    epochs, values = zip(*(curve[place] for place in shown), strict=True)
    axes.plot(epochs, values, color=_colour(entry), label=entry.line.title, linewidth=1.2)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def _draw_cost(axes: Axes, entry: Entry) -> None:
    axes.plot(entry.seconds_per_epoch, mean(entry.scores), "o", color=_colour(entry), label=entry.line.title)


def _curve(entry: Entry) -> list[tuple[int, float]]:
    """Epochs that all runs evaluated, counted from one, and the mean over runs; as long as the shortest of them."""
    curves = zip(*(result.curve.get("validation", []) for result in entry.results), strict=False)
    told = ((epoch, [value for value in values if value is not None]) for epoch, values in enumerate(curves, 1))
    return [(epoch, entry.column.scale * mean(values)) for epoch, values in told if len(values) == len(entry.results)]


def _colour(entry: Entry) -> str:
    row = entry.line.row
    return COLOURS.get(row) or OTHERS[sum(row.encode()) % len(OTHERS)]


def _figure(titles: Sequence[str], across: str, ups: Sequence[str], legend: float = 0.0) -> Figure:
    """A figure with empty axes below each title, and room for a legend of so many inches more than usual."""
    beside = 2 if len(titles) == 4 else min(len(titles), ACROSS)
    below = -(-len(titles) // beside)
    figure = Figure(figsize=(WIDTH * beside, HEIGHT * below + 0.4 + legend), layout="constrained")
    for place, (title, up) in enumerate(zip(titles, ups, strict=True), 1):
        axes = figure.add_subplot(below, beside, place)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(across, fontsize=8)
        axes.set_ylabel(up, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _log(axes: Axes, which: str) -> None:
    """A logarithmic axis with plain numbers; none where all values are so close that it would show nothing more."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_data_interval()
    if high < NARROW * low:
        return
    axes.set(**{f"{which}scale": "log"})
    # Within a decade or two there would be too few numbers otherwise.
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.7g}"))
    axis.set_minor_formatter(NullFormatter())


def _svg(figure: Figure, name: str) -> str:
    """The figure with one legend for all panels; ids depend on the name alone, since several figures share a page."""
    shown = {label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    # What is before the drawing itself belongs to a file, not to a page; and hundredths of a point are enough.
    drawing = "<svg" + buffer.getvalue().partition("<svg")[2]
    return re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", _FONTS.sub("sans-serif", tag[0])), drawing)
