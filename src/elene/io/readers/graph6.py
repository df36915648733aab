"""graph6: one graph a line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.graph import MAX_NODES, Graph
from elene.io.readers.source import Options, Source, split_union

_HEADER = b">>graph6<<"


def parse_graph6(text: str) -> Graph:
    """The graph that one line of graph6 stands for.

    >>> parse_graph6("Bw")
    Graph(num_nodes=3, num_edges=3)
    """
    line = text.strip().encode().removeprefix(_HEADER)
    if not line:
        raise ValueError("text is empty: graph6 has at least one character, ? for the graph without nodes")
    (graph,) = _graph6_lines([line], [1])
    return graph


def graph6(text: bytes, options: Options) -> Source:
    """The graphs of a text with one graph6 string a line."""
    numbers, lines = [], []
    for number, line in enumerate(text.split(b"\n"), start=1):
        graph = line.strip().removeprefix(_HEADER)
        if graph:
            numbers.append(number)
            lines.append(graph)
    return Source(len(lines), lambda start, stop: _graph6_lines(lines[start:stop], numbers[start:stop]))


def _graph6_lines(lines: list[bytes], numbers: list[int]) -> list[Graph]:
    if not lines:
        return []
    heads = [_graph6_size(line, number) for line, number in zip(lines, numbers, strict=True)]
    sizes = np.array([size for size, _ in heads], dtype=np.int64)
    if sizes.sum() > MAX_NODES:
        raise ValueError(f"the graphs have {sizes.sum()} nodes together, more than {MAX_NODES}")
    bodies = [line[skip:] for line, (_, skip) in zip(lines, heads, strict=True)]
    first_bit = 6 * pointers(np.array([len(body) for body in bodies], dtype=np.int64))
    sixes = np.frombuffer(b"".join(bodies), dtype=np.uint8) - np.uint8(63)
    ones = np.flatnonzero(np.unpackbits(sixes).reshape(-1, 8)[:, 2:])
    graph = np.searchsorted(first_bit, ones, side="right") - 1
    lower, upper = _triangle(ones - first_bit[graph])
    if (upper >= sizes[graph]).any():
        bad = graph[np.argmax(upper >= sizes[graph])]
        raise ValueError(f"line {numbers[bad]} is damaged: bits are set beyond the last pair of nodes")
    first = pointers(sizes)
    edges = np.stack([lower, upper], axis=1) + first[graph][:, None]
    return split_union(Graph.from_edges(edges, num_nodes=int(first[-1])), first)


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
