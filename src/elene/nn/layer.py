"""ELENE: the learnable layer ELENE-L, node- and edge-centric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from elene.nn.ego import Ego
from elene.nn.embedding import EgoEmbedding
from elene.nn.entries import Entries, check_tensor
from elene.nn.functional import ego_reduce, end_products, fold_arcs, forgotten, gated
from elene.nn.gine import EdgeKinds
from elene.nn.norm import PairNorm
from elene.validation import brief, check_choice, check_integer

Known = tuple[Tensor, Callable[[], Tensor]]  # a tensor that backward need not store, and what makes it again


class Update(nn.Module):
    r"""Phi of the paper: :math:`\mathrm{relu}(\mathrm{norm}(W [a \,\|\, b \,\|\, \dots]))`.

    Args:
        widths: those of the parts a, b, ...
        channels: width of the output.
        norm: what stands before the activation, such as ``nn.BatchNorm1d(channels)``.
        activation: by default ``nn.ReLU()``; ``nn.Identity()`` makes it linear.

    Shapes:
        parts ``(rows, width)`` each; gives ``(rows, channels)``.

    Example:
        >>> Update([8, 16], 8, nn.BatchNorm1d(8))(torch.randn(3, 8), torch.randn(3, 16)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self, widths: Sequence[int], channels: int, norm: nn.Module | None = None, activation: nn.Module | None = None
    ) -> None:
        super().__init__()
        # A product for each part: the parts side by side would be one more thing to store for backward. A norm would
        # take a bias away, and has one of its own.
        self.parts = nn.ModuleList(
            nn.Linear(width, channels, bias=norm is None and i == 0) for i, width in enumerate(widths)
        )
        self.norm = nn.Identity() if norm is None else norm
        self.activation = nn.ReLU() if activation is None else activation

    def forward(self, *parts: Tensor, known: Sequence[Known] = ()) -> Tensor:
        """The rows of the output; see :class:`elene.nn.functional.forgotten` for parts that are known."""
        with forgotten(*known):
            mapped = [linear(part) for linear, part in zip(self.parts, parts, strict=True)]
        updated: Tensor = self.activation(self.norm(sum(mapped[1:], start=mapped[0])))
        return updated


class Gates(nn.Module):
    r"""What enters and what is new, weighed: :math:`g_0 x + g_1 y`; both gates are learned and start at 1.

    >>> Gates()(torch.tensor([1.0]), torch.tensor([2.0])).tolist()
    [3.0]
    """

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def reset_parameters(self) -> None:
        """Open both."""
        nn.init.ones_(self.weight)

    def forward(self, x: Tensor | EdgeKinds | None, y: Tensor, edges: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """The weighed sum; see :func:`elene.nn.functional.gated`."""
        if isinstance(x, EdgeKinds):
            return gated(None, y, self.weight) + x._replace(table=self.weight[0] * x.table).dense()
        return gated(x, y, self.weight, edges)


class ELENE(nn.Module):
    r"""ELENE-L: every node reads its ego-network, and every edge the ego-networks it lies in.

    Node-centric (``level="node"``), with quadruplets :math:`q(u|v)` and learnable tables Emb:

    .. math::
        \phi(u|v) = \mathrm{relu}(W_v x_v + W_u x_u + W_q \mathrm{Emb}(q(u|v)) + b), \qquad
        x_v' = g_0 x_v + g_1 \, \mathrm{relu}(\mathrm{norm}(W [x_v \,\|\, \mathrm{pool}_{u \in V(v)} \phi(u|v)]))

    Edge-centric (``level="edge"``) adds, for every edge in the ego-network,

    .. math::
        \phi(u,w|v) = \mathrm{relu}(W_v' x_v + W_e [x_{uw} \,\|\, x_u \odot x_w] + W_q' \mathrm{Emb}(q(u|v), q(w|v))
        + W_i \mathrm{Emb}(q(v|u), q(v|w)) + b'),

    with the last two quadruplets taken inside the intersection :math:`S(u,w)`, pooled beside the nodes in
    :math:`x_v'`, and into the edge: :math:`x_{uw}' = g_2 x_{uw} + g_3 \, \mathrm{relu}(\mathrm{norm}(W'
    \mathrm{pool}_{v \in V(u,w)} \phi(u,w|v)))`.

    No product is taken and nothing is stored for a pair: memory is linear in nodes and edges.

    Args:
        channels: width of node (and edge) features.
        k: depth of the ego-networks; at most that of :class:`elene.transforms.EgoStructure`.
        level: ``"node"`` (ND) or ``"edge"`` (ED).
        max_degree: rho, the largest degree with an embedding of its own; 0 ignores degrees.
        hidden: the width of phi; by default that of the features. A narrower one is faster, and less accurate.
        pool: ``"mean"`` or ``"sum"``.
        norm: where there is a BatchNorm: in the ``"update"`` of nodes and edges, in ``"both"`` the update and phi,
            where it is one over pairs (and triples), or ``"none"``.
        embedding: an :class:`EgoEmbedding` to use instead of one of 32 dimensions: to set omega, to share it between
            layers, for disjoint tables or for the literal equations; its max_degree counts then.

    Shapes:
        x ``(nodes, channels)``, edge_index ``(2, arcs)``, edge_attr ``(arcs, channels)``, :class:`EdgeKinds` or None,
        ego: :class:`Ego`. Gives x and edge_attr of the same shapes; at ``level="node"`` edge_attr comes back untouched.
        Where both arcs of every edge are of one kind, so are those that come back: a row for each edge, not each arc.

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
        norm: str = "update",
        embedding: EgoEmbedding | None = None,
    ) -> None:
        super().__init__()
        check_choice("level", level, ("node", "edge"))
        check_choice("pool", pool, ("mean", "sum"))
        check_choice("norm", norm, ("update", "both", "none"))
        self.channels, self.level, self.pool, self.norm = check_integer("channels", channels, 1), level, pool, norm
        self.embedding = EgoEmbedding(k, max_degree, level=level) if embedding is None else embedding
        if not isinstance(self.embedding, EgoEmbedding):
            raise TypeError(f"embedding must be an EgoEmbedding or None, got {brief(embedding)}")
        if self.embedding.k != k:
            raise ValueError(f"embedding is for k={self.embedding.k}, and the layer for k={k}: make them equal")
        if level == "edge" and self.embedding.level != "edge":
            raise ValueError("a layer with level='edge' needs an EgoEmbedding with level='edge'")
        self.hidden = width = channels if hidden is None else check_integer("hidden", hidden, 1)
        embedded = 3 * self.embedding.dim
        self.root_in = nn.Linear(channels, width)
        self.member_in = nn.Linear(channels, width, bias=False)
        self.quadruplet_in = nn.Linear(embedded, width, bias=False)
        self.pair_norm = PairNorm(width) if norm == "both" else None
        pooled = [width] if level == "node" else [width, width]
        self.node_update, self.node_gates = Update([channels, *pooled], channels, self._update_norm()), Gates()
        if level == "edge":
            self.edge_root_in = nn.Linear(channels, width)
            self.edge_in = nn.Linear(channels, width, bias=False)
            self.product_in = nn.Linear(channels, width, bias=False)
            self.rooted_in = nn.Linear(embedded, width, bias=False)
            self.inside_in = nn.Linear(embedded, width, bias=False) if self.embedding.intersection else None
            self.triple_norm = PairNorm(width) if norm == "both" else None
            self.edge_update, self.edge_gates = Update([width], channels, self._update_norm()), Gates()

    def _update_norm(self) -> nn.Module | None:
        return None if self.norm == "none" else nn.BatchNorm1d(self.channels)

    def reset_parameters(self) -> None:
        """Draw all weights anew, those of the embedding included, and open the gates."""
        for module in self.modules():
            if module is not self and callable(reset := getattr(module, "reset_parameters", None)):
                reset()

    def extra_repr(self) -> str:
        """What the modules inside do not show."""
        return f"{self.channels}, level={self.level!r}, hidden={self.hidden}, pool={self.pool!r}, norm={self.norm!r}"

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | EdgeKinds | None, ego: Ego
    ) -> tuple[Tensor, Tensor | EdgeKinds | None]:
        """The updated node and edge features."""
        self._check(x, edge_attr, ego)
        ego = ego.at(self.embedding.k)
        table = self.quadruplet_in(self.embedding.node_rows(ego))
        parts = self.root_in(x), self.member_in(x), table
        if self.pair_norm is not None:
            parts = self.pair_norm(*parts, ego.pairs)
        sums = self._sums(parts, ego.pairs)
        if self.level == "edge":
            edge_attr, around = self._edges(x, edge_index, edge_attr, ego)
            sums.append(around)
        update = self.node_update(x, *(pooled for pooled, _ in sums), known=sums)
        return self.node_gates(x, update), edge_attr

    def _sums(self, parts: Sequence[Tensor], entries: Entries, by_edge: bool = False) -> list[Known]:
        """What is pooled by root and, if wanted, by edge; each with what makes it again."""

        def make() -> tuple[Tensor, Tensor | None]:
            return ego_reduce(*parts, entries, self.pool, by_edge)

        again = cache(make)
        return [(pooled, _item(again, i)) for i, pooled in enumerate(make()) if pooled is not None]

    def _edges(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | EdgeKinds | None, ego: Ego
    ) -> tuple[Tensor | EdgeKinds, Known]:
        """The updated edge features, and what every root pools from the edges around it."""
        assert ego.triples is not None and ego.arcs is not None
        ends, directions = ego.ends(edge_index)
        edges = ego.arcs, directions
        if isinstance(edge_attr, EdgeKinds):
            edge_attr = edge_attr.of_edges(directions) or edge_attr.dense()
        parts = self.edge_root_in(x), self._edge_features(x, ends, edge_attr, edges), self._edge_table(ego)
        if self.triple_norm is not None:
            parts = self.triple_norm(*parts, ego.triples)
        around, through = self._sums(parts, ego.triples, by_edge=True)
        update = self.edge_update(through[0], known=[through])
        if not isinstance(edge_attr, EdgeKinds):
            return self.edge_gates(edge_attr, update, edges), around
        return EdgeKinds(self.edge_gates(edge_attr, update), ego.arcs), around

    def _edge_features(
        self, x: Tensor, ends: Tensor, edge_attr: Tensor | EdgeKinds | None, edges: tuple[Tensor, Tensor]
    ) -> Tensor:
        """What each undirected edge brings along: its ends' product, and its features, or the mean of its arcs'."""
        products = end_products(x, ends)
        with forgotten((products, lambda: end_products(x, ends))):
            features: Tensor = self.product_in(products)
        if edge_attr is None:
            return features
        if isinstance(edge_attr, EdgeKinds):
            return features + edge_attr._replace(table=self.edge_in(edge_attr.table)).dense()
        mean = fold_arcs(edge_attr, *edges) / 2
        with forgotten((mean, lambda: fold_arcs(edge_attr, *edges) / 2)):
            return features + self.edge_in(mean)

    def _edge_table(self, ego: Ego) -> Tensor:
        rooted, inside = self.embedding.edge_rows(ego)
        # A pair of quadruplets is a sum of two: single ones are mapped, for they are much fewer.
        around = embedding_bag(ego.rooted_ends.pairs, self.rooted_in(rooted), mode="sum")
        if self.inside_in is None:
            assert ego.edge_quadruplets is not None
            return torch.cat([around, around.new_zeros(len(ego.edge_quadruplets) - len(around), self.hidden)])
        return torch.cat([around, embedding_bag(ego.inside_ends.pairs, self.inside_in(inside), mode="sum")])

    def _check(self, x: Tensor, edge_attr: Tensor | None, ego: Ego) -> None:
        if not isinstance(ego, Ego):
            raise TypeError(f"ego must be an Ego, got {type(ego).__name__}: pass Ego.of(data)")
        k = self.embedding.k
        if self.level == "edge" and ego.k != k:
            raise ValueError(f'ego has k={ego.k}, and edges need k={k}: use EgoStructure({k}, level="edge")')
        if self.level == "edge" and ego.triples is None:
            raise ValueError('ego has no edges: use EgoStructure(k, level="edge")')
        check_tensor("x", x)
        if x.dim() != 2 or x.shape != (len(ego.pairs.sizes), self.channels):
            raise ValueError(f"x must have shape ({len(ego.pairs.sizes)}, {self.channels}), got {tuple(x.shape)}")
        if self.level == "edge" and edge_attr is not None:
            assert ego.arcs is not None
            if not isinstance(edge_attr, EdgeKinds):
                check_tensor("edge_attr", edge_attr)
            wanted = (len(ego.arcs), self.channels)
            if edge_attr.shape != wanted:
                raise ValueError(f"edge_attr must have shape {wanted}, got {tuple(edge_attr.shape)}: embed it first")


def _item(make: Callable[[], Sequence[Any]], place: int) -> Callable[[], Any]:
    return lambda: make()[place]
