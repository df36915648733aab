"""The part of a large graph that some of its nodes can see: who is in it, and the graph that they induce."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.graph import Graph


class Surroundings(NamedTuple):
    """The nodes within some hops of others, as they stand in the large graph, by distance.

    Attributes:
        nodes: their positions there, the nodes around which they are first.
        ends: how many are within each number of hops, from 0 on; the last one stands for all more.
        graph: the subgraph that they induce, numbered in this order.
    """

    nodes: NDArray[np.int64]
    ends: list[int]
    graph: Graph

    def within(self, hops: int) -> int:
        """How many of the nodes are within so many hops; none is within less than 0."""
        return self.ends[min(hops, len(self.ends) - 1)] if hops >= 0 else 0


class Reached(NamedTuple):
    """Nodes in the order in which they were reached, how many within each number of hops, and the table of them."""

    nodes: NDArray[np.uint32]
    ends: list[int]
    table: NDArray[np.int32]


def surroundings(graph: Graph, centres: NDArray[np.int64], hops: int, most: int | None = None) -> Surroundings | None:
    """All nodes within some hops of the centres; None where there are more than ``most``.

    An ego-network of depth k is an induced subgraph, and shortest paths to its root stay inside. So wherever the k hops
    around a node are in the surroundings, its ego-network there is that in the whole graph.
    Memory goes by what is found, and not by the size of the graph.

    Args:
        graph: the whole graph.
        centres: positions of nodes; one that is there twice counts once.
        hops: how far to go.
        most: how many nodes there may be.

    Example:
        >>> path = Graph.from_edges([(i, i + 1) for i in range(9)])
        >>> found = surroundings(path, np.array([4]), hops=2)
        >>> sorted(found.nodes.tolist()), found.within(1), found.graph
        ([2, 3, 4, 5, 6], 3, Graph(num_nodes=5, num_edges=4))
    """
    found = reach(graph, centres, hops, most)
    return None if found is None else Surroundings(found.nodes.astype(np.int64), found.ends, _induced(graph, found))


def reach(graph: Graph, centres: NDArray[np.int64], hops: int, most: int | None) -> Reached | None:
    """The nodes of :func:`surroundings` alone: cheaper, where it is asked only how many there are.

    >>> path = Graph.from_edges([(i, i + 1) for i in range(9)])
    >>> len(reach(path, np.array([4]), 2, None).nodes), reach(path, np.array([4]), 2, most=4)
    (5, None)
    """
    from elene.kernels.reach import count_scanned, enter_neighbours, enter_nodes

    limit = graph.num_nodes if most is None else min(most + 1, graph.num_nodes)
    nodes = centres.astype(np.uint32)
    table = _empty_table(len(nodes))
    count = int(enter_nodes(nodes, 0, len(nodes), table))
    ends, first = [count], 0
    while len(ends) <= hops and count > first and (most is None or count <= most):
        neighbours, _ = count_scanned(graph.ranked, nodes, first, count)
        nodes, table = _with_room(nodes, count, max(count, min(count + int(neighbours), limit)), table)
        first, count = count, int(enter_neighbours(graph.ranked, nodes, first, count, table))
        ends.append(count)
    return None if most is not None and count > most else Reached(nodes[:count], ends, table)


def _empty_table(entries: int) -> NDArray[np.int32]:
    return np.zeros(2 << max(entries, 1).bit_length(), np.int32)


def _with_room(
    nodes: NDArray[np.uint32], count: int, room: int, table: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The nodes with room for more behind them, and a table that stays at most half full."""
    from elene.kernels.reach import enter_nodes

    larger = np.empty(room, np.uint32)
    larger[:count] = nodes[:count]
    if len(table) < 2 * room:
        table = _empty_table(room)
        enter_nodes(larger, 0, count, table)
    return larger, table


def _induced(graph: Graph, found: Reached) -> Graph:
    from elene.kernels.order import sort_by_key
    from elene.kernels.reach import count_scanned, join_nodes

    count = len(found.nodes)
    _, above = count_scanned(graph.ranked, found.nodes, 0, count)
    ends = np.empty((2, int(above)), np.int32)
    once = ends[:, : join_nodes(graph.ranked, found.nodes, count, found.table, ends)]
    sources, targets = np.concatenate([once, once[::-1]], axis=1)
    order = sort_by_key(targets, count)
    order = order[sort_by_key(sources[order], count)]
    return Graph.trusted(pointers(np.bincount(sources, minlength=count)), targets[order])


def arcs_of(graph: Graph) -> NDArray[np.int64]:
    """Both directions of every edge, by source and target: an ``edge_index``.

    >>> arcs_of(Graph.from_edges([(0, 1), (1, 2)])).tolist()
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    sources: NDArray[Any] = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    return np.stack([sources, graph.indices.astype(np.int64)])
