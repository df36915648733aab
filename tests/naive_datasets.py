"""Slow, obvious twins for the tests of data sets."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import igraph
import numpy as np

from elene.datasets import Collection

STORED = Path(os.environ["ELENE_DATA"]) if "ELENE_DATA" in os.environ else None


def toy_collection(graphs=12, seed=0, **extra):
    """Small random graphs with discrete features of nodes and arcs and two classes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, graphs)
    arcs, features = [], []
    for n in sizes:
        edges = np.argwhere(np.triu(rng.random((n, n)) < 0.6, 1))
        arcs.append(np.concatenate([edges, edges[:, ::-1]]).T)
        features.append(np.tile(rng.integers(0, 3, len(edges)), 2))
    return Collection(
        np.cumsum([0, *sizes]),
        np.cumsum([0, *(part.shape[1] for part in arcs)]),
        np.concatenate(arcs, axis=1),
        y=np.arange(graphs) % 2,
        x=rng.integers(0, 4, (sizes.sum(), 1)),
        edge_attr=np.concatenate(features)[:, None],
        extra=extra,
    )


def equal(a, b):
    """Whether two collections hold the same numbers, whatever their types."""
    names = ("node_ptr", "edge_ptr", "edge_index", "y", "x", "edge_attr")
    pairs = [(getattr(a, name), getattr(b, name)) for name in names]
    pairs += [(a.extra.get(name), b.extra.get(name)) for name in {*a.extra, *b.extra}]
    return all(
        (one is None and other is None)
        or (one is not None and other is not None and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
        for one, other in pairs
    )


def neighbours(collection, index):
    arcs = collection.edge_index[:, collection.edge_ptr[index] : collection.edge_ptr[index + 1]].T.tolist()
    around = {node: [] for node in range(int(collection.num_nodes[index]))}
    for u, v in arcs:
        around[u].append(v)
    return around


def features(collection, index):
    if collection.x is None:
        return [0] * int(collection.num_nodes[index])
    return collection.x[collection.node_ptr[index] : collection.node_ptr[index + 1], 0].tolist()


def wl_equal(collection, a, b):
    """Whether 1-WL, run on both graphs side by side until nothing changes, gives both the same colours."""
    around = {(side, v): [(side, u) for u in us] for side in (a, b) for v, us in neighbours(collection, side).items()}
    colours = {(side, v): (colour,) for side in (a, b) for v, colour in enumerate(features(collection, side))}
    while True:
        seen = {v: (colours[v], tuple(sorted(colours[u] for u in around[v]))) for v in around}
        names = {signature: (i,) for i, signature in enumerate(sorted(set(seen.values())))}
        finer = {v: names[signature] for v, signature in seen.items()}
        if len(names) == len(set(colours.values())):
            break
        colours = finer
    counts = [Counter(colour for (side, _), colour in finer.items() if side == which) for which in (a, b)]
    return counts[0] == counts[1]


def canonical_form(collection, index):
    """Equal for isomorphic coloured graphs, and only for them."""
    colours = features(collection, index)
    graph = igraph.Graph(len(colours), collection.graph(index).edges.tolist())
    order = graph.canonical_permutation(color=colours)
    moved = sorted(tuple(sorted(edge)) for edge in graph.permute_vertices(order).get_edgelist())
    return tuple(moved), tuple(colour for _, colour in sorted(zip(order, colours, strict=True)))
