"""How many pairs of BREC each encoding tells apart, alone and refined, without learning anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

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


@dataclass(frozen=True)
class BrecResult:
    """How many pairs of each category a method tells apart, and how long that took."""

    method: Method
    separated: dict[str, int]
    seconds: float

    @property
    def total(self) -> int:
        """How many pairs the method tells apart."""
        return sum(self.separated.values())


def measure_brec(
    pairs: Sequence[BrecPair],
    methods: Sequence[Method] = METHODS,
    threads: int | None = None,
    report: Callable[[Method, int], None] | None = None,
) -> Iterator[BrecResult]:
    """Measure one method after the other; every pair is computed anew by each of them.

    Args:
        pairs: what :func:`elene.datasets.read_brec` gives.
        methods: what to measure.
        threads: how many threads to use; by default one for every core.
        report: called as ``report(method, pairs done)``.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> pair = BrecPair(0, "Regular", "strongly_regular", rook(), shrikhande())
        >>> [(result.method.name, result.total) for result in measure_brec([pair], METHODS[2:4])]
        [('ND, k=2 + 1-WL', 0), ('ED, k=1 + 1-WL', 1)]
    """
    for method in methods:
        # Once before the clock starts, for the first call may have to compile.
        for pair in pairs[:1]:
            method.separates(pair)
        started = perf_counter()
        separated = Counter({pair.category: 0 for pair in pairs})
        with ThreadPoolExecutor(count_threads(threads)) as pool:
            for done, (pair, told_apart) in enumerate(zip(pairs, pool.map(method.separates, pairs), strict=True), 1):
                separated[pair.category] += told_apart
                if report is not None:
                    report(method, done)
        yield BrecResult(method, dict(separated), perf_counter() - started)
