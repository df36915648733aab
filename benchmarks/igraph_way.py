"""Encodings with python-igraph, a node or an edge at a time, in two ways.

As the code released with the paper goes about it (the default): the neighbourhood, its induced subgraph, the root found
in it by name, the distances of all its vertices to the root, and then every vertex asked for its neighbours. Where that
subgraph is larger than 500 nodes, distances are taken from the root instead: the same numbers, without a quadratic cost
that would make one root take minutes.
In bulk (``count=list_edges``): the best we could do with igraph's list-valued calls.
"""

from __future__ import annotations

from collections import Counter

import igraph


def to_igraph(graph) -> igraph.Graph:
    other = igraph.Graph(n=graph.num_nodes, edges=graph.edges.tolist())
    other.vs["name"] = [str(node) for node in range(graph.num_nodes)]
    return other


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
    nodes = graph.neighborhood(node, order=k)
    subgraph = graph.induced_subgraph(nodes)
    if count is list_edges:
        return Counter(count(subgraph, subgraph.distances(source=sorted(nodes).index(node))[0]))
    root = next(vertex.index for vertex in subgraph.vs if vertex["name"] == str(node))
    if len(nodes) > 500:
        return Counter(count(subgraph, subgraph.distances(source=root)[0]))
    return Counter(count(subgraph, [distance for (distance,) in subgraph.distances(target=root)]))


def distances_within(graph, root, k):
    return {w: step for step in range(k + 1) for w in graph.neighborhood(root, order=step, mindist=step)}


def encode_edge(graph, u, v, k, count=ask_vertices):
    from_u, from_v = distances_within(graph, u, k), distances_within(graph, v, k)
    nodes = sorted(from_u.keys() & from_v.keys())
    subgraph = graph.induced_subgraph(nodes)
    seen_u, seen_v = (count(subgraph, [seen[w] for w in nodes]) for seen in (from_u, from_v))
    return Counter(zip(seen_u, seen_v, strict=True))
