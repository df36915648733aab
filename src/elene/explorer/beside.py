"""The view of two graphs side by side: what tells them apart, and where it is in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from elene.encoding import Encoding, compare, encode
from elene.engine.reading import pair_members
from elene.explorer.ego import Look, dots_of, ego_view, lines_of, places_of, sample_note, with_labels
from elene.explorer.labels import ROOT, Legend, Shades, label_legend, shades_of
from elene.explorer.pair import nearness
from elene.explorer.sampling import MOST_DRAWN, sample_grown
from elene.explorer.shelf import Opened
from elene.explorer.view import (
    UNIT,
    Caption,
    Dot,
    Line,
    TableRow,
    View,
    counted,
    find_kinds,
    induced_edges,
    kind_text,
    kind_words,
)
from elene.graph import Graph, Labels
from elene.plot.layout import intersection_places

MOST_EDGES, MOST_PAIRED = 20_000, 500  # edges of graphs compared deeper than 1; nodes of graphs compared pair by pair
MOST_DIFFERENCES = 12
HEAD = ("nodes seen as", "in A", "in B")
GAP = 2.5 * UNIT


class Difference(NamedTuple):
    """A kind of nodes that one graph has more of: how often it is seen in A and B, and who sees it there, if anybody.

    Who sees it is a node, or the two ends of an edge or pair, as positions.
    """

    kind: str
    in_a: int
    in_b: int
    seen_from: tuple[tuple[int, ...] | None, tuple[int, ...] | None]


class Found(NamedTuple):
    """What a comparison found: the thing that differs, in words, or None; its depth; the kinds; what was tried."""

    by: str | None
    depth: int
    differences: list[Difference]
    tried: list[str]


def find_differences(a: Opened, b: Opened, k: int, level: str) -> Found:
    """Compare two graphs by :func:`elene.compare`, depth by depth, and look up who sees what differs.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> found = find_differences(Opened("r", "Rook", rook()), Opened("s", "Shrikhande", shrikhande()), 2, "edge")
        >>> found.by, found.differences[0]
        ('ED at k=1', Difference(kind='1.1.2.0-1.1.2.0', in_a=0, in_b=96, seen_from=(None, (0, 1))))
    """
    depths = list(range(1, max(depth_of(a, b, k), 1) + 1))
    tried: list[str] = []
    for depth in depths:
        found = compare(a.graph, b.graph, depth, level, refine=None)
        tried += [what for what in found.tried if what not in tried]
        if found.distinguished:
            return Found(found.by, depth, _differing(a, b, depth, level), tried)
    last = compare(a.graph, b.graph, depths, level, refine="wl")
    return Found(last.by, depths[-1], [], last.tried)


def depth_of(a: Opened, b: Opened, k: int) -> int:
    """How deep two graphs are compared: as the slider has it, and 1 where one of them is large."""
    return k if max(a.graph.num_edges, b.graph.num_edges) <= MOST_EDGES else min(k, 1)


def level_of(a: Opened, b: Opened, level: str) -> str:
    """What is compared: pairs in small graphs only."""
    small = max(a.graph.num_nodes, b.graph.num_nodes) <= MOST_PAIRED
    return "edge" if level == "pair" and not small else level


def differences_of(a: Opened, b: Opened, k: int, level: str) -> Future[Found]:
    """What tells two graphs apart, now or later."""
    level, depth = level_of(a, b, level), depth_of(a, b, k)
    return a.jobs.future(("beside", id(b), depth, level), lambda: find_differences(a, b, depth, level))


def _differing(a: Opened, b: Opened, depth: int, level: str) -> list[Difference]:
    """What the graphs have different numbers of, with somebody who sees it: kinds of nodes or, where all these agree,
    whole encodings.
    """
    # Without names, rows are called by their positions.
    graphs = [opened.graph for opened in (a, b)]
    unnamed = [Graph.trusted(one.indptr, one.indices, None, one.labels, one.label_names) for one in graphs]
    encodings = [encode(graph, depth, level=level, form="joint") for graph in unnamed]
    for look in (_seen_kinds, _seen_encodings):
        seen, found = [look(encoding) for encoding in encodings], []
        for what in sorted(seen[0].keys() | seen[1].keys()):
            (in_a, who_a), (in_b, who_b) = (side.get(what, (0, None)) for side in seen)
            if in_a != in_b:
                found.append(Difference(what, in_a, in_b, (who_a, who_b)))
        if found:
            return sorted(found, key=lambda difference: -abs(difference.in_a - difference.in_b))[:MOST_DIFFERENCES]
    return []


# How often something is seen, and by whom first.
Seen = dict[str, tuple[int, tuple[int, ...] | None]]


def _seen_kinds(encoding: Encoding) -> Seen:
    columns = encoding.matrix.tocsc()
    seen: Seen = {}
    for name, (start, stop) in zip(_names(encoding), pairwise(columns.indptr), strict=True):
        counts = columns.data[start:stop]
        seen[name] = int(counts.sum()), _positions(encoding, columns.indices[start + int(counts.argmax())])
    return seen


def _seen_encodings(encoding: Encoding) -> Seen:
    matrix, names = encoding.matrix, _names(encoding)
    seen: Seen = {}
    for row, (start, stop) in enumerate(pairwise(matrix.indptr)):
        order = start + np.argsort(matrix.indices[start:stop])
        words = ", ".join(f"{matrix.data[entry]} x {kind_words(names[matrix.indices[entry]])}" for entry in order)
        text = f"{encoding.spec.level}s that see {words}"
        times, who = seen.get(text, (0, _positions(encoding, row)))
        seen[text] = times + 1, who
    return seen


def _names(encoding: Encoding) -> list[str]:
    """The kind of each column."""
    if not encoding.spec.labelled:
        return [kind_text(row[1:]) for row in encoding.table.tolist()]
    names = encoding.label_names
    codes, places = np.unique(encoding.table[:, -1], return_inverse=True)
    labels = [str(label) for label in Labels(codes, names).values.tolist()]
    # Both ends see the same label: it stands behind the numbers of either, and once in a kind.
    bare = np.delete(encoding.table, range(5, encoding.table.shape[1], 5), axis=1)
    return [kind_text((*row[1:], place), labels) for row, place in zip(bare.tolist(), places.tolist(), strict=True)]


def _positions(encoding: Encoding, row: int) -> tuple[int, ...]:
    rows = encoding.nodes if encoding.nodes is not None else encoding.edges
    assert rows is not None
    return tuple(int(position) for position in np.ravel(rows[row]))


def beside_view(a: Opened, b: Opened, k: int, level: str, lit: str | None = None) -> View:
    """What the page shows of two graphs: an example of what differs in each, side by side.

    All that differs is lit, or the kind that somebody chose; where the comparison is still running, the view says so.
    Labels count where both graphs have some.
    """
    if (a.labels is None) != (b.labels is None):
        view = beside_view(a.bare, b.bare, k, level, lit)
        lacking = "A" if a.labels is None else "B"
        return replace(view, notes=(f"Compared without labels: {lacking} has none.", *view.notes))
    future = differences_of(a, b, k, level)
    sizes = "; ".join(
        f"{letter}: {counted(opened.graph.num_nodes, 'node')}, {counted(opened.graph.num_edges, 'edge')}"
        for letter, opened in (("A", a), ("B", b))
    )
    title = f"A: {a.title}  |  B: {b.title}"
    if not future.done():
        return View(title, sizes, waiting="Comparing the two graphs ...")
    if future.exception() is not None:
        return View(title, sizes, notes=(f"They could not be compared: {future.exception()}",))
    found = future.result()
    if found.by is None:
        words = f"Not told apart by {', '.join(found.tried)}. {sizes}."
        return View(title, words, notes=_limits(a, b, k, level))
    what = f"the encodings of their {level_of(a, b, level)}s, " if found.by[1:2] == "D" else ""
    facts = f"They differ by {what}{found.by}. {sizes}."
    if not found.differences:
        return View(title, facts, notes=_limits(a, b, k, level))
    chosen = next((d for d in found.differences if d.kind == lit), found.differences[0])
    counts = sum((opened.labels.counts() for opened in (a, b) if opened.labels is not None), Counter())
    shades = shades_of(counts)
    parts = [_example(opened, found, chosen, side, shades) for side, opened in enumerate((a, b))]
    dots, lines = _side_by_side(parts)
    top = min((dot.y for dot in dots), default=0.0) - UNIT
    captions = zip((f"A: {a.title}", f"B: {b.title}"), ("A", "B"), strict=True)
    drawn = Counter(dot.kind for dot in dots)
    return View(
        title=title,
        facts=facts,
        notes=(*(note for part in parts for note in part.notes), *_limits(a, b, k, level)),
        dots=dots,
        lines=lines,
        captions=tuple(Caption(text, _middle(dots, letter), top) for text, letter in captions),
        legend=max((part.legend for part in parts), key=len) if not shades else _legend(dots, shades, level),
        reading=f"Shown is {parts[0].title}, and {parts[1].title}. {parts[0].reading}",
        head=HEAD,
        rows=tuple(
            TableRow(d.kind, (kind_words(d.kind), f"{d.in_a:,}", f"{d.in_b:,}"), drawn[d.kind])
            for d in found.differences
        ),
        lit=(lit,) if lit else tuple(d.kind for d in found.differences),
    )


def _middle(dots: Sequence[Dot], letter: str) -> float:
    """Where the middle of a graph's drawing is."""
    return float(np.mean([dot.x for dot in dots if dot.id.startswith(letter)] or [0.0]))


def _limits(a: Opened, b: Opened, k: int, level: str) -> tuple[str, ...]:
    """What was not compared, for the graphs are large."""
    notes = []
    if depth_of(a, b, k) < k:
        notes.append(f"Compared at k = 1 only: a graph has more than {MOST_EDGES:,} edges.")
    if level_of(a, b, level) != level:
        notes.append(f"Compared by edges, not pairs: a graph has more than {MOST_PAIRED:,} nodes.")
    return tuple(notes)


def _legend(dots: Sequence[Dot], shades: Shades, level: str) -> Legend:
    """That of the labels that are drawn, in either graph."""
    root = "root" if level == "node" else "both ends"
    return (ROOT, root), *label_legend(shades, Counter(dot.label for dot in dots))


def _example(opened: Opened, found: Found, chosen: Difference, side: int, shades: Shades) -> View:
    """What somebody sees in this graph: somebody who sees the chosen kind, or what this graph has more of."""
    letter, here = "AB"[side], [d for d in found.differences if d.seen_from[side] is not None]
    who = chosen.seen_from[side]
    if who is None and here:
        who = max(here, key=lambda d: (d.in_b - d.in_a) * (1 if side else -1)).seen_from[side]
    if who is None:
        return View(f"nothing in {letter}", "")
    if len(who) == 1:
        view = ego_view(opened, who[0], found.depth, chosen.kind, f"{letter}:", shades)
        return replace(view, title=f"node {opened.texts[who[0]]} in {letter}")
    return _intersection(opened, who, found.depth, chosen.kind, letter, shades)


def _intersection(opened: Opened, ends: tuple[int, ...], depth: int, lit: str, letter: str, shades: Shades) -> View:
    """The intersection of a pair's ego-networks, whose nodes are known by both readings in any order."""
    members, readings = pair_members(opened.graph, ends[0], ends[1], depth)
    swapped = np.array([row[4:].tolist() < row[:4].tolist() for row in readings], bool)
    unordered = with_labels(opened, members, np.where(swapped[:, None], np.roll(readings, 4, axis=1), readings))
    called = None if opened.labels is None else opened.labels.texts
    first = np.flatnonzero(np.isin(members, ends))
    shown = sample_grown(opened.graph, members, first, places_of(find_kinds(unordered), lit, called), MOST_DRAWN)
    edges = induced_edges(opened.graph, members[shown])
    seen = [(int(readings[i, 0]), int(readings[i, 4])) for i in shown]
    places = intersection_places(seen, edges) * UNIT
    looks = [
        Look(members[i], "", readings[i], f"tier{min(distances)}", kind_text(unordered[i], called))
        for i, distances in zip(shown, seen, strict=True)
    ]
    dots = dots_of(opened, looks, places, shades, f"{letter}:")
    names = ", ".join(opened.texts[end] for end in ends)
    note = sample_note(len(shown), len(members))
    return View(
        title=f"what both ends of ({names}) see in {letter}",
        facts="",
        notes=() if note is None else (f"{letter}: {note}",),
        dots=dots,
        lines=lines_of(dots, edges),
        legend=tuple(nearness(readings)),
        reading="In each node: (closer, degree, farther) as either end reads it.",
    )


def _side_by_side(parts: Sequence[View]) -> tuple[tuple[Dot, ...], tuple[Line, ...]]:
    """Both drawings, A left of B, with a gap between them."""
    right = max((dot.x for dot in parts[0].dots), default=0.0)
    left = min((dot.x for dot in parts[1].dots), default=0.0)
    moved = tuple(dot._replace(x=dot.x - left + right + GAP) for dot in parts[1].dots)
    return parts[0].dots + moved, parts[0].lines + parts[1].lines
