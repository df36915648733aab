"""BREC: 400 pairs of non-isomorphic graphs, in rising difficulty, to count how many of them a method tells apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elene.datasets.collection import Collection
from elene.files import check_path
from elene.graph import Graph
from elene.io.readers import parse_graph6

_HEADER = ["pair", "category4", "subcategory", "g6_a", "g6_b"]


class BrecPair(NamedTuple):
    """Two graphs that are not isomorphic, and where BREC files them.

    Args:
        index: the pair's number in BREC, from 0.
        category: Basic, Regular, Extension or CFI, the four groups that results are published by.
        subcategory: the finer group, such as ``strongly_regular``.
        a: one graph of the pair.
        b: the other.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> BrecPair(0, "Regular", "strongly_regular", rook(), shrikhande()).category
        'Regular'
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a pair
    category: str
    subcategory: str
    a: Graph
    b: Graph


def read_brec(path: str | os.PathLike[str]) -> list[BrecPair]:
    """The pairs of a tab-separated file with the columns ``pair``, ``category4``, ``subcategory``, ``g6_a``, ``g6_b``.

    Args:
        path: the file; the last two columns hold the graphs in graph6.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.tsv")
        >>> _ = path.write_text("pair\\tcategory4\\tsubcategory\\tg6_a\\tg6_b\\n0\\tBasic\\tbasic\\tBw\\tBW\\n")
        >>> read_brec(path)[0].a
        Graph(num_nodes=3, num_edges=3)
    """
    try:
        header, *lines = check_path("path", path).read_text(encoding="ascii").splitlines() or [""]
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file in ASCII, as a table of graph6 is") from None
    if header.split("\t") != _HEADER:
        raise ValueError(f"{path}, line 1: the tab-separated columns must be {', '.join(_HEADER)}; got {header[:80]!r}")
    pairs: dict[int, BrecPair] = {}
    for number, line in enumerate(lines, start=2):
        try:
            pair = _parse(line)
            if pair.index in pairs:
                raise ValueError(f"pair {pair.index} stands in the file twice")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        pairs[pair.index] = pair
    return list(pairs.values())


def brec_collection(pairs: Sequence[BrecPair]) -> Collection:
    """The graphs of all pairs one after another; ``y`` says which of its pair a graph is.

    >>> from elene.datasets import rook, shrikhande
    >>> len(brec_collection([BrecPair(0, "Regular", "strongly_regular", rook(), shrikhande())]))
    2
    """
    found = Collection.of_graphs([graph for pair in pairs for graph in (pair.a, pair.b)], np.arange(2 * len(pairs)) % 2)
    found.extra["pair"] = np.repeat([pair.index for pair in pairs], 2)
    return found


def _parse(line: str) -> BrecPair:
    fields = line.split("\t")
    if len(fields) != len(_HEADER) or not all(fields):
        raise ValueError(f"{len(_HEADER)} tab-separated fields are wanted, got {line[:80]!r}")
    index, category, subcategory, a, b = fields
    if not index.isdecimal():
        raise ValueError(f"pair must be a number, got {index!r}")
    return BrecPair(int(index), category, subcategory, _graph("g6_a", a), _graph("g6_b", b))


def _graph(column: str, text: str) -> Graph:
    try:
        return parse_graph6(text)
    except ValueError as error:
        # The parser takes a field for a file of one line.
        raise ValueError(str(error).replace("line 1", column)) from error
