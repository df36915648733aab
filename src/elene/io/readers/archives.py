"""Archives of arrays (.npz): a sparse matrix, a network or a collection of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.arrays import Arrays, opened
from elene.csr import pointers
from elene.graph import Graph, check_room, checked_labels, matrix_arcs
from elene.io.readers.source import Options, Source, from_arcs, refuse_edge_labels, refuse_labels, single, split_union

FORMATS = ("csr", "csc", "bsr", "coo", "dia")  # of sparse matrices


def npz(path: Path, options: Options) -> Source:
    """The graphs of an .npz archive."""
    with opened(path) as arrays:
        if {"node_ptr", "edge_ptr", "edge_index"} <= set(arrays):
            return _collection(arrays, options)
        if {"edges", "num_nodes"} <= set(arrays):
            edges, of_edges = arrays["edges"], _edge_labels(arrays, len(arrays["edges"]), options)
            network = _network(edges, arrays["num_nodes"]).with_labels(_labels(arrays, options))
            return single(network, None if of_edges is None else lambda number, graph: (edges, of_edges))
        if {"format", "shape", "data"} <= set(arrays):
            refuse_labels(options)
            refuse_edge_labels(options)
            return single(_sparse_matrix(arrays, options))
        if {"spec", "table", "indptr"} <= set(arrays):
            raise ValueError("an encoding that elene wrote, not a graph: read it with elene.Encoding.load")
        found = ", ".join(arrays) or "none"
    raise ValueError(
        "expected a scipy sparse matrix, or the arrays edges and num_nodes, or node_ptr, edge_ptr and edge_index; "
        f"the arrays in the file: {found}"
    )


def _labels(arrays: Arrays, options: Options) -> NDArray[Any] | None:
    """The array that holds the classes of nodes, where one is asked for."""
    if options.labels is not None and options.labels not in arrays:
        raise ValueError(f"labels={options.labels!r} is none of the arrays in the file: {', '.join(arrays)}")
    return None if options.labels is None else arrays[options.labels]


def _edge_labels(arrays: Arrays, count: int, options: Options) -> list[Any] | None:
    """What the array that holds the classes of so many edges or arcs has for each, where one is asked for."""
    if options.edge_labels is None:
        return None
    name = str(options.edge_labels)
    if name not in arrays:
        raise ValueError(f"edge_labels={name!r} is none of the arrays in the file: {', '.join(arrays)}")
    found: list[Any] = checked_labels(arrays[name], np.arange(count), f"edge_labels={name!r}", "edges").values.tolist()
    return found


def _network(edges: NDArray[Any], num_nodes: NDArray[Any]) -> Graph:
    if num_nodes.size != 1:
        raise ValueError(f"num_nodes must be one integer, got {num_nodes!r}")
    n = num_nodes.item()
    if isinstance(n, int):
        check_room(n, len(edges), f"num_nodes is {n}, so there would be {n}")
    return Graph.from_edges(edges, num_nodes=n)


def _sparse_matrix(arrays: Arrays, options: Options) -> Graph:
    """What ``scipy.sparse.save_npz`` wrote."""
    form, shape, data = arrays["format"].item(), tuple(arrays["shape"].tolist()), arrays["data"]
    form = form.decode("ascii", "replace") if isinstance(form, bytes) else form
    if form not in FORMATS:
        raise ValueError(f"a sparse matrix in the unknown format {form!r}")
    if len(shape) != 2 or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError(f"a matrix must have two sides, got the shape {shape}")
    check_room(max(shape), data.size // 2, f"the matrix has the shape {shape}, so there would be {max(shape)}")
    sources, targets, n = matrix_arcs(_matrix(form, data, arrays, shape))
    return from_arcs((sources, targets), n, "matrix", "a matrix that is symmetric", options)


def _matrix(form: str, data: NDArray[Any], arrays: Arrays, shape: tuple[int, ...]) -> Any:
    from scipy import sparse

    if form == "coo":
        ends = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
        return sparse.coo_array((data, tuple(ends)), shape=shape)
    if form == "dia":
        return sparse.dia_array((data, arrays["offsets"]), shape=shape)
    matrix = getattr(sparse, f"{form}_array")((data, arrays["indices"], arrays["indptr"]), shape=shape)
    # scipy trusts the row pointers otherwise, and writes where they point.
    matrix.check_format(full_check=True)
    return matrix


def _collection(arrays: Arrays, options: Options) -> Source:
    edge_index, labels = arrays["edge_index"], _labels(arrays, options)
    if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype.kind not in "iu":
        raise ValueError(f"edge_index must be integers of shape (2, arcs), got {edge_index.dtype} {edge_index.shape}")
    first_node = _pointers(arrays["node_ptr"], "node_ptr")
    first_arc = _pointers(arrays["edge_ptr"], "edge_ptr")
    if len(first_node) != len(first_arc):
        raise ValueError(f"node_ptr counts {len(first_node) - 1} graphs, edge_ptr {len(first_arc) - 1}")
    if first_arc[-1] != edge_index.shape[1]:
        raise ValueError(f"edge_ptr ends at {first_arc[-1]}, edge_index has {edge_index.shape[1]} arcs")

    nodes_of_all = int(first_node[-1])
    found = f"node_ptr ends at {nodes_of_all}, so there would be {nodes_of_all}"
    check_room(nodes_of_all, edge_index.shape[1] // 2, found)
    if labels is not None and len(labels) != nodes_of_all:
        raise ValueError(f"labels={options.labels!r} has {len(labels)} rows for {nodes_of_all} nodes")

    def build(start: int, stop: int) -> list[Graph]:
        nodes = first_node[start : stop + 1] - first_node[start]
        arcs_each = np.diff(first_arc[start : stop + 1])
        arcs = edge_index[:, first_arc[start] : first_arc[stop]].astype(np.int64)
        outside = (arcs < 0) | (arcs >= np.repeat(np.diff(nodes), arcs_each))
        if outside.any():
            at = int(np.argmax(outside.any(axis=0)))
            graph = start + int(np.searchsorted(pointers(arcs_each), at, side="right")) - 1
            raise ValueError(f"edge_index of graph {graph} names a node that it has not: {arcs[:, at].tolist()}")
        arcs += np.repeat(nodes[:-1], arcs_each)
        fix = "arcs in both directions"
        union = from_arcs((arcs[0], arcs[1]), int(nodes[-1]), "edge_index", fix, options)
        ours = None if labels is None else labels[first_node[start] : first_node[stop]]
        return split_union(union.with_labels(ours), nodes)

    of_arcs = _edge_labels(arrays, edge_index.shape[1], options)
    if of_arcs is None:
        return Source(len(first_node) - 1, build)

    def edge_labels(number: int, graph: Graph) -> tuple[NDArray[Any], list[Any]]:
        ours = slice(first_arc[number], first_arc[number + 1])
        return edge_index[:, ours].T, of_arcs[ours]

    return Source(len(first_node) - 1, build, edge_labels)


def _pointers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    good = values.ndim == 1 and values.dtype.kind in "iu" and len(values) > 0
    pointers = values.astype(np.int64) if good else np.empty(0, dtype=np.int64)
    if not good or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(f"{name} must be one row of integers that starts at 0 and never falls")
    return pointers
