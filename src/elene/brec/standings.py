"""Standings: all methods in the order of what they tell apart: published ones, encodings, and models trained here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from elene.brec.encodings import KIND, METHODS, Method, count_encodings
from elene.brec.ledger import FOLDER, tallies
from elene.brec.tally import CATEGORIES, Tally
from elene.datasets import BrecPair
from elene.experiments.config.network import Settings
from elene.experiments.results.records import read_record, write_record
from elene.experiments.results.store import today
from elene.experiments.results.tables import read_tsv

FILE = Path(FOLDER, "encodings.json")


class _Count(Settings):
    told_apart: dict[str, int]
    tried: dict[str, int]
    seconds: float
    date: str


class _Counts(Settings):
    """What the file holds."""

    methods: dict[str, _Count]


def measure(
    pairs: Sequence[BrecPair],
    results: str | os.PathLike[str],
    methods: Sequence[Method] = METHODS,
    threads: int | None = None,
    report: Callable[[Method, int], None] | None = None,
) -> Iterator[Tally]:
    """Count what encodings tell apart with nothing learned, unless the folder of results has the counts of these pairs.

    Counts are kept in ``brec/encodings.json`` in that folder. The other arguments are those of
    :func:`elene.brec.encodings.count_encodings`.

    Yields:
        The tally of each method that was counted.

    Example:
        >>> import tempfile
        >>> from elene.datasets import rook, shrikhande
        >>> pairs = [BrecPair(110, "Regular", "strongly_regular", rook(), shrikhande())]
        >>> folder = tempfile.mkdtemp()
        >>> [tally.total for tally in measure(pairs, folder, METHODS[2:4])], list(measure(pairs, folder, METHODS[2:4]))
        ([0, 1], [])
    """
    path = Path(results, FILE)
    known = dict(_read(path))
    tried = {category: sum(pair.category == category for pair in pairs) for category in CATEGORIES}
    missing = [one for one in methods if one.name not in known or known[one.name].tried != tried]
    for tally in count_encodings(pairs, missing, threads, report):
        told = {category: tally.told_apart.get(category, 0) for category in CATEGORIES}
        known[tally.method] = _Count(told_apart=told, tried=tried, seconds=tally.seconds or 0.0, date=today())
        write_record(_Counts(methods=known), path)
        yield tally


def _read(path: Path) -> Mapping[str, _Count]:
    return read_record(path, _Counts, "list of counts").methods if path.is_file() else {}


def standings(results: str | os.PathLike[str]) -> list[Tally]:
    """All methods of which a folder of results or the literature tells, in the order of :func:`ranked`.

    >>> standings("nothing here")[0]
    Tally(method='I2-GNN', kind='published', told_apart={'Basic': 60, ...}, ...)
    """
    published = [Tally(line["method"], "published", _told(line), CATEGORIES) for line in read_tsv("brec.tsv")]
    counted = [
        Tally(name, KIND, count.told_apart, count.tried, count.seconds)
        for name, count in _read(Path(results, FILE)).items()
    ]
    return ranked([*published, *counted, *tallies(results)])


def ranked(every: Sequence[Tally]) -> list[Tally]:
    """Those that tell the most pairs apart first, and behind them those that were not tried on all pairs.

    >>> [tally.total for tally in ranked([Tally("a", "", {"CFI": 1}, {}), Tally("b", "", {"CFI": 2}, {})])]
    [2, 1]
    """
    return sorted(every, key=lambda tally: (not tally.complete, -tally.total))


def _told(line: Mapping[str, str]) -> dict[str, int]:
    return {name: int(line[f"{name.lower()}{count}"]) for name, count in CATEGORIES.items()}
