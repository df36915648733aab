"""fingerprint() and compare(): tell graphs apart by their encodings, bare or refined, without learning anything."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.encoding.encoding import encode
from elene.encoding.spec import LEVELS, EncodingSpec
from elene.engine.colors import Colors, color_nodes, color_pairs, fold, refine_nodes, refine_pairs
from elene.engine.distances import pairs_within
from elene.engine.plan import Rows
from elene.graph import Graph, as_graph
from elene.validation import check_choice, check_depths

REFINEMENTS = (None, "wl", "2fwl")
NAMES = {"node": "ND", "edge": "ED", "pair": "PD"}
REFINED = {None: "", "wl": " with 1-WL", "2fwl": " with 2-FWL"}


def fingerprint(
    graph: Any, k: int | Sequence[int], level: str = "edge", refine: str | None = "wl", radius: int | None = None
) -> str:
    """A string that is equal for isomorphic graphs, and differs where the encodings tell two graphs apart.

    Args:
        graph: any graph that :func:`elene.encode` takes.
        k: depth of the ego-networks, or several depths used together; ``k=0, level="node"`` says nothing by itself, so
            that the refinement runs alone.
        level: ``"node"`` (ND), ``"edge"`` (ED) or ``"pair"`` (PD).
        refine: None for the multiset of encodings, ``"wl"`` to refine nodes with 1-WL that reads the encodings of
            nodes, arcs or pairs, ``"2fwl"`` to refine all pairs of nodes with folklore 2-WL (cubic in the nodes).
        radius: for pairs, the largest distance; by default all connected pairs.

    Returns:
        32 hexadecimal digits. Colours have 64 bits: an accidental agreement is possible, but not to be expected.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> fingerprint(rook(), k=1, level="node") == fingerprint(shrikhande(), k=1, level="node")
        True
        >>> fingerprint(rook(), k=1, level="edge") == fingerprint(shrikhande(), k=1, level="edge")
        False
    """
    graph, spec = as_graph(graph), EncodingSpec.of(k, level, radius=radius)
    check_choice("refine", refine, REFINEMENTS)
    size = np.array([graph.num_nodes, graph.num_edges], np.uint64)
    if refine == "2fwl":
        colors = _until_stable(_pair_colors(graph, spec), refine_pairs)
    elif refine == "wl":
        colors = _refine_nodes(graph, spec)
    else:
        colors = _bare_colors(graph, spec)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(size.tobytes())
    digest.update(np.sort(colors, axis=None).tobytes())
    return digest.hexdigest()


def _node_colors(graph: Graph, spec: EncodingSpec) -> Colors:
    """Each node's encoding at every depth, as one colour; at levels above it, one for all."""
    colors = np.zeros(graph.num_nodes, np.uint64)
    if spec.level == "node":
        for depth in spec.depths:
            colors = fold(colors, color_nodes(graph, depth))
    return colors


def _reading_colors(graph: Graph, rows: Rows, spec: EncodingSpec) -> Colors:
    """Both readings of each edge or pair at every depth, as two colours a row: from the first end and the second."""
    colors = np.zeros((len(rows), 2), np.uint64)
    if rows.distance is not None:
        colors += rows.distance.astype(np.uint64)[:, None]
    for depth in spec.depths:
        colors = fold(colors, color_pairs(graph, rows, depth))
    return colors


def _rows(graph: Graph, spec: EncodingSpec) -> Rows:
    if spec.level == "pair":
        return pairs_within(graph, spec.radius)
    return Rows(graph.edges[:, 0].astype(np.int64), graph.edges[:, 1].astype(np.int64))


def _bare_colors(graph: Graph, spec: EncodingSpec) -> Colors:
    if spec.level == "node":
        return _node_colors(graph, spec)
    return _reading_colors(graph, _rows(graph, spec), spec).ravel()


def _refine_nodes(graph: Graph, spec: EncodingSpec) -> Colors:
    """1-WL over the arcs of the graph or, for pairs, between all nodes within the radius, until it is stable."""
    colors = _node_colors(graph, spec)
    arcs: tuple[NDArray[Any], ...] = (graph.indptr, graph.indices, np.zeros(len(graph.indices), np.uint64))
    if spec.level != "node":
        arcs = _arc_colors(graph, spec)
    return _until_stable(colors, lambda current: refine_nodes(arcs[0], arcs[1], arcs[2], current))


def _arc_colors(graph: Graph, spec: EncodingSpec) -> tuple[NDArray[np.int64], NDArray[np.int64], Colors]:
    """All arcs in compressed rows, each with the encoding that its source reads."""
    rows = _rows(graph, spec)
    assert rows.second is not None
    readings = _reading_colors(graph, rows, spec)
    loops = rows.first == rows.second
    sources = np.concatenate([rows.first, rows.second[~loops]])
    targets = np.concatenate([rows.second, rows.first[~loops]])
    colors = np.concatenate([readings[:, 0], readings[~loops, 1]])
    order = np.argsort(sources, kind="stable")
    indptr = np.searchsorted(sources[order], np.arange(graph.num_nodes + 1))
    return indptr, targets[order], colors[order]


def _pair_colors(graph: Graph, spec: EncodingSpec) -> Colors:
    """A colour for every ordered pair: whether it is equal or adjacent, and the encodings of its nodes and itself."""
    n = graph.num_nodes
    kind = np.zeros((n, n), np.uint64)
    kind[np.repeat(np.arange(n), graph.degrees), graph.indices] = 1
    np.fill_diagonal(kind, 2)
    nodes = _node_colors(graph, spec)
    colors = fold(fold(kind, np.broadcast_to(nodes[:, None], (n, n))), np.broadcast_to(nodes[None, :], (n, n)))
    if spec.level != "node":
        rows = _rows(graph, spec)
        readings = _reading_colors(graph, rows, spec)
        encoded = np.zeros((n, n), np.uint64)
        encoded[rows.second, rows.first] = readings[:, 1]
        encoded[rows.first, rows.second] = readings[:, 0]
        colors = fold(colors, encoded)
    return colors


def _until_stable(colors: Colors, refine: Any) -> Colors:
    """Refine until no class of equal colours splits any more.

    The number of rounds is the same for isomorphic graphs; the colours of the last round hash all the others.
    """
    classes = len(np.unique(colors))
    while True:
        colors = refine(colors)
        refined = len(np.unique(colors))
        if refined == classes:
            return colors
        classes = refined


@dataclass(frozen=True, repr=False)
class Comparison:
    """Whether two graphs were told apart, and by what.

    Args:
        distinguished: True where the graphs are certainly not isomorphic.
        by: the first thing that differs, in words; None where nothing tried does.
        evidence: what one graph has more often than the other: (what, times in a, times in b).
        tried: everything that was compared, in order.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> compare(rook(), shrikhande())
        The graphs differ by ED at k=1:
          nodes seen as (1,1,2,0)(1,1,2,0): 0 in a, 96 in b
          nodes seen as (1,1,3,0)(1,1,3,0): 96 in a, 0 in b
    """

    distinguished: bool
    by: str | None
    evidence: list[tuple[str, int, int]]
    tried: list[str]

    def __repr__(self) -> str:
        if not self.distinguished:
            return "The graphs are not told apart by " + ", ".join(self.tried)
        lines = [f"  {what}: {a} in a, {b} in b" for what, a, b in self.evidence]
        return "\n".join([f"The graphs differ by {self.by}" + (":" if lines else ""), *lines])

    def _repr_html_(self) -> str:
        from elene.encoding.views import comparison_view

        return comparison_view(self)


def compare(
    a: Any, b: Any, k: int | Sequence[int] = (1, 2, 3), level: str = "edge", refine: str | None = "wl"
) -> Comparison:
    """Whether two graphs differ, by the cheapest thing that shows it.

    Tries their sizes, then the encodings at each depth alone, then all depths together with the refinement.

    Args:
        a: any graph that :func:`elene.encode` takes.
        b: another one.
        k: one or several depths.
        level: ``"node"``, ``"edge"`` or ``"pair"``.
        refine: None, ``"wl"`` or ``"2fwl"``; see :func:`fingerprint`.

    Example:
        >>> import networkx as nx
        >>> compare(nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), level="node").by
        'ND at k=1'
    """
    a, b, depths = as_graph(a, "a"), as_graph(b, "b"), check_depths(k)
    check_choice("level", level, LEVELS)
    check_choice("refine", refine, REFINEMENTS)
    tried: list[str] = []
    for what, of_a, of_b in (("nodes", a.num_nodes, b.num_nodes), ("edges", a.num_edges, b.num_edges)):
        tried.append(f"number of {what}")
        if of_a != of_b:
            return Comparison(True, tried[-1], [(what, of_a, of_b)], tried)
    for depth in depths:
        tried.append(f"{NAMES[level]} at k={depth}")
        if fingerprint(a, depth, level, None) != fingerprint(b, depth, level, None):
            return Comparison(True, tried[-1], _evidence(a, b, depth, level), tried)
    if len(depths) > 1 or refine is not None:
        tried.append(f"{NAMES[level]} at k={', '.join(map(str, depths))}{REFINED[refine]}")
        if fingerprint(a, depths, level, refine) != fingerprint(b, depths, level, refine):
            return Comparison(True, tried[-1], [], tried)
    return Comparison(False, None, [], tried)


def _evidence(a: Graph, b: Graph, depth: int, level: str, most: int = 5) -> list[tuple[str, int, int]]:
    """The quadruplets whose number differs most or, where all agree, the whole encodings whose number does."""
    encodings = [encode(graph, depth, level=level, form="joint") for graph in (a, b)]
    names = [[str(column).split(".", 1)[1] for column in encoding.columns] for encoding in encodings]
    totals = [
        Counter(
            {f"nodes seen as {name}": int(count) for name, count in zip(names[i], e.matrix.sum(axis=0), strict=True)}
        )
        for i, e in enumerate(encodings)
    ]
    if totals[0] == totals[1]:
        totals = [Counter(_sentences(e.matrix, names[i], level)) for i, e in enumerate(encodings)]
    differing = [(what, totals[0][what], totals[1][what]) for what in sorted(totals[0] | totals[1])]
    differing = [found for found in differing if found[1] != found[2]]
    return sorted(differing, key=lambda found: -abs(found[1] - found[2]))[:most]


def _sentences(matrix: Any, names: list[str], level: str) -> list[str]:
    """Each row in words."""
    ends = pairwise(matrix.indptr)
    rows = [[f"{matrix.data[e]} x {names[matrix.indices[e]]}" for e in range(start, stop)] for start, stop in ends]
    return [f"{level}s encoded as {', '.join(row)}" for row in rows]
