"""Leaderboard: how many of BREC's pairs are told apart, as published, by encodings, and by models trained here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from elene.brec.encodings import METHODS, Method, measure_brec
from elene.datasets import BrecPair
from elene.experiments.results.tables import read_tsv, title_of
from elene.files import replacing

CATEGORIES = {"Basic": 60, "Regular": 140, "Extension": 100, "CFI": 100}
FILE = Path("brec", "encodings.json")


@dataclass(frozen=True)
class Standing:
    """How many pairs a method tells apart.

    Args:
        method: its name.
        kind: ``"published"``, ``"nothing learned"`` or ``"trained"``.
        told_apart: pairs told apart in each category.
        tried: pairs tried in each category.

    Example:
        >>> Standing("3-WL", "published", {"Basic": 60, "CFI": 60}, CATEGORIES).total
        120
    """

    method: str
    kind: str
    told_apart: Mapping[str, int]
    tried: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many pairs are told apart in all categories."""
        return sum(self.told_apart.values())


class _Count(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    told_apart: dict[str, int]
    tried: dict[str, int]
    seconds: float
    date: str


class _Counts(BaseModel):
    """The content of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    methods: dict[str, _Count]


def measure(
    pairs: Sequence[BrecPair],
    results: str | os.PathLike[str],
    methods: Sequence[Method] = METHODS,
    report: Callable[[Method, int], None] | None = None,
) -> Iterator[str]:
    """Count the pairs that encodings tell apart with nothing learned, if the folder of results does not have that yet.

    Args:
        pairs: what :func:`elene.datasets.read_brec` gives.
        results: the folder; counts are kept in ``brec/encodings.json`` in it.
        methods: what to count.
        report: called as ``report(method, pairs done)``.

    Yields:
        The name of each method that was counted.

    Example:
        >>> import tempfile
        >>> from elene.datasets import rook, shrikhande
        >>> pairs = [BrecPair(110, "Regular", "strongly_regular", rook(), shrikhande())]
        >>> folder = tempfile.mkdtemp()
        >>> list(measure(pairs, folder, METHODS[2:4])), list(measure(pairs, folder, METHODS[2:4]))
        (['ND, k=2 + 1-WL', 'ED, k=1 + 1-WL'], [])
    """
    path = Path(results, FILE)
    known = dict(_read(path))
    tried = {category: sum(pair.category == category for pair in pairs) for category in CATEGORIES}
    for found in measure_brec(pairs, [method for method in methods if method.name not in known], report=report):
        told = {category: found.separated.get(category, 0) for category in CATEGORIES}
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        known[found.method.name] = _Count(told_apart=told, tried=tried, seconds=round(found.seconds, 1), date=date)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(_Counts(methods=known).model_dump_json(indent=1) + "\n", encoding="utf-8")
        yield found.method.name


def _read(path: Path) -> Mapping[str, _Count]:
    if not path.is_file():
        return {}
    try:
        return _Counts.model_validate_json(path.read_text(encoding="utf-8")).methods
    except ValidationError:
        raise ValueError(f"{path} holds no counts of this version: delete it, and count again") from None


def standings(results: str | os.PathLike[str]) -> list[Standing]:
    """All methods, those that tell the most pairs apart first, and behind them those that were not tried on all pairs.

    Args:
        results: the folder of results.

    Example:
        >>> standings("nothing here")[0]
        Standing(method='I2-GNN', kind='published', told_apart={'Basic': 60, ...}, ...)
    """
    published = [Standing(line["method"], "published", _told(line), CATEGORIES) for line in read_tsv("brec.tsv")]
    counted = [
        Standing(name, "nothing learned", count.told_apart, count.tried)
        for name, count in _read(Path(results, FILE)).items()
    ]
    every = [*published, *counted, *_trained(results)]
    return sorted(every, key=lambda one: (dict(one.tried) != CATEGORIES, -one.total))


def _told(line: Mapping[str, str]) -> dict[str, int]:
    return {name: int(line[f"{name.lower()}{count}"]) for name, count in CATEGORIES.items()}


def _trained(results: str | os.PathLike[str]) -> list[Standing]:
    if not Path(results, FILE.parent).is_dir():
        return []
    from elene.brec.ledger import tallies

    return [Standing(title_of(tally.name), "trained", tally.told_apart, tally.tried) for tally in tallies(results)]
