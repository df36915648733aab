"""SPNN: nodes read the nodes at each distance; and the ELENE-L that does the same."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from elene.baselines.subgraphs import hops, lists_at, sums_by_hop
from elene.nn.ego import Ego
from elene.nn.embedding import EgoEmbedding
from elene.nn.layer import ELENE, Update
from elene.validation import check_integer


class SPNN(nn.Module):
    r"""Shortest-path network (Abboud et al., LoG 2022): one weight for all nodes at a distance.

    .. math::
        x_v' = \mathrm{mlp}\Big((1 + \epsilon) x_v + \sum_{i=1}^{k} \alpha_i \sum_{u : l(u,v) = i} x_u\Big)

    The weights :math:`\alpha` are positive and sum to 1 (a softmax), as its authors have it.

    Args:
        mlp: what follows the sum; maps ``(nodes, channels)`` to the same shape.
        k: the largest distance; the same as in :class:`elene.transforms.EgoStructure`.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)`` (not read: the distances tell), ego: :class:`elene.nn.Ego`;
        gives ``(nodes, channels)``.

    Example:
        >>> from torch_geometric.data import Data
        >>> from elene.transforms import EgoStructure
        >>> path = EgoStructure(2)(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> conv = SPNN(nn.Identity(), k=2)
        >>> conv(torch.tensor([[1.0], [10.0], [100.0]]), path.edge_index, Ego.of(path)).tolist()
        [[56.0], [60.5], [105.5]]
    """

    def __init__(self, mlp: nn.Module, k: int) -> None:
        super().__init__()
        self.k, self.mlp = check_integer("k", k, 1), mlp
        self.eps = nn.Parameter(torch.zeros(()))
        self.logits = nn.Parameter(torch.zeros(self.k))

    @property
    def alpha(self) -> Tensor:
        """The weights of distances 1 to k."""
        return self.logits.softmax(0)

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"k={self.k}"

    def forward(self, x: Tensor, edge_index: Tensor, ego: Ego) -> Tensor:
        """The nodes' new features."""
        ego = lists_at(ego, self.k, x)
        members = x.index_select(0, ego.pairs.columns.long())
        sums = sums_by_hop(members, ego.pairs.rows, hops(ego), (len(x), self.k + 1))
        weights = torch.cat([1 + self.eps[None], self.alpha])
        return self.mlp((sums * weights[:, None]).sum(1))

    def as_elene(self, channels: int, bound: float) -> ELENE:
        """An ELENE-L (ND) that gives what this layer gives ``mlp``, as long as no feature is larger than ``bound``.

        Every distance has hidden units of its own, which pass features at that distance, split into their positive and
        negative parts; at any other distance a bias of ``-bound`` shuts them.

        >>> layer = SPNN(nn.Identity(), k=3).as_elene(channels=8, bound=100.0)
        >>> layer.level, layer.pool, layer.hidden, layer.embedding.max_degree
        ('node', 'sum', 64, 0)
        """
        distances = self.k + 1
        hidden = 2 * channels * distances
        embedding = EgoEmbedding(self.k, max_degree=0, dim=distances)
        layer = ELENE(channels, self.k, hidden=hidden, pool="sum", embedding=embedding)
        layer.node_update = update = Update([channels, hidden], channels, activation=nn.Identity())
        layer.to(self.eps)
        [table] = layer.embedding.node.tables
        assert isinstance(table, nn.Embedding) and isinstance(update.parts[1], nn.Linear)
        signs = torch.cat([torch.eye(channels), -torch.eye(channels)]).to(self.eps).repeat(distances, 1)
        units = torch.eye(distances).to(self.eps).repeat_interleave(2 * channels, dim=1)
        weights = torch.cat([self.eps[None], self.alpha]).repeat_interleave(2 * channels)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.zero_()
            layer.node_gates.reset_parameters()
            table.weight[:distances] = torch.eye(distances)
            layer.quadruplet_in.weight[:, :distances] = bound * (units.T - 1)
            layer.member_in.weight.copy_(signs)
            update.parts[1].weight.copy_((weights[:, None] * signs).T)
        return layer
