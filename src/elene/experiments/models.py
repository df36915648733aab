"""Models from specs: what a data set needs before a model can read it, and the network itself."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

import numpy as np
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
from elene.datasets.canonical import narrowed
from elene.datasets.pyg import GraphDataset
from elene.experiments.spec import Distances, Elene, Encoding, Kernels, Model, Nested, Plain, Products
from elene.inmemory import restored, stored
from elene.nn import ELENE, GNN, EgoEmbedding, GraphReadout, Update, VirtualNode, node_readout, updates
from elene.transforms import AddELENE, EgoStructure

HEADS = 8
AT_ONCE = 2**20  # nodes that are encoded at a time
LEVELS = {"x": "node", "edge_attr": "edge"}
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
        arcs, nodes = _union(dataset), stored(dataset)[1]["x"].diff()
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
        data, slices = stored(dataset)
        data, slices = copy.copy(data), dict(slices)
        rho = self.max_degree if encoding.max_degree is None else encoding.max_degree
        degrees = "relative" if encoding.name == "elene" else "absolute"
        forms = {"x": "marginal"}
        if encoding.edges != "none":
            forms["edge_attr"] = "product" if encoding.edges == "product" else "marginal"
        for key, form in forms.items():
            counts = _counts(dataset, AddELENE(encoding.k, LEVELS[key], degrees, form, rho), key)
            data[key] = torch.cat([data[key], counts], dim=1) if key in data else counts
            slices.setdefault(key, slices["edge_index"])
        return restored(dataset, data, slices)


def _counts(dataset: InMemoryDataset, transform: AddELENE, key: str) -> Tensor:
    """The encodings of all nodes or arcs, as integers of the smallest type.

    Many graphs at a time are one graph with the same ego-networks, and are encoded much faster than one by one.
    """
    found = []
    nodes, arcs = (stored(dataset)[1][name] for name in ("x", "edge_index"))
    for first, last in _stretches(nodes):
        edge_index = _union(dataset)[:, arcs[first] : arcs[last]] - nodes[first]
        made = transform(Data(edge_index=edge_index, num_nodes=int(nodes[last] - nodes[first])))[key]
        found.append(torch.from_numpy(narrowed(made.numpy().astype(np.int64))))
    return torch.cat(found)


def _stretches(ends: Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of graphs with not too many nodes, or of one graph.

    >>> list(_stretches(torch.tensor([0, 10, 20, 2_000_000])))
    [(0, 2), (2, 3)]
    """
    first = 0
    while first < len(ends) - 1:
        last = max(int(torch.searchsorted(ends, ends[first] + AT_ONCE, right=True)) - 1, first + 1)
        yield first, last
        first = last


def _union(dataset: InMemoryDataset) -> Tensor:
    """The arcs of all graphs, nodes numbered throughout."""
    data, slices = stored(dataset)
    nodes, arcs = (slices[key].diff() for key in ("x", "edge_index"))
    union: Tensor = data.edge_index.long() + (nodes.cumsum(0) - nodes).repeat_interleave(arcs)
    return union


@dataclass(frozen=True)
class Columns:
    """What the columns of features are, from left to right.

    Args:
        categories: how many values each of the first columns can have.
        numbers: how many columns of real numbers follow.
        counts: how many columns of counts follow.
        log1p: whether to take log(1 + count).
    """

    categories: tuple[int, ...] = ()
    numbers: int = 0
    counts: int = 0
    log1p: bool = False


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
        # One table for all columns: a row is one look-up of several places.
        self.embedding = nn.EmbeddingBag(sum(categories), channels, mode="sum") if categories else None
        normed = norm and columns.numbers > 0
        embedded = channels if categories else 0
        self.linear = nn.Linear(embedded + others, channels, bias=not normed) if others else None
        self.norm = nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU()) if normed else nn.Identity()
        self.first: Tensor
        self.register_buffer("first", torch.tensor([0, *categories])[:-1].cumsum(0), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The features of every row."""
        names, others = x[:, : len(self.first)], x[:, len(self.first) :]
        embedded = [] if self.embedding is None else [self.embedding(names.long() + self.first)]
        if self.linear is None:
            return embedded[0]
        others = others.to(self.linear.weight.dtype)
        if self.columns.log1p:
            numbers, counts = others.split([self.columns.numbers, self.columns.counts], dim=1)
            others = torch.cat([numbers, counts.log1p()], dim=1)
        encoded: Tensor = self.norm(self.linear(torch.cat([*embedded, others], dim=1)))
        return encoded


@dataclass(frozen=True)
class Shape:
    """What goes into a model and comes out of it.

    Args:
        nodes: the columns of ``x``.
        edges: those of ``edge_attr``; None where there are none.
        outputs: how many numbers come out for each graph or node.
        level: ``"graph"`` or ``"node"``.
    """

    nodes: Columns
    edges: Columns | None
    outputs: int
    level: str

    @classmethod
    def of(cls, dataset: GraphDataset, prepared: InMemoryDataset, encoding: Encoding | None, outputs: int) -> Shape:
        """The shape of a model for a data set, given what the data set became."""
        log1p = encoding is not None and encoding.log1p
        found: list[Columns | None] = []
        for key, categories in (("x", dataset.node_categories or ()), ("edge_attr", dataset.edge_categories or ())):
            arrays = [stored(part)[0] for part in (dataset, prepared)]
            old, new = (data[key].shape[1] if key in data else 0 for data in arrays)
            found.append(Columns(categories, old - len(categories), new - old, log1p) if new else None)
        assert found[0] is not None
        return cls(found[0], found[1], outputs, dataset.info.level)


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
        >>> from elene.experiments.spec import Model
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
        if isinstance(conv, Products):
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
        read = not isinstance(conv, Distances) and conv.name not in ("gcn", "none")
        if edges is None or not (read or (elene is not None and elene.level == "ed")):
            return None
        return [self._edge_encoder(edges) for _ in range(count)]

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
            return [None] * (1 if isinstance(self.spec.conv, Nested) else self.spec.layers)
        shared = self._embedding(spec) if spec.share else None
        places = spec.places(self.spec.layers)
        return [
            self._elene_layer(spec, shared or self._embedding(spec)) if layer in places else None
            for layer in range(self.spec.layers)
        ]

    def _elene_layer(self, spec: Elene, embedding: EgoEmbedding) -> ELENE:
        norm = "none" if spec.norm == "none" else "both" if spec.pair_norm else "update"
        level = "edge" if spec.level == "ed" else "node"
        layer = ELENE(self.width, spec.k, level, 0, spec.hidden, spec.pool, norm, embedding)
        if spec.update == "linear":
            for module in layer.modules():
                if isinstance(module, Update):
                    module.activation = nn.Identity()
        return layer

    def _embedding(self, spec: Elene) -> EgoEmbedding:
        rho = self.max_degree if spec.max_degree is None else spec.max_degree
        return EgoEmbedding(spec.k, rho, spec.omega, "edge" if spec.level == "ed" else "node", spec.joint)

    def _layers(self, elene: list[ELENE | None]) -> tuple[list[nn.Module], list[nn.Module]]:
        """The convs, and what follows each of them."""
        conv, layers, dropout = self.spec.conv, self.spec.layers, self.spec.dropout
        if isinstance(conv, Nested):
            inner = [self._plain("gin", self._edges is not None) for _ in range(layers)]
            nested = NGNN(self.width, conv.k, inner, conv.pool, updates(self.width, layers, dropout))
            return [nested], updates(self.width, 1, dropout)
        if conv.name == "graphormer":
            assert isinstance(conv, Distances)
            attention = [Graphormer(self.width, conv.k, gcd(self.width, HEADS), dropout=dropout) for _ in range(layers)]
            return [Centrality(self.width, self.max_degree), *attention], [nn.Identity()] * (layers + 1)
        # Edge-centric ELENE-L gives edges features where the data has none.
        edged = [self._edges is not None or (layer is not None and layer.level == "edge") for layer in elene]
        return [self._conv(edges) for edges in edged], updates(self.width, layers, dropout)

    def _conv(self, edges: bool) -> nn.Module:
        conv = self.spec.conv
        if isinstance(conv, Kernels):
            inner = [self._plain("gin", edges) for _ in range(conv.inner)]
            after = updates(self.width, conv.inner, self.spec.dropout)
            plus = conv.name == "gin-ak+"
            parts = ["centroid", *(["subgraph"] if conv.subgraph else []), *(["context"] if plus else [])]
            return GNNAK(self.width, conv.k, inner, parts, conv.pool, after, conv.fuse)
        if isinstance(conv, Distances):
            return SPNN(self._mlp(), conv.k)
        assert isinstance(conv, Plain)
        return self._plain(conv.name, edges)

    def _plain(self, name: str, edges: bool) -> nn.Module:
        width, edge_dim = self.width, self.width if edges else None
        if name == "none":
            return NoConv()
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
        """Two layers without biases: a BatchNorm follows each, and takes them away."""
        first, second = (nn.Linear(self.width, self.width, bias=False) for _ in range(2))
        return nn.Sequential(first, nn.BatchNorm1d(self.width), nn.ReLU(), second)
