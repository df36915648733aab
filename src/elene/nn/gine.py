"""GINE: PyG's conv, fused where edges are of few kinds, so that no message is stored."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.nn import GINEConv

from elene.forking import cached_property
from elene.nn.entries import Entries
from elene.nn.functional import ego_reduce


class EdgeKinds(NamedTuple):
    """Features of arcs that come in few kinds: a row of a table for each kind, and the kind of each arc.

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
        """A row for each arc."""
        return self.table.index_select(0, self.kinds)

    def index_select(self, dim: int, places: Tensor) -> EdgeKinds:
        """Those of some arcs, as of a tensor."""
        return EdgeKinds(self.table, self.kinds.index_select(dim, places))


class Arcs:
    """The arcs of a graph grouped by target, once for all layers.

    Args:
        edge_index: the arcs, ``(2, arcs)``.
        num_nodes: how many nodes there are.

    Example:
        >>> entries = Arcs(torch.tensor([[0, 1, 2], [1, 0, 1]]), 3).entries(torch.tensor([5, 6, 7]))
        >>> entries.sizes.tolist(), entries.columns.tolist(), entries.codes.flatten().tolist()
        ([1, 2, 0], [1, 0, 2], [6, 5, 7])
    """

    def __init__(self, edge_index: Tensor, num_nodes: int) -> None:
        self.edge_index, self.num_nodes = edge_index, num_nodes
        self._latest: tuple[Tensor, Entries] | None = None

    @cached_property
    def order(self) -> Tensor:
        """The places of the arcs, by target."""
        return self.edge_index[1].argsort(stable=True)

    def entries(self, kinds: Tensor) -> Entries:
        """The list of messages: the source of each and its kind, grouped by target."""
        if self._latest is None or not torch.equal(self._latest[0], kinds):
            sizes = torch.bincount(self.edge_index[1], minlength=self.num_nodes)
            sources, codes = (values[self.order].to(torch.int32) for values in (self.edge_index[0], kinds))
            self._latest = kinds, Entries(sizes, sources, codes[:, None], self.num_nodes)
        return self._latest[1]


class GINE(GINEConv):  # type: ignore[misc]
    r"""PyG's ``GINEConv``, which takes edge features as :class:`EdgeKinds`, too, and then stores no message.

    .. math::
        x_v' = \mathrm{nn}((1 + \epsilon) x_v + \sum_{u \in N(v)} \mathrm{relu}(x_u + e_{uv}))

    Where edges have features of their own, a row for each arc, it is ``GINEConv`` itself; where there are a few kinds
    of edges, as of bonds, or only one, messages go through :func:`elene.nn.functional.ego_reduce`.

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
        summed, _ = ego_reduce(torch.zeros_like(x), x, edge_attr.table, arcs.entries(edge_attr.kinds), "sum")
        updated = self.nn((1 + self.eps) * x + summed)
        return updated
