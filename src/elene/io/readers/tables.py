"""Edge tables: delimited text and Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph
from elene.io.readers.source import Source, extra, single

_END_NAMES = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
_SAMPLE_LINES = 16


@dataclass(frozen=True)
class _Table:
    """Delimited text, from its first row of data on."""

    text: bytes
    offset: int
    first_line: int
    delimiter: str
    width: int
    ends: tuple[int, int]
    integers: bool


def edge_text(text: bytes) -> Source:
    """The graph of a text with one edge a line."""
    table = _describe(text)
    if table is None:
        return single(Graph.from_edges([]))
    columns = _parse(table) if table.integers else None
    if columns is None:
        # Only now: on a clean file of integers, looking for what is to be cleaned costs as much as parsing.
        table = replace(table, text=_clean(table), offset=0)
        columns = (_parse(table) if table.integers else None) or _parse(replace(table, integers=False))
    if columns is None:
        raise ValueError(_complaint(table))
    return single(_from_columns(*columns))


def _describe(text: bytes) -> _Table | None:
    """Find delimiter, header and columns from the first lines; None for a file without edges."""
    sample = list(islice(_data_lines(text), _SAMPLE_LINES))
    if not sample:
        return None
    delimiter = _find_delimiter([line for _, _, line in sample])
    rows = [_fields(line, delimiter) for _, _, line in sample]
    if len(rows[0]) < 2:
        raise ValueError(
            f"line {sample[0][0]} has one column: expected two, with comma, semicolon, tab or spaces between"
        )
    has_header, ends = _find_header(rows)
    if has_header:
        header, *rows = rows
        sample = sample[1:]
        if not rows:
            return None
        if len(rows[0]) != len(header):
            raise ValueError(f"line {sample[0][0]} has {len(rows[0])} columns, the header {len(header)}")
    first_line, offset, _ = sample[0]
    return _Table(text, offset, first_line, delimiter, len(rows[0]), ends, _are_integers(rows[0], ends))


def _data_lines(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and content of the lines that are neither blank nor comments."""
    offset = 3 if text.startswith(b"\xef\xbb\xbf") else 0
    stream = io.BytesIO(text)
    stream.seek(offset)
    for number, line in enumerate(stream, start=1):
        if line.strip() and line.lstrip()[:1] not in b"#%":
            yield number, offset, _cut_attributes(line)
        offset += len(line)


def _cut_attributes(text: bytes) -> bytes:
    """Cut the attribute dictionaries that networkx writes after the ends: their commas and spaces are no columns."""
    return re.sub(rb"[ \t,;]+\{[^\n]*\}[ \t\r]*(?=\n|\Z)", b"", text) if b"{" in text else text


def _find_delimiter(lines: Sequence[bytes]) -> str:
    """A space stands for any white space."""
    first = lines[0].strip()
    # Between two integers stands the delimiter, whatever a decimal comma in a weight suggests.
    found = re.match(rb"-?[0-9]+(\s+)-?[0-9]+(?!\S)", first) or re.search(rb"([,;\t])", first)
    if found is None or found[1] not in (b",", b";", b"\t"):
        return " "
    if found[1] == b"\t" and not all(_has_two_fields(line) for line in lines):
        return " "
    return found[1].decode()


def _has_two_fields(line: bytes) -> bool:
    fields = [field for field in line.split(b"\t", 2)[:2] if field.strip()]
    return len(fields) == 2


def _fields(line: bytes, delimiter: str) -> list[str]:
    text = line.decode("utf-8", "replace").strip("\r\n")
    if delimiter == " ":
        text = " ".join(text.split())
    return [field.strip() for field in next(csv.reader([text], delimiter=delimiter), [])]


def _find_header(rows: Sequence[Sequence[str]]) -> tuple[bool, tuple[int, int]]:
    """Whether the first row names the columns, and which columns hold the ends."""
    names = [name.lower() for name in rows[0]]
    for pair in _END_NAMES:
        if set(pair) <= set(names):
            ends = names.index(pair[0]), names.index(pair[1])
            # A graph may well have nodes called u and v: then they turn up again.
            again = {row[end] for row in rows[1:] for end in ends if end < len(row)}
            if again.isdisjoint(rows[0][end] for end in ends):
                return True, ends
    named = len(rows) > 1 and not any(map(_is_integer, rows[0][:2]))
    return named and all(_are_integers(row, (0, 1)) for row in rows[1:]), (0, 1)


def _are_integers(row: Sequence[str], ends: tuple[int, int]) -> bool:
    return all(end < len(row) and _is_integer(row[end]) for end in ends)


def _is_integer(field: str) -> bool:
    return re.fullmatch(r"\s*-?[0-9]+\s*", field) is not None


def _clean(table: _Table) -> bytes:
    """Cut attributes, empty the comment lines (empty, so that line numbers hold), and squeeze white space into one."""
    text = _cut_attributes(table.text[table.offset :])
    if table.integers:
        # Among other labels a name may begin like a comment, #cat for one.
        text = re.sub(rb"\n[ \t]*[#%][^\n]*", b"\n", text)
    if table.delimiter != " ":
        return text
    text = text.translate(bytes.maketrans(b"\t\r", b"  "))
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _parse(table: _Table) -> tuple[Any, Any] | None:
    """The two columns of ends, or None where the text does not hold them as described."""
    arrow, reader = extra("pyarrow"), extra("pyarrow.csv")
    names = [str(column) for column in range(table.width)]
    ends = [names[end] for end in table.ends]
    kind = arrow.int64() if table.integers else arrow.string()
    try:
        parsed = reader.read_csv(
            arrow.BufferReader(arrow.py_buffer(memoryview(table.text)[table.offset :])),
            reader.ReadOptions(column_names=names, block_size=1 << 23),
            reader.ParseOptions(delimiter=table.delimiter),
            reader.ConvertOptions(
                include_columns=ends,
                column_types=dict.fromkeys(ends, kind),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    sources, targets = (parsed[end] for end in ends)
    return None if sources.null_count or targets.null_count else (sources, targets)


def _complaint(table: _Table) -> str:
    """What is wrong with the first line that is wrong; slow, and for errors only."""
    for number, line in enumerate(table.text.splitlines(), start=table.first_line):
        if not line.strip():
            continue
        row = _fields(line, table.delimiter)
        if len(row) != table.width:
            return f"line {number} has {len(row)} columns, line {table.first_line} has {table.width}"
        if not all(row[end] for end in table.ends):
            return f"line {number} misses an end of its edge"
        if "\ufffd" in row[table.ends[0]] + row[table.ends[1]]:
            return f"line {number} is not UTF-8 text"
    return "the columns cannot be parsed"


def edge_parquet(path: Path) -> Source:
    """The graph of a Parquet file with one edge a row."""
    arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        names = file.schema_arrow.names
        if len(names) < 2:
            raise ValueError(f"an edge table needs two columns, this one has {names}")
        _, ends = _find_header([names])
        table = file.read(columns=[names[end] for end in ends])
    columns = {names[end]: table.column(names[end]) for end in ends}
    for name, column in columns.items():
        if column.null_count:
            row = column.is_null().index(True).as_py()
            raise ValueError(f"column {name!r} misses an end of its edge in row {row}, counted from 0")
    kinds = {_label_kind(column.type, name) for name, column in columns.items()}
    common = kinds.pop() if len(kinds) == 1 else arrow.string()
    return single(_from_columns(*(column.cast(common) for column in columns.values())))


def _label_kind(kind: Any, name: str) -> Any:
    """The type that labels from a column of this type are read as."""
    arrow, types = extra("pyarrow"), extra("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind):
        return arrow.int64()
    if types.is_string(kind) or types.is_large_string(kind):
        return arrow.string()
    raise ValueError(f"column {name!r} must hold integers or strings, it holds {kind}")


def _from_columns(sources: Any, targets: Any) -> Graph:
    """A graph from two pyarrow columns of labels, of one type."""
    arrow = extra("pyarrow")
    if arrow.types.is_integer(sources.type):
        ends = np.concatenate([sources.to_numpy(), targets.to_numpy()])
        # Far below the memory that the edges themselves take, and several times faster than hashing.
        if ends.min(initial=0) >= 0 and ends.max(initial=-1) < 4 * len(ends):
            return _numbered(*_number_compact(ends))
    return _numbered(*_number_any(arrow.chunked_array([*sources.chunks, *targets.chunks], sources.type)))


def _number_compact(ends: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    present = np.zeros(ends.max(initial=-1) + 1, dtype=bool)
    present[ends] = True
    labels = np.flatnonzero(present)
    return labels, ends if len(labels) == len(present) else (np.cumsum(present) - 1)[ends]


def _number_any(ends: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Ascending labels, and the position of each end among them."""
    arrow, compute = extra("pyarrow"), extra("pyarrow.compute")
    coded = ends.dictionary_encode().combine_chunks()
    names, codes = coded.dictionary, coded.indices.to_numpy()
    if arrow.types.is_string(names.type):
        trimmed = compute.utf8_trim_whitespace(names).dictionary_encode()
        names, codes = trimmed.dictionary, trimmed.indices.to_numpy()[codes]
        if compute.any(compute.equal(names, "")).as_py():
            raise ValueError("an end of an edge is an empty name")
    order = compute.array_sort_indices(names).to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    labels = names.take(arrow.array(order)).to_numpy(zero_copy_only=False)
    return labels.astype(str) if labels.dtype == object else labels, position[codes]


def _numbered(labels: NDArray[Any], positions: NDArray[np.int64]) -> Graph:
    n = len(labels)
    plain = labels.dtype.kind == "i" and (n == 0 or (labels[0] == 0 and labels[-1] == n - 1))
    return Graph.from_edges(positions.reshape(2, -1).T, num_nodes=n, labels=None if plain else labels)
