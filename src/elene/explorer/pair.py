"""The view of a pair of nodes, an edge for one: both ego-networks, and the intersection with both readings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elene.engine.reading import node_members, pair_members
from elene.explorer.ego import Look, dots_of, lines_of, places_of, sample_note, table_rows, with_labels
from elene.explorer.labels import OUTSIDE, ROOT, label_legend
from elene.explorer.labels import READING as LABELLED_READING
from elene.explorer.sampling import MOST_DRAWN, sample_grown, some_of
from elene.explorer.shelf import Opened
from elene.explorer.view import UNIT, Dot, TableRow, View, counted, find_kinds, induced_edges, kind_text
from elene.plot.layout import intersection_places

HEAD = ("as u sees it", "as v sees it", "nodes")
ONLY_U, ONLY_V = "only-u", "only-v"
MOST_OUTSIDE = 15  # drawn nodes that only one end sees, for each end
READING = (
    "u is on the left, v on the right. In each node that both see: (closer, degree, farther) as u reads it and as v "
    "does, counted inside the intersection. Rows of the table begin with the distance."
)


def pair_view(opened: Opened, u: int, v: int, k: int, lit: str | None = None) -> View:
    """What the page shows of two nodes.

    Args:
        opened: the graph.
        u: the position of one.
        v: the position of the other.
        k: the depth of both ego-networks.
        lit: the kind of which some nodes must be drawn.

    Example:
        >>> from elene.datasets import shrikhande
        >>> view = pair_view(Opened("shrikhande", "Shrikhande", shrikhande()), 0, 1, 1)
        >>> view.title, view.facts
        ('Edge (0, 1)', 'Both see 4 nodes and 5 edges among them; only u sees 3 nodes, only v 3.')
    """
    members, readings = pair_members(opened.graph, u, v, k)
    balls = [node_members(opened.graph, end, k) for end in (u, v)]
    outside = []
    for nodes, quadruplets in balls:
        alone = ~np.isin(nodes, members)
        outside.append((nodes[alone], quadruplets[alone, 0]))
    kinds, labels = find_kinds(with_labels(opened, members, readings)), opened.labels
    called = None if labels is None else labels.texts
    ends = np.flatnonzero(np.isin(members, (u, v)))
    shown = sample_grown(opened.graph, members, ends, places_of(kinds, lit, called), MOST_DRAWN)
    dots, edges = _draw(opened, (u, v), (members[shown], readings[shown]), outside, k)
    rows, left_out = table_rows(kinds, kinds.which[shown], called)
    only = [len(nodes) for nodes, _ in outside]
    drawn_outside = [sum(dot.tier == tier for dot in dots) for tier in (ONLY_U, ONLY_V)]
    note = sample_note(len(dots), len(members) + sum(only))
    names = opened.texts[u], opened.texts[v]
    joined = v in opened.graph.neighbors(u)
    return View(
        title=f"{'Edge' if joined else 'Pair'} ({', '.join(names)})"
        + ("" if labels is None else f", labelled {labels.text(u)} and {labels.text(v)}"),
        facts=f"Both see {counted(len(members), 'node')} and {counted(int(readings[:, 2].sum()) // 2, 'edge')} among "
        f"them; only u sees {counted(only[0], 'node')}, only v {only[1]:,}.",
        notes=tuple(text for text in (note, left_out, None if len(members) else NOTHING) if text),
        dots=dots,
        lines=lines_of(dots, edges),
        legend=(*nearness(readings), (ONLY_U, "only u sees it"), (ONLY_V, "only v sees it"))
        if labels is None
        else (
            (ROOT, "u and v"),
            (OUTSIDE, "only one of them sees it"),
            *label_legend(opened.shades, labels.counts(np.concatenate([members, *(nodes for nodes, _ in outside)]))),
        ),
        reading=READING if labels is None else f"{READING} {LABELLED_READING}",
        head=HEAD,
        rows=(*rows, *_outside_rows(only, drawn_outside)),
        lit=(lit,) if lit else (),
    )


NOTHING = "No node is within that many steps of both: the intersection is empty. A larger depth may reach one."


def nearness(readings: NDArray[np.int64]) -> list[tuple[str, str]]:
    """The legend of an intersection, whose colours go by the distance to the nearer end.

    >>> nearness(np.array([[0, 0, 1, 1, 1, 1, 1, 0]]))
    [('tier0', 'u and v')]
    """
    nearest = np.unique(np.minimum(readings[:, 0], readings[:, 4])).tolist()
    return [(f"tier{tier}", "u and v" if tier == 0 else f"{counted(tier, 'step')} from the nearer") for tier in nearest]


def _outside_rows(only: list[int], drawn: list[int]) -> list[TableRow]:
    ends = zip((ONLY_U, ONLY_V), ("u", "v"), only, drawn, strict=True)
    return [TableRow(tier, (f"only {end} sees", f"{count:,}"), seen) for tier, end, count, seen in ends if count]


def _draw(
    opened: Opened,
    ends: tuple[int, int],
    shared: tuple[NDArray[np.int64], NDArray[np.int64]],
    outside: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    k: int,
) -> tuple[tuple[Dot, ...], NDArray[np.int64]]:
    """Dots of the intersection and of some nodes that only one end sees, and the edges among them."""
    members, readings = shared
    called = None if opened.labels is None else opened.labels.texts
    kinds = with_labels(opened, members, readings)
    seen = [(int(row[0]), int(row[4])) for row in readings]
    roles = {ends[0]: "u = ", ends[1]: "v = "}
    looks = [
        Look(node, roles.get(node, ""), readings[i], f"tier{min(seen[i])}", kind_text(kinds[i], called))
        for i, node in enumerate(members.tolist())
    ]
    for side, tier in enumerate((ONLY_U, ONLY_V)):
        found, distances = outside[side]
        # The first is the end itself, where the other does not see it.
        some = np.union1d(some_of(len(found), MOST_OUTSIDE), np.arange(min(1, len(found))))
        looks += [Look(node, roles.get(node, ""), (), tier, tier) for node in found[some].tolist()]
        # The other end is farther than k: how much, nobody asked.
        seen += [(int(d), k + 1) if side == 0 else (k + 1, int(d)) for d in distances[some]]
    edges = induced_edges(opened.graph, np.array([look.node for look in looks], np.int64))
    return dots_of(opened, looks, intersection_places(seen, edges) * UNIT), edges
