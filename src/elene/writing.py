"""Encodings that need not fit in memory: computed chunk by chunk, kept as parts, put together as one file.

Beside the output ``OUT`` a folder ``OUT.parts`` collects one file for each finished chunk of rows and a manifest that
says what they are chunks of. A run that stopped, for whatever reason, goes on from there. When all parts are there
they are streamed into the output, which appears whole or not at all, and the folder goes.

``.npz`` is what :meth:`elene.Encoding.load` reads. ``.parquet`` is a tidy table with one row for each nonzero count: what
is encoded (``node``, or ``source`` and ``target``, and for pairs ``pair_distance``), what is counted (``depth``, ``distance``,
``kind`` and ``value``; in the joint form ``depth`` and the quadruplet's fields, for edges and pairs those of both readings
with ``_1`` and ``_2`` at the end) and ``count``.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

import elene
from elene.counting import Rows
from elene.encoding import Encoding, encode_rows, find_rows
from elene.files import replacing
from elene.graph import Graph, as_graph
from elene.spec import KINDS, Spec, check_integer

ENDINGS = (".npz", ".parquet")
# Units are scanned list entries: this many take some tenths of a second.
CHUNK_WORK = 50_000_000
MAX_CHUNK = 200_000
MAX_INDEX = 2**31 - 1

Report = Callable[[str, int, int], None]


class Written(NamedTuple):
    """What a file holds: how many rows and columns, and how many counts that are not zero.

    >>> Written(rows=3, columns=18, counts=17).columns
    18
    """

    rows: int
    columns: int
    counts: int


def write_encoding(
    graph: Any,
    spec: Spec,
    path: str | os.PathLike[str],
    *,
    chunk: int | None = None,
    resume: bool = False,
    threads: int | None = None,
    report: Report | None = None,
) -> Written:
    """Encode a graph into a file, with memory for one chunk of it.

    Args:
        graph: any graph that :func:`elene.encode` takes.
        spec: what to encode.
        path: the file to write, ``.npz`` or ``.parquet``; its folder must exist.
        chunk: how many rows are computed at a time; see :func:`default_chunk`.
        resume: go on with the parts that an earlier run left; without, they are thrown away.
        threads: how many threads to use; by default one for every core.
        report: called as ``report("encoding", rows done, rows)`` and then ``report("writing", steps done, steps)``.

    Example:
        >>> import networkx as nx, tempfile
        >>> path = Path(tempfile.mkdtemp(), "path.npz")
        >>> write_encoding(nx.path_graph(3), Spec.of(k=1), path, chunk=2)
        Written(rows=3, columns=18, counts=17)
        >>> Encoding.load(path)
        Encoding(3 nodes x 18 columns, k=1, marginal)
    """
    path, graph = check_output(path), as_graph(graph)
    rows = find_rows(graph, spec, None)
    size = default_chunk(graph, spec, rows) if chunk is None else check_integer("chunk", chunk, least=1)
    parts = Parts(graph, spec, rows, size, parts_folder(path))
    done = parts.start(resume)
    tell = report or (lambda stage, done, total: None)
    for number in range(done, len(parts)):
        tell("encoding", min(number * size, len(rows)), len(rows))
        parts.save(number, encode_rows(graph, spec, parts.rows_of(number), threads))
    tell("encoding", len(rows), len(rows))
    write = {".npz": _write_npz, ".parquet": _write_parquet}[path.suffix]
    with replacing(path) as temporary:
        written = write(parts, temporary, tell)
    shutil.rmtree(parts.folder)
    return written


def check_output(path: str | os.PathLike[str]) -> Path:
    """The path, if its ending is known, its folder exists and what its format needs is installed.

    >>> check_output("encoding.npz").suffix
    '.npz'
    """
    target = Path(path)
    if target.suffix not in ENDINGS:
        raise ValueError(f"output must end in {' or '.join(ENDINGS)}, got {str(target)!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"output: the folder {str(target.parent)!r} does not exist: create it first")
    if target.is_dir():
        raise IsADirectoryError(f"output: {str(target)!r} is a folder: name a file")
    if target.suffix == ".parquet":
        _arrow()
    return target


def parts_folder(path: str | os.PathLike[str]) -> Path:
    """Where the parts of an unfinished output are.

    >>> parts_folder("out.npz").name
    'out.npz.parts'
    """
    target = Path(path)
    return target.with_name(target.name + ".parts")


def default_chunk(graph: Graph, spec: Spec, rows: Rows) -> int:
    """How many rows a chunk has by default: about 50 million entries of neighbour lists to scan, at most 200,000 rows.

    That is some tenths of a second, so that progress is seen and little is lost. On large graphs it is twenty times what
    one look at the whole graph costs, since every chunk takes one to plan its work.
    """
    from elene.kernels.order import two_hop_paths

    if not len(rows):
        return 1
    everything = graph.num_nodes + len(graph.indices)
    per_node = graph.degrees + 1
    if max(spec.depths) > 1:
        growth = float(np.square(graph.degrees, dtype=np.float64).sum()) / max(len(graph.indices), 1)
        paths = two_hop_paths(graph.indptr, graph.ranked[0], np.arange(graph.num_nodes))
        per_node = np.minimum(paths * growth ** (max(spec.depths) - 2), everything)
    mean = per_node[rows.first].mean() + (0 if rows.second is None else per_node[rows.second].mean())
    wanted = max(CHUNK_WORK, 20 * everything) / (mean * len(spec.depths))
    return int(np.clip(wanted, 1, MAX_CHUNK))


@dataclass(frozen=True)
class Parts:
    """The finished chunks of an encoding, a file each, and the manifest that says what they belong to."""

    graph: Graph
    spec: Spec
    rows: Rows
    chunk: int
    folder: Path

    def __len__(self) -> int:
        return -(-len(self.rows) // self.chunk)

    def start(self, resume: bool) -> int:
        """Make the folder ready; gives how many chunks are there already."""
        if resume and self.folder.exists():
            self._check_manifest()
            return self._count_whole()
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir()
        with replacing(self._manifest_path) as temporary:
            temporary.write_text(json.dumps(self._manifest, indent=1))
        return 0

    @property
    def _manifest_path(self) -> Path:
        return self.folder / "manifest.json"

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        spec = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self.spec).items()}
        return {
            "elene": elene.__version__,
            **spec,
            "nodes": self.graph.num_nodes,
            "edges": self.graph.num_edges,
            "graph digest": _digest(self.graph),
            "rows": len(self.rows),
            "chunk": self.chunk,
        }

    def _check_manifest(self) -> None:
        try:
            found = json.loads(self._manifest_path.read_text())
        except (OSError, ValueError):
            raise ValueError(f"resume: {str(self.folder)!r} holds no readable manifest: run without resume") from None
        wrong = [name for name, value in self._manifest.items() if found.get(name) != value]
        if wrong:
            was = ", ".join(f"{name}={found.get(name)!r}" for name in wrong)
            now = ", ".join(f"{name}={self._manifest[name]!r}" for name in wrong)
            raise ValueError(
                f"resume: the parts in {str(self.folder)!r} were made with {was}, and now it is {now}: "
                "repeat the first command, or run without resume to start over"
            )

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:06d}.npz"

    def _count_whole(self) -> int:
        # Parts are moved into place when complete, but a machine that lost power can still leave an empty one.
        whole = (number for number in range(len(self)) if not zipfile.is_zipfile(self._path(number)))
        return next(whole, len(self))

    def rows_of(self, number: int) -> Rows:
        """The rows of a chunk."""
        return _cut(self.rows, number * self.chunk, (number + 1) * self.chunk)

    def save(self, number: int, encoding: Encoding) -> None:
        """Keep a finished chunk; what its rows are is known without it, and its columns unless the form is joint."""
        matrix = encoding.matrix
        table = {"table": encoding.table} if self.spec.form == "joint" else {}
        with replacing(self._path(number)) as temporary:
            np.savez(temporary, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, **table)

    def load(self, number: int, *names: str) -> list[NDArray[Any]]:
        """Some arrays of a part."""
        with np.load(self._path(number), allow_pickle=False) as file:
            return [file[name] for name in names]

    @cached_property
    def counts(self) -> list[int]:
        """How many nonzero counts each part has."""
        return [int(self.load(number, "indptr")[0][-1]) for number in range(len(self))]

    @cached_property
    def none(self) -> Encoding:
        """The encoding of no rows: the types of the arrays and, unless the form is joint, the columns."""
        return encode_rows(self.graph, self.spec, _cut(self.rows, 0, 0), 1)

    @cached_property
    def vocabulary(self) -> NDArray[np.bytes_]:
        """The columns of all parts of a joint encoding, each once and sorted, as keys."""
        known, fresh, waiting = self._keys(self.none.table), [], 0
        for number in range(len(self)):
            fresh.append(self._keys(*self.load(number, "table")))
            waiting += len(fresh[-1])
            # Sorting when as much is new as known keeps all the sorting together to a few times the last one.
            if waiting > len(known) or number == len(self) - 1:
                known, fresh, waiting = np.unique(np.concatenate([known, *fresh])), [], 0
        return known

    def _keys(self, table: NDArray[np.int64]) -> NDArray[np.bytes_]:
        """Columns as strings of bytes that sort as the columns do: by the place of the depth, then the quadruplets."""
        place = np.array([self.spec.depths.index(depth) for depth in table[:, 0].tolist()], dtype=np.int64)
        numbers = np.column_stack([place, table[:, 1:]]).astype(">u8")
        return np.ascontiguousarray(numbers).view(f"S{8 * numbers.shape[1]}").ravel()

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """What the columns of the whole encoding count."""
        if self.spec.form != "joint":
            return self.none.table
        table = self.vocabulary.view(">u8").reshape(-1, self.none.table.shape[1]).astype(np.int64)
        table[:, 0] = np.array(self.spec.depths)[table[:, 0]]
        return table

    def indices(self, number: int) -> NDArray[Any]:
        """The columns of a part's counts, as numbers in the table of the whole."""
        if self.spec.form != "joint":
            return self.load(number, "indices")[0]
        indices, table = self.load(number, "indices", "table")
        place = np.searchsorted(self.vocabulary, self._keys(table)).astype(np.int64)
        return place[indices]


def _cut(rows: Rows, start: int, stop: int) -> Rows:
    second = None if rows.second is None else rows.second[start:stop]
    return Rows(rows.first[start:stop], second, None if rows.distance is None else rows.distance[start:stop])


def _digest(graph: Graph) -> str:
    digest = blake2b(digest_size=16)
    for array in (graph.indptr, graph.indices, _plain_labels(graph)):
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data.cast("B") if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()


def _plain_labels(graph: Graph) -> NDArray[Any]:
    """Labels as integers or strings."""
    labels = graph.nodes
    return labels.astype(str) if labels.dtype == object else labels


def _write_npz(parts: Parts, path: Path, tell: Report) -> Written:
    """The members of the archive one after the other, each in as many blocks as there are parts."""
    rows, columns, counts = len(parts.rows), len(parts.table), sum(parts.counts)
    index = np.int32 if max(rows, columns, counts) <= MAX_INDEX else np.int64
    data = parts.none.matrix.dtype
    members: list[tuple[str, DTypeLike, tuple[int, ...], Callable[[int], NDArray[Any]]]] = [
        ("data", data, (counts,), lambda number: parts.load(number, "data")[0]),
        ("indices", index, (counts,), parts.indices),
        ("indptr", index, (rows + 1,), _row_ends(parts)),
        *_row_members(parts),
    ]
    steps = len(members) * len(parts)
    # Counts are small numbers: the quickest compression gets most of what the best one does, at several times the speed.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for i, (name, dtype, shape, block_of) in enumerate(members):
            blocks = _reporting(map(block_of, range(len(parts))), i * len(parts), steps, tell)
            first = [np.zeros(1, index)] if name == "indptr" else []
            _write_member(archive, name, dtype, shape, [first, blocks])
        whole = {"shape": np.array([rows, columns]), "table": parts.table, "spec": np.array(parts.spec_text)}
        for name, array in whole.items():
            _write_member(archive, name, array.dtype, array.shape, [[array]])
    return Written(rows, columns, counts)
