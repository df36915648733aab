"""GINE: PyG's conv, fused where arcs share their features, so that no message is stored."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding
from torch_geometric.nn import GINEConv

from elene.forking import cached_property
from elene.nn.entries import Entries
from elene.nn.functional import ego_reduce


class EdgeKinds(NamedTuple):
    """Features that arcs share: a row of a table for each kind, as of bonds or of edges, and the kind of each arc.

    Args:
        table: the features of each kind, ``(kinds, channels)``.
        kinds: the kind of each arc, ``(arcs,)``.

    Example:
        >>> EdgeKinds(torch.tensor([[0.5], [2.0]]), torch.tensor([1, 0, 1])).dense()
        tensor([[2.0000],
                [0.5000],
                [2.0000]])
    """

    table: Tensor
    kinds: Tensor

    def dense(self) -> Tensor:
        """A row for each arc; of a single one no copies are made."""
        alone = len(self.table) == 1 and not self.kinds.any()
        return self.table.expand(len(self.kinds), -1) if alone else embedding(self.kinds, self.table)

    @property
    def shape(self) -> tuple[int, int]:
        """That of the rows of all arcs."""
        return len(self.kinds), self.table.shape[1]

    def index_select(self, dim: int, places: Tensor) -> EdgeKinds:
        """Those of some arcs, as of a tensor."""
        return EdgeKinds(self.table, self.kinds.index_select(dim, places))

    def of_edges(self, directions: Tensor) -> EdgeKinds | None:
        """A kind for each undirected edge, given the places of its two arcs; None unless both are of the same.

        >>> EdgeKinds(torch.eye(2), torch.tensor([1, 0, 0, 1])).of_edges(torch.tensor([[0, 1], [3, 2]])).kinds
        tensor([1, 0])
        """
        one, other = self.kinds[directions]
        return EdgeKinds(self.table, one) if torch.equal(one, other) else None


class Arcs:
    """The arcs of a graph grouped by target, once for all layers.

    Args:
        edge_index: the arcs, ``(2, arcs)``.
        num_nodes: how many nodes there are.

    Example:
        >>> arcs = Arcs(torch.tensor([[0, 1, 2], [1, 0, 1]]), 3)
        >>> _, _, entries = arcs.messages(torch.zeros(3, 1), EdgeKinds(torch.zeros(2, 1), torch.tensor([0, 1, 1])))
        >>> entries.sizes.tolist(), entries.columns.tolist(), entries.codes.flatten().tolist()
        ([1, 2, 0], [1, 0, 2], [1, 0, 1])
    """

    def __init__(self, edge_index: Tensor, num_nodes: int) -> None:
        self.edge_index, self.num_nodes = edge_index, num_nodes
        self._latest: tuple[Tensor, bool, Entries] | None = None

    @cached_property
    def order(self) -> Tensor:
        """The places of the arcs, by target."""
        return self.edge_index[1].argsort(stable=True)

    def messages(self, x: Tensor, edges: EdgeKinds) -> tuple[Tensor, Tensor, Entries]:
        """The list of messages, grouped by target, and what they are the sums of: columns and a table.

        Whichever of nodes and kinds are more are the columns, since in backward there may be several tables.
        """
        swapped = len(edges.table) > len(x)
        if self._latest is None or self._latest[1] != swapped or not torch.equal(self._latest[0], edges.kinds):
            sizes = torch.bincount(self.edge_index[1], minlength=self.num_nodes)
            sources, kinds = (values[self.order].to(torch.int32) for values in (self.edge_index[0], edges.kinds))
            columns, codes, count = (kinds, sources, len(edges.table)) if swapped else (sources, kinds, self.num_nodes)
            self._latest = edges.kinds, swapped, Entries(sizes, columns, codes[:, None], count)
        columns, table = (edges.table, x) if swapped else (x, edges.table)
        return columns, table, self._latest[2]


class GINE(GINEConv):  # type: ignore[misc]
    r"""PyG's ``GINEConv``, which takes edge features as :class:`EdgeKinds`, too, and then stores no message.

    .. math::
        x_v' = \mathrm{nn}((1 + \epsilon) x_v + \sum_{u \in N(v)} \mathrm{relu}(x_u + e_{uv}))

    Where arcs have features of their own, a row for each, it is ``GINEConv`` itself; where they share them, being of a
    few kinds, as bonds are, or two of each edge, messages go through :func:`elene.nn.functional.ego_reduce`.

    Args:
        nn: maps the sum to the output, such as an MLP.
        eps: the initial value of epsilon.
        train_eps: whether epsilon is learned.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)``, edge_attr ``(arcs, channels)`` or :class:`EdgeKinds`; gives
        what ``nn`` makes of ``(nodes, channels)``.

    Example:
        >>> conv = GINE(torch.nn.Identity())
        >>> bonds = EdgeKinds(torch.tensor([[0.5], [-9.0]]), torch.tensor([0, 0, 1, 1]))
        >>> conv(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), bonds).tolist()
        [[3.5], [3.5], [3.0]]
    """

    def forward(self, x: Any, edge_index: Any, edge_attr: Any = None, arcs: Arcs | None = None) -> Tensor:
        """The nodes' new features; ``arcs`` are those of ``edge_index``, where they are at hand."""
        if not isinstance(edge_attr, EdgeKinds):
            updated: Tensor = super().forward(x, edge_index, edge_attr)
            return updated
        if len(edge_attr.kinds) != edge_index.shape[1]:
            raise ValueError(
                f"edge_attr must have a kind for each of the {edge_index.shape[1]} arcs, got {len(edge_attr.kinds)}"
            )
        arcs = Arcs(edge_index, len(x)) if arcs is None else arcs
        summed, _ = ego_reduce(torch.zeros_like(x), *arcs.messages(x, edge_attr), "sum")
        updated = self.nn((1 + self.eps) * x + summed)
        return updated
