"""Edge tables: delimited text and Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph, warn
from elene.io.readers.layout import Column, choose_ends, ignored, label_column
from elene.io.readers.numbering import number_ends, numbered_graph
from elene.io.readers.source import LabelsOfEdges, Options, Source, extra, logger, single
from elene.io.readers.text import DELIMITERS, Table, cut_attributes, describe_text, normalised, split_line

BLOCK = 1 << 20  # bytes of a text that are looked at one by one for the line that is wrong


def edge_text(text: bytes, options: Options) -> Source:
    """The graph of a text with one edge a line."""
    text = normalised(text)
    table = describe_text(text, options)
    if table is None:
        return single(Graph.from_edges([]))
    for loss in ignored(table.columns, (*table.ends, table.labels)):
        warn(loss)
    if re.search(rb"[ \t,;]\{['\"]", text[: table.offset + BLOCK]) and cut_attributes(text) != text:
        warn("attributes of edges are ignored: edges have no weights here")
    sources, targets, cleaned = _ends(table)
    _account(cleaned, len(sources))
    labels, positions = number_ends(sources, targets)
    _check_header(table, labels, positions)
    _say(table, len(sources))
    found = None if table.labels is None else _column(cleaned, table.labels)
    return single(numbered_graph(labels, positions, options), _beside(positions, found))


def _beside(positions: NDArray[np.int64], labels: Any | None) -> LabelsOfEdges | None:
    """The labels of a column, each beside the ends of its edge."""
    if labels is None:
        return None
    return lambda number, graph: (positions.reshape(2, -1).T, labels.to_pylist())


def _column(table: Table, place: int) -> Any:
    """A further column as text, of a table whose ends could be read."""
    parsed = _read_columns(table, (place,), extra("pyarrow").string())
    if parsed is None:
        raise ValueError(f"the column {table.columns[place].show(place)} is not UTF-8 text")
    return parsed[0]


def _ends(table: Table) -> tuple[Any, Any, Table]:
    """The two columns of ends, and the table as it was when they could be read."""
    if table.integers:
        numbers = _plain_integers(table)
        if numbers is not None:
            return numbers
    # From the text as it was: what is a comment among integers may be a name among others.
    table = _clean(replace(table, integers=False))
    found = _parse(table)
    if found is None:
        raise ValueError(_complaint(table))
    return *found, table


def _plain_integers(table: Table) -> tuple[Any, Any, Table] | None:
    uneven = table.delimiter == " " and any(odd in table.text for odd in (b"  ", b"\t", b" \n", b"\n "))
    found = None if uneven else _parse(table)
    if found is None:
        # Only now: on a clean file of integers, looking for what is to be cleaned costs as much as parsing.
        table = _clean(table)
        found = _parse(table)
    if found is not None and _may_be_padded(table):
        found = _unpadded(found, _parse(replace(table, integers=False)))
    return None if found is None else (*found, table)


def _clean(table: Table) -> Table:
    """Cut attributes, empty the comment lines (empty, so that line numbers hold), and squeeze white space into one."""
    text = cut_attributes(table.text[table.offset :])
    # Searching for a byte is far quicker than replacing what is not there.
    marked = b"#" in text or b"%" in text
    if marked and table.integers:
        text = re.sub(rb"(?m)^[ \t]*[#%][^\n]*", b"", text)
    elif marked:
        # Among other labels a name may begin like a comment, #cat for one.
        text = re.sub(rb"(?m)^[ \t]*[#%](?:[ \t][^\n]*)?$", lambda found: _comment(found, table), text)
    if table.delimiter == " ":
        text = text.replace(b"\t", b" ")
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    elif text[:1] in (b" ", b"\t") or b"\n " in text or b"\n\t" in text:
        text = re.sub(rb"(?m)^[ \t]+$", b"", text)
    return replace(table, text=text, offset=0)


def _comment(found: re.Match[bytes], table: Table) -> bytes:
    if len(split_line(found[0], table.delimiter)) == table.width:
        number = table.first_line + found.string.count(b"\n", 0, found.start())
        raise ValueError(
            f"line {number} may be a comment or an edge: {found[0][:60]!r}; take it out, or the space in it"
        )
    return b""


def _parse(table: Table) -> tuple[Any, Any] | None:
    """The two columns of ends, or None where the text does not hold them as described."""
    arrow = extra("pyarrow")
    found = _read_columns(table, table.ends, arrow.int64() if table.integers else arrow.string())
    if found is None:
        return None
    sources, targets = found
    return None if sources.null_count or targets.null_count else (sources, targets)


def _read_columns(table: Table, places: Sequence[int], kind: Any) -> list[Any] | None:
    """Some columns as values of a type, or None where the text does not hold them."""
    arrow, reader = extra("pyarrow"), extra("pyarrow.csv")
    names = [str(column) for column in range(table.width)]
    wanted = [names[place] for place in places]
    if table.offset >= len(table.text):
        return None
    try:
        parsed = reader.read_csv(
            arrow.BufferReader(arrow.py_buffer(memoryview(table.text)[table.offset :])),
            reader.ReadOptions(column_names=names, block_size=1 << 23),
            reader.ParseOptions(delimiter=table.delimiter, quote_char='"' if b'"' in table.text else False),
            reader.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, kind),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    return [parsed[name] for name in wanted]


def _may_be_padded(table: Table) -> bool:
    """Whether the text holds a number with zeros in front, a minus before a zero, or one that is hexadecimal."""
    data = np.frombuffer(table.text, np.uint8)
    for start in range(table.offset, len(data), BLOCK):
        block = data[max(start - 1, 0) : start + BLOCK + 1]
        zero, digit = block == ord("0"), (block >= ord("0")) & (block <= ord("9"))
        begins = zero[1:-1] & ~digit[:-2]
        more = digit[2:] | ((block[2:] | 32) == ord("x")) | (block[:-2] == ord("-"))
        if (begins & more).any():
            return True
    head = bytes(data[table.offset : table.offset + 2])
    return head[:1] == b"0" and head[1:].isalnum()


def _unpadded(integers: tuple[Any, Any], texts: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
    """The integers, unless they are not what the text says: 007 is another name than 7."""
    compute, arrow = extra("pyarrow.compute"), extra("pyarrow")
    if texts is None:
        return None
    for numbers, text in zip(integers, texts, strict=True):
        same = compute.equal(compute.utf8_trim(text, " \t"), numbers.cast(arrow.string()))
        if not compute.all(same).as_py():
            return None
    return integers


def _account(table: Table, rows: int) -> None:
    """An error unless every line is a row, or blank, or a comment."""
    text = table.text
    lines = text.count(b"\n", table.offset) + (not text.endswith(b"\n"))
    if rows != lines:
        lines -= sum(1 for _ in re.finditer(rb"(?m)^(?=\n)", text[table.offset :]))
    if rows != lines:
        raise ValueError(f"{lines} lines, and {rows} edges read from them: some line is not what it seems to be")


def _check_header(table: Table, labels: NDArray[Any], positions: NDArray[np.int64]) -> None:
    """An error where it does not show whether the first line names the columns or is an edge."""
    if not table.unsure or not positions.size:
        return
    ends = positions.reshape(2, -1)
    if table.header is None:
        sure = bool(np.isin(ends[:, 1:], ends[:, 0]).any())
        shown = labels[ends[:, 0]].tolist()
    else:
        shown = [table.header[end] for end in table.ends]
        sure = labels.dtype.kind in "iu" or (not table.integers and not np.isin(shown, labels).any())
    if not sure:
        raise unclear(shown)


def unclear(first: Iterable[str]) -> ValueError:
    """What is said of a first line that may be a header or an edge."""
    return ValueError(
        f"it does not show whether the first line {list(first)} is a header or an edge: pass header=True or "
        "header=False (--header, --no-header)"
    )


def _say(table: Table, rows: int) -> None:
    lines = table.text.count(b"\n") + (not table.text.endswith(b"\n"))
    first = "a header" if table.header is not None else "no header"
    took = " and ".join(table.columns[end].show(end) for end in table.ends)
    told = "%d lines with %s, %s between %d columns; edges are columns %s: %d read"
    logger.info(told, lines, first, DELIMITERS[table.delimiter], table.width, took, rows)


def _complaint(table: Table) -> str:
    """What is wrong with the first line that is wrong: blocks are parsed until one cannot be."""
    text, number, start = table.text, table.first_line, table.offset
    while start < len(text):
        stop = text.find(b"\n", start + BLOCK) + 1 or len(text)
        block = replace(table, text=text[start:stop], offset=0)
        if _parse(block) is None and (complaint := _complaint_of(block, number)):
            return complaint
        number += text.count(b"\n", start, stop)
        start = stop
    return "the columns cannot be parsed"


def _complaint_of(table: Table, first: int) -> str | None:
    for number, line in enumerate(table.text.split(b"\n"), start=first):
        if not line.strip(b" \t"):
            continue
        row = split_line(line, table.delimiter)
        if len(row) != table.width:
            return f"line {number} has {len(row)} columns, line {table.first_line} has {table.width}"
        if not all(row[end] for end in table.ends):
            return f"line {number} misses an end of its edge"
        if "\ufffd" in row[table.ends[0]] + row[table.ends[1]]:
            return f"line {number} is not UTF-8 text"
    return None


def edge_parquet(path: Path, options: Options) -> Source:
    """The graph of a Parquet file with one edge a row."""
    arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        schema = file.schema_arrow
        columns, ends = parquet_ends(schema, options)
        labels = label_column(columns, options)
        read = ends if labels is None else (*ends, labels)
        table = file.read(columns=[schema.names[place] for place in read])
    for loss in ignored(columns, read):
        warn(loss)
    found = {schema.names[end]: table.column(schema.names[end]) for end in ends}
    for name, column in found.items():
        if column.null_count:
            row = column.is_null().index(True).as_py()
            raise ValueError(f"column {name!r} misses an end of its edge in row {row}, counted from 0")
    kinds = [label_kind(column.type, name) for name, column in found.items()]
    if len(set(kinds)) > 1:
        _refuse_shared_names(found, kinds)
    common = kinds[0] if len(set(kinds)) == 1 else arrow.string()
    sources, targets = (column.cast(kind).cast(common) for column, kind in zip(found.values(), kinds, strict=True))
    took = " and ".join(columns[end].show(end) for end in ends)
    logger.info("%d rows of %d columns; edges are columns %s", len(sources), len(columns), took)
    names, positions = number_ends(sources, targets)
    found_labels = None if labels is None else table.column(schema.names[labels])
    return single(numbered_graph(names, positions, options), _beside(positions, found_labels))


def parquet_ends(schema: Any, options: Options) -> tuple[list[Column], tuple[int, int]]:
    """The columns of a Parquet file, and the two that hold the ends of edges."""
    if len(schema.names) < 2:
        raise ValueError(f"an edge table needs two columns, this one has {schema.names}")
    if b"elene" in (schema.metadata or {}) and options.source is None:
        raise ValueError("a table of encodings that elene wrote, not of edges: pass source= and target= if it is one")
    columns = [Column(field.name, _column_kind(field.type)) for field in schema]
    if len(columns) == 2:
        for field in schema:
            label_kind(field.type, field.name)
    return columns, choose_ends(columns, options)


def _column_kind(kind: Any) -> str:
    types = extra("pyarrow.types")
    value = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(value):
        return "integer"
    if types.is_string(value) or types.is_large_string(value):
        return "name"
    return "time" if types.is_temporal(value) else "number"


def label_kind(kind: Any, name: str) -> Any:
    """The type that labels from a column of this type are read as."""
    arrow, types = extra("pyarrow"), extra("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind):
        return arrow.int64()
    if types.is_string(kind) or types.is_large_string(kind):
        return arrow.string()
    raise ValueError(f"column {name!r} must hold integers or strings, it holds {kind}")


def _refuse_shared_names(columns: dict[str, Any], kinds: Sequence[Any]) -> None:
    """An error if a number in one column is a text in the other: whether they are one node is not for us to say."""
    compute, arrow = extra("pyarrow.compute"), extra("pyarrow")
    one, other = (
        compute.unique(column.cast(kind)).cast(arrow.string())
        for column, kind in zip(columns.values(), kinds, strict=True)
    )
    shared = one.filter(compute.is_in(one, other))
    if len(shared):
        raise ValueError(
            f"node {shared[0].as_py()!r} is a number in one of the columns {list(columns)} and a text in the other: "
            "write both as numbers or both as texts"
        )
