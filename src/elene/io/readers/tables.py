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

from elene.graph import Graph, warn
from elene.io.readers.layout import Column, choose_ends, describe, ignored, known_ends, looks_named
from elene.io.readers.source import Options, Source, extra, joined, logger, single

SAMPLE_LINES = 100
BLOCK = 1 << 20  # bytes of a text that are looked at one by one for the line that is wrong
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "white space"}


@dataclass(frozen=True)
class Table:
    """Delimited text, from its first row of data on.

    Attributes:
        text: all of it, with line ends that are all ``\\n``.
        offset: where the first row of data begins.
        first_line: the number of its line.
        delimiter: a space stands for any white space.
        columns: what they look like in the first lines.
        ends: the two that hold the ends of edges.
        header: the fields of the header; None without one.
        unsure: whether the first line is data, or whether what seems to be a header is one, is for the rest to show.
        integers: whether the ends of the first row are.
    """

    text: bytes
    offset: int
    first_line: int
    delimiter: str
    columns: list[Column]
    ends: tuple[int, int]
    header: list[str] | None
    unsure: bool
    integers: bool

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.columns)


def edge_text(text: bytes, options: Options) -> Source:
    """The graph of a text with one edge a line."""
    text = _normalised(text)
    table = describe_text(text, options)
    if table is None:
        return single(Graph.from_edges([]))
    for loss in ignored(table.columns, table.ends):
        warn(loss)
    if re.search(rb"[ \t,;]\{['\"]", text[: table.offset + BLOCK]) and _cut_attributes(text) != text:
        warn("attributes of edges are ignored: edges have no weights here")
    sources, targets, cleaned = _ends(table)
    _account(cleaned, len(sources))
    labels, positions = _numbered(sources, targets)
    _check_header(table, labels, positions)
    _say(table, len(sources))
    return single(_graph(labels, positions, options))


def _normalised(text: bytes) -> bytes:
    """Text with line ends that are all alike and no mark in front; an error for what is no text."""
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("the text is UTF-16: save it as UTF-8")
    if (place := text.find(b"\0")) >= 0:
        raise ValueError(f"line {text.count(bytes([10]), 0, place) + 1} holds a zero byte: this is no UTF-8 text")
    text = text.removeprefix(b"\xef\xbb\xbf")
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def describe_text(text: bytes, options: Options) -> Table | None:
    """Find delimiter, header and columns from the first lines; None for a file without edges."""
    sample = list(islice(_data_lines(text), SAMPLE_LINES))
    if not sample:
        return None
    delimiter = _find_delimiter([line for _, _, line in sample])
    if b'"' in text:
        _check_quotes(text, delimiter)
    rows = [_fields(line, delimiter) for _, _, line in sample]
    if len(rows[0]) < 2:
        raise ValueError(
            f"line {sample[0][0]} has one column: expected two, with comma, semicolon, tab or spaces between"
        )
    named, unsure = _find_header(rows, options)
    if options.header is None and _has_attributes(text, sample[0][1]):
        named, unsure = False, False
    header = rows.pop(0) if named else None
    if named:
        sample = sample[1:]
    if not rows:
        return None
    if header is not None and len(rows[0]) != len(header):
        raise ValueError(f"line {sample[0][0]} has {len(rows[0])} columns, the header {len(header)}")
    first_line, offset, _ = sample[0]
    for (number, _, _), row in zip(sample, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(f"line {number} has {len(row)} columns, line {first_line} has {len(rows[0])}")
    columns = describe(rows, header)
    ends = choose_ends(columns, options)
    integers = all(re.fullmatch("-?[0-9]+", rows[0][end]) for end in ends)
    return Table(text, offset, first_line, delimiter, columns, ends, header, unsure, integers)


def _data_lines(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and content of the lines that are neither blank nor comments."""
    offset = 0
    for number, line in enumerate(io.BytesIO(text), start=1):
        if line.strip(b" \t\n") and line.lstrip(b" \t")[:1] not in b"#%":
            yield number, offset, _cut_attributes(line)
        offset += len(line)


_ATTRIBUTES = re.compile(rb"[ \t,;]+\{(?:|['\"][^\n]*:[^\n]*)\}[ \t]*(?=\n|\Z)")


def _cut_attributes(text: bytes) -> bytes:
    """Cut the attribute dictionaries that networkx writes after the ends: their commas and spaces are no columns."""
    return _ATTRIBUTES.sub(b"", text) if b"{" in text else text


def _has_attributes(text: bytes, offset: int) -> bool:
    """Whether a dictionary ends the line that begins there: then it is an edge, and names no columns."""
    return _ATTRIBUTES.search(text[offset : text.find(b"\n", offset) + 1 or len(text)]) is not None


def _find_delimiter(lines: Sequence[bytes]) -> str:
    """A space stands for any white space."""
    first = lines[0].strip()
    # Between two integers stands the delimiter, whatever a decimal comma in a weight suggests.
    between = re.match(rb"-?[0-9]+(\s+)-?[0-9]+(?!\S)", first)
    found = between or re.search(rb"([,;\t])", first) or re.search(rb"([|])", first)
    if found is None or found[1] not in (b",", b";", b"\t", b"|"):
        return " "
    if found[1] == b"\t" and not all(_has_two_fields(line) for line in lines):
        return " "
    delimiter = found[1].decode()
    others = ",;\t"
    if delimiter == "|":  # which names may hold, too: those that white space stands between
        lines, others = [re.sub(rb"[ \t]*[|][ \t]*", b"|", line) for line in lines], ",;\t "
    rivals = [other for other in others if other != delimiter and _splits_alike(lines, other)]
    if not between and rivals:
        raise ValueError(
            f"{DELIMITERS[delimiter]} and {DELIMITERS[rivals[0]]} both cut every line into columns: "
            "write the file with one of them only, or with quotes around names"
        )
    return delimiter


def _has_two_fields(line: bytes) -> bool:
    fields = [field for field in line.split(b"\t", 2)[:2] if field.strip()]
    return len(fields) == 2


def _splits_alike(lines: Sequence[bytes], delimiter: str) -> bool:
    """Whether a delimiter cuts all lines into as many columns, two at least; commas in decimals do not count."""
    if delimiter == ",":
        lines = [re.sub(rb"(?<![^\t; ])(-?[0-9]+),([0-9]+)(?![^\t;\n ])", rb"\1.\2", line) for line in lines]
    widths = {len(_fields(line, delimiter)) for line in lines}
    return len(widths) == 1 and widths.pop() > 1


def _fields(line: bytes, delimiter: str) -> list[str]:
    text = line.decode("utf-8", "replace").strip("\n")
    if delimiter == " ":
        text = re.sub("[ \t]+", " ", text).strip(" ")
    return [field.strip(" \t") for field in next(csv.reader([text], delimiter=delimiter), [])]


def _check_quotes(text: bytes, delimiter: str) -> None:
    """An error for a line with a quote that is not closed in it, or closed before the end of a field."""
    if delimiter == " ":
        field = rb'(?>"(?>[^"\s]|""| (?![ "]))*"|[^"\s][^\s]*)'
        line = rb"[ \t]*(?>" + field + rb"(?>[ \t]+" + field + rb")*)[ \t]*"
    else:
        cut = delimiter.encode()
        field = rb'(?>"(?>[^"\n]|"")*"|[ \t]*(?>[^"\n \t' + cut + rb"][^\n" + cut + rb"]*)?)"
        line = field + rb"(?>" + cut + field + rb")*"
    wrong = re.search(rb"^(?![ \t]*[#%])(?!" + line + rb"$).*\".*$", _cut_attributes(text), re.MULTILINE)
    if wrong is not None:
        number = text.count(b"\n", 0, wrong.start()) + 1
        raise ValueError(
            f"line {number} has a quote that no other closes before the end of the field and of the line: "
            f"{wrong[0][:60].decode('utf-8', 'replace')!r}"
        )


def _find_header(rows: Sequence[Sequence[str]], options: Options) -> tuple[bool, bool]:
    """Whether the first row names the columns, and whether that is still to be confirmed by the rest of the file."""
    if options.header is not None:
        return options.header, False
    first, rest = rows[0], rows[1:]
    asked = [end for end in (options.source, options.target) if isinstance(end, str) and end in first]
    if asked:
        return True, True
    known = known_ends(first)
    below = {field for row in rest for field in row}
    if known:
        # A graph may well have nodes called u and v: then they turn up again.
        return below.isdisjoint(first[end] for end in known[0]), True
    if looks_named(first, rest):
        return True, True
    return False, not any(re.fullmatch("-?[0-9]+", field) for field in first[:2])


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
    text = _cut_attributes(table.text[table.offset :])
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
    if len(_fields(found[0], table.delimiter)) == table.width:
        number = table.first_line + found.string.count(b"\n", 0, found.start())
        raise ValueError(
            f"line {number} may be a comment or an edge: {found[0][:60]!r}; take it out, or the space in it"
        )
    return b""


def _parse(table: Table) -> tuple[Any, Any] | None:
    """The two columns of ends, or None where the text does not hold them as described."""
    arrow, reader = extra("pyarrow"), extra("pyarrow.csv")
    names = [str(column) for column in range(table.width)]
    ends = [names[end] for end in table.ends]
    kind = arrow.int64() if table.integers else arrow.string()
    if table.offset >= len(table.text):
        return None
    try:
        parsed = reader.read_csv(
            arrow.BufferReader(arrow.py_buffer(memoryview(table.text)[table.offset :])),
            reader.ReadOptions(column_names=names, block_size=1 << 23),
            reader.ParseOptions(delimiter=table.delimiter, quote_char='"' if b'"' in table.text else False),
            reader.ConvertOptions(
                include_columns=ends,
                column_types=dict.fromkeys(ends, kind),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    sources, targets = (parsed[end] for end in ends)
    return None if sources.null_count or targets.null_count else (sources, targets)


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
        raise ValueError(
            f"it does not show whether the first line {shown} is a header or an edge: pass header=True or "
            "header=False (--header, --no-header)"
        )


def _say(table: Table, rows: int) -> None:
    lines = table.text.count(b"\n") + (not table.text.endswith(b"\n"))
    first = "a header" if table.header is not None else "no header"
    took = " and ".join(table.columns[end].show(end) for end in table.ends)
    logger.info(
        "%d lines with %s, %s between %d columns; edges are columns %s: %d read",
        lines,
        first,
        DELIMITERS[table.delimiter],
        table.width,
        took,
        rows,
    )


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
        row = _fields(line, table.delimiter)
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
        table = file.read(columns=[schema.names[end] for end in ends])
    for loss in ignored(columns, ends):
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
    return single(_graph(*_numbered(sources, targets), options))


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


def _numbered(sources: Any, targets: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Ascending labels, and the position of each end among them, from two pyarrow columns of one type."""
    arrow = extra("pyarrow")
    if arrow.types.is_integer(sources.type):
        ends = np.concatenate([sources.to_numpy(), targets.to_numpy()])
        # Far below the memory that the edges themselves take, and several times faster than hashing.
        if ends.min(initial=0) >= 0 and ends.max(initial=-1) < 4 * len(ends):
            return _number_compact(ends)
    return _number_any(arrow.chunked_array([*sources.chunks, *targets.chunks], sources.type))


def _number_compact(ends: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    present = np.zeros(ends.max(initial=-1) + 1, dtype=bool)
    present[ends] = True
    labels = np.flatnonzero(present)
    return labels, ends if len(labels) == len(present) else (np.cumsum(present) - 1)[ends]


def _number_any(ends: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    arrow, compute = extra("pyarrow"), extra("pyarrow.compute")
    coded = ends.dictionary_encode().combine_chunks()
    names, codes = coded.dictionary, coded.indices.to_numpy()
    if arrow.types.is_string(names.type):
        trimmed = compute.utf8_trim(names, " \t").dictionary_encode()
        names, codes = trimmed.dictionary, trimmed.indices.to_numpy()[codes]
        if compute.any(compute.equal(names, "")).as_py():
            raise ValueError("an end of an edge is an empty name")
        if compute.any(compute.match_substring(names, "\0")).as_py():
            raise ValueError("an end of an edge is a name with a zero byte in it")
    order = compute.array_sort_indices(names).to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    labels = names.take(arrow.array(order)).to_numpy(zero_copy_only=False)
    return labels.astype(str) if labels.dtype == object else labels, position[codes]


def _graph(labels: NDArray[Any], positions: NDArray[np.int64], options: Options) -> Graph:
    n = len(labels)
    plain = labels.dtype.kind == "i" and (n == 0 or (labels[0] == 0 and labels[-1] == n - 1))
    sources, targets = positions.reshape(2, -1)
    graph, both = Graph._joined(sources, targets, n, None if plain else labels)
    if both:
        logger.info("%s", joined(graph, both))
    if 0 < both < graph.num_edges and not options.undirected:
        warn(
            f"{both} of {graph.num_edges} edges stand in both directions, the others in one: if they are arcs, "
            "they were joined; undirected=True (--undirected) says that this is meant"
        )
    return graph
