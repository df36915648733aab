"""Ego: the lists of a graph or batch that ELENE-L sums over, with each distinct quadruplet numbered once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elene.forking import cached_property
from elene.nn.codes import distinct_rows, renumber_codes
from elene.nn.entries import Entries, check_tensor
from elene.nn.origin import Origin, read_shape, what_differs
from elene.transforms.schema import DEPTH, EDGES, INSIDE, NODES, QUADRUPLETS, ROOTED


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
        """The two ends of each undirected edge, the smaller first, and the places of its two arcs, that from
        the smaller end first.

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
        ends, directions = (edge_index.new_full((2, self.triples.num_columns), -1) for _ in range(2))
        ends[:, arcs[upward]] = edge_index[:, upward]
        for row, chosen in enumerate((upward, ~upward)):
            directions[row, arcs[chosen]] = chosen.nonzero().flatten()
        if self.origin is None and not _both_ways(edge_index, ends, directions):
            raise ValueError("edge_index does not fit the arcs of ego: each edge needs one arc in either direction")
        return ends, directions

    @cached_property
    def rooted_ends(self) -> EdgeEnds:
        """The ends of edges around a root; in the place of the distance ``l`` stands ``3 l + delta``, the edge's
        direction with it: ``delta`` is one more than by how much this end is farther than the other.
        """
        assert self.edge_quadruplets is not None
        ends = self.edge_quadruplets[: self.num_rooted].reshape(-1, 2, 4).clone()
        distance = ends[:, :, 0]
        ends[:, :, 0] = 4 * distance - distance.flip(1) + 1
        return EdgeEnds.of(ends)

    @cached_property
    def inside_ends(self) -> EdgeEnds:
        """The readings of a root inside intersections."""
        assert self.edge_quadruplets is not None
        return EdgeEnds.of(self.edge_quadruplets[self.num_rooted :].reshape(-1, 2, 4))

    @classmethod
    def of(cls, data: Any) -> Ego:
        """Read the lists that :class:`elene.transforms.EgoStructure` added to a ``Data`` or ``Batch``.

        Lists that were made from another ``edge_index`` than that of the data, or from other nodes, are refused.
        """
        shape, ordered = read_shape(data), "ego_edge" in data
        origin, k = Origin(shape, ordered), int(shape[0, DEPTH])
        if difference := what_differs(data, origin):
            raise ValueError(
                f"the ego-network lists of data were made from another graph: {difference}. Apply "
                f"elene.transforms.EgoStructure(k={k}{', level=' + repr('edge') if ordered else ''}) after everything "
                "that changes nodes or edges (subgraph, RandomLinkSplit, RemoveIsolatedNodes, sorting, ...)"
            )
        lists = data.ego_size, data.ego_node
        columns = shape[:, [NODES, NODES, QUADRUPLETS]]
        codes, quadruplets = renumber_codes(data.ego_code, lists, columns, data.ego_quadruplet)
        pairs = Entries(*lists, codes[:, None], origin.totals[NODES])
        if not ordered:
            return cls(k, pairs, quadruplets, origin=origin)
        lists = data.ego_triples, data.ego_edge
        columns = shape[:, [NODES, EDGES, ROOTED]]
        rooted, rooted_rows = renumber_codes(data.ego_rooted, lists, columns, data.ego_rooted_pair)
        columns = shape[:, [NODES, EDGES, INSIDE]]
        inside, inside_rows = renumber_codes(data.ego_inside, lists, columns, data.ego_inside_pair)
        triples = Entries(*lists, torch.stack([rooted, inside + len(rooted_rows)], dim=1), origin.totals[EDGES])
        rows = torch.cat([rooted_rows, inside_rows])
        return cls(k, pairs, quadruplets, triples, rows, len(rooted_rows), data.ego_arc.long(), origin)


class EdgeEnds(NamedTuple):
    """Pairs of quadruplets, taken apart: the distinct ones, which are much fewer, and the two of each pair.

    >>> EdgeEnds.of(torch.tensor([[[1, 1, 2, 0], [0, 0, 2, 2]], [[0, 0, 2, 2], [0, 0, 2, 2]]])).pairs.tolist()
    [[1, 0], [0, 0]]
    """

    quadruplets: Tensor
    pairs: Tensor

    @classmethod
    def of(cls, ends: Tensor) -> EdgeEnds:
        """From pairs of shape ``(pairs, 2, 4)``."""
        found = distinct_rows(ends.reshape(-1, 4).cpu().numpy())
        distinct, number = (torch.from_numpy(part).to(ends.device) for part in found)
        return cls(distinct, number.reshape(-1, 2))


class _Ends(NamedTuple):
    """The ends that were found for an ``edge_index``, which may have been written to since."""

    edge_index: Tensor
    version: int | None
    pair: tuple[Tensor, Tensor]

    def of(self, edge_index: Tensor, version: int | None) -> bool:
        return self.edge_index is edge_index and version is not None and self.version == version


def _both_ways(edge_index: Tensor, ends: Tensor, directions: Tensor) -> bool:
    """Whether every edge has found an arc in either direction."""
    return bool((directions >= 0).all()) and torch.equal(edge_index[:, directions[1]], ends.flip(0))


def _shallower(ego: Ego, k: int) -> Ego:
    """What is left at depth k: the farther neighbours of nodes at distance k are gone."""
    pairs, quadruplets = _cut(ego.pairs, ego.quadruplets, ego.pairs.codes[:, :1], k)
    if ego.triples is None:
        return Ego(k, pairs, quadruplets, origin=ego.origin)
    assert ego.edge_quadruplets is not None
    rooted = ego.edge_quadruplets[: ego.num_rooted]
    triples, rooted = _cut(ego.triples, rooted, ego.triples.codes[:, :1], k)
    return Ego(k, pairs, quadruplets, triples, rooted, len(rooted), ego.arcs, ego.origin)


def _smaller_first(rows: Tensor) -> Tensor:
    """Unordered pairs of quadruplets as lists have them, for what was the smaller one may be the larger one now."""
    first, second = rows[:, :4], rows[:, 4:]
    difference = first - second
    deciding = (difference != 0).int().argmax(1, keepdim=True)
    return torch.where(difference.gather(1, deciding) > 0, torch.cat([second, first], dim=1), rows)


def _cut(entries: Entries, rows: Tensor, codes: Tensor, k: int) -> tuple[Entries, Tensor]:
    """The entries whose quadruplets, one or two a row, are all within distance k, and their rows as they are there."""
    near = (rows[:, ::4] <= k).all(1)
    distance, closer, degree, farther = rows[near].reshape(-1, 4).unbind(1)
    gone = torch.where(distance == k, farther, 0)
    cut = torch.stack([distance, closer, degree - gone, farther - gone], dim=1).reshape(-1, rows.shape[1])
    cut = cut if rows.shape[1] == 4 else _smaller_first(cut)
    distinct, number = distinct_rows(cut.cpu().numpy())
    numbers = torch.zeros(len(rows), dtype=torch.int32, device=rows.device)
    numbers[near] = torch.from_numpy(number).to(rows.device)
    kept, found = near[codes[:, 0].long()], numbers[codes.long()]
    counts = torch.bincount(entries.rows[kept], minlength=len(entries.sizes)).to(entries.sizes.dtype)
    cut_entries = Entries(counts, entries.columns[kept], found[kept], entries.num_columns)
    return cut_entries, torch.from_numpy(distinct).to(rows.device)
