"""What a page draws and writes: plain data that views compute, and any page can show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.explorer.sampling import neighbours_among
from elene.graph import Graph
from elene.plot.pictures import shorten

Rows = NDArray[np.int64]
UNIT = 62.0  # pixels from node to node where the layout counts 1


class Dot(NamedTuple):
    """A node of the drawing: ``tier`` is its colour, ``kind`` the row of the table it belongs to.

    Where nodes have labels, ``shade`` is its colour.
    """

    id: str
    graph: str
    name: str
    text: str
    tier: str
    kind: str
    x: float
    y: float
    label: str = ""
    shade: str = ""


class Caption(NamedTuple):
    """Words in the drawing."""

    text: str
    x: float
    y: float


class Line(NamedTuple):
    """An edge of the drawing, between the ids of two nodes."""

    source: str
    target: str


class TableRow(NamedTuple):
    """A row: how its kind is called in addresses, its cells, and how many of its nodes are drawn."""

    kind: str
    cells: tuple[str, ...]
    drawn: int


@dataclass(frozen=True)
class View:
    """A drawing with its words and its table.

    Args:
        title: what it shows.
        facts: its exact sizes, in a sentence or two.
        notes: what a reader must know: that it is a sample, for one.
        dots: nodes to draw.
        lines: edges to draw.
        captions: words in the drawing.
        legend: pairs of a tier and what it means.
        reading: how to read what stands in the nodes.
        head: the columns of the table.
        rows: the table.
        lit: the kinds that are lit.
        waiting: what is still being computed, in words; None where all is there.
    """

    title: str
    facts: str
    notes: tuple[str, ...] = ()
    dots: tuple[Dot, ...] = ()
    lines: tuple[Line, ...] = ()
    captions: tuple[Caption, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    reading: str = ""
    head: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()
    lit: tuple[str, ...] = ()
    waiting: str | None = None


class Kinds(NamedTuple):
    """The distinct rows of an array in ascending order, which of them each row is, and how often each occurs."""

    distinct: Rows
    which: NDArray[np.int64]
    counts: NDArray[np.int64]


def find_kinds(rows: Rows) -> Kinds:
    """Group equal rows, much faster than ``np.unique(rows, axis=0)`` does.

    >>> find_kinds(np.array([[1, 2], [0, 5], [1, 2]])).counts.tolist()
    [1, 2]
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    first = np.ones(len(rows), bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(first) - 1
    return Kinds(ordered[first], which, np.bincount(which, minlength=int(first.sum())))


def kind_text(row: Sequence[int], labels: Sequence[str] | None = None) -> str:
    """How addresses call a quadruplet, or two of one node; the last number of a row is its label's, where it has one.

    >>> kind_text([1, 1, 3, 0]), kind_text([1, 1, 3, 0, 2, 1, 3, 0])
    ('1.1.3.0', '1.1.3.0-2.1.3.0')
    >>> kind_text([1, 1, 3, 0, 1], labels=["C", "N"])
    '1.1.3.0.N'
    """
    numbers = [str(int(number)) for number in row]
    bare = "-".join(".".join(numbers[i : i + 4]) for i in range(0, len(numbers) - 3, 4))
    return bare if labels is None else f"{bare}.{labels[int(row[-1])]}"


_KIND = re.compile(r"([0-9]+(?:\.[0-9]+){3})(?:-([0-9]+(?:\.[0-9]+){3}))?(?:\.(.*))?", re.DOTALL)


def kind_parts(kind: str) -> list[str]:
    """A kind as people write it: one quadruplet, or two.

    >>> kind_parts("1.1.3.0-2.1.3.0"), kind_parts("1.1.3.0-2.1.3.0.N.2")
    (['(1,1,3,0)', '(2,1,3,0)'], ['(1,1,3,0,N.2)', '(2,1,3,0,N.2)'])
    """
    found = _KIND.fullmatch(kind)
    if found is None:
        return [kind]
    label = "" if found[3] is None else f",{shorten(found[3])}"
    return [f"({part.replace('.', ',')}{label})" for part in found.groups()[:2] if part]


def kind_words(kind: str) -> str:
    """The same in one text.

    >>> kind_words("1.1.3.0-1.1.3.0")
    '(1,1,3,0) (1,1,3,0)'
    """
    return " ".join(kind_parts(kind))


def dot_text(name: str, label: str, row: Sequence[int]) -> str:
    """What stands in a node: its name, its label, where there is one, and (closer, degree, farther), once or twice.

    >>> dot_text("Valjean", "convict", [2, 1, 3, 0])
    'Valjean\\nconvict\\n(1,3,0)'
    """
    readings = [f"({row[i]},{row[i + 1]},{row[i + 2]})" for i in range(1, len(row), 4)]
    return "\n".join([name, *([shorten(label)] if label else []), *readings])


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "node"), counted(12345, "edge")
    ('1 node', '12,345 edges')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def induced_edges(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The edges among some nodes, as pairs of places in their list.

    >>> induced_edges(Graph.from_edges([(0, 1), (1, 2), (0, 2)]), np.array([2, 0])).tolist()
    [[0, 1]]
    """
    found = map(neighbours_among(graph, nodes), range(len(nodes)))
    pairs = [np.stack([np.full(len(hits), i), hits], axis=1)[hits > i] for i, hits in enumerate(found)]
    return np.concatenate([np.empty((0, 2), np.int64), *pairs])
