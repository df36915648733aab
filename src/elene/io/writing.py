"""Encodings that need not fit in memory: computed chunk by chunk, kept as parts, put together as one file.

Beside the output ``OUT`` a folder ``OUT.parts`` collects one file for each finished chunk of rows, and a manifest that
says what they are chunks of. A run that stopped, for whatever reason, goes on from there. When all parts are there
they are streamed into the output, which appears whole or not at all, and the folder goes.

``.npz`` is what :meth:`elene.Encoding.load` reads. ``.parquet`` is a tidy table, with a row for each count that is not
zero: what is encoded (``node``, or ``source`` and ``target``, and for pairs ``pair_distance``), what is counted
(``depth``, ``distance``, ``kind`` and ``value``; in the joint form ``depth`` and the fields of the quadruplet, for
edges and pairs those of both readings, ending in ``_1`` and ``_2``), and ``count``.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene import __version__
from elene.encoding import Encoding
from elene.encoding.encoding import encode_rows, find_rows
from elene.encoding.spec import KINDS, Quadruplet, Spec
from elene.engine.counting import Rows
from elene.files import replacing
from elene.graph import Graph, as_graph
from elene.validation import check_integer

ENDINGS = (".npz", ".parquet")
CHUNK_WORK = 100_000_000
MAX_CHUNK = 100_000
MAX_INT32 = 2**31 - 1

Report = Callable[[str, int, int], None]


class Written(NamedTuple):
    """What a file holds: its rows, its columns, and how many counts are not zero.

    >>> Written(rows=3, columns=18, counts=18).columns
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
    """Encode a graph into a file, with memory for one chunk of the result.

    Args:
        graph: any graph that :func:`elene.encode` takes.
        spec: what to encode.
        path: the file to write, ``.npz`` or ``.parquet``; its folder must exist.
        chunk: how many rows are computed at a time; by default see :func:`default_chunk`.
        resume: go on with the parts that an earlier run left, if there are any; without it they are thrown away.
        threads: how many threads to use; by default one for every core.
        report: called as ``report("encoding", rows done, rows)``, then as ``report("writing", steps done, steps)``.

    Example:
        >>> import networkx as nx, tempfile
        >>> path = Path(tempfile.mkdtemp(), "path.npz")
        >>> write_encoding(nx.path_graph(3), Spec.of(k=1), path, chunk=2)
        Written(rows=3, columns=18, counts=18)
        >>> Encoding.load(path)
        Encoding(3 nodes x 18 columns, k=1, marginal)
    """
    target, graph = check_output(path), as_graph(graph)
    rows = find_rows(graph, spec, None)
    size = default_chunk(graph, spec, rows) if chunk is None else check_integer("chunk", chunk, least=1)
    parts = Parts(graph, spec, rows, size, parts_folder(target))
    tell = report or (lambda stage, done, total: None)
    for number in range(parts.start(resume), len(parts)):
        tell("encoding", number * size, len(rows))
        parts.save(number, encode_rows(graph, spec, parts.rows_of(number), threads))
    tell("encoding", len(rows), len(rows))
    write = _write_npz if target.suffix == ".npz" else _write_parquet
    with replacing(target) as temporary:
        write(parts, temporary, tell)
    written = Written(len(rows), len(parts.table), sum(parts.counts))
    shutil.rmtree(parts.folder)
    return written


def check_output(path: str | os.PathLike[str]) -> Path:
    """The path, if its ending is known, its folder exists, and what its format needs is installed.

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
        _pyarrow()
    return target


def parts_folder(path: str | os.PathLike[str]) -> Path:
    """Where the parts of an unfinished output are.

    >>> parts_folder("out.npz").name
    'out.npz.parts'
    """
    target = Path(path)
    return target.with_name(target.name + ".parts")


def default_chunk(graph: Graph, spec: Spec, rows: Rows) -> int:
    """The rows that take about a second: 100 million units of work, and at most 100,000 rows.

    At depth 1 a unit is an entry of a neighbour list; deeper, a path of two steps counts as ten, for the edges around
    its end. So progress is seen, and an interrupt loses little. In large graphs a chunk scans at least twenty times the
    whole graph, for every chunk looks at all of it once to plan its work.
    """
    from elene.kernels.order import two_hop_paths

    if not len(rows):
        return 1
    depth, everything = max(spec.depths), graph.num_nodes + len(graph.indices)
    work = graph.degrees + 1.0
    if depth > 1:
        growth = float(np.square(graph.degrees, dtype=np.float64).sum()) / max(len(graph.indices), 1)
        paths = two_hop_paths(*graph.scanned, np.arange(graph.num_nodes))
        work = np.minimum(10 * paths * max(growth, 1) ** (depth - 2), everything)
    mean = work[rows.first].mean() + (0 if rows.second is None else work[rows.second].mean())
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
        """Make the folder ready; gives how many chunks it has already."""
        if resume and self.folder.exists():
            self._check_manifest()
            return self._count_whole()
        if self.folder.exists():
            self._remove()
        self.folder.mkdir()
        with replacing(self.folder / "manifest.json") as temporary:
            temporary.write_text(json.dumps(self._manifest, indent=1))
        return 0

    def _remove(self) -> None:
        """Throw away what an earlier run left, but nothing else."""
        if any(self.folder.iterdir()) and not (self.folder / "manifest.json").exists():
            raise FileExistsError(f"output: {str(self.folder)!r} is in the way, and not a folder of parts: move it")
        shutil.rmtree(self.folder)

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        """Everything that the content of the parts depends on."""
        graph = f"{self.graph.num_nodes} nodes, {self.graph.num_edges} edges, digest {_digest(self.graph)}"
        spec = {**asdict(self.spec), "depths": list(self.spec.depths)}
        return {"elene": __version__, "graph": graph, **spec, "rows": len(self.rows), "chunk": self.chunk}

    def _check_manifest(self) -> None:
        try:
            found = dict(json.loads((self.folder / "manifest.json").read_text()))
        except (OSError, ValueError, TypeError):
            raise ValueError(
                f"resume: {str(self.folder)!r} has no readable manifest.json: leave out resume to start over"
            ) from None
        differing = [name for name, value in self._manifest.items() if found.get(name) != value]
        if differing:
            then = ", ".join(f"{name}={found.get(name)!r}" for name in differing)
            now = ", ".join(f"{name}={self._manifest[name]!r}" for name in differing)
            raise ValueError(
                f"resume: the parts in {str(self.folder)!r} were made with {then}, and now it is {now}: "
                "repeat the first command, or leave out resume to start over"
            )

    def _count_whole(self) -> int:
        # Parts are moved into place whole, but a machine that loses power may still leave an empty one.
        broken = (number for number in range(len(self)) if not zipfile.is_zipfile(self._path(number)))
        return next(broken, len(self))

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:06d}.npz"

    def rows_of(self, number: int) -> Rows:
        """The rows of a chunk."""
        return _cut(self.rows, number * self.chunk, (number + 1) * self.chunk)

    def save(self, number: int, encoding: Encoding) -> None:
        """Keep a finished chunk: its counts and, where they are not known beforehand, its columns."""
        matrix = encoding.matrix
        indices = matrix.indices.astype(_integer_for(matrix.shape[1]), copy=False)
        table: dict[str, Any] = {"table": encoding.table} if self.spec.form == "joint" else {}
        with replacing(self._path(number)) as temporary:
            np.savez(temporary, data=matrix.data, indices=indices, indptr=matrix.indptr, **table)

    def load(self, number: int, name: str) -> NDArray[Any]:
        """One array of a part."""
        with np.load(self._path(number), allow_pickle=False) as file:
            array: NDArray[Any] = file[name]
        return array

    @cached_property
    def counts(self) -> list[int]:
        """How many counts each part holds."""
        return [int(self.load(number, "indptr")[-1]) for number in range(len(self))]

    @cached_property
    def empty(self) -> Encoding:
        """The encoding of no rows: it has the types of all arrays and, unless the form is joint, the columns."""
        return encode_rows(self.graph, self.spec, _cut(self.rows, 0, 0), 1)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """What the columns of the whole encoding count."""
        if self.spec.form != "joint":
            return self.empty.table
        table = self._vocabulary.view(">u8").reshape(-1, self.empty.table.shape[1]).astype(np.int64)
        table[:, 0] = np.array(self.spec.depths)[table[:, 0]]
        return table

    def columns(self, number: int) -> NDArray[Any]:
        """For each count of a part, its column in the table of the whole."""
        indices = self.load(number, "indices")
        if self.spec.form != "joint":
            return indices
        place = np.searchsorted(self._vocabulary, self._keys(self.load(number, "table")))
        columns: NDArray[Any] = place[indices]
        return columns

    @cached_property
    def _vocabulary(self) -> NDArray[np.bytes_]:
        """The columns of all parts, each once, in the order of the one table they share."""
        known, fresh = self._keys(self.empty.table), []
        for number in range(len(self)):
            fresh.append(self._keys(self.load(number, "table")))
            # Sorting only once as much is new as is known keeps all sorting together to a few times the last one.
            if sum(map(len, fresh)) > len(known) or number == len(self) - 1:
                known, fresh = np.unique(np.concatenate([known, *fresh])), []
        return known

    def _keys(self, table: NDArray[np.int64]) -> NDArray[np.bytes_]:
        """Columns as bytes that sort as columns do: by the place of their depth, then by their numbers."""
        place = np.zeros(max(self.spec.depths) + 1, np.int64)
        place[list(self.spec.depths)] = np.arange(len(self.spec.depths))
        numbers = np.column_stack([place[table[:, 0]], table[:, 1:]]).astype(">u8")
        keys: NDArray[np.bytes_] = numbers.view(f"S{8 * numbers.shape[1]}").ravel()
        return keys


def _cut(rows: Rows, start: int, stop: int) -> Rows:
    second = None if rows.second is None else rows.second[start:stop]
    return Rows(rows.first[start:stop], second, None if rows.distance is None else rows.distance[start:stop])


def _integer_for(largest: int) -> Any:
    return np.int32 if largest <= MAX_INT32 else np.int64


def _labels(graph: Graph) -> NDArray[Any]:
    """The labels as a file holds them: integers or strings."""
    if graph.nodes.dtype != object:
        return graph.nodes
    return np.array([str(label) for label in graph.nodes.tolist()], dtype=str)


def _digest(graph: Graph) -> str:
    digest = blake2b(digest_size=8)
    for array in (graph.indptr, graph.indices, _labels(graph)):
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _write_npz(parts: Parts, path: Path, tell: Report) -> None:
    # Counts are small numbers: the quickest compression saves nearly as much as the best one.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, dtype, shape, blocks in _npz_members(parts, tell):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, header)
                for block in blocks:
                    member.write(np.ascontiguousarray(block, dtype).tobytes())


def _npz_members(parts: Parts, tell: Report) -> Iterator[tuple[str, Any, tuple[int, ...], Iterable[NDArray[Any]]]]:
    """What :meth:`elene.Encoding.save` writes, as (name, type, shape, blocks)."""
    rows, columns, counts = len(parts.rows), len(parts.table), sum(parts.counts)
    index, labels, steps = _integer_for(max(rows, columns, counts)), _labels(parts.graph), 2 * len(parts)

    def blocks(of_part: Callable[[int], NDArray[Any]], step: int) -> Iterator[NDArray[Any]]:
        for number in range(len(parts)):
            tell("writing", step + number, steps)
            yield of_part(number)

    yield "data", parts.empty.matrix.dtype, (counts,), blocks(lambda number: parts.load(number, "data"), 0)
    yield "indices", index, (counts,), blocks(parts.columns, len(parts))
    yield "indptr", index, (rows + 1,), _row_starts(parts)
    chunks = [parts.rows_of(number) for number in range(len(parts))]
    if parts.rows.second is None:
        yield "nodes", labels.dtype, (rows,), (labels[chunk.first] for chunk in chunks)
    else:
        ends = (np.stack([labels[chunk.first], labels[chunk.second]], axis=1) for chunk in chunks)
        yield "edges", labels.dtype, (rows, 2), ends
    if parts.rows.distance is not None:
        yield "distances", np.int64, (rows,), [parts.rows.distance]
    text = np.array(json.dumps(asdict(parts.spec)))
    for name, array in (("shape", np.array([rows, columns])), ("table", parts.table), ("spec", text)):
        yield name, array.dtype, array.shape, [array]
    tell("writing", steps, steps)


def _row_starts(parts: Parts) -> Iterator[NDArray[np.int64]]:
    yield np.zeros(1, np.int64)
    before = 0
    for number, counts in enumerate(parts.counts):
        yield before + parts.load(number, "indptr")[1:].astype(np.int64)
        before += counts


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError('writing .parquet needs pyarrow: pip install "elene[io]"') from None
    return pyarrow


def _write_parquet(parts: Parts, path: Path, tell: Report) -> None:
    pa = _pyarrow()
    nothing = np.empty(0, np.int64)
    schema = _tidy(parts, _cut(parts.rows, 0, 0), nothing, nothing, parts.empty.matrix.data).schema
    about = json.dumps({"elene": __version__, **asdict(parts.spec)})
    with pa.parquet.ParquetWriter(path, schema.with_metadata({"elene": about}), compression="zstd") as writer:
        for number in range(len(parts)):
            tell("writing", number, len(parts))
            per_row = np.diff(parts.load(number, "indptr"))
            table = _tidy(parts, parts.rows_of(number), per_row, parts.columns(number), parts.load(number, "data"))
            writer.write_table(table, row_group_size=max(len(table), 1))
    tell("writing", len(parts), len(parts))


def _tidy(parts: Parts, rows: Rows, per_row: NDArray[Any], columns: NDArray[Any], data: NDArray[Any]) -> Any:
    """The counts of some rows as an Arrow table."""
    pa, labels = _pyarrow(), _labels(parts.graph)
    row = pa.array(np.repeat(np.arange(len(rows)), per_row))
    if rows.second is None:
        fields = {"node": pa.array(labels[rows.first]).take(row)}
    else:
        fields = {
            "source": pa.array(labels[rows.first]).take(row),
            "target": pa.array(labels[rows.second]).take(row),
        }
    if rows.distance is not None:
        fields["pair_distance"] = pa.array(rows.distance.astype(np.int32)).take(row)
    for name, values in zip(_column_fields(parts.spec), parts.table.T.astype(np.int32), strict=True):
        fields[name] = pa.array(values[columns])
    if "kind" in fields:
        fields["kind"] = pa.DictionaryArray.from_arrays(fields["kind"].cast("int8"), KINDS)
    return pa.table({**fields, "count": pa.array(data)})


def _column_fields(spec: Spec) -> list[str]:
    """The names of a table's columns."""
    if spec.form != "joint":
        return ["depth", "distance", "kind", "value"]
    fields = ["distance", "degree"] if spec.absolute else list(Quadruplet._fields)
    if spec.level == "node":
        return ["depth", *fields]
    return ["depth", *(f"{name}_{reading}" for reading in (1, 2) for name in fields)]
