"""Graphs from files: the ending of the name decides the format; ``.gz`` or ``.zst`` may follow the text formats.

=====================================  ==============================================================================
ending                                 what the file holds
=====================================  ==============================================================================
``.txt .csv .tsv .edges .edgelist``    one edge a line; commas, semicolons, tabs, bars or white space between the
                                       columns, an optional header, comment lines that start with ``#`` or ``%``
``-``                                  the same from standard input, packed or not
``.parquet``                           one edge a row
``.npz``                               one sparse matrix (``scipy.sparse.save_npz``); or one network (arrays ``edges``
                                       and ``num_nodes``); or many graphs (arrays ``node_ptr``, ``edge_ptr`` and
                                       ``edge_index``, node ids local to each graph, both directions of every edge)
``.g6 .graph6``                        one graph6 string a line, many graphs
``.graphml``                           GraphML, one graph or several; node ids stay strings
``.gml``                               GML; node labels stay strings, ids stand in where labels are missing or repeat
``.gexf``                              GEXF; node ids stay strings
``.net .paj``                          Pajek; nodes are called by their names where these differ, else by their numbers
``.mtx``                               Matrix Market: an adjacency matrix, whose entries are edges unless they are zero
``.graph .metis``                      METIS adjacency lists, with or without vertex sizes and weights
a folder                               a :class:`elene.GraphStore`, which stays on disk
=====================================  ==============================================================================

In edge tables the ends are the columns that a header calls ``source`` and ``target``, ``src`` and ``dst``, ``from``
and ``to``, ``u`` and ``v`` and the like, or else the only two that can hold nodes: no decimals, no times, no weights by
their name. Where several can, the reader does not guess: ``source=`` and ``target=`` say it. A first line that may be a
header or an edge is asked about, too: ``header=True`` or ``False``. A warning tells of weights and times, which are not
read, and the logger ``elene.io`` of all else: which columns were taken, how many lines and edges there were.

If all ends are integers, written without zeros in front, they stay so, otherwise they are strings. Nodes are numbered
by ascending name, and ``names`` is None where those are exactly 0 to n - 1. Comments stand before the first edge;
where names are integers, also further down; among other names only where a space follows the mark. Quotes are as in
CSV, and end on their line.

Edge tables and ``.zst`` need pyarrow, GraphML, GML and GEXF need networkx: ``pip install "elene[io]"``. Nothing is read
with pickle, and a damaged file is a ``ValueError`` that names it.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.files import check_path
from elene.graph import Graph, gathered_labels
from elene.io.readers.archives import npz
from elene.io.readers.graph6 import graph6, parse_graph6
from elene.io.readers.markup import gexf, gml, graphml
from elene.io.readers.matrix import matrix_market
from elene.io.readers.metis import metis
from elene.io.readers.nodes import labelled_by_table
from elene.io.readers.pajek import pajek
from elene.io.readers.source import Options, Source, extra, refuse_edge_labels, refuse_labels
from elene.io.readers.tables import edge_parquet, edge_text

__all__ = ["Options", "SeveralGraphs", "parse_graph6", "read_graph", "read_graphs"]

NOTHING_SAID = Options()
FREE_BYTES, MOST_UNPACKED = 100_000_000, 100
STANDARD_INPUT = Path("-")

Reader = Callable[[Any, Options], Source]  # of the content of a text, or of the path of another file


class SeveralGraphs(ValueError):
    """A file holds more than one graph, or none, and nobody said which."""


def read_graph(path: str | os.PathLike[str], index: int | None = None, options: Options = NOTHING_SAID) -> Graph:
    """One graph from a file.

    Args:
        path: the file, of one of the formats above.
        index: which graph, in a file that holds several.
        options: what the caller says about the file.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "path.csv")
        >>> _ = path.write_text("source,target,note\\n7,8,new\\n8,9,old\\n")
        >>> graph = read_graph(path)
        >>> graph, graph.nodes.tolist()
        (Graph(num_nodes=3, num_edges=2), [7, 8, 9])
    """
    return _read(path, index, options)[0]


def read_edge_labels(
    path: str | os.PathLike[str], index: int | None = None, options: Options = NOTHING_SAID
) -> tuple[Graph, list[str]]:
    """One graph from a file, and the labels of its edges, in the order of ``Graph.edges``.

    Labels are text, for whether 1 is a number or a text is up to whoever wrote the file.

    Args:
        path: the file, of one of the formats that have them: GraphML, GML, GEXF, ``.npz`` and edge tables.
        index: which graph, in a file that holds several.
        options: what the caller says about the file; ``edge_labels`` names the attribute, the array or the column.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "path.csv")
        >>> _ = path.write_text("source,target,bond\\n7,9,double\\n8,7,single\\n")
        >>> read_edge_labels(path, options=Options(edge_labels="bond"))
        (Graph(num_nodes=3, num_edges=2), ['single', 'double'])
    """
    if options.edge_labels is None:
        raise ValueError("options.edge_labels must name the attribute, the array or the column that holds the labels")
    graph, labels = _read(path, index, options)
    assert labels is not None
    return graph, labels


def _read(path: str | os.PathLike[str], index: int | None, options: Options) -> tuple[Graph, list[str] | None]:
    """A graph, and the labels of its edges where they are asked for."""
    if index is not None and (not isinstance(index, int | np.integer) or isinstance(index, bool)):
        raise TypeError(f"index must be an integer, got {index!r}")
    name = check_path("path", path)
    nodes = None if options.nodes is None else check_path("nodes", options.nodes)
    labels: list[str] | None = None
    if name.is_dir():
        from elene.cluster.store import GraphStore

        refuse_edge_labels(options)
        graph: Graph = GraphStore.open(name)
    else:
        with _naming(name):
            source = _open(name, options if nodes is None else replace(options, nodes=None, labels=None))
            wanted = _place(source, index)
            graph = source.build(wanted, wanted + 1)[0]
            if source.edge_labels is not None:
                labels = _texts(graph, *source.edge_labels(wanted, graph), options)
    return graph if nodes is None else labelled_by_table(graph, nodes, options.labels), labels


def _place(source: Source, index: int | None) -> int:
    """Which graph of a file is meant."""
    if index is None and source.count != 1:
        raise SeveralGraphs(
            f"the file holds {source.count} graphs: pass index= to choose one, or use Graph.read_all for a list"
        )
    wanted = 0 if index is None else int(index)
    if not 0 <= wanted < source.count:
        raise ValueError(f"index={wanted} is out of range: the file holds {source.count} graphs, counted from 0")
    return wanted


def _texts(graph: Graph, ends: NDArray[Any], labels: Iterable[Any], options: Options) -> list[str]:
    """Labels as text, one for each edge; those of whole numbers are alike, whether they are written 1 or 1.0."""
    whole = (int(label) if isinstance(label, float) and label.is_integer() else label for label in labels)
    texts = [None if label is None else str(label) for label in whole]
    found: list[str] = gathered_labels(graph, ends, texts, f"edge_labels={options.edge_labels!r}").values.tolist()
    return found


def read_graphs(path: str | os.PathLike[str], options: Options = NOTHING_SAID) -> list[Graph]:
    """Every graph of a file, in its order; a list of one for the formats that hold one.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "two.g6")
        >>> _ = path.write_text("Bw\\nCR\\n")
        >>> read_graphs(path)
        [Graph(num_nodes=3, num_edges=3), Graph(num_nodes=4, num_edges=3)]
    """
    name = check_path("path", path)
    with _naming(name):
        source = _open(name, options)
        return source.build(0, source.count)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file provokes into one ValueError that names the file.

    Parsers answer damage with nearly any type (BadZipFile, ParseError, KeyError, ArrowInvalid, ...), so all are caught,
    except those that say nothing about the content. A warning gets here when the user made warnings errors.
    """
    try:
        yield
    except (ImportError, MemoryError, Warning, FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        raise ValueError(f"{path}: {str(error) or type(error).__name__}") from error


def _open(path: Path, options: Options) -> Source:
    if path == STANDARD_INPUT:
        refuse_labels(options)
        return edge_text(_standard_input(), options)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if path.is_dir():
        raise ValueError("a folder, not a file")
    ending = path.suffix.lower()
    packed = ending if ending in _MARKS else ""
    if packed:
        ending = Path(path.stem).suffix.lower()
    reader = (_TEXT if packed else _TEXT | _BINARY).get(ending)
    if reader is None:
        known = " ".join([*_TEXT, *_BINARY])
        raise ValueError(
            f"no reader for this ending; known are {known}, and .gz or .zst after all but {' '.join(_BINARY)}"
        )
    _check_options(options, reader)
    return reader(path if ending in _BINARY else _unpacked(path.read_bytes(), packed), options)


def _check_options(options: Options, reader: Reader) -> None:
    """An error for what is said of a file, and its format has not."""
    if reader not in (edge_text, edge_parquet) and (options.source is not None or options.target is not None):
        raise ValueError("source and target are for edge tables: leave them out")
    if reader is not edge_text and options.header is not None:
        raise ValueError("header is for edge lists in text files: leave it out")
    if reader not in (graphml, gml, gexf, npz):
        refuse_labels(options)
    if reader not in (graphml, gml, gexf, npz, edge_text, edge_parquet):
        refuse_edge_labels(options)


def _standard_input() -> bytes:
    content = sys.stdin.buffer.read()
    kinds = [kind for kind, mark in _MARKS.items() if content.startswith(mark)]
    return _unpacked(content, kinds[0] if kinds else "")


def _unpacked(content: bytes, kind: str) -> bytes:
    """The content of a file, unpacked, unless it is a trap: no edge list packs to a hundredth of its size."""
    most, text = max(FREE_BYTES, MOST_UNPACKED * len(content)), content
    if kind == ".gz":
        text = gzip.GzipFile(fileobj=io.BytesIO(content)).read(most + 1)
    elif kind == ".zst":
        arrow = extra("pyarrow")
        text = arrow.CompressedInputStream(arrow.BufferReader(content), "zstd").read(most + 1)
    if not text:
        raise ValueError("the file is empty")
    if len(text) > most:
        raise ValueError(f"the file unpacks to more than {most} bytes: unpack it yourself if that is right")
    return text


_MARKS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
_TEXT: dict[str, Reader] = {
    **dict.fromkeys([".txt", ".csv", ".tsv", ".edges", ".edgelist"], edge_text),
    **dict.fromkeys([".g6", ".graph6"], graph6),
    ".graphml": graphml,
    ".gml": gml,
    ".gexf": gexf,
    ".mtx": matrix_market,
    **dict.fromkeys([".net", ".paj"], pajek),
    **dict.fromkeys([".graph", ".metis"], metis),
}
_BINARY: dict[str, Reader] = {".parquet": edge_parquet, ".npz": npz}
