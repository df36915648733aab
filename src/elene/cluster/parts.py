"""One part of an encoding: a range of roots, a Parquet file, and the function that makes it, here or on any machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from elene import __version__
from elene.cluster.columns import digest_of
from elene.cluster.store import GraphStore
from elene.encoding.encoding import encode_rows, rows_between
from elene.encoding.spec import EncodingSpec
from elene.engine.plan import degrees_of, shallow_work, two_hop_paths
from elene.extras import needing
from elene.io.tidy import tidy_table

# What a part may hold, so that a machine has room for it and a run that stopped loses little: all of them upper bounds.
UNITS = 100_000_000  # of work, ten nanoseconds each, or two-hop paths: about a second of a core
ARCS = {"node": 2_000_000, "edge": 500_000, "pair": 100_000}  # at their roots: rows of the table go by them at depth 1
NODES = {"node": 200_000, "edge": 200_000, "pair": 20_000}
DEEP_NODES = 20_000  # roots at depth 2 and more, whose rows are long
SEALS = "_seals"  # what begins with a line below is no data to pandas, Arrow and Spark
BLOCK = 1 << 18  # nodes that are looked at together


@dataclass(frozen=True)
class PartTask:
    """All that a machine needs to know to make a part.

    Attributes:
        store: the folder of the graph, as every machine sees it.
        graph: the digest of its content.
        spec: what to encode.
        number: which part it is.
        start: the first root.
        stop: the root behind the last.
        folder: where the part belongs.
        seal: what this run is, in short: a part of another one is none of ours.
    """

    store: str
    graph: str
    spec: EncodingSpec
    number: int
    start: int
    stop: int
    folder: str
    seal: str

    @property
    def path(self) -> Path:
        """The file of the part."""
        return Path(self.folder) / f"part-{self.number:05d}.parquet"

    @property
    def sealed(self) -> Path:
        """Where it is written down that the part is whole."""
        return Path(self.folder) / SEALS / f"part-{self.number:05d}.json"


class Part(NamedTuple):
    """A part that is there: its file, rows, counts, bytes and their digest, and whether it was made now.

    >>> Part("part-00000.parquet", 3, 18, 1024, "", True).counts
    18
    """

    name: str
    rows: int
    counts: int
    size: int
    digest: str
    made: bool


def encode_part(task: PartTask, threads: int | None = None) -> Part:
    """Make a part, unless it is there and whole. This is what a task of a cluster runs, and what a laptop runs."""
    found = whole_part(task)
    if found is not None:
        return found
    store = opened_store(task.store, task.graph)
    rows = rows_between(store, task.spec, task.start, task.stop)
    table = tidy_table(encode_rows(store, task.spec, rows, threads))
    about = {"elene": __version__, **asdict(task.spec), "part": task.number}
    write_part(table.replace_schema_metadata({"elene": json.dumps(about)}), task.path)
    part = Part(task.path.name, len(rows), len(table), task.path.stat().st_size, digest_of(task.path), True)
    with _replacing(task.sealed) as temporary:  # after the part, which is made again where it has no seal
        temporary.write_text(json.dumps({"seal": task.seal, **part._asdict()}))
    return part


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """As :func:`elene.files.replacing`, without locks, which do not hold on every shared disk: no two have one name."""
    temporary = path.with_name(f".{path.stem}.{uuid4().hex}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_part(table: Any, path: Path) -> None:
    """The table as a file that is there whole or not at all, whoever else writes the same part at the same time."""
    with needing("cluster", "elene.cluster.encode"):
        from pyarrow import parquet
    few = [name for name in table.column_names if name not in ("node", "source", "target", "count")]
    with _replacing(path) as temporary:
        parquet.write_table(
            table,
            temporary,
            compression="zstd",
            compression_level=1,
            write_page_checksum=True,
            use_dictionary=few,
            row_group_size=1 << 20,
        )


def whole_part(task: PartTask) -> Part | None:
    """The part, if its file is there, belongs to this run, and every byte of it is as it was written."""
    try:
        about = json.loads(task.sealed.read_text())
        ours = about.pop("seal") == task.seal and about["digest"] == digest_of(task.path)
        return Part(**{**about, "made": False}) if ours else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


@lru_cache(maxsize=4)
def opened_store(folder: str, digest: str) -> GraphStore:
    """A store that stays open in this process; an error if it does not hold the graph that is asked for."""
    store = GraphStore.open(folder)
    if store.manifest.digest != digest:
        raise ValueError(f"{folder!r} holds another graph here than where the run began: copy the store anew")
    return store


def cut_parts(store: GraphStore, spec: EncodingSpec, parts: int | None = None) -> list[int]:
    """Where parts begin, and the end: ranges of roots of about equal work, so many or as many as it takes.

    Nodes are looked at some at a time, for a list of the work of all would be as long as there are nodes.
    """
    n, deep = store.num_nodes, max(spec.depths) > 1
    starts = range(0, n, BLOCK)
    sums = np.array([_work(store, spec, start).sum() for start in starts], np.float64)
    most_nodes = DEEP_NODES if deep and spec.level == "node" else NODES[spec.level]
    arcs = 0 if deep else len(store.indices) / ARCS[spec.level]
    wanted = parts or max(1, int(np.ceil(max(sums.sum() / UNITS, n / most_nodes, arcs))))
    wanted = min(wanted, max(n, 1))
    reached = np.cumsum(sums)
    goals = sums.sum() * np.arange(1, wanted) / wanted
    cuts = {0, n}
    for block in np.unique(np.searchsorted(reached, goals)):
        before = reached[block - 1] if block else 0.0
        inside = before + np.cumsum(_work(store, spec, starts[block]), dtype=np.float64)
        mine = goals[(goals > before) & (goals <= reached[block])]
        cuts |= set((starts[block] + np.searchsorted(inside, mine) + 1).tolist())
    return sorted(cut for cut in cuts if cut <= n)


def _work(store: GraphStore, spec: EncodingSpec, start: int) -> NDArray[np.int64]:
    """The work of a block of roots: at depth 1 as it is planned for, deeper by paths of two steps, for each depth."""
    roots = np.arange(start, min(start + BLOCK, store.num_nodes))
    if max(spec.depths) <= 1 and spec.level == "node":
        return shallow_work(store, roots)
    paths = two_hop_paths(store, roots)
    if spec.level == "node" or max(spec.depths) <= 1:
        return paths * len(spec.depths)
    # An edge scans the surroundings of its cheaper end: as if those of neighbours were like one's own, up to a bound.
    return (degrees_of(store, roots) + 1) * np.minimum(paths, int(np.median(paths)) * 4 + 1)


def seal_of(about: dict[str, Any]) -> str:
    """What a run is, in short.

    >>> len(seal_of({"rows": 3}))
    32
    """
    return blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16).hexdigest()
