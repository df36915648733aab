"""Batches gathered from the flat arrays of a data set: no graph is ever made, so that small graphs cost little."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from elene.inmemory import is_part, stored
from elene.transforms.schema import EDGES, shift_of


def seed_of(*parts: int | str) -> int:
    """A seed that depends on all parts, and looks random.

    >>> seed_of(0, 1) == seed_of(0, 1), seed_of(0, 1) == seed_of(1, 0)
    (True, False)
    """
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:7], "big")


def untouched_rng() -> AbstractContextManager[None]:
    """Leave the random numbers of whoever called as they were, those of all accelerators included.

    >>> with untouched_rng():
    ...     _ = torch.manual_seed(0)
    """
    return torch.random.fork_rng(devices=range(torch.cuda.device_count()))


@dataclass(frozen=True, eq=False)
class _Group:
    """Arrays with as many rows as each other in every graph; ``pointers`` say where a graph's rows begin."""

    pointers: Tensor
    arrays: dict[str, Tensor]


class Stock:
    """The arrays of an in-memory data set, out of which any of its graphs are gathered as one batch.

    A batch has the keys and values of PyG's ``Batch.from_data_list``, ``batch`` and ``ptr`` included; features stay in
    the small types that the data set keeps them in.

    Args:
        dataset: a PyG in-memory data set, whole, with node features ``x``.

    Example:
        >>> from elene.datasets import load
        >>> batch = Stock(load("sr25")).gather(torch.tensor([3, 0]))
        >>> batch.y.tolist(), batch.ptr.tolist(), batch.edge_index.shape
        ([3, 0], [0, 25, 50], torch.Size([2, 600]))
    """

    def __init__(self, dataset: InMemoryDataset) -> None:
        if is_part(dataset):
            raise ValueError("dataset is a part of a data set: pass the whole, and gather the part's graphs")
        data, pointers = stored(dataset)
        arrays = data.to_dict()
        if "x" not in arrays:
            raise ValueError(f"dataset must have node features x, got only {', '.join(arrays)}")
        self.nodes: Tensor = pointers["x"].diff()
        self.edges: Tensor | None = arrays["ego_shape"][:, EDGES] if "ego_shape" in arrays else None
        self._groups: list[_Group] = []
        for key, array in arrays.items():
            ends = pointers[key]
            group = next((group for group in self._groups if torch.equal(group.pointers, ends)), None)
            if group is None:
                group = _Group(ends, {})
                self._groups.append(group)
            group.arrays[key] = array.contiguous()

    def __len__(self) -> int:
        return len(self.nodes)

    def gather(self, graphs: Tensor) -> Data:
        """The graphs with these numbers, in this order, as one batch."""
        nodes = self.nodes[graphs]
        ptr = _starts(nodes)
        shifts = {"node": ptr} if self.edges is None else {"node": ptr, "edge": _starts(self.edges[graphs])}
        found: dict[str, Tensor] = {}
        for group in self._groups:
            first = group.pointers[graphs]
            sizes = group.pointers[graphs + 1] - first
            rows = _ranges(first, sizes)
            for key, array in group.arrays.items():
                values = array.index_select(1 if key == "edge_index" else 0, rows)
                if key == "edge_index":
                    values = values.long()
                if (by := shift_of(key)) is not None:
                    values += shifts[by][:-1].to(values.dtype).repeat_interleave(sizes)
                found[key] = values
        return Data(**found, batch=torch.arange(len(graphs)).repeat_interleave(nodes), ptr=ptr)


def _starts(sizes: Tensor) -> Tensor:
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])


def _ranges(first: Tensor, sizes: Tensor) -> Tensor:
    """The numbers ``first[i], first[i] + 1, ...``, as many as ``sizes[i]``, for each i.

    >>> _ranges(torch.tensor([5, 0]), torch.tensor([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = sizes.cumsum(0)
    return torch.arange(int(ends[-1]) if len(ends) else 0) + (first - ends + sizes).repeat_interleave(sizes)


class Loader:
    """Batches of some graphs of a stock, once through for each iteration; with a seed in an order of the epoch's own.

    Each batch is dealt out to all processes of a distributed run, so that together they see what one process sees;
    ``share`` of a batch then says how many times the average share of graphs it is.

    Args:
        stock: where the graphs come from.
        graphs: their numbers.
        batch_size: graphs in a batch, over all processes; the last one may have fewer, but not too few to share.
        seed: shuffles the graphs by this seed and ``epoch``; None keeps their order.
        rank: the number of this process.
        world: how many processes there are.

    Attributes:
        epoch: to be set before each iteration.

    Example:
        >>> from elene.datasets import load
        >>> loader = Loader(Stock(load("sr25")), torch.arange(15), batch_size=4, seed=0)
        >>> [len(batch.y) for batch in loader]
        [4, 4, 4, 3]
    """

    def __init__(
        self, stock: Stock, graphs: Tensor, batch_size: int, seed: int | None = None, rank: int = 0, world: int = 1
    ) -> None:
        if len(graphs) < world:
            raise ValueError(f"{len(graphs)} graphs cannot be shared by {world} devices: use fewer devices")
        self.stock, self.graphs, self.seed, self.epoch = stock, graphs, seed, 0
        self.rank, self.world = rank, world
        full, rest = divmod(len(graphs), batch_size)
        # A graph alone may be a node alone, which has no variance; and no process may be left without a graph.
        joined = full > 0 and 0 < rest < 2 * world
        self._sizes = [batch_size] * full + ([rest] if rest and not joined else [])
        if joined:
            self._sizes[-1] += rest

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[Data]:
        order = self.graphs
        if self.seed is not None:
            generator = torch.Generator().manual_seed(seed_of("order", self.seed, self.epoch))
            order = order[torch.randperm(len(order), generator=generator)]
        for part in order.split(self._sizes):
            ours = part[self.rank :: self.world]
            batch = self.stock.gather(ours)
            if self.world > 1:
                batch.share = self.world * len(ours) / len(part)
            yield batch
