"""All rooted subgraphs of a batch as one graph of copies, and a network that runs on them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from elene.forking import cached_property
from elene.nn.ego import Ego
from elene.nn.entries import check_tensor
from elene.nn.gine import Arcs, EdgeKinds
from elene.nn.model import check_modules
from elene.nn.model import updates as usual_updates
from elene.validation import check_integer


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """The k-hop subgraphs around every root, side by side: each node of each subgraph is a copy of its own.

    Args:
        node: the node that each copy stands for.
        root: the root of the subgraph that it lies in.
        hop: its distance to the root.
        edge_index: the arcs between copies, ``(2, arcs of copies)``.
        arc: for each of them its place in the graph's own ``edge_index``.
        anchor: for each node the copy that speaks for it: its copy in the subgraph of the nearest root, itself if it is
            a root.

    Example:
        >>> from torch_geometric.data import Data
        >>> from elene.transforms import EgoStructure
        >>> path = EgoStructure(1, "edge")(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> subgraphs = Subgraphs.of(Ego.of(path), path.edge_index)
        >>> subgraphs.root.tolist(), subgraphs.node.tolist(), subgraphs.hop.tolist()
        ([0, 0, 1, 1, 1, 2, 2], [0, 1, 1, 0, 2, 2, 1], [0, 1, 0, 1, 1, 0, 1])
        >>> subgraphs.edge_index.shape, subgraphs.anchor.tolist()
        (torch.Size([2, 8]), [0, 2, 5])
    """

    node: Tensor
    root: Tensor
    hop: Tensor
    edge_index: Tensor
    arc: Tensor
    anchor: Tensor

    @classmethod
    def of(cls, ego: Ego, edge_index: Tensor) -> Subgraphs:
        """The subgraphs of an :class:`Ego` with ``level="edge"``; kept, so that every layer gets the same ones."""
        if not isinstance(ego, Ego):
            raise TypeError(f"ego must be an Ego, got {type(ego).__name__}: pass Ego.of(data)")
        found = ego.ends(edge_index)  # which are the same again exactly if the edge_index is
        if ego not in _KEPT or _KEPT[ego][0] is not found:
            _KEPT[ego] = found, cls._build(ego, *found)
        return _KEPT[ego][1]

    @classmethod
    def _build(cls, ego: Ego, ends: Tensor, directions: Tensor) -> Subgraphs:
        assert ego.triples is not None
        node, root, hop = ego.pairs.columns.long(), ego.pairs.rows, hops(ego)
        keys, order = (root * ego.pairs.num_columns + node).sort()
        edge, around = ego.triples.columns.long(), ego.triples.rows * ego.pairs.num_columns
        low, high = (order[torch.searchsorted(keys, around + end[edge])] for end in ends)
        arcs = torch.stack([torch.cat([low, high]), torch.cat([high, low])])
        places = torch.cat([direction[edge] for direction in directions])
        return cls(node, root, hop, arcs, places, (hop == 0).nonzero().flatten())

    @cached_property
    def arcs(self) -> Arcs:
        """The arcs between copies, for the convs that group them."""
        return Arcs(self.edge_index, len(self.node))

    @cached_property
    def sizes(self) -> Tensor:
        """How many copies each root's subgraph has."""
        return torch.bincount(self.root, minlength=len(self.anchor))

    @cached_property
    def copies(self) -> Tensor:
        """How many copies each node has."""
        return torch.bincount(self.node, minlength=len(self.anchor))

    def sample(self, cover: int) -> Subgraphs:
        """The subgraphs of random roots, enough of them for every node to have ``cover`` copies if it has so many.

        Roots are shuffled, and every node asks for the first ``cover`` of those whose subgraphs hold it.
        """
        nodes = len(self.anchor)
        rank = torch.randperm(nodes, device=self.node.device)[self.root]
        order = (self.node * nodes + rank).argsort()
        place = torch.arange(len(order), device=order.device) - (self.copies.cumsum(0) - self.copies)[self.node[order]]
        wanted = torch.zeros(nodes, dtype=torch.bool, device=order.device)
        wanted[self.root[order[place < cover]]] = True
        return self._only(wanted[self.root], rank)

    def _only(self, kept: Tensor, rank: Tensor) -> Subgraphs:
        """Some of the subgraphs; of a node's nearest roots the one of lowest rank speaks for it."""
        number = kept.cumsum(0) - 1
        inside = kept[self.edge_index[0]]
        node, root, hop = self.node[kept], self.root[kept], self.hop[kept]
        nodes, depth = len(self.anchor), int(self.hop.max()) + 1 if len(self.hop) else 1
        nearest = ((node * depth + hop) * nodes + rank[kept]).argsort()
        copies = torch.bincount(node, minlength=nodes)
        anchor = nearest[copies.cumsum(0) - copies]
        return Subgraphs(node, root, hop, number[self.edge_index[:, inside]], self.arc[inside], anchor)


_KEPT: WeakKeyDictionary[Ego, tuple[tuple[Tensor, Tensor], Subgraphs]] = WeakKeyDictionary()


def hops(ego: Ego) -> Tensor:
    """The distance of each (root, node) pair.

    >>> from torch_geometric.data import Data
    >>> from elene.transforms import EgoStructure
    >>> edge = EgoStructure(1)(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2))
    >>> hops(Ego.of(edge)).tolist()
    [0, 1, 0, 1]
    """
    return ego.quadruplets[:, 0].long()[ego.pairs.codes[:, 0].long()]


def pooled(values: Tensor, groups: Tensor, sizes: Tensor, pool: str) -> Tensor:
    """The sums or means of the rows of each group, of which there are as many as sizes.

    >>> pooled(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 1, 1]), torch.tensor([1, 2]), "mean").tolist()
    [[1.0], [3.0]]
    """
    sums: Tensor = _Sums.apply(values, groups, len(sizes))
    return sums / sizes.clamp(min=1)[:, None] if pool == "mean" else sums


def sums_by_hop(values: Tensor, groups: Tensor, hop: Tensor, shape: tuple[int, int]) -> Tensor:
    """The sums of rows with the same group and hop, ``(groups, hops, width)``; ``shape`` is (groups, hops).

    >>> sums_by_hop(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 0, 0]), torch.tensor([0, 1, 1]), (1, 2))
    tensor([[[1.],
             [6.]]])
    """
    sums: Tensor = _Sums.apply(values, groups * shape[1] + hop, shape[0] * shape[1])
    return sums.reshape(*shape, values.shape[1])


class _Sums(torch.autograd.Function):
    """The sums of the rows of each group: ``index_add`` of torch would keep the rows, ``scatter_add`` is slow."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, groups: Tensor, count: int) -> Tensor:
        ctx.groups = groups
        return values.new_zeros(count, values.shape[1]).index_add_(0, groups, values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return grads[0].index_select(0, ctx.groups), None, None


def lists_at(ego: Any, k: int, x: Tensor) -> Ego:
    """The lists of depth k; an error unless they are as deep and have one root for each row of x.

    >>> lists_at(None, 2, torch.zeros(3, 8))
    Traceback (most recent call last):
    TypeError: ego must be an Ego, got NoneType: pass Ego.of(data)
    """
    if not isinstance(ego, Ego):
        raise TypeError(f"ego must be an Ego, got {type(ego).__name__}: pass Ego.of(data)")
    check_tensor("x", x)
    if x.dim() != 2 or len(x) != len(ego.pairs.sizes):
        raise ValueError(f"x must have {len(ego.pairs.sizes)} rows, one for each node, got shape {tuple(x.shape)}")
    return ego.at(k)


class RootedGNN(nn.Module):
    r"""A network on every rooted subgraph: what GNN-AK and NGNN run before they pool.

    The copy of :math:`u` in the subgraph of :math:`v` starts from its features and its hop distance, and goes through
    the convs, each followed by an update and a residual connection:

    .. math::
        z(u|v) = W [x_u \,\|\, \mathrm{Emb}(l(u, v))] + b, \qquad z \leftarrow z + \mathrm{update}(\mathrm{conv}(z))

    Args:
        channels: width of node features.
        k: depth of the subgraphs.
        convs: PyG convs, each mapping ``(copies, channels)`` to the same shape; given ``edge_attr`` if they take it.
        updates: for each conv what follows it; by default BatchNorm and ReLU.
        hop_dim: length of the embedding of a hop distance.

    Shapes:
        x ``(nodes, channels)``, edge_attr ``(arcs, ...)`` or None, subgraphs: :class:`Subgraphs`; gives
        ``(copies, channels)``.

    Example:
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import GINConv
        >>> from elene.transforms import EgoStructure
        >>> path = EgoStructure(1, "edge")(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
        >>> gnn = RootedGNN(8, k=1, convs=[GINConv(nn.Linear(8, 8))])
        >>> gnn(torch.randn(3, 8), None, Subgraphs.of(Ego.of(path), path.edge_index)).shape
        torch.Size([7, 8])
    """

    def __init__(
        self,
        channels: int,
        k: int,
        convs: Sequence[nn.Module],
        updates: Sequence[nn.Module] | None = None,
        hop_dim: int = 16,
    ) -> None:
        super().__init__()
        convs = check_modules("convs", convs)
        if not len(convs):
            raise ValueError("convs must hold at least one conv")
        updates = usual_updates(channels, len(convs)) if updates is None else check_modules("updates", updates)
        if len(updates) != len(convs):
            raise ValueError(f"updates must have one entry for each of the {len(convs)} convs, got {len(updates)}")
        self.k = check_integer("k", k)
        self.convs, self.updates = nn.ModuleList(convs), nn.ModuleList(updates)
        self.node_in = nn.Linear(check_integer("channels", channels, 1), channels)
        self.hops = nn.Embedding(self.k + 1, check_integer("hop_dim", hop_dim, 1))
        self.hop_in = nn.Linear(hop_dim, channels, bias=False)
        known = {"edge_attr", "arcs"}
        self._wanted = [known & set(inspect.signature(conv.forward).parameters) for conv in convs]

    def forward(self, x: Tensor, edge_attr: Tensor | EdgeKinds | None, subgraphs: Subgraphs) -> Tensor:
        """The state of every copy after the last conv."""
        # One product for a node and one for a hop instead of one for a copy.
        of_hop = self.hop_in(self.hops.weight).index_select(0, subgraphs.hop)
        state = self.node_in(x).index_select(0, subgraphs.node) + of_hop
        if edge_attr is not None and any("edge_attr" in names for names in self._wanted):
            edge_attr = edge_attr.index_select(0, subgraphs.arc)
        given = {"edge_attr": edge_attr, "arcs": subgraphs.arcs}
        for conv, update, wanted in zip(self.convs, self.updates, self._wanted, strict=True):
            state = state + update(conv(state, subgraphs.edge_index, **{name: given[name] for name in wanted}))
        return state
