"""Graphs of any size to measure memory and time on: random regular ones, and ones with hubs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elene.graph import MAX_NODES, Graph
from elene.validation import check_integer

# Repairs leave a graph of thirty nodes with 2% too few triangles; so many switches mend that. In a large graph, repairs
# touch next to nothing.
SWITCHES = 2000


def regular_graph(n: int, d: int, seed: int = 0) -> Graph:
    """A random simple graph in which every node has exactly d neighbours.

    Args:
        n: how many nodes.
        d: the degree, less than n; n times d must be even.
        seed: the same seed gives the same graph.

    Example:
        >>> graph = regular_graph(1000, 6)
        >>> graph, set(graph.degrees.tolist())
        (Graph(num_nodes=1000, num_edges=3000), {6})
    """
    check_integer("n", n, least=1)
    check_integer("d", d)
    if n > MAX_NODES:
        raise ValueError(f"n={n} is more than the {MAX_NODES} nodes a graph can have")
    if d >= n:
        raise ValueError(f"d={d} must be less than n={n}: a node has at most {n - 1} neighbours")
    if n * d % 2:
        raise ValueError(f"n={n} times d={d} is odd, but every edge has two ends: make one of them even")
    return Graph.from_edges(regular_edges(n, d, np.random.default_rng(check_integer("seed", seed))), num_nodes=n)


def barabasi_albert(n: int, m: int, seed: int = 0) -> Graph:
    """A random graph with hubs: each new node is linked to m others, chosen in proportion to their degrees.

    It begins with a star: node m is linked to all m nodes before it. So there are ``m (n - m)`` edges.

    Args:
        n: how many nodes.
        m: how many neighbours a new node gets, at least 1 and less than n.
        seed: the same seed gives the same graph.

    Example:
        >>> barabasi_albert(1000, 5)
        Graph(num_nodes=1000, num_edges=4975)
    """
    check_integer("n", n, least=2)
    check_integer("m", m, least=1)
    if n > MAX_NODES:
        raise ValueError(f"n={n} is more than the {MAX_NODES} nodes a graph can have")
    if m >= n:
        raise ValueError(f"m={m} must be less than n={n}: a new node is linked to m earlier ones")
    return Graph.from_edges(attached_edges(n, m, np.random.default_rng(check_integer("seed", seed))), num_nodes=n)


def regular_edges(n: int, d: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The edges, ``(n d / 2, 2)``, of a random d-regular graph: stubs paired at random, misfits repaired.

    >>> regular_edges(4, 3, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    if 2 * d > n - 1:
        # Swaps find little room in a dense graph, and its complement is sparse.
        missing = np.zeros((n, n), dtype=bool)
        missing[tuple(regular_edges(n, n - 1 - d, rng).T)] = True
        return np.argwhere(np.triu(~(missing | missing.T), 1)).astype(np.int32)
    from elene.kernels.generate import pair_stubs, switch

    ends = np.repeat(np.arange(n, dtype=np.int32), d)
    neighbours = np.empty((n, d), dtype=np.int32)
    while not pair_stubs(rng.permutation(ends), neighbours, np.zeros(n, dtype=np.int32), rng):
        pass
    switch(neighbours, SWITCHES if d else 0, rng)
    arcs = np.stack([ends, neighbours.ravel()], axis=1)
    return arcs[arcs[:, 0] < arcs[:, 1]]


def attached_edges(n: int, m: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The edges, ``(m (n - m), 2)``, of preferential attachment.

    >>> attached_edges(4, 3, np.random.default_rng(0)).tolist()
    [[0, 3], [1, 3], [2, 3]]
    """
    from elene.kernels.generate import attach

    edges: NDArray[np.int32] = attach(n, m, rng)
    return edges
