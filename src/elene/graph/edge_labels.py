"""Labels of edges, which only the refinement of fingerprints reads: one for each edge, from whatever has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.graph.graph import Graph
from elene.graph.labels import Labels, checked_labels
from elene.graph.sources import pyg_arcs
from elene.validation import brief


def labels_of_edges(source: Any, graph: Graph, labels: Any, name: str = "edge_labels") -> Labels:
    """The label of each edge of a graph, in the order of ``graph.edges``.

    Args:
        source: what the graph was made from: where an attribute is looked for.
        graph: the graph.
        labels: one for each edge in that order; a ``dict`` whose keys are pairs of names, in either order; or the
            attribute of a networkx or igraph graph, or of a PyG ``Data`` (there one for each arc), that holds them.
        name: what an error calls them.

    Example:
        >>> graph = Graph.from_edges([(0, 1), (1, 2)])
        >>> labels_of_edges(graph, graph, {(1, 0): "single", (1, 2): "double"}).values.tolist()
        ['single', 'double']
    """
    if isinstance(labels, str):
        return gathered_labels(graph, *edge_attribute(source, graph, labels, name), name)
    if isinstance(labels, Mapping):
        if any(not isinstance(pair, tuple) or len(pair) != 2 for pair in labels):
            raise ValueError(f"{name} must go by pairs of nodes, got {next(iter(labels))!r:.80} as a key")
        pairs = graph.positions([node for pair in labels for node in pair], name).reshape(-1, 2)
        return gathered_labels(graph, pairs, list(labels.values()), name)
    return checked_labels(labels, np.arange(graph.num_edges), name, "edges")


def edge_numbers(graph: Graph, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Where each pair of positions stands in ``graph.edges``, in either order; -1 where it is no edge.

    >>> edge_numbers(Graph.from_edges([(0, 1), (1, 2)]), np.array([2, 0]), np.array([1, 2])).tolist()
    [1, -1]
    """
    n = max(graph.num_nodes, 1)
    known = graph.edges[:, 0].astype(np.int64) * n + graph.edges[:, 1]
    wanted = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
    place = np.searchsorted(known, wanted)
    there = known[np.minimum(place, len(known) - 1)] == wanted if len(known) else np.zeros(len(wanted), bool)
    return np.where(there, place, -1)


def gathered_labels(graph: Graph, pairs: NDArray[Any], labels: Iterable[Any], name: str = "edge_labels") -> Labels:
    """The label of each edge, from labels that come with the positions of the ends of their edges.

    >>> graph = Graph.from_edges([(0, 1), (1, 2)])
    >>> gathered_labels(graph, np.array([[2, 1], [0, 1]]), ["double", "single"]).values.tolist()
    ['single', 'double']
    """
    found: dict[int, Any] = {}
    numbers = edge_numbers(graph, pairs[:, 0], pairs[:, 1])
    for number, ends, label in zip(numbers.tolist(), pairs.tolist(), labels, strict=True):
        if number < 0 and ends[0] != ends[1]:
            raise ValueError(f"{name}: {tuple(graph.nodes[ends].tolist())} is not an edge of the graph")
        if found.setdefault(number, label) != label and number >= 0:
            raise ValueError(
                f"{name}: the edge {tuple(graph.nodes[ends].tolist())} has two, {found[number]!r} and {label!r}"
            )
    missing = [number for number in range(graph.num_edges) if found.get(number) is None]
    if missing:
        raise ValueError(f"{name}: the edge {tuple(graph.nodes[graph.edges[missing[0]]].tolist())} has none")
    ordered = [found[number] for number in range(graph.num_edges)]
    return checked_labels(ordered, np.arange(graph.num_edges), name, "edges")


def edge_attribute(
    source: Any, graph: Graph, attribute: str, name: str = "edge_labels"
) -> tuple[NDArray[Any], Iterable[Any]]:
    """Pairs of positions, and what the attribute of another library's graph has for each.

    >>> import networkx as nx
    >>> source = nx.Graph([("a", "b", {"bond": "double"})])
    >>> [list(part) for part in edge_attribute(source, Graph.from_networkx(source), "bond")]
    [[array([0, 1])], ['double']]
    """
    if hasattr(source, "get_edgelist"):
        if attribute not in source.es.attributes():
            raise ValueError(f"{name}={attribute!r} is no attribute of the edges, which have {source.es.attributes()}")
        return np.array(source.get_edgelist()).reshape(-1, 2), source.es[attribute]
    if hasattr(source, "edges") and hasattr(source, "is_directed"):
        found = list(source.edges(data=attribute))
        if found and all(label is None for *_, label in found):
            there = sorted({str(key) for *_, attributes in source.edges(data=True) for key in attributes})
            raise ValueError(f"{name}={attribute!r} is no attribute of the edges, which have {there!r:.200}")
        return graph.positions([node for u, v, _ in found for node in (u, v)]).reshape(-1, 2), [x for *_, x in found]
    if hasattr(source, "edge_index"):
        if getattr(source, attribute, None) is None:
            raise ValueError(f"{name}={attribute!r} is no attribute of the data")
        arcs = pyg_arcs(source).T
        return arcs, checked_labels(getattr(source, attribute), np.arange(len(arcs)), name, "arcs").values.tolist()
    raise TypeError(
        f"{name}={attribute!r} names an attribute, and {brief(source)} has none: pass one label for each edge"
    )
