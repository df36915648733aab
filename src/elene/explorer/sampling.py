"""Which nodes of a subgraph are drawn: all of them, or, around hubs, as many as an eye can take in."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph

MOST_DRAWN = 60  # nodes of an ego-network whose names and counts can still be read
MOST_WANTED = 12  # of a kind that somebody wants to see

Positions = NDArray[np.int64]


def sample_rings(graph: Graph, members: Positions, distances: Positions, wanted: Positions) -> Positions:
    """Which members of an ego-network to draw, as places in the list, ascending: about 60, and the ways to the wanted.

    Every node that is drawn hangs on the root by drawn nodes, one on each ring; the same ego-network always gives the
    same sample.

    Args:
        graph: the graph.
        members: positions of the ego-network's nodes, by distance from the root, which is the first.
        distances: their distances from the root.
        wanted: places of nodes of which some must be drawn.

    Example:
        >>> star = Graph.from_edges([(0, leaf) for leaf in range(1, 1000)])
        >>> len(sample_rings(star, np.arange(1000), np.minimum(np.arange(1000), 1), np.array([], int)))
        60
    """
    if len(members) <= MOST_DRAWN:
        return np.arange(len(members))
    near, random = neighbours_among(graph, members), np.random.default_rng(int(members[0]))
    kept, rings = {0}, int(distances[-1])
    # Some of every ring first, with their ways to the root: most nodes of a ring may lead no farther.
    few = [np.flatnonzero(distances == ring) for ring in range(rings, 0, -1)]
    for nodes, number in [(wanted, MOST_WANTED), *((ring, MOST_DRAWN // (2 * rings * rings)) for ring in few)]:
        for node in _choose(random, nodes, max(1, number)).tolist():
            kept.update(_way_to_root(near, distances, node))
    for ring in range(1, rings + 1):
        around = _around(near, [node for node in kept if distances[node] == ring - 1])
        room = max(0, MOST_DRAWN - len(kept)) // (rings + 1 - ring)
        kept.update(_choose(random, np.setdiff1d(around[distances[around] == ring], list(kept)), room).tolist())
    return np.array(sorted(kept))


def sample_grown(graph: Graph, members: Positions, first: Positions, wanted: Positions, most: int) -> Positions:
    """Which members of a subgraph to draw, as places in the list, ascending: grown from the first ones along edges.

    >>> path = Graph.from_edges([(node, node + 1) for node in range(99)])
    >>> sample_grown(path, np.arange(100), np.array([0]), np.array([], int), 4).tolist()
    [0, 1, 2, 3]
    """
    if len(members) <= most:
        return np.arange(len(members))
    near, random = neighbours_among(graph, members), np.random.default_rng(int(members[0]))
    kept = np.union1d(first, _choose(random, wanted, MOST_WANTED))
    while len(kept) < most:
        fresh = np.setdiff1d(_around(near, kept), kept)
        if not len(fresh):
            fresh = np.setdiff1d(np.arange(len(members)), kept)  # what is left hangs on nothing that is drawn
        # A third at a time: some stay for the neighbours of those that come now.
        kept = np.union1d(kept, _choose(random, fresh, min(most - len(kept), max(1, most // 3))))
    return kept


def some_of(there: int, most: int) -> Positions:
    """So many of the numbers below a number, ascending, as chance has it, and always the same.

    >>> some_of(3, 5).tolist(), len(some_of(1000, 5))
    ([0, 1, 2], 5)
    """
    return _choose(np.random.default_rng(there), np.arange(there), most)


def _choose(random: np.random.Generator, places: Positions, most: int) -> Positions:
    return places if len(places) <= most else np.sort(random.choice(places, most, replace=False))


def neighbours_among(graph: Graph, members: Positions) -> Callable[[int], Positions]:
    """What gives, for the place of a node in a list, the places of its neighbours in it.

    >>> neighbours_among(Graph.from_edges([(0, 1), (1, 2)]), np.array([2, 1]))(0).tolist()
    [1]
    """
    place = np.full(graph.num_nodes, -1, np.int64)
    place[members] = np.arange(len(members))

    def near(node: int) -> Positions:
        found = place[graph.neighbors(int(members[node]))]
        return found[found >= 0]

    return near


def _around(near: Callable[[int], Positions], nodes: Iterable[int]) -> Positions:
    """The places of all neighbours."""
    return np.unique(np.concatenate([np.empty(0, np.int64), *map(near, nodes)]))


def _way_to_root(near: Callable[[int], Positions], distances: Positions, node: int) -> list[int]:
    way = [node]
    while distances[way[-1]] > 0:
        around = near(way[-1])
        way.append(int(around[distances[around] == distances[way[-1]] - 1][0]))
    return way
