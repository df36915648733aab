"""Edges, pairs of positions or of names, to the adjacency lists of an undirected simple graph, and all their checks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elene.validation import as_array, check_list

MAX_NODES = 2**31 - 1
# A file or a list of a few bytes must not cost gigabytes: nodes take about 16 bytes each.
FREE_NODES, NODES_AN_EDGE = 4_000_000, 8


class GraphWarning(UserWarning):
    """Something was dropped, ignored or done again, and the result is right if that was."""


def warn(message: str) -> None:
    """Warn at the line outside the library that led here, however deep inside it that is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("elene."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, GraphWarning, stacklevel=level)


def edge_array(edges: Any) -> NDArray[Any]:
    """Edges as an array; of integers or of text where they are all of one kind."""
    try:
        pairs = as_array("edges", edges)
        if pairs.dtype.kind == "U" and not hasattr(edges, "dtype"):
            pairs = np.asarray(edges, dtype=object)  # numpy makes text of what stands beside text
    except ValueError:
        raise ValueError("edges must have shape (m, 2), got rows of different lengths") from None
    return uniform(pairs)


def uniform(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as integers or as text, where they are all of one of these kinds: so nullable columns are read."""
    if values.dtype.kind not in "OT":
        return values
    flat = values.ravel().tolist()
    for fits, kind in ((is_integer, np.int64), (lambda value: isinstance(value, str), np.str_)):
        if all(map(fits, flat)):
            with suppress(OverflowError):
                return np.array(flat, dtype=kind).reshape(values.shape)
    return values


def positions_of_names(
    pairs: NDArray[np.str_], num_nodes: int | None, names: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Where the ends of edges stand among the names, and the names."""
    if num_nodes is not None:
        raise ValueError(f"num_nodes={num_nodes} is for positions, and edges hold names: pass all of them as names")
    ends, positions = np.unique(pairs, return_inverse=True)
    positions = positions.reshape(pairs.shape)
    if names is None:
        return positions, ends
    named = name_array(check_list("names", names, "names"))
    place = {name: position for position, name in enumerate(named.tolist())}
    if len(place) < len(named):
        raise ValueError("names repeat, so a name in edges does not say which node is meant: give each node its own")
    unknown = [end for end in ends.tolist() if end not in place]
    if unknown:
        raise ValueError(f"edges: node {unknown[0]!r} is not among the names")
    return np.array([place[end] for end in ends.tolist()], dtype=np.int64)[positions], named


def row(nodes: Any, name: str) -> NDArray[Any]:
    """Nodes as an array; a list may not hold lists."""
    try:
        values = np.asarray(nodes)
    except ValueError:  # some are lists, of different lengths
        values = np.empty((0, 0))
    if values.ndim != 1 and not isinstance(nodes, np.ndarray):
        raise ValueError(f"{name} must be a list of nodes, got lists inside it: {nodes!r:.80}")
    return values


def unhashable(names: Iterable[Any]) -> Any:
    """The first that has no hash."""
    for name in names:
        try:
            hash(name)
        except TypeError:
            return name
    return None


def integers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Positions, or an error that shows one that is none."""
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {values.dtype} (such as {_offender(values)!r})")
    if values.size and int(values.max()) >= MAX_NODES:
        raise ValueError(f"{name}: {values.max()} is beyond the largest position a graph can have, {MAX_NODES - 1}")
    return values.astype(np.int64, copy=False)


def _offender(values: NDArray[Any]) -> Any:
    """A value that shows why these are not integers."""
    flat = values.ravel()
    if values.dtype.kind == "f":
        flat = np.append(flat[flat != np.floor(flat)], flat)
    return min(flat.tolist(), key=lambda value: isinstance(value, int)) if flat.dtype == object else flat[0].item()


def count_nodes(positions: NDArray[np.int64], num_nodes: int | None, name: str) -> int:
    """How many nodes there are, as told or by the largest position."""
    if positions.size and positions.min() < 0:
        raise ValueError(f"{name}: node positions must not be negative, got {positions.min()}")
    least = int(positions.max(initial=-1)) + 1
    if num_nodes is None:
        what = f"{name}: the largest position is {least - 1}, so there would be {least}"
        check_room(least, positions.size // 2, what)
        return least
    if not isinstance(num_nodes, int | np.integer) or isinstance(num_nodes, bool):
        raise TypeError(f"num_nodes must be an integer, got {num_nodes!r}")
    if num_nodes < 0:
        raise ValueError(f"num_nodes must not be negative, got {num_nodes}")
    if num_nodes < least:
        raise ValueError(f"num_nodes={num_nodes} is too small: the edges name node {least - 1}; pass at least {least}")
    if num_nodes > MAX_NODES:
        raise ValueError(f"num_nodes={num_nodes} is more than the {MAX_NODES} nodes a graph can have")
    return int(num_nodes)


def check_room(nodes: int, edges: int, what: str) -> None:
    """An error that names the number of nodes where there are far too many for the edges: memory goes by it.

    >>> check_room(10**6, 1, "num_nodes is 1000000, so there would be 1000000")
    """
    if nodes > FREE_NODES + NODES_AN_EDGE * edges:
        raise ValueError(
            f"{what} nodes for {counted(edges, 'edge')}. Number them without gaps: names, ends = "
            "np.unique(edges, return_inverse=True), then Graph.from_edges(ends.reshape(-1, 2), names=names); "
            f"or pass num_nodes={nodes} to Graph.from_edges to have them all"
        )


def checked_adjacency(indptr: Any, indices: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Copies of the arrays, if they are the adjacency lists of an undirected simple graph."""
    pointers, neighbours = as_array("indptr", indptr), as_array("indices", indices)
    for name, array in (("indptr", pointers), ("indices", neighbours)):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise TypeError(f"{name} must be one row of integers, got {array.dtype} of shape {array.shape}")
    n, arcs = len(pointers) - 1, len(neighbours)
    if not 0 <= n <= MAX_NODES:
        raise ValueError(
            f"indptr must have one entry more than there are nodes, from 1 to {MAX_NODES + 1}; got {n + 1}"
        )
    if pointers[0] != 0 or pointers[-1] != arcs or (pointers[1:] < pointers[:-1]).any():
        raise ValueError(f"indptr must rise from 0 to {arcs}, the length of indices, and never fall")
    if arcs and not 0 <= neighbours.min() <= neighbours.max() < n:
        raise ValueError(f"indices must be nodes from 0 to {n - 1}, got {neighbours.min()} to {neighbours.max()}")
    pointers, neighbours = pointers.astype(np.int64), neighbours.astype(np.int32)
    _check_simple(pointers, neighbours)
    return pointers, neighbours


def _check_simple(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> None:
    from scipy.sparse import csr_array

    n = len(indptr) - 1
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    wrong = (np.diff(sources) == 0) & (np.diff(indices) <= 0)
    if wrong.any():
        node = sources[np.argmax(wrong)]
        raise ValueError(f"indices must be ascending for each node, each neighbour once; those of node {node} are not")
    if (sources == indices).any():
        raise ValueError(f"indices must hold no self-loops; node {sources[np.argmax(sources == indices)]} has one")
    columns = csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(n, n)).tocsc()
    if not (np.array_equal(columns.indptr, indptr) and np.array_equal(columns.indices, indices)):
        raise ValueError("indices must hold every edge twice, at both of its ends: build it with Graph.from_edges")


def checked_names(names: Any, n: int) -> NDArray[Any]:
    """A copy, for the array of the caller must stay writable."""
    names = check_list("names", names, "names")
    named = np.array(names) if isinstance(names, np.ndarray) else name_array(names)
    if named.ndim != 1:
        raise ValueError(f"names must be one row, got an array of shape {named.shape}")
    if len(named) != n:
        raise ValueError(f"names must name all {n} nodes, got {len(named)} names")
    return named


def counted(number: int, what: str) -> str:
    """A number and what it counts, in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def adjacency(sources: NDArray[Any], targets: NDArray[Any], n: int) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Sorted adjacency lists of the undirected simple graph that the arcs span, and how many arcs were distinct."""
    from scipy.sparse import coo_array

    loops = sources == targets
    if loops.any():
        warn(f"{counted(int(loops.sum()), 'self-loop')} dropped")
        sources, targets = sources[~loops], targets[~loops]
    ones = np.ones(len(sources), dtype=bool)
    one_way = coo_array((ones, (sources.astype(np.int32), targets.astype(np.int32))), shape=(n, n)).tocsr()
    if one_way.nnz < len(sources):
        warn(f"{counted(len(sources) - one_way.nnz, 'duplicate edge')} dropped")
    both = (one_way + one_way.T.tocsr()).tocsr()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32, copy=False), one_way.nnz


def name_array(names: Iterable[Any]) -> NDArray[Any]:
    """Names as a compact array of integers or strings where they are all of one kind, else of objects."""
    names = list(names)
    if all(is_integer(name) for name in names) and all(abs(name) < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    if all(isinstance(name, str) for name in names):
        return np.array(names, dtype=str)
    return np.fromiter(names, dtype=object, count=len(names))  # np.array would look into tuples


def is_integer(value: Any) -> bool:
    """Whether it is one, of Python or numpy; True is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
