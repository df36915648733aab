"""Pajek: vertices with names, then edges and arcs, one a line or as lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph, check_room
from elene.io.readers.source import Options, Source, joined, logger, single, without_weights

_VERTEX = re.compile(r'([0-9]+)(?:\s+(?:"([^"]*)"|([^\s"]+)))?(?:\s.*)?')
_WEIGHT = re.compile(r"(?!1(?:\.0*)?$)[-+.0-9]")  # another number than 1
_LINKS = ("*edges", "*arcs", "*edgeslist", "*arcslist")


def pajek(text: bytes, options: Options) -> Source:
    """The graph of a Pajek network; nodes are called by their names where all have one of their own, else by number."""
    names: dict[int, str] = {}
    found: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _LINKS}
    size, weighted = None, False
    for number, section, line in _lines(text):
        if section == "*vertices":
            if size is None:
                size = _size(line, number)
            else:
                _add_name(names, line, number, size)
        elif section in _LINKS and line:
            ends, weight = _ends(line, section, number, size or 0)
            found[section] += ends
            weighted |= weight
    if size is None:
        raise ValueError("no line *Vertices with the number of nodes")
    if weighted:
        without_weights()
    return single(_build(size, names, found, options))


def _lines(text: bytes) -> Iterator[tuple[int, str, str]]:
    """The lines that say something, each with its number and its section; of heads only that of vertices is given."""
    section = ""
    for number, raw in enumerate(text.decode("utf-8-sig").splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("*"):
            word, _, rest = line.partition(" ")
            section = word.lower()
            if section not in ("*vertices", "*network", *_LINKS):
                raise ValueError(f"line {number}: a section {word!r}; known are *Vertices and {', '.join(_LINKS)}")
            if section == "*vertices":
                yield number, section, rest.strip()
        elif section in ("", "*network"):
            raise ValueError(f"line {number} stands before *Vertices: {line[:40]!r}")
        else:
            yield number, section, line


def _size(rest: str, number: int) -> int:
    count = rest.split()[:1]
    if not count or not count[0].isdecimal():
        raise ValueError(f"line {number}: *Vertices must name the number of nodes, got {rest[:40]!r}")
    if len(rest.split()) > 1 and rest.split()[1] != "0":
        raise ValueError(
            f"line {number}: a network of two kinds of nodes, which *Vertices {rest} announces, is not read"
        )
    return int(count[0])


def _add_name(names: dict[int, str], line: str, number: int, size: int) -> None:
    vertex = _VERTEX.fullmatch(line)
    if vertex is None or not 1 <= int(vertex[1]) <= size or int(vertex[1]) in names:
        raise ValueError(f"line {number} must be a node from 1 to {size}, each once, and its name; got {line[:40]!r}")
    names[int(vertex[1])] = vertex[2] if vertex[2] is not None else vertex[3] or ""


def _ends(line: str, section: str, number: int, size: int) -> tuple[list[tuple[int, int]], bool]:
    """The links of a line, from 0 on, and whether it has a weight."""
    fields = line.split()
    wanted = fields if section.endswith("list") else fields[:2]
    if len(wanted) < 2 or not all(field.isdecimal() and 1 <= int(field) <= size for field in wanted):
        raise ValueError(f"line {number} must be two nodes from 1 to {size}, got {line[:40]!r}")
    first, *others = (int(field) - 1 for field in wanted)
    weighted = wanted is not fields and _WEIGHT.match(" ".join(fields[2:3])) is not None
    return [(first, other) for other in others], weighted


def _build(size: int, names: dict[int, str], found: dict[str, list[tuple[int, int]]], options: Options) -> Graph:
    edges, arcs = (_array(found[f"*{kind}"] + found[f"*{kind}list"]) for kind in ("edges", "arcs"))
    check_room(size, len(edges) + len(arcs), f"*Vertices is {size}, so there would be {size}")
    if len(arcs):
        edges = np.concatenate([edges, _edges_of(arcs, size, options)])
    labels = [names.get(number, "") for number in range(1, size + 1)]
    if "" in labels or len(set(labels)) < size:
        return Graph.from_edges(edges, size, names=np.arange(1, size + 1))
    return Graph.from_edges(edges, size, names=labels)


def _edges_of(arcs: NDArray[np.int64], size: int, options: Options) -> NDArray[np.int64]:
    """Arcs as edges, which they are in both directions, or where the caller says so."""
    graph, both = Graph._joined(arcs[:, 0], arcs[:, 1], size)
    if not options.undirected and both < graph.num_edges:
        raise ValueError(
            "the file holds arcs, and some in one direction only: pass undirected=True (--undirected) to join them"
        )
    logger.info("%s", joined(graph, both))
    return graph.edges.astype(np.int64)


def _array(links: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(links, dtype=np.int64).reshape(-1, 2)
