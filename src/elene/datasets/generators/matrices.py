"""Adjacency matrices of many small graphs, put together as the arrays of a collection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers

Adjacency = NDArray[np.bool_]


def stack(adjacencies: Iterable[Adjacency]) -> dict[str, Any]:
    """The graphs one after another, their arcs ascending: ``node_ptr``, ``edge_ptr`` and ``edge_index``.

    Args:
        adjacencies: a symmetric matrix for each graph, without a diagonal and of 256 nodes at most: numbers are bytes.

    Example:
        >>> edge = np.array([[False, True], [True, False]])
        >>> stack([edge, edge])["edge_index"].tolist()
        [[0, 1, 0, 1], [1, 0, 1, 0]]
    """
    nodes, arcs = [], []
    for adjacency in adjacencies:
        nodes.append(len(adjacency))
        arcs.append(np.array(np.nonzero(adjacency), dtype=np.uint8))
    return {
        "node_ptr": pointers(nodes),
        "edge_ptr": pointers([part.shape[1] for part in arcs]),
        "edge_index": np.concatenate([np.empty((2, 0), dtype=np.uint8), *arcs], axis=1),
    }


def from_edges(edges: NDArray[np.integer], n: int) -> Adjacency:
    """The symmetric matrix of the edges, ``(m, 2)``.

    >>> from_edges(np.array([[0, 1]]), 2).tolist()
    [[False, True], [True, False]]
    """
    adjacency = np.zeros((n, n), dtype=bool)
    adjacency[edges[:, 0], edges[:, 1]] = True
    return adjacency | adjacency.T
