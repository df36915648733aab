"""Which rows an encoding has: the nodes, edges or pairs that roots name, or all of the level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elene.encoding.spec import EncodingSpec
from elene.engine.distances import distances_between, pairs_within
from elene.engine.plan import Rows, edges_between
from elene.graph import Graph
from elene.validation import check_list


def find_rows(graph: Graph, spec: EncodingSpec, roots: ArrayLike | None) -> Rows:
    """The rows that the roots name, or all of the level."""
    if roots is None:
        return rows_between(graph, spec, 0, graph.num_nodes)
    if spec.level == "node":
        names = check_list("roots", roots, "nodes")
        if graph.names is None and isinstance(names, np.ndarray) and names.ndim != 1:
            raise ValueError(f"roots must be a list of nodes, got an array of shape {names.shape}")
        return Rows(graph.positions(names, "roots"))
    return _named_pairs(graph, spec, roots)


def rows_between(graph: Graph, spec: EncodingSpec, start: int, stop: int) -> Rows:
    """Those of all rows of the level whose first node stands from ``start`` up to ``stop``."""
    if spec.level == "node":
        return Rows(np.arange(start, stop))
    if spec.level == "pair":
        return pairs_within(graph, spec.radius, start, stop)
    return edges_between(graph, start, stop)


def _named_pairs(graph: Graph, spec: EncodingSpec, roots: Any) -> Rows:
    pairs = [_pair(pair, spec) for pair in _pair_rows(check_list("roots", roots, "pairs of nodes"), roots)]
    first = graph.positions([u for u, _ in pairs], "roots")
    second = graph.positions([v for _, v in pairs], "roots")
    distance = distances_between(graph, first, second, 1 if spec.level == "edge" else spec.radius)
    if spec.level == "edge":
        wrong, what = distance != 1, "is not an edge of the graph"
    elif spec.radius is not None:
        wrong, what = distance < 0, f"is not within radius={spec.radius}: leave it out, or leave radius out"
    else:
        wrong, what = (distance < 0) & _connected(graph, first, second, distance), "is too far apart to be encoded"
    if wrong.any():
        raise ValueError(f"roots: {pairs[int(np.argmax(wrong))]} {what}")
    return Rows(first, second, None if spec.level == "edge" else distance)


def _connected(
    graph: Graph, first: NDArray[np.int64], second: NDArray[np.int64], distance: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a path joins each pair."""
    if (distance >= 0).all():
        return np.ones(len(first), bool)
    from scipy.sparse.csgraph import connected_components

    component = connected_components(graph.to_scipy(), directed=False)[1]
    joined: NDArray[np.bool_] = component[first] == component[second]
    return joined


def _pair_rows(pairs: Sequence[Any] | NDArray[Any], given: Any) -> Sequence[Any] | NDArray[Any]:
    """Pairs one a row; an array of shape (2, r), like PyG's ``edge_label_index``, holds one a column."""
    if not isinstance(pairs, np.ndarray) or pairs.ndim != 2 or pairs.shape[0] != 2:
        return pairs
    if pairs.shape[1] != 2:
        return pairs.T
    if hasattr(given, "detach"):
        raise ValueError(
            "roots of shape (2, 2) may hold a pair a row or a pair a column: pass roots.tolist() for the one, "
            "roots.t().tolist() for the other (edge_label_index)"
        )
    return pairs


def _pair(pair: Any, spec: EncodingSpec) -> tuple[Any, Any]:
    ends = tuple(check_list("roots", pair, "pairs of nodes"))
    if len(ends) != 2:
        raise ValueError(
            f"roots must be pairs of nodes at level={spec.level!r}, an array of shape (r, 2), got {pair!r} among them"
        )
    return ends
