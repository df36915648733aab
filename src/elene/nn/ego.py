"""Ego: the lists of a graph or batch that ELENE-L sums over, with each distinct quadruplet numbered once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from elene.forking import cached_property
from elene.graph import pyg_arcs
from elene.transforms.arcs import stamp_arcs
from elene.transforms.schema import ARCS, DEPTH, EDGES, INSIDE, NODES, QUADRUPLETS, ROOTED, STAMP
from elene.validation import brief

SMALL = 2**19  # numbers that are summed before a second thread could start


class Ranges(NamedTuple):
    """Ranges of keys, and whether no two of them share an other."""

    bounds: list[tuple[int, int]]
    apart: bool


@dataclass(frozen=True, eq=False)
class Entries:
    """A list that joins keys with others, grouped by key.

    Args:
        sizes: how many entries each key has.
        others: the other of each entry.
        codes: one or two rows of a table for each entry, shape ``(entries, 1 or 2)``.
        num_others: how many others there are.
    """

    sizes: Tensor
    others: Tensor
    codes: Tensor
    num_others: int
    _scales: dict[tuple[str, str, torch.dtype], Tensor] = field(default_factory=dict)
    _counts: dict[int, tuple[Tensor, Tensor, Tensor]] = field(default_factory=dict)
    _ranges: dict[int, Ranges] = field(default_factory=dict)

    @cached_property
    def pointers(self) -> Tensor:
        """Where the entries of each key begin."""
        return torch.cat([self.sizes.new_zeros(1, dtype=torch.long), self.sizes.cumsum(0)])

    @cached_property
    def keys(self) -> Tensor:
        """The key of each entry."""
        return torch.repeat_interleave(torch.arange(len(self.sizes), device=self.sizes.device), self.sizes.long())

    def scale(self, by: str, pool: str, dtype: torch.dtype) -> Tensor:
        """What the sums by key or by other are multiplied with: ones, or one over the number of entries."""
        if (by, pool, dtype) not in self._scales:
            count = len(self.sizes) if by == "key" else self.num_others
            sizes = self.sizes if by == "key" else torch.bincount(self.others, minlength=count)
            ones = torch.ones(count, dtype=dtype, device=self.sizes.device)
            self._scales[by, pool, dtype] = ones if pool == "sum" else ones / sizes.clamp(min=1)
        return self._scales[by, pool, dtype]

    def counts(self, rows: int) -> tuple[Tensor, Tensor, Tensor]:
        """How many entries each key, each other and each row of a table has, as doubles."""
        if rows not in self._counts:
            others = torch.bincount(self.others, minlength=self.num_others)
            codes = torch.bincount(self.codes.flatten(), minlength=rows)
            self._counts[rows] = (self.sizes.double(), others.double(), codes.double())
        return self._counts[rows]

    @cached_property
    def rows(self) -> int:
        """How many rows the table needs that the codes are to be read from; an error if this is no list at all.

        Kernels index without looking: nothing may reach them that has not been asked this.
        """
        if self.codes.dim() != 2 or not len(self.others) == len(self.codes) == int(self.sizes.sum()):
            raise ValueError(
                f"entries: sizes must sum to the number of others and of rows of codes, got {int(self.sizes.sum())}, "
                f"{len(self.others)} and codes of shape {tuple(self.codes.shape)}"
            )
        _largest("sizes", self.sizes, len(self.others) + 1)
        _largest("others", self.others, self.num_others)
        return _largest("codes", self.codes, 2**31) + 1

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """Pointers, others and codes for the kernels."""
        return self.pointers.numpy(), self.others.numpy(), self.codes.numpy()

    @cached_property
    def turned(self) -> Entries:
        """The same entries, grouped by other; on the CPU."""
        from elene.kernels.structure import transpose

        pointers, keys, came_from = transpose(self.sizes.numpy(), self.others.numpy(), self.num_others)
        codes = torch.from_numpy(self.codes.numpy()[came_from])
        return Entries(torch.from_numpy(np.diff(pointers)), torch.from_numpy(keys), codes, len(self.sizes))

    @cached_property
    def closed(self) -> NDArray[np.int64]:
        """The keys before which the list can be cut so that no other has entries on both sides, as between graphs."""
        pointers, others, _ = self.arrays
        starts = np.flatnonzero((pointers[1:-1] > 0) & (pointers[1:-1] < len(others))) + 1
        highest, lowest = np.maximum.accumulate(others), np.minimum.accumulate(others[::-1])[::-1]
        return starts[highest[pointers[starts] - 1] < lowest[pointers[starts]]]

    def ranges(self, width: int, most: int | None = None) -> Ranges:
        """Keys cut into ranges of about equal work, none too small to be worth a thread, and at most so many.

        The cut depends on the entries and the width and never on threads, so that sums over ranges do not either.
        """
        count = max(1, min(len(self.others) * width // SMALL, len(self.others) if most is None else most))
        if count not in self._ranges:
            pointers, goals = self.pointers.numpy(), np.arange(1, count) * (len(self.others) / count)
            places = np.searchsorted(pointers[self.closed], goals)
            cuts = np.unique([0, *self.closed[places[places < len(self.closed)]], len(self.sizes)])
            apart = bool(np.diff(pointers[cuts]).max(initial=0) <= 2 * len(self.others) / count)
            if not apart:
                cuts = np.unique([0, *np.searchsorted(pointers[1:], goals), len(self.sizes)])
            self._ranges[count] = Ranges([(int(a), int(b)) for a, b in pairwise(cuts)], apart)
        return self._ranges[count]


def check_tensor(name: str, value: Any) -> None:
    """An error unless the value is a tensor.

    >>> check_tensor("x", None)
    Traceback (most recent call last):
    TypeError: x must be a tensor, got None
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {brief(value)}")


def _largest(name: str, values: Tensor, limit: int) -> int:
    """The largest of integers that must be from 0 to below the limit; -1 if there are none."""
    if values.is_floating_point() or values.dtype == torch.bool:
        raise TypeError(f"entries: {name} must be integers, got {values.dtype}")
    if not values.numel():
        return -1
    least, largest = (int(value) for value in values.aminmax())
    if least < 0 or largest >= limit:
        raise ValueError(f"entries: {name} must be from 0 to {limit - 1}, got {least if least < 0 else largest}")
    return largest


@dataclass(frozen=True, eq=False)
class Origin:
    """The graphs that lists were made from.

    Args:
        shape: ``ego_shape``, a row a graph; :mod:`elene.transforms.schema` names its columns.
        ordered: whether the lists number arcs by their places in ``edge_index``.
    """

    shape: NDArray[np.int64]
    ordered: bool

    @cached_property
    def totals(self) -> list[int]:
        """The sums of the columns of shape."""
        totals: list[int] = self.shape.sum(0).tolist()
        return totals

    def differs(self, edge_index: Tensor) -> str | None:
        """What tells an ``edge_index`` from that of the lists; None if nothing does."""
        if tuple(edge_index.shape) != (2, self.totals[ARCS]):
            return f"edge_index has shape {tuple(edge_index.shape)}, and theirs had (2, {self.totals[ARCS]})"
        found = stamp_arcs(pyg_arcs(edge_index), self.shape[:, NODES], self.shape[:, ARCS], self.ordered)
        unequal = found != self.shape[:, STAMP]
        if not unequal.any():
            return None
        where = f" in graph {np.argmax(unequal)} of the batch" if len(found) > 1 else ""
        return f"edge_index has other arcs{' or another order' if self.ordered else ''}{where}"


@dataclass(frozen=True, eq=False)
class Ego:
    """What ELENE-L reads of a graph or batch: build it once with :meth:`of` and pass it to every layer.

    Args:
        k: depth of the ego-networks.
        pairs: (root, node) entries, with codes into ``quadruplets``.
        quadruplets: the distinct quadruplets, shape ``(rows, 4)``.
        triples: (root, edge) entries of ``level="edge"``, with codes into ``edge_quadruplets``; else None.
        edge_quadruplets: distinct pairs of quadruplets, ``(rows, 8)``: those of an edge's ends around a root, and from
            row ``num_rooted`` on those of a root in the intersection of an edge's ends.
        num_rooted: how many rows of the first kind there are.
        arcs: the undirected edge of each arc of ``edge_index``.
        origin: the graphs that the lists were made from; None, in one made by hand, takes any ``edge_index`` that fits.

    Example:
        >>> from torch_geometric.data import Data
        >>> from elene.transforms import EgoStructure
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> ego = Ego.of(EgoStructure(k=1)(path))
        >>> ego.pairs.sizes.tolist(), ego.quadruplets.tolist()
        ([2, 3, 2], [[0, 0, 1, 1], [0, 0, 2, 2], [1, 1, 1, 0]])
    """

    k: int
    pairs: Entries
    quadruplets: Tensor
    triples: Entries | None = None
    edge_quadruplets: Tensor | None = None
    num_rooted: int = 0
    arcs: Tensor | None = None
    origin: Origin | None = None
    _known: list[_Ends] = field(default_factory=list, init=False)
    _shallower: dict[int, Ego] = field(default_factory=dict, init=False)

    def at(self, k: int) -> Ego:
        """The lists of depth k, as :class:`elene.transforms.EgoStructure` would make them; at most this depth.

        The quadruplets of edges inside intersections cannot be told from deeper ones: the triples of a shallower depth
        have codes of the first kind only.

        >>> from torch_geometric.data import Data
        >>> from elene.transforms import EgoStructure
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> Ego.of(EgoStructure(k=2)(path)).at(1).pairs.sizes.tolist()
        [2, 3, 2]
        """
        if k > self.k:
            raise ValueError(f"ego has k={self.k}, and the layer k={k}: use EgoStructure(k={k})")
        if k == self.k:
            return self
        if k not in self._shallower:
            self._shallower[k] = _shallower(self, k)
        return self._shallower[k]

    def ends(self, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """The two ends of each undirected edge, the smaller first, and the places of its two arcs.

        An error unless this is the ``edge_index`` that the lists were made from, or one equal to it.
        """
        check_tensor("edge_index", edge_index)
        if self.triples is None or self.arcs is None:
            raise ValueError('ego has no edges: use EgoStructure(k, level="edge")')
        version = None if edge_index.is_inference() else edge_index._version
        if self._known and self._known[0].of(edge_index, version):
            return self._known[0].pair
        if self.origin is not None and (difference := self.origin.differs(edge_index)):
            raise ValueError(
                f"ego was made from another graph: {difference}. Pass the edge_index of the data that Ego.of was given"
            )
        pair = self._known[0].pair if self._known and self.origin else self._find_ends(edge_index, self.arcs)
        self._known[:] = [_Ends(edge_index, version, pair)]
        return pair

    def _find_ends(self, edge_index: Tensor, arcs: Tensor) -> tuple[Tensor, Tensor]:
        assert self.triples is not None
        if edge_index.shape != (2, len(arcs)):
            raise ValueError(f"edge_index must have shape (2, {len(arcs)}), got {tuple(edge_index.shape)}")
        if hasattr(edge_index, "as_tensor"):  # an EdgeIndex of PyG, which looks after its own order
            edge_index = edge_index.as_tensor()
        upward = edge_index[0] < edge_index[1]
        ends, both = (edge_index.new_full((2, self.triples.num_others), -1) for _ in range(2))
        ends[:, arcs[upward]] = edge_index[:, upward]
        for row, chosen in enumerate((upward, ~upward)):
            both[row, arcs[chosen]] = chosen.nonzero().flatten()
        if self.origin is None and not _both_ways(edge_index, ends, both):
            raise ValueError("edge_index does not fit the arcs of ego: each edge needs one arc in either direction")
        return ends, both

    @classmethod
    def of(cls, data: Any) -> Ego:
        """Read the lists that :class:`elene.transforms.EgoStructure` added to a ``Data`` or ``Batch``.

        Lists that were made from another ``edge_index`` than that of the data, or from other nodes, are refused.
        """
        shape, ordered = _read_shape(data), "ego_edge" in data
        origin, k = Origin(shape, ordered), int(shape[0, DEPTH])
        if difference := _difference(data, origin):
            raise ValueError(
                f"the ego-network lists of data were made from another graph: {difference}. Apply "
                f"elene.transforms.EgoStructure(k={k}{', level=' + repr('edge') if ordered else ''}) after everything "
                "that changes nodes or edges (subgraph, RandomLinkSplit, RemoveIsolatedNodes, sorting, ...)"
            )
        lists = data.ego_size, data.ego_node
        codes, quadruplets = _renumber(data.ego_code, lists, shape[:, [NODES, NODES, QUADRUPLETS]], data.ego_quadruplet)
        pairs = Entries(*lists, codes[:, None], origin.totals[NODES])
        if not ordered:
            return cls(k, pairs, quadruplets, origin=origin)
        lists = data.ego_triples, data.ego_edge
        rooted, rooted_rows = _renumber(data.ego_rooted, lists, shape[:, [NODES, EDGES, ROOTED]], data.ego_rooted_pair)
        inside, inside_rows = _renumber(data.ego_inside, lists, shape[:, [NODES, EDGES, INSIDE]], data.ego_inside_pair)
        triples = Entries(*lists, torch.stack([rooted, inside + len(rooted_rows)], dim=1), origin.totals[EDGES])
        rows = torch.cat([rooted_rows, inside_rows])
        return cls(k, pairs, quadruplets, triples, rows, len(rooted_rows), data.ego_arc.long(), origin)


class _Ends(NamedTuple):
    """The ends that were found for an ``edge_index``, which may have been written to since."""

    edge_index: Tensor
    version: int | None
    pair: tuple[Tensor, Tensor]

    def of(self, edge_index: Tensor, version: int | None) -> bool:
        return self.edge_index is edge_index and version is not None and self.version == version


def _both_ways(edge_index: Tensor, ends: Tensor, both: Tensor) -> bool:
    """Whether every edge has found an arc in either direction."""
    return bool((both >= 0).all()) and torch.equal(edge_index[:, both[1]], ends.flip(0))


def _read_shape(data: Any) -> NDArray[np.int64]:
    """``ego_shape`` of a data; an error if there is none, or one that no single depth can be read from."""
    if not hasattr(data, "num_nodes"):
        raise TypeError(f"data must be a torch_geometric.data.Data or Batch, got {brief(data)}")
    shape = getattr(data, "ego_shape", None)
    if shape is None:
        raise ValueError("data has no ego-network lists: apply elene.transforms.EgoStructure(k=...) to it first")
    found: NDArray[np.int64] = shape.cpu().numpy()
    if found.ndim != 2 or found.shape[1] != DEPTH + 1:
        raise ValueError(
            "the ego-network lists of data are those of another version of elene: apply EgoStructure anew (a data set "
            "that PyG has processed is made anew after its folder 'processed' is removed)"
        )
    if not len(found) or (found[:, DEPTH] != found[0, DEPTH]).any():
        depths = np.unique(found[:, DEPTH]).tolist()
        raise ValueError(f"the graphs of a batch must have one depth, got k in {depths}")
    return found


def _difference(data: Any, origin: Origin) -> str | None:
    """What tells the graphs of a data from those that its lists were made from; None if nothing does."""
    nodes = origin.totals[NODES]
    for name, found in (("data", data.num_nodes), ("ego_size", len(data.ego_size))):
        if found != nodes:
            return f"{name} has {found} nodes, and theirs had {nodes}"
    if data.edge_index is None:
        return "data has no edge_index"
    return origin.differs(data.edge_index)


def _shallower(ego: Ego, k: int) -> Ego:
    """What is left at depth k: the farther neighbours of nodes at distance k are gone."""
    pairs, quadruplets = _cut(ego.pairs, ego.quadruplets, ego.pairs.codes[:, :1], k)
    if ego.triples is None:
        return Ego(k, pairs, quadruplets, origin=ego.origin)
    assert ego.edge_quadruplets is not None
    rooted = ego.edge_quadruplets[: ego.num_rooted]
    triples, rooted = _cut(ego.triples, rooted, ego.triples.codes[:, :1], k)
    return Ego(k, pairs, quadruplets, triples, rooted, len(rooted), ego.arcs, ego.origin)


def _cut(entries: Entries, rows: Tensor, codes: Tensor, k: int) -> tuple[Entries, Tensor]:
    """The entries whose quadruplets, one or two a row, are all within distance k, and their rows as they are there."""
    near = (rows[:, ::4] <= k).all(1)
    distance, closer, degree, farther = rows[near].reshape(-1, 4).unbind(1)
    gone = torch.where(distance == k, farther, 0)
    cut = torch.stack([distance, closer, degree - gone, farther - gone], dim=1).reshape(-1, rows.shape[1])
    distinct, number = _distinct(cut.cpu().numpy())
    numbers = torch.zeros(len(rows), dtype=torch.int32, device=rows.device)
    numbers[near] = torch.from_numpy(number).to(rows.device)
    kept, found = near[codes[:, 0].long()], numbers[codes.long()]
    counts = torch.bincount(entries.keys[kept], minlength=len(entries.sizes)).to(entries.sizes.dtype)
    cut_entries = Entries(counts, entries.others[kept], found[kept], entries.num_others)
    return cut_entries, torch.from_numpy(distinct).to(rows.device)


def _renumber(
    codes: Tensor, lists: tuple[Tensor, Tensor], shape: NDArray[np.int64], rows: Tensor
) -> tuple[Tensor, Tensor]:
    """Codes into each graph's own rows, as codes into the distinct rows of all graphs; and these.

    ``lists`` are the number of codes of each node, and the other that each code belongs to; ``shape`` has (nodes,
    others, rows) of each graph.
    """
    sizes, others = lists
    whole = shape.min() >= 0 and len(sizes) == shape[:, 0].sum() and len(rows) == shape[:, 2].sum()
    wrong = 0 if not whole or len(codes) != len(others) else -1
    distinct, number = _distinct(rows.cpu().numpy())
    if wrong < 0 and codes.device.type == "cpu":
        from elene.kernels.structure import renumber

        renumbered, wrong = renumber(codes.numpy(), sizes.numpy(), others.numpy(), shape, number)
        found = torch.from_numpy(renumbered)
    elif wrong < 0:
        found, wrong = _renumber_in_torch(codes, lists, torch.from_numpy(shape).to(codes.device), number)
    if wrong >= 0:
        raise ValueError(
            f"the ego-network lists of data do not fit each other (graph {wrong} of {len(shape)}): make them with "
            "elene.transforms.EgoStructure, and keep its class of data, EgoData, until they are batched"
        )
    return found, torch.from_numpy(distinct).to(codes.device)


def _renumber_in_torch(
    codes: Tensor, lists: tuple[Tensor, Tensor], shape: Tensor, number: NDArray[np.int32]
) -> tuple[Tensor, int]:
    """What the kernel does, on other devices."""
    sizes, others = lists
    if int(sizes.sum()) != len(codes) or bool((sizes < 0).any()):
        return codes, 0
    graph = torch.repeat_interleave(torch.arange(len(shape), device=codes.device), shape[:, 0])
    graph = torch.repeat_interleave(graph, sizes.long())
    first = (shape.cumsum(0) - shape)[graph]
    limit = shape[graph]
    own, code = others.long() - first[:, 1], codes.long()
    outside = (own < 0) | (own >= limit[:, 1]) | (code < 0) | (code >= limit[:, 2])
    if bool(outside.any()):
        return codes, int(graph[outside][0])
    return torch.from_numpy(number).to(codes.device)[code + first[:, 2]], -1


def _distinct(rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct rows of four or eight small integers in ascending order, and each row's number among them."""
    quadruplets = rows.reshape(-1, 4).astype(np.int64)
    base = int(quadruplets.max(initial=0)) + 1
    keys = ((quadruplets[:, 0] * base + quadruplets[:, 1]) * base + quadruplets[:, 2]) * base + quadruplets[:, 3]
    if rows.shape[1] == 8:
        single, number = np.unique(keys, return_inverse=True)
        keys = number[0::2] * len(single) + number[1::2]
    _, example, number = np.unique(keys, return_index=True, return_inverse=True)
    return rows[example], number.astype(np.int32)
