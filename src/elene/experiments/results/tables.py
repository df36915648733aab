"""Tables: what the paper says, as data; the numbers are in ``published``, beside this module."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PUBLISHED = files("elene.experiments.results") / "published"
LOWER_IS_BETTER = frozenset({"mae", "log10_mse"})
METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "accuracy, mean over classes",
    "mae": "MAE",
    "log10_mse": "log10 of the MSE",
    "roc_auc": "ROC-AUC",
    "ap": "AP",
}
DIGITS = {"mae": 3, "log10_mse": 3, "ap": 3}  # after the point, at least; else 1


@dataclass(frozen=True)
class PublishedValue:
    """A published number.

    Args:
        value: as printed.
        deviation: over runs, as printed; None where there is none.
        digits: how many of them were printed after the point.

    Example:
        >>> PublishedValue.read("98.30±0.5")
        PublishedValue(value=98.3, deviation=0.5, digits=2)
    """

    value: float
    deviation: float | None
    digits: int

    @classmethod
    def read(cls, text: str) -> PublishedValue:
        """The number that a cell of a TSV file holds."""
        value, _, deviation = text.partition("±")
        return cls(float(value), float(deviation) if deviation else None, len(value.partition(".")[2]))

    def __str__(self) -> str:
        deviation = "" if self.deviation is None else f" ± {self.deviation:.{self.digits}f}"
        return f"{self.value:.{self.digits}f}{deviation}"


@dataclass(frozen=True)
class Column:
    """A data set of a table.

    Args:
        dataset: its label, as specs have it.
        title: the heading.
        metric: what results are measured by.
        percent: whether the table prints percentages.

    Example:
        >>> column = find("proximity").columns[0]
        >>> column.title, column.measure
        ('h = 3', 'accuracy in %, higher is better')
    """

    dataset: str
    title: str
    metric: str
    percent: bool = False

    @property
    def lower(self) -> bool:
        """Whether lower values are better."""
        return self.metric in LOWER_IS_BETTER

    @property
    def scale(self) -> float:
        """What results are multiplied by to be printed."""
        return 100.0 if self.percent else 1.0

    @property
    def unit(self) -> str:
        """The metric in words."""
        return f"{METRICS[self.metric]}{' in %' if self.percent else ''}"

    @property
    def measure(self) -> str:
        """The metric in words, and its direction."""
        return f"{self.unit}, {'lower' if self.lower else 'higher'} is better"


@dataclass(frozen=True)
class Line:
    """A model of a table.

    Args:
        row: its name in specs; empty if there is no spec for it.
        title: what the paper calls it.
        source: who ran it: the ``"paper"``, or the ``"literature"`` that the paper quotes; empty if no one has yet.
        published: the published numbers by data set.
    """

    row: str
    title: str
    source: str
    published: Mapping[str, PublishedValue]


@dataclass(frozen=True)
class Table:
    """A table of results.

    Args:
        name: what ``elene reproduce`` calls it.
        title: what reports call it.
        source: where it stands in the paper.
        columns: its data sets.
        lines: its models.
        notes: what to know before comparing.

    Example:
        >>> find("counting").line("gin").published["counting.star"].value
        0.023
    """

    name: str
    title: str
    source: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    @property
    def rows(self) -> list[str]:
        """The names of those models that have specs."""
        return [line.row for line in self.lines if line.row]

    def line(self, row: str) -> Line:
        """The model with this name."""
        return next(line for line in self.lines if line.row == row)

    def digits(self, column: Column) -> int:
        """How many digits after the point a column is printed with."""
        printed = [line.published[column.dataset].digits for line in self.lines if column.dataset in line.published]
        return max([*printed, DIGITS.get(column.metric, 1)])


def title_of(row: str) -> str:
    """What to call a model that the paper has not.

    >>> title_of("gin-ak++elene-nd"), title_of("gin+elene-edges")
    ('GIN-AK++ELENE-L (ND)', 'GIN+ELENE (edges)')
    """
    return re.sub(r"ELENE-(ND|ED)\b", r"ELENE-L (\1)", row.upper()).replace("ELENE-EDGES", "ELENE (edges)")


@cache
def tables() -> tuple[Table, ...]:
    """All tables, in the order of the paper, ours behind.

    >>> [table.name for table in tables()]
    ['expressivity', 'counting', 'properties', 'proximity', 'benchmarks', 'tu']
    """
    described = tomllib.loads((PUBLISHED / "tables.toml").read_text(encoding="utf-8"))
    found = []
    for name, told in described.items():
        columns = tuple(Column(dataset, **column) for dataset, column in told["columns"].items())
        found.append(Table(name, told["title"], told["source"], columns, _lines(name), tuple(told["notes"])))
    return tuple(found)


def find(name: str) -> Table:
    """The table with this name.

    >>> find("molecules")
    Traceback (most recent call last):
    ...
    ValueError: 'molecules' is not a table: choose from expressivity, counting, properties, ...
    """
    for table in tables():
        if table.name == name:
            return table
    raise ValueError(f"{name!r} is not a table: choose from {', '.join(table.name for table in tables())}")


def _lines(name: str) -> tuple[Line, ...]:
    return tuple(
        Line(
            cells.pop("row"),
            cells.pop("title"),
            cells.pop("source"),
            {dataset: PublishedValue.read(text) for dataset, text in cells.items() if text},
        )
        for cells in read_tsv(f"{name}.tsv")
    )


def read_tsv(name: str) -> list[dict[str, str]]:
    """The lines of one of the files of published numbers, comments left out.

    >>> read_tsv("brec.tsv")[0]["method"]
    '3-WL'
    """
    lines = (PUBLISHED / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
