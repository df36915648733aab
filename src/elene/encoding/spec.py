"""What is encoded: the parameters that encode(), Encoder, the transforms and the command line share, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.encoding.columns import AnyColumn, Column, JointColumn, LabelledColumn, TypeColumn
from elene.encoding.columns import LabelledQuadruplet as LabelledQuadruplet
from elene.encoding.columns import Quadruplet as Quadruplet
from elene.validation import check_choice, check_depths, check_integer

LEVELS = ("node", "edge", "pair")
DEGREES = ("relative", "absolute")
FORMS = ("marginal", "joint", "type", "product")
LEARNED = ("joint", "type")  # forms whose columns are what the graphs have
KINDS = ("closer", "degree", "farther")
FREE_COLUMNS = 4_000_000  # of a marginal table, 128 MB, whatever the graph is


@dataclass(frozen=True)
class EncodingSpec:
    """The checked parameters of an encoding; build it with :meth:`of`.

    ``labelled`` says whether quadruplets carry labels, as those of graphs with labels do.

    >>> EncodingSpec.of(k=[1, 2], level="edge").depths
    (1, 2)
    """

    depths: tuple[int, ...]
    level: str
    degrees: str
    form: str
    max_degree: int | None
    radius: int | None
    labelled: bool = False

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

    @property
    def learned(self) -> bool:
        """Whether the columns are what the graphs have, so that others may miss some."""
        return self.form in LEARNED or self.labelled

    @property
    def fields(self) -> int:
        """How many numbers stand for a quadruplet."""
        return (2 if self.absolute else 4) + self.labelled

    @property
    def width(self) -> int:
        """How many numbers a row of a table of columns has."""
        if self.form == "type":
            return 3
        if self.form == "joint":
            return 1 + self.fields * (1 if self.level == "node" else 2)
        return 4 + self.labelled

    def marginal_table(
        self, depth: int, rho: int, useful: int = 0, labels: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """The marginal columns of one depth in order, as rows (depth, distance, number of the kind, value).

        Args:
            depth: the depth.
            rho: the largest value.
            useful: how many of its columns a graph can make use of; a table may be ten times as long, and not more.
            labels: the labels that occur; the columns stand there once for each, which is the last number of a row.
        """
        if labels is not None:
            once = self.marginal_table(depth, rho, useful)
            return np.hstack([np.tile(once, (len(labels), 1)), np.repeat(labels, len(once))[:, None]])
        kinds = [1] if self.absolute else [0, 1, 2]
        columns = len(kinds) * (depth + 1) * (rho + 1)
        if columns > max(FREE_COLUMNS, 10 * useful):
            raise ValueError(
                f"k={depth} and degrees up to {rho} need {columns} columns, most of which can only hold zeros: "
                "pass a smaller max_degree or k"
            )
        return _all_columns(tuple(kinds), depth, rho)

    def name_columns(self, table: NDArray[np.int64], label_names: NDArray[Any] | None = None) -> Sequence[AnyColumn]:
        """Named tuples for the rows of a table of columns; ``label_names`` is what the numbers of labels mean."""
        rows = table.tolist()
        if self.form == "type":
            return [TypeColumn(depth, color % 2**64 if known >= 0 else None) for depth, known, color in rows]
        names = None if label_names is None else label_names.tolist()
        if self.form == "joint":
            return [JointColumn(row[0], self._quadruplet(row[1:], names)) for row in rows]
        if self.labelled:
            return [_labelled_column(row, names) for row in rows]
        return [Column(depth, distance, KINDS[kind], value) for depth, distance, kind, value in rows]

    def _quadruplet(self, numbers: list[int], names: list[Any] | None) -> tuple[Any, ...] | None:
        if numbers[0] < 0:
            return None
        parts = []
        for i in range(0, len(numbers), self.fields):
            part: list[Any] = numbers[i : i + self.fields]
            if self.labelled:
                part[-1] = _label(part[-1], names)
            whole = LabelledQuadruplet if self.labelled else Quadruplet
            parts.append(tuple(part) if self.absolute else whole(*part))
        return parts[0] if self.level == "node" else tuple(parts)


@lru_cache(maxsize=2)
def _all_columns(kinds: tuple[int, ...], depth: int, rho: int) -> NDArray[np.int64]:
    """The rows of a marginal table, kept: the parts of a large graph have all the same, and it may be long."""
    table = np.empty((depth + 1, len(kinds), rho + 1, 4), np.int64)
    table[..., 0] = depth
    table[..., 1] = np.arange(depth + 1)[:, None, None]
    table[..., 2] = np.array(kinds)[None, :, None]
    table[..., 3] = np.arange(rho + 1)
    table.setflags(write=False)
    return table.reshape(-1, 4)


def with_unknown(table: NDArray[np.int64], depths: Sequence[int]) -> NDArray[np.int64]:
    """A table of columns, and one row a depth for everything that is not in it.

    >>> with_unknown(np.array([[1, 0, 7]]), [1]).tolist()
    [[1, 0, 7], [1, -1, -1]]
    """
    unknown = np.full((len(depths), table.shape[1]), -1)
    unknown[:, 0] = depths
    return np.concatenate([table[table[:, 1] >= 0], unknown])


def _labelled_column(row: list[int], names: list[Any] | None) -> LabelledColumn:
    depth, distance, kind, value, label = row
    if distance < 0:
        return LabelledColumn(depth, None, None, None, None)
    return LabelledColumn(depth, distance, KINDS[kind], value, _label(label, names))


def _label(code: int, names: list[Any] | None) -> Any:
    """What a number stands for; a negative one for a label that was not there when the numbers were given."""
    if code < 0:
        return "?"
    return code if names is None else names[code]
