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
        >>> embedding = EgoEmbedding(k=2, max_degree=6, dim=16)
        >>> embedding
        EgoEmbedding(k=2, max_degree=6, dim=16, level='node', joint=True, intersection=True)
        >>> embedding.node(torch.tensor([[1, 1, 3, 2]]), torch.tensor([1])).shape
        torch.Size([1, 48])
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
        shape = (self.max_degree + 1, self.dim, joint)
        self.node = DegreeTables(self.k + 1, *shape)
        self.rooted = DegreeTables(3 * (self.k + 1), *shape) if level == "edge" else None
        self.inside = DegreeTables(self.k + 1, *shape) if level == "edge" and intersection else None

    def reset_parameters(self) -> None:
        """Draw all tables anew."""
        for tables in (self.node, self.rooted, self.inside):
            if tables is not None:
                tables.reset_parameters()

    def extra_repr(self) -> str:
        """Every argument."""
        return (
            f"k={self.k}, max_degree={self.max_degree}, dim={self.dim}, level={self.level!r}, joint={self.joint}, "
            f"intersection={self.intersection}"
        )

    def __repr__(self) -> str:
        return f"EgoEmbedding({self.extra_repr()})"

    def node_rows(self, ego: Ego) -> Tensor:
        """Each distinct quadruplet's three embeddings side by side, ``(rows, 3 dim)``."""
        rows: Tensor = self.node(ego.quadruplets, ego.quadruplets[:, 0])
        return rows

    def edge_rows(self, ego: Ego) -> tuple[Tensor, Tensor | None]:
        """The same for each distinct end of edges around a root, and for each reading inside an intersection."""
        assert self.rooted is not None
        ends = ego.rooted_ends.quadruplets
        rooted = self.rooted(ends, ends[:, 0])
        if self.inside is None:
            return rooted, None
        ends = ego.inside_ends.quadruplets
        return rooted, self.inside(ends, ends[:, 0])


class DegreeTables(nn.Module):
    """A table for each of closer, degree and farther, by distance and degree.

    Args:
        distances: how many distances there are.
        degrees: how many degrees; larger ones share the last.
        dim: omega.
        joint: one row for each pair of both, or one for each of them, added.

    Shapes:
        quadruplets ``(rows, 4)`` and their distances ``(rows,)``; gives ``(rows, 3 dim)``.

    Example:
        >>> tables = DegreeTables(distances=2, degrees=4, dim=8, joint=False)
        >>> tables(torch.tensor([[1, 1, 3, 2]]), torch.tensor([1])).shape
        torch.Size([1, 24])
    """

    def __init__(self, distances: int, degrees: int, dim: int, joint: bool) -> None:
        super().__init__()
        self.degrees, self.joint = degrees, joint
        self._sizes = sizes = [distances * degrees] if joint else [distances, degrees]
        # One module holds the tables of all three kinds, one after the other, so that they are one look-up.
        self.tables = nn.ModuleList(nn.Embedding(3 * size, dim) for size in sizes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw each table as published: Xavier's normal distribution, with a gain of 1 / omega."""
        for table in self.tables:
            assert isinstance(table, nn.Embedding)
            for kind in table.weight.data.chunk(3):
                nn.init.xavier_normal_(kind, gain=1 / table.embedding_dim)

    def forward(self, quadruplets: Tensor, distance: Tensor) -> Tensor:
        """The embeddings of each row."""
        degree = quadruplets[:, 1:].clamp(max=self.degrees - 1).long()
        distance = distance.long()[:, None].expand_as(degree)
        indices = [distance * self.degrees + degree] if self.joint else [distance, degree]
        found = [
            table(index + torch.arange(3, device=index.device) * size).flatten(1)
            for table, index, size in zip(self.tables, indices, self._sizes, strict=True)
        ]
        return found[0] if self.joint else found[0] + found[1]
