"""affected(): whose encodings a change of some edges can touch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from elene.graph import Graph, as_graph
from elene.validation import check_depths, check_list

EDGES_AT_ONCE = 256  # whose ego-networks are in memory together


def affected(graph: Any, edges: ArrayLike, k: Any) -> NDArray[Any]:
    """The nodes whose encoding can differ once some edges are added or removed: encode those again, and no others.

    The encoding of v reads the subgraph induced by all nodes within k of v, so a change touches it only where both
    ends of a changed edge are within k of v in the graph that has all these edges. That graph is the same whether the
    edges are removed from ``graph`` or added to it: it may be the one before the change or the one after. The encoding
    of an edge or a pair can differ where either of its nodes is affected.

    Args:
        graph: the graph before or after the change.
        edges: the edges that are added or removed, as pairs of nodes of the graph.
        k: the depth, or several.

    Returns:
        The nodes as :func:`elene.encode` takes them for ``roots``, in the order of the graph.

    Example:
        >>> import networkx as nx
        >>> affected(nx.path_graph(10), [(4, 5)], k=2).tolist()
        [3, 4, 5, 6]
    """
    graph, depth = as_graph(graph), max(check_depths(k))
    ends = _ends(graph, edges)
    whole = _with_edges(graph, ends)
    touched = np.zeros(graph.num_nodes, bool)
    if depth > 0:
        for start in range(0, len(ends), EDGES_AT_ONCE):
            first, second = (_balls(whole, end, depth) for end in ends[start : start + EDGES_AT_ONCE].T)
            touched[first.multiply(second).tocsr().indices] = True
    nodes: NDArray[Any] = graph.nodes[touched]
    return nodes


def _ends(graph: Graph, edges: Any) -> NDArray[np.int64]:
    what = "pairs of nodes"
    pairs = [tuple(check_list("edges", pair, what)) for pair in check_list("edges", edges, what)]
    wrong = [pair for pair in pairs if len(pair) != 2]
    if wrong:
        raise ValueError(f"edges must be pairs of nodes, an array of shape (m, 2), got {wrong[0]!r} among them")
    flat = graph.positions([node for pair in pairs for node in pair], "edges")
    return flat.reshape(-1, 2)


def _with_edges(graph: Graph, ends: NDArray[np.int64]) -> csr_array:
    both = np.concatenate([ends, ends[:, ::-1]]).T
    n = graph.num_nodes
    return ((graph.to_scipy() + csr_array((np.ones(both.shape[1]), (both[0], both[1])), shape=(n, n))) > 0).tocsr()


def _balls(adjacency: csr_array, roots: NDArray[np.int64], depth: int) -> csr_array:
    """Which nodes are within the depth of each root, a row each."""
    rows = np.arange(len(roots))
    ball = csr_array((np.ones(len(roots), bool), (rows, roots)), shape=(len(roots), adjacency.shape[0]))
    for _ in range(depth):
        larger = ((ball @ adjacency).astype(bool) + ball).tocsr()
        if larger.nnz == ball.nnz:
            break
        ball = larger
    return ball
