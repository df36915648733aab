"""From a graph and the rows asked for to sparse counts: plans the order of work, runs the kernels, puts rows in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.graph import Graph
from elene.parallel import run_ranges
from elene.spec import Spec

Task = Callable[[int, int, Any], Any]
Scratch = Callable[[], Any]
MAX_COLUMNS = 2**31 - 1
MAX_LANE_COLUMNS = 2**22


@dataclass(frozen=True)
class Rows:
    """What the rows of an encoding stand for: nodes, or pairs of nodes with ``second``; positions, not labels."""

    first: NDArray[np.int64]
    second: NDArray[np.int64] | None = None
    distance: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class Plan:
    """The order in which rows are computed, and the estimated work of each in that order."""

    order: NDArray[np.int64]
    work: NDArray[np.int64]
    first: NDArray[np.uint32]
    second: NDArray[np.uint32]


def kernel_graph(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """A graph as the kernels take it: (indptr, neighbours by rank, where the higher-ranked ones begin)."""
    return (graph.indptr, *graph.ranked)


def count_bits(graph: Graph, depth: int) -> np.uint32:
    """How many bits of a node's state count neighbours; the rest hold its distance."""
    shift = graph.max_degree.bit_length()
    if shift + (depth + 1).bit_length() > 32:
        raise ValueError(f"k={depth} is too deep for a graph with a node of degree {graph.max_degree}: pass a smaller k")
    return np.uint32(shift)


def effective_depth(graph: Graph, depth: int) -> int:
    """The depth beyond which nothing changes, where that is smaller."""
    return min(depth, max(graph.num_nodes - 1, 0))


def plan_nodes(graph: Graph, roots: NDArray[np.int64], depth: int) -> Plan:
    """Roots in their own order, or by their largest neighbour where ego-networks overlap enough to share work."""
    from elene.kernels.order import hub_order, two_hop_paths

    indptr, ranked, _ = kernel_graph(graph)
    order = np.arange(len(roots)) if depth < 2 else hub_order(indptr, ranked, roots)
    work = two_hop_paths(indptr, ranked, roots[order])
    return Plan(order, work, roots[order].astype(np.uint32), np.empty(0, np.uint32))


def plan_pairs(graph: Graph, rows: Rows, depth: int) -> Plan:
    """Pairs grouped by the end of larger degree, whose ball is explored once; the other end's is the cheaper one."""
    from elene.kernels.order import sort_by_key, two_hop_paths

    assert rows.second is not None
    indptr, ranked, _ = kernel_graph(graph)
    degree = graph.degrees
    swap = degree[rows.first] < degree[rows.second]
    u, v = np.where(swap, rows.second, rows.first), np.where(swap, rows.first, rows.second)
    order = sort_by_key(u, graph.num_nodes)
    u, v = u[order], v[order]
    reach = degree if depth < 2 else two_hop_paths(indptr, ranked, np.arange(graph.num_nodes))
    work = 4 * reach[v] + reach[u] // 4 + 1
    return Plan(order, work, u.astype(np.uint32), v.astype(np.uint32))


def count_marginal(graph: Graph, rows: Rows, depth: int, spec: Spec, threads: int | None) -> csr_array:
    """Marginal counts at one depth, a column for each row of ``spec.marginal_table``."""
    rho = graph.max_degree if spec.max_degree is None else spec.max_degree
    kinds = 1 if spec.absolute else 3
    columns = kinds * (depth + 1) * (rho + 1)
    if columns > MAX_COLUMNS:
        raise ValueError(f"k={depth} and degrees up to {rho} need {columns} columns: pass a smaller max_degree")
    plan, task, scratch = _marginal_task(graph, rows, depth, rho, spec.absolute)
    return assemble(plan.order, run_ranges(task, scratch, plan.work, threads), columns)


def _marginal_task(graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool) -> tuple[Plan, Task, Scratch]:
    from elene.kernels import lanes, node, pair

    arrays, n, k = kernel_graph(graph), graph.num_nodes, effective_depth(graph, depth)
    if rows.second is None:
        plan, shift = plan_nodes(graph, rows.first, k), count_bits(graph, k)
        columns = (1 if absolute else 3) * (k + 1) * (rho + 1)
        together = 2 <= k <= lanes.MAX_DEPTH and columns <= MAX_LANE_COLUMNS
        return (
            plan,
            lambda a, b, s: node.marginal_rows(arrays, plan.first[a:b], k, shift, rho, absolute, s),
            lambda: node.marginal_scratch(n, k, rho, absolute, together),
        )
    plan = plan_pairs(graph, rows, k)
    if depth == 1 and rows.distance is None:
        return (
            plan,
            lambda a, b, s: pair.edge_marginal_rows(arrays, plan.first[a:b], plan.second[a:b], rho, absolute, s),
            lambda: pair.edge_scratch(n, rho),
        )
    _check_pair_depth(k)
    return (
        plan,
        lambda a, b, s: pair.pair_marginal_rows(arrays, plan.first[a:b], plan.second[a:b], k, rho, absolute, s),
        lambda: pair.pair_marginal_scratch(n, k, rho, absolute),
    )


def _check_pair_depth(depth: int) -> None:
    from elene.kernels.pair import MAX_DEPTH

    if depth > MAX_DEPTH:
        raise ValueError(f"k={depth} is deeper than edges and pairs can be encoded: pass k <= {MAX_DEPTH}")


def assemble(order: NDArray[np.int64], pieces: Iterable[tuple[int, int, Any]], columns: int) -> csr_array:
    """One matrix from the rows of all pieces, in the order asked for; each piece is let go once it is copied."""
    from elene.kernels.order import place_rows

    found = list(pieces)
    lengths = np.zeros(len(order) + 1, np.int64)
    for start, stop, piece in found:
        lengths[order[start:stop] + 1] = np.diff(piece[0], prepend=0)
    indptr = np.cumsum(lengths)
    indices, counts = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
    while found:
        start, stop, piece = found.pop()
        place_rows(order, start, stop, piece[0], piece[1], piece[2], (indptr, indices, counts))
    return csr_array((counts, indices, indptr), shape=(len(order), columns))


def count_joint(
    graph: Graph, rows: Rows, depth: int, spec: Spec, threads: int | None
) -> tuple[csr_array, NDArray[np.int64]]:
    """Joint counts at one depth, and the table of their columns: (depth, quadruplet) or (depth, two quadruplets)."""
    rho = graph.max_degree if spec.max_degree is None else min(spec.max_degree, graph.max_degree)
    base, digits = rho + 1, 1 if spec.absolute else 3
    if (depth + 1) * base**digits >= 2**63:
        raise ValueError(f"degrees up to {rho} are too large for the joint form: pass max_degree=1000000 or less")
    plan, task, scratch = _joint_task(graph, rows, depth, rho, spec.absolute)
    pieces = list(run_ranges(task, scratch, plan.work, threads))
    keys = np.concatenate([piece[3] for _, _, piece in pieces] or [np.empty((0, 2), np.int64)])
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    number = number.ravel().astype(np.int32)
    renumbered, seen = [], 0
    for start, stop, (row_ends, numbers, counts, local) in pieces:
        renumbered.append((start, stop, (row_ends, number[seen + numbers], counts)))
        seen += len(local)
    matrix = assemble(plan.order, renumbered, len(distinct))
    matrix.sort_indices()
    ends = distinct[:, :1] if rows.second is None else distinct
    fields = [_digits(end, base, digits) for end in ends.T]
    return matrix, np.hstack([np.full((len(distinct), 1), depth), *fields])


def _digits(keys: NDArray[np.int64], base: int, digits: int) -> NDArray[np.int64]:
    """The fields that ``quadruplet_keys`` packed: the distance, then the degrees."""
    fields = []
    for _ in range(digits):
        keys, digit = np.divmod(keys, base)
        fields.append(digit)
    return np.stack([keys, *fields[::-1]], axis=1)


def _joint_task(graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool) -> tuple[Plan, Task, Scratch]:
    from elene.kernels import node, pair

    arrays, n, k = kernel_graph(graph), graph.num_nodes, effective_depth(graph, depth)
    if rows.second is None:
        plan, shift = plan_nodes(graph, rows.first, k), count_bits(graph, k)
        return (
            plan,
            lambda a, b, s: node.node_joint_rows(arrays, plan.first[a:b], k, shift, rho, absolute, s),
            lambda: node.joint_scratch(n, k),
        )
    _check_pair_depth(k)
    plan = plan_pairs(graph, rows, k)
    return (
        plan,
        lambda a, b, s: pair.pair_joint_rows(arrays, plan.first[a:b], plan.second[a:b], k, rho, absolute, s),
        lambda: pair.pair_joint_scratch(n),
    )
