"""Pictures of ego-networks and of their intersections, in the manner of the paper's figures.

Nodes are coloured by distance and carry what the encodings count. Needs matplotlib: ``pip install "elene[io]"``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elene.extras import needing
from elene.files import replacing
from elene.graph import Graph, as_graph
from elene.graph.edges import counted
from elene.plot.layout import MOST_WITH_TEXT, Edges, Points, intersection_places, ring_places, route_edges
from elene.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_INCHES = 10.5
_LEAST_POINTS = 4.0
# The paper's green root, then blue and red, and more in its manner; white text is legible on all of them.
COLOURS = ("#1b8a57", "#2f6fc4", "#cb4335", "#7d4fa3", "#b9770e", "#16848c", "#b03a7c", "#5b6673")
_INK, _GREY, _EDGE = "#22262b", "#5d6670", "#a3abb5"


@dataclass(frozen=True)
class _Picture:
    """What is drawn. Nodes are numbers here; a node's tier, an index into the legend, is its colour."""

    places: Points
    tiers: Sequence[int]
    names: Sequence[str]
    readings: Sequence[str]
    edges: Edges
    title: tuple[str, str]
    legend: Sequence[str]
    caption: str
    diameter: float


def draw_ego(graph: Any, node: Any, k: int, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the ego-network S(v): a ring for each distance, and at each node its triplet (closer, degree, farther).

    Beyond 60 nodes the text is left out, and the picture says so.

    Args:
        graph: an :class:`elene.Graph`, or any graph that :func:`elene.encode` takes.
        node: the name of the root v.
        k: the depth, 0 or more.
        path: where to save the picture, as ``.png`` or ``.svg``.

    Example:
        >>> from elene.datasets import rook
        >>> figure = draw_ego(rook(), node=0, k=1)
        >>> [text.get_text() for text in figure.texts][:2]
        ['Node 0, k = 1', 'ego-network of 7 nodes and 12 edges']
    """
    graph = as_graph(graph)
    k = check_integer("k", k)
    distances = _distances(graph, graph.position(node), k)
    members, tiers = list(distances), list(distances.values())
    edges = _induced_edges(graph, members)
    names = [str(graph.nodes[member]) for member in members]
    picture = _Picture(
        places=ring_places(tiers, edges),
        tiers=tiers,
        names=[shorten(name, 8) for name in names],
        readings=[str(triplet) for triplet in _triplets(tiers, edges)],
        edges=edges,
        title=(f"Node {shorten(names[0], 26)}, k = {k}", f"ego-network of {_size(members, edges)}"),
        legend=["root", *(f"distance {ring}" for ring in range(1, max(tiers) + 1))],
        caption="at each node: (closer, degree, farther)",
        diameter=0.72,
    )
    return _render(picture, path)


def draw_intersection(graph: Any, u: Any, v: Any, k: int, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the intersection S(u,v) of the ego-networks of an edge's ends, with the triplets as seen from both.

    Nodes nearer to u stand on the left, those nearer to v on the right, the others above and below. Beyond 60 nodes the
    text is left out, and the picture says so.

    Args:
        graph: an :class:`elene.Graph`, or any graph that :func:`elene.encode` takes.
        u: the name of one end of an edge.
        v: the name of the other end.
        k: the depth, 0 or more; at 0 the intersection is empty.
        path: where to save the picture, as ``.png`` or ``.svg``.

    Example:
        >>> from elene.datasets import shrikhande
        >>> figure = draw_intersection(shrikhande(), u=0, v=1, k=1)
        >>> [text.get_text() for text in figure.texts][:2]
        ['Edge (0, 1), k = 1', 'intersection of 4 nodes and 5 edges']
    """
    graph = as_graph(graph)
    k = check_integer("k", k)
    from_u, from_v = (_distances(graph, end, k) for end in _ends(graph, u, v))
    members = [member for member in from_u if member in from_v]
    seen = [(from_u[member], from_v[member]) for member in members]
    edges = _induced_edges(graph, members)
    # Distances to the two ends of an edge differ by at most one, so their sum tells both but for the side.
    sums = sorted({sum(pair) for pair in seen})
    ends = {(0, 1): "u = ", (1, 0): "v = "}
    readings = zip(*(_triplets([pair[end] for pair in seen], edges) for end in (0, 1)), strict=True)
    picture = _Picture(
        places=intersection_places(seen, edges),
        tiers=[sums.index(sum(pair)) for pair in seen],
        names=[shorten(ends.get(pair, "") + str(graph.nodes[i]), 10) for i, pair in zip(members, seen, strict=True)],
        readings=[f"u {seen_from_u}\nv {seen_from_v}" for seen_from_u, seen_from_v in readings],
        edges=edges,
        title=(
            f"Edge ({shorten(str(u), 13)}, {shorten(str(v), 13)}), k = {k}",
            f"intersection of {_size(members, edges)}",
        ),
        legend=[f"distances {both // 2} and {(both + 1) // 2}" for both in sums],
        caption="at each node: (closer, degree, farther) as seen from u and from v",
        diameter=0.95,
    )
    return _render(picture, path)


def _ends(graph: Graph, u: Any, v: Any) -> tuple[int, int]:
    a, b = graph.position(u, "u"), graph.position(v, "v")
    if b not in graph.neighbors(a):
        raise ValueError(f"u and v must be the ends of an edge, and ({u!r}, {v!r}) is not an edge of the graph")
    return a, b


def _distances(graph: Graph, root: int, k: int) -> dict[int, int]:
    """The distance of every node within k hops of the root, nearest first."""
    found, frontier, distance = {root: 0}, [root], 0
    while frontier and distance < k:
        distance += 1
        reached = {int(other) for node in frontier for other in graph.neighbors(node)}
        frontier = sorted(reached - found.keys())
        found.update(dict.fromkeys(frontier, distance))
    return found


def _induced_edges(graph: Graph, members: Sequence[int]) -> Edges:
    number = {member: i for i, member in enumerate(members)}
    pairs = [
        (i, number[other])
        for member, i in number.items()
        for other in graph.neighbors(member).tolist()
        if member < other and other in number
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _triplets(distances: Sequence[int], edges: Edges) -> list[tuple[int, int, int]]:
    """For each node its neighbours one hop closer to the root, all of them, and those one hop farther."""
    steps: list[list[int]] = [[] for _ in distances]
    for a, b in edges.tolist():
        steps[a].append(distances[b] - distances[a])
        steps[b].append(distances[a] - distances[b])
    return [(step.count(-1), len(step), step.count(1)) for step in steps]


def shorten(name: str, most: int = 9) -> str:
    """A name that fits.

    >>> shorten("Mademoiselle Baptistine")
    'Mademois…'
    """
    name = " ".join(name.split())
    return name if len(name) <= most else name[: most - 1] + "…"


def _size(members: Sequence[int], edges: Edges) -> str:
    return f"{counted(len(members), 'node')} and {counted(len(edges), 'edge')}"


def _render(picture: _Picture, path: str | os.PathLike[str] | None) -> Figure:
    with needing("io", "a picture"):
        from matplotlib.figure import Figure
    routes = route_edges(picture.places, picture.edges)
    corners = np.concatenate([picture.places - 0.5, picture.places + 0.5, *routes])
    low, high = corners.min(axis=0, initial=-0.5), corners.max(axis=0, initial=0.5)
    inches = min(picture.diameter, _MOST_INCHES / float((high - low).max()))
    width, height = np.maximum(inches * (high - low) + 0.5, (5.2, 1.2))
    columns = int(width / (0.45 + 0.075 * max(map(len, picture.legend), default=0)))
    above, below = 0.7, 0.45 + 0.25 * -(-len(picture.legend) // columns)
    total = above + height + below
    figure = Figure(figsize=(width, total), facecolor="white")
    axes = figure.add_axes((0, below / total, 1, height / total))
    (x, y), reach = (low + high) / 2, np.array([width, height]) / inches / 2
    axes.set(xlim=(x - reach[0], x + reach[0]), ylim=(y - reach[1], y + reach[1]))
    axes.set_axis_off()
    _draw_network(axes, picture, routes)
    written = _write_readings(axes, picture, inches)
    _write_title(figure, picture, total)
    _write_legend(figure, picture, columns, total)
    caption = picture.caption if written else "names and triplets are left out: so many would not be legible"
    figure.text(0.5, 0.22 / total, caption, size=8.5, style="italic", color=_GREY, ha="center", va="center")
    if path is not None:
        _save(figure, path)
    return figure


def _colours(tiers: int) -> list[Any]:
    from matplotlib import colormaps

    if tiers <= len(COLOURS):
        return list(COLOURS[:tiers])
    # So many hues could not be told apart, while a ramp, short of its light end, still shows which node is farther.
    return [colormaps["plasma"](0.6 * tier / (tiers - 1)) for tier in range(tiers)]


def _draw_network(axes: Axes, picture: _Picture, routes: Sequence[Points]) -> None:
    from matplotlib.collections import EllipseCollection, LineCollection

    colours, tiers = _colours(len(picture.legend)), np.array(picture.tiers, dtype=int)
    few = len(tiers) <= MOST_WITH_TEXT
    # Only the edge <u,v> of an intersection has both ends in tier 0; drawn last, it lies above the others.
    strong = tiers[picture.edges].max(axis=1, initial=0) == 0
    order = np.argsort(strong, kind="stable")
    thin = float(np.clip(300 / (len(routes) + 1), 0.3, 1.2))
    lines = LineCollection(
        [routes[i] for i in order],
        colors=[colours[0] if strong[i] else _EDGE for i in order],
        linewidths=np.where(strong[order], 3.0, thin).tolist(),
        alpha=1.0 if few else 0.6,
        zorder=1,
    )
    axes.add_collection(lines)
    widths = np.full(len(tiers), 1.0 if few else 0.75)
    nodes = EllipseCollection(
        widths,
        widths,
        np.zeros(len(tiers)),
        units="xy",
        offsets=picture.places,
        offset_transform=axes.transData,
        facecolors=[colours[tier] for tier in tiers],
        edgecolors="white",
        linewidths=1.5 if few else 0.4,
        zorder=2,
    )
    axes.add_collection(nodes)


def _write_readings(axes: Axes, picture: _Picture, inches: float) -> bool:
    """Write its name and triplets into each node; False where they would be too small to read, or too many."""
    lines = [line for reading in picture.readings for line in reading.split("\n")]
    if not lines:
        axes.text(0, 0, "no node is within k hops of both", ha="center", va="center", size=10, color=_INK)
        return True
    two = len(lines) > len(picture.readings)
    # A character is about 0.55 of the font size wide on average; a circle is narrower at a second line.
    fitting = 72 * picture.diameter * (0.78 if two else 0.86) / (0.55 * max(map(len, lines)))
    size = min(8.5, fitting) * inches / picture.diameter
    if len(picture.places) > MOST_WITH_TEXT or size < _LEAST_POINTS:
        return False
    shared: dict[str, Any] = {"ha": "center", "va": "center", "color": "white", "parse_math": False, "zorder": 3}
    for (x, y), name, reading in zip(picture.places, picture.names, picture.readings, strict=True):
        axes.text(x, y + (0.24 if two else 0.15), name, size=0.92 * size, **shared)
        axes.text(x, y - (0.1 if two else 0.12), reading, size=size, weight="bold", linespacing=1.25, **shared)
    return True


def _write_title(figure: Figure, picture: _Picture, total: float) -> None:
    shared: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False}
    figure.text(0.5, 1 - 0.3 / total, picture.title[0], size=13, weight="bold", color=_INK, **shared)
    figure.text(0.5, 1 - 0.54 / total, picture.title[1], size=9.5, color=_GREY, **shared)


def _write_legend(figure: Figure, picture: _Picture, columns: int, total: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker="o", linestyle="", markersize=8, markeredgewidth=0, color=colour, label=label)
        for colour, label in zip(_colours(len(picture.legend)), picture.legend, strict=True)
    ]
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.3 / total),
        ncols=min(max(len(handles), 1), columns),
        frameon=False,
        fontsize=9,
        labelcolor=_INK,
        handletextpad=0.1,
        columnspacing=1.2,
    )


def _save(figure: Figure, path: str | os.PathLike[str]) -> None:
    from matplotlib import rc_context

    kind = Path(path).suffix.lower()[1:]
    if kind not in ("png", "svg"):
        raise ValueError(f"path must end in .png or .svg, got {os.fspath(path)!r}")
    # A fixed salt and no date: the same picture is the same file. Hinting distorts letters this small.
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "elene", "text.hinting": "none"}):
        figure.savefig(temporary, format=kind, dpi=200, metadata={"Date": None} if kind == "svg" else None)
