"""A store from files larger than memory: DuckDB finds the names and sorts the edges on disk, arrays are streamed."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.cluster.columns import ArrayFile, mapped
from elene.cluster.relations import Relation, edge_relation, node_relation, union
from elene.cluster.store import Manifest, content_digest, describe_array
from elene.engine.parallel import count_threads
from elene.engine.ranking import padding, rank_into
from elene.extras import need
from elene.files import check_path, holding
from elene.graph import MAX_NODES
from elene.graph.arrays import WIDE
from elene.io.readers import Options
from elene.io.readers.tables import unclear
from elene.progress import showing, tell

BATCH = 1 << 20  # rows that DuckDB hands over at a time
NODES_AT_ONCE = 1 << 20
SHARE = 0.75  # of the memory given, for DuckDB: the rest is for what it hands over
LEAST_MEMORY = 100_000_000
LONGEST_NAME = 1000  # letters: names take four bytes a letter of the longest one
UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MIB": 2**20, "GIB": 2**30}
PLACE = 2**32  # both ends of an arc in one integer: sorting one column is quicker than sorting two


@dataclass(frozen=True)
class Sources:
    """What a store is built from: files of edges, maybe one of nodes, maybe a column of it that holds labels."""

    edges: list[Any]
    nodes: Any = None
    label: str | None = None
    options: Options = field(default_factory=Options)

    def relations(self) -> tuple[list[Relation], Relation | None]:
        """The files as DuckDB reads them."""
        if not self.edges:
            raise ValueError("files must name at least one file of edges, got none")
        if self.label is not None and self.nodes is None:
            raise ValueError(f"label={self.label!r} is a column of the table of nodes: pass nodes=, too")
        edges = [_naming(path, lambda file: edge_relation(file, self.options)) for path in self.edges]
        nodes = None if self.nodes is None else _naming(self.nodes, lambda file: node_relation(file, self.label))
        return edges, nodes


def _naming(name: Any, relation: Any) -> Relation:
    path = check_path("files", name)
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        found: Relation = relation(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return found


def parse_memory(memory: str) -> int:
    """Bytes from a text.

    >>> parse_memory("2GB"), parse_memory("500 MB")
    (2000000000, 500000000)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*", memory) if isinstance(memory, str) else None
    if found is None or found[2].upper() not in UNITS:
        raise ValueError(f'memory must be a text such as "2GB" or "500MB", got {memory!r}')
    size = int(float(found[1]) * UNITS[found[2].upper()])
    if size < LEAST_MEMORY:
        raise ValueError(f"memory must be at least 100MB, got {memory!r}")
    return size


def build(sources: Sources, folder: Path, memory: str, progress: bool) -> Path:
    """Build a store; the folder is there when all of it is."""
    need("cluster", "GraphStore.build", "duckdb")
    size, relations = parse_memory(memory), sources.relations()
    target = folder.absolute()
    if target.exists():
        raise FileExistsError(f"folder: {str(folder)!r} is there already: remove it, or name another")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"folder: {str(target.parent)!r} does not exist: create it first")
    with _building(target) as place, showing(f"building {target.name}") if progress else nullcontext():
        with _database(place, size) as database:
            _Build(database, place, sources.label is not None).run(*relations)
        os.rename(place, target)
    return target


@contextmanager
def _building(target: Path) -> Iterator[Path]:
    """A folder beside the target for oneself, which is gone in the end unless it has become the target."""
    place, lock = target.with_name(f".{target.name}.part"), target.with_name(f".{target.name}.lock")
    with holding(lock, f"{target} is being built", "wait, or name another folder"):
        shutil.rmtree(place, ignore_errors=True)  # what a process that was killed left
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _database(place: Path, memory: int) -> Iterator[Any]:
    import duckdb

    scratch = place / "scratch"
    scratch.mkdir()
    try:
        with duckdb.connect(scratch / "build.duckdb") as database:
            for setting, value in (
                ("memory_limit", f"{int(SHARE * memory) // 10**6}MB"),
                ("temp_directory", str(scratch)),
                ("threads", count_threads(None)),
                ("preserve_insertion_order", False),
                ("enable_progress_bar", False),
            ):
                database.execute(f"SET {setting} = ?", [value]).fetchall()
            yield database
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(f"memory is too small for these files: pass a larger one ({_first_line(error)})") from error
    except duckdb.IOException as error:
        full = "No space left" in str(error)
        raise OSError(errno.ENOSPC if full else errno.EIO, f"building the store: {_first_line(error)}") from error
    except duckdb.Error as error:
        raise ValueError(f"files cannot be read: {_first_line(error)}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


class _Build:
    """One build: the steps share a database and a folder."""

    def __init__(self, database: Any, place: Path, labelled: bool) -> None:
        self.database, self.place, self.labelled = database, place, labelled
        self.classes: list[Any] | None = None

    def run(self, edges: list[Relation], nodes: Relation | None) -> None:
        """All steps, then the manifest."""
        self._read(edges, nodes)
        tell(0.15)
        rows, loops, n, plain = self._name()
        self._check_headers(edges)
        tell(0.3)
        arcs = self._sort(n, plain, 2 * (rows - loops))
        degrees = mapped(self.place / "scratch" / "degrees.npy")
        max_degree = max((int(block.max(initial=0)) for block in _blocks(degrees)), default=0)
        self._point(degrees, arcs)
        self._rank(n, arcs)
        if self.labelled and n:
            self._label()
        arrays = {path.stem: describe_array(path) for path in sorted(self.place.glob("*.npy"))}
        repeated = rows - loops - arcs // 2
        digest = content_digest(arrays)
        Manifest(n, arcs // 2, max_degree, rows, loops, repeated, self.classes, arrays, digest).write(self.place)
        tell(1.0)

    def _one(self, query: str) -> tuple[Any, ...]:
        found: list[tuple[Any, ...]] = self.database.sql(query).fetchall()
        return found[0]

    def _make(self, statement: str, parameters: Any = None) -> None:
        self.database.execute(statement, parameters).fetchall()

    def _read(self, edges: list[Relation], nodes: Relation | None) -> None:
        """Views of both ends of all rows, and of all rows of nodes; texts that are all integers become these."""
        both = [*edges, *([] if nodes is None else [nodes])]
        if len({relation.text for relation in both}) > 1:
            for relation in (relation for relation in both if relation.text):
                self._refuse_texts(relation, "name" if relation is nodes else "u")
            text = False
        else:
            text = both[0].text
        made = "TABLE" if text else "VIEW"  # a text is parsed once
        self._make(f"CREATE {made} given AS {union(edges)}")
        told = "SELECT NULL AS name, NULL AS label WHERE false" if nodes is None else nodes.sql
        self._make(f"CREATE TABLE told AS {told}")
        missing, empty = self._one(
            "SELECT count(*) FILTER (u IS NULL OR v IS NULL), count(*) FILTER (u::VARCHAR = '' OR v::VARCHAR = '') "
            "FROM given"
        )
        if missing or empty:
            raise ValueError(f"{missing + empty} rows of the files miss an end of their edge: remove them")
        as_integers = text and self._are_integers("given", "u") and self._are_integers("given", "v")
        as_integers = as_integers and self._are_integers("told", "name")
        kind = "BIGINT" if as_integers or not text else "VARCHAR"
        self._make(f"CREATE VIEW ends AS SELECT u::{kind} AS u, v::{kind} AS v FROM given")
        self._make(f"CREATE VIEW nodes AS SELECT name::{kind} AS name, label FROM told")

    def _are_integers(self, table: str, column: str) -> bool:
        """Whether all texts are integers, written as integers are: 007 is another name than 7."""
        return bool(self._one(f"SELECT count(*) FROM {table} WHERE {_written_otherwise(column)}")[0] == 0)

    def _refuse_texts(self, relation: Relation, column: str) -> None:
        """An error for a text where other files have integers."""
        wrong = self._one(f"SELECT min({column}) FROM ({relation.sql}) WHERE {_written_otherwise(column)}")[0]
        if wrong is not None:
            raise ValueError(
                f"names are integers in some files, and in others texts such as {wrong!r}: write all alike"
            )

    def _name(self) -> tuple[int, int, int, bool]:
        """Number the nodes by ascending name; gives rows, loops, nodes, and whether names are numbers already."""
        rows, loops = self._one("SELECT count(*), count(*) FILTER (u = v) FROM ends")
        self._make(
            "CREATE TABLE named AS SELECT name FROM "
            "(SELECT u AS name FROM ends UNION SELECT v FROM ends UNION SELECT name FROM nodes) ORDER BY name"
        )
        n, least, most = self._one("SELECT count(*), min(name), max(name) FROM named")
        if n > MAX_NODES:
            raise ValueError(f"files name {n} nodes, more than the {MAX_NODES} a graph can have")
        if self._one("SELECT count(*) FROM nodes WHERE name IS NULL")[0]:
            raise ValueError("nodes: some rows have no name: remove them")
        plain = not isinstance(least, str) and (n == 0 or (least == 0 and most == n - 1))
        if not plain:
            self._write_names(isinstance(least, str))
        return rows, loops, n, plain

    def _check_headers(self, edges: list[Relation]) -> None:
        """An error where a first line that seems to name columns names nodes."""
        for relation in edges:
            for name in relation.header:
                if self.database.execute("SELECT name FROM named WHERE name::VARCHAR = ?", [name]).fetchall():
                    raise unclear(relation.header)

    def _write_names(self, text: bool) -> None:
        letters = self._one("SELECT max(length(name)) FROM named")[0] if text else 0
        if letters > LONGEST_NAME:
            raise ValueError(
                f"the longest name has {letters} letters, and the most is {LONGEST_NAME}: number the nodes"
            )
        if text and self._one("SELECT count(*) FROM named WHERE contains(name, chr(0))")[0]:
            raise ValueError("an end of an edge is a name with a zero byte in it")
        dtype = np.dtype(f"U{letters}") if text else np.dtype(np.int64)
        last = None
        with ArrayFile(self.place / "names.npy", dtype) as file:
            for block in self._stream("SELECT name FROM named ORDER BY rowid"):
                names = block.astype(dtype)
                if (names[1:] <= names[:-1]).any() or (last is not None and names[0] <= last):
                    raise AssertionError("names must ascend with their rows, for positions are rows")
                last = names[-1]
                file.append(names)

    def _stream(self, query: str) -> Iterator[NDArray[Any]]:
        """The only column of a query, some rows at a time."""
        for batch in self.database.sql(query).to_arrow_reader(BATCH):
            if batch.num_rows:
                yield batch.column(0).to_numpy(zero_copy_only=False)

    def _sort(self, n: int, plain: bool, most: int) -> int:
        """Write all neighbours, by node, and count each node's; gives how many there are."""
        if not plain:
            self._make(
                "CREATE TABLE numbered AS SELECT a.rowid AS u, b.rowid AS v FROM ends "
                "JOIN named a ON ends.u = a.name JOIN named b ON ends.v = b.name"
            )
        table = "ends" if plain else "numbered"
        degrees = np.lib.format.open_memmap(self.place / "scratch" / "degrees.npy", "w+", np.uint32, (n,))
        last, seen = -1, 0
        with ArrayFile(self.place / "indices.npy", np.int32) as file:
            for keys in self._stream(
                f"SELECT key FROM (SELECT u * {PLACE} + v AS key FROM {table} WHERE u != v "
                f"UNION ALL SELECT v * {PLACE} + u FROM {table} WHERE u != v) ORDER BY key"
            ):
                seen += len(keys)
                new = np.empty(len(keys), bool)
                new[0], new[1:] = keys[0] != last, keys[1:] != keys[:-1]
                last, keys = keys[-1], keys[new]
                if len(keys):
                    first, counts = keys[0] // PLACE, np.bincount(keys // PLACE - keys[0] // PLACE)
                    degrees[first : first + len(counts)] += counts.astype(np.uint32)
                    file.append(keys % PLACE)
                tell(0.3 + 0.5 * seen / max(most, 1))
            arcs = file.length
        degrees.flush()
        return arcs

    def _point(self, degrees: NDArray[Any], arcs: int) -> None:
        """Write where each node's neighbours begin: once as everybody reads it, once as narrow as kernels do."""
        narrow = np.uint32 if arcs < WIDE else np.uint64
        with (
            ArrayFile(self.place / "indptr.npy", np.int64) as wide,
            ArrayFile(self.place / "pointers.npy", narrow) as file,
        ):
            end = np.zeros(1, np.int64)
            for block in (np.zeros(1, np.uint32), *_blocks(degrees)):
                ends = end[-1] + np.cumsum(block, dtype=np.int64)
                end = ends[-1:] if len(ends) else end
                wide.append(ends)
                file.append(ends)

    def _rank(self, n: int, arcs: int) -> None:
        pointers, neighbours = mapped(self.place / "pointers.npy"), mapped(self.place / "indices.npy").view(np.uint32)
        degrees = np.lib.format.open_memmap(self.place / "scratch" / "degrees.npy", "r+")
        ranked = np.lib.format.open_memmap(self.place / "ranked.npy", "w+", np.uint32, (arcs + padding(),))
        split = np.lib.format.open_memmap(self.place / "split.npy", "w+", pointers.dtype, (n,))
        for done in rank_into(pointers, neighbours, np.asarray(degrees), np.asarray(ranked), np.asarray(split)):
            tell(0.8 + 0.1 * done / n)
        ranked.flush()
        split.flush()

    def _label(self) -> None:
        """Write the class of each node: an integer as it is, or the number of its name among all."""
        twice = self._one("SELECT min(name) FROM (SELECT name FROM nodes GROUP BY name HAVING count(*) > 1)")[0]
        if twice is not None:
            raise ValueError(f"nodes: {twice!r} has several rows: a node has one label")
        bare = self._one("SELECT min(name) FROM named ANTI JOIN (FROM nodes WHERE label IS NOT NULL) USING (name)")[0]
        if bare is not None:
            raise ValueError(f"nodes: {bare!r} has no label, though others have: give it one")
        integer = self._are_integers("nodes", "label::VARCHAR")
        number, join = "nodes.label::BIGINT", ""
        if not integer or self._one("SELECT min(label::BIGINT) FROM nodes")[0] < 0:
            kind = "BIGINT" if integer else "VARCHAR"
            found = self.database.sql(f"SELECT DISTINCT label::{kind} AS name FROM nodes ORDER BY name").fetchall()
            self.classes = [name for (name,) in found]
            self._make("CREATE TABLE classes AS SELECT unnest(?) AS called", [self.classes])
            number, join = "c.rowid", f"JOIN classes c ON c.called = nodes.label::{kind}"
        query = f"SELECT {number} FROM named JOIN nodes ON nodes.name = named.name {join} ORDER BY named.name"
        with ArrayFile(self.place / "labels.npy", np.int64) as file:
            for block in self._stream(query):
                file.append(block)


def _written_otherwise(column: str) -> str:
    return f"(TRY_CAST({column} AS BIGINT))::VARCHAR IS DISTINCT FROM {column}"


def _blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, len(array), NODES_AT_ONCE):
        yield array[start : start + NODES_AT_ONCE]
