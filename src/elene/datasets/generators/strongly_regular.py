"""Families of strongly regular graphs, which 1-WL and 3-WL cannot tell apart within a family, by construction.

Most are *block graphs*: the nodes are blocks (sets of points), and two are adjacent where they share a point. Others
follow by *Seidel switching*: edges and non-edges trade places between a set of nodes and the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elene.graph import Graph, as_graph
from elene.validation import as_array, check_integer

MOST_POINTS = 128  # of triangular graphs: 33 million pairs of nodes

Adjacency = NDArray[np.bool_]

# The two main classes of Latin squares of order 5; only the second holds a 2x2 Latin subsquare.
_LATIN_5 = (
    ((0, 1, 2, 3, 4), (1, 2, 3, 4, 0), (2, 3, 4, 0, 1), (3, 4, 0, 1, 2), (4, 0, 1, 2, 3)),
    ((0, 1, 2, 3, 4), (1, 0, 3, 4, 2), (2, 4, 0, 1, 3), (3, 2, 4, 0, 1), (4, 3, 1, 2, 0)),
)


def rook() -> Graph:
    """The 4x4 Rook graph, SRG(16,6,2,2): squares of a board, adjacent where a rook moves from one to the other.

    >>> is_strongly_regular(rook())
    (16, 6, 2, 2)
    """
    return _graph(_block_graph((row, 4 + column) for row in range(4) for column in range(4)))


def shrikhande() -> Graph:
    """The Shrikhande graph, SRG(16,6,2,2): a 4x4 torus, adjacent along rows, columns and one diagonal.

    >>> is_strongly_regular(shrikhande())
    (16, 6, 2, 2)
    """
    row, column = np.divmod(np.arange(16), 4)
    down, right = (row - row[:, None]) % 4, (column - column[:, None]) % 4
    steps = ((0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3))
    return _graph(np.logical_or.reduce([(down == i) & (right == j) for i, j in steps]))


def triangular(n: int) -> Graph:
    """The triangular graph T(n), SRG(n(n-1)/2, 2(n-2), n-2, 4): pairs of n points, adjacent where they share one.

    Args:
        n: how many points, at least 2.

    Example:
        >>> is_strongly_regular(triangular(8))
        (28, 12, 6, 4)
    """
    if check_integer("n", n, least=2) > MOST_POINTS:
        raise ValueError(f"n must be at most {MOST_POINTS}, for n(n-1)/2 nodes are compared with each other; got {n}")
    return _graph(_block_graph(combinations(range(n), 2)))


def chang() -> list[Graph]:
    """The three Chang graphs, which share the parameters SRG(28,12,6,4) with the triangular graph T(8).

    They are T(8) switched with respect to a perfect matching, an 8-cycle, and a 3-cycle beside a 5-cycle of K8.

    >>> [is_strongly_regular(graph) for graph in chang()]
    [(28, 12, 6, 4), (28, 12, 6, 4), (28, 12, 6, 4)]
    """
    pairs = list(combinations(range(8), 2))
    triangle_and_pentagon = {(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (5, 6), (6, 7), (3, 7)}
    octagon = {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (0, 7)}
    matching = {(0, 1), (2, 3), (4, 5), (6, 7)}
    t8 = _block_graph(pairs)
    sets = (matching, octagon, triangle_and_pentagon)
    return [_graph(_switch(t8, np.array([pair in chosen for pair in pairs]))) for chosen in sets]


def latin_square_graph(square: ArrayLike) -> Graph:
    """The graph of a Latin square of order n, SRG(n², 3(n-1), n, 6): cells, adjacent in a row, a column or a symbol.

    Args:
        square: n rows of n symbols, each symbol once in every row and every column.

    Example:
        >>> is_strongly_regular(latin_square_graph([[(i + j) % 6 for j in range(6)] for i in range(6)]))
        (36, 15, 6, 6)
    """
    return _graph(_latin_square_adjacency(square))


def sr25() -> list[Graph]:
    """The 15 strongly regular graphs SRG(25,12,5,6), the SR25 benchmark, always in the same order.

    Each is a descendant of one of four regular two-graphs on 26 points (two from the Latin squares of order 5, two from
    the Steiner triple systems on 13 points), or the complement of one: see Paulus, *Conference matrices and graphs
    of order 26* (1973). A graph and its complement stand side by side, unless they are isomorphic.

    >>> len(sr25())
    15
    """
    classes: dict[bytes, Adjacency] = {}
    for two_graph in _two_graphs_26():
        for adjacency in _descendants(two_graph):
            complement = ~adjacency & ~np.eye(len(adjacency), dtype=np.bool_)
            for member in (adjacency, complement):
                classes.setdefault(_edge_encodings(member), member)
    return [_graph(member) for member in classes.values()]


def is_strongly_regular(graph: Graph) -> tuple[int, int, int, int] | None:
    """The parameters (n, d, lambda, mu) of a strongly regular graph, or None for any other graph.

    Every node has d neighbours, every two adjacent nodes have lambda neighbours in common, and every two others mu.
    Complete and edgeless graphs, which leave mu or lambda undefined, do not count.

    >>> is_strongly_regular(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]))
    (5, 2, 0, 1)
    >>> is_strongly_regular(Graph.from_edges([(0, 1), (1, 2)])) is None
    True
    """
    graph = as_graph(graph)
    n, d = graph.num_nodes, graph.max_degree
    if not 0 < d < n - 1 or (graph.degrees != d).any():
        return None
    found = set()
    for node in range(n):
        near = graph.neighbors(node)
        common = np.bincount(np.concatenate([graph.neighbors(other) for other in near]), minlength=n)
        others = np.delete(common, [*near, node])
        if np.ptp(common[near]) or np.ptp(others):
            return None
        found.add((int(common[near[0]]), int(others[0])))
    return (n, d, *found.pop()) if len(found) == 1 else None


def _graph(adjacency: Adjacency) -> Graph:
    return Graph.from_edges(np.argwhere(np.triu(adjacency)), num_nodes=len(adjacency))


def _block_graph(blocks: Iterable[Sequence[int]]) -> Adjacency:
    points = np.array(list(blocks))
    incidence = np.zeros((len(points), points.max() + 1), dtype=np.int64)
    incidence[np.arange(len(points))[:, None], points] = 1
    share = incidence @ incidence.T > 0
    np.fill_diagonal(share, False)
    return share


def _latin_square_adjacency(square: ArrayLike) -> Adjacency:
    cells = as_array("square", square)
    n = len(cells) if cells.ndim else 0
    if n == 0 or cells.shape != (n, n):
        raise ValueError(f"square must have n rows of n symbols, got shape {cells.shape}")
    symbols, numbers = np.unique(cells, return_inverse=True)
    numbers = numbers.reshape(n, n)
    lines = np.concatenate([numbers, numbers.T])
    if len(symbols) != n or (np.sort(lines, axis=1) != np.arange(n)).any():
        raise ValueError(f"square is not Latin: each of {n} symbols must stand once in every row and every column")
    return _block_graph((i, n + j, 2 * n + numbers[i, j]) for i in range(n) for j in range(n))


def _switch(adjacency: Adjacency, chosen: Adjacency) -> Adjacency:
    switched: Adjacency = adjacency ^ (chosen[:, None] ^ chosen)
    return switched


def _two_graphs_26() -> Iterator[Adjacency]:
    """The four regular two-graphs on 26 points, each as one graph of its switching class."""
    for square in _LATIN_5:
        yield np.pad(_latin_square_adjacency(square), (0, 1))
    cyclic = [[(point + shift) % 13 for point in base] for base in ((0, 1, 4), (0, 2, 7)) for shift in range(13)]
    yield _block_graph(cyclic)
    # These four blocks cover the same pairs once 0 and 9 trade places: a Pasch switch, which gives the other system.
    pasch = ({0, 1, 4}, {0, 2, 7}, {2, 4, 9}, {1, 7, 9})
    trade = {0: 9, 9: 0}
    yield _block_graph([[trade.get(p, p) for p in block] if set(block) in pasch else block for block in cyclic])


def _descendants(two_graph: Adjacency) -> Iterator[Adjacency]:
    """Each node isolated in turn by switching away its neighbours, and dropped."""
    for node, neighbours in enumerate(two_graph):
        rest = np.arange(len(two_graph)) != node
        yield _switch(two_graph, neighbours)[np.ix_(rest, rest)]


def _edge_encodings(adjacency: Adjacency) -> bytes:
    """The multiset of ED encodings at k=1, reduced to what differs: the degrees among each edge's common neighbours."""
    sources, targets = np.nonzero(np.triu(adjacency))
    common = adjacency[sources] & adjacency[targets]
    degrees = common.astype(np.int64) @ adjacency
    # One number an edge: its digits to base 32 count the (at most five) common neighbours of degree 0, 1, 2, ...
    numbers = np.where(common, 32**degrees, 0).sum(axis=1)
    return np.sort(numbers).tobytes()
