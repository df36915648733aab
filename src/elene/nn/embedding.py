"""EgoEmbedding: the learnable tables of ELENE-L, read at quadruplets."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from elene.nn.ego import Ego
from elene.validation import check_choice, check_integer


class EgoEmbedding(nn.Module):
    r"""Embeddings of quadruplets ``(l, closer, degree, farther)``: one table for each of the three degrees.

    Read jointly, a table has a row for each distance and degree, ``W[(l, d)]``; disjointly it is the sum
    ``W[l] + W[d]``. Around a root, the ends of an edge are read with the direction of the edge,
    ``delta = l_u - l_w + 1``, and summed; so are the two readings of a root in the intersection of an edge's ends.

    Pass one module to several layers to share it between them.

    Args:
        k: depth of the ego-networks.
        max_degree: rho, the largest degree with a row of its own; larger ones share it. 0 ignores degrees.
        dim: omega, the length of an embedding.
        level: ``"node"``, or ``"edge"`` for the tables of edges, too.
        joint: whether distance and degree are embedded jointly.
        intersection: whether edges are embedded with the degrees inside the intersection, which the paper's equations
            leave out; without, the layer is the literal one and cannot tell strongly regular graphs apart.

    Example:
        >>> EgoEmbedding(k=2, max_degree=6, dim=16)
        EgoEmbedding(k=2, max_degree=6, dim=16, level='node', joint=True, intersection=True)
    """

    def __init__(
        self,
        k: int,
        max_degree: int,
        dim: int = 32,
        level: str = "node",
        joint: bool = True,
        intersection: bool = True,
    ) -> None:
        super().__init__()
        check_choice("level", level, ("node", "edge"))
        self.k, self.max_degree = check_integer("k", k), check_integer("max_degree", max_degree)
        self.dim, self.level = check_integer("dim", dim, 1), level
        self.joint, self.intersection = joint, intersection
        self.node = self._tables(self.k + 1)
        edge = level == "edge"
        self.rooted = self._tables(3 * (self.k + 1)) if edge else None
        self.inside = self._tables(self.k + 1) if edge and intersection else None
        self.reset_parameters()

    def _tables(self, distances: int) -> nn.ParameterList:
        degrees = self.max_degree + 1
        sizes = [distances * degrees] if self.joint else [distances, degrees]
        return nn.ParameterList(nn.Parameter(torch.empty(3, size, self.dim)) for size in sizes)

    def reset_parameters(self) -> None:
        """Draw all tables anew."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=self.dim**-0.5)

    def extra_repr(self) -> str:
        """Every argument."""
        return (
            f"k={self.k}, max_degree={self.max_degree}, dim={self.dim}, level={self.level!r}, joint={self.joint}, "
            f"intersection={self.intersection}"
        )

    def __repr__(self) -> str:
        return f"EgoEmbedding({self.extra_repr()})"

    def node_rows(self, ego: Ego, weight: Tensor) -> Tensor:
        """Each distinct quadruplet's three embeddings, concatenated and mapped by a ``(3 dim, width)`` weight."""
        return self._rows(self.node, ego.quadruplets[None], ego.quadruplets[None, :, 0], weight)

    def edge_rows(self, ego: Ego, rooted: Tensor, inside: Tensor) -> Tensor:
        """The same for each distinct pair of quadruplets of edges: around a root, then inside an intersection."""
        assert ego.edge_quadruplets is not None and self.rooted is not None
        ends = ego.edge_quadruplets.reshape(-1, 2, 4).transpose(0, 1)
        first, second = ends[:, : ego.num_rooted], ends[:, ego.num_rooted :]
        delta = first[:, :, 0] - first[:, :, 0].flip(0) + 1
        around = self._rows(self.rooted, first, 3 * first[:, :, 0] + delta, rooted)
        if self.inside is None:
            return torch.cat([around, around.new_zeros(second.shape[1], around.shape[1])])
        return torch.cat([around, self._rows(self.inside, second, second[:, :, 0], inside)])

    def _rows(self, tables: nn.ParameterList, quadruplets: Tensor, distance: Tensor, weight: Tensor) -> Tensor:
        """The sum over ends and kinds of the mapped embeddings: ends x rows x 4 in, rows x width out."""
        degree = quadruplets[:, :, 1:].clamp(max=self.max_degree).long()
        distance = distance.long()[:, :, None].expand_as(degree)
        indices = [distance * (self.max_degree + 1) + degree] if self.joint else [distance, degree]
        mapped = weight.reshape(3, self.dim, -1)
        total = None
        for table, index in zip(tables, indices, strict=True):
            rows = (table.to(mapped.dtype) @ mapped).reshape(-1, mapped.shape[-1])
            kinds = index + torch.arange(3, device=index.device) * table.shape[1]
            bags = kinds.transpose(0, 1).reshape(index.shape[1], 3 * len(index))
            part = nn.functional.embedding_bag(bags, rows, mode="sum")
            total = part if total is None else total + part
        assert total is not None
        return total
