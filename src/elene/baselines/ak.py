"""GNN-AK and GNN-AK+: a network as the kernel of a network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elene.baselines.subgraphs import RootedGNN, Subgraphs, check_ego, pooled, sums_by_hop
from elene.nn.ego import Ego
from elene.validation import check_choice, check_integer


class GNNAK(nn.Module):
    r"""GNN-AK (Zhao et al., ICLR 2022) and, with ``context=True``, GNN-AK+.

    A :class:`RootedGNN` gives every copy of a node in a k-hop subgraph a state :math:`z(u|v)`. A node then reads its
    own subgraph (centroid and subgraph encoding) and, in AK+, all subgraphs it lies in (context encoding), where
    gates :math:`g, h` learned for each hop distance weigh the copies:

    .. math::
        x_v' = W \Big[ z(v|v) \,\Big\|\, \mathrm{pool}_{u \in V(v)} g_{l(u,v)} \odot z(u|v) \,\Big\|\,
        \mathrm{pool}_{w : v \in V(w)} h_{l(v,w)} \odot z(v|w) \Big] + b, \qquad
        g_l = \sigma(W_g \mathrm{Emb}(l) + b_g)

    Without context, :math:`g = 1` and the third part is left out. A gate on the centroid would be one constant, which
    W holds. These are the paper's equations; its code also maps the copies once more before it pools them.

    With ``cover``, each training step runs on the subgraphs of random roots, enough for every node to lie in so many
    of them; a node that is no root takes its centroid and subgraph encodings from the subgraph of the nearest root.
    In evaluation all roots are used. Gates and weights see means of fewer copies then, so pool by ``"mean"``.

    Args:
        channels: width of node features.
        k: depth of the subgraphs; the same as in :class:`elene.transforms.EgoStructure`, with ``level="edge"``.
        convs: the inner network, one or two PyG convs mapping ``(copies, channels)`` to the same shape.
        context: whether to add context encodings and gates: AK+.
        pool: ``"mean"`` or ``"sum"``.
        updates: for each inner conv what follows it; by default BatchNorm and ReLU.
        hop_dim: length of the embedding of a hop distance.
        cover: how many sampled subgraphs must hold each node in training; None takes the subgraphs of all nodes.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)``, edge_attr as the convs want it, ego: :class:`elene.nn.Ego`;
        gives ``(nodes, channels)``.

    Example:
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import GINConv
        >>> from elene.transforms import EgoStructure
        >>> path = EgoStructure(1, "edge")(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> conv = GNNAK(8, k=1, convs=[GINConv(nn.Linear(8, 8))], context=True)
        >>> conv(torch.randn(3, 8), path.edge_index, None, Ego.of(path)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        channels: int,
        k: int,
        convs: Sequence[nn.Module],
        context: bool = False,
        pool: str = "mean",
        updates: Sequence[nn.Module] | None = None,
        hop_dim: int = 16,
        cover: int | None = None,
    ) -> None:
        super().__init__()
        check_choice("pool", pool, ("mean", "sum"))
        self.inner = RootedGNN(channels, k, convs, updates, hop_dim)
        self.context, self.pool = context, pool
        self.cover = None if cover is None else check_integer("cover", cover, 1)
        self.gates = nn.ModuleList(nn.Linear(hop_dim, channels) for _ in range(2 if context else 0))
        self.fuse = nn.Linear((3 if context else 2) * channels, channels)

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"k={self.inner.k}, context={self.context}, pool={self.pool!r}, cover={self.cover}"

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, ego: Ego) -> Tensor:
        """The nodes' new features."""
        check_ego(ego, self.inner.k, x)
        subgraphs = Subgraphs.of(ego, edge_index)
        if self.cover is not None and self.training:
            subgraphs = subgraphs.sample(self.cover)
        state = self.inner(x, edge_attr, subgraphs)
        parts = [state.index_select(0, subgraphs.anchor)]
        if self.context:
            of_root = self._gated(state, subgraphs.root, subgraphs.hop, subgraphs.sizes, self.gates[0])
            of_node = self._gated(state, subgraphs.node, subgraphs.hop, subgraphs.copies, self.gates[1])
            parts += [of_root.index_select(0, subgraphs.root[subgraphs.anchor]), of_node]
        else:
            of_root = pooled(state, subgraphs.root, subgraphs.sizes, self.pool)
            parts.append(of_root.index_select(0, subgraphs.root[subgraphs.anchor]))
        return self.fuse(torch.cat(parts, dim=1))

    def _gated(self, state: Tensor, groups: Tensor, hop: Tensor, sizes: Tensor, gate: nn.Module) -> Tensor:
        """The pooled states of each group; one gate for all copies at a hop, so it is applied to their sum."""
        sums = sums_by_hop(state, groups, hop, (len(sizes), self.inner.k + 1))
        total = (sums * torch.sigmoid(gate(self.inner.hops.weight))).sum(1)
        return total / sizes.clamp(min=1)[:, None] if self.pool == "mean" else total
