"""Graphs for the tests: hypothesis strategies, named shapes and relabelling."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

SHAPES = {
    "empty": nx.empty_graph(0),
    "one node": nx.empty_graph(1),
    "isolated": nx.empty_graph(4),
    "edge": nx.path_graph(2),
    "path": nx.path_graph(7),
    "cycle": nx.cycle_graph(6),
    "star": nx.star_graph(9),
    "clique": nx.complete_graph(6),
    "barbell": nx.barbell_graph(4, 2),
    "tree": nx.balanced_tree(2, 3),
    "wheel": nx.wheel_graph(8),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4)),
    "two components": nx.disjoint_union(nx.complete_graph(4), nx.cycle_graph(5)),
    "hubs": nx.compose(nx.star_graph(8), nx.relabel_nodes(nx.star_graph(8), {0: 1, 1: 0})),
}


@st.composite
def random_graphs(draw, most_nodes=12):
    """Simple graphs of every density, isolated nodes and several components included."""
    n = draw(st.integers(1, most_nodes))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * n)) if pairs else []
    graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    return graph


graphs = st.one_of(random_graphs(), st.sampled_from(list(SHAPES.values())))


def relabelled(graph, seed=0):
    """A copy with shuffled numbering, and the new number of each node."""
    numbers = np.random.default_rng(seed).permutation(len(graph)).tolist()
    new = dict(zip(graph.nodes, numbers, strict=True))
    copy = nx.empty_graph(len(graph))
    copy.add_edges_from((new[u], new[v]) for u, v in graph.edges)
    return copy, new


class LikeDGL:
    """What a DGL graph answers, where DGL is not installed."""

    def __init__(self, sources, targets, num_nodes, is_homogeneous=True):
        self.ends, self.size, self.is_homogeneous = (sources, targets), num_nodes, is_homogeneous

    def edges(self):
        import torch

        return tuple(torch.tensor(end) for end in self.ends)

    def num_nodes(self):
        return self.size
