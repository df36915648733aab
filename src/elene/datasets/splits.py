"""Which graphs are for training, validation and test: as the files say, or dealt out here, always in the same way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elene.datasets.collection import Collection
from elene.datasets.info import DatasetInfo

FOLDS = 10

Indices = NDArray[np.int64]
Parts = tuple[Indices, Indices, Indices]


def make_splits(info: DatasetInfo, collection: Collection) -> list[Parts]:
    """Train, validation and test of a data set: once, or for each of ten folds.

    Args:
        info: its row in the registry, which says what kind of split it has.
        collection: its graphs; ``extra`` holds ``split`` where that is fixed, and perhaps ``fold`` and ``pair``.

    Example:
        >>> from elene.datasets.registry import find
        >>> from elene.datasets import sr25
        >>> [part.tolist() for part in make_splits(find("sr25"), Collection.of_graphs(sr25()[:2], np.arange(2)))[0]]
        [[0, 1], [0, 1], [0, 1]]
    """
    if info.split == "all":
        everything = np.arange(len(collection))
        return [(everything, everything, everything)]
    if info.split == "fixed":
        which = collection.extra["split"]
        return [(np.flatnonzero(which == 0), np.flatnonzero(which == 1), np.flatnonzero(which == 2))]
    units = find_units(info, collection)
    folds = collection.extra.get("fold")
    if folds is None:
        folds = deal(collection.y, units, FOLDS, seed=0)
    return [_fold(info, collection.y, units, folds == fold, fold) for fold in range(FOLDS)]


def find_units(info: DatasetInfo, collection: Collection) -> Indices:
    """The number of each graph's unit: what is dealt out as a whole, a pair of graphs or one graph.

    >>> from elene.datasets.registry import find
    >>> from elene.datasets import sr25
    >>> find_units(find("cexp"), Collection.of_graphs(sr25()[:4], np.arange(4))).tolist()
    [0, 0, 1, 1]
    """
    if not info.paired:
        return np.arange(len(collection))
    if "pair" in collection.extra:
        return collection.extra["pair"].astype(np.int64)
    return np.arange(len(collection)) // 2


def deal(classes: NDArray[np.generic], units: Indices, parts: int, seed: int) -> Indices:
    """A part for each graph, so that parts differ by at most one unit in size, and in each class.

    Units are shuffled, sorted by the class of their first graph and dealt out like cards.

    >>> deal(np.array([0, 0, 0, 1, 1, 1]), np.arange(6), parts=3, seed=0).reshape(2, 3).sum(axis=1)
    array([3, 3])
    """
    names, first, unit_of = np.unique(units, return_index=True, return_inverse=True)
    order = np.lexsort((_mixed(names.astype(np.uint64), seed), classes[first]))
    part_of_unit = np.empty(len(names), dtype=np.int64)
    part_of_unit[order] = np.arange(len(names)) % parts
    return part_of_unit[unit_of]


def _fold(info: DatasetInfo, classes: NDArray[np.generic], units: Indices, test: NDArray[np.bool_], seed: int) -> Parts:
    rest = np.flatnonzero(~test)
    held = deal(classes[rest], units[rest], info.validation, seed + 1) == 0
    return rest[~held], rest[held], np.flatnonzero(test)


def _mixed(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Numbers that look random: SplitMix64, which gives the same ones under every version of every library."""
    state = numbers + np.uint64(seed << 32) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
