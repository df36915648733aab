"""From a graph and the rows asked for to sparse counts: plan the order of work, run the kernels, put rows in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.engine.parallel import run_all, run_ranges
from elene.graph import Graph

if TYPE_CHECKING:
    from elene.encoding.spec import Spec

MAX_COLUMNS = 2**31 - 1
MAX_LANE_COLUMNS = 2**22
NARROW_BITS = 32  # states that need no more take four bytes
SHARED_PATHS = 500  # two-hop paths of a root from which on ego-networks may overlap enough to be explored together
NEAR = 1024  # nodes whose numbers differ by less share a few lines of the cache
ORDERED = 0.4  # share of near neighbours from which on a graph's own numbers are better than those of a search
# What things take, measured, in the units of elene.engine.parallel, ten nanoseconds.
A_ROOT, A_PATH, SCANS_A_UNIT = 6, 2, 8
MANY_ENTRIES = 200_000  # fewer are copied before threads start


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
    """How to go about it.

    Attributes:
        arrays: what the kernels scan; see :attr:`Graph.ranked`.
        order: the order in which rows are computed; None for their own.
        work: each row's, in that order.
        roots: the roots or the pairs in that order, as numbers of nodes in ``arrays``.
        together: whether ego-networks overlap enough to be explored together.
    """

    arrays: tuple[NDArray[Any], ...]
    order: NDArray[np.int64] | None
    work: NDArray[np.int64]
    roots: tuple[NDArray[np.uint32], ...]
    together: bool = False


@dataclass(frozen=True)
class Job:
    """A kernel with all it needs: ``kernel(arrays, *roots, *arguments, scratch)`` for every range of roots."""

    plan: Plan
    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]
    make_scratch: Callable[[], Any]

    def run(self, threads: int | None) -> Iterator[tuple[int, int, Any]]:
        """The result of each range: (start, stop, result), in order."""
        return run_ranges(self._call, self.make_scratch, self.plan.work, threads)

    def _call(self, start: int, stop: int, scratch: Any) -> Any:
        roots = [part[start:stop] for part in self.plan.roots]
        return self.kernel(self.plan.arrays, *roots, *self.arguments, scratch)


def state_bits(graph: Graph) -> np.uint32 | np.uint64:
    """How many bits of a node's state each of its two counts takes, beside the one that marks the boundary.

    Its type is that of the state: a narrow one stays in the cache.
    """
    shift = graph.max_degree.bit_length()
    return np.uint32(shift) if 2 * shift + 1 <= NARROW_BITS else np.uint64(shift)


def effective_depth(graph: Graph, depth: int) -> int:
    """The depth beyond which nothing changes, where that is smaller."""
    return min(depth, max(graph.num_nodes - 1, 0))


def check_pair_depth(depth: int) -> None:
    """An error for depths that the kernels of edges and pairs cannot hold."""
    from elene.kernels.pair import MAX_DEPTH

    if depth > MAX_DEPTH:
        raise ValueError(f"k={depth} is deeper than edges and pairs can be encoded: pass k <= {MAX_DEPTH}")


def plan_nodes(graph: Graph, roots: NDArray[np.int64], depth: int) -> Plan:
    """Roots in their own order at depth 1; deeper, in one in which ego-networks that follow each other overlap.

    If they are many, nodes are renumbered, too, unless neighbours have near numbers already: which of them share a line
    of the cache decides a tenth of the time, and more in large graphs.
    """
    from elene.kernels.order import count_near, hub_order, sort_by_key, two_hop_paths

    if depth <= 1:
        return Plan(graph.ranked, None, _shallow_work(graph)[roots], (roots.astype(np.uint32),))
    n, (pointers, neighbours) = graph.num_nodes, graph.scanned
    paths = two_hop_paths(pointers, neighbours, roots)
    together, many = int(paths.sum()) >= SHARED_PATHS * len(roots), 2 * len(roots) >= n
    if many and not together:
        many = count_near(pointers, neighbours, NEAR) < ORDERED * len(graph.indices)
    if not (together or many):
        return Plan(graph.ranked, None, A_PATH * paths, (roots.astype(np.uint32),))
    arrays, numbers = _renumbered(graph, together) if many else (graph.ranked, np.arange(n))
    numbered = numbers[roots]
    order = hub_order(arrays[0], arrays[1], numbered) if together else sort_by_key(numbered, n)
    return Plan(arrays, order, A_PATH * paths[order], (numbered[order].astype(np.uint32),), together)


def _shallow_work(graph: Graph) -> NDArray[np.int64]:
    """Each node's work at depth 1, as if the lists of higher-ranked neighbours were equally long everywhere."""
    pointers, _, split = graph.ranked
    degrees, above = graph.degrees, pointers[1:] - split
    scans = int(degrees @ above) // max(len(graph.indices), 1)
    return A_ROOT + degrees + degrees * scans // SCANS_A_UNIT


def _renumbered(graph: Graph, by_degree: bool) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64]]:
    """What kernels scan, with nodes numbered by degree or, where few are met often, by breadth; and their numbers."""
    from elene.kernels.order import breadth_first, rank_adjacency, renumber, sort_by_key

    pointers, neighbours = graph.scanned
    old = sort_by_key(graph.degrees, graph.max_degree + 1) if by_degree else breadth_first(pointers, neighbours)
    numbers, pointers, neighbours = renumber(pointers, neighbours, old)
    return (pointers, *rank_adjacency(pointers, neighbours)), numbers


def plan_pairs(graph: Graph, rows: Rows, depth: int) -> Plan:
    """Pairs grouped by the end of larger degree, whose ball is explored once; the other end's is the cheaper one."""
    from elene.kernels.order import sort_by_key, two_hop_paths

    assert rows.second is not None
    degree = graph.degrees
    swap = degree[rows.first] < degree[rows.second]
    u, v = np.where(swap, rows.second, rows.first), np.where(swap, rows.first, rows.second)
    order = sort_by_key(u, graph.num_nodes)
    u, v = u[order], v[order]
    reach = degree if depth < 2 else two_hop_paths(*graph.scanned, np.arange(graph.num_nodes))
    return Plan(graph.ranked, order, reach[v] + reach[u] // 16 + 1, (u.astype(np.uint32), v.astype(np.uint32)))


def count_marginal(graph: Graph, rows: Rows, depth: int, spec: Spec, threads: int | None) -> csr_array:
    """Marginal counts at one depth, a column for each row of ``spec.marginal_table``."""
    rho = graph.max_degree if spec.max_degree is None else spec.max_degree
    columns = (1 if spec.absolute else 3) * (depth + 1) * (rho + 1)
    if columns > MAX_COLUMNS:
        raise ValueError(f"k={depth} and degrees up to {rho} need {columns} columns: pass a smaller max_degree")
    k = effective_depth(graph, depth)
    job = (_node_job if rows.second is None else _pair_job)(graph, rows, k, rho, spec.absolute)
    return assemble(job.plan.order, job.run(threads), columns, threads)


def _node_job(graph: Graph, rows: Rows, k: int, rho: int, absolute: bool) -> Job:
    from elene.kernels import lanes, node, triangle

    plan = plan_nodes(graph, rows.first, k)
    if k == 1:
        scratch = partial(triangle.triangle_scratch, graph.num_nodes, rho)
        return Job(plan, triangle.node_rows, (absolute,), scratch)
    fits = k <= lanes.MAX_DEPTH and 3 * (k + 1) * (rho + 1) <= MAX_LANE_COLUMNS
    together = plan.together and fits
    shift = state_bits(graph)
    scratch = partial(node.marginal_scratch, graph.num_nodes, k, shift.dtype, rho, together)
    return Job(plan, node.marginal_rows, (k, shift, absolute), scratch)


def _pair_job(graph: Graph, rows: Rows, k: int, rho: int, absolute: bool) -> Job:
    from elene.kernels import pair, triangle

    check_pair_depth(k)
    plan = plan_pairs(graph, rows, k)
    if k == 1 and rows.distance is None:
        scratch = partial(triangle.triangle_scratch, graph.num_nodes, rho)
        return Job(plan, triangle.edge_rows, (absolute,), scratch)
    scratch = partial(pair.pair_marginal_scratch, graph.num_nodes, k, rho, absolute)
    return Job(plan, pair.pair_marginal_rows, (k, rho, absolute), scratch)


def assemble(
    order: NDArray[np.int64] | None, pieces: Iterable[tuple[int, int, Any]], columns: int, threads: int | None
) -> csr_array:
    """One matrix from the rows of all pieces, in the order asked for; each piece is let go once it is copied."""
    from elene.kernels.order import place_all, place_rows

    found = list(pieces)
    lengths = np.zeros((found[-1][1] if found else 0) + 1, np.int64)
    for start, stop, piece in found:
        places = slice(start + 1, stop + 1) if order is None else order[start:stop] + 1
        lengths[places] = np.diff(piece[0], prepend=0)
    indptr = np.cumsum(lengths)
    indices, counts = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)

    def place() -> None:
        start, stop, piece = found.pop()
        if order is None:
            whole = slice(indptr[start], indptr[stop])
            place_all(piece[1], indices[whole], counts[whole])
        else:
            place_rows(order[start:stop], piece[0], piece[1], (indptr, indices, counts))

    run_all([place] * len(found), threads if len(indices) > MANY_ENTRIES else 1)
    # scipy widens the indices to the width of indptr, so that must be no wider than it needs to be
    pointers = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
    return csr_array((counts, indices, pointers), shape=(len(indptr) - 1, columns))


def count_joint(
    graph: Graph, rows: Rows, depth: int, spec: Spec, threads: int | None
) -> tuple[csr_array, NDArray[np.int64]]:
    """Joint counts at one depth, and the table of their columns: (depth, quadruplet) or (depth, two quadruplets)."""
    from elene.kernels.count import COLUMN

    rho = graph.max_degree if spec.max_degree is None else min(spec.max_degree, graph.max_degree)
    base, digits = rho + 1, 1 if spec.absolute else 3
    k = effective_depth(graph, depth)
    if (k + 1) * base**digits >= 2**63:
        raise ValueError(f"degrees up to {rho} are too large for the joint form: pass max_degree=1000000 or less")
    job = _joint_job(graph, rows, k, rho, spec.absolute)
    pieces = list(job.run(threads))
    keys = np.concatenate([piece[2] for _, _, piece in pieces] or [np.empty((0, 2), np.int64)])
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    number = number.ravel()
    renumbered, seen = [], 0
    for start, stop, (row_ends, entries, local) in pieces:
        columns = entries & COLUMN
        renumbered.append((start, stop, (row_ends, entries - columns + number[seen + columns])))
        seen += len(local)
    matrix = assemble(job.plan.order, renumbered, len(distinct), threads)
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


def _joint_job(graph: Graph, rows: Rows, k: int, rho: int, absolute: bool) -> Job:
    from elene.kernels import node, pair

    n = graph.num_nodes
    if rows.second is None:
        shift = state_bits(graph)
        scratch = partial(node.joint_scratch, n, k, shift.dtype)
        return Job(plan_nodes(graph, rows.first, k), node.node_joint_rows, (k, shift, rho, absolute), scratch)
    check_pair_depth(k)
    plan = plan_pairs(graph, rows, k)
    return Job(plan, pair.pair_joint_rows, (k, rho, absolute), partial(pair.pair_joint_scratch, n))
