"""fingerprint() and compare(): tell graphs apart by their encodings, bare or refined, without learning anything."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.encoding.encoding import encode
from elene.encoding.rows import find_rows
from elene.encoding.spec import LEVELS, EncodingSpec
from elene.engine.colors import Colors, color_nodes, color_pairs, fold, refine_nodes, refine_pairs
from elene.engine.plan import Rows
from elene.graph import Graph, Labels, as_graph, edge_numbers, labels_of_edges
from elene.validation import check_choice, check_depths

REFINEMENTS = (None, "wl", "2fwl")
NAMES = {"node": "ND", "edge": "ED", "pair": "PD"}
REFINED = {None: "", "wl": " with 1-WL", "2fwl": " with 2-FWL"}


def fingerprint(
    graph: Any,
    k: int | Sequence[int],
    level: str = "edge",
    refine: str | None = "wl",
    radius: int | None = None,
    *,
    labels: Any = None,
    edge_labels: Any = None,
) -> str:
    """A string that is equal for isomorphic graphs, and differs where the encodings tell two graphs apart.

    In graphs with labels, an isomorphism keeps them.

    Args:
        graph: any graph that :func:`elene.encode` takes.
        k: depth of the ego-networks, or several depths used together; ``k=0, level="node"`` says nothing by itself, so
            that the refinement runs alone.
        level: ``"node"`` (ND), ``"edge"`` (ED) or ``"pair"`` (PD).
        refine: None for the multiset of encodings, ``"wl"`` to refine nodes with 1-WL that reads the encodings of
            nodes, arcs or pairs, ``"2fwl"`` to refine all pairs of nodes with folklore 2-WL (cubic in the nodes).
        radius: for pairs, the largest distance; by default all connected pairs.
        labels: those of nodes, as in :func:`elene.encode`.
        edge_labels: those of edges, which the refinement reads: the attribute of a networkx or igraph graph or of a PyG
            ``Data`` that holds them, a ``dict`` by pairs of nodes, or one for each edge, in the order of Graph.edges.

    Returns:
        32 hexadecimal digits. Colours have 64 bits: an accidental agreement is possible, but not to be expected.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> fingerprint(rook(), k=1, level="node") == fingerprint(shrikhande(), k=1, level="node")
        True
        >>> fingerprint(rook(), k=1, level="edge") == fingerprint(shrikhande(), k=1, level="edge")
        False
        >>> import networkx as nx
        >>> water = fingerprint(nx.path_graph(3), k=1, labels=["H", "O", "H"])
        >>> water == fingerprint(nx.path_graph(3), k=1, labels=["H", "H", "O"])
        False
    """
    spec = EncodingSpec.of(k, level, radius=radius)
    check_choice("refine", refine, REFINEMENTS)
    known = as_graph(graph, labels=labels)
    return _digest(Labelled.of(graph, known, edge_labels), spec, refine)


class Labelled(NamedTuple):
    """A graph, its labels as colours, and those of its edges; None where there are none."""

    graph: Graph
    nodes: Colors | None
    edges: Labels | None

    @classmethod
    def of(cls, source: Any, graph: Graph, edge_labels: Any, name: str = "edge_labels") -> Labelled:
        """Put together what a graph has, and what its edges are said to have."""
        edges = None if edge_labels is None else labels_of_edges(source, graph, edge_labels, name)
        return cls(graph, graph.label_colors, edges)

    def between(self, first: NDArray[Any], second: NDArray[Any]) -> Colors:
        """A colour for each pair of nodes: that of their edge's label, and 0 where there is no edge."""
        assert self.edges is not None
        number = edge_numbers(self.graph, first, second)
        colors = np.zeros(len(number), np.uint64)
        known = self.edges.colors
        colors[number >= 0] = fold(np.ones_like(known), known)[number[number >= 0]]
        return colors


def _digest(labelled: Labelled, spec: EncodingSpec, refine: str | None) -> str:
    graph = labelled.graph
    if refine is None and labelled.edges is not None:
        raise ValueError("edge_labels are read by the refinement alone: pass refine='wl' or refine='2fwl' with them")
    size = np.array([graph.num_nodes, graph.num_edges], np.uint64)
    if refine == "2fwl":
        colors = _until_stable(_pair_colors(labelled, spec), refine_pairs)
    elif refine == "wl":
        colors = _refine_nodes(labelled, spec)
    else:
        colors = _bare_colors(labelled, spec)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(size.tobytes())
    for more in (labelled.nodes, None if labelled.edges is None else labelled.edges.colors):
        if more is not None:
            digest.update(np.sort(more).tobytes())
    digest.update(np.sort(colors, axis=None).tobytes())
    return digest.hexdigest()


def _node_colors(labelled: Labelled, spec: EncodingSpec) -> Colors:
    """Each node's label and its encoding at every depth, as one colour; at levels above it, the label alone."""
    graph = labelled.graph
    colors = np.zeros(graph.num_nodes, np.uint64)
    if labelled.nodes is not None:
        colors = fold(colors, labelled.nodes)
    if spec.level == "node":
        for more in color_nodes(graph, Rows(np.arange(graph.num_nodes)), spec.depths):
            colors = fold(colors, more)
    return colors


def _reading_colors(graph: Graph, rows: Rows, spec: EncodingSpec) -> Colors:
    """Both readings of each edge or pair at every depth, as two colours a row: from the first end and the second."""
    colors = np.zeros((len(rows), 2), np.uint64)
    if rows.distance is not None:
        colors += rows.distance.astype(np.uint64)[:, None]
    for more in color_pairs(graph, rows, spec.depths):
        colors = fold(colors, more)
    return colors


def _bare_colors(labelled: Labelled, spec: EncodingSpec) -> Colors:
    if spec.level == "node":
        return _node_colors(labelled, spec)
    return _reading_colors(labelled.graph, find_rows(labelled.graph, spec, None), spec).ravel()


def _refine_nodes(labelled: Labelled, spec: EncodingSpec) -> Colors:
    """1-WL over the arcs of the graph or, for pairs, between all nodes within the radius, until it is stable."""
    graph, colors = labelled.graph, _node_colors(labelled, spec)
    if spec.level != "node":
        indptr, targets, arcs = _arc_colors(graph, spec)
    else:
        indptr, targets, arcs = graph.indptr, graph.indices, np.zeros(len(graph.indices), np.uint64)
    if labelled.edges is not None:
        sources = np.repeat(np.arange(graph.num_nodes), np.diff(indptr))
        arcs = fold(arcs, labelled.between(sources, targets))
    return _until_stable(colors, lambda current: refine_nodes(indptr, targets, arcs, current))


def _arc_colors(graph: Graph, spec: EncodingSpec) -> tuple[NDArray[Any], NDArray[Any], Colors]:
    """All arcs in compressed rows, each with the encoding that its source reads."""
    rows = find_rows(graph, spec, None)
    assert rows.second is not None
    readings = _reading_colors(graph, rows, spec)
    loops = rows.first == rows.second
    sources = np.concatenate([rows.first, rows.second[~loops]])
    targets = np.concatenate([rows.second, rows.first[~loops]])
    colors = np.concatenate([readings[:, 0], readings[~loops, 1]])
    order = np.argsort(sources, kind="stable")
    indptr = np.searchsorted(sources[order], np.arange(graph.num_nodes + 1))
    return indptr, targets[order], colors[order]


def _pair_colors(labelled: Labelled, spec: EncodingSpec) -> Colors:
    """A colour for every ordered pair: whether it is equal or adjacent, and the encodings of its nodes and itself."""
    graph = labelled.graph
    n = graph.num_nodes
    kind = np.zeros((n, n), np.uint64)
    kind[np.repeat(np.arange(n), graph.degrees), graph.indices] = 1
    np.fill_diagonal(kind, 2)
    if labelled.edges is not None:
        first, second = (place.ravel() for place in np.indices((n, n)))
        kind = fold(kind, labelled.between(first, second).reshape(n, n))
    nodes = _node_colors(labelled, spec)
    colors = fold(fold(kind, np.broadcast_to(nodes[:, None], (n, n))), np.broadcast_to(nodes[None, :], (n, n)))
    if spec.level != "node":
        rows = find_rows(graph, spec, None)
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
    a: Any,
    b: Any,
    k: int | Sequence[int] = (1, 2, 3),
    level: str = "edge",
    refine: str | None = "wl",
    *,
    labels: Any = None,
    edge_labels: Any = None,
) -> Comparison:
    """Whether two graphs differ, by the cheapest thing that shows it.

    Tries their sizes and labels, then the encodings at each depth alone, then all depths together with the refinement.

    Args:
        a: any graph that :func:`elene.encode` takes.
        b: another one.
        k: one or several depths.
        level: ``"node"``, ``"edge"`` or ``"pair"``.
        refine: None, ``"wl"`` or ``"2fwl"``; see :func:`fingerprint`.
        labels: those of nodes: by default the graphs' own; False for none; the attribute that holds them; or a pair,
            those of ``a`` and those of ``b``.
        edge_labels: those of edges, as :func:`fingerprint` takes them: an attribute, or a pair.

    Example:
        >>> import networkx as nx
        >>> compare(nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), level="node").by
        'ND at k=1'
        >>> compare(nx.path_graph(3), nx.path_graph(3), labels=(["H", "O", "H"], ["H", "H", "O"]))
        The graphs differ by ED at k=1:
          nodes seen as (0,0,1,1,H)(1,1,1,0,H): 2 in a, 3 in b
          nodes seen as (0,0,1,1,O)(1,1,1,0,O): 2 in a, 1 in b
    """
    depths = check_depths(k)
    check_choice("level", level, LEVELS)
    check_choice("refine", refine, REFINEMENTS)
    both = _both(a, b, labels, edge_labels)
    tried: list[str] = []
    for what, evidence in _obvious(*both):
        tried.append(what)
        if evidence:
            return Comparison(True, what, evidence, tried)
    bare = [labelled._replace(edges=None) for labelled in both]
    for depth in depths:
        tried.append(f"{NAMES[level]} at k={depth}")
        one, other = (_digest(labelled, EncodingSpec.of(depth, level), None) for labelled in bare)
        if one != other:
            return Comparison(True, tried[-1], _evidence(both[0].graph, both[1].graph, depth, level), tried)
    if len(depths) > 1 or refine is not None:
        with_edges = "" if both[0].edges is None else " over labelled edges"
        tried.append(f"{NAMES[level]} at k={', '.join(map(str, depths))}{REFINED[refine]}{with_edges}")
        one, other = (_digest(labelled, EncodingSpec.of(depths, level), refine) for labelled in both)
        if one != other:
            return Comparison(True, tried[-1], [], tried)
    return Comparison(False, None, [], tried)


def _both(a: Any, b: Any, labels: Any, edge_labels: Any) -> tuple[Labelled, Labelled]:
    """Two graphs with their labels; either both have some or neither has."""
    said = zip((a, b), "ab", _each("labels", labels), _each("edge_labels", edge_labels), strict=True)
    one, other = (Labelled.of(source, as_graph(source, name, ours), edges) for source, name, ours, edges in said)
    for what, in_one, in_other in (("labels", one.nodes, other.nodes), ("edge_labels", one.edges, other.edges)):
        if (in_one is None) != (in_other is None):
            has, lacks = ("a", "b") if in_other is None else ("b", "a")
            raise ValueError(f"{what}: {has} has some and {lacks} has none: give it some, or pass {what}=False or None")
    return one, other


def _each(name: str, labels: Any) -> tuple[Any, Any]:
    """What is said for both graphs, or for each."""
    if labels is None or isinstance(labels, str | bool):
        return labels, labels
    if not isinstance(labels, list | tuple) or len(labels) != 2:
        raise TypeError(f"{name} must be the name of an attribute, or a pair: those of a and those of b")
    return labels[0], labels[1]


def _obvious(a: Labelled, b: Labelled) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """What differs without any encoding: sizes, and how often each label is there."""
    sizes = ("nodes", a.graph.num_nodes, b.graph.num_nodes), ("edges", a.graph.num_edges, b.graph.num_edges)
    for what, in_a, in_b in sizes:
        yield f"number of {what}", [(what, in_a, in_b)] if in_a != in_b else []
    if a.nodes is not None:
        counts = [Counter(f"nodes labelled {label}" for label in one.graph.label_values.tolist()) for one in (a, b)]
        yield "labels of nodes", _differing(counts)
    if a.edges is not None and b.edges is not None:
        counts = [Counter(f"edges labelled {label}" for label in one.values.tolist()) for one in (a.edges, b.edges)]
        yield "labels of edges", _differing(counts)


def _differing(counts: Sequence[Counter[str]], most: int = 5) -> list[tuple[str, int, int]]:
    """What one has more often than the other, the largest differences first."""
    first, second = counts
    found = [(what, first[what], second[what]) for what in sorted(first | second) if first[what] != second[what]]
    return sorted(found, key=lambda one: -abs(one[1] - one[2]))[:most]


def _evidence(a: Graph, b: Graph, depth: int, level: str) -> list[tuple[str, int, int]]:
    """The quadruplets whose number differs most or, where all agree, the whole encodings whose number does."""
    encodings = [encode(graph, depth, level=level, form="joint") for graph in (a, b)]
    counts = [(one.matrix, [str(column).split(".", 1)[1] for column in one.columns]) for one in encodings]
    totals = [
        Counter({f"nodes seen as {name}": int(count) for name, count in zip(names, matrix.sum(axis=0), strict=True)})
        for matrix, names in counts
    ]
    if totals[0] == totals[1]:
        totals = [Counter(_sentences(matrix, names, level)) for matrix, names in counts]
    return _differing(totals)


def _sentences(matrix: Any, names: list[str], level: str) -> list[str]:
    """Each row in words."""
    ends = pairwise(matrix.indptr)
    rows = [[f"{matrix.data[e]} x {names[matrix.indices[e]]}" for e in range(start, stop)] for start, stop in ends]
    return [f"{level}s encoded as {', '.join(row)}" for row in rows]
