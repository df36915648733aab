"""What readers share: the graphs of a file, checked but built on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.extras import needing
from elene.graph import Graph


@dataclass(frozen=True)
class Source:
    """The graphs of a file, checked but built on demand: one of 250,000 must not cost what all of them do."""

    count: int
    build: Callable[[int, int], list[Graph]]


def single(graph: Graph) -> Source:
    """A file that holds one graph."""
    return Source(1, lambda start, stop: [graph][start:stop])


def extra(module: str) -> Any:
    """A module that an extra installs, or an error that says which."""
    with needing("io", "this file format"):
        return import_module(module)


def split_union(union: Graph, first: NDArray[np.int64]) -> list[Graph]:
    """The graphs whose disjoint union this is; graph i begins at node first[i]."""
    bounds = list(zip(first.tolist(), union.indptr[first].tolist(), strict=True))
    return [
        Graph.trusted(union.indptr[start : stop + 1] - low, union.indices[low:high] - start)
        for (start, low), (stop, high) in pairwise(bounds)
    ]


def starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of several consecutive blocks begins, and where the last one ends."""
    places = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=places[1:])
    return places
