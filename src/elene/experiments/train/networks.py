"""Networks from specs."""

from __future__ import annotations

from math import gcd, prod

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, GINConv, PNAConv, global_add_pool, global_mean_pool

from elene.baselines import GNNAK, NGNN, PPGN, SPNN, Centrality, Graphormer, PPGNBlock
from elene.experiments.config.network import DistanceConv, EleneSettings, GNNAKConv, NGNNConv, PlainConv
from elene.experiments.data.preparation import Columns, Preparation, Shape
from elene.nn import ELENE, GINE, GNN, EdgeKinds, EgoEmbedding, GraphReadout, Update, VirtualNode, node_readout, updates

HEADS = 8
MOST_KINDS = 256  # of edges, each of which is embedded in every layer
FUSED = ("gin", "gin-ak", "gin-ak+", "ngnn")  # what GINE is in
POOLS = {"sum": global_add_pool, "mean": global_mean_pool}


class FeatureEncoder(nn.Module):
    """Embeds columns that name categories, in a sum; where there are others, projects both side by side.

    Args:
        columns: what they are.
        channels: width of the output.
        norm: whether a BatchNorm and a relu follow where there are real numbers.

    Shapes:
        ``(rows, columns)`` of any type in, ``(rows, channels)`` out.

    Example:
        >>> encoder = FeatureEncoder(Columns((28, 4), numbers=3), channels=8)
        >>> encoder(torch.tensor([[27, 3, 0.5, 0.25, 0.0], [0, 1, 1.0, 0.0, 0.5]])).shape
        torch.Size([2, 8])
    """

    def __init__(self, columns: Columns, channels: int, norm: bool = True) -> None:
        super().__init__()
        self.columns = columns
        categories, others = columns.categories, columns.numbers + columns.counts
        self.embedding = nn.Embedding(sum(categories), channels) if categories else None
        normed = norm and columns.numbers > 0
        embedded = channels if categories else 0
        self.linear = nn.Linear(embedded + others, channels, bias=not normed) if others else None
        self.norm = nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU()) if normed else nn.Identity()
        self.first: Tensor
        self.register_buffer("first", torch.tensor([0, *categories])[:-1].cumsum(0), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The features of every row."""
        names, others = x[:, : len(self.first)].long() + self.first, x[:, len(self.first) :]
        if self.linear is None:
            assert self.embedding is not None
            return look_up(names, self.embedding.weight)
        weight = self.linear.weight
        encoded = functional.linear(others.to(weight.dtype), weight[:, -others.shape[1] :], self.linear.bias)
        if self.embedding is not None:
            # A category is projected once, and not in each of its rows.
            encoded = encoded + look_up(names, self.embedding.weight @ weight[:, : -others.shape[1]].T)
        return self.norm(encoded)


def look_up(names: Tensor, table: Tensor) -> Tensor:
    """For each row of names the sum of the rows of a table that they name; of a single row no copies are made.

    >>> look_up(torch.tensor([[0, 1], [1, 1]]), torch.tensor([[1.0], [10.0]])).tolist()
    [[11.0], [20.0]]
    """
    if names.shape[1] > 1:
        return functional.embedding_bag(names, table, mode="sum")
    return table.expand(len(names), -1) if len(table) == 1 else functional.embedding(names[:, 0], table)


class KindEncoder(nn.Module):
    """Embeds edges whose columns all name categories, each combination of these once: an edge is of one of few kinds.

    Args:
        columns: what they are.
        channels: width of the embeddings.

    Shapes:
        ``(arcs, columns)`` of any type in; :class:`elene.nn.EdgeKinds` out.

    Example:
        >>> encoder = KindEncoder(Columns((5, 6)), channels=8)
        >>> encoded = encoder(torch.tensor([[4, 5], [0, 1]]))
        >>> encoded.table.shape, encoded.kinds.tolist()
        (torch.Size([30, 8]), [29, 1])
    """

    def __init__(self, columns: Columns, channels: int) -> None:
        super().__init__()
        self.encoder = FeatureEncoder(columns, channels)
        self.all: Tensor
        self.steps: Tensor
        counts = columns.categories
        self.register_buffer("all", torch.cartesian_prod(*map(torch.arange, counts)).view(-1, len(counts)), False)
        self.register_buffer("steps", torch.tensor([prod(counts[i + 1 :]) for i in range(len(counts))]), False)

    @staticmethod
    def fits(columns: Columns) -> bool:
        """Whether there are categories alone, and not too many kinds."""
        return not columns.numbers + columns.counts and prod(columns.categories) <= MOST_KINDS

    def forward(self, x: Tensor) -> EdgeKinds:
        """The features of every kind, and the kind of every arc."""
        return EdgeKinds(self.encoder(self.all), x.long() @ self.steps)


class SkipsFromELENE(GNN):
    """A network whose skip connections begin after ELENE-L."""

    def _skipped(self, x: Tensor, seen: Tensor) -> Tensor:
        return seen


class NoConv(nn.Module):
    """Leaves nodes as they are: what follows ELENE-L where there are no convs.

    >>> NoConv()(torch.ones(2, 3), torch.empty(2, 0)).shape
    torch.Size([2, 3])
    """

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """The nodes' features."""
        return x


def build(preparation: Preparation, shape: Shape) -> nn.Module:
    """The network of a spec: a :class:`elene.nn.GNN`, or a :class:`elene.baselines.PPGN`.

    Example:
        >>> from elene.experiments.config.network import Model
        >>> model = Model(conv="gin", layers=2, hidden=8, elene={"level": "nd", "k": 1})
        >>> shape = Shape(Columns((28,)), Columns((4,)), outputs=1, level="graph")
        >>> network = build(Preparation(model, degrees=torch.tensor([0, 0, 3])), shape)
        >>> network.needs_ego, network.elene[0].embedding.max_degree
        (True, 2)
    """
    return _Builder(preparation, shape).build()


class _Builder:
    def __init__(self, preparation: Preparation, shape: Shape) -> None:
        self.spec, self.shape, self.degrees = preparation.model, shape, preparation.degrees
        self.max_degree, self.width = preparation.max_degree, preparation.model.hidden
        pooled = self.spec.pool != "none"
        if pooled != (shape.level == "graph"):
            right = "none" if pooled else "sum or mean"
            raise ValueError(f"model.pool must be {right} in {shape.level} tasks, got {self.spec.pool}")

    def build(self) -> nn.Module:
        conv, shape = self.spec.conv, self.shape
        encoder = FeatureEncoder(shape.nodes, self.width, self.spec.input_norm)
        if conv.name == "ppgn":
            blocks = [PPGNBlock(self.width + (i == 0), self.width) for i in range(self.spec.layers)]
            edge_encoder = None if shape.edges is None else self._edge_encoder(shape.edges)
            return PPGN(encoder, blocks, self._head(2 * self.width), edge_encoder)
        elene = self._elene()
        convs, after = self._layers(elene)
        # What stands before the layers has none.
        elene = [*([None] * (len(convs) - len(elene))), *elene]
        network = GNN if self.spec.skip == "input" else SkipsFromELENE
        return network(
            encoder,
            convs,
            after,
            self._head(self.width),
            elene=elene,
            edge_encoders=self._edge_encoders(len(convs)),
            readout=node_readout if shape.level == "node" else GraphReadout(POOLS[self.spec.pool]),
            virtual_node=VirtualNode(self.width, len(convs)) if self.spec.virtual_node else None,
        )

    @property
    def _edges(self) -> Columns | None:
        """The columns of edge features; a constant, where there are none and edges are to have one."""
        return Columns((1,)) if self.shape.edges is None and self.spec.edge_constant else self.shape.edges

    def _edge_encoders(self, count: int) -> list[nn.Module] | None:
        """One for each conv, if anything reads edge features."""
        conv, elene, edges = self.spec.conv, self.spec.elene, self._edges
        read = not isinstance(conv, DistanceConv) and conv.name not in ("gcn", "none")
        if edges is None or not (read or (elene is not None and elene.level == "ed")):
            return None
        # Convs other than GINE read a row for each arc.
        fused = conv.name in FUSED and KindEncoder.fits(edges)
        return [KindEncoder(edges, self.width) if fused else self._edge_encoder(edges) for _ in range(count)]

    def _edge_encoder(self, columns: Columns) -> nn.Module:
        return FeatureEncoder(columns, self.width, self.spec.input_norm)

    def _head(self, width: int) -> nn.Module:
        norms = {"batch": nn.BatchNorm1d, "layer": nn.LayerNorm, "none": nn.Identity}
        first = nn.Linear(width, width, bias=self.spec.head_norm == "none")
        last = nn.Linear(width, self.shape.outputs)
        # Node tasks have had their dropout after the last layer.
        dropout = [nn.Dropout(self.spec.dropout)] if self.spec.pool != "none" and self.spec.dropout else []
        return nn.Sequential(*dropout, first, norms[self.spec.head_norm](width), nn.ReLU(), last)

    def _elene(self) -> list[ELENE | None]:
        """ELENE-L, or None, for each layer."""
        spec = self.spec.elene
        if spec is None:
            return [None] * (1 if isinstance(self.spec.conv, NGNNConv) else self.spec.layers)
        shared = self._embedding(spec) if spec.share else None
        places = spec.places(self.spec.layers)
        return [
            self._elene_layer(spec, shared or self._embedding(spec)) if layer in places else None
            for layer in range(self.spec.layers)
        ]

    def _elene_layer(self, spec: EleneSettings, embedding: EgoEmbedding) -> ELENE:
        level = "edge" if spec.level == "ed" else "node"
        layer = ELENE(self.width, spec.k, level, 0, spec.hidden, spec.pool, spec.norm, embedding)
        if spec.update == "linear":
            for module in layer.modules():
                if isinstance(module, Update):
                    module.activation = nn.Identity()
        return layer

    def _embedding(self, spec: EleneSettings) -> EgoEmbedding:
        rho = self.max_degree if spec.max_degree is None else spec.max_degree
        return EgoEmbedding(spec.k, rho, spec.omega, "edge" if spec.level == "ed" else "node", spec.joint)

    def _layers(self, elene: list[ELENE | None]) -> tuple[list[nn.Module], list[nn.Module]]:
        """The convs, and what follows each of them."""
        conv, layers, dropout = self.spec.conv, self.spec.layers, self.spec.dropout
        if isinstance(conv, NGNNConv):
            inner = [self._plain("gin", self._edges is not None) for _ in range(layers)]
            nested = NGNN(self.width, conv.k, inner, conv.pool, updates(self.width, layers, dropout))
            return [nested], updates(self.width, 1, dropout)
        if conv.name == "graphormer":
            assert isinstance(conv, DistanceConv)
            attention = [Graphormer(self.width, conv.k, gcd(self.width, HEADS), dropout=dropout) for _ in range(layers)]
            return [Centrality(self.width, self.max_degree), *attention], [nn.Identity()] * (layers + 1)
        # Edge-centric ELENE-L gives edges features where the data has none.
        edged = [self._edges is not None or (layer is not None and layer.level == "edge") for layer in elene]
        return [self._conv(edges) for edges in edged], updates(self.width, layers, dropout)

    def _conv(self, edges: bool) -> nn.Module:
        conv = self.spec.conv
        if isinstance(conv, GNNAKConv):
            inner = [self._plain("gin", edges) for _ in range(conv.inner)]
            after = updates(self.width, conv.inner, self.spec.dropout)
            plus = conv.name == "gin-ak+"
            parts = ["centroid", *(["subgraph"] if conv.subgraph else []), *(["context"] if plus else [])]
            return GNNAK(self.width, conv.k, inner, parts, conv.pool, after, conv.fuse)
        if isinstance(conv, DistanceConv):
            return SPNN(self._mlp(), conv.k)
        assert isinstance(conv, PlainConv)
        return self._plain(conv.name, edges)

    def _plain(self, name: str, edges: bool) -> nn.Module:
        width, edge_dim = self.width, self.width if edges else None
        if name == "none":
            return NoConv()
        if name == "gin":
            return GINE(self._mlp(), train_eps=True) if edges else GINConv(self._mlp(), train_eps=True)
        if name == "gcn":
            return GCNConv(width, width)
        if name == "gat":
            heads = gcd(width, HEADS)
            return GATConv(width, width // heads, heads, edge_dim=edge_dim)
        scalers = ["identity", "amplification", "attenuation"]
        return PNAConv(width, width, ["mean", "min", "max", "std"], scalers, self.degrees, edge_dim=edge_dim)

    def _mlp(self) -> nn.Module:
        """Two layers without biases: a BatchNorm follows each, and takes them away."""
        first, second = (nn.Linear(self.width, self.width, bias=False) for _ in range(2))
        return nn.Sequential(first, nn.BatchNorm1d(self.width), nn.ReLU(), second)
