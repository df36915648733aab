"""Graph: one immutable undirected simple graph, and the ways into it from other libraries and files."""

from elene.graph.accepted import as_graph
from elene.graph.edge_labels import edge_attribute, edge_numbers, gathered_labels, labels_of_edges
from elene.graph.edges import MAX_NODES, GraphWarning, check_room, warn
from elene.graph.graph import Graph
from elene.graph.labels import Labels, checked_labels
from elene.graph.sources import matrix_arcs, pyg_arcs
from elene.graph.union import disjoint_union, renumbered_labels

__all__ = [
    "MAX_NODES",
    "Graph",
    "GraphWarning",
    "Labels",
    "as_graph",
    "check_room",
    "checked_labels",
    "disjoint_union",
    "edge_attribute",
    "edge_numbers",
    "gathered_labels",
    "labels_of_edges",
    "matrix_arcs",
    "pyg_arcs",
    "renumbered_labels",
    "warn",
]
