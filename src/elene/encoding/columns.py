"""What columns count: named tuples whose text is a readable name, unique among the columns of an encoding."""

from __future__ import annotations

from typing import Any, NamedTuple


class Quadruplet(NamedTuple):
    """A node of a subgraph as its root sees it: ``(distance, closer, degree, farther)``.

    >>> Quadruplet(1, 1, 6, 3).farther
    3
    """

    distance: int
    closer: int
    degree: int
    farther: int


class LabelledQuadruplet(NamedTuple):
    """A quadruplet and the label of its node.

    >>> LabelledQuadruplet(1, 1, 6, 3, "C").label
    'C'
    """

    distance: int
    closer: int
    degree: int
    farther: int
    label: Any


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


class LabelledColumn(NamedTuple):
    """The same where nodes have labels: how many of those with this label.

    In the columns that an estimator learned, None stands for all nodes whose label was not there then.

    >>> print(LabelledColumn(depth=2, distance=1, kind="closer", value=1, label="C"))
    k2.distance1.closer1.labelC
    """

    depth: int
    distance: int | None
    kind: str | None
    value: int | None
    label: Any

    def __str__(self) -> str:
        if self.distance is None:
            return f"k{self.depth}.unknown"
        return f"k{self.depth}.distance{self.distance}.{self.kind}{self.value}.label{self.label}"


class JointColumn(NamedTuple):
    """A column of a joint encoding: how many nodes have this quadruplet (IGEL: this distance and degree; with labels
    the label after them).

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


class TypeColumn(NamedTuple):
    """A column of an encoding by types: 1 where the whole multiset of quadruplets is this one.

    The colour is a hash of the multiset in 64 bits, the same in all graphs; None stands for every type that was not
    there when the columns were learned. :meth:`elene.Encoding.example` names a node that has it.

    >>> print(TypeColumn(depth=1, color=0xC0FFEE))
    k1.type.0000000000c0ffee
    """

    depth: int
    color: int | None

    def __str__(self) -> str:
        return f"k{self.depth}.unknown" if self.color is None else f"k{self.depth}.type.{self.color:016x}"


AnyColumn = Column | LabelledColumn | JointColumn | TypeColumn
