"""GraphML and GML, by networkx."""

from __future__ import annotations

import io
from typing import Any

from elene.graph import Graph
from elene.io.readers.source import Options, Source, extra, joined, logger, single, without_weights

_GRAPHML_ROOT = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def graphml(text: bytes, options: Options) -> Source:
    """The graphs of a GraphML text."""
    reader = extra("networkx.readwrite.graphml").GraphMLReader()
    # Some writers leave out the name space, without which no graph would be found.
    graphs = list(reader(string=text.replace(b"<graphml>", _GRAPHML_ROOT)))
    if not graphs:
        raise ValueError("no <graph> in the file")
    return Source(len(graphs), lambda start, stop: [_graph(graph, options) for graph in graphs[start:stop]])


def gml(text: bytes, options: Options) -> Source:
    """The graph of a GML text."""
    networkx = extra("networkx")
    try:
        graph = networkx.read_gml(io.BytesIO(text))
    except networkx.NetworkXError:
        graph = networkx.read_gml(io.BytesIO(text), label="id")
    return single(_graph(graph, options))


def _graph(graph: Any, options: Options) -> Graph:
    if any("weight" in attributes for *_, attributes in graph.edges(data=True)):
        without_weights()
    if not graph.is_directed():
        return Graph.from_networkx(graph)
    if not options.undirected:
        raise ValueError(
            "graph is directed and elene encodes undirected graphs: pass undirected=True (--undirected) to join its "
            "arcs, or graph.to_undirected() to Graph.from_networkx"
        )
    undirected = graph.to_undirected()
    found = Graph.from_networkx(undirected)
    both = sum(1 for u, v in undirected.edges() if u != v and graph.has_edge(u, v) and graph.has_edge(v, u))
    logger.info("%s", joined(found, both))
    return found
