"""as_graph(): whatever graph type it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elene.graph.graph import Graph


def as_graph(graph: Any, name: str = "graph", labels: Any = None) -> Graph:
    """A :class:`Graph` from any graph type the library knows.

    Args:
        graph: the graph.
        name: what an error calls it.
        labels: None for those that the graph has, if it has any; False for none; the attribute that holds them; or
            labels, as :meth:`Graph.with_labels` takes them.

    Example:
        >>> import networkx as nx
        >>> as_graph(nx.path_graph(3))
        Graph(num_nodes=3, num_edges=2)
        >>> as_graph(nx.karate_club_graph(), labels="club")
        Graph(num_nodes=34, num_edges=78, labels=2)
    """
    if labels is True:
        raise TypeError("labels must name an attribute or hold the labels, got True: a graph's own are used by default")
    if isinstance(graph, Graph):
        return graph if labels is None else _relabelled(graph, labels)
    try:
        return _converted(graph, name, None if labels is False else labels)
    except (TypeError, ValueError) as error:
        if str(error).startswith((name, "labels")):
            raise
        raise type(error)(f"{name}: {error}") from None


def _relabelled(graph: Graph, labels: Any) -> Graph:
    if isinstance(labels, str):
        raise TypeError(
            f"labels={labels!r} names an attribute, and an elene.Graph has none: pass it where the graph is made, as "
            f"in Graph.from_networkx(graph, labels={labels!r}), or pass the labels themselves"
        )
    if labels is False and graph.labels is None:
        return graph
    return graph.with_labels(None if labels is False else labels)


def _converted(graph: Any, name: str, labels: Any) -> Graph:
    ways: dict[str, Callable[..., Graph]] = {
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
        return way(graph, labels=labels)
    raise TypeError(
        f"{name} must be an elene.Graph, a networkx, igraph, rustworkx or DGL graph, a scipy sparse matrix, or a PyG "
        f"Data or edge_index; got {type(graph).__name__}. Edge arrays go through Graph.from_edges (graph-tool: "
        "Graph.from_edges(g.get_edges(), g.num_vertices())), files through Graph.read"
    )
