"""Archives of arrays (.npz): a sparse matrix, a network or a collection of graphs."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph
from elene.io.readers.source import Source, single, split_union, starts


def npz(path: Path) -> Source:
    """The graphs of an .npz archive."""
    if not zipfile.is_zipfile(path):
        raise ValueError("not an .npz archive, or only a part of one")
    try:
        # Opened here, for np.load leaves a file open that turns out to be damaged.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if {"node_ptr", "edge_ptr", "edge_index"} <= set(archive.files):
                return _collection(archive["node_ptr"], archive["edge_ptr"], archive["edge_index"])
            if {"edges", "num_nodes"} <= set(archive.files):
                return single(Graph.from_edges(archive["edges"], num_nodes=archive["num_nodes"].item()))
            if {"format", "shape", "data"} <= set(archive.files):
                return single(_sparse_matrix(file))
            found = ", ".join(archive.files) or "none"
    except MemoryError as error:
        # The size of an array is read from the file before its content is.
        raise ValueError(f"an array is larger than the memory: {error}") from error
    raise ValueError(
        "expected a scipy sparse matrix, or the arrays edges and num_nodes, or node_ptr, edge_ptr and edge_index; "
        f"the arrays in the file: {found}"
    )


def _sparse_matrix(file: BinaryIO) -> Graph:
    from scipy.sparse import load_npz

    file.seek(0)
    matrix = load_npz(file)
    if hasattr(matrix, "check_format"):
        # scipy trusts the row pointers otherwise, and writes where they point.
        matrix.check_format(full_check=True)
    return Graph.from_scipy(matrix)


def _collection(node_ptr: NDArray[Any], edge_ptr: NDArray[Any], edge_index: NDArray[Any]) -> Source:
    if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype.kind not in "iu":
        raise ValueError(f"edge_index must be integers of shape (2, arcs), got {edge_index.dtype} {edge_index.shape}")
    first_node = _pointers(node_ptr, "node_ptr")
    first_arc = _pointers(edge_ptr, "edge_ptr")
    if len(first_node) != len(first_arc):
        raise ValueError(f"node_ptr counts {len(first_node) - 1} graphs, edge_ptr {len(first_arc) - 1}")
    if first_arc[-1] != edge_index.shape[1]:
        raise ValueError(f"edge_ptr ends at {first_arc[-1]}, edge_index has {edge_index.shape[1]} arcs")

    def build(start: int, stop: int) -> list[Graph]:
        nodes = first_node[start : stop + 1] - first_node[start]
        arcs_each = np.diff(first_arc[start : stop + 1])
        arcs = edge_index[:, first_arc[start] : first_arc[stop]].astype(np.int64)
        outside = (arcs < 0) | (arcs >= np.repeat(np.diff(nodes), arcs_each))
        if outside.any():
            at = int(np.argmax(outside.any(axis=0)))
            graph = start + int(np.searchsorted(starts(arcs_each), at, side="right")) - 1
            raise ValueError(f"edge_index of graph {graph} names a node that it has not: {arcs[:, at].tolist()}")
        arcs += np.repeat(nodes[:-1], arcs_each)
        return split_union(Graph.from_pyg(arcs, num_nodes=int(nodes[-1])), nodes)

    return Source(len(first_node) - 1, build)


def _pointers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    good = values.ndim == 1 and values.dtype.kind in "iu" and len(values) > 0
    pointers = values.astype(np.int64) if good else np.empty(0, dtype=np.int64)
    if not good or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(f"{name} must be one row of integers that starts at 0 and never falls")
    return pointers
