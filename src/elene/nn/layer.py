"""ELENE: the learnable layer ELENE-L, node- and edge-centric."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from elene.nn.ego import Ego
from elene.nn.embedding import EgoEmbedding
from elene.nn.functional import ego_reduce, fold_arcs, product_linear, spread_edges
from elene.validation import check_choice, check_integer


class ELENE(nn.Module):
    r"""ELENE-L: every node reads its ego-network, and every edge the ego-networks it lies in.

    Node-centric (``level="node"``), with quadruplets :math:`q(u|v)` and learnable tables Emb:

    .. math::
        \phi(u|v) = \mathrm{relu}(W_v x_v + W_u x_u + W_q \mathrm{Emb}(q(u|v)) + b), \qquad
        x_v' = x_v + \gamma \, W \, \mathrm{pool}_{u \in V(v)} \phi(u|v)

    Edge-centric (``level="edge"``) adds, for every edge in the ego-network,

    .. math::
        \phi(u,w|v) = \mathrm{relu}(W_v' x_v + W_e [x_{uw} \,\|\, x_u \odot x_w] + W_q' \mathrm{Emb}(q(u|v), q(w|v))
        + W_i \mathrm{Emb}(q(v|u), q(v|w)) + b'),

    with the last two quadruplets taken inside the intersection :math:`S(u,w)`, pooled into :math:`x_v'` beside the
    nodes, and into the edge: :math:`x_{uw}' = x_{uw} + \gamma_e W' \mathrm{pool}_{v \in V(u,w)} \phi(u,w|v)`.

    The paper's :math:`\Phi_{ND}` also reads :math:`x_v`, which the residual connection carries here. No product is
    taken and nothing is stored for a pair: memory is linear in nodes and edges.

    Args:
        channels: width of node (and edge) features.
        k: depth of the ego-networks; the same as in :class:`elene.transforms.EgoStructure`.
        level: ``"node"`` (ND) or ``"edge"`` (ED).
        max_degree: rho, the largest degree with an embedding of its own; 0 ignores degrees.
        hidden: the width of phi; by default omega, the width of the embeddings it reads.
        pool: ``"mean"`` or ``"sum"``.
        norm: a module applied to the node update before the gate, such as ``nn.BatchNorm1d(channels)``; None for none.
        embedding: an :class:`EgoEmbedding` to use instead of one of 32 dimensions: to set omega, to share it between
            layers, for disjoint tables or for the literal equations; its max_degree counts then.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)``, edge_attr ``(arcs, channels)`` or None, ego: :class:`Ego`.
        Gives x and edge_attr of the same shapes; at ``level="node"`` edge_attr comes back untouched.

    Example:
        >>> from torch_geometric.data import Data
        >>> from elene.transforms import EgoStructure
        >>> data = EgoStructure(k=2)(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> layer = ELENE(8, k=2, max_degree=2)
        >>> x, _ = layer(torch.randn(3, 8), data.edge_index, None, Ego.of(data))
        >>> x.shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        channels: int,
        k: int,
        level: str = "node",
        max_degree: int = 16,
        hidden: int | None = None,
        pool: str = "mean",
        norm: nn.Module | None = None,
        embedding: EgoEmbedding | None = None,
    ) -> None:
        super().__init__()
        check_choice("level", level, ("node", "edge"))
        check_choice("pool", pool, ("mean", "sum"))
        self.channels, self.level, self.pool = check_integer("channels", channels, 1), level, pool
        self.embedding = EgoEmbedding(k, max_degree, level=level) if embedding is None else embedding
        if self.embedding.k != k:
            raise ValueError(f"embedding is for k={self.embedding.k}, and the layer for k={k}: make them equal")
        if level == "edge" and self.embedding.level != "edge":
            raise ValueError("a layer with level='edge' needs an EgoEmbedding with level='edge'")
        self.norm = norm
        self.hidden = self.embedding.dim if hidden is None else check_integer("hidden", hidden, 1)
        wide, width = 3 * self.embedding.dim, self.hidden
        self.root_in = nn.Linear(channels, width)
        self.member_in = nn.Linear(channels, width, bias=False)
        self.node_table = nn.Parameter(torch.empty(wide, width))
        self.node_out = nn.Linear(width, channels)
        self.gamma = nn.Parameter(torch.empty(()))
        if level == "edge":
            self.edge_root_in = nn.Linear(channels, width)
            self.edge_in = nn.Linear(channels, width, bias=False)
            self.product_in = nn.Linear(channels, width, bias=False)
            self.rooted_table = nn.Parameter(torch.empty(wide, width))
            self.inside_table = nn.Parameter(torch.empty(wide, width)) if self.embedding.intersection else None
            self.around_out = nn.Linear(width, channels, bias=False)
            self.edge_out = nn.Linear(width, channels)
            self.edge_gamma = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, those of the embedding included, and open the gates."""
        for module in self.modules():
            if module is not self and callable(reset := getattr(module, "reset_parameters", None)):
                reset()
        for name, parameter in self.named_parameters(recurse=False):
            nn.init.ones_(parameter) if name.endswith("gamma") else nn.init.xavier_uniform_(parameter)

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"{self.channels}, level={self.level!r}, hidden={self.hidden}, pool={self.pool!r}"

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, ego: Ego
    ) -> tuple[Tensor, Tensor | None]:
        """The updated node and edge features."""
        self._check(x, edge_attr, ego)
        table = self.embedding.node_rows(ego, self.node_table)
        roots, members, *edge_roots = self._maps(x)
        pooled, _ = ego_reduce(roots, members, table, ego.pairs, self.pool)
        update = _gated(self.node_out, pooled, self._gate)
        if self.level == "edge":
            edge_attr, around = self._edges(x, edge_roots[0], edge_index, edge_attr, ego)
            update = update + _gated(self.around_out, around, self._gate)
        return x + (update if self.norm is None else self.gamma * self.norm(update)), edge_attr

    def _maps(self, x: Tensor) -> tuple[Tensor, ...]:
        """What each node brings along as a root, as a member and, with edges, as a root of edges: in one product."""
        maps = [self.root_in, self.member_in] + ([self.edge_root_in] if self.level == "edge" else [])
        none = x.new_zeros(self.hidden)
        biases = [none if linear.bias is None else linear.bias for linear in maps]
        mapped = nn.functional.linear(x, torch.cat([linear.weight for linear in maps]), torch.cat(biases))
        return mapped.split(self.hidden, dim=1)

    @property
    def _gate(self) -> Tensor | None:
        """The gate, where it can go into the weights: a gated update would be stored for backward."""
        return self.gamma if self.norm is None else None

    def _edges(
        self, x: Tensor, roots: Tensor, edge_index: Tensor, edge_attr: Tensor | None, ego: Ego
    ) -> tuple[Tensor, Tensor]:
        """The updated edge features, and what every root pools from the edges around it."""
        assert ego.triples is not None and ego.arcs is not None
        ends, both = ego.ends(edge_index)
        features = product_linear(x, ends, self.product_in.weight)
        if edge_attr is not None:
            both_ways = fold_arcs(edge_attr, ego.arcs, both)
            features = features + nn.functional.linear(both_ways, self.edge_in.weight / 2)
        inside = self.rooted_table if self.inside_table is None else self.inside_table
        table = self.embedding.edge_rows(ego, self.rooted_table, inside)
        around, through = ego_reduce(roots, features, table, ego.triples, self.pool, both=True)
        assert through is not None
        update = spread_edges(_gated(self.edge_out, through, self.edge_gamma), ego.arcs, both)
        return update if edge_attr is None else edge_attr + update, around

    def _check(self, x: Tensor, edge_attr: Tensor | None, ego: Ego) -> None:
        if not isinstance(ego, Ego):
            raise TypeError(f"ego must be an Ego, got {type(ego).__name__}: pass Ego.of(data)")
        if ego.k != self.embedding.k:
            raise ValueError(
                f"ego has k={ego.k}, and the layer k={self.embedding.k}: use EgoStructure(k={self.embedding.k})"
            )
        if self.level == "edge" and ego.triples is None:
            raise ValueError('ego has no edges: use EgoStructure(k, level="edge")')
        if x.dim() != 2 or x.shape != (len(ego.pairs.sizes), self.channels):
            raise ValueError(f"x must have shape ({len(ego.pairs.sizes)}, {self.channels}), got {tuple(x.shape)}")
        if self.level == "edge" and edge_attr is not None:
            assert ego.arcs is not None
            if edge_attr.shape != (len(ego.arcs), self.channels):
                wanted = (len(ego.arcs), self.channels)
                raise ValueError(f"edge_attr must have shape {wanted}, got {tuple(edge_attr.shape)}: embed it first")


def _gated(linear: nn.Linear, x: Tensor, gate: Tensor | None) -> Tensor:
    """``gate * linear(x)``, with the gate taken into the weights."""
    if gate is None:
        return linear(x)
    return nn.functional.linear(x, gate * linear.weight, None if linear.bias is None else gate * linear.bias)
