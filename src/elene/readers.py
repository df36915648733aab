"""Graphs from files: the ending of the name decides the format, and ``.gz`` may follow the text formats.

=====================================  ==============================================================================
ending                                 what the file holds
=====================================  ==============================================================================
``.txt .csv .tsv .edges .edgelist``    one edge a line; commas, semicolons, tabs or white space between the columns,
                                       an optional header, comment lines that start with ``#`` or ``%``
``.parquet``                           one edge a row
``.npz``                               one sparse matrix (``scipy.sparse.save_npz``); or one network (arrays ``edges``
                                       and ``num_nodes``); or many graphs (arrays ``node_ptr``, ``edge_ptr`` and
                                       ``edge_index``, node ids local to each graph, both directions of every edge)
``.g6 .graph6``                        one graph6 string a line, many graphs
``.graphml``                           GraphML, one graph or several; node ids stay strings
``.gml``                               GML; node labels stay strings, ids stand in where labels are missing or repeat
``.graph .metis``                      METIS adjacency lists, with or without vertex sizes and weights
=====================================  ==============================================================================

In edge tables the ends are the columns that a header calls ``source`` and ``target``, ``src`` and ``dst``, ``from`` and
``to`` or ``u`` and ``v``, and else the first two; further columns are ignored. If all ends are integers they stay so,
otherwise they are strings. Nodes are numbered by ascending label, and ``labels`` is None where those are exactly 0 to
n - 1. Comments stand before the first edge; where labels are integers, also further down.

Edge tables need pyarrow, GraphML and GML need networkx: ``pip install "elene[io]"``. Nothing is read with pickle, and a
damaged file is a ``ValueError`` that names it.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from elene.graph import MAX_NODES, Graph

_END_NAMES = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
_SAMPLE_LINES = 16
_GRAPHML_ROOT = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def read_graph(path: str | os.PathLike[str], index: int | None = None) -> Graph:
    """One graph from a file.

    Args:
        path: the file, of one of the formats above.
        index: which graph, in a file that holds several.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "path.csv")
        >>> _ = path.write_text("source,target,weight\\n7,8,0.5\\n8,9,0.1\\n")
        >>> graph = read_graph(path)
        >>> graph, graph.nodes.tolist()
        (Graph(num_nodes=3, num_edges=2), [7, 8, 9])
    """
    if index is not None and (not isinstance(index, int | np.integer) or isinstance(index, bool)):
        raise TypeError(f"index must be an integer, got {index!r}")
    with _naming(path):
        source = _open(Path(path))
        if index is None and source.count != 1:
            raise ValueError(
                f"the file holds {source.count} graphs: pass index= to choose one, or use Graph.read_all for a list"
            )
        wanted = 0 if index is None else int(index)
        if not 0 <= wanted < source.count:
            raise ValueError(f"index={wanted} is out of range: the file holds {source.count} graphs, counted from 0")
        return source.build(wanted, wanted + 1)[0]


def read_graphs(path: str | os.PathLike[str]) -> list[Graph]:
    """Every graph of a file, in its order; a list of one for the formats that hold one.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "two.g6")
        >>> _ = path.write_text("Bw\\nCR\\n")
        >>> read_graphs(path)
        [Graph(num_nodes=3, num_edges=3), Graph(num_nodes=4, num_edges=3)]
    """
    with _naming(path):
        source = _open(Path(path))
        return source.build(0, source.count)


@dataclass(frozen=True)
class _Source:
    """The graphs of a file, checked but built on demand: one of 250,000 must not cost what all of them do."""

    count: int
    build: Callable[[int, int], list[Graph]]


def _single(graph: Graph) -> _Source:
    return _Source(1, lambda start, stop: [graph][start:stop])


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a damaged file provokes into one ValueError that names the file.

    Parsers answer damage with nearly any type (BadZipFile, ParseError, KeyError, ArrowInvalid, ...), so all are caught,
    except those that say nothing about the content. A warning gets here when the user made warnings errors.
    """
    try:
        yield
    except (ImportError, MemoryError, Warning, FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        raise ValueError(f"{os.fspath(path)}: {str(error) or type(error).__name__}") from error


def _open(path: Path) -> _Source:
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if path.is_dir():
        raise ValueError("a folder, not a file")
    ending = path.suffix.lower()
    if ending == ".gz":
        ending = Path(path.stem).suffix.lower()
    elif ending in _BINARY:
        return _BINARY[ending](path)
    if ending not in _TEXT:
        known = " ".join([*_TEXT, *_BINARY])
        raise ValueError(f"no reader for this ending; known are {known}, and .gz after all but {' '.join(_BINARY)}")
    return _TEXT[ending](_read_bytes(path))


def _read_bytes(path: Path) -> bytes:
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as file:
            text = file.read()
    else:
        text = path.read_bytes()
    if not text:
        raise ValueError("the file is empty")
    return text


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'this file format needs {package}: pip install "elene[io]"') from error


# Edge tables: delimited text and Parquet


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


def _edge_text(text: bytes) -> _Source:
    table = _describe(text)
    if table is None:
        return _single(Graph.from_edges([]))
    columns = _parse(table) if table.integers else None
    if columns is None:
        # Only now: on a clean file of integers, looking for what is to be cleaned costs as much as parsing.
        table = replace(table, text=_clean(table), offset=0)
        columns = (_parse(table) if table.integers else None) or _parse(replace(table, integers=False))
    if columns is None:
        raise ValueError(_complaint(table))
    return _single(_from_columns(*columns))


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
    arrow, reader = _extra("pyarrow"), _extra("pyarrow.csv")
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


def _edge_parquet(path: Path) -> _Source:
    arrow, parquet = _extra("pyarrow"), _extra("pyarrow.parquet")
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
    return _single(_from_columns(*(column.cast(common) for column in columns.values())))


def _label_kind(kind: Any, name: str) -> Any:
    """The type that labels from a column of this type are read as."""
    arrow, types = _extra("pyarrow"), _extra("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind):
        return arrow.int64()
    if types.is_string(kind) or types.is_large_string(kind):
        return arrow.string()
    raise ValueError(f"column {name!r} must hold integers or strings, it holds {kind}")


def _from_columns(sources: Any, targets: Any) -> Graph:
    """A graph from two pyarrow columns of labels, of one type."""
    arrow = _extra("pyarrow")
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
    arrow, compute = _extra("pyarrow"), _extra("pyarrow.compute")
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


# Many graphs in one file


def _split(union: Graph, first: NDArray[np.int64]) -> list[Graph]:
    """The graphs whose disjoint union this is; graph i begins at node first[i]."""
    bounds = list(zip(first.tolist(), union.indptr[first].tolist(), strict=True))
    return [
        Graph(union.indptr[start : stop + 1] - low, union.indices[low:high] - start)
        for (start, low), (stop, high) in pairwise(bounds)
    ]


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _npz(path: Path) -> _Source:
    if not zipfile.is_zipfile(path):
        raise ValueError("not an .npz archive, or only a part of one")
    try:
        # Opened here, for np.load leaves a file open that turns out to be damaged.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if {"node_ptr", "edge_ptr", "edge_index"} <= set(archive.files):
                return _collection(archive["node_ptr"], archive["edge_ptr"], archive["edge_index"])
            if {"edges", "num_nodes"} <= set(archive.files):
                return _single(Graph.from_edges(archive["edges"], num_nodes=archive["num_nodes"].item()))
            if {"format", "shape", "data"} <= set(archive.files):
                return _single(_sparse_matrix(file))
            found = ", ".join(archive.files) or "none"
    except MemoryError as error:
        # The size of an array is read from the file before its content is.
        raise ValueError(f"an array is larger than the memory: {error}") from error
    raise ValueError(
        "expected a scipy sparse matrix, or the arrays edges and num_nodes, or node_ptr, edge_ptr and edge_index; "
        f"the arrays in the file: {found}"
    )


def _sparse_matrix(file: BinaryIO) -> Graph:
    from scipy.sparse import load_npz

    file.seek(0)
    matrix = load_npz(file)
    if hasattr(matrix, "check_format"):
        # scipy trusts the row pointers otherwise, and writes where they point.
        matrix.check_format(full_check=True)
    return Graph.from_scipy(matrix)


def _collection(node_ptr: NDArray[Any], edge_ptr: NDArray[Any], edge_index: NDArray[Any]) -> _Source:
    if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype.kind not in "iu":
        raise ValueError(f"edge_index must be integers of shape (2, arcs), got {edge_index.dtype} {edge_index.shape}")
    first_node = _pointers(node_ptr, "node_ptr")
    first_arc = _pointers(edge_ptr, "edge_ptr")
    if len(first_node) != len(first_arc):
        raise ValueError(f"node_ptr counts {len(first_node) - 1} graphs, edge_ptr {len(first_arc) - 1}")
    if first_arc[-1] != edge_index.shape[1]:
        raise ValueError(f"edge_ptr ends at {first_arc[-1]}, edge_index has {edge_index.shape[1]} arcs")

    def build(start: int, stop: int) -> list[Graph]:
        nodes = first_node[start : stop + 1] - first_node[start]
        arcs_each = np.diff(first_arc[start : stop + 1])
        arcs = edge_index[:, first_arc[start] : first_arc[stop]].astype(np.int64)
        outside = (arcs < 0) | (arcs >= np.repeat(np.diff(nodes), arcs_each))
        if outside.any():
            at = int(np.argmax(outside.any(axis=0)))
            graph = start + int(np.searchsorted(_starts(arcs_each), at, side="right")) - 1
            raise ValueError(f"edge_index of graph {graph} names a node that it has not: {arcs[:, at].tolist()}")
        arcs += np.repeat(nodes[:-1], arcs_each)
        return _split(Graph.from_pyg(arcs, num_nodes=int(nodes[-1])), nodes)

    return _Source(len(first_node) - 1, build)


def _pointers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    good = values.ndim == 1 and values.dtype.kind in "iu" and len(values) > 0
    pointers = values.astype(np.int64) if good else np.empty(0, dtype=np.int64)
    if not good or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(f"{name} must be one row of integers that starts at 0 and never falls")
    return pointers


def parse_graph6(text: str) -> Graph:
    """The graph that one line of graph6 stands for.

    >>> parse_graph6("Bw")
    Graph(num_nodes=3, num_edges=3)
    """
    (graph,) = _graph6_lines([text.strip().encode()], [1])
    return graph


def _graph6(text: bytes) -> _Source:
    numbers, lines = [], []
    for number, line in enumerate(text.split(b"\n"), start=1):
        graph = line.strip().removeprefix(b">>graph6<<")
        if graph:
            numbers.append(number)
            lines.append(graph)
    return _Source(len(lines), lambda start, stop: _graph6_lines(lines[start:stop], numbers[start:stop]))


def _graph6_lines(lines: list[bytes], numbers: list[int]) -> list[Graph]:
    if not lines:
        return []
    heads = [_graph6_size(line, number) for line, number in zip(lines, numbers, strict=True)]
    sizes = np.array([size for size, _ in heads], dtype=np.int64)
    if sizes.sum() > MAX_NODES:
        raise ValueError(f"the graphs have {sizes.sum()} nodes together, more than {MAX_NODES}")
    bodies = [line[skip:] for line, (_, skip) in zip(lines, heads, strict=True)]
    first_bit = 6 * _starts(np.array([len(body) for body in bodies], dtype=np.int64))
    sixes = np.frombuffer(b"".join(bodies), dtype=np.uint8) - np.uint8(63)
    ones = np.flatnonzero(np.unpackbits(sixes).reshape(-1, 8)[:, 2:])
    graph = np.searchsorted(first_bit, ones, side="right") - 1
    lower, upper = _triangle(ones - first_bit[graph])
    if (upper >= sizes[graph]).any():
        bad = graph[np.argmax(upper >= sizes[graph])]
        raise ValueError(f"line {numbers[bad]} is damaged: bits are set beyond the last pair of nodes")
    first = _starts(sizes)
    edges = np.stack([lower, upper], axis=1) + first[graph][:, None]
    return _split(Graph.from_edges(edges, num_nodes=int(first[-1])), first)


def _graph6_size(line: bytes, number: int) -> tuple[int, int]:
    """The number of nodes, and where the bits begin."""
    if line[:1] in b":;&":
        raise ValueError(f"line {number} is sparse6 or digraph6 (it starts with {line[:1].decode()}), not graph6")
    if min(line) < 63 or max(line) > 126:
        raise ValueError(f"line {number} is not graph6: its characters must lie between ? and ~")
    start, stop = (0, 1) if line[0] < 126 else (1, 4) if line[1:2] != b"~" else (2, 8)
    size = 0
    for byte in line[start:stop]:
        size = size << 6 | (byte - 63)
    expected = stop + (size * (size - 1) // 2 + 5) // 6
    if len(line) != expected:
        raise ValueError(f"line {number} is damaged: {size} nodes take {expected} characters, it has {len(line)}")
    return size, stop


def _triangle(place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pair (lower, upper) at each place of the order (0,1) (0,2) (1,2) (0,3) ..."""
    # Rounding could do harm from 2**26 nodes on, whose graph6 string would fill hundreds of terabytes.
    upper = ((1 + np.sqrt(8.0 * place + 1)) / 2).astype(np.int64)
    return place - upper * (upper - 1) // 2, upper


# GraphML, GML and METIS


def _graphml(text: bytes) -> _Source:
    reader = _extra("networkx.readwrite.graphml").GraphMLReader()
    # Some writers leave out the name space, without which no graph would be found.
    graphs = list(reader(string=text.replace(b"<graphml>", _GRAPHML_ROOT)))
    if not graphs:
        raise ValueError("no <graph> in the file")
    return _Source(len(graphs), lambda start, stop: [Graph.from_networkx(graph) for graph in graphs[start:stop]])


def _gml(text: bytes) -> _Source:
    networkx = _extra("networkx")
    try:
        graph = networkx.read_gml(io.BytesIO(text))
    except networkx.NetworkXError:
        graph = networkx.read_gml(io.BytesIO(text), label="id")
    return _single(Graph.from_networkx(graph))


def _metis(text: bytes) -> _Source:
    values, counts, numbers = _integer_lines(text)
    if len(counts) == 0 or not 2 <= counts[0] <= 4:
        raise ValueError("the first line must be: number of nodes, number of edges, and optionally fmt and ncon")
    header = values[: counts[0]].tolist()
    n, m = header[:2]
    if len(counts) - 1 < n or counts[n + 1 :].any():
        raise ValueError(f"line {numbers[0]} announces {n} nodes, but {len(counts) - 1} lines follow")
    flags = str(header[2] if len(header) > 2 else 0).zfill(3)
    if not re.fullmatch("[01]{3}", flags):
        raise ValueError(f"line {numbers[0]}: fmt must be up to three digits 0 or 1, got {header[2]}")
    weights = (header[3] if len(header) > 3 else 1) if flags[1] == "1" else 0
    skip, step = int(flags[0]) + weights, 1 + int(flags[2])
    sources, targets = _metis_arcs(values[counts[0] :], counts[1 : n + 1], numbers[1 : n + 1], (skip, step))
    if len(sources) != 2 * m:
        raise ValueError(f"line {numbers[0]} announces {m} edges, so {2 * m} neighbours; {len(sources)} are listed")
    fix = "a file that lists every edge at both of its ends"
    return _single(Graph._from_arcs(sources, targets, n, "the adjacency list", fix))


def _integer_lines(text: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All integers of a text, how many stand in each line, and the number of the line; comment lines left out."""
    data = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", dtype=np.uint8).copy()
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    comment = data[starts] == ord("%")
    data[np.repeat(comment, ends + 1 - starts)] = ord(" ")
    blank = np.isin(data, np.frombuffer(b" \t\r\n", dtype=np.uint8))
    wrong = np.flatnonzero(~blank & ((data < ord("0")) | (data > ord("9"))))
    if len(wrong):
        number = int(np.searchsorted(ends, wrong[0])) + 1
        raise ValueError(f"line {number} holds {chr(data[wrong[0]])!r}: only whole numbers may stand there")
    first_digits = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    counts = np.diff(np.searchsorted(first_digits, np.append(starts, len(data))))
    values = np.fromstring(data.tobytes().decode("ascii"), dtype=np.int64, sep=" ")
    return values, counts[~comment], np.flatnonzero(~comment) + 1


def _metis_arcs(
    values: NDArray[np.int64], counts: NDArray[np.int64], numbers: NDArray[np.int64], layout: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both ends of every arc, from 0 on; a line is ``skip`` numbers and then a neighbour every ``step`` numbers."""
    skip, step = layout
    wrong = (counts < skip) | ((counts - skip) % step != 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"line {numbers[at]} holds {counts[at]} numbers, which does not fit the fmt of the first line")
    line = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(line)) - _starts(counts)[line] - skip
    keep = (place >= 0) & (place % step == 0)
    sources, targets = line[keep], values[: len(line)][keep] - 1
    outside = (targets < 0) | (targets >= len(counts))
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"line {numbers[sources[at]]} names node {targets[at] + 1}, but nodes are 1 to {len(counts)}")
    return sources, targets


_TEXT: dict[str, Callable[[bytes], _Source]] = {
    **dict.fromkeys([".txt", ".csv", ".tsv", ".edges", ".edgelist"], _edge_text),
    **dict.fromkeys([".g6", ".graph6"], _graph6),
    ".graphml": _graphml,
    ".gml": _gml,
    **dict.fromkeys([".graph", ".metis"], _metis),
}
_BINARY: dict[str, Callable[[Path], _Source]] = {".parquet": _edge_parquet, ".npz": _npz}
