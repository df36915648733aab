"""Models from specs: what a data set needs before a model can read it, and the network itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    GINEConv,
    PNAConv,
    global_add_pool,
    global_mean_pool,
)

from elene.baselines import GNNAK, NGNN, PPGN, SPNN, Centrality, Graphormer, PPGNBlock
from elene.experiments.batches import Stock
from elene.experiments.spec import Distances, Elene, Encoding, Kernels, Model, Nested, Plain, Products
from elene.nn import ELENE, GNN, EgoEmbedding, GraphReadout, VirtualNode, node_readout, updates
from elene.transforms import AddELENE, EgoStructure

HEADS = 8
POOLS = {"sum": global_add_pool, "mean": global_mean_pool}


@dataclass(frozen=True, eq=False)
class Preparation:
    """What a model needs of its data: more features, ego-network lists; learned from the training graphs.

    Args:
        model: the spec of the model.
        degrees: how many nodes of the training graphs have degree 0, 1, 2, ...

    Example:
        >>> from elene.datasets import load
        >>> from elene.experiments import spec
        >>> dataset = load("sr25")
        >>> preparation = Preparation.learn(spec.load("sr25", "gin+elene-ed").model, dataset, torch.arange(15))
        >>> preparation.max_degree, preparation(dataset)[0].ego_shape[0, -1].item()
        (12, 1)
    """

    model: Model
    degrees: Tensor

    @classmethod
    def learn(cls, model: Model, dataset: InMemoryDataset, train: Tensor) -> Preparation:
        """Look at the degrees of the training graphs."""
        arcs = _union(dataset)
        nodes = Stock(dataset).nodes
        trained = torch.zeros(len(nodes), dtype=torch.bool).index_fill(0, train, True).repeat_interleave(nodes)
        return cls(model, torch.bincount(torch.bincount(arcs[0], minlength=len(trained))[trained]))

    @property
    def max_degree(self) -> int:
        """The largest degree of the training graphs."""
        return max(len(self.degrees) - 1, 0)

    def __call__(self, dataset: InMemoryDataset) -> InMemoryDataset:
        """A copy of a data set with all that the model reads."""
        if self.model.encoding is not None:
            dataset = self._encoded(dataset, self.model.encoding)
        if self.model.depth is not None:
            dataset = EgoStructure(self.model.depth, self._level).prepare(dataset)
        return dataset

    @property
    def _level(self) -> str:
        edges = isinstance(self.model.conv, Kernels | Nested)
        return "edge" if edges or (self.model.elene is not None and self.model.elene.level == "ed") else "node"

    def _encoded(self, dataset: InMemoryDataset, encoding: Encoding) -> InMemoryDataset:
        arcs, data = _union(dataset), copy.copy(dataset._data)
        # One graph of all graphs has the same ego-networks, and is encoded much faster than they are one by one.
        union = Data(edge_index=arcs, num_nodes=len(data.x))
        rho = self.max_degree if encoding.max_degree is None else encoding.max_degree
        degrees = "relative" if encoding.name == "elene" else "absolute"
        slices = dict(dataset.slices)
        for level, key in (("node", "x"), ("edge", "edge_attr")):
            if level == "edge" and encoding.edges == "none":
                continue
            form = "product" if level == "edge" and encoding.edges == "product" else "marginal"
            added = AddELENE(encoding.k, level, degrees, form, rho, encoding.log1p)(union)[key]
            data[key] = torch.cat([data[key].float(), added], dim=1) if key in data else added
            slices.setdefault(key, slices["edge_index"])
        result = copy.copy(dataset)
        result._data, result.slices, result._data_list = data, slices, None
        return result


def _union(dataset: InMemoryDataset) -> Tensor:
    """The arcs of all graphs, nodes numbered throughout."""
    nodes, arcs = (dataset.slices[key].diff() for key in ("x", "edge_index"))
    return dataset._data.edge_index.long() + (nodes.cumsum(0) - nodes).repeat_interleave(arcs)


class FeatureEncoder(nn.Module):
    """Embeds columns that name categories, projects all others, and adds everything up.

    Args:
        categories: how many values each of the first columns can have.
        numbers: how many columns follow.
        channels: width of the output.

    Shapes:
        ``(rows, columns)`` in, ``(rows, channels)`` out.

    Example:
        >>> FeatureEncoder((28, 4), numbers=3, channels=8)(torch.tensor([[27, 3, 0.5, 0.25, 0.0]])).shape
        torch.Size([1, 8])
    """

    def __init__(self, categories: Sequence[int], numbers: int, channels: int) -> None:
        super().__init__()
        self.categories = tuple(categories)
        # One table for all columns: a row is one look-up of several places.
        self.embedding = nn.EmbeddingBag(sum(categories), channels, mode="sum") if categories else None
        self.linear = nn.Linear(numbers, channels) if numbers else None
        self.register_buffer("first", torch.tensor([0, *categories])[:-1].cumsum(0), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The features of every row."""
        total: Tensor | None = None
        if self.embedding is not None:
            total = self.embedding(x[:, : len(self.categories)].long() + self.first)
        if self.linear is not None:
            projected = self.linear(x[:, len(self.categories) :])
            total = projected if total is None else total + projected
        assert total is not None
        return total


@dataclass(frozen=True)
class Shape:
    """What goes into a model and comes out of it.

    Args:
        node_categories: how many values each discrete column of ``x`` can have.
        node_numbers: how many other columns it has.
        edge_categories: the same for ``edge_attr``.
        edge_numbers: the same; 0 and no categories where there is no ``edge_attr``.
        outputs: how many numbers come out for each graph or node.
        level: ``"graph"`` or ``"node"``.
    """

    node_categories: tuple[int, ...]
    node_numbers: int
    edge_categories: tuple[int, ...]
    edge_numbers: int
    outputs: int
    level: str

    @property
    def has_edges(self) -> bool:
        """Whether edges have features."""
        return bool(self.edge_categories) or self.edge_numbers > 0


def build(preparation: Preparation, shape: Shape) -> nn.Module:
    """The network of a spec: a :class:`elene.nn.GNN`, or a :class:`elene.baselines.PPGN`.

    Example:
        >>> from elene.experiments.spec import Model
        >>> model = Model(conv="gin", layers=2, hidden=8, elene={"level": "nd", "k": 1})
        >>> network = build(Preparation(model, torch.tensor([0, 0, 3])), Shape((28,), 0, (4,), 0, 1, "graph"))
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
            task = f"a {shape.level} task"
            raise ValueError(f"model.pool must be {'sum or mean' if not pooled else 'none'} in {task}, got {self.spec.pool}")

    def build(self) -> nn.Module:
        conv, shape = self.spec.conv, self.shape
        encoder = FeatureEncoder(shape.node_categories, shape.node_numbers, self.width)
        if isinstance(conv, Products):
            blocks = [PPGNBlock(self.width + (i == 0), self.width) for i in range(self.spec.layers)]
            edge_encoder = self._edge_encoder() if shape.has_edges else None
            return PPGN(encoder, blocks, self._head(2 * self.width), edge_encoder)
        elene = self._elene()
        convs, after = self._layers(elene)
        elene = [None] * (len(convs) - len(elene)) + elene
        return GNN(
            encoder,
            convs,
            after,
            self._head(self.width),
            elene=elene,
            edge_encoders=[self._edge_encoder() for _ in convs] if self._reads_edges else None,
            readout=node_readout if shape.level == "node" else GraphReadout(POOLS[self.spec.pool]),
            virtual_node=VirtualNode(self.width, len(convs)) if self.spec.virtual_node else None,
        )

    @property
    def _reads_edges(self) -> bool:
        """Whether anything reads the data's edge features."""
        conv, elene = self.spec.conv, self.spec.elene
        reads = not isinstance(conv, Distances) and conv.name != "gcn"
        return self.shape.has_edges and (reads or (elene is not None and elene.level == "ed"))

    def _edge_encoder(self) -> nn.Module:
        return FeatureEncoder(self.shape.edge_categories, self.shape.edge_numbers, self.width)

    def _head(self, width: int) -> nn.Module:
        return nn.Sequential(nn.Linear(width, self.width), nn.ReLU(), nn.Linear(self.width, self.shape.outputs))

    def _elene(self) -> list[ELENE | None]:
        """ELENE-L, or None, for each layer."""
        spec = self.spec.elene
        if spec is None:
            return [None] * (1 if isinstance(self.spec.conv, Nested) else self.spec.layers)
        shared = self._embedding(spec) if spec.share else None
        level = "edge" if spec.level == "ed" else "node"
        return [
            ELENE(self.width, spec.k, level, pool=spec.pool, embedding=shared or self._embedding(spec))
            if spec.layers == "all" or layer in spec.layers
            else None
            for layer in range(self.spec.layers)
        ]

    def _embedding(self, spec: Elene) -> EgoEmbedding:
        rho = self.max_degree if spec.max_degree is None else spec.max_degree
        return EgoEmbedding(spec.k, rho, spec.omega, "edge" if spec.level == "ed" else "node")

    def _layers(self, elene: list[ELENE | None]) -> tuple[list[nn.Module], list[nn.Module]]:
        """The convs, and what follows each of them."""
        conv, layers, dropout = self.spec.conv, self.spec.layers, self.spec.dropout
        if isinstance(conv, Nested):
            inner = [self._plain("gin", self.shape.has_edges) for _ in range(layers)]
            nested = NGNN(self.width, conv.k, inner, conv.pool, updates(self.width, layers, dropout))
            return [nested], updates(self.width, 1, dropout)
        if conv.name == "graphormer":
            assert isinstance(conv, Distances)
            attention = [
                Graphormer(self.width, conv.k, gcd(self.width, HEADS), dropout=dropout) for _ in range(layers)
            ]
            return [Centrality(self.width, self.max_degree), *attention], [nn.Identity()] * (layers + 1)
        # Edge-centric ELENE-L gives edges features where the data has none.
        edged = [self.shape.has_edges or (layer is not None and layer.level == "edge") for layer in elene]
        return [self._conv(edges) for edges in edged], updates(self.width, layers, dropout)

    def _conv(self, edges: bool) -> nn.Module:
        conv = self.spec.conv
        if isinstance(conv, Kernels):
            inner = [self._plain("gin", edges) for _ in range(conv.inner)]
            after = updates(self.width, conv.inner, self.spec.dropout)
            return GNNAK(self.width, conv.k, inner, conv.name == "gin-ak+", conv.pool, after)
        if isinstance(conv, Distances):
            return SPNN(self._mlp(), conv.k)
        assert isinstance(conv, Plain)
        return self._plain(conv.name, edges)

    def _plain(self, name: str, edges: bool) -> nn.Module:
        width, edge_dim = self.width, self.width if edges else None
        if name == "gin":
            return GINEConv(self._mlp(), train_eps=True) if edges else GINConv(self._mlp(), train_eps=True)
        if name == "gcn":
            return GCNConv(width, width)
        if name == "gat":
            heads = gcd(width, HEADS)
            return GATConv(width, width // heads, heads, edge_dim=edge_dim)
        scalers = ["identity", "amplification", "attenuation"]
        return PNAConv(width, width, ["mean", "min", "max", "std"], scalers, self.degrees, edge_dim=edge_dim)

    def _mlp(self) -> nn.Module:
        width = self.width
        return nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))
