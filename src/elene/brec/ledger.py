"""Ledgers: what RPC says about BREC's pairs, kept in a small text file for each model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from elene.brec.rpc import COPIES, DIM, RESOLUTION, PairResult, run_pair, threshold
from elene.brec.tally import Tally
from elene.datasets import BrecPair
from elene.experiments.config.errors import explain_errors
from elene.experiments.config.network import Settings
from elene.experiments.config.spec import ExperimentSpec
from elene.experiments.results.machine import machine, versions
from elene.experiments.results.origin import Code, Origin
from elene.experiments.results.records import write_text
from elene.experiments.results.store import today
from elene.experiments.results.tables import title_of
from elene.files import holding

FOLDER = "brec"


class Setting(Settings):
    """What the results of pairs depend on: the first line of their file.

    Args:
        spec: which model, and how it was trained.
        origin: the code, and the hash of all pairs that there are.
        seed: of weights and relabellings.
        copies: relabelled copies of each graph.
        dim: length of embeddings.
        threshold: what T2 is compared with.
        resolution: relative differences below it are none.
        versions: of Python and libraries.
        machine: where it ran.
        date: when it was begun.
    """

    spec: ExperimentSpec
    origin: Origin
    seed: int
    copies: int
    dim: int
    threshold: float
    resolution: float
    versions: dict[str, str]
    machine: dict[str, str | int]
    date: str


class Ledger:
    """The results of a model's pairs, in ``brec/ROW/SPEC-COMMIT-DATA-seedS.jsonl`` in the folder of results.

    Args:
        path: the file.
        setting: what they depend on.
        pairs: the results there are so far.

    Example:
        >>> from elene.experiments import config
        >>> from elene.experiments.results.origin import Code
        >>> origin = Origin(code=Code(commit="v1.0"), data="f" * 64)
        >>> ledger = Ledger.open("no such folder", config.load("brec", "gin"), origin, seed=0)
        >>> ledger.path.parts[:3], len(ledger.pairs)
        (('no such folder', 'brec', 'gin'), 0)
    """

    def __init__(self, path: Path, setting: Setting, pairs: Iterable[PairResult] = ()) -> None:
        self.path, self.setting = path, setting
        self.pairs = {result.pair: result for result in pairs}

    @classmethod
    def open(cls, results: str | os.PathLike[str], spec: ExperimentSpec, origin: Origin, seed: int) -> Ledger:
        """The ledger of a model: what there is of it, or an empty one."""
        path = Path(results, FOLDER, spec.row, f"{spec.identity}-{origin.name}-seed{seed}.jsonl")
        if path.is_file():
            return cls.read(path)
        setting = Setting(
            spec=spec,
            origin=origin,
            seed=seed,
            copies=COPIES,
            dim=DIM,
            threshold=round(threshold(), 4),
            resolution=RESOLUTION,
            versions=versions(),
            machine=machine(),
            date=today(),
        )
        return cls(path, setting)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Ledger:
        """The ledger in a file."""
        first, *others = Path(path).read_text(encoding="utf-8").splitlines() or [""]
        try:
            setting = Setting.model_validate_json(first)
            return cls(Path(path), setting, [PairResult.model_validate_json(line) for line in others])
        except ValidationError as error:
            kind = PairResult if error.title == "PairResult" else Setting
            raise ValueError(
                f"{path} has no results of this version: {explain_errors(error, kind)}; delete it"
            ) from None

    def add(self, result: PairResult) -> None:
        """Keep a result; the file is written anew, whole or not at all."""
        self.pairs[result.pair] = result
        ordered = [self.pairs[index] for index in sorted(self.pairs)]
        write_text(self.path, "".join(f"{part.model_dump_json()}\n" for part in (self.setting, *ordered)))

    def tally(self, mark: str = "") -> Tally:
        """The pairs counted; the mark tells the model from others of the same row."""
        pairs = self.pairs.values()
        return Tally.count(
            f"{title_of(self.setting.spec.row)}{mark}",
            "trained",
            [(pair.category, pair.distinguished) for pair in pairs],
            round(sum(pair.seconds for pair in pairs), 1),
            sum(not pair.reliable for pair in pairs),
        )


def run_pairs(ledger: Ledger, pairs: Sequence[BrecPair]) -> Iterator[PairResult]:
    """Train and test on those pairs that have no result yet; each result is kept before the next pair.

    Args:
        ledger: where results are kept.
        pairs: what :func:`elene.datasets.read_brec` gives, or some of it.

    Example:
        >>> import tempfile
        >>> from elene.datasets import rook, shrikhande
        >>> from elene.experiments import config
        >>> from elene.experiments.results.origin import origin_of_pairs
        >>> small = config.load("brec", "gin+elene-ed", ["model.hidden=16", "model.layers=2"])
        >>> pairs = [BrecPair(110, "Regular", "strongly_regular", rook(), shrikhande())]
        >>> ledger = Ledger.open(tempfile.mkdtemp(), small, origin_of_pairs(pairs), seed=0)
        >>> [result.distinguished for result in run_pairs(ledger, pairs)]
        [True]
        >>> list(run_pairs(Ledger.read(ledger.path), pairs))
        []
    """
    with holding(f"{ledger.path}.lock"):
        for pair in pairs:
            if pair.index not in ledger.pairs:
                result = run_pair(pair, ledger.setting.spec, ledger.setting.seed)
                ledger.add(result)
                yield result


def tallies(results: str | os.PathLike[str]) -> list[Tally]:
    """What the models in a folder of results tell apart, in the order of their names.

    Of each model those results count that the newest code made.

    >>> tallies("no such folder")
    []
    """
    every = [Ledger.read(path) for path in sorted(Path(results, FOLDER).glob("*/*.jsonl"))]
    newest: dict[str, Code] = {}
    for ledger in every:
        row, code = ledger.setting.spec.row, ledger.setting.origin.code
        newest[row] = max(newest.get(row, code), code, key=lambda code: code.age)
    ledgers = [ledger for ledger in every if ledger.setting.origin.code == newest[ledger.setting.spec.row]]
    rows = Counter(ledger.setting.spec.row for ledger in ledgers)
    return [ledger.tally("" if rows[ledger.setting.spec.row] == 1 else f", {ledger.path.stem}") for ledger in ledgers]
