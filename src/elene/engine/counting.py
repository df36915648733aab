"""From a graph and the rows asked for to sparse counts: fill rows, put them in place, number their columns."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.csr import pointers
from elene.engine import policy
from elene.engine.codec import Codec
from elene.engine.filling import Filled, FillJob
from elene.engine.parallel import count_threads, run_all
from elene.engine.plan import (
    Rows,
    WorkPlan,
    effective_depth,
    labelled,
    node_setting,
    pair_setting,
    plan_edges,
    plan_nodes,
    plan_pairs,
)
from elene.engine.ranking import rank
from elene.engine.tallying import tally_triangles, worth_tallying, write_tallied
from elene.graph import Graph

MAX_COLUMNS = 2**31 - 1
MAX_LANE_COLUMNS = 2**22


def count_marginal(
    graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool, threads: int | None = None
) -> csr_array:
    """Marginal counts at one depth: a column for each distance, each of closer, degree and farther, and each value."""
    columns = (1 if absolute else 3) * (depth + 1) * (rho + 1)
    if columns > MAX_COLUMNS:
        raise ValueError(f"k={depth} and degrees up to {rho} need {columns} columns: pass a smaller max_degree")
    threads = count_threads(threads)
    if rows.second is None and effective_depth(graph, depth) == 1 and worth_tallying(graph, rows.first, threads):
        setting = node_setting(graph, depth, rho, absolute)
        return sparse(*write_tallied(tally_triangles(graph, rho, threads), rows.first, setting, threads), columns)
    if depth <= 1 or rows.second is not None:  # deeper, nodes may be renumbered first
        rank(graph, threads)
    job = (node_job if rows.second is None else pair_job)(graph, rows, depth, rho, absolute)
    return assemble(job.plan, job.run(threads), columns, threads)


def node_job(graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool) -> FillJob:
    """The kernel that counts around nodes, and how to go about it."""
    setting, n = node_setting(graph, depth, rho, absolute), graph.num_nodes
    k, state = setting.k, setting.shift.dtype
    plan = plan_nodes(graph, rows.first, k)
    if k == 1:
        from elene.kernels.triangle import fill_nodes, triangle_scratch

        return FillJob(plan, fill_nodes, setting, partial(triangle_scratch, n, rho), policy.POLICY.shallow_room)
    if plan.together and 3 * (k + 1) * (rho + 1) <= MAX_LANE_COLUMNS:
        from elene.kernels.lanes import MAX_DEPTH, fill_groups, group_scratch

        if k <= MAX_DEPTH:
            fill = partial(fill_groups, policy=policy.POLICY)
            return FillJob(plan, fill, setting, partial(group_scratch, n, k, state, rho), policy.POLICY.deep_room)
    from elene.kernels.node import fill_marginal, marginal_scratch

    return FillJob(plan, fill_marginal, setting, partial(marginal_scratch, n, k, state, rho), policy.POLICY.deep_room)


def pair_job(graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool) -> FillJob:
    """The kernel that counts around edges or pairs, and how to go about it."""
    setting, n = pair_setting(graph, depth, rho, absolute), graph.num_nodes
    if setting.k == 1 and rows.distance is None:
        from elene.kernels.triangle import fill_edges, triangle_scratch

        plan = plan_edges(graph, rows)
        return FillJob(plan, fill_edges, setting, partial(triangle_scratch, n, rho), policy.POLICY.shallow_room)
    from elene.kernels.pair import fill_pair_marginal, pair_marginal_scratch

    plan = plan_pairs(graph, rows, setting.k)
    scratch = partial(pair_marginal_scratch, n, setting.k, rho, absolute)
    return FillJob(plan, fill_pair_marginal, setting, scratch, policy.POLICY.deep_room)


def assemble(plan: WorkPlan, pieces: list[tuple[int, int, Filled]], columns: int, threads: int | None) -> csr_array:
    """One matrix from the rows of all pieces, in the order asked for; each piece is taken, and let go once copied."""
    from elene.kernels.order import place_all, place_rows

    order = plan.order
    indptr = _row_pointers(order, pieces)
    indices, counts = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)

    def place() -> None:
        start, stop, piece = pieces.pop()
        if order is None:
            whole = slice(indptr[start], indptr[stop])
            place_all(piece.entries, indices[whole], counts[whole])
        else:
            place_rows(order[start:stop], piece.ends, piece.entries, indptr, indices, counts)

    run_all([place] * len(pieces), threads if len(indices) > policy.POLICY.many_entries else 1)
    return sparse(indptr, indices, counts, columns)


def sparse(indptr: NDArray[np.int64], indices: NDArray[np.int32], counts: NDArray[np.int32], columns: int) -> csr_array:
    """A matrix; scipy widens the indices to the width of indptr, so that must be no wider than it needs to be."""
    narrow = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
    return csr_array((counts, indices, narrow), shape=(len(indptr) - 1, columns))


def _row_pointers(order: NDArray[np.int64] | None, pieces: list[tuple[int, int, Filled]]) -> NDArray[np.int64]:
    """Where each row begins once all are in the order asked for."""
    rows = pieces[-1][1] if pieces else 0
    if order is None:
        indptr, before = np.zeros(rows + 1, np.int64), 0
        for start, stop, piece in pieces:
            np.add(piece.ends, before, out=indptr[start + 1 : stop + 1])
            before += len(piece.entries)
        return indptr
    lengths = np.zeros(rows, np.int64)
    for start, stop, piece in pieces:
        lengths[order[start:stop]] = piece.lengths
    return pointers(lengths)


def count_joint(
    graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool, threads: int | None = None
) -> tuple[csr_array, NDArray[np.int64]]:
    """Joint counts at one depth, and the table of their columns: a quadruplet or two, a row each.

    Where the graph has labels, a quadruplet has its node's as one more field.
    """
    labels, codes = (None, None) if graph.labels is None else graph.classes
    codec = Codec(rho, absolute, 0 if labels is None else max(len(labels), 1))
    codec.check(effective_depth(graph, depth))
    job = _joint_job(graph, rows, depth, rho, absolute)
    if codes is not None:
        job = replace(job, setting=labelled(job.setting, job.plan, codes, codec.classes))
    distinct, pieces = number_keys(job.run(threads), upper=False)
    matrix = assemble(job.plan, pieces, len(distinct), threads)
    matrix.sort_indices()
    table = codec.unpack(distinct[:, 0] if rows.second is None else distinct)
    if labels is not None:
        places = slice(codec.width, None, codec.width + 1)
        table[:, places] = labels[table[:, places]]
    return matrix, table


def count_labelled(
    graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool, threads: int | None = None
) -> csr_array:
    """Marginal counts of a graph with labels: the columns of :func:`count_marginal` once for each label that occurs.

    They are sums of joint counts, whose quadruplets have all that is needed.
    """
    joint, table = count_joint(graph, rows, depth, min(rho, graph.max_degree), absolute, threads)
    fields, labels = (3 if absolute else 5), graph.classes[0]
    kinds, width = 1 if absolute else 3, rho + 1
    columns = len(labels) * kinds * (depth + 1) * width
    if columns > MAX_COLUMNS:
        raise ValueError(f"k={depth} and degrees up to {rho} need {columns} columns: pass a smaller max_degree")
    targets = []
    for start in range(0, table.shape[1], fields):
        distance, *values, label = table[:, start : start + fields].T
        first = (np.searchsorted(labels, label) * (depth + 1) + distance) * kinds
        targets += [(first + kind) * width + value for kind, value in enumerate(values)]
    sources = np.tile(np.arange(len(table)), len(targets))
    ones = np.ones(len(sources), joint.dtype)
    shape = (len(table), columns)
    counts: csr_array = (joint @ csr_array((ones, (sources, np.concatenate(targets))), shape=shape)).tocsr()
    counts.sort_indices()
    return counts


def _joint_job(graph: Graph, rows: Rows, depth: int, rho: int, absolute: bool) -> FillJob:
    n, room = graph.num_nodes, policy.POLICY.deep_room
    if rows.second is None:
        from elene.kernels.node import fill_joint, reading_scratch

        setting = node_setting(graph, depth, rho, absolute)
        scratch = partial(reading_scratch, n, setting.k, setting.shift.dtype)
        return FillJob(plan_nodes(graph, rows.first, setting.k), fill_joint, setting, scratch, room, keyed=True)
    from elene.kernels.pair import fill_pair_joint, pair_scratch

    setting = pair_setting(graph, depth, rho, absolute)
    plan = plan_pairs(graph, rows, setting.k)
    return FillJob(plan, fill_pair_joint, setting, partial(pair_scratch, n), room, keyed=True)


def number_keys(
    pieces: list[tuple[int, int, Filled]], upper: bool
) -> tuple[NDArray[np.int64], list[tuple[int, int, Filled]]]:
    """The distinct keys of all pieces, sorted, and the pieces with numbers among these instead of each one's own.

    Numbers stand in the upper half of each entry, or in the lower one.
    """
    from elene.kernels.count import HALF, LOWER

    keys = np.concatenate([piece.keys for _, _, piece in pieces] or [np.empty((0, 2), np.int64)])
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    number, seen, renumbered = number.ravel(), 0, []
    for start, stop, piece in pieces:
        ours = number[seen : seen + len(piece.keys)]
        seen += len(piece.keys)
        low, high = piece.entries & LOWER, piece.entries >> HALF
        entries = low | ours[high] << HALF if upper else ours[low] | high << HALF
        renumbered.append((start, stop, piece._replace(entries=entries)))
    return distinct, renumbered
