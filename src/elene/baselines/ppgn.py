"""PPGN: products of matrices of features of all pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from elene.spec import check_integer


@dataclass(frozen=True, eq=False)
class NodePairs:
    """All ordered pairs of nodes of each graph of a batch, one after another.

    Args:
        sizes: the number of nodes of each graph.
        graph: the graph of each pair.
        row: the first node of each pair, numbered within its graph.
        column: the second.

    Example:
        >>> pairs = NodePairs.of(torch.tensor([0, 0, 1]))
        >>> pairs.graph.tolist(), pairs.row.tolist(), pairs.column.tolist()
        ([0, 0, 0, 0, 1], [0, 0, 1, 1, 0], [0, 1, 0, 1, 0])
    """

    sizes: Tensor
    graph: Tensor
    row: Tensor
    column: Tensor

    @classmethod
    def of(cls, batch: Tensor) -> NodePairs:
        """The pairs of a batch, given each node's graph."""
        sizes = torch.bincount(batch)
        squares = sizes * sizes
        graph = torch.repeat_interleave(squares)
        within = torch.arange(len(graph), device=batch.device) - (squares.cumsum(0) - squares)[graph]
        return cls(sizes, graph, within // sizes[graph], within % sizes[graph])

    @cached_property
    def diagonal(self) -> Tensor:
        """Where each node's pair with itself stands."""
        return (self.row == self.column).nonzero().flatten()

    def places(self, edge_index: Tensor) -> Tensor:
        """Where the pair of each arc stands."""
        source, target = edge_index
        # A step along a row of a graph's matrix is a step in the list, so arcs stand beside their source's diagonal.
        return self.diagonal[source] + target - source

    def multiply(self, left: Tensor, right: Tensor) -> Tensor:
        """The product of each graph's two matrices, for each channel; ``(pairs, channels)`` in and out.

        >>> pairs = NodePairs.of(torch.tensor([0, 0]))
        >>> ones = torch.ones(4, 1)
        >>> pairs.multiply(ones, ones).flatten().tolist()
        [2.0, 2.0, 2.0, 2.0]
        """
        graphs, most = len(self.sizes), int(self.sizes.max()) if len(self.sizes) else 0
        place = (self.graph * most + self.row) * most + self.column

        def padded(values: Tensor) -> Tensor:
            dense = values.new_zeros(graphs * most * most, values.shape[1]).index_copy(0, place, values)
            return dense.reshape(graphs, most, most, values.shape[1]).permute(0, 3, 1, 2)

        product = padded(left) @ padded(right)
        return product.permute(0, 2, 3, 1).reshape(graphs * most * most, left.shape[1]).index_select(0, place)


class PPGNBlock(nn.Module):
    r"""A block of PPGN (Maron et al., NeurIPS 2019): two maps of pairs' features, multiplied as matrices, and a skip.

    .. math::
        X' = \mathrm{norm}\big(W [X \,\|\, m_1(X) \, m_2(X)] + b\big)

    with two-layer MLPs :math:`m_1, m_2` on each pair's features and one matrix product for each channel. The norm, a
    LayerNorm, is ours: values square with every block, and without it a few blocks overflow.

    Args:
        in_channels: width of the input.
        channels: width of the output.

    Shapes:
        x ``(pairs, in_channels)``, pairs: :class:`NodePairs`; gives ``(pairs, channels)``.

    Example:
        >>> pairs = NodePairs.of(torch.tensor([0, 0, 0, 1, 1]))
        >>> PPGNBlock(4, 8)(torch.randn(13, 4), pairs).shape
        torch.Size([13, 8])
    """

    def __init__(self, in_channels: int, channels: int) -> None:
        super().__init__()
        check_integer("in_channels", in_channels, 1), check_integer("channels", channels, 1)
        self.left, self.right = (
            nn.Sequential(nn.Linear(in_channels, channels), nn.ReLU(), nn.Linear(channels, channels)) for _ in range(2)
        )
        self.skip, self.norm = nn.Linear(in_channels + channels, channels), nn.LayerNorm(channels)

    def forward(self, x: Tensor, pairs: NodePairs) -> Tensor:
        """The pairs' new features."""
        product = pairs.multiply(self.left(x), self.right(x))
        return self.norm(self.skip(torch.cat([x, product], dim=1)))


class PPGN(nn.Module):
    r"""Provably powerful graph network (Maron et al., NeurIPS 2019): as strong as 2-FWL, cubic in the nodes of a graph.

    A graph is the matrix of features of all its pairs of nodes: off the diagonal 1 for an edge, beside the edge's
    features, and on it the nodes' features. Blocks multiply such matrices; the readout sums both parts of the last:

    .. math::
        \mathrm{out} = \mathrm{head}\Big( \sum_v X_{vv} \,\Big\|\, \sum_{u \ne v} X_{uv} \Big)

    Only the product pads graphs to the size of the largest; everything else works on the pairs there are.

    Args:
        encoder: embeds or projects ``data.x`` to ``(nodes, channels)``.
        blocks: :class:`PPGNBlock` modules; the first reads ``channels + 1``.
        head: maps ``(graphs, 2 channels)``, what the readout gives, to the output.
        edge_encoder: embeds ``data.edge_attr`` to ``(arcs, channels)``; None reads no edge features.

    Example:
        >>> from torch_geometric.data import Data
        >>> path = Data(x=torch.tensor([5, 6, 5]), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> model = PPGN(nn.Embedding(28, 8), [PPGNBlock(9, 8), PPGNBlock(8, 8)], nn.Linear(16, 1))
        >>> model(path).shape
        torch.Size([1, 1])
    """

    def __init__(
        self, encoder: nn.Module, blocks: Sequence[PPGNBlock], head: nn.Module, edge_encoder: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.encoder, self.head, self.edge_encoder = encoder, head, edge_encoder
        self.blocks = nn.ModuleList(blocks)

    def forward(self, data: Any) -> Tensor:
        """The output for a ``Data`` or ``Batch``, which is left as it was."""
        batch = data.batch if getattr(data, "batch", None) is not None else data.edge_index.new_zeros(data.num_nodes)
        pairs = NodePairs.of(batch)
        x = self._matrices(data, pairs)
        for block in self.blocks:
            x = block(x, pairs)
        graphs = len(pairs.sizes)
        diagonal = global_add_pool(x.index_select(0, pairs.diagonal), batch, graphs)
        return self.head(torch.cat([diagonal, global_add_pool(x, pairs.graph, graphs) - diagonal], dim=1))

    def _matrices(self, data: Any, pairs: NodePairs) -> Tensor:
        """What the first block reads: ``(pairs, channels + 1)``."""
        nodes, arcs = self.encoder(data.x), pairs.places(data.edge_index)
        features = nodes.new_zeros(len(pairs.graph), nodes.shape[1]).index_copy(0, pairs.diagonal, nodes)
        if self.edge_encoder is not None:
            features = features.index_copy(0, arcs, self.edge_encoder(data.edge_attr).to(nodes.dtype))
        adjacency = nodes.new_zeros(len(features), 1).index_fill(0, arcs, 1.0)
        return torch.cat([features, adjacency], dim=1)
