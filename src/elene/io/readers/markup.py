"""GraphML and GML, by networkx."""

from __future__ import annotations

import io

from elene.graph import Graph
from elene.io.readers.source import Source, extra, single

_GRAPHML_ROOT = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def graphml(text: bytes) -> Source:
    """The graphs of a GraphML text."""
    reader = extra("networkx.readwrite.graphml").GraphMLReader()
    # Some writers leave out the name space, without which no graph would be found.
    graphs = list(reader(string=text.replace(b"<graphml>", _GRAPHML_ROOT)))
    if not graphs:
        raise ValueError("no <graph> in the file")
    return Source(len(graphs), lambda start, stop: [Graph.from_networkx(graph) for graph in graphs[start:stop]])


def gml(text: bytes) -> Source:
    """The graph of a GML text."""
    networkx = extra("networkx")
    try:
        graph = networkx.read_gml(io.BytesIO(text))
    except networkx.NetworkXError:
        graph = networkx.read_gml(io.BytesIO(text), label="id")
    return single(Graph.from_networkx(graph))
