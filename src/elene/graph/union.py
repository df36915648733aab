"""disjoint_union(): many graphs in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.graph.edges import MAX_NODES
from elene.graph.graph import Graph
from elene.graph.labels import Labels, joined


def disjoint_union(graphs: Sequence[Graph]) -> Graph:
    """All graphs side by side in one; nodes keep their order and labels, names are dropped.

    Either all graphs have labels or none has.

    >>> edge = Graph.from_edges([(0, 1)])
    >>> disjoint_union([edge, edge]).edges.tolist()
    [[0, 1], [2, 3]]
    """
    rows = [graph.indptr for graph in graphs]
    first = pointers(np.array(list(map(len, rows)), dtype=np.int64) - 1)
    if first[-1] > MAX_NODES:
        raise ValueError(f"graphs have {first[-1]} nodes together, more than the {MAX_NODES} of one Graph")
    if not len(graphs):
        return Graph.from_edges([])
    from elene.kernels.order import join_rows

    indices = np.concatenate([graph.indices for graph in graphs])
    indptr = join_rows(first, np.concatenate(rows), indices)
    return Graph.trusted(indptr, indices, None, *_labels_of(graphs))


def renumbered_labels(graph: Graph, label_names: NDArray[Any] | None) -> Graph:
    """The same graph, its labels numbered as in other names; those that are not there are -1.

    >>> graph = Graph.from_edges([(0, 1)], labels=["C", "P"])
    >>> renumbered_labels(graph, np.array(["C", "N"])).labels.tolist()
    [0, -1]
    """
    values = graph.label_values
    if label_names is None:
        codes = np.maximum(values, -1) if values.dtype.kind == "i" else np.full(len(values), -1)
    else:
        place = {name: number for number, name in enumerate(label_names.tolist())}
        codes = np.array([place.get(value, -1) for value in values.tolist()], dtype=np.int64)
    return Graph.trusted(graph.indptr, graph.indices, graph.names, codes.astype(np.int64), None)


def _labels_of(graphs: Sequence[Graph]) -> Labels | tuple[None, None]:
    codes = [labels for graph in graphs if (labels := graph.labels) is not None]
    if not codes:
        return None, None
    if len(codes) < len(graphs):
        bare = next(i for i, graph in enumerate(graphs) if graph.labels is None)
        raise ValueError(f"graphs: some have labels, and graph {bare} has none: give it labels, or drop those of all")
    return joined(codes, [graph.label_names for graph in graphs])
