"""What is encoded: the parameters that encode(), Encoder, the transforms and the command line share, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.validation import check_choice, check_depths, check_integer

LEVELS = ("node", "edge", "pair")
DEGREES = ("relative", "absolute")
FORMS = ("marginal", "joint", "product")
KINDS = ("closer", "degree", "farther")
FREE_COLUMNS = 4_000_000  # of a marginal table, 128 MB, whatever the graph is


class Quadruplet(NamedTuple):
    """A node of a subgraph as its root sees it: ``(distance, closer, degree, farther)``.

    >>> Quadruplet(1, 1, 6, 3).farther
    3
    """

    distance: int
    closer: int
    degree: int
    farther: int


class Column(NamedTuple):
    """A column of a marginal encoding: how many nodes at this distance have this value of closer, degree or farther.

    >>> print(Column(depth=2, distance=1, kind="closer", value=1))
    k2.distance1.closer1
    """

    depth: int
    distance: int
    kind: str
    value: int

    def __str__(self) -> str:
        return f"k{self.depth}.distance{self.distance}.{self.kind}{self.value}"


class JointColumn(NamedTuple):
    """A column of a joint encoding: how many nodes have this quadruplet (IGEL: this distance and degree).

    For edges and pairs it holds the two readings, the smaller first; None stands for everything not in the vocabulary.

    >>> print(JointColumn(depth=1, quadruplet=Quadruplet(1, 1, 6, 3)))
    k1.(1,1,6,3)
    """

    depth: int
    quadruplet: tuple[Any, ...] | None

    def __str__(self) -> str:
        if self.quadruplet is None:
            return f"k{self.depth}.unknown"
        parts = self.quadruplet if isinstance(self.quadruplet[0], tuple) else (self.quadruplet,)
        return f"k{self.depth}." + "".join("(" + ",".join(map(str, part)) + ")" for part in parts)


@dataclass(frozen=True)
class EncodingSpec:
    """The checked parameters of an encoding; build it with :meth:`of`.

    >>> EncodingSpec.of(k=[1, 2], level="edge").depths
    (1, 2)
    """

    depths: tuple[int, ...]
    level: str
    degrees: str
    form: str
    max_degree: int | None
    radius: int | None

    @classmethod
    def of(
        cls,
        k: Any,
        level: str = "node",
        degrees: str = "relative",
        form: str = "marginal",
        max_degree: int | None = None,
        radius: int | None = None,
    ) -> EncodingSpec:
        """Check everything and put it together; errors name the argument, the value and what would be right."""
        check_choice("level", level, LEVELS)
        check_choice("degrees", degrees, DEGREES)
        check_choice("form", form, FORMS)
        if form == "product" and level == "node":
            raise ValueError("form='product' multiplies the vectors of two ends: pass level='edge' or level='pair'")
        if radius is not None and level != "pair":
            raise ValueError(f"radius={radius!r} is for level='pair', and level is {level!r}: leave radius out")
        rho = None if max_degree is None else check_integer("max_degree", max_degree)
        reach = None if radius is None else check_integer("radius", radius)
        return cls(check_depths(k), level, degrees, form, rho, reach)

    @property
    def absolute(self) -> bool:
        """Whether only degrees are kept (IGEL)."""
        return self.degrees == "absolute"

    def marginal_table(self, depth: int, rho: int, useful: int = 0) -> NDArray[np.int64]:
        """The marginal columns of one depth in order, as rows (depth, distance, number of the kind, value).

        Args:
            depth: the depth.
            rho: the largest value.
            useful: how many of its columns a graph can make use of; a table may be ten times as long, and not more.
        """
        kinds = [1] if self.absolute else [0, 1, 2]
        columns = len(kinds) * (depth + 1) * (rho + 1)
        if columns > max(FREE_COLUMNS, 10 * useful):
            raise ValueError(
                f"k={depth} and degrees up to {rho} need {columns} columns, most of which can only hold zeros: "
                "pass a smaller max_degree or k"
            )
        table = np.empty((depth + 1, len(kinds), rho + 1, 4), np.int64)
        table[..., 0] = depth
        table[..., 1] = np.arange(depth + 1)[:, None, None]
        table[..., 2] = np.array(kinds)[None, :, None]
        table[..., 3] = np.arange(rho + 1)
        return table.reshape(-1, 4)

    def name_columns(self, table: NDArray[np.int64]) -> list[Column] | list[JointColumn]:
        """Named tuples for the rows of a table of columns."""
        if self.form != "joint":
            return [Column(depth, distance, KINDS[kind], value) for depth, distance, kind, value in table.tolist()]
        return [JointColumn(row[0], self._quadruplet(row[1:])) for row in table.tolist()]

    def _quadruplet(self, fields: list[int]) -> tuple[Any, ...] | None:
        if fields[0] < 0:
            return None
        one: type[Quadruplet] | None = None if self.absolute else Quadruplet
        width = 2 if self.absolute else 4
        parts = [
            tuple(fields[i : i + width]) if one is None else one(*fields[i : i + width])
            for i in range(0, len(fields), width)
        ]
        return parts[0] if self.level == "node" else tuple(parts)
