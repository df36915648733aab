"""The view of a node: its ego-network in rings, and its quadruplets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elene.engine.reading import node_members
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
    find_kinds,
    induced_edges,
    kind_text,
    kind_words,
    shorten,
    triplet_text,
)
from elene.plot.layout import ring_places

MOST_ROWS = 100
HEAD = ("distance", "closer", "degree", "farther", "nodes")
READING = (
    "In each node: its name and (closer, degree, farther), the numbers of its neighbours in sight that are one step "
    "nearer to the root, of all of them, and of those one step farther."
)


def ego_view(opened: Opened, root: int, k: int, lit: str | None = None, id_prefix: str = "") -> View:
    """What the page shows of a node; counts are exact, and around hubs a sample is drawn.

    Args:
        opened: the graph.
        root: the node's position.
        k: the depth.
        lit: the kind of which some nodes must be drawn.
        id_prefix: before the ids of nodes, where two graphs are drawn.

    Example:
        >>> from elene.explorer.demos import rook
        >>> view = ego_view(Opened("rook", "Rook", rook()), 0, 1)
        >>> view.title, view.facts
        ('Node 0', '7 nodes within 1 step, 12 edges among them.')
        >>> [(row.cells, row.drawn) for row in view.rows]
        [(('0', '0', '6', '6', '1'), 1), (('1', '1', '3', '0', '6'), 6)]
    """
    members, quadruplets = node_members(opened.graph, root, k)
    kinds = find_kinds(quadruplets)
    shown = sample_rings(opened.graph, members, quadruplets[:, 0], places_of(kinds, lit))
    edges = induced_edges(opened.graph, members[shown])
    places = ring_places(quadruplets[shown, 0].tolist(), edges) * UNIT
    texts = opened.texts
    dots = tuple(
        Dot(
            id=f"{id_prefix}{members[i]}",
            graph=opened.key,
            name=texts[members[i]],
            text=f"{shorten(texts[members[i]])}\n{triplet_text(quadruplets[i])}",
            tier=f"tier{quadruplets[i, 0]}",
            kind=kind_text(quadruplets[i]),
            x=float(x),
            y=-float(y),
        )
        for i, (x, y) in zip(shown.tolist(), places, strict=True)
    )
    rows, left_out = table_rows(kinds, kinds.which[shown])
    steps = counted(k, "step")
    edge_count = int(quadruplets[:, 2].sum()) // 2
    return View(
        title=f"Node {texts[root]}",
        facts=f"{counted(len(members), 'node')} within {steps}, {counted(edge_count, 'edge')} among them.",
        notes=tuple(note for note in (sample_note(len(shown), len(members)), left_out) if note),
        dots=dots,
        lines=lines_of(dots, edges),
        legend=tuple((f"tier{ring}", _ring_text(ring)) for ring in range(int(quadruplets[-1, 0]) + 1)),
        reading=READING,
        head=HEAD,
        rows=rows,
        lit=(lit,) if lit else (),
    )


def _ring_text(ring: int) -> str:
    return "root" if ring == 0 else counted(ring, "step")


def places_of(kinds: Kinds, kind: str | None) -> NDArray[np.int64]:
    """The places of the nodes of a kind, which may be none.

    >>> places_of(find_kinds(np.array([[0, 0, 1, 1], [1, 1, 1, 0]])), "1.1.1.0").tolist()
    [1]
    """
    named = [i for i, row in enumerate(kinds.distinct.tolist()) if kind_text(row) == kind] if kind else []
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


def table_rows(kinds: Kinds, drawn: NDArray[np.int64]) -> tuple[tuple[TableRow, ...], str | None]:
    """The table of kinds, by distance, and a note where rare ones are left out of it.

    >>> rows, note = table_rows(find_kinds(np.array([[0, 0, 1, 1], [1, 1, 1, 0]])), np.array([0]))
    >>> rows[0], note
    (TableRow(kind='0.0.1.1', cells=('0', '0', '1', '1', '1'), drawn=1), None)
    """
    # The first row is the root's own, and never left out.
    often = np.union1d(np.argsort(-kinds.counts, kind="stable")[:MOST_ROWS], np.arange(min(1, len(kinds.counts))))
    seen = np.bincount(drawn, minlength=len(kinds.counts))
    rows = tuple(
        TableRow(
            kind_text(kinds.distinct[i]), (*_cells(kinds.distinct[i].tolist()), f"{kinds.counts[i]:,}"), int(seen[i])
        )
        for i in often.tolist()
    )
    rare = len(kinds.counts) - len(often)
    if not rare:
        return rows, None
    nodes = int(kinds.counts.sum() - kinds.counts[often].sum())
    return (
        rows,
        f"The table has {len(often)} rows, the most frequent; {counted(nodes, 'node')} are in {rare:,} rarer ones.",
    )


def _cells(numbers: list[int]) -> list[str]:
    """The four numbers of a quadruplet; of two of them, each in one cell, for there is not room for eight."""
    return [str(number) for number in numbers] if len(numbers) == 4 else kind_words(kind_text(numbers)).split()


def lines_of(dots: tuple[Dot, ...], edges: NDArray[np.int64]) -> tuple[Line, ...]:
    """Edges between dots, from pairs of places in their list."""
    return tuple(Line(dots[a].id, dots[b].id) for a, b in edges.tolist())
