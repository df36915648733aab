"""What readers share: the graphs of a file, checked but built on demand; what the caller said about the file."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.extras import needing
from elene.graph import Graph, warn

# What was read and how, for whoever listens at the level INFO; the command line does.
logger = logging.getLogger("elene.io")


@dataclass(frozen=True)
class Options:
    """What the caller says about a file, so that nothing need be guessed.

    Attributes:
        source: the column of an edge table that holds one end, by name or counted from 0.
        target: the column that holds the other.
        header: whether the first line of a text names the columns.
        undirected: whether arcs are to be taken for edges.
        labels: the attribute of nodes, the array, or the column of their table, that is their class.
        nodes: the table of nodes.
        edge_labels: the attribute of edges, the array, or the column of an edge table, that is their class; only
            :func:`~elene.io.readers.read_edge_labels` gives them.
    """

    source: str | int | None = None
    target: str | int | None = None
    header: bool | None = None
    undirected: bool = False
    labels: str | None = None
    nodes: str | os.PathLike[str] | None = None
    edge_labels: str | int | None = None

    def __post_init__(self) -> None:
        for name, end in (("source", self.source), ("target", self.target), ("edge_labels", self.edge_labels)):
            if end is not None and (isinstance(end, bool) or not isinstance(end, str | int | np.integer)):
                raise TypeError(f"{name} must be the name of a column or its place counted from 0, got {end!r}")
        for name, flag in (("header", self.header), ("undirected", self.undirected)):
            if flag is not None and not isinstance(flag, bool):
                raise TypeError(f"{name} must be True or False, got {flag!r}")
        if not isinstance(self.labels, str | None):
            raise TypeError(f"labels must be the name of an attribute, got {self.labels!r:.80}")
        if self.nodes is not None and self.labels is None:
            raise ValueError("nodes is a table with the labels of nodes: name the column that holds them as labels")


# Which graph of a file, and the graph itself: what the attribute that the options name has for its edges, in any order,
# with the positions of their ends.
LabelsOfEdges = Callable[[int, Graph], tuple[NDArray[Any], Iterable[Any]]]


@dataclass(frozen=True)
class Source:
    """The graphs of a file, checked but built on demand: one of 250,000 must not cost what all of them do.

    ``edge_labels`` is None where the format has no labels of edges, or nobody asked for them.
    """

    count: int
    build: Callable[[int, int], list[Graph]]
    edge_labels: LabelsOfEdges | None = None


def single(graph: Graph, edge_labels: LabelsOfEdges | None = None) -> Source:
    """A file that holds one graph."""
    return Source(1, lambda start, stop: [graph][start:stop], edge_labels)


def extra(module: str) -> Any:
    """A module that an extra installs, or an error that says which."""
    with needing("io", "this file format"):
        return import_module(module)


def from_arcs(arcs: tuple[NDArray[Any], NDArray[Any]], n: int, name: str, fix: str, options: Options) -> Graph:
    """A graph from a list that must hold both directions of every edge, unless arcs are to be joined."""
    if not options.undirected:
        return Graph._from_arcs(*arcs, n, name, f"undirected=True (--undirected) to join them, or {fix}")
    graph, both = Graph._joined(*arcs, n)
    logger.info("%s", joined(graph, both))
    return graph


def joined(graph: Graph, both: int) -> str:
    """What became of arcs, in words."""
    return f"{graph.num_edges} edges, {both} of them from arcs in both directions"


def without_weights() -> None:
    """Say that a format's weights are not read."""
    warn("the weights of edges are ignored: every edge counts as one")


def refuse_labels(options: Options) -> None:
    """An error where labels are asked for of a format that has none."""
    if options.labels is not None:
        raise ValueError(
            f"labels={options.labels!r} is for attributes of nodes in GraphML, GML and GEXF and for arrays in .npz: "
            "pass the table of nodes that has them as nodes (--nodes), or use graph.with_labels(...)"
        )


def refuse_edge_labels(options: Options) -> None:
    """An error where labels of edges are asked for of a format that has none."""
    if options.edge_labels is not None:
        raise ValueError(
            f"edge_labels={options.edge_labels!r} is for attributes of edges in GraphML, GML and GEXF, for arrays in "
            ".npz and for columns of edge tables (.csv .tsv .txt .parquet): write the graph as one of these"
        )


def split_union(union: Graph, first: NDArray[np.int64]) -> list[Graph]:
    """The graphs whose disjoint union this is; graph i begins at node first[i]."""
    bounds = list(zip(first.tolist(), union.indptr[first].tolist(), strict=True))
    graphs = [
        Graph.trusted(union.indptr[start : stop + 1] - low, union.indices[low:high] - start)
        for (start, low), (stop, high) in pairwise(bounds)
    ]
    if union.labels is None:
        return graphs
    parts = np.split(union.label_values, first[1:-1])
    return [graph.with_labels(part) for graph, part in zip(graphs, parts, strict=True)]
