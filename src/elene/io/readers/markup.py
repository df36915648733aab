"""GraphML, GML and GEXF, by networkx."""

from __future__ import annotations

import io
from typing import Any

from elene.graph import Graph, edge_attribute
from elene.io.readers.source import Options, Source, extra, joined, logger, without_weights

_SPACE = "{http://graphml.graphdrawing.org/xmlns}"
_ELEMENTS = {"node": ["id"], "edge": ["source", "target"], "data": [], "desc": [], "locator": [], "hyperedge": []}
_GRAPHML_ROOT = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def graphml(text: bytes, options: Options) -> Source:
    """The graphs of a GraphML text."""
    reader = extra("networkx.readwrite.graphml").GraphMLReader()
    # Some writers leave out the name space, without which no graph would be found.
    text = text.replace(b"<graphml>", _GRAPHML_ROOT)
    _check_elements(text)
    graphs = list(reader(string=text))
    if not graphs:
        raise ValueError("no <graph> in the file")
    return _source(graphs, options)


def _source(graphs: list[Any], options: Options) -> Source:
    """Graphs of networkx, with what their edges have of the attribute that is asked for."""

    def build(start: int, stop: int) -> list[Graph]:
        return [_graph(graph, options) for graph in graphs[start:stop]]

    if options.edge_labels is None:
        return Source(len(graphs), build)
    attribute = str(options.edge_labels)
    return Source(len(graphs), build, lambda number, graph: edge_attribute(graphs[number], graph, attribute))


def _check_elements(text: bytes) -> None:
    """An error for elements that networkx passes over or completes: a node or an edge would be lost, or made up."""
    from xml.etree import ElementTree

    for graph in ElementTree.fromstring(text).iter(f"{_SPACE}graph"):
        for element in graph:
            tag = element.tag.removeprefix(_SPACE)
            if tag not in _ELEMENTS:
                raise ValueError(f"an element <{tag}> in <graph>, which may hold {', '.join(_ELEMENTS)}")
            for name in _ELEMENTS[tag]:
                if element.get(name) is None:
                    raise ValueError(f"a <{tag}> without {name}: {element.attrib}")
            if element.find(f".//{_SPACE}graph") is not None:
                raise ValueError(f"a graph inside a <{tag}>, and nested graphs cannot be read: {element.attrib}")


def gml(text: bytes, options: Options) -> Source:
    """The graph of a GML text."""
    networkx = extra("networkx")
    try:
        graph = networkx.read_gml(io.BytesIO(text))
    except networkx.NetworkXError:
        graph = networkx.read_gml(io.BytesIO(text), label="id")
    return _source([graph], options)


def gexf(text: bytes, options: Options) -> Source:
    """The graph of a GEXF text."""
    from xml.etree import ElementTree

    networkx, found = extra("networkx"), ElementTree.fromstring(text)
    nodes, edges = ([part for part in found.iter() if part.tag.endswith(tag)] for tag in ("}node", "}edge"))
    known = {node.get("id") for node in nodes}
    for edge in edges:
        for end in ("source", "target"):
            if edge.get(end) not in known:  # networkx would make it up
                raise ValueError(f"an edge with {end}={edge.get(end)!r}, which is no node of the file")
    graph = networkx.read_gexf(io.BytesIO(text))
    if len(graph) != len(nodes):
        raise ValueError(f"{len(nodes)} nodes, of which {len(graph)} differ: ids repeat, or stand outside of <nodes>")
    return _source([graph], options)


def _graph(graph: Any, options: Options) -> Graph:
    if options.edge_labels != "weight" and any("weight" in found for *_, found in graph.edges(data=True)):
        without_weights()
    if not graph.is_directed():
        return Graph.from_networkx(graph, labels=options.labels)
    if not options.undirected:
        raise ValueError(
            "graph is directed and elene encodes undirected graphs: pass undirected=True (--undirected) to join its "
            "arcs, or graph.to_undirected() to Graph.from_networkx"
        )
    undirected = graph.to_undirected()
    found = Graph.from_networkx(undirected, labels=options.labels)
    both = sum(1 for u, v in undirected.edges() if u != v and graph.has_edge(u, v) and graph.has_edge(v, u))
    logger.info("%s", joined(found, both))
    return found
