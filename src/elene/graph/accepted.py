"""as_graph(): whatever graph type it is."""

from __future__ import annotations

from typing import Any

from elene.graph.graph import Graph


def as_graph(graph: Any, name: str = "graph") -> Graph:
    """A :class:`Graph` from any graph type the library knows; ``name`` is what an error calls it.

    >>> import networkx as nx
    >>> as_graph(nx.path_graph(3))
    Graph(num_nodes=3, num_edges=2)
    """
    if isinstance(graph, Graph):
        return graph
    try:
        return _converted(graph, name)
    except (TypeError, ValueError) as error:
        if str(error).startswith(name):
            raise
        raise type(error)(f"{name}: {error}") from None


def _converted(graph: Any, name: str) -> Graph:
    ways = {
        "networkx": Graph.from_networkx,
        "igraph": Graph.from_igraph,
        "scipy": Graph.from_scipy,
        "dgl": Graph.from_dgl,
        "rustworkx": Graph.from_rustworkx,
        **dict.fromkeys(("torch", "torch_geometric", "torch_sparse"), Graph.from_pyg),
    }
    way = ways.get(type(graph).__module__.split(".")[0])
    if way is None and hasattr(graph, "is_directed") and hasattr(graph, "adj"):
        way = Graph.from_networkx
    elif way is None and hasattr(graph, "edge_index"):
        way = Graph.from_pyg
    if way is not None:
        return way(graph)
    raise TypeError(
        f"{name} must be an elene.Graph, a networkx, igraph, rustworkx or DGL graph, a scipy sparse matrix, or a PyG "
        f"Data or edge_index; got {type(graph).__name__}. Edge arrays go through Graph.from_edges (graph-tool: "
        "Graph.from_edges(g.get_edges(), g.num_vertices())), files through Graph.read"
    )
