"""PPGN: products of matrices of features of all pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from elene.validation import check_integer


@dataclass(frozen=True, eq=False)
class NodePairs:
    """All ordered pairs of nodes of each graph of a batch: one matrix after another, small graphs first.

    Args:
        graph: the graph of each pair.
        diagonal: for each node the place of its pair with itself.
        shapes: how many graphs there are of each size, as (graphs, nodes).

    Example:
        >>> pairs = NodePairs.of(torch.tensor([0, 0, 1]))
        >>> pairs.graph.tolist(), pairs.diagonal.tolist(), pairs.shapes
        ([1, 0, 0, 0, 0], [1, 4, 0], [(1, 1), (1, 2)])
    """

    graph: Tensor
    diagonal: Tensor
    shapes: list[tuple[int, int]]

    @classmethod
    def of(cls, batch: Tensor) -> NodePairs:
        """The pairs of a batch, given each node's graph."""
        sizes = torch.bincount(batch)
        order = sizes.argsort(stable=True)
        squares = (sizes * sizes)[order]
        start = torch.empty_like(sizes)
        start[order] = squares.cumsum(0) - squares
        local = torch.arange(len(batch), device=batch.device) - (sizes.cumsum(0) - sizes)[batch]
        distinct, counts = sizes.unique(return_counts=True)
        shapes = list(zip(counts.tolist(), distinct.tolist(), strict=True))
        return cls(order.repeat_interleave(squares), start[batch] + local * (sizes[batch] + 1), shapes)

    def places(self, edge_index: Tensor) -> Tensor:
        """Where the pair of each arc stands: in the row of its source, as far from the diagonal as its ends differ."""
        source, target = edge_index
        return self.diagonal[source] + target - source

    def multiply(self, left: Tensor, right: Tensor) -> Tensor:
        """The product of each graph's two matrices, for each channel; ``(pairs, channels)`` in and out.

        >>> pairs = NodePairs.of(torch.tensor([0, 0]))
        >>> ones = torch.ones(4, 1)
        >>> pairs.multiply(ones, ones).flatten().tolist()
        [2.0, 2.0, 2.0, 2.0]
        """
        channels, products = left.shape[1], [left[:0]]
        parts = [graphs * nodes * nodes for graphs, nodes in self.shapes]
        # Graphs of one size at a time, since work on padding grows with the cube of the largest.
        for shape, *sides in zip(self.shapes, left.split(parts), right.split(parts), strict=True):
            graphs, nodes = shape
            first, second = (side.reshape(graphs, nodes, nodes, channels).permute(0, 3, 1, 2) for side in sides)
            products.append((first @ second).permute(0, 2, 3, 1).reshape(-1, channels))
        return torch.cat(products)


class PPGNBlock(nn.Module):
    r"""A block of PPGN (Maron et al., NeurIPS 2019): two maps of pairs' features, multiplied as matrices, and a skip.

    .. math::
        X' = \mathrm{norm}\big(W [X \,\|\, m_1(X) \, m_2(X)] + b\big)

    with two-layer MLPs :math:`m_1, m_2` on each pair's features and one matrix product for each channel. The norm, a
    LayerNorm, is ours: it holds the scale of values, which every product squares.

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
        # The skip map of the concatenation, which would be as large as both parts again.
        of_x, of_product = self.skip.weight.split([x.shape[1], product.shape[1]], dim=1)
        mapped = nn.functional.linear(x, of_x) + nn.functional.linear(product, of_product, self.skip.bias)
        return self.norm(mapped)


class PPGN(nn.Module):
    r"""Provably powerful graph network (Maron et al., NeurIPS 2019): as strong as 2-FWL, cubic in the nodes of a graph.

    A graph is the matrix of features of all its pairs of nodes: off the diagonal 1 for an edge, beside the edge's
    features, and on it the nodes' features. Blocks multiply such matrices; the readout sums both parts of the last:

    .. math::
        \mathrm{out} = \mathrm{head}\Big( \sum_v X_{vv} \,\Big\|\, \sum_{u \ne v} X_{uv} \Big)

    Graphs of one size are multiplied together; nothing is padded.

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
        graphs = sum(count for count, _ in pairs.shapes)
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
