"""Verdicts: what RPC says about BREC's pairs, kept in small text files and counted by category."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from elene.brec.rpc import COPIES, DIM, RESOLUTION, Verdict, compare_pair, threshold
from elene.datasets import BrecPair
from elene.experiments.config.errors import explain_errors
from elene.experiments.config.spec import ExperimentSpec
from elene.experiments.results.machine import machine, versions
from elene.experiments.results.origin import Code, Origin
from elene.files import holding, replacing

FOLDER = "brec"


class Setting(BaseModel):
    """What verdicts depend on: the first line of their file.

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

    model_config = ConfigDict(frozen=True, extra="forbid")

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


@dataclass(frozen=True)
class Tally:
    """How many pairs a model tells apart.

    Args:
        name: of the model.
        told_apart: pairs told apart in each category.
        tried: pairs tried in each category.
        unreliable: pairs in which copies of one graph differed; they do not count as told apart.
        seconds: what all pairs took.

    Example:
        >>> tally = Tally("gin", told_apart={"Basic": 0}, tried={"Basic": 60}, unreliable=0, seconds=60.0)
        >>> tally.total, tally.of
        (0, 60)
    """

    name: str
    told_apart: dict[str, int]
    tried: dict[str, int]
    unreliable: int
    seconds: float

    @property
    def total(self) -> int:
        """How many pairs are told apart in all categories."""
        return sum(self.told_apart.values())

    @property
    def of(self) -> int:
        """How many pairs were tried in all categories."""
        return sum(self.tried.values())


class Ledger:
    """The verdicts on a model, in ``brec/ROW/SPEC-COMMIT-DATA-seedS.jsonl`` in the folder of results.

    Args:
        path: the file.
        setting: what the verdicts depend on.
        verdicts: those there are so far.

    Example:
        >>> from elene.experiments import config
        >>> from elene.experiments.results.origin import Code
        >>> origin = Origin(code=Code(commit="v1.0"), data="f" * 64)
        >>> ledger = Ledger.open("no such folder", config.load("brec", "gin"), origin, seed=0)
        >>> ledger.path.parts[:3], len(ledger.verdicts)
        (('no such folder', 'brec', 'gin'), 0)
    """

    def __init__(self, path: Path, setting: Setting, verdicts: Iterable[Verdict] = ()) -> None:
        self.path, self.setting = path, setting
        self.verdicts = {verdict.pair: verdict for verdict in verdicts}

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
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
        )
        return cls(path, setting)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Ledger:
        """The ledger in a file."""
        first, *others = Path(path).read_text(encoding="utf-8").splitlines() or [""]
        try:
            setting = Setting.model_validate_json(first)
            return cls(Path(path), setting, [Verdict.model_validate_json(line) for line in others])
        except ValidationError as error:
            kind = Verdict if error.title == "Verdict" else Setting
            raise ValueError(
                f"{path} has no verdicts of this version: {explain_errors(error, kind)}; delete it"
            ) from None

    def add(self, verdict: Verdict) -> None:
        """Keep a verdict; the file is written anew, whole or not at all."""
        self.verdicts[verdict.pair] = verdict
        ordered = sorted(self.verdicts.values(), key=lambda verdict: verdict.pair)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary:
            lines = (part.model_dump_json() for part in (self.setting, *ordered))
            temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def tally(self, name: str | None = None) -> Tally:
        """The verdicts counted, under the name of the model's row or another one."""
        verdicts = self.verdicts.values()
        told_apart = Counter(verdict.category for verdict in verdicts if verdict.distinguished)
        tried = Counter(verdict.category for verdict in verdicts)
        return Tally(
            name=self.setting.spec.row if name is None else name,
            told_apart={category: told_apart[category] for category in tried},
            tried=dict(tried),
            unreliable=sum(not verdict.reliable for verdict in verdicts),
            seconds=round(sum(verdict.seconds for verdict in verdicts), 1),
        )


def judge(ledger: Ledger, pairs: Sequence[BrecPair]) -> Iterator[Verdict]:
    """Judge those pairs that have no verdict yet, one after the other; each verdict is kept before the next pair.

    Args:
        ledger: where verdicts are kept.
        pairs: what :func:`elene.datasets.read_brec` gives, or some of it.

    Example:
        >>> import tempfile
        >>> from elene.datasets import rook, shrikhande
        >>> from elene.experiments import config
        >>> from elene.experiments.results.origin import origin_of_pairs
        >>> small = config.load("brec", "gin+elene-ed", ["model.hidden=16", "model.layers=2"])
        >>> pairs = [BrecPair(110, "Regular", "strongly_regular", rook(), shrikhande())]
        >>> ledger = Ledger.open(tempfile.mkdtemp(), small, origin_of_pairs(pairs), seed=0)
        >>> [verdict.distinguished for verdict in judge(ledger, pairs)]
        [True]
        >>> list(judge(Ledger.read(ledger.path), pairs))
        []
    """
    with holding(f"{ledger.path}.lock"):
        for pair in pairs:
            if pair.index not in ledger.verdicts:
                verdict = compare_pair(pair, ledger.setting.spec, ledger.setting.seed)
                ledger.add(verdict)
                yield verdict


def tallies(results: str | os.PathLike[str]) -> list[Tally]:
    """What the models that a folder of results has verdicts on tell apart, in the order of their names.

    Of each model those verdicts count that the newest code made.

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
    return [ledger.tally(None if rows[ledger.setting.spec.row] == 1 else _name(ledger)) for ledger in ledgers]


def _name(ledger: Ledger) -> str:
    """What tells one of several ledgers of a row from the others."""
    return f"{ledger.setting.spec.row}, {ledger.path.stem}"
