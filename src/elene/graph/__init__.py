"""Graph: one immutable undirected simple graph, and the ways into it from other libraries and files."""

from elene.graph.accepted import as_graph
from elene.graph.edges import MAX_NODES, GraphWarning, check_room, warn
from elene.graph.graph import Graph
from elene.graph.sources import matrix_arcs, pyg_arcs
from elene.graph.union import disjoint_union

__all__ = [
    "MAX_NODES",
    "Graph",
    "GraphWarning",
    "as_graph",
    "check_room",
    "disjoint_union",
    "matrix_arcs",
    "pyg_arcs",
    "warn",
]
