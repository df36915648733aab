"""Where the nodes of a subgraph stand: in rings around its root, or around both ends of an edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

Points = NDArray[np.float64]
Edges = NDArray[np.int64]

MOST_WITH_TEXT = 60  # nodes whose places are worth improving one by one, for their text can be read
# Layouts count in node diameters: from node to node on a ring, at the closest and at ease, and from ring to ring.
_CLOSE, _EASY, _RING = 1.12, 1.35, 1.75


def ring_places(tiers: Sequence[int], edges: Edges) -> Points:
    """A place for each node: the first, the root, in the middle, the others on a ring for each distance.

    Args:
        tiers: the distance of each node from the root, ascending.
        edges: pairs of nodes, as places in that list.

    Example:
        >>> ring_places([0, 1, 1], np.array([(0, 1), (0, 2)])).round(2).tolist()
        [[0.0, 0.0], [0.0, 1.75], [0.0, -1.75]]
    """
    rings = [[i for i, tier in enumerate(tiers) if tier == ring] for ring in range(max(tiers) + 1)]
    return _align(rings, _settle(rings, _ring_slots([len(ring) for ring in rings]), edges), edges)


def intersection_places(seen: Sequence[tuple[int, int]], edges: Edges) -> Points:
    """A place for each node around an edge, from its distances to both ends.

    >>> intersection_places([(0, 1), (1, 0)], np.array([(0, 1)])).round(2).tolist()
    [[-1.6, -0.0], [1.6, 0.0]]
    """
    return _settle(*_intersection_slots(seen), edges)


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
        radius = max(radius + _RING, min(count, MOST_WITH_TEXT) * _CLOSE / (2 * np.pi))
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
    if n <= MOST_WITH_TEXT:
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


def _shortening(degree: Points, pull: Points, start: Points, goal: Points) -> Points:
    """By how much the squared edges of a node shrink when it moves; ``pull`` is the sum of its neighbours' places."""
    shrunk: Points = degree * ((start**2).sum(-1) - (goal**2).sum(-1)) + 2 * ((goal - start) * pull).sum(-1)
    return shrunk


def _move_closer(node: int, group: Sequence[int], room: Points, places: Points, adjacency: Points) -> bool:
    """Move a node to the slot, free or in exchange, that shortens the squared edges most; False where none does."""
    pull, degree, here = adjacency @ places, adjacency.sum(axis=1), places[node].copy()
    gain = _shortening(degree[node], pull[node], here, room)
    taken, which = np.nonzero((room[:, None] == places[group]).all(axis=2))
    holder = np.array(group)[which]
    gain[taken] += _shortening(degree[holder], pull[holder], room[taken], here)
    # Both sums take an edge between the two nodes for shortened to nothing; an exchange leaves it as long as it was.
    gain[taken] -= 2 * adjacency[node, holder] * ((room[taken] - here) ** 2).sum(axis=1)
    best = int(np.argmax(gain.round(9)))
    if gain[best] < 1e-6:
        return False
    places[holder[taken == best]] = here
    places[node] = room[best]
    return True


def _align(rings: list[list[int]], places: Points, edges: Edges) -> Points:
    """Turn nodes of the outer rings towards their parents and children, in the order they have, where there is room."""
    if len(places) > MOST_WITH_TEXT:
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
    """The increasing numbers, at least a gap apart, closest to the wanted ones."""
    least = gap * np.arange(len(wanted))
    apart: Points = isotonic_regression(wanted - least).x + least
    return apart


def route_edges(places: Points, edges: Edges) -> list[Points]:
    """Each edge as a line; one that would run under a third node bends around it."""
    if len(places) > MOST_WITH_TEXT:
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
