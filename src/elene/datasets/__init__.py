"""Data sets: graphs made by construction or drawn by recipe, and loaders of published collections.

:func:`load` gives any of them by name as a PyG data set with its splits, :func:`load_collection` as flat arrays without
torch, and ``elene datasets`` lists them. Single graphs of note have functions of their own.

    >>> from elene.datasets import is_strongly_regular, load, sr25
    >>> load("sr25")
    GraphDataset(sr25, 15 graphs)
    >>> len(sr25()), is_strongly_regular(sr25()[0])
    (15, (25, 12, 5, 6))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elene.datasets.brec import BrecPair, read_brec
from elene.datasets.collection import Collection
from elene.datasets.generators.memory import barabasi_albert, regular_graph
from elene.datasets.generators.strongly_regular import (
    chang,
    is_strongly_regular,
    latin_square_graph,
    rook,
    shrikhande,
    sr25,
    triangular,
)
from elene.datasets.info import DatasetInfo, Edition
from elene.datasets.loading import load, load_collection
from elene.datasets.registry import DATASETS
from elene.extras import needing

if TYPE_CHECKING:
    from elene.datasets.pyg import GraphDataset as GraphDataset
    from elene.datasets.pyg import Split as Split

__all__ = [
    "DATASETS",
    "BrecPair",
    "Collection",
    "DatasetInfo",
    "Edition",
    "GraphDataset",
    "Split",
    "barabasi_albert",
    "chang",
    "is_strongly_regular",
    "latin_square_graph",
    "load",
    "load_collection",
    "read_brec",
    "regular_graph",
    "rook",
    "shrikhande",
    "sr25",
    "triangular",
]


def __getattr__(name: str) -> Any:
    # These two need torch, which nothing else here does.
    if name in ("GraphDataset", "Split"):
        with needing("torch", f"elene.datasets.{name}"):
            from elene.datasets import pyg

        return getattr(pyg, name)
    raise AttributeError(f"module 'elene.datasets' has no attribute {name!r}")
