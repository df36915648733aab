"""PATTERN: find the nodes of a planted pattern in a graph of communities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.datasets.collection import Collection
from elene.datasets.generators import matrices
from elene.validation import check_integer

COMMUNITIES, PATTERNS, VALUES = 5, 100, 3
SIZES = (5, 35)
# Chances of an edge inside a community, between two, and of one with an end in the pattern.
INSIDE, BETWEEN, PLANTED = 0.5, 0.35, 0.5


def pattern(graphs: tuple[int, int, int] = (10_000, 2_000, 2_000), seed: int = 0) -> Collection:
    """Graphs of five communities, each with one of 100 patterns planted: which nodes belong to it?

    Communities and patterns have 5 to 34 nodes. A pattern keeps its edges and its node values in every graph that holds
    it; its edges to the rest are drawn anew, and so is everything else. Train, validation and test hold the same
    patterns. ``x`` is a node value out of three, ``y`` is 1 for the nodes of the pattern (about one in six),
    ``extra["split"]`` is 0, 1, 2 for train, validation, test, and ``extra["pattern"]`` the number of the pattern.

    Args:
        graphs: how many graphs train, validation and test have.
        seed: the same seed gives the same data.

    Example:
        >>> data = pattern((3, 1, 1))
        >>> len(data), data.y.shape == (data.node_ptr[-1],), data.extra["split"].tolist()
        (5, True, [0, 0, 0, 1, 2])
    """
    if len(graphs) != 3:
        raise ValueError(f"graphs must be three numbers, for train, validation and test; got {graphs!r}")
    for count in graphs:
        check_integer("graphs", count)
    rng = np.random.default_rng(check_integer("seed", seed))
    planted = [_pattern(rng) for _ in range(PATTERNS)]
    number = np.concatenate([np.arange(count) % PATTERNS for count in graphs]).astype(np.uint8)
    x: list[NDArray[np.uint8]] = [np.empty(0, dtype=np.uint8)]
    y: list[NDArray[np.uint8]] = [np.empty(0, dtype=np.uint8)]

    def adjacencies() -> Iterator[matrices.Adjacency]:
        # One matrix at a time: the arcs of all graphs fill memory enough.
        for i in number:
            adjacency, values, labels = _draw(planted[i], rng)
            x.append(values)
            y.append(labels)
            yield adjacency

    arrays = matrices.stack(adjacencies())
    split, features = np.repeat(np.arange(3, dtype=np.uint8), graphs), np.concatenate(x)[:, None]
    return Collection(**arrays, y=np.concatenate(y), x=features, extra={"split": split, "pattern": number})


class _Pattern(NamedTuple):
    adjacency: matrices.Adjacency
    values: NDArray[np.uint8]


def _pattern(rng: np.random.Generator) -> _Pattern:
    size = rng.integers(*SIZES)
    upper = np.triu(rng.random((size, size)) < PLANTED, 1)
    return _Pattern(upper | upper.T, rng.integers(0, VALUES, size, dtype=np.uint8))


def _draw(
    planted: _Pattern, rng: np.random.Generator
) -> tuple[matrices.Adjacency, NDArray[np.uint8], NDArray[np.uint8]]:
    """Adjacency, values and labels of one graph, its nodes in random order."""
    sizes = [*rng.integers(*SIZES, COMMUNITIES), len(planted.values)]
    block = np.repeat(np.arange(COMMUNITIES + 1), sizes)
    n, rest = len(block), len(block) - len(planted.values)
    chance = np.where(block == block[:, None], np.float32(INSIDE), np.float32(BETWEEN))
    chance[:, rest:] = PLANTED
    upper = np.triu(rng.random((n, n), dtype=np.float32) < chance, 1)
    adjacency = upper | upper.T
    adjacency[rest:, rest:] = planted.adjacency
    values = np.concatenate([rng.integers(0, VALUES, rest, dtype=np.uint8), planted.values])
    order = rng.permutation(n)
    return adjacency[np.ix_(order, order)], values[order], (block[order] == COMMUNITIES).astype(np.uint8)
