"""The encodings themselves, as multisets: for looking at one node or edge, and for checking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from elene.encoding.columns import LabelledQuadruplet, Quadruplet
from elene.engine.reading import node_members, pair_members
from elene.graph import as_graph
from elene.validation import check_integer, check_list


def quadruplets(
    graph: Any, node: Any, k: int, *, labels: Any = None
) -> Counter[Quadruplet] | Counter[LabelledQuadruplet]:
    """The encoding of one node: how often each ``(distance, closer, degree, farther)`` occurs around it.

    In a graph with labels, the label of the node that is seen so is the fifth part; ``labels`` is as in
    :func:`elene.encode`.

    >>> import networkx as nx
    >>> for quadruplet, count in sorted(quadruplets(nx.cycle_graph(5), 0, k=2).items()):
    ...     print(count, "x", quadruplet)
    1 x Quadruplet(distance=0, closer=0, degree=2, farther=2)
    2 x Quadruplet(distance=1, closer=1, degree=2, farther=1)
    2 x Quadruplet(distance=2, closer=1, degree=2, farther=0)
    """
    graph, k = as_graph(graph, labels=labels), check_integer("k", k)
    members, rows = node_members(graph, graph.position(node), k)
    if graph.labels is None:
        return Counter(Quadruplet(*row) for row in rows.tolist())
    seen = zip(rows.tolist(), graph.label_values[members].tolist(), strict=True)
    return Counter(LabelledQuadruplet._make((*row, label)) for row, label in seen)


def edge_quadruplets(
    graph: Any, edge: Iterable[Any], k: int, *, labels: Any = None
) -> Counter[tuple[Quadruplet, Quadruplet]] | Counter[tuple[LabelledQuadruplet, LabelledQuadruplet]]:
    """The encoding of one edge as read from its first end: pairs of quadruplets, seen from the first and the second.

    Degrees are counted inside the intersection of the two ego-networks. Swapping the ends swaps each pair. Labels are
    as in :func:`quadruplets`.

    >>> import networkx as nx
    >>> for (from_0, from_1), count in sorted(edge_quadruplets(nx.complete_graph(3), (0, 1), k=1).items()):
    ...     print(count, "x", tuple(from_0), tuple(from_1))
    1 x (0, 0, 2, 2) (1, 1, 2, 0)
    1 x (1, 1, 2, 0) (0, 0, 2, 2)
    1 x (1, 1, 2, 0) (1, 1, 2, 0)
    """
    graph, k = as_graph(graph, labels=labels), check_integer("k", k)
    ends = tuple(check_list("edge", edge, "two nodes"))
    if len(ends) != 2:
        raise ValueError(f"edge must be a pair of nodes, got {edge!r}")
    u, v = (graph.position(end, "edge") for end in ends)
    if v not in graph.neighbors(u):
        raise ValueError(f"edge: {ends} is not an edge of the graph")
    members, rows = pair_members(graph, u, v, k)
    if graph.labels is None:
        return Counter((Quadruplet(*row[:4]), Quadruplet(*row[4:])) for row in rows.tolist())
    seen = zip(rows.tolist(), graph.label_values[members].tolist(), strict=True)
    make = LabelledQuadruplet._make
    return Counter((make((*row[:4], label)), make((*row[4:], label))) for row, label in seen)
