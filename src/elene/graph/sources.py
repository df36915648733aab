"""The graphs of other libraries as edges, or as arcs where both directions of every edge must be there."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.graph.edges import count_nodes, integers, name_array, uniform
from elene.validation import as_array, brief

Edges = tuple[NDArray[np.int64], int, NDArray[Any] | None]  # pairs of positions, how many nodes, their names
Arcs = tuple[NDArray[Any], NDArray[Any], int]  # the two ends, and how many nodes


def networkx_edges(graph: Any) -> Edges:
    """The edges of an undirected networkx graph, and its names where they are not positions."""
    if not all(hasattr(graph, part) for part in ("is_directed", "nodes", "edges", "number_of_edges")):
        raise TypeError(f"graph must be a networkx graph, got {brief(graph)}")
    if graph.is_directed():
        raise ValueError("graph is directed and elene encodes undirected graphs: pass graph.to_undirected()")
    names = list(graph.nodes)
    position = {name: i for i, name in enumerate(names)}
    flat = (position[end] for edge in graph.edges() for end in edge)
    pairs = np.fromiter(flat, dtype=np.int64, count=2 * graph.number_of_edges()).reshape(-1, 2)
    return pairs, len(names), None if names == list(range(len(names))) else name_array(names)


def networkx_labels(graph: Any, labels: Any) -> Any:
    """What a networkx graph's nodes have in an attribute, where that is what names the labels."""
    if not isinstance(labels, str):
        return labels
    found = dict(graph.nodes(data=labels))
    missing = [node for node, label in found.items() if label is None]
    if missing:
        known = sorted({str(name) for _, attributes in graph.nodes(data=True) for name in attributes})
        raise ValueError(
            f"labels={labels!r} is no attribute of node {missing[0]!r}; attributes of nodes: {known!r:.200}"
        )
    return list(found.values())


def igraph_labels(graph: Any, labels: Any) -> Any:
    """The same for python-igraph."""
    return _attribute(labels, graph.vs, graph.vs.attributes() if isinstance(labels, str) else [])


def dgl_labels(graph: Any, labels: Any) -> Any:
    """The same for DGL."""
    return _attribute(labels, graph.ndata, list(graph.ndata)) if isinstance(labels, str) else labels


def pyg_labels(data: Any, labels: Any) -> Any:
    """The same for a PyG ``Data``."""
    if not isinstance(labels, str):
        return labels
    if not hasattr(data, "edge_index"):
        raise TypeError(f"labels={labels!r} names an attribute, and an edge_index has none: pass labels as an array")
    return _attribute(labels, data, [str(key) for key in data.keys() if data[key] is not None])  # noqa: SIM118 - no dict


def _attribute(labels: Any, table: Any, known: list[str]) -> Any:
    if not isinstance(labels, str):
        return labels
    if labels not in known:
        raise ValueError(f"labels={labels!r} is no attribute of the graph's nodes, which have {known!r:.200}")
    return table[labels]


def igraph_edges(graph: Any) -> Edges:
    """The edges of an undirected python-igraph graph, and the attribute ``name``."""
    if not all(hasattr(graph, part) for part in ("is_directed", "vs", "get_edgelist", "vcount")):
        raise TypeError(f"graph must be a python-igraph graph, got {brief(graph)}")
    if graph.is_directed():
        raise ValueError("graph is directed and elene encodes undirected graphs: pass graph.as_undirected()")
    names = name_array(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    return np.array(graph.get_edgelist()), graph.vcount(), names


def rustworkx_edges(graph: Any) -> Edges:
    """The edges of an undirected rustworkx graph, and its indices where nodes were removed."""
    if not all(hasattr(graph, part) for part in ("node_indices", "edge_list")):
        raise TypeError(f"graph must be a rustworkx graph, got {brief(graph)}")
    if hasattr(graph, "to_undirected"):
        raise ValueError("graph is directed and elene encodes undirected graphs: pass graph.to_undirected()")
    nodes = np.array(graph.node_indices(), dtype=np.int64)
    pairs = np.array(graph.edge_list(), dtype=np.int64).reshape(-1, 2)
    plain = np.array_equal(nodes, np.arange(len(nodes)))
    return np.searchsorted(nodes, pairs), len(nodes), None if plain else nodes


def table_edges(table: Any, source: Any, target: Any) -> Edges:
    """The edges in two columns of a pandas or polars table, and the names in them."""
    if not (hasattr(table, "columns") and hasattr(table, "__getitem__")):
        raise TypeError(f"table must be a pandas or polars DataFrame, got {brief(table)}")
    ends = [_end_column(table, "source", source), _end_column(table, "target", target)]
    if ends[0].dtype.kind != ends[1].dtype.kind and all(len(end) for end in ends):
        raise TypeError(
            f"source and target must both be integers or both be strings, got {ends[0].dtype} and {ends[1].dtype}"
        )
    names, positions = np.unique(np.concatenate(ends), return_inverse=True)
    plain = names.dtype.kind != "U" and np.array_equal(names, np.arange(len(names)))
    return positions.reshape(2, -1).T, len(names), None if plain else names


def dgl_arcs(graph: Any) -> Arcs:
    """The arcs of a DGL graph with nodes of one type."""
    if not all(hasattr(graph, part) for part in ("is_homogeneous", "edges", "num_nodes")):
        raise TypeError(f"graph must be a DGL graph, got {brief(graph)}")
    if not graph.is_homogeneous:
        raise TypeError("graph has nodes or edges of several types: pass dgl.to_homogeneous(graph)")
    sources, targets = (end.detach().cpu().numpy() for end in graph.edges())
    return sources, targets, int(graph.num_nodes())


def data_arcs(data: Any, num_nodes: int | None) -> Arcs:
    """The arcs of a PyG ``Data`` or of an ``edge_index``, checked."""
    array = pyg_arcs(data)
    if num_nodes is None and hasattr(data, "edge_index"):
        num_nodes = data.num_nodes
    elif num_nodes is None and _is_sparse(data):
        num_nodes = len(data)
    if array.ndim != 2 or array.shape[0] != 2:
        raise ValueError(f"edge_index must have shape (2, arcs), got {array.shape}")
    array = integers(array, "edge_index") if array.size else np.empty((2, 0), dtype=np.int64)
    return array[0], array[1], count_nodes(array, num_nodes, "edge_index")


def matrix_arcs(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Rows and columns of the entries of an adjacency matrix that are not zero, and how many nodes there are.

    >>> matrix_arcs([[0, 2], [0, 0]])[2]
    2
    """
    from scipy.sparse import coo_array

    try:
        coo = coo_array(matrix)
    except (TypeError, ValueError, NotImplementedError):
        raise TypeError(f"matrix must be a scipy sparse matrix or a dense array, got {brief(matrix)}") from None
    if coo.dtype.kind not in "biufc":
        raise TypeError(f"matrix must hold numbers, got {coo.dtype}")
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        raise ValueError(f"matrix must be square, got shape {coo.shape}")
    if np.isnan(coo.data).any():
        raise ValueError("matrix holds NaN: an entry must be zero (no edge) or nonzero (edge)")
    keep = coo.data != 0
    return coo.row[keep], coo.col[keep], coo.shape[0]


def pyg_arcs(data: Any) -> NDArray[Any]:
    """The ``edge_index`` of a PyG ``Data``, or the one given, as an array; ``adj_t`` stands in where there is none.

    >>> import torch
    >>> pyg_arcs(torch.tensor([[0, 1], [1, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    if hasattr(data, "to_homogeneous"):
        raise TypeError(f"data is a {type(data).__name__}, with nodes of several types: pass data.to_homogeneous()")
    arcs = data
    if hasattr(data, "edge_index"):
        arcs = data.edge_index
        arcs = getattr(data, "adj_t", None) if arcs is None else arcs
    if arcs is None:
        raise ValueError("data has no edge_index: set data.edge_index to an integer tensor of shape (2, arcs)")
    if hasattr(arcs, "as_tensor"):  # an EdgeIndex, which does not turn into an array by itself
        arcs = arcs.as_tensor()
    if _is_sparse(arcs):
        arcs = arcs.detach().to_sparse_coo().coalesce().indices()
    if hasattr(arcs, "detach"):
        return arcs.detach().cpu().numpy()  # type: ignore[no-any-return]
    return as_array("edge_index", arcs)


def _is_sparse(tensor: Any) -> bool:
    return str(getattr(tensor, "layout", "torch.strided")).startswith("torch.sparse")


def _end_column(table: Any, what: str, name: Any) -> NDArray[Any]:
    """The names in a column of ends."""
    columns = list(table.columns)
    if not isinstance(name, Hashable) or name not in columns:
        raise ValueError(f"{what}={name!r} is not a column of the table, which has {columns!r:.200}")
    column = table[name]
    missing = np.asarray(column.isna() if hasattr(column, "isna") else column.is_null(), dtype=bool)
    if missing.any():
        raise ValueError(
            f"{what}: row {int(np.argmax(missing))} of the column {name!r}, counted from 0, misses an end of its edge"
        )
    values = uniform(np.asarray(column))
    if values.dtype.kind not in "iuU" and len(values):
        raise TypeError(f"{what}: the column {name!r} must hold integers or strings, it holds {column.dtype}")
    if values.dtype.kind == "u" and values.max(initial=0) >= 2**63:
        raise ValueError(f"{what}: {values.max()} in the column {name!r} does not fit 64 bits: pass it as strings")
    return values if values.dtype.kind == "U" else values.astype(np.int64)
