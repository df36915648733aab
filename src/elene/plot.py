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
from numpy.typing import NDArray

from elene.extras import needing
from elene.files import replacing
from elene.graph import Graph, as_graph
from elene.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = NDArray[np.float64]
Edges = NDArray[np.int64]

_MOST_WITH_TEXT = 60
_MOST_INCHES = 10.5
_LEAST_POINTS = 4.0
# Layouts count in node diameters: from node to node on a ring, at the closest and at ease, and from ring to ring.
_CLOSE, _EASY, _RING = 1.12, 1.35, 1.75
# The paper's green root, then blue and red, and more in its manner; white text is legible on all of them.
_COLOURS = ("#1b8a57", "#2f6fc4", "#cb4335", "#7d4fa3", "#b9770e", "#16848c", "#b03a7c", "#5b6673")
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
        node: the label of the root v.
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
    rings = [[i for i, tier in enumerate(tiers) if tier == ring] for ring in range(max(tiers) + 1)]
    names = [str(graph.nodes[member]) for member in members]
    picture = _Picture(
        places=_align(rings, _settle(rings, _ring_slots([len(ring) for ring in rings]), edges), edges),
        tiers=tiers,
        names=[_shorten(name, 8) for name in names],
        readings=[str(triplet) for triplet in _triplets(tiers, edges)],
        edges=edges,
        title=(f"Node {_shorten(names[0], 26)}, k = {k}", f"ego-network of {_size(members, edges)}"),
        legend=["root", *(f"distance {ring}" for ring in range(1, len(rings)))],
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
        u: the label of one end of an edge.
        v: the label of the other end.
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
        places=_settle(*_intersection_slots(seen), edges),
        tiers=[sums.index(sum(pair)) for pair in seen],
        names=[_shorten(ends.get(pair, "") + str(graph.nodes[i]), 10) for i, pair in zip(members, seen, strict=True)],
        readings=[f"u {seen_from_u}\nv {seen_from_v}" for seen_from_u, seen_from_v in readings],
        edges=edges,
        title=(
            f"Edge ({_shorten(str(u), 13)}, {_shorten(str(v), 13)}), k = {k}",
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


def _shorten(name: str, most: int) -> str:
    name = " ".join(name.split())
    return name if len(name) <= most else name[: most - 1] + "…"


def _size(members: Sequence[int], edges: Edges) -> str:
    nodes = "1 node" if len(members) == 1 else f"{len(members)} nodes"
    return f"{nodes} and 1 edge" if len(edges) == 1 else f"{nodes} and {len(edges)} edges"


def _polar(radius: float, angles: NDArray[np.floating]) -> Points:
    return radius * np.column_stack([np.sin(angles), np.cos(angles)])


def _angles(points: Points) -> Points:
    """Clockwise from the top; rounded, so that noise in the last digit never changes an order."""
    angles: Points = np.arctan2(points[:, 0], points[:, 1]).round(9) % (2 * np.pi)
    return angles


def _ring_slots(counts: Sequence[int]) -> list[Points]:
    """Where the nodes of each ring may stand; a ring of very many becomes a band of rings."""
    slots, radius = [np.zeros((1, 2))], 0.0
    for ring, count in enumerate(counts[1:], start=1):
        radius = max(radius + _RING, min(count, _MOST_WITH_TEXT) * _CLOSE / (2 * np.pi))
        # The first ring spreads evenly; farther out, spare slots let children stand near their parents.
        size = count if ring == 1 else max(count, int(2 * np.pi * radius / _EASY))
        band = []
        while size > 0:
            here = min(size, int(2 * np.pi * radius / _CLOSE + 1e-6))
            band.append(_polar(radius, 2 * np.pi * np.arange(here) / here))
            size -= here
            radius += _CLOSE if size > 0 else 0.0
        slots.append(np.concatenate(band))
    return slots


def _intersection_slots(seen: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[Points]]:
    """Nodes grouped by their distances to u and v, and slots for each group in its own sector around the edge."""
    kinds = sorted(set(seen), key=lambda kind: (sum(kind), kind))
    groups = [[i for i, pair in enumerate(seen) if pair == kind] for kind in kinds]
    above_below = sum(a == b for a, b in seen) / max(len(seen), 1)
    wide = np.pi / 2 * float(np.clip(above_below, 1 / 3, 2 / 3))
    top, right, bottom, left = np.arange(4) * np.pi / 2
    radii = {top: 0.0, right: -0.15, bottom: 0.0, left: -0.15}
    slots = []
    for group, (a, b) in zip(groups, kinds, strict=True):
        half = len(group) // 2
        shares = {top: len(group) - half, bottom: half} if a == b else {left if a < b else right: len(group)}
        arcs = []
        for centre, count in shares.items():
            half_angle = wide if a == b else np.pi / 2 - wide
            arc, radii[centre] = _sector(count, radii[centre] + _RING, centre, half_angle)
            arcs.append(arc)
        slots.append(np.concatenate(arcs))
    return groups, slots


def _sector(count: int, radius: float, centre: float, half_angle: float) -> tuple[Points, float]:
    """This many slots on arcs around a centre angle, from a radius outwards; and the radius of the last arc."""
    arcs: list[Points] = [np.empty((0, 2))]
    while count > 0:
        size = min(count, max(1, int(2 * half_angle * radius / _CLOSE)))
        step = min(2 * half_angle / size, 1.3 * _EASY / radius)
        arcs.append(_polar(radius, centre + step * (np.arange(size) - (size - 1) / 2)))
        count -= size
        radius += 1.2 * _EASY if count > 0 else 0.0
    return np.concatenate(arcs), radius


def _pull(places: Points, edges: Edges) -> Points:
    """For each node the sum of its neighbours' places."""
    pull = np.zeros_like(places)
    np.add.at(pull, edges[:, 0], places[edges[:, 1]])
    np.add.at(pull, edges[:, 1], places[edges[:, 0]])
    return pull


def _settle(groups: Sequence[Sequence[int]], slots: Sequence[Points], edges: Edges) -> Points:
    """A place for each node among its group's slots, such that neighbours stand close to each other."""
    n = sum(map(len, groups))
    places = np.zeros((n, 2))
    walk = _walk(n, edges)
    for group, room in zip(groups, slots, strict=True):
        wanted = _angles(_pull(places, edges))
        order = sorted(group, key=lambda node: (wanted[node], walk[node]))
        around = np.argsort(_angles(room), kind="stable")
        places[order] = room[around[np.linspace(0, len(room) - 1, len(group)).round().astype(int)]]
    if n <= _MOST_WITH_TEXT:
        adjacency = np.zeros((n, n))
        adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
        choices = [(node, group, room) for group, room in zip(groups, slots, strict=True) for node in group]
        for _ in range(50):
            moves = [_move_closer(node, group, room, places, adjacency) for node, group, room in choices]
            if not any(moves):
                break
    return places


def _walk(n: int, edges: Edges) -> list[int]:
    """When a depth-first walk meets each node; it never goes on from node 0, which keeps a ring around it in order."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    met: dict[int, int] = {}
    stack = list(range(n - 1, -1, -1))
    while stack:
        node = stack.pop()
        if node not in met:
            met[node] = len(met)
            stack.extend(sorted(neighbours[node], reverse=True) if node else [])
    return [met[node] for node in range(n)]


def _move_closer(node: int, group: Sequence[int], room: Points, places: Points, adjacency: Points) -> bool:
    """Move a node to the slot, free or in exchange, that shortens the squared edges most; False where none does."""
    pull, degree, here = adjacency @ places, adjacency.sum(axis=1), places[node].copy()
    shorter = here @ here - (room**2).sum(axis=1)
    gain = degree[node] * shorter + 2 * (room - here) @ pull[node]
    slot, which = np.nonzero((room[:, None] == places[group]).all(axis=2))
    other, back = np.array(group)[which], here - room[slot]
    gain[slot] += -degree[other] * shorter[slot] + 2 * (back * pull[other]).sum(axis=1)
    # Both sums take an edge between the two nodes for shortened to nothing; an exchange leaves it as long as it was.
    gain[slot] -= 2 * adjacency[node, other] * (back**2).sum(axis=1)
    best = int(np.argmax(gain.round(9)))
    if gain[best] < 1e-6:
        return False
    places[other[slot == best]] = here
    places[node] = room[best]
    return True


def _align(rings: list[list[int]], places: Points, edges: Edges) -> Points:
    """Turn nodes of the outer rings towards their parents and children, in the order they have, where there is room."""
    if len(places) > _MOST_WITH_TEXT:
        return places
    ring_of = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    across = edges[ring_of[edges[:, 0]] != ring_of[edges[:, 1]]]
    for ring in rings[2:] * 5:
        radius = float(np.linalg.norm(places[ring[0]]))
        gap = min(_EASY / radius, 2 * np.pi / len(ring))
        pull = _pull(places, across)[ring]
        now = _angles(places[ring])
        turn = (_angles(pull) - now + np.pi) % (2 * np.pi) - np.pi
        wanted = now + np.where(np.linalg.norm(pull, axis=1) > 1e-6, turn, 0)
        order = np.argsort(now)
        # The circle is cut open where the fewest nodes want to be.
        cut = int(np.argmax(np.diff(wanted[order], append=wanted[order[0]] + 2 * np.pi).round(9))) + 1
        wanted[order[:cut]] += 2 * np.pi
        order = np.roll(order, -cut)
        angles = _keep_apart(wanted[order], gap)
        if angles[-1] - angles[0] <= 2 * np.pi - gap + 1e-6:
            places[np.array(ring)[order]] = _polar(radius, angles)
    return places


def _keep_apart(wanted: Points, gap: float) -> Points:
    """The increasing numbers, at least a gap apart, closest to the wanted ones (by pooling adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in (wanted - gap * np.arange(len(wanted))).tolist():
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (b, m), (a, n) = blocks.pop(), blocks.pop()
            blocks.append(((a * n + b * m) / (n + m), n + m))
    values, sizes = np.array(blocks).T
    apart: Points = np.repeat(values, sizes.astype(int)) + gap * np.arange(len(wanted))
    return apart


def _routes(places: Points, edges: Edges) -> list[Points]:
    """Each edge as a line; one that would run under a third node bends around it."""
    if len(places) > _MOST_WITH_TEXT:
        return list(places[edges])
    t = np.linspace(0, 1, 25)[:, None]
    routes = []
    for a, b in edges:
        across = (places[b] - places[a])[::-1] * [-1, 1]
        others = np.delete(places, [a, b], axis=0)
        best, best_clear = places[[a, b]], -1.0
        for bend in (0.0, 0.12, -0.12, 0.25, -0.25, 0.4, -0.4, 0.55, -0.55):
            line = places[a] * (1 - t) + places[b] * t + 2 * t * (1 - t) * bend * across
            clear = float(((line[:, None] - others) ** 2).sum(axis=2).min(initial=np.inf).round(9)) ** 0.5
            if clear > best_clear:
                best, best_clear = line, clear
            if clear > 0.6:
                break
        routes.append(best)
    return routes


def _render(picture: _Picture, path: str | os.PathLike[str] | None) -> Figure:
    with needing("io", "a picture"):
        from matplotlib.figure import Figure
    routes = _routes(picture.places, picture.edges)
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

    if tiers <= len(_COLOURS):
        return list(_COLOURS[:tiers])
    # So many hues could not be told apart, while a ramp, short of its light end, still shows which node is farther.
    return [colormaps["plasma"](0.6 * tier / (tiers - 1)) for tier in range(tiers)]


def _draw_network(axes: Axes, picture: _Picture, routes: Sequence[Points]) -> None:
    from matplotlib.collections import EllipseCollection, LineCollection

    colours, tiers = _colours(len(picture.legend)), np.array(picture.tiers, dtype=int)
    few = len(tiers) <= _MOST_WITH_TEXT
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
    if len(picture.places) > _MOST_WITH_TEXT or size < _LEAST_POINTS:
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
