"""Encodings that need not fit in memory: computed chunk by chunk, kept as parts, put together as one file.

Beside the output ``OUT`` a folder ``OUT.parts`` collects one file for each finished chunk of rows, and a manifest that
says what they are chunks of. A run that stopped, for whatever reason, goes on from there. When all parts are there
they are streamed into the output, which appears whole or not at all, and the folder goes.

``.npz`` is what :meth:`elene.Encoding.load` reads. ``.parquet`` is a tidy table, with a row for each count that is not
zero: what is encoded (``node``, or ``source`` and ``target``, and for pairs ``pair_distance``), what is counted
(``depth``, ``distance``, ``kind`` and ``value``; in the joint form ``depth`` and the fields of the quadruplet, for
edges and pairs those of both readings, ending in ``_1`` and ``_2``; in graphs with labels the ``label``, too; for types
``depth`` and the ``type``), and ``count``. ``.csv`` is a wide table, and so is
``.parquet`` where that is asked for; see :mod:`elene.io.wide`.
"""

from __future__ import annotations

import errno
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene import __version__
from elene.arrays import BLOCK
from elene.encoding.archive import plain_labels
from elene.encoding.encoding import encode_rows, find_rows, with_names
from elene.encoding.spec import EncodingSpec
from elene.engine.parallel import count_threads
from elene.engine.plan import Rows, two_hop_paths
from elene.files import check_path, followed, replacing
from elene.graph import Graph, as_graph
from elene.io.parts import Parts, integer_for, working_in
from elene.io.tidy import arrow, tidy_table
from elene.io.wide import Report, table_writer, verify_wide, write_wide
from elene.validation import check_choice, check_integer

ENDINGS = (".npz", ".parquet", ".csv")
LAYOUTS = (None, "wide", "compact")
CHUNK_WORK = 100_000_000
MAX_CHUNK = 100_000


class Written(NamedTuple):
    """What a file holds: its rows, its columns, how many counts are not zero, and the largest distance among them.

    >>> Written(rows=3, columns=18, counts=18, reach=1).columns
    18
    """

    rows: int
    columns: int
    counts: int
    reach: int


def write_encoding(
    graph: Any,
    spec: EncodingSpec,
    path: str | os.PathLike[str],
    *,
    chunk: int | None = None,
    resume: bool = False,
    threads: int | None = None,
    report: Report | None = None,
    layout: str | None = None,
) -> Written:
    """Encode a graph into a file, with memory for one chunk of the result.

    Args:
        graph: any graph that :func:`elene.encode` takes.
        spec: what to encode.
        path: the file to write, ``.npz``, ``.parquet`` or ``.csv``; its folder must exist.
        chunk: how many rows are computed at a time; by default see :func:`default_chunk`.
        resume: go on with the parts that an earlier run left, if there are any; without it they are thrown away.
        threads: how many threads to use; by default one for every core.
        report: called as ``report("encoding", rows done, rows)``, then as ``report("writing", steps done, steps)``;
            before that as ``report("discarding", 0, 0)`` where parts of an earlier run are thrown away.
        layout: ``"wide"`` for a row for each node, edge or pair, as ``.csv`` has it anyway; ``"compact"`` for the same
            without the columns that are zero everywhere.

    Example:
        >>> import networkx as nx, tempfile
        >>> from elene import Encoding
        >>> path = Path(tempfile.mkdtemp(), "path.npz")
        >>> write_encoding(nx.path_graph(3), EncodingSpec.of(k=1), path, chunk=2)
        Written(rows=3, columns=18, counts=18, reach=1)
        >>> Encoding.load(path)
        Encoding(3 nodes x 18 columns, k=1, marginal)
    """
    target, graph = check_output(path, layout), as_graph(graph)
    spec = replace(spec, labelled=graph.labels is not None)
    size = None if chunk is None else check_integer("chunk", chunk, least=1)
    tell = report or (lambda stage, done, total: None)
    count_threads(threads)
    with working_in(parts_folder(target), str(target)) as existed, _naming_resume(parts_folder(target)):
        if existed and not resume:
            tell("discarding", 0, 0)
        rows = find_rows(graph, spec, None)
        size = size or default_chunk(graph, spec, rows)
        parts = Parts(graph, spec, rows, size, parts_folder(target))
        _encode_missing(parts, parts.start(existed and resume), threads, tell)
        write, verify = _WIDE if layout or target.suffix == ".csv" else _FORMATS[target.suffix]
        write = partial(write, compact=layout == "compact") if write is write_wide else write
        with replacing(target) as temporary:
            columns = write(parts, temporary, tell)
            verify(parts, temporary)
            parts.check_manifest()
        columns = len(parts.table) if columns is None else columns
        written = Written(len(rows), columns, sum(parts.counts), parts.reach())
        parts.clear()
    return written


def _encode_missing(parts: Parts, missing: list[int], threads: int | None, tell: Report) -> None:
    rows = [parts.rows_of(number) for number in missing]
    done = len(parts.rows) - sum(map(len, rows))
    for number, chunk in zip(missing, rows, strict=True):
        tell("encoding", done, len(parts.rows))
        parts.save(number, encode_rows(parts.graph, parts.spec, chunk, threads))
        done += len(chunk)
    tell("encoding", done, len(parts.rows))


@contextmanager
def _naming_resume(folder: Path) -> Iterator[None]:
    """Say, where the disk is full, that nothing is lost."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        advice = f"make room, then go on with --resume (resume=True): {folder} keeps what is done"
        raise OSError(error.errno, f"the disk is full: {advice}") from error


def check_output(path: str | os.PathLike[str], layout: str | None = None) -> Path:
    """The path, if its ending is known and fits, its folder exists, and what its format needs is installed.

    >>> check_output("encoding.npz").suffix
    '.npz'
    """
    target = followed(check_path("output", path))
    if target.suffix not in ENDINGS:
        raise ValueError(f"output must end in {' or '.join(ENDINGS)}, got {str(target)!r}")
    check_choice("layout", layout, LAYOUTS)
    if layout and target.suffix == ".npz":
        raise ValueError(f"layout={layout!r} (--{layout}) is for .parquet and .csv, and output is {str(target)!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"output: the folder {str(target.parent)!r} does not exist: create it first")
    if target.is_dir():
        raise IsADirectoryError(f"output: {str(target)!r} is a folder: name a file")
    if target.suffix != ".npz":
        arrow()
    return target


def parts_folder(path: str | os.PathLike[str]) -> Path:
    """Where the parts of an unfinished output are.

    >>> parts_folder("out.npz").name
    'out.npz.parts'
    """
    target = Path(path)
    return target.with_name(target.name + ".parts")


def default_chunk(graph: Graph, spec: EncodingSpec, rows: Rows) -> int:
    """The rows that take about a second: 100 million units of work, and at most 100,000 rows.

    At depth 1 a unit is an entry of a neighbour list; deeper, a path of two steps counts as ten, for the edges around
    its end. So progress is seen, and an interrupt loses little. In large graphs a chunk scans at least twenty times the
    whole graph, for every chunk looks at all of it once to plan its work.
    """
    if not len(rows):
        return 1
    depth, everything = max(spec.depths), graph.num_nodes + len(graph.indices)
    work = graph.degrees + 1.0
    if depth > 1:
        growth = float(np.square(graph.degrees, dtype=np.float64).sum()) / max(len(graph.indices), 1)
        paths = two_hop_paths(graph)
        # Of logarithms, for powers of the depth may be beyond all numbers.
        spread = math.exp(min((depth - 2) * math.log(max(growth, 1)), math.log(1 + everything)))
        work = np.minimum(10 * paths * spread, everything)
    mean = work[rows.first].mean() + (0 if rows.second is None else work[rows.second].mean())
    wanted = max(CHUNK_WORK, 20 * everything) / (mean * len(spec.depths))
    return int(np.clip(wanted, 1, MAX_CHUNK))


def _write_npz(parts: Parts, path: Path, tell: Report) -> None:
    # Counts are small numbers: the quickest compression saves nearly as much as the best one.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, dtype, shape, blocks in _npz_members(parts, tell):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, header)
                for block in blocks:
                    member.write(np.ascontiguousarray(block, dtype).tobytes())


def _verify_npz(parts: Parts, path: Path) -> None:
    """An error unless every array is there, as long as it says it is, and the same on disk as it was written."""
    expected = {name: (np.dtype(dtype), shape) for name, dtype, shape, _ in _npz_members(parts, lambda *_: None)}
    with zipfile.ZipFile(path) as archive:
        for name, (dtype, shape) in expected.items():
            info = archive.getinfo(f"{name}.npy")
            with archive.open(info) as member:
                np.lib.format.read_magic(member)
                header = np.lib.format.read_array_header_1_0(member)
                size = info.file_size - member.tell()
                while member.read(BLOCK):
                    pass
            if header != (shape, False, dtype) or size != math.prod(shape) * dtype.itemsize:
                raise _not_whole(path, f"array {name!r} has {size} bytes, for {shape} of {dtype}")


def _not_whole(path: Path, why: str) -> OSError:
    return OSError(f"{path} is not what was written ({why}): the disk may be failing; go on with --resume")


def _npz_members(parts: Parts, tell: Report) -> Iterator[tuple[str, Any, tuple[int, ...], Iterable[NDArray[Any]]]]:
    """What :meth:`elene.Encoding.save` writes, as (name, type, shape, blocks)."""
    rows, columns, counts = len(parts.rows), len(parts.table), sum(parts.counts)
    index, labels, steps = integer_for(max(rows, columns, counts)), plain_labels(parts.graph.nodes), 2 * len(parts)

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
    if (label_names := parts.graph.label_names) is not None:
        yield "label_names", label_names.dtype, label_names.shape, [label_names]
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


def _write_parquet(parts: Parts, path: Path, tell: Report) -> None:
    no_rows = csr_array((0, len(parts.table)), dtype=parts.empty.matrix.dtype)
    schema = tidy_table(replace(parts.empty, matrix=no_rows, table=parts.table)).schema
    about = json.dumps({"elene": __version__, **asdict(parts.spec)})
    with table_writer(path, schema.with_metadata({"elene": about})) as writer:
        for number in range(len(parts)):
            tell("writing", number, len(parts))
            rows, matrix = parts.rows_of(number), parts.matrix(number)
            table = tidy_table(with_names(parts.graph, parts.spec, rows, matrix, parts.table))
            writer.write_table(table, row_group_size=max(len(table), 1))
    tell("writing", len(parts), len(parts))


def _verify_parquet(parts: Parts, path: Path) -> None:
    """An error unless every part is there, and the same on disk as it was written."""
    with arrow().parquet.ParquetFile(path, page_checksum_verification=True) as file:
        for number, counts in enumerate(parts.counts):
            rows = file.read_row_group(number).num_rows
            if rows != counts:
                raise _not_whole(path, f"part {number} has {rows} rows, for {counts} counts")


def _verify_wide(parts: Parts, path: Path) -> None:
    rows = verify_wide(parts, path)
    if rows != len(parts.rows):
        raise _not_whole(path, f"it has {rows} rows, for {len(parts.rows)}")


_WIDE: Any = (write_wide, _verify_wide)
_FORMATS: dict[str, Any] = {".npz": (_write_npz, _verify_npz), ".parquet": (_write_parquet, _verify_parquet)}
