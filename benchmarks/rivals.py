"""Triangle counting in networkit and GraphBLAS: what is nearest to the encodings at k = 1, and less.

The encoding of a node at k = 1 says how many triangles it shares with each neighbour, as a multiset; networkit gives
their sum for every node, and for every edge their number; GraphBLAS the same as a masked product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphblas
import networkit
import numpy as np

import elene


def to_networkit(graph: elene.Graph) -> Any:
    ends = np.ascontiguousarray(graph.edges.T, dtype=np.uint64)
    rival = networkit.GraphFromCoo((ends[0], ends[1]), n=graph.num_nodes, directed=False)
    rival.indexEdges()
    return rival


def networkit_nodes(graph: elene.Graph) -> Callable[[], Any]:
    """Every node's clustering coefficient, the fast way; the graph is made beforehand."""
    rival = to_networkit(graph)
    return lambda: networkit.centrality.LocalClusteringCoefficient(rival, turbo=True).run().scores()


def networkit_edges(graph: elene.Graph) -> Callable[[], Any]:
    """Every edge's number of triangles."""
    rival = to_networkit(graph)
    return lambda: networkit.sparsification.TriangleEdgeScore(rival).run().scores()


def graphblas_nodes(graph: elene.Graph) -> Callable[[], Any]:
    """``C<A> = A plus.pair A'``, and the sums of its rows: every node's number of triangles, twice."""
    n, sources = graph.num_nodes, np.repeat(np.arange(graph.num_nodes), graph.degrees)
    matrix = graphblas.Matrix.from_coo(sources, graph.indices, 1, dtype="INT64", nrows=n, ncols=n)

    def run() -> Any:
        product = graphblas.Matrix("INT64", n, n)
        product(matrix.S) << graphblas.semiring.plus_pair(matrix @ matrix.T)
        return product.reduce_rowwise(graphblas.monoid.plus).new()

    return run
