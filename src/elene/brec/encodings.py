"""How many pairs of BREC each encoding tells apart, alone and refined, without learning anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

from elene.brec.tally import Tally
from elene.datasets.brec import BrecPair
from elene.encoding.fingerprints import fingerprint
from elene.engine.parallel import count_threads


@dataclass(frozen=True)
class Method:
    """A way to tell graphs apart: what :func:`elene.fingerprint` is called with.

    >>> Method("ED, k=1 + 1-WL", (1,), "edge", "wl").level
    'edge'
    """

    name: str
    k: tuple[int, ...]
    level: str
    refine: str | None

    def separates(self, pair: BrecPair) -> bool:
        """Whether the fingerprints of the two graphs differ."""
        a, b = (fingerprint(graph, self.k, self.level, self.refine) for graph in (pair.a, pair.b))
        return a != b


KIND = "nothing learned"

# At k = 0 a node's encoding says nothing, so that the refinement runs alone.
METHODS = (
    Method("1-WL", (0,), "node", "wl"),
    Method("2-FWL", (0,), "node", "2fwl"),
    Method("ND, k=2 + 1-WL", (2,), "node", "wl"),
    Method("ED, k=1 + 1-WL", (1,), "edge", "wl"),
    Method("ED, k=1..4 + 1-WL", (1, 2, 3, 4), "edge", "wl"),
    Method("PD, k=1..4", (1, 2, 3, 4), "pair", None),
    Method("PD, k=1 + 2-FWL", (1,), "pair", "2fwl"),
    Method("PD, k=1..4 + 2-FWL", (1, 2, 3, 4), "pair", "2fwl"),
)


def count_encodings(
    pairs: Sequence[BrecPair],
    methods: Sequence[Method] = METHODS,
    threads: int | None = None,
    report: Callable[[Method, int], None] | None = None,
) -> Iterator[Tally]:
    """Count the pairs that one method after the other tells apart; every pair is computed anew by each of them.

    Args:
        pairs: what :func:`elene.datasets.read_brec` gives.
        methods: what to count.
        threads: how many threads to use; by default one for every core.
        report: called as ``report(method, pairs done)``.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> pair = BrecPair(0, "Regular", "strongly_regular", rook(), shrikhande())
        >>> [(tally.method, tally.total) for tally in count_encodings([pair], METHODS[2:4])]
        [('ND, k=2 + 1-WL', 0), ('ED, k=1 + 1-WL', 1)]
    """
    for method in methods:
        # Once before the clock starts, for the first call may have to compile.
        for pair in pairs[:1]:
            method.separates(pair)
        started, told = perf_counter(), []
        with ThreadPoolExecutor(count_threads(threads)) as pool:
            for pair, distinguished in zip(pairs, pool.map(method.separates, pairs), strict=True):
                told.append((pair.category, distinguished))
                if report is not None:
                    report(method, len(told))
        yield Tally.count(method.name, KIND, told, round(perf_counter() - started, 1))
