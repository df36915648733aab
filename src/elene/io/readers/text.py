"""Delimited text that holds a table of edges: its delimiter, its header and its columns, by its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from elene.io.readers.layout import Column, choose_ends, describe, known_ends, label_column, looks_named
from elene.io.readers.source import Options

SAMPLE_LINES = 100
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
        labels: the one that holds the labels of edges; None where nobody asked for them.
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
    labels: int | None
    header: list[str] | None
    unsure: bool
    integers: bool

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.columns)


def normalised(text: bytes) -> bytes:
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
    rows = [split_line(line, delimiter) for _, _, line in sample]
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
    labels = label_column(columns, options)
    return Table(text, offset, first_line, delimiter, columns, ends, labels, header, unsure, integers)


def _data_lines(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and content of the lines that are neither blank nor comments."""
    offset = 0
    for number, line in enumerate(io.BytesIO(text), start=1):
        if line.strip(b" \t\n") and line.lstrip(b" \t")[:1] not in b"#%":
            yield number, offset, cut_attributes(line)
        offset += len(line)


_ATTRIBUTES = re.compile(rb"[ \t,;]+\{(?:|['\"][^\n]*:[^\n]*)\}[ \t]*(?=\n|\Z)")


def cut_attributes(text: bytes) -> bytes:
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
    return len([field for field in line.split(b"\t", 2)[:2] if field.strip()]) == 2


def _splits_alike(lines: Sequence[bytes], delimiter: str) -> bool:
    """Whether a delimiter cuts all lines into as many columns, two at least; commas in decimals do not count."""
    if delimiter == ",":
        lines = [re.sub(rb"(?<![^\t; ])(-?[0-9]+),([0-9]+)(?![^\t;\n ])", rb"\1.\2", line) for line in lines]
    widths = {len(split_line(line, delimiter)) for line in lines}
    return len(widths) == 1 and widths.pop() > 1


def split_line(line: bytes, delimiter: str) -> list[str]:
    """The fields of a line, without quotes and white space around them."""
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
    wrong = re.search(rb"^(?![ \t]*[#%])(?!" + line + rb"$).*\".*$", cut_attributes(text), re.MULTILINE)
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
    said = options.source, options.target, options.edge_labels
    asked = [column for column in said if isinstance(column, str) and column in first]
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
