"""In which order rows are computed, on which numbers of nodes, and how much work each one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.engine import policy
from elene.graph import Graph
from elene.kernels.data import Adjacency, Setting, Words

NO_LABELS = np.empty(0, np.uint64)  # of the type that labels have, so that kernels are compiled once
NO_LABELS.flags.writeable = False


@dataclass(frozen=True)
class Rows:
    """What the rows of an encoding stand for: nodes, or pairs of nodes with ``second``; positions, not names."""

    first: NDArray[np.int64]
    second: NDArray[np.int64] | None = None
    distance: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.first)

    def at(self, chosen: NDArray[np.bool_] | slice) -> Rows:
        """Some of them."""
        parts = (self.first, self.second, self.distance)
        return Rows(*(None if part is None else part[chosen] for part in parts))  # type: ignore[arg-type]


@dataclass(frozen=True)
class WorkPlan:
    """How to go about it.

    Attributes:
        graph: what the kernels scan.
        order: the order in which rows are computed; None for their own.
        work: each row's, in that order.
        roots: the roots, or the two ends of pairs, in that order, as numbers of nodes in ``graph``.
        together: whether ego-networks overlap enough to be explored together.
        numbers: the number of each node in ``graph``, where it is another than its own.
    """

    graph: Adjacency | Words
    order: NDArray[np.int64] | None
    work: NDArray[np.int64]
    roots: tuple[NDArray[Any], ...]
    together: bool = False
    numbers: NDArray[Any] | None = None

    def cut(self, start: int, stop: int) -> Any:
        """The roots of a range, or their pairs, as kernels take them."""
        parts = tuple(part[start:stop] for part in self.roots)
        return parts[0] if len(parts) == 1 else parts


def effective_depth(graph: Graph, depth: int) -> int:
    """The depth beyond which nothing changes, where that is smaller."""
    return min(depth, max(graph.num_nodes - 1, 0))


def node_setting(graph: Graph, depth: int, rho: int, absolute: bool = False) -> Setting:
    """What kernels of nodes are told.

    Each of the two counts in a node's state takes ``shift`` bits, beside the one that marks the boundary; the type of
    ``shift`` is that of states: narrow ones stay in the cache.
    """
    bits = graph.max_degree.bit_length()
    shift = np.uint32(bits) if 2 * bits + 1 <= policy.POLICY.narrow_bits else np.uint64(bits)
    return Setting(effective_depth(graph, depth), shift, rho, absolute, NO_LABELS, 0)


def pair_setting(graph: Graph, depth: int, rho: int, absolute: bool = False) -> Setting:
    """What kernels of pairs are told; an error for depths that they cannot hold."""
    from elene.kernels.pair import MAX_DEPTH

    k = effective_depth(graph, depth)
    if k > MAX_DEPTH:
        raise ValueError(f"k={k} is deeper than edges and pairs can be encoded: pass k <= {MAX_DEPTH}")
    return Setting(k, np.uint32(0), rho, absolute, NO_LABELS, 0)


def labelled(setting: Setting, plan: WorkPlan, labels: NDArray[np.uint64], classes: int) -> Setting:
    """The same with the labels of nodes, which cannot be written to, numbered as the plan has them."""
    if plan.numbers is not None:
        numbered = np.empty_like(labels)
        numbered[plan.numbers] = labels
        numbered.flags.writeable = False
        labels = numbered
    return setting._replace(labels=labels, classes=classes)


def two_hop_paths(graph: Graph, roots: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For each root (default: every node), one plus the degrees of its neighbours: an estimate of its work."""
    from elene.kernels.order import two_hop_paths

    found: NDArray[np.int64] = two_hop_paths(*graph.scanned, np.arange(graph.num_nodes) if roots is None else roots)
    return found


def plan_in_order(graph: Graph, roots: NDArray[np.int64] | None = None, path_work: int = 1) -> WorkPlan:
    """Roots (default: all nodes) in their own order."""
    roots = np.arange(graph.num_nodes) if roots is None else roots
    return WorkPlan(graph.ranked, None, path_work * two_hop_paths(graph, roots), (roots.astype(np.uint32),))


def by_size(graph: Graph, rows: Rows) -> list[tuple[Any, Rows, Words | None]]:
    """Rows in small parts of a graph, which sets of nodes in words do for, and all others: where they stand among the
    rows, the rows themselves, and the words or None.
    """
    words = graph.words if graph.in_memory else None
    if words is None or words.nodes in (0, graph.num_nodes):
        return [(slice(None), rows, words if words is not None and words.nodes else None)]
    small = words.first[rows.first] >= 0
    return [(small, rows.at(small), words), (~small, rows.at(~small), None)]


def plan_small(words: Words, rows: Rows) -> WorkPlan:
    """Rows of small parts in their own order: all take about as long."""
    ends = tuple(part for part in (rows.first, rows.second) if part is not None)
    return WorkPlan(words, None, np.full(len(rows), policy.POLICY.small_work), ends)


def plan_nodes(graph: Graph, roots: NDArray[np.int64], depth: int) -> WorkPlan:
    """Roots in their own order, unless ego-networks may overlap enough to be explored together.

    Then those come together that share their largest neighbour, and with it most of their two-hop paths; and if they
    are many, nodes are renumbered by degree, for those that are met most share lines of the cache.
    """
    if depth <= 1:
        return WorkPlan(graph.ranked, None, shallow_work(graph, roots), (roots.astype(np.uint32),))
    paths = two_hop_paths(graph, roots)
    work = policy.POLICY.path_work * paths
    if int(paths.sum()) < policy.POLICY.shared_paths * len(roots):
        return WorkPlan(graph.ranked, None, work, (roots.astype(np.uint32),))
    many = graph.in_memory and 2 * len(roots) >= graph.num_nodes
    arrays, numbers = _by_degree(graph) if many else (graph.ranked, None)
    numbered = roots if numbers is None else numbers[roots]
    order = _by_largest_neighbour(arrays, numbered)
    return WorkPlan(arrays, order, work[order], (numbered[order].astype(np.uint32),), together=True, numbers=numbers)


def degrees_of(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The degrees of some nodes; those of all are not looked at in a graph that is not in memory."""
    degrees: NDArray[np.int64]
    degrees = graph.degrees[nodes] if graph.in_memory else graph.indptr[nodes + 1] - graph.indptr[nodes]
    return degrees


def shallow_work(graph: Graph, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each root's work at depth 1, as if the lists of higher-ranked neighbours were equally long everywhere."""
    work, scans = degrees_of(graph, roots), graph.num_edges // max(graph.num_nodes, 1)
    work *= policy.POLICY.scans_a_unit + scans
    work //= policy.POLICY.scans_a_unit
    work += policy.POLICY.root_work
    return work


def _by_largest_neighbour(graph: Adjacency, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of roots in which those with the same largest neighbour follow each other."""
    from elene.kernels.order import largest_neighbours

    return stable_order(largest_neighbours(graph.pointers, graph.neighbours, roots), len(graph.split) + 1)


def stable_order(keys: NDArray[np.int64], num_keys: int) -> NDArray[np.int64]:
    """The order that sorts keys below a number; few keys must not cost a count of each that there may be."""
    from elene.kernels.order import sort_by_key

    few = policy.POLICY.few_keys * len(keys) < num_keys
    order: NDArray[np.int64] = np.argsort(keys, kind="stable") if few else sort_by_key(keys, num_keys)
    return order


def _by_degree(graph: Graph) -> tuple[Adjacency, NDArray[np.int64]]:
    """What kernels scan, with nodes numbered by degree; and the numbers."""
    from elene.kernels.order import frozen, rank_adjacency, renumber, sort_by_key

    order = sort_by_key(np.array(graph.degrees), graph.max_degree + 1)
    numbers, pointers, neighbours = renumber(*graph.scanned, order)
    return rank_adjacency(frozen(pointers), frozen(neighbours)), numbers


def plan_pairs(graph: Graph, rows: Rows, depth: int) -> WorkPlan:
    """Pairs grouped by the end of larger degree, whose ball is explored once; the other end's is the cheaper one."""
    assert rows.second is not None
    swap = degrees_of(graph, rows.first) < degrees_of(graph, rows.second)
    u, v = np.where(swap, rows.second, rows.first), np.where(swap, rows.first, rows.second)
    order = stable_order(u, graph.num_nodes)
    u, v = u[order], v[order]
    reach = degrees_of if depth < 2 else _paths_from
    work = reach(graph, v) + reach(graph, u) // 16 + 1
    return WorkPlan(graph.ranked, order, work, (u.astype(np.uint32), v.astype(np.uint32)))


def edges_between(graph: Graph, start: int, stop: int) -> Rows:
    """A row for every edge whose first end stands from ``start`` up to ``stop``, in the order of ``graph.edges``."""
    from elene.kernels.order import list_edges

    return Rows(*list_edges(graph.indptr, graph.indices, start, stop))


def plan_edges(graph: Graph, rows: Rows) -> WorkPlan:
    """Edges at depth 1: in their own order, unless their second ends are so large that sorting them pays."""
    assert rows.second is not None
    first, second = degrees_of(graph, rows.first), degrees_of(graph, rows.second)
    entered = np.append(True, rows.first[1:] != rows.first[:-1])[: len(rows)]
    work = second + first * entered + 1
    if int(work.sum()) > policy.POLICY.sorted_edges * int(np.minimum(first, second).sum() + len(rows)):
        return plan_pairs(graph, rows, 1)
    return WorkPlan(graph.ranked, None, work, (rows.first.astype(np.uint32), rows.second.astype(np.uint32)))


def _paths_from(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two-hop paths of nodes that may repeat, each looked at once."""
    if len(nodes) >= graph.num_nodes:
        return two_hop_paths(graph)[nodes]
    distinct, place = np.unique(nodes, return_inverse=True)
    return two_hop_paths(graph, distinct)[place]
