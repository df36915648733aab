"""Tables of edges and nodes as DuckDB reads them: which columns of which files, and of which kind."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elene.extras import needing
from elene.io.readers import Options
from elene.io.readers.tables import label_kind, parquet_ends, unclear
from elene.io.readers.text import Table, describe_text

TEXTS = (".txt", ".csv", ".tsv", ".edges", ".edgelist")
NODE_COLUMNS = ("node", "id", "name", "nodeid", "vertex")
HEAD = 1 << 20  # bytes of a text that say how the rest of it looks


@dataclass(frozen=True)
class Relation:
    """Columns of a file in SQL.

    Attributes:
        sql: the query.
        text: whether values are texts, which may all be integers, or integers.
        header: what a first line calls the ends, which is no header if nodes are called so.
    """

    sql: str
    text: bool
    header: tuple[str, ...] = ()


def edge_relation(path: Path, options: Options) -> Relation:
    """Both ends of all edges of a file, as columns u and v."""
    if path.suffix == ".parquet":
        return _parquet_edges(path, options)
    table = _head(path, options)
    if table is None:
        return Relation("SELECT NULL::VARCHAR AS u, NULL::VARCHAR AS v WHERE false", text=True)
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(table.width))
    u, v = (f"trim(c{end}, ' ' || chr(9))" for end in table.ends)
    return Relation(
        f"SELECT {u} AS u, {v} AS v FROM read_csv({_quoted(path)}, auto_detect=false, header=false, delim="
        f"{_quoted(table.delimiter)}, quote='\"', escape='\"', skip={table.first_line - 1}, columns={{{columns}}})",
        text=True,
        header=tuple(table.header[end] for end in table.ends) if table.header is not None and table.unsure else (),
    )


def node_relation(path: Path, label: str | None) -> Relation:
    """The names of all nodes of a file, and their labels where a column of them is asked for, as name and label."""
    if path.suffix == ".parquet":
        kinds = {field.name: field.type for field in _schema(path)}
        columns = list(kinds)
        read = f"read_parquet({_quoted(path)})"
    else:
        columns, named = _first_fields(path, label)
        kinds, names = {}, ", ".join(map(_quoted, columns))
        read = f"read_csv({_quoted(path)}, all_varchar=true, header={str(named).lower()}, names=[{names}])"
    if label is not None and label not in columns:
        raise ValueError(f"label={label!r} is not a column of {path}, which has {columns!r:.200}")
    others = [column for column in columns if column != label]
    found = [column for column in others if re.sub("[^a-z]", "", column.lower()) in NODE_COLUMNS] or others
    if not found:
        raise ValueError(f"{path} has no column for the names of nodes: it has {columns}")
    text = str(label_kind(kinds[found[0]], found[0])) == "string" if kinds else True
    name = f"trim({_name(found[0])})" if text else f"{_name(found[0])}::BIGINT"
    return Relation(f"SELECT {name} AS name, {'NULL' if label is None else _name(label)} AS label FROM {read}", text)


def _parquet_edges(path: Path, options: Options) -> Relation:
    schema = _schema(path)
    _, ends = parquet_ends(schema, options)
    kinds = {str(label_kind(schema.field(end).type, schema.names[end])) for end in ends}
    if len(kinds) > 1:
        raise ValueError("the ends of edges are integers in one column and texts in the other: write both alike")
    text = kinds == {"string"}
    u, v = (_name(schema.names[end]) for end in ends)
    read = "trim({})" if text else "{}::BIGINT"
    return Relation(f"SELECT {read.format(u)} AS u, {read.format(v)} AS v FROM read_parquet({_quoted(path)})", text)


def _schema(path: Path) -> Any:
    with needing("io", "GraphStore.build"):
        from pyarrow import parquet
    return parquet.read_schema(path)


def _head(path: Path, options: Options) -> Table | None:
    """How a text looks, by its first lines."""
    if (Path(path.stem) if path.suffix in (".gz", ".zst") else path).suffix not in TEXTS:
        raise ValueError(f"a store is built from .parquet and from text ({' '.join(TEXTS)}, also .gz and .zst)")
    text = _beginning(path)
    table = describe_text(text, options)
    if table is None:
        return None
    if table.delimiter == " " and re.search(rb"\t|  | $", text[table.offset :], re.MULTILINE):
        raise ValueError("columns are apart by several spaces or tabs: write one tab, comma or space between them")
    if table.unsure and table.header is None and not _repeats(table):
        raise unclear([column.example for column in table.columns])
    return table


def _repeats(table: Table) -> bool:
    """Whether a first line without integers is an edge, since a name in it comes again in the next lines."""
    first, *rest = (line.split(table.delimiter.encode()) for line in table.text[table.offset :].splitlines())
    seen = {line[end].strip() for line in rest for end in table.ends if end < len(line)}
    return any(first[end].strip() in seen for end in table.ends)


def _beginning(path: Path) -> bytes:
    """The first whole lines of a text, packed or not."""
    if path.suffix == ".gz":
        with gzip.open(path) as packed:
            text = packed.read(HEAD)
    elif path.suffix == ".zst":
        with needing("io", "GraphStore.build"):
            import pyarrow
        with pyarrow.CompressedInputStream(str(path), "zstd") as stream:
            text = stream.read(HEAD)
    else:
        with path.open("rb") as file:
            text = file.read(HEAD)
    return text if len(text) < HEAD else text[: text.rfind(b"\n") + 1]


def _first_fields(path: Path, label: str | None) -> tuple[list[str], bool]:
    """The columns of a table of nodes, and whether its first line names them."""
    lines = _beginning(path).decode("utf-8", "replace").splitlines()
    if not lines:
        raise ValueError(f"{path} is empty: a table of nodes has a row for each")
    delimiter = "\t" if "\t" in lines[0] else ","
    fields = [field.strip() for field in next(csv.reader([lines[0]], delimiter=delimiter))]
    named = label in fields or any(re.sub("[^a-z]", "", field.lower()) in NODE_COLUMNS for field in fields)
    return (fields if named else [f"column {place}" for place in range(len(fields))]), named


def union(relations: Iterable[Relation]) -> str:
    """All rows of several relations."""
    return " UNION ALL ".join(f"({relation.sql})" for relation in relations)


def _quoted(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
