"""Graphormer: attention within a graph, biased by distance, and degrees as input."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch_geometric.utils import degree

from elene.baselines.subgraphs import hops, lists_at
from elene.nn.ego import Ego
from elene.validation import check_integer, check_share


class Centrality(nn.Module):
    """Graphormer's degree encoding: an embedding of each node's degree, to be added to its features.

    A conv like others: put it first, and let :class:`elene.nn.GNN` add what it gives, with ``nn.Identity()`` as update.

    Args:
        channels: width of node features.
        max_degree: the largest degree with a row of its own; larger ones share it.

    Example:
        >>> Centrality(8, max_degree=4)(torch.randn(3, 8), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
        torch.Size([3, 8])
    """

    def __init__(self, channels: int, max_degree: int) -> None:
        super().__init__()
        rows, width = check_integer("max_degree", max_degree) + 1, check_integer("channels", channels, 1)
        self.embedding = nn.Embedding(rows, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """The embedding of every node's degree."""
        found = degree(edge_index[1], len(x), dtype=torch.long)
        return self.embedding(found.clamp(max=self.embedding.num_embeddings - 1))


class Graphormer(nn.Module):
    r"""A transformer layer whose attention is biased by hop distance (Graphormer; Ying et al., NeurIPS 2021).

    Every head attends from each node :math:`v` to all nodes :math:`u` of its graph,

    .. math::
        a(v, u) = \mathrm{softmax}_u \Big( \frac{(W_q y_v) \cdot (W_k y_u)}{\sqrt{d}} + b_{l(v,u)} \Big), \qquad
        y = \mathrm{norm}(x),

    with a learned :math:`b` for each distance up to k, and one for all nodes farther away or out of reach. Each head
    also attends to a virtual node, here a learned key and value without a state of its own: where all nodes look alike,
    only the weight that it leaves to the others tells how many there are at each distance.

    The layer gives the sum of its two residual branches, attention and then a feed-forward network, each after a
    LayerNorm: used as a conv of :class:`elene.nn.GNN` with ``nn.Identity()`` as update, the residual connection there
    completes it. Put a :class:`Centrality` before the first. The original's encoding of edge features along shortest
    paths is left out.

    Args:
        channels: width of node features.
        k: the largest distance with a bias of its own; the same as in :class:`elene.transforms.EgoStructure`.
        heads: how many heads share the channels.
        ffn: width of the feed-forward network; by default the channels.
        dropout: probability of dropping attention weights and outputs of both branches.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)`` (not read: the distances tell), ego: :class:`elene.nn.Ego`,
        batch ``(nodes,)``, or None for one graph; gives ``(nodes, channels)``.

    Example:
        >>> from torch_geometric.data import Data
        >>> from elene.nn import GNN
        >>> from elene.transforms import EgoStructure
        >>> path = Data(x=torch.randn(3, 8), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> convs = [Centrality(8, max_degree=4), Graphormer(8, k=5, heads=2), Graphormer(8, k=5, heads=2)]
        >>> model = GNN(nn.Identity(), convs, [nn.Identity()] * 3, nn.Linear(8, 1))
        >>> model(EgoStructure(k=5)(path)).shape
        torch.Size([1, 1])
    """

    def __init__(self, channels: int, k: int, heads: int = 8, ffn: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if check_integer("channels", channels, 1) % check_integer("heads", heads, 1):
            raise ValueError(f"heads must divide the {channels} channels, got {heads}")
        self.k, self.heads = check_integer("k", k), heads
        wide = channels if ffn is None else check_integer("ffn", ffn, 1)
        self.bias = nn.Embedding(self.k + 2, heads)
        self.attention_norm, self.ffn_norm = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.virtual = nn.Parameter(torch.randn(2, heads, 1, channels // heads))
        self.project, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.ffn = nn.Sequential(nn.Linear(channels, wide), nn.GELU(), nn.Linear(wide, channels))
        self.dropout = nn.Dropout(check_share("dropout", dropout))

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"k={self.k}, heads={self.heads}"

    def forward(self, x: Tensor, edge_index: Tensor, ego: Ego, batch: Tensor | None = None) -> Tensor:
        """What is to be added to the nodes' features."""
        ego = lists_at(ego, self.k, x)
        if not len(x):
            return x
        attended = self.dropout(self.out(self._attend(self.attention_norm(x), _dense(ego, batch))))
        return attended + self.dropout(self.ffn(self.ffn_norm(x + attended)))

    def _attend(self, x: Tensor, dense: _Dense) -> Tensor:
        graphs, most = dense.distance.shape[:2]
        projected = self.project(x)
        padded = projected.new_zeros(graphs * most, projected.shape[1]).index_copy(0, dense.place, projected)
        query, key, value = padded.reshape(graphs, most, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        key, value = (
            torch.cat([one, virtual.to(one.dtype).expand(graphs, -1, -1, -1)], dim=2)
            for one, virtual in zip((key, value), self.virtual, strict=True)
        )
        bias = self.bias(dense.distance).permute(0, 3, 1, 2).to(query.dtype)
        bias = bias.masked_fill(dense.padding[:, None, None, :], float("-inf"))
        bias = nn.functional.pad(bias, (0, 1))
        rate = self.dropout.p if self.training else 0.0
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, bias, rate)
        return mixed.transpose(1, 2).reshape(graphs * most, -1).index_select(0, dense.place)


@dataclass(frozen=True, eq=False)
class _Dense:
    """Graphs side by side, padded to the largest: each node's place, all distances, and which places are empty."""

    place: Tensor
    distance: Tensor
    padding: Tensor


_KEPT: WeakKeyDictionary[Ego, _Dense] = WeakKeyDictionary()


def _dense(ego: Ego, batch: Tensor | None) -> _Dense:
    """The dense distances of an Ego, kept for the next layer."""
    if ego not in _KEPT:
        nodes, device = len(ego.pairs.sizes), ego.pairs.columns.device
        batch = torch.zeros(nodes, dtype=torch.long, device=device) if batch is None else batch
        sizes = torch.bincount(batch)
        graphs, most = len(sizes), int(sizes.max())
        local = torch.arange(nodes, device=device) - (sizes.cumsum(0) - sizes)[batch]
        place = batch * most + local
        distance = torch.full((graphs * most, most), ego.k + 1, device=device)
        distance[place[ego.pairs.rows], local[ego.pairs.columns.long()]] = hops(ego)
        padding = torch.arange(most, device=device) >= sizes[:, None]
        _KEPT[ego] = _Dense(place, distance.reshape(graphs, most, most), padding)
    return _KEPT[ego]
