"""NGNN: a network for each rooted subgraph, nested in a pooling of the roots."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from elene.baselines.subgraphs import RootedGNN, Subgraphs, lists_at, pooled
from elene.nn.ego import Ego
from elene.validation import check_choice


class NGNN(nn.Module):
    r"""Nested GNN (Zhang and Li, NeurIPS 2021): a network runs on every k-hop subgraph, and its root gets the pool.

    With the states :math:`z(u|v)` of a :class:`RootedGNN`, which labels nodes by their distance to the root,

    .. math::
        x_v' = W \, \mathrm{pool}_{u \in V(v)} z(u|v) + b

    The whole base network goes inside, so one NGNN, with all its convs, is the one conv of a
    :class:`elene.nn.GNN`, whose readout is the outer pooling.

    Args:
        channels: width of node features.
        k: depth of the subgraphs; the same as in :class:`elene.transforms.EgoStructure`, with ``level="edge"``.
        convs: the base network: PyG convs mapping ``(copies, channels)`` to the same shape.
        pool: ``"mean"`` or ``"sum"``, within a subgraph.
        updates: for each conv what follows it; by default BatchNorm and ReLU.
        hop_dim: length of the embedding of a hop distance.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)``, edge_attr as the convs want it, ego: :class:`elene.nn.Ego`;
        gives ``(nodes, channels)``.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import GINConv
        >>> from elene.transforms import EgoStructure
        >>> path = EgoStructure(1, "edge")(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> conv = NGNN(8, k=1, convs=[GINConv(nn.Linear(8, 8)) for _ in range(3)])
        >>> conv(torch.randn(3, 8), path.edge_index, None, Ego.of(path)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        channels: int,
        k: int,
        convs: Sequence[nn.Module],
        pool: str = "mean",
        updates: Sequence[nn.Module] | None = None,
        hop_dim: int = 16,
    ) -> None:
        super().__init__()
        check_choice("pool", pool, ("mean", "sum"))
        self.inner, self.pool = RootedGNN(channels, k, convs, updates, hop_dim), pool
        self.out = nn.Linear(channels, channels)

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"k={self.inner.k}, pool={self.pool!r}"

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, ego: Ego) -> Tensor:
        """The roots' new features."""
        ego = lists_at(ego, self.inner.k, x)
        subgraphs = Subgraphs.of(ego, edge_index)
        state = self.inner(x, edge_attr, subgraphs)
        return self.out(pooled(state, subgraphs.root, subgraphs.sizes, self.pool))
