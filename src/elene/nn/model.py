"""GNN: an encoder, a stack of any PyG convs with ELENE-L where wanted, a readout and a head."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from elene.nn.ego import Ego
from elene.nn.gine import Arcs, EdgeKinds
from elene.nn.layer import ELENE
from elene.validation import brief, check_integer, check_list, check_share

Readout = Callable[[Tensor, Tensor, Tensor], Tensor]


def node_readout(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """One row a node: for node tasks.

    >>> node_readout(torch.ones(3, 2), torch.empty(2, 0), torch.zeros(3)).shape
    torch.Size([3, 2])
    """
    return x


def edge_readout(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """One row an arc, the same for both directions: the ends' sum and product, side by side; for edge tasks.

    >>> edge_readout(torch.ones(3, 2), torch.tensor([[0, 1], [1, 2]]), torch.zeros(3)).shape
    torch.Size([2, 4])
    """
    source, target = x[edge_index[0]], x[edge_index[1]]
    return torch.cat([source + target, source * target], dim=1)


class GraphReadout(nn.Module):
    """One row a graph: for graph tasks.

    Args:
        pool: ``global_add_pool``, ``global_mean_pool``, ``global_max_pool`` of PyG, or anything called like them.

    Example:
        >>> GraphReadout()(torch.ones(3, 2), torch.empty(2, 0), torch.tensor([0, 0, 1])).tolist()
        [[2.0, 2.0], [1.0, 1.0]]
    """

    def __init__(self, pool: Callable[[Tensor, Tensor], Tensor] = global_add_pool) -> None:
        super().__init__()
        self.pool = pool

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Pool the nodes of each graph."""
        return self.pool(x, batch)


class VirtualNode(nn.Module):
    """A node that every node of a graph talks to, once after each layer.

    Args:
        channels: width of node features.
        layers: how many convs it stands between.
    """

    def __init__(self, channels: int, layers: int) -> None:
        super().__init__()
        check_integer("layers", layers)
        self.start = nn.Parameter(torch.zeros(check_integer("channels", channels, 1)))
        self.updates = nn.ModuleList(
            nn.Sequential(nn.Linear(channels, channels), nn.LayerNorm(channels), nn.ReLU()) for _ in range(layers)
        )

    def forward(self, layer: int, x: Tensor, state: Tensor | None, batch: Tensor) -> tuple[Tensor, Tensor]:
        """Nodes with the virtual node's state added, and its next state."""
        graphs = int(batch.max()) + 1 if len(batch) else 0
        if state is None:
            state = self.start.expand(graphs, -1)
        x = x + state[batch]
        return x, state + self.updates[layer](state + global_add_pool(x, batch, graphs))


def updates(channels: int, layers: int, dropout: float = 0.0) -> list[nn.Module]:
    """What follows each of so many convs: BatchNorm, ReLU and dropout.

    >>> updates(8, layers=1, dropout=0.5)
    [Sequential(
      (0): BatchNorm1d(8, ...)
      (1): ReLU()
      (2): Dropout(p=0.5, inplace=False)
    )]
    """
    check_integer("channels", channels, 1), check_integer("layers", layers), check_share("dropout", dropout)
    return [nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU(), nn.Dropout(dropout)) for _ in range(layers)]


def check_modules(name: str, modules: Any) -> Sequence[nn.Module]:
    """A list of modules, or an error that names what is in their place.

    >>> check_modules("convs", [nn.Identity(), "gin"])
    Traceback (most recent call last):
    TypeError: convs must be a list of modules, got 'gin' in it
    """
    found: Any = modules if isinstance(modules, nn.ModuleList) else check_list(name, modules, "modules")
    for module in found:
        if not isinstance(module, nn.Module):
            raise TypeError(f"{name} must be a list of modules, got {brief(module)} in it")
    return found


class GNN(nn.Module):
    """A graph network: embed, then for every layer ELENE-L (where given), conv, update and skip; read out; head.

    The skip connection of a layer begins before its ELENE-L, as in the published networks: what ELENE-L adds goes
    through the conv.

    Modules go in, not names. A conv is any PyG conv, :class:`GINE`, or a baseline of :mod:`elene.baselines`; it is
    given ``edge_attr``, ``ego``, ``batch`` and ``arcs`` (:class:`Arcs`) if its ``forward`` takes them.

    Args:
        encoder: embeds or projects ``data.x``.
        convs: the layers, each mapping ``(nodes, channels)`` to the same shape.
        updates: for each conv what follows it; :func:`updates` makes the usual BatchNorm, ReLU and dropout.
        head: maps what the readout gives to the output.
        elene: for each conv an :class:`ELENE` to go before it, or None; by default none anywhere.
        edge_encoders: for each conv a module that embeds ``data.edge_attr`` afresh; by default it is used as it is.
            Where the data has none, they are given zeros, one an arc, to be embedded as a learned constant.
        readout: :class:`GraphReadout` (the default: sum), :func:`node_readout`, :func:`edge_readout` or your own.
        virtual_node: a :class:`VirtualNode`, or None.

    Example:
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import GINConv
        >>> from elene.transforms import EgoStructure
        >>> data = EgoStructure(k=1)(Data(x=torch.ones(3, 4), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])))
        >>> convs = [GINConv(nn.Linear(8, 8)) for _ in range(2)]
        >>> model = GNN(nn.Linear(4, 8), convs, updates(8, 2), nn.Linear(8, 1), elene=[ELENE(8, k=1), None])
        >>> model(data).shape
        torch.Size([1, 1])
    """

    def __init__(
        self,
        encoder: nn.Module,
        convs: Sequence[nn.Module],
        updates: Sequence[nn.Module],
        head: nn.Module,
        elene: Sequence[ELENE | None] | None = None,
        edge_encoders: Sequence[nn.Module] | None = None,
        readout: Readout | None = None,
        virtual_node: VirtualNode | None = None,
    ) -> None:
        super().__init__()
        for name, modules in (("updates", updates), ("elene", elene), ("edge_encoders", edge_encoders)):
            if modules is not None and len(modules) != len(convs):
                raise ValueError(f"{name} must have one entry for each of the {len(convs)} convs, got {len(modules)}")
        self.encoder, self.head, self.virtual_node = encoder, head, virtual_node
        self.convs, self.updates = nn.ModuleList(convs), nn.ModuleList(updates)
        self.elene = nn.ModuleList(nn.Identity() if layer is None else layer for layer in elene or [None] * len(convs))
        self.edge_encoders = None if edge_encoders is None else nn.ModuleList(edge_encoders)
        self.readout = GraphReadout() if readout is None else readout
        known = {"edge_attr", "ego", "batch", "arcs"}
        self._wanted = [known & set(inspect.signature(conv.forward).parameters) for conv in convs]

    @property
    def needs_ego(self) -> bool:
        """Whether a layer reads ego-network lists, so that data must have gone through ``EgoStructure``."""
        return any(isinstance(layer, ELENE) for layer in self.elene) or any("ego" in names for names in self._wanted)

    def forward(self, data: Any, ego: Ego | None = None) -> Tensor:
        """The output for a ``Data`` or ``Batch``, which is left as it was.

        Where the same data comes again and again, as one large graph does, pass ``Ego.of(data)``, made once.
        """
        if not isinstance(getattr(data, "x", None), Tensor):
            raise ValueError("data has no node features x: set data.x, for example to torch.ones(data.num_nodes, 1)")
        batch = data.batch if getattr(data, "batch", None) is not None else data.edge_index.new_zeros(data.num_nodes)
        ego = Ego.of(data) if ego is None and self.needs_ego else ego
        x, state, arcs = self.encoder(data.x), None, Arcs(data.edge_index, data.num_nodes)
        for i, conv in enumerate(self.convs):
            edge_attr = self._edges(i, data)
            if self.virtual_node is not None:
                x, state = self.virtual_node(i, x, state, batch)
            layer, seen = self.elene[i], x
            if isinstance(layer, ELENE):
                seen, edge_attr = layer(x, data.edge_index, edge_attr, ego)
            given = {"edge_attr": edge_attr, "ego": ego, "batch": batch, "arcs": arcs}
            inputs = {name: given[name] for name in self._wanted[i]}
            x = self._skipped(x, seen) + self.updates[i](conv(seen, data.edge_index, **inputs))
        return self.head(self.readout(x, data.edge_index, batch))

    def _edges(self, layer: int, data: Any) -> Tensor | EdgeKinds | None:
        """The edge features that a layer starts from."""
        edge_attr: Tensor | None = data.edge_attr if "edge_attr" in data else None
        if self.edge_encoders is None:
            return edge_attr
        absent = data.edge_index.new_zeros(data.edge_index.shape[1], 1) if edge_attr is None else edge_attr
        encoded: Tensor | EdgeKinds = self.edge_encoders[layer](absent)
        return encoded

    def _skipped(self, x: Tensor, seen: Tensor) -> Tensor:
        """What a layer's output is added to: x entered the layer, and its conv has seen what ELENE-L made of it."""
        return x
