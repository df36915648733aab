"""Single subgraphs, and the lists of all of them: who is in which one, and with which quadruplet."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.engine import policy
from elene.engine.codec import Codec
from elene.engine.counting import number_keys
from elene.engine.filling import Filled, FillJob
from elene.engine.plan import Rows, effective_depth, node_setting, pair_setting, plan_in_order, plan_pairs
from elene.graph import Graph


def node_members(graph: Graph, position: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of an ego-network's nodes, by distance from the root, and their quadruplets, a row each."""
    from elene.kernels.node import read_ego, reading_scratch

    setting = node_setting(graph, k, graph.max_degree)
    scratch = reading_scratch(graph.num_nodes, setting.k, setting.shift.dtype)
    size = read_ego(graph.ranked, np.uint32(position), setting, scratch)
    ego = scratch.ego
    fields = (scratch.distance, ego.closer, ego.degree, ego.farther)
    return _first(size, ego.queue), np.stack([_first(size, field) for field in fields], axis=1)


def pair_members(graph: Graph, u: int, v: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of an intersection's nodes, and for each the quadruplets that u and v read, side by side."""
    from elene.kernels.pair import pair_scratch, read_pair

    scratch = pair_scratch(graph.num_nodes)
    size = read_pair(graph.ranked, np.uint32(u), np.uint32(v), pair_setting(graph, k, graph.max_degree).k, scratch)
    inside = scratch.inside
    fields = [
        field
        for reading in (inside.from_u, inside.from_v)
        for field in (reading.distance, reading.closer, inside.degree, reading.farther)
    ]
    return _first(size, inside.nodes), np.stack([_first(size, field) for field in fields], axis=1)


def _first(size: int, array: NDArray[Any]) -> NDArray[np.int64]:
    return array[:size].astype(np.int64)


class Members(NamedTuple):
    """The nodes of many subgraphs, one behind the other: how many each has, the nodes, and rows of ``quadruplets``."""

    sizes: NDArray[np.int64]
    nodes: NDArray[np.int64]
    codes: NDArray[np.int64]
    quadruplets: NDArray[np.int64]


class Triples(NamedTuple):
    """The edges of all ego-networks, grouped by root: how many each has, the edges, and two codes for each.

    ``rooted`` is a row of ``rooted_pairs``: the unordered quadruplets of the edge's ends as the root sees them.
    ``inside`` is one of ``inside_pairs``: those of the root as the ends see it in the intersection around them.
    """

    sizes: NDArray[np.int64]
    edges: NDArray[np.int32]
    rooted: NDArray[np.int64]
    rooted_pairs: NDArray[np.int64]
    inside: NDArray[np.int64]
    inside_pairs: NDArray[np.int64]


def ego_members(graph: Graph, k: int, rho: int, whole: int | None = None) -> Members:
    """The nodes of all ego-networks, by distance, with the codes of their quadruplets.

    Where the graph is a part of a larger one, only the first ``whole`` nodes have all of their ego-networks in it: the
    others get none.
    """
    from elene.kernels.node import fill_members, reading_scratch

    codec = Codec(rho)
    codec.check(effective_depth(graph, k))
    setting = node_setting(graph, k, rho)
    scratch = partial(reading_scratch, graph.num_nodes, setting.k, setting.shift.dtype)
    roots = None if whole is None else np.arange(whole)
    job = FillJob(plan_in_order(graph, roots), fill_members, setting, scratch, policy.POLICY.deep_room, keyed=True)
    distinct, sizes, low, high = _run(job, upper=True)
    none = np.zeros(graph.num_nodes - len(sizes), np.int64)
    return Members(np.concatenate([sizes, none]), low, high, codec.unpack(distinct[:, 0]))


def ego_triples(graph: Graph, k: int, rho: int, whole: int | None = None) -> Triples:
    """The edges of all ego-networks. The roots around an edge are the nodes of its intersection.

    Where the graph is a part of a larger one, as in :func:`ego_members`, a triple is kept if its root is one of the
    first ``whole`` nodes, or both ends of its edge are. Either is enough to know its quadruplets, for all shortest
    paths that they count are within k of the root, and within k of the ends: so these nodes have all their edges, and
    the edges among them all their roots.
    """
    from elene.kernels.node import reading_scratch
    from elene.kernels.structure import fill_rooted

    codec, n = Codec(rho), graph.num_nodes
    codec.check(effective_depth(graph, k))
    around = _around(graph, k, rho, n if whole is None else whole)
    inside_keys, inside = _used(around.keys, around.codes)
    setting = node_setting(graph, k, rho)
    scratch = partial(reading_scratch, n, setting.k, setting.shift.dtype)
    fill = partial(fill_rooted, triples=(pointers(around.sizes), around.edges, graph.edges))
    job = FillJob(plan_in_order(graph), fill, setting, scratch, policy.POLICY.deep_room, keyed=True)
    rooted_keys, _, rooted, _ = _run(job, upper=False)
    return Triples(around.sizes, around.edges, rooted, codec.unpack(rooted_keys), inside, codec.unpack(inside_keys))


class _Around(NamedTuple):
    """The edges around each root, one behind the other, and codes of keys of their intersections."""

    sizes: NDArray[np.int64]
    edges: NDArray[np.int32]
    codes: NDArray[np.int64]
    keys: NDArray[np.int64]


def _around(graph: Graph, k: int, rho: int, whole: int) -> _Around:
    from elene.kernels.pair import fill_pair_members, pair_scratch
    from elene.kernels.structure import transpose

    ends, n = graph.edges, graph.num_nodes
    plan = plan_pairs(graph, Rows(ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64)), k)
    assert plan.order is not None
    room, scratch = policy.POLICY.deep_room, partial(pair_scratch, n)
    job = FillJob(plan, fill_pair_members, pair_setting(graph, k, rho), scratch, room, keyed=True)
    keys, sizes, roots, codes = _run(job, upper=True)
    starts, planned, came_from = transpose(sizes, roots.astype(np.int32), n)
    edges, counts = plan.order[planned].astype(np.int32), np.diff(starts)
    if whole == n:
        return _Around(counts, edges, codes[came_from], keys)
    root = np.repeat(np.arange(n), counts)
    kept = (root < whole) | (ends[edges, 1] < whole)  # an edge's second end is the larger one
    return _Around(np.bincount(root[kept], minlength=n), edges[kept], codes[came_from[kept]], keys)


def _used(keys: NDArray[np.int64], codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys that codes name, and the codes as numbers among these."""
    used = np.zeros(len(keys), bool)
    used[codes] = True
    return keys[used], (np.cumsum(used) - 1)[codes]


def _run(
    job: FillJob, upper: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, sorted; how many entries each row has; and the lower and the upper halves of all entries."""
    from elene.kernels.count import HALF, LOWER

    distinct, pieces = number_keys(job.run(None), upper)
    found = [piece for _, _, piece in pieces] or [Filled(*(np.empty(0, np.int64) for _ in range(3)))]
    sizes = np.concatenate([piece.lengths for piece in found])
    entries = np.concatenate([piece.entries for piece in found])
    return distinct, sizes, entries & LOWER, entries >> HALF
