"""Counting substructures: small random graphs whose targets are how many triangles, stars and 4-cycles they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.datasets.collection import Collection
from elene.datasets.generators import matrices
from elene.datasets.generators.memory import regular_edges
from elene.graph import Graph, as_graph, disjoint_union
from elene.validation import check_integer

TARGETS = ("triangle", "tailed_triangle", "star", "cycle4")
SHAPES = ((10, 6), (15, 6), (20, 5), (30, 5))
TRAIN, VALIDATION = 0.3, 0.2


def substructures(graphs: int = 5000, seed: int = 0) -> Collection:
    """Random graphs with their substructure counts, the Counting Substructures data set.

    Each (n, d) in ``SHAPES`` gives a quarter of them: random d-regular graphs on n nodes, less n random edges. ``y``
    holds the counts in the order of ``TARGETS``; models are trained on ``y / extra["scale"]``, where ``scale`` is the
    standard deviation over all graphs. ``extra["split"]`` is shuffled: three tenths train (0), two tenths
    validation (1), the rest test (2).

    Args:
        graphs: how many; the paper's 5000 are split 1500/1000/2500.
        seed: the same seed gives the same data.

    Example:
        >>> data = substructures(8)
        >>> data.num_nodes.tolist(), data.num_arcs.tolist()
        ([10, 10, 15, 15, 20, 20, 30, 30], [40, 40, 60, 60, 60, 60, 90, 90])
        >>> data.y.shape, data.extra["split"].tolist().count(0)
        ((8, 4), 2)
    """
    check_integer("graphs", graphs, least=len(SHAPES))
    rng = np.random.default_rng(check_integer("seed", seed))
    arrays = matrices.stack(_draw(graphs, rng))
    counts = count_substructures(Collection(**arrays, y=np.zeros(graphs)))
    train, validation = int(TRAIN * graphs), int(VALIDATION * graphs)
    parts = np.repeat(np.arange(3, dtype=np.uint8), [train, validation, graphs - train - validation])
    split = rng.permutation(parts)
    scale = counts.std(axis=0).astype(np.float32)
    return Collection(**arrays, y=counts.astype(np.float32), extra={"split": split, "scale": scale})


def count_substructures(graphs: Collection | Sequence[Graph]) -> NDArray[np.int64]:
    """How many substructures of each kind every graph holds: a row for each graph, a column for each of ``TARGETS``.

    A tailed triangle is a triangle and one more edge at one of its nodes; a star is a node with three of its
    neighbours; a 4-cycle may have chords. All are counted as subgraphs, not as induced ones:

        tailed = sum over nodes of triangles(v) (degree(v) - 2),    stars = sum over nodes of C(degree(v), 3)

    Args:
        graphs: a collection, or several graphs.

    Example:
        >>> import networkx as nx
        >>> from elene import Graph
        >>> count_substructures([Graph.from_networkx(nx.complete_graph(4))]).tolist()
        [[4, 12, 4, 3]]
    """
    from elene.kernels.generate import count_cycles

    union, first = _union(graphs)
    triangles, squares = count_cycles(union.indptr, union.indices)
    degrees = union.degrees
    stars = degrees * (degrees - 1) * (degrees - 2) // 6
    at_nodes = np.stack([triangles, triangles * (degrees - 2), stars, squares], axis=1)
    sums = np.concatenate([np.zeros((1, 4), dtype=np.int64), np.cumsum(at_nodes, axis=0)])
    # A triangle was seen from each of its three nodes, a 4-cycle from each of its four.
    totals: NDArray[np.int64] = np.diff(sums[first], axis=0) // np.array([3, 1, 1, 4])
    return totals


def _draw(graphs: int, rng: np.random.Generator) -> Iterator[matrices.Adjacency]:
    for shape in np.arange(graphs) * len(SHAPES) // graphs:
        n, d = SHAPES[shape]
        edges = regular_edges(n, d, rng)
        yield matrices.from_edges(edges[rng.permutation(len(edges))[n:]], n)


def _union(graphs: Collection | Sequence[Graph]) -> tuple[Graph, NDArray[np.int64]]:
    """All graphs as one, and where the nodes of each begin."""
    if isinstance(graphs, Collection):
        first = graphs.node_ptr.astype(np.int64)
        arcs = graphs.edge_index + np.repeat(first[:-1], graphs.num_arcs)
        return Graph.from_edges(arcs[:, arcs[0] < arcs[1]].T, num_nodes=int(first[-1])), first
    parts = [as_graph(graph) for graph in graphs]
    return disjoint_union(parts), pointers([graph.num_nodes for graph in parts])
