"""Ego: the lists of a graph or batch that ELENE-L sums over, with each distinct quadruplet numbered once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

SMALL = 2**19  # numbers that are summed before a second thread could start


@dataclass(frozen=True, eq=False)
class Entries:
    """A list that joins keys with others, grouped by key.

    Args:
        sizes: how many entries each key has.
        others: the other of each entry.
        codes: one or two rows of a table for each entry, shape ``(entries, 1 or 2)``.
        num_others: how many others there are.
    """

    sizes: Tensor
    others: Tensor
    codes: Tensor
    num_others: int
    _scales: dict[tuple[str, str, torch.dtype], Tensor] = field(default_factory=dict)
    _counts: dict[int, tuple[Tensor, Tensor, Tensor]] = field(default_factory=dict)
    _ranges: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    @cached_property
    def pointers(self) -> Tensor:
        """Where the entries of each key begin."""
        return torch.cat([self.sizes.new_zeros(1, dtype=torch.long), self.sizes.cumsum(0)])

    @cached_property
    def keys(self) -> Tensor:
        """The key of each entry."""
        return torch.repeat_interleave(torch.arange(len(self.sizes), device=self.sizes.device), self.sizes.long())

    def scale(self, by: str, pool: str, dtype: torch.dtype) -> Tensor:
        """What the sums by key or by other are multiplied with: ones, or one over the number of entries."""
        if (by, pool, dtype) not in self._scales:
            count = len(self.sizes) if by == "key" else self.num_others
            sizes = self.sizes if by == "key" else torch.bincount(self.others, minlength=count)
            ones = torch.ones(count, dtype=dtype, device=self.sizes.device)
            self._scales[by, pool, dtype] = ones if pool == "sum" else ones / sizes.clamp(min=1)
        return self._scales[by, pool, dtype]

    def counts(self, rows: int) -> tuple[Tensor, Tensor, Tensor]:
        """How many entries each key, each other and each row of a table has, as doubles."""
        if rows not in self._counts:
            others = torch.bincount(self.others, minlength=self.num_others)
            codes = torch.bincount(self.codes.flatten(), minlength=rows)
            self._counts[rows] = (self.sizes.double(), others.double(), codes.double())
        return self._counts[rows]

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """Pointers, others and codes for the kernels."""
        return self.pointers.numpy(), self.others.numpy(), self.codes.numpy()

    @cached_property
    def turned(self) -> Entries:
        """The same entries, grouped by other; on the CPU."""
        from elene.kernels.structure import transpose

        pointers, keys, came_from = transpose(self.sizes.numpy(), self.others.numpy(), self.num_others)
        codes = torch.from_numpy(self.codes.numpy()[came_from])
        return Entries(torch.from_numpy(np.diff(pointers)), torch.from_numpy(keys), codes, len(self.sizes))

    def ranges(self, width: int, most: int) -> list[tuple[int, int]]:
        """Keys cut into at most so many ranges, and no more than 8, of equal work, none too small to be worth a thread.

        The cut depends on the entries and the width, not on threads, and so does the order of sums.
        """
        count = max(1, min(8, most, len(self.others) * width // SMALL))
        if count not in self._ranges:
            goals = np.arange(1, count) * (len(self.others) / count)
            cuts = np.unique([0, *np.searchsorted(self.pointers.numpy()[1:], goals), len(self.sizes)])
            self._ranges[count] = [(int(a), int(b)) for a, b in pairwise(cuts)]
        return self._ranges[count]


@dataclass(frozen=True, eq=False)
class Ego:
    """What ELENE-L reads of a graph or batch: build it once with :meth:`of` and pass it to every layer.

    Args:
        k: depth of the ego-networks.
        pairs: (root, node) entries, with codes into ``quadruplets``.
        quadruplets: the distinct quadruplets, shape ``(rows, 4)``.
        triples: (root, edge) entries of ``level="edge"``, with codes into ``edge_quadruplets``; else None.
        edge_quadruplets: distinct pairs of quadruplets, ``(rows, 8)``: those of an edge's ends around a root, and from
            row ``num_rooted`` on those of a root in the intersection of an edge's ends.
        num_rooted: how many rows of the first kind there are.
        arcs: the undirected edge of each arc of ``edge_index``.

    Example:
        >>> from torch_geometric.data import Data
        >>> from elene.transforms import EgoStructure
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> ego = Ego.of(EgoStructure(k=1)(path))
        >>> ego.pairs.sizes.tolist(), ego.quadruplets.tolist()
        ([2, 3, 2], [[0, 0, 1, 1], [0, 0, 2, 2], [1, 1, 1, 0]])
    """

    k: int
    pairs: Entries
    quadruplets: Tensor
    triples: Entries | None = None
    edge_quadruplets: Tensor | None = None
    num_rooted: int = 0
    arcs: Tensor | None = None
    _known: list[Tensor] = field(default_factory=list)

    def ends(self, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """The two ends of each undirected edge, the smaller first, and the places of its two arcs."""
        assert self.triples is not None and self.arcs is not None
        if not self._known:
            upward = edge_index[0] < edge_index[1]
            ends, both = (edge_index.new_empty(2, self.triples.num_others) for _ in range(2))
            ends[:, self.arcs[upward]] = edge_index[:, upward]
            for row, chosen in enumerate((upward, ~upward)):
                both[row, self.arcs[chosen]] = chosen.nonzero().flatten()
            self._known.extend([ends, both])
        return self._known[0], self._known[1]

    @classmethod
    def of(cls, data: Any) -> Ego:
        """Read the lists that :class:`elene.transforms.EgoStructure` added to a ``Data`` or ``Batch``."""
        if "ego_shape" not in data:
            raise ValueError("data has no ego-network lists: apply elene.transforms.EgoStructure(k=...) to it first")
        shape = data.ego_shape
        depths = shape[:, 5].unique()
        if len(depths) != 1:
            raise ValueError(f"the graphs of a batch must have one depth, got k in {depths.tolist()}")
        k, (nodes, edges) = int(depths), shape[:, :2].sum(0).tolist()
        codes, quadruplets = _renumber(data.ego_code, data.ego_size, shape[:, [0, 2]], data.ego_quadruplet)
        pairs = Entries(data.ego_size, data.ego_node, codes[:, None], nodes)
        if "ego_edge" not in data:
            return cls(k, pairs, quadruplets)
        rooted, rooted_rows = _renumber(data.ego_rooted, data.ego_triples, shape[:, [0, 3]], data.ego_rooted_pair)
        inside, inside_rows = _renumber(data.ego_inside, data.ego_triples, shape[:, [0, 4]], data.ego_inside_pair)
        codes = torch.stack([rooted, inside + len(rooted_rows)], dim=1)
        triples = Entries(data.ego_triples, data.ego_edge, codes, edges)
        return cls(
            k, pairs, quadruplets, triples, torch.cat([rooted_rows, inside_rows]), len(rooted_rows), data.ego_arc.long()
        )


def _renumber(codes: Tensor, sizes: Tensor, shape: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Codes into each graph's own rows, as codes into the distinct rows of all graphs.

    ``shape`` has (nodes, rows) of each graph, ``sizes`` the number of codes of each node.
    """
    distinct, number = _distinct(rows.cpu().numpy())
    if codes.device.type == "cpu":
        from elene.kernels.structure import renumber

        found = torch.from_numpy(renumber(codes.numpy(), sizes.numpy(), shape.numpy(), number))
    else:
        first = torch.cumsum(shape[:, 1], 0) - shape[:, 1]
        shift = torch.repeat_interleave(torch.repeat_interleave(first, shape[:, 0]), sizes.long())
        found = torch.from_numpy(number).to(codes.device)[codes.long() + shift]
    return found, torch.from_numpy(distinct).to(codes.device)


def _distinct(rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct rows of four or eight small integers in ascending order, and each row's number among them."""
    quadruplets = rows.reshape(-1, 4).astype(np.int64)
    base = int(quadruplets.max(initial=0)) + 1
    keys = ((quadruplets[:, 0] * base + quadruplets[:, 1]) * base + quadruplets[:, 2]) * base + quadruplets[:, 3]
    if rows.shape[1] == 8:
        single, number = np.unique(keys, return_inverse=True)
        keys = number[0::2] * len(single) + number[1::2]
    _, example, number = np.unique(keys, return_index=True, return_inverse=True)
    return rows[example], number.astype(np.int32)
