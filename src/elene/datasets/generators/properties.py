"""Graph properties: small graphs of ten families, whose targets are connectivity, diameter and spectral radius.

The mixture of families and the sizes are those of the multitask benchmark of PNA (Corso et al., 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from elene.datasets.collection import Collection
from elene.datasets.generators import matrices
from elene.datasets.generators.memory import attached_edges
from elene.validation import check_integer

TARGETS = ("connected", "diameter", "spectral_radius", "connected_as_released")
# Batches of graphs of one size: how many graphs a batch has, and the sizes; for train, validation and test.
BATCHES = ((512, range(15, 25)), (128, range(15, 20)), (256, range(15, 20)))
KEEP = 0.9

Edges = NDArray[np.integer]
Family = Callable[[int, np.random.Generator], Edges]


def graph_properties(seed: int = 1234) -> Collection:
    """Graphs of ten families with edges toggled at random, the Graph Properties data set: 5120/640/1280 graphs.

    ``x`` marks one random source node in its first column and is uniform in [0, 1) in the second. ``y`` holds the
    ``TARGETS``, each divided by its largest value over the training graphs; those values are ``extra["scale"]``. The
    diameter of a graph in several components is the largest finite distance, as in PNA. Connected means just that; the
    code of PNA, and so the published numbers, also call connected bipartite graphs not connected, which is the last
    target. ``extra["split"]`` is 0, 1, 2 for train, validation, test.

    Args:
        seed: each attempt at a graph draws from a generator of its own, seeded with this number plus the number of the
            attempt, from 1. A graph with an isolated node is drawn again, from the same family.

    Example:
        >>> data = graph_properties()
        >>> len(data), data.y.shape, data.x.shape[1]
        (7040, (7040, 4), 2)
    """
    sizes = [n for graphs, range_ in BATCHES for n in range_ for _ in range(graphs)]
    adjacencies, features = zip(*_draw(sizes, check_integer("seed", seed)), strict=True)
    split = np.repeat(np.arange(3, dtype=np.uint8), [graphs * len(range_) for graphs, range_ in BATCHES])
    labels = measure(adjacencies)
    scale = labels[split == 0].max(axis=0)
    y, extra = (labels / scale).astype(np.float32), {"split": split, "scale": scale.astype(np.float32)}
    return Collection(**matrices.stack(adjacencies), y=y, x=np.concatenate(features), extra=extra)


def measure(adjacencies: Sequence[matrices.Adjacency]) -> NDArray[np.float64]:
    """Whether each graph is connected (0 or 1), its largest finite distance, the largest eigenvalue in magnitude, and
    whether it is connected and not bipartite.

    Args:
        adjacencies: the graphs as symmetric matrices.

    Example:
        >>> path = matrices.from_edges(np.array([[0, 1], [1, 2], [2, 3]]), 4)
        >>> measure([path]).round(3).tolist()
        [[1.0, 3.0, 1.618, 0.0]]
    """
    sizes = np.array([len(adjacency) for adjacency in adjacencies])
    labels = np.empty((len(sizes), len(TARGETS)))
    for n in np.unique(sizes):
        # All graphs of a size at once.
        members = np.flatnonzero(sizes == n)
        batch = np.stack([adjacencies[int(i)] for i in members]).astype(np.float32)
        labels[members, 0], labels[members, 1] = _connected_and_diameter(batch)
        labels[members, 2] = np.abs(np.linalg.eigvalsh(batch.astype(np.float64))).max(axis=1)
        # In two steps at a time not all nodes reach each other in a bipartite graph; a single node is one, too.
        by_two = _connected_and_diameter((batch @ batch > 0).astype(np.float32))[0]
        labels[members, 3] = by_two & batch.any(axis=(1, 2))
    return labels


def _connected_and_diameter(batch: NDArray[np.float32]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    reached = np.broadcast_to(np.eye(batch.shape[1], dtype=bool), batch.shape)
    diameter = np.zeros(len(batch), dtype=np.int64)
    while True:
        wider = reached | (reached.astype(np.float32) @ batch > 0)
        grew = (wider != reached).any(axis=(1, 2))
        if not grew.any():
            return np.asarray(reached.all(axis=(1, 2))), diameter
        reached, diameter = wider, diameter + grew


def _draw(sizes: Sequence[int], seed: int) -> Iterator[tuple[matrices.Adjacency, NDArray[np.float32]]]:
    """Adjacency and node features of one graph of each size."""
    for n in sizes:
        family = None
        while True:
            seed += 1
            rng = np.random.default_rng(seed)
            family = family or FAMILIES[rng.choice(len(FAMILIES), p=SHARES)]
            adjacency = _toggle(matrices.from_edges(rng.permutation(n)[family(n, rng)], n), rng)
            if adjacency.any(axis=0).all():
                break
        source = np.arange(n) == rng.integers(n)
        yield adjacency, np.stack([source, rng.random(n)], axis=1).astype(np.float32)


def _toggle(adjacency: matrices.Adjacency, rng: np.random.Generator) -> matrices.Adjacency:
    """Drop some edges and add about as many others."""
    n = len(adjacency)
    edges = np.count_nonzero(adjacency) / 2
    others = n * (n - 1) / 2 - edges
    moved = (1 - KEEP) * min(edges, others)
    threshold = np.where(adjacency, 1 - moved / max(edges, 1), moved / max(others, 1))
    np.fill_diagonal(threshold, 0)
    # PNA compares the mean of two uniform numbers, so that an edge stays with probability 0.98 where KEEP says 0.9;
    # only with this do the edges per graph come out as published.
    draws = rng.random((n, n))
    toggled: matrices.Adjacency = (draws + draws.T) / 2 < threshold
    return toggled


def _erdos_renyi(n: int, rng: np.random.Generator) -> Edges:
    return np.argwhere(np.triu(rng.random((n, n)) < rng.random(), 1))


def _barabasi_albert(n: int, rng: np.random.Generator) -> Edges:
    return attached_edges(n, int(rng.random() * (n - 1)) + 1, rng)


def _grid(n: int, rng: np.random.Generator) -> Edges:
    number = np.arange(n).reshape(_short_side(n), -1)
    return np.concatenate([_pairs(number[:, :-1], number[:, 1:]), _pairs(number[:-1], number[1:])])


def _caveman(n: int, rng: np.random.Generator) -> Edges:
    cave = np.arange(n) // (n // _short_side(n))
    return np.argwhere(np.triu(cave == cave[:, None], 1))


def _power_law_tree(n: int, rng: np.random.Generator) -> Edges:
    """A caterpillar whose degrees follow a power law with exponent 3, drawn anew one by one until they fit a tree."""

    def degrees(count: int) -> NDArray[np.int64]:
        return np.minimum(np.rint(rng.pareto(2, count) + 1), n).astype(np.int64)

    sequence = degrees(n)
    while sequence.sum() != 2 * (n - 1):
        sequence[rng.integers(n)] = degrees(1)[0]
    inner = np.sort(sequence[sequence > 1])
    backbone = np.arange(len(inner) + 2)
    leaves = np.arange(len(backbone), n)
    return np.concatenate([_path(len(backbone)), _pairs(np.repeat(backbone[1:-1], inner - 2), leaves)])


def _ladder(n: int, rng: np.random.Generator) -> Edges:
    half = n // 2
    rails = np.concatenate([_path(half), _path(half) + half])
    odd = np.array([[0, n - 1]] * (n % 2), dtype=np.int64).reshape(-1, 2)
    return np.concatenate([rails, _pairs(np.arange(half), np.arange(half) + half), odd])


def _line(n: int, rng: np.random.Generator) -> Edges:
    return _path(n)


def _star(n: int, rng: np.random.Generator) -> Edges:
    return _pairs(np.zeros(n - 1, dtype=np.int64), np.arange(1, n))


def _caterpillar(n: int, rng: np.random.Generator) -> Edges:
    backbone = int(rng.integers(1, n))
    legs = np.arange(backbone, n)
    return np.concatenate([_path(backbone), _pairs(rng.integers(0, backbone, len(legs)), legs)])


def _lobster(n: int, rng: np.random.Generator) -> Edges:
    backbone = int(rng.integers(1, n))
    arms = np.arange(backbone, rng.integers(backbone + 1, n + 1))
    claws = np.arange(backbone + len(arms), n)
    inner = np.concatenate([_path(backbone), _pairs(rng.integers(0, backbone, len(arms)), arms)])
    return np.concatenate([inner, _pairs(rng.choice(arms, len(claws)), claws)])


def _short_side(n: int) -> int:
    """The largest divisor of n that is no larger than its square root."""
    return max(i for i in range(1, int(n**0.5) + 1) if n % i == 0)


def _path(n: int) -> Edges:
    return _pairs(np.arange(n - 1), np.arange(1, n))


def _pairs(sources: Edges, targets: Edges) -> Edges:
    return np.stack([sources.ravel(), targets.ravel()], axis=1)


FAMILIES: tuple[Family, ...] = (
    _erdos_renyi,
    _barabasi_albert,
    _grid,
    _caveman,
    _power_law_tree,
    _ladder,
    _line,
    _star,
    _caterpillar,
    _lobster,
)
SHARES = (0.20, 0.20, 0.05, 0.05, 0.15, 0.05, 0.05, 0.05, 0.10, 0.10)
