"""h-Proximity: has every red node at most two blue nodes within h hops? After Abboud et al. (2022)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elene.csr import pointers
from elene.datasets.collection import Collection
from elene.datasets.generators import matrices
from elene.graph import Graph
from elene.validation import check_integer

COLOURS = 10
WHITE, RED, BLUE = 0, 1, 2
MOST_BLUE = 2
LAYERS, WIDTHS, OUTSIDE = (15, 25), (3, 10), (0, 4)
MOST_RED = 3
FOLDS = 10


def h_proximity(h: int, graphs: int = 9000, seed: int = 0) -> Collection:
    """Pairs of coloured graphs, alike but for one edge: is every red node within h hops of at most two blue nodes?

    In one graph of a pair each red node has exactly two blue nodes at distance h or less (``y`` is 1), in the other
    some red node has three or more (0).

    - Skeleton: 15 to 24 layers of 3 to 9 nodes, as many in each layer, and all edges between consecutive layers.
    - Red: three nodes in the first third of the pairs, then two, then one, anywhere.
    - Blue: drawn one by one from the nodes that are within h of some red node and would not be a third one to any,
      until each red node has two; then 0 to 3 more beyond h of all red nodes.
    - All other nodes get one of the other eight colours. ``x`` holds 0 for white, 1 for red, 2 for blue.
    - The partner has one edge more, drawn from all that bring another blue node within h of a red one. Where there is
      none, as when no blue node lies beyond h of a red one, the colours are drawn again. For h = 1 it can only be
      an edge between a red and a blue node.
    - Both labels are checked by a search through the finished graphs.

    Graphs 2i and 2i + 1 are a pair, the positive one first, and ``extra["pair"]`` is i. ``extra["fold"]`` is the fold,
    out of ten, in which a graph is tested: pairs stay together, and each fold has as many pairs with three, two and one
    red nodes. Beware: the numbers of nodes and edges give the label away, see :func:`count_control`.

    Args:
        h: the distance, 1 to 13; the paper has 1, 3, 5, 8, 10.
        graphs: how many, an even number.
        seed: the same seed gives the same data.

    Example:
        >>> data = h_proximity(3, graphs=6)
        >>> data.y.tolist(), data.extra["pair"].tolist(), np.diff(data.num_arcs)[::2].tolist()
        ([1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2], [2, 2, 2])
        >>> colours = data.x[:, 0][: data.num_nodes[0]]
        >>> is_positive(data.graph(0), colours, 3), is_positive(data.graph(1), colours, 3)
        (True, False)
    """
    check_integer("h", h, least=1)
    if h > LAYERS[0] - 2:
        raise ValueError(f"h={h} must be at most {LAYERS[0] - 2}: no node is farther than that in the smallest graphs")
    if check_integer("graphs", graphs, least=2) % 2:
        raise ValueError(f"graphs={graphs} must be even: they come in pairs")
    rng = np.random.default_rng(check_integer("seed", seed))
    pairs = graphs // 2
    reds = MOST_RED - np.arange(pairs) * MOST_RED // pairs
    colours: list[NDArray[np.uint8]] = []

    def adjacencies() -> Iterator[matrices.Adjacency]:
        for red in reds:
            pair = _draw_pair(h, int(red), rng)
            colours.extend([pair.colours] * 2)
            yield from (pair.positive, pair.negative)

    arrays = matrices.stack(adjacencies())
    pair = np.repeat(np.arange(pairs), 2)
    y, fold = np.tile(np.array([1, 0]), pairs), _folds(reds, rng)[pair]
    return Collection(**arrays, y=y, x=np.concatenate(colours)[:, None], extra={"pair": pair, "fold": fold})


def is_positive(graph: Graph, colours: ArrayLike, h: int) -> bool:
    """Whether every red node of the graph has at most two blue nodes at distance h or less.

    A graph without red nodes is positive.

    Args:
        graph: the graph.
        colours: a number for each node; ``RED`` is 1, ``BLUE`` is 2.
        h: the distance.

    Example:
        >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
        >>> is_positive(star, [RED, BLUE, BLUE, WHITE], 1), is_positive(star, [RED, BLUE, BLUE, BLUE], 1)
        (True, False)
    """
    painted = np.asarray(colours)
    if painted.shape != (graph.num_nodes,):
        raise ValueError(f"colours must be one number for each of {graph.num_nodes} nodes, got shape {painted.shape}")
    counts = _blue_near_red(graph.indptr, graph.indices, painted, check_integer("h", h))
    return bool((counts <= MOST_BLUE).all())


def count_control(collection: Collection, model: Any = None) -> tuple[float, float]:
    """Accuracy of a classifier that sees only how many nodes and edges a graph has: mean and deviation over the folds.

    A negative graph has one edge more than its partner, and the edges of a positive one follow from its layers and
    their width. So the two numbers give the label away to a model that can look them up, as the default does, while a
    linear model learns nothing from them.

    Args:
        collection: what :func:`h_proximity` gives.
        model: a scikit-learn classifier; by default a decision tree.

    Example:
        >>> from sklearn.linear_model import LogisticRegression
        >>> data = h_proximity(1, graphs=200)
        >>> count_control(data, LogisticRegression())[0] <= 0.5 < count_control(data)[0]
        True
    """
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeClassifier

    counts = np.stack([collection.num_nodes, collection.num_arcs // 2], axis=1)
    fold = collection.extra["fold"]
    scores = []
    for test in np.unique(fold):
        fitted = clone(model or DecisionTreeClassifier(random_state=0))
        fitted.fit(counts[fold != test], collection.y[fold != test])
        scores.append(fitted.score(counts[fold == test], collection.y[fold == test]))
    return float(np.mean(scores)), float(np.std(scores))


class _Pair(NamedTuple):
    positive: matrices.Adjacency
    negative: matrices.Adjacency
    colours: NDArray[np.uint8]


def _draw_pair(h: int, red: int, rng: np.random.Generator) -> _Pair:
    layer = np.repeat(np.arange(rng.integers(*LAYERS)), rng.integers(*WIDTHS))
    distances = np.abs(layer - layer[:, None])
    positive = distances == 1
    distances[distances == 0] = 2
    np.fill_diagonal(distances, 0)
    while True:
        colours = _paint(distances <= h, red, rng)
        if colours is None or (edge := _shortcut(distances, colours, h, rng)) is None:
            continue
        negative = positive.copy()
        negative[edge, edge[::-1]] = True
        if (_counts(positive, colours, h) == MOST_BLUE).all() and _counts(negative, colours, h).max() > MOST_BLUE:
            return _Pair(positive, negative, colours)


def _paint(within: NDArray[np.bool_], red: int, rng: np.random.Generator) -> NDArray[np.uint8] | None:
    """Colours with exactly two blue nodes within reach of each red one; None where the draw leaves no room for them."""
    n = len(within)
    colours = rng.integers(BLUE, COLOURS, n, dtype=np.uint8)
    colours[colours == BLUE] = WHITE
    reds = rng.permutation(n)[:red]
    colours[reds] = RED
    near = within[reds]
    lacking = np.full(red, MOST_BLUE)
    while lacking.any():
        fits = near.any(axis=0) & (near <= lacking[:, None]).all(axis=0) & (colours != RED) & (colours != BLUE)
        if not fits.any():
            return None
        blue = rng.choice(np.flatnonzero(fits))
        colours[blue] = BLUE
        lacking -= near[:, blue]
    beyond = rng.permutation(np.flatnonzero(~near.any(axis=0)))
    colours[beyond[: rng.integers(*OUTSIDE)]] = BLUE
    return colours


def _shortcut(
    distances: NDArray[np.int64], colours: NDArray[np.uint8], h: int, rng: np.random.Generator
) -> NDArray[np.int64] | None:
    """The ends of a random new edge that brings a blue node from beyond h of a red one within h; None if none can."""
    helps = np.zeros(distances.shape, dtype=bool)
    for red in np.flatnonzero(colours == RED):
        for blue in np.flatnonzero((colours == BLUE) & (distances[red] > h)):
            helps |= distances[red][:, None] + 1 + distances[blue] <= h
    ends = np.argwhere(np.triu(helps | helps.T))
    return rng.choice(ends) if len(ends) else None


def _counts(adjacency: matrices.Adjacency, colours: NDArray[np.uint8], h: int) -> NDArray[np.int64]:
    indptr = pointers(np.count_nonzero(adjacency, axis=1))
    return _blue_near_red(indptr, np.nonzero(adjacency)[1].astype(np.int32), colours, h)


def _blue_near_red(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], colours: NDArray[Any], h: int
) -> NDArray[np.int64]:
    """For each red node, how many blue nodes are within h hops."""
    from elene.kernels.generate import count_within

    counts: NDArray[np.int64] = count_within(indptr, indices, np.flatnonzero(colours == RED), colours == BLUE, h)
    return counts


def _folds(reds: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.uint8]:
    """A fold for each pair: dealt out in turn to the pairs in random order, first those with most red nodes."""
    order = np.lexsort([rng.random(len(reds)), -reds])
    folds = np.empty(len(reds), dtype=np.uint8)
    folds[order] = np.arange(len(reds)) % FOLDS
    return folds
