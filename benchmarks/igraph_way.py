"""Encodings with python-igraph, a node or an edge at a time, in two ways.

``release``: how the code released with the paper goes about it: the neighbourhood, its induced subgraph, the distances
in it, and then every vertex asked for its neighbours. (Its distances from all vertices to the root are taken from the
root here: the same numbers, without the quadratic cost.)
``bulk``: the best we could do with igraph's list-valued calls.
"""

from __future__ import annotations

from collections import Counter

import igraph


def to_igraph(graph) -> igraph.Graph:
    return igraph.Graph(n=graph.num_nodes, edges=graph.edges.tolist())


def ask_vertices(subgraph, distance):
    """The quadruplets of a subgraph, each vertex asked for its neighbours."""
    found = []
    for vertex in subgraph.vs:
        here = distance[vertex.index]
        steps = [distance[other.index] - here for other in vertex.neighbors()]
        found.append((here, steps.count(-1), len(steps), steps.count(1)))
    return found


def list_edges(subgraph, distance):
    """The quadruplets of a subgraph from its list of edges."""
    closer, farther = [0] * subgraph.vcount(), [0] * subgraph.vcount()
    for u, v in subgraph.get_edgelist():
        if distance[u] < distance[v]:
            farther[u] += 1
            closer[v] += 1
        elif distance[u] > distance[v]:
            closer[u] += 1
            farther[v] += 1
    return list(zip(distance, closer, subgraph.degree(), farther, strict=True))


def encode_node(graph, node, k, count=ask_vertices):
    nodes = sorted(graph.neighborhood(node, order=k))
    subgraph = graph.induced_subgraph(nodes)
    return Counter(count(subgraph, subgraph.distances(source=nodes.index(node))[0]))


def distances_within(graph, root, k):
    return {w: step for step in range(k + 1) for w in graph.neighborhood(root, order=step, mindist=step)}


def encode_edge(graph, u, v, k, count=ask_vertices):
    from_u, from_v = distances_within(graph, u, k), distances_within(graph, v, k)
    nodes = sorted(from_u.keys() & from_v.keys())
    subgraph = graph.induced_subgraph(nodes)
    seen_u, seen_v = (count(subgraph, [seen[w] for w in nodes]) for seen in (from_u, from_v))
    return Counter(zip(seen_u, seen_v, strict=True))
