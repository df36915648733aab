"""The counts of each depth and the tables of their columns: one function a form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from elene.encoding.spec import EncodingSpec
from elene.encoding.types import Types
from elene.engine.counting import count_joint, count_labelled, count_marginal
from elene.engine.plan import Rows, effective_depth
from elene.graph import Graph

Counts = tuple[csr_array, NDArray[np.int64]]


def count_rows(graph: Graph, spec: EncodingSpec, rows: Rows, threads: int | None) -> Counts:
    """The counts of all depths side by side, and their columns."""
    if spec.form == "type":
        types = Types.of(graph, spec, rows, threads)
        table = types.table
        bags = types.bags(table, np.ones(len(rows), np.int64))
        return bags._replace(columns=len(table)).matrix(), table  # no type is unknown here
    counted = count_depths(graph, spec, rows, threads)
    parts = [counted[depth] for depth in spec.depths]
    if len(parts) == 1:
        return parts[0]
    return hstack([part[0] for part in parts], format="csr"), np.vstack([part[1] for part in parts])


def count_depths(graph: Graph, spec: EncodingSpec, rows: Rows, threads: int | None) -> dict[int, Counts]:
    """The counts and columns of each depth; once nothing is left to be reached, deeper ones are not counted again."""
    count = {"marginal": _marginal, "joint": _joint, "product": _product}[spec.form]
    counted: dict[int, Counts] = {}
    whole: Counts | None = None
    deepest = max(spec.depths)
    for depth in sorted(spec.depths):
        if whole is not None:
            counted[depth] = _deepened(graph, whole, depth, spec)
            continue
        counted[depth] = count(graph, rows, depth, spec, threads)
        if depth < deepest and _reaches_all(counted[depth], rows, depth, spec):
            whole = counted[depth]
    return counted


def _reaches_all(counts: Counts, rows: Rows, depth: int, spec: EncodingSpec) -> bool:
    """Whether greater depths count the same.

    So it is where nothing was found at the full depth: on the way from a root to what is farther there would be. For
    two roots, no farther apart than the depth, that is so for the larger of both distances. Products may hide it, and
    columns that repeat for labels stand elsewhere at another depth.
    """
    if spec.form == "product" or (spec.form == "marginal" and spec.labelled):
        return False
    farthest = farthest_seen(counts[0].indices, counts[1], spec)
    apart = 0 if rows.distance is None else int(rows.distance.max(initial=0))
    return farthest < depth and apart <= depth


def farthest_seen(indices: NDArray[Any], table: NDArray[np.int64], spec: EncodingSpec) -> int:
    """The largest distance that some columns of a table stand for; -1 without columns, and for types, which hide it.

    >>> farthest_seen(np.array([0, 2]), np.array([[2, 0, 1, 0], [2, 1, 1, 0], [2, 2, 1, 0]]), EncodingSpec.of(2))
    2
    """
    if spec.form == "type":
        return -1
    used = np.zeros(len(table), bool)
    used[indices] = True
    fields = 1 + np.arange(0, table.shape[1] - 1, spec.fields) if spec.form == "joint" else [1]
    return int(table[used][:, fields].max(initial=-1))


def _deepened(graph: Graph, whole: Counts, depth: int, spec: EncodingSpec) -> Counts:
    """The counts of a greater depth that reaches nothing new."""
    matrix, table = whole
    if spec.form == "joint":
        table = table.copy()
        table[:, 0] = depth
        return matrix, table
    table = marginal_table(graph, spec, depth)
    wider = csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], len(table)))
    return wider, table


def marginal_table(graph: Graph, spec: EncodingSpec, depth: int) -> NDArray[np.int64]:
    """The columns of a depth, which must not be many more than the graph can make use of; for each of its labels."""
    rho = graph.max_degree if spec.max_degree is None else spec.max_degree
    useful = 3 * (effective_depth(graph, depth) + 1) * (min(rho, graph.max_degree) + 1)
    labels = None if graph.labels is None else graph.classes[0]
    return spec.marginal_table(depth, rho, useful, labels)


def _marginal(graph: Graph, rows: Rows, depth: int, spec: EncodingSpec, threads: int | None) -> Counts:
    table = marginal_table(graph, spec, depth)
    rho = graph.max_degree if spec.max_degree is None else spec.max_degree
    count = count_marginal if graph.labels is None else count_labelled
    return count(graph, rows, depth, rho, spec.absolute, threads), table


def _joint(graph: Graph, rows: Rows, depth: int, spec: EncodingSpec, threads: int | None) -> Counts:
    rho = graph.max_degree if spec.max_degree is None else min(spec.max_degree, graph.max_degree)
    matrix, quadruplets = count_joint(graph, rows, depth, rho, spec.absolute, threads)
    return matrix, np.hstack([np.full((len(quadruplets), 1), depth), quadruplets])


def _product(graph: Graph, rows: Rows, depth: int, spec: EncodingSpec, threads: int | None) -> Counts:
    assert rows.second is not None
    ends, place = np.unique(np.concatenate([rows.first, rows.second]), return_inverse=True)
    vectors, table = _marginal(graph, Rows(ends), depth, spec, threads)
    return csr_array(vectors[place[: len(rows)]].multiply(vectors[place[len(rows) :]])), table
