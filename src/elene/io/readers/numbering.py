"""From the ends of edges, names of any kind in two columns, to positions and a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph, warn
from elene.io.readers.source import Options, extra, joined, logger


def number_ends(sources: Any, targets: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Ascending labels, and the position of each end among them, from two pyarrow columns of one type."""
    arrow = extra("pyarrow")
    if arrow.types.is_integer(sources.type):
        ends = np.concatenate([sources.to_numpy(), targets.to_numpy()])
        # Far below the memory that the edges themselves take, and several times faster than hashing.
        if ends.min(initial=0) >= 0 and ends.max(initial=-1) < 4 * len(ends):
            return _number_compact(ends)
    return _number_any(arrow.chunked_array([*sources.chunks, *targets.chunks], sources.type))


def _number_compact(ends: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    present = np.zeros(ends.max(initial=-1) + 1, dtype=bool)
    present[ends] = True
    labels = np.flatnonzero(present)
    return labels, ends if len(labels) == len(present) else (np.cumsum(present) - 1)[ends]


def _number_any(ends: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    arrow, compute = extra("pyarrow"), extra("pyarrow.compute")
    coded = ends.dictionary_encode().combine_chunks()
    names, codes = coded.dictionary, coded.indices.to_numpy()
    if arrow.types.is_string(names.type):
        trimmed = compute.utf8_trim(names, " \t").dictionary_encode()
        names, codes = trimmed.dictionary, trimmed.indices.to_numpy()[codes]
        if compute.any(compute.equal(names, "")).as_py():
            raise ValueError("an end of an edge is an empty name")
        if compute.any(compute.match_substring(names, "\0")).as_py():
            raise ValueError("an end of an edge is a name with a zero byte in it")
    order = compute.array_sort_indices(names).to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    labels = names.take(arrow.array(order)).to_numpy(zero_copy_only=False)
    return labels.astype(str) if labels.dtype == object else labels, position[codes]


def numbered_graph(labels: NDArray[Any], positions: NDArray[np.int64], options: Options) -> Graph:
    """The graph of edges whose ends are positions among labels; a warning where they may be arcs."""
    n = len(labels)
    plain = labels.dtype.kind == "i" and (n == 0 or (labels[0] == 0 and labels[-1] == n - 1))
    sources, targets = positions.reshape(2, -1)
    graph, both = Graph._joined(sources, targets, n, None if plain else labels)
    if both:
        logger.info("%s", joined(graph, both))
    if 0 < both < graph.num_edges and not options.undirected:
        warn(
            f"{both} of {graph.num_edges} edges stand in both directions, the others in one: if they are arcs, "
            "they were joined; undirected=True (--undirected) says that this is meant"
        )
    return graph
