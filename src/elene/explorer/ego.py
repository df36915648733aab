"""The view of a node: its ego-network in rings, and its quadruplets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.engine.reading import node_members
from elene.explorer.labels import READING as LABELLED_READING
from elene.explorer.labels import ROOT, Shades, label_legend
from elene.explorer.sampling import sample_rings
from elene.explorer.shelf import Opened
from elene.explorer.view import (
    UNIT,
    Dot,
    Kinds,
    Line,
    TableRow,
    View,
    counted,
    dot_text,
    find_kinds,
    induced_edges,
    kind_parts,
    kind_text,
)
from elene.plot.layout import Points, ring_places
from elene.plot.pictures import shorten

MOST_ROWS = 100
HEAD = ("distance", "closer", "degree", "farther", "nodes")
LABELLED_HEAD = ("distance", "closer", "degree", "farther", "label", "nodes")
READING = (
    "In each node: its name and (closer, degree, farther), the numbers of its neighbours in sight that are one step "
    "nearer to the root, of all of them, and of those one step farther."
)


def ego_view(
    opened: Opened, root: int, k: int, lit: str | None = None, id_prefix: str = "", shades: Shades | None = None
) -> View:
    """What the page shows of a node; counts are exact, and around hubs a sample is drawn.

    Args:
        opened: the graph.
        root: the node's position.
        k: the depth.
        lit: the kind of which some nodes must be drawn.
        id_prefix: before the ids of nodes, where two graphs are drawn.
        shades: the colours of labels, where they are not those of the graph alone.

    Example:
        >>> from elene.datasets import rook
        >>> view = ego_view(Opened("rook", "Rook", rook()), 0, 1)
        >>> view.title, view.facts
        ('Node 0', '7 nodes within 1 step, 12 edges among them.')
        >>> [(row.cells, row.drawn) for row in view.rows]
        [(('0', '0', '6', '6', '1'), 1), (('1', '1', '3', '0', '6'), 6)]
    """
    members, quadruplets = node_members(opened.graph, root, k)
    rows, distances = with_labels(opened, members, quadruplets), quadruplets[:, 0]
    kinds, labels = find_kinds(rows), opened.labels
    called = None if labels is None else labels.texts
    shown = sample_rings(opened.graph, members, distances, places_of(kinds, lit, called))
    edges = induced_edges(opened.graph, members[shown])
    places = ring_places(distances[shown].tolist(), edges) * UNIT
    looks = [Look(members[i], "", quadruplets[i], f"tier{distances[i]}", kind_text(rows[i], called)) for i in shown]
    dots = dots_of(opened, looks, places, shades, id_prefix)
    table, left_out = table_rows(kinds, kinds.which[shown], called)
    steps = counted(k, "step")
    edge_count = int(quadruplets[:, 2].sum()) // 2
    return View(
        title=f"Node {opened.texts[root]}" + ("" if labels is None else f", labelled {labels.text(root)}"),
        facts=f"{counted(len(members), 'node')} within {steps}, {counted(edge_count, 'edge')} among them.",
        notes=tuple(note for note in (sample_note(len(shown), len(members)), left_out) if note),
        dots=dots,
        lines=lines_of(dots, edges),
        legend=_rings(int(distances[-1]))
        if labels is None
        else ((ROOT, "root"), *label_legend(shades or opened.shades, labels.counts(members))),
        reading=READING if labels is None else f"{READING} {LABELLED_READING}",
        head=HEAD if labels is None else LABELLED_HEAD,
        rows=table,
        lit=(lit,) if lit else (),
    )


def _rings(farthest: int) -> tuple[tuple[str, str], ...]:
    return tuple((f"tier{ring}", counted(ring, "step") if ring else "root") for ring in range(farthest + 1))


def with_labels(opened: Opened, nodes: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of quadruplets with the place of each node's label behind them, where the graph has labels."""
    return rows if opened.labels is None else np.column_stack([rows, opened.labels.which[nodes]])


class Look(NamedTuple):
    """How a node is drawn: its position, what stands before its name, its reading or both, its tier, and its kind."""

    node: int
    role: str
    reading: Sequence[int]
    tier: str
    kind: str


def dots_of(
    opened: Opened, looks: Sequence[Look], places: Points, shades: Shades | None = None, id_prefix: str = ""
) -> tuple[Dot, ...]:
    """The dots of nodes at their places; with labels, where the graph has some, and in their colours."""
    dots = []
    for look, (x, y) in zip(looks, places.tolist(), strict=True):
        name, label = opened.texts[look.node], "" if opened.labels is None else opened.labels.text(look.node)
        shade = "" if opened.labels is None else (shades or opened.shades)[label]
        text = dot_text(look.role + shorten(name), label, look.reading)
        node = f"{id_prefix}{look.node}"
        dots.append(Dot(node, opened.key, name, text, look.tier, look.kind, x, -y, label, shade))
    return tuple(dots)


def places_of(kinds: Kinds, kind: str | None, labels: Sequence[str] | None = None) -> NDArray[np.int64]:
    """The places of the nodes of a kind, which may be none.

    >>> places_of(find_kinds(np.array([[0, 0, 1, 1], [1, 1, 1, 0]])), "1.1.1.0").tolist()
    [1]
    """
    named = [i for i, row in enumerate(kinds.distinct.tolist()) if kind_text(row, labels) == kind] if kind else []
    return np.flatnonzero(np.isin(kinds.which, named)) if named else np.empty(0, np.int64)


def sample_note(drawn: int, there: int) -> str | None:
    """What to say where not all nodes are drawn.

    >>> sample_note(60, 2000)
    'Drawn is a sample: 60 of 2,000 nodes. All counts are exact, for all 2,000.'
    >>> sample_note(7, 7)
    """
    if drawn == there:
        return None
    return f"Drawn is a sample: {drawn:,} of {there:,} nodes. All counts are exact, for all {there:,}."


def table_rows(
    kinds: Kinds, drawn: NDArray[np.int64], labels: Sequence[str] | None = None
) -> tuple[tuple[TableRow, ...], str | None]:
    """The table of kinds, by distance, and a note where rare ones are left out of it.

    >>> rows, note = table_rows(find_kinds(np.array([[0, 0, 1, 1], [1, 1, 1, 0]])), np.array([0]))
    >>> rows[0], note
    (TableRow(kind='0.0.1.1', cells=('0', '0', '1', '1', '1'), drawn=1), None)
    """
    # The first row is the root's own, and never left out.
    often = np.union1d(np.argsort(-kinds.counts, kind="stable")[:MOST_ROWS], np.arange(min(1, len(kinds.counts))))
    seen = np.bincount(drawn, minlength=len(kinds.counts))
    told = zip(kinds.distinct[often].tolist(), kinds.counts[often].tolist(), seen[often].tolist(), strict=True)
    rows = tuple(
        TableRow(kind_text(numbers, labels), (*_cells(numbers, labels), f"{count:,}"), times)
        for numbers, count, times in told
    )
    rare = len(kinds.counts) - len(often)
    if not rare:
        return rows, None
    nodes = int(kinds.counts.sum() - kinds.counts[often].sum())
    table = f"The table has {len(often)} rows, the most frequent"
    return rows, f"{table}; {counted(nodes, 'node')} are in {rare:,} rarer ones."


def _cells(numbers: list[int], labels: Sequence[str] | None) -> list[str]:
    """The numbers of a quadruplet and the label; of two of them, each in one cell, for there is not room for eight."""
    if len(numbers) >= 8:
        return kind_parts(kind_text(numbers, labels))
    return [*map(str, numbers[:4]), *([] if labels is None else [shorten(labels[numbers[4]])])]


def lines_of(dots: tuple[Dot, ...], edges: NDArray[np.int64]) -> tuple[Line, ...]:
    """Edges between dots, from pairs of places in their list."""
    return tuple(Line(dots[a].id, dots[b].id) for a, b in edges.tolist())
