"""GNN-AK and GNN-AK+: a network as the kernel of a network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elene.baselines.subgraphs import RootedGNN, Subgraphs, lists_at, pooled, sums_by_hop
from elene.nn.ego import Ego
from elene.validation import check_choice, check_integer, check_list

AK = ("centroid", "subgraph")
AK_PLUS = (*AK, "context")


class GNNAK(nn.Module):
    r"""GNN-AK (Zhao et al., ICLR 2022) and, with a context, GNN-AK+.

    A :class:`RootedGNN` gives every copy of a node in a k-hop subgraph a state :math:`z(u|v)`. A node then reads its
    own subgraph (centroid and subgraph encoding) and, in AK+, all subgraphs it lies in (context encoding), where
    gates :math:`g, h` learned for each hop distance weigh the copies, mapped by a layer of their own each, as released:

    .. math::
        x_v' = W \Big[ z(v|v) \,\Big\|\, \mathrm{pool}_{u \in V(v)} g_{l(u,v)} \odot s(z(u|v)) \,\Big\|\,
        \mathrm{pool}_{w : v \in V(w)} h_{l(v,w)} \odot c(z(v|w)) \Big] + b, \qquad
        g_l = \sigma(W_g \mathrm{Emb}(l) + b_g)

    with s, c a product, a BatchNorm and a relu. Without context, :math:`g = 1` and the third part is left out. A gate
    on the centroid would be one constant, which W holds.

    With ``cover``, each training step runs on the subgraphs of random roots, enough for every node to lie in so many
    of them; a node that is no root takes its centroid and subgraph encodings from the subgraph of the nearest root.
    In evaluation all roots are used. Gates and weights see means of fewer copies then, so pool by ``"mean"``.

    Args:
        channels: width of node features.
        k: depth of the subgraphs; the same as in :class:`elene.transforms.EgoStructure`, with ``level="edge"``.
        convs: the inner network, one or two PyG convs mapping ``(copies, channels)`` to the same shape.
        parts: what a node reads, of ``"centroid"``, ``"subgraph"`` and, for AK+, ``"context"``.
        pool: ``"mean"`` or ``"sum"``.
        updates: for each inner conv what follows it; by default BatchNorm and ReLU.
        fuse: whether the parts are put side by side and mapped by W, ``"concat"``, or added up, ``"add"``.
        cover: how many sampled subgraphs must hold each node in training; None takes the subgraphs of all nodes.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)``, edge_attr as the convs want it, ego: :class:`elene.nn.Ego`;
        gives ``(nodes, channels)``.

    Example:
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import GINConv
        >>> from elene.transforms import EgoStructure
        >>> path = EgoStructure(1, "edge")(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> conv = GNNAK(8, k=1, convs=[GINConv(nn.Linear(8, 8))], parts=AK_PLUS)
        >>> conv(torch.randn(3, 8), path.edge_index, None, Ego.of(path)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        channels: int,
        k: int,
        convs: Sequence[nn.Module],
        parts: Sequence[str] = AK,
        pool: str = "mean",
        updates: Sequence[nn.Module] | None = None,
        fuse: str = "concat",
        cover: int | None = None,
    ) -> None:
        super().__init__()
        for part in check_list("parts", parts, "parts of the sum"):
            check_choice("parts", part, AK_PLUS)
        check_choice("pool", pool, ("mean", "sum"))
        check_choice("fuse", fuse, ("concat", "add"))
        self.inner = RootedGNN(channels, k, convs, updates)
        self.parts, self.pool = tuple(part for part in AK_PLUS if part in parts), pool
        self.cover = None if cover is None else check_integer("cover", cover, 1)
        pooled = [part for part in self.parts if part != "centroid"]
        self.maps = nn.ModuleDict({part: _map(channels) for part in pooled})
        gated = pooled if "context" in pooled else []
        self.gates = nn.ModuleDict({part: nn.Linear(self.inner.hops.embedding_dim, channels) for part in gated})
        self.fuse = nn.Linear(len(self.parts) * channels, channels) if fuse == "concat" else None

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"k={self.inner.k}, parts={self.parts}, pool={self.pool!r}, cover={self.cover}"

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, ego: Ego) -> Tensor:
        """The nodes' new features."""
        ego = lists_at(ego, self.inner.k, x)
        subgraphs = Subgraphs.of(ego, edge_index)
        if self.cover is not None and self.training:
            subgraphs = subgraphs.sample(self.cover)
        state = self.inner(x, edge_attr, subgraphs)
        read = [self._read(part, state, subgraphs) for part in self.parts]
        return sum(read[1:], start=read[0]) if self.fuse is None else self.fuse(torch.cat(read, dim=1))

    def _read(self, part: str, state: Tensor, subgraphs: Subgraphs) -> Tensor:
        """What a part says of every node."""
        if part == "centroid":
            return state.index_select(0, subgraphs.anchor)
        mapped = self.maps[part](state)
        if part == "context":
            return self._pooled(part, mapped, subgraphs.node, subgraphs.hop, subgraphs.copies)
        of_root = self._pooled(part, mapped, subgraphs.root, subgraphs.hop, subgraphs.sizes)
        return of_root.index_select(0, subgraphs.root[subgraphs.anchor])

    def _pooled(self, part: str, state: Tensor, groups: Tensor, hop: Tensor, sizes: Tensor) -> Tensor:
        """The pooled states of each group; one gate for all copies at a hop, so it is applied to their sum."""
        if part not in self.gates:
            return pooled(state, groups, sizes, self.pool)
        sums = sums_by_hop(state, groups, hop, (len(sizes), self.inner.k + 1))
        total = (sums * torch.sigmoid(self.gates[part](self.inner.hops.weight))).sum(1)
        return total / sizes.clamp(min=1)[:, None] if self.pool == "mean" else total


def _map(channels: int) -> nn.Module:
    """What copies go through before they are pooled."""
    return nn.Sequential(nn.Linear(channels, channels, bias=False), nn.BatchNorm1d(channels), nn.ReLU())
