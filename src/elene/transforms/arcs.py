"""The ``edge_index`` of a PyG graph: as an array, each arc's undirected edge, and a hash of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from elene.graph import Graph, pyg_arcs
from elene.validation import brief


def read_arcs(data: Any) -> NDArray[Any]:
    """The ``edge_index`` of a data as an array."""
    if not isinstance(data, Data):
        hint = ": pass data.to_homogeneous()" if hasattr(data, "to_homogeneous") else ""
        raise TypeError(f"data must be a torch_geometric.data.Data, got {brief(data)}{hint}")
    if data.edge_index is None:
        before = " (ToSparseTensor took it: apply this before, or pass it remove_edge_index=False)"
        raise ValueError(f"data has no edge_index{before if 'adj_t' in data else ''}")
    return pyg_arcs(data)


def number_arcs(graph: Graph, arcs: NDArray[Any]) -> NDArray[np.int32]:
    """The number of each arc's undirected edge."""
    low, high = arcs.min(axis=0), arcs.max(axis=0)
    if (low == high).any():
        raise ValueError(
            f"edge_index has a self-loop at node {low[low == high][0]}, which no ego-network holds: pass "
            "torch_geometric.utils.remove_self_loops(edge_index, edge_attr)"
        )
    if arcs.shape[1] != 2 * graph.num_edges:
        raise ValueError("edge_index lists some edges more than once: pass torch_geometric.utils.coalesce(edge_index)")
    known = graph.edges[:, 0].astype(np.int64) * graph.num_nodes + graph.edges[:, 1]
    return np.searchsorted(known, low.astype(np.int64) * graph.num_nodes + high).astype(np.int32)


def stamp_arcs(
    edge_index: NDArray[Any], nodes: NDArray[np.int64], arcs: NDArray[np.int64], ordered: bool
) -> NDArray[np.int64]:
    """A hash of each graph's part of an ``edge_index``, the same wherever in a batch the graph stands.

    Args:
        edge_index: the arcs of all graphs, ``(2, arcs)``.
        nodes: how many nodes each graph has.
        arcs: how many arcs each graph has.
        ordered: whether the order of arcs counts, as it does for lists that number them.

    Example:
        >>> twice = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> first, second = stamp_arcs(twice, np.array([2, 2]), np.array([2, 2]), ordered=True)
        >>> bool(first == second)
        True
    """
    from elene.kernels.structure import stamps

    return stamps(np.asarray(edge_index, dtype=np.int64), nodes, arcs, ordered)


def locate_arcs(graph: Graph, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where arcs of a graph stand among all of its arcs, by source and target.

    >>> locate_arcs(Graph.from_edges([(0, 1), (1, 2)]), np.array([[1, 2], [2, 1]])).tolist()
    [2, 3]
    """
    low, high = graph.indptr[arcs[0]], graph.indptr[arcs[0] + 1]
    while (open_ := low < high).any():
        middle = (low + high) // 2
        right = open_ & (graph.indices[np.minimum(middle, len(graph.indices) - 1)] < arcs[1])
        low, high = np.where(right, middle + 1, low), np.where(open_ & ~right, middle, high)
    return low
