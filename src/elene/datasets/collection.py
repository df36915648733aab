"""Collection: many graphs as a few flat arrays, and their file: an .npz that needs no pickle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elene.arrays import opened
from elene.csr import pointers
from elene.files import check_path, replacing
from elene.graph import Graph

REQUIRED = ("node_ptr", "edge_ptr", "edge_index", "y")


@dataclass(frozen=True, eq=False)
class Collection:
    """Graphs one after another, with their targets.

    Args:
        node_ptr: where the nodes of each graph begin, and one end more.
        edge_ptr: where the arcs of each graph begin, and one end more.
        edge_index: arcs, ``(2, arcs)``, both directions of an edge, nodes numbered from 0 in each graph.
        y: targets; a row for each graph, or for each node in node tasks.
        x: node features, a row for each node; or None.
        edge_attr: features of arcs; or None.
        extra: further arrays by name, such as ``split`` (0 train, 1 validation, 2 test) and ``fold`` (the test fold).

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> both = Collection.of_graphs([rook(), shrikhande()], y=np.array([0, 1]))
        >>> len(both), both.num_nodes.tolist(), both.num_arcs.tolist()
        (2, [16, 16], [96, 96])
    """

    node_ptr: NDArray[np.int64]
    edge_ptr: NDArray[np.int64]
    edge_index: NDArray[np.integer]
    y: NDArray[np.generic]
    x: NDArray[np.generic] | None = None
    edge_attr: NDArray[np.generic] | None = None
    extra: dict[str, NDArray[np.generic]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, ends, total in (
            ("node_ptr", self.node_ptr, None if self.x is None else len(self.x)),
            ("edge_ptr", self.edge_ptr, self.edge_index.shape[1]),
        ):
            if len(ends) < 1 or ends[0] != 0 or (np.diff(ends.astype(np.int64)) < 0).any():
                raise ValueError(f"{name} must begin with 0 and never fall")
            if total is not None and ends[-1] != total:
                raise ValueError(f"{name} ends at {ends[-1]}, and there are {total} rows")
        if len(self.node_ptr) != len(self.edge_ptr):
            raise ValueError(f"node_ptr is for {len(self.node_ptr) - 1} graphs, edge_ptr for {len(self.edge_ptr) - 1}")
        if len(self.y) not in (len(self), int(self.node_ptr[-1])):
            raise ValueError(f"y has {len(self.y)} rows: give one for each graph ({len(self)}) or each node")
        if self.edge_attr is not None and len(self.edge_attr) != self.edge_index.shape[1]:
            raise ValueError(f"edge_attr has {len(self.edge_attr)} rows for {self.edge_index.shape[1]} arcs")

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def num_nodes(self) -> NDArray[np.int64]:
        """Nodes of each graph."""
        return np.diff(self.node_ptr).astype(np.int64)

    @property
    def num_arcs(self) -> NDArray[np.int64]:
        """Arcs of each graph: twice its edges."""
        return np.diff(self.edge_ptr).astype(np.int64)

    def graph(self, index: int) -> Graph:
        """One graph of the collection."""
        arcs = self.edge_index[:, self.edge_ptr[index] : self.edge_ptr[index + 1]].astype(np.int64)
        return Graph.from_edges(arcs[:, arcs[0] < arcs[1]].T, num_nodes=int(self.num_nodes[index]))

    @classmethod
    def of_graphs(cls, graphs: Sequence[Graph], y: NDArray[np.generic]) -> Collection:
        """Graphs without features, put together."""
        arcs = [np.concatenate([graph.edges.T, graph.edges.T[::-1]], axis=1) for graph in graphs]
        nodes, ends = pointers([graph.num_nodes for graph in graphs]), pointers([part.shape[1] for part in arcs])
        return cls(nodes, ends, np.concatenate([np.empty((2, 0), dtype=np.int32), *arcs], axis=1), y)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the arrays to an .npz file, whole or not at all."""
        arrays = {name: getattr(self, name) for name in (*REQUIRED, "x", "edge_attr")}
        with replacing(path) as temporary:
            np.savez(temporary, allow_pickle=False, **{k: v for k, v in arrays.items() if v is not None}, **self.extra)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Collection:
        """Read what :meth:`save` wrote, or any .npz with arrays of these names."""
        try:
            with opened(check_path("path", path)) as file:
                arrays = dict(file)
        except ValueError as error:
            raise ValueError(f"{path} is not a whole .npz file ({error}): delete it, and it is made anew") from error
        if missing := [name for name in REQUIRED if name not in arrays]:
            raise ValueError(f"{path} has no {', '.join(missing)}: it is not a collection of graphs")
        known = {name: arrays.pop(name) for name in (*REQUIRED, "x", "edge_attr") if name in arrays}
        return cls(**known, extra=arrays)
