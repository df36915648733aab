"""Tally: how many pairs of BREC a method tells apart, in each category; counted here and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CATEGORIES = {"Basic": 60, "Regular": 140, "Extension": 100, "CFI": 100}


@dataclass(frozen=True)
class Tally:
    """How many pairs a method tells apart.

    Args:
        method: its name.
        kind: ``"published"``, ``"nothing learned"`` or ``"trained"``.
        told_apart: pairs told apart in each category.
        tried: pairs tried in each category.
        seconds: what all pairs took; None if that is not known.
        unreliable: pairs in which copies of one graph differed; they do not count as told apart.

    Example:
        >>> tally = Tally.count("1-WL", "nothing learned", [("Basic", True), ("Basic", False)])
        >>> tally.total, tally.of, tally.cells()
        (1, 2, ['1 of 2', '', '', '', '1 of 2'])
    """

    method: str
    kind: str
    told_apart: Mapping[str, int]
    tried: Mapping[str, int]
    seconds: float | None = None
    unreliable: int = 0

    @classmethod
    def count(
        cls,
        method: str,
        kind: str,
        pairs: Iterable[tuple[str, bool]],
        seconds: float | None = None,
        unreliable: int = 0,
    ) -> Tally:
        """Count pairs, given the category of each and whether it was told apart."""
        known = list(pairs)
        tried = Counter(category for category, _ in known)
        told_apart = Counter(category for category, distinguished in known if distinguished)
        return cls(method, kind, {name: told_apart[name] for name in tried}, dict(tried), seconds, unreliable)

    @property
    def total(self) -> int:
        """How many pairs are told apart in all categories."""
        return sum(self.told_apart.values())

    @property
    def of(self) -> int:
        """How many pairs were tried in all categories."""
        return sum(self.tried.values())

    @property
    def complete(self) -> bool:
        """Whether all of BREC was tried."""
        return {name: count for name, count in self.tried.items() if count} == CATEGORIES

    def cells(self, between: str = " of ") -> list[str]:
        """What a table says of each category, and of all: nothing where nothing was tried."""
        told = [(self.told_apart.get(name, 0), self.tried.get(name, 0), size) for name, size in CATEGORIES.items()]
        told.append((self.total, self.of, sum(CATEGORIES.values())))
        return ["" if not of else str(one) if of == size else f"{one}{between}{of}" for one, of, size in told]
