"""The oracle: every definition written down as slowly and plainly as possible, on networkx graphs."""

from __future__ import annotations

from collections import Counter

import networkx as nx


def ball(graph, root, k):
    """Distances of all nodes within k of the root."""
    return nx.single_source_shortest_path_length(graph, root, cutoff=k)


def quadruplet(subgraph, node, distance):
    """(distance, closer, degree, farther) of a node in a subgraph, given everyone's distance to the root."""
    steps = Counter(distance[other] - distance[node] for other in subgraph[node])
    return (distance[node], steps[-1], subgraph.degree(node), steps[1])


def node_encoding(graph, root, k):
    distance = ball(graph, root, k)
    subgraph = graph.subgraph(distance)
    return Counter(quadruplet(subgraph, node, distance) for node in distance)


def pair_encoding(graph, u, v, k):
    """The ordered reading (q(w|u), q(w|v)) of every w in the intersection."""
    from_u, from_v = ball(graph, u, k), ball(graph, v, k)
    subgraph = graph.subgraph(set(from_u) & set(from_v))
    return Counter((quadruplet(subgraph, w, from_u), quadruplet(subgraph, w, from_v)) for w in subgraph)


def clip(quadruplet, rho):
    return (quadruplet[0], *(min(value, rho) for value in quadruplet[1:]))


def marginal(quadruplets, rho, absolute=False):
    """Counts per (distance, kind, value) of a multiset of quadruplets."""
    counts = Counter()
    for (distance, *values), count in quadruplets.items():
        for kind, value in zip(("closer", "degree", "farther"), values, strict=True):
            if kind == "degree" or not absolute:
                counts[distance, kind, min(value, rho)] += count
    return counts


def both_readings(pairs):
    """The multiset of single quadruplets in the two readings of an edge or pair."""
    counts = Counter()
    for readings, count in pairs.items():
        for reading in readings:
            counts[reading] += count
    return counts


def joint(quadruplets, rho, absolute=False):
    counts = Counter()
    for quadruplet, count in quadruplets.items():
        distance, _, degree, _ = clipped = clip(quadruplet, rho)
        counts[(distance, degree) if absolute else clipped] += count
    return counts


def joint_pairs(pairs, rho, absolute=False):
    """Counts of unordered pairs of readings."""
    counts = Counter()
    for readings, count in pairs.items():
        clipped = [clip(reading, rho) for reading in readings]
        key = sorted((q[0], q[2]) if absolute else q for q in clipped)
        counts[tuple(key)] += count
    return counts


def labelled_node_encoding(graph, root, k, labels):
    """The node encoding with each node's label as a fifth part."""
    distance = ball(graph, root, k)
    subgraph = graph.subgraph(distance)
    return Counter((*quadruplet(subgraph, node, distance), labels[node]) for node in distance)


def labelled_pair_encoding(graph, u, v, k, labels):
    from_u, from_v = ball(graph, u, k), ball(graph, v, k)
    subgraph = graph.subgraph(set(from_u) & set(from_v))
    return Counter(
        ((*quadruplet(subgraph, w, from_u), labels[w]), (*quadruplet(subgraph, w, from_v), labels[w])) for w in subgraph
    )


def by_label(quadruplets):
    """For each label, the multiset of the plain quadruplets of the nodes that have it."""
    found = {}
    for (*plain, label), count in quadruplets.items():
        found.setdefault(label, Counter())[tuple(plain)] += count
    return found


def node_type(quadruplets):
    """The whole multiset as something that can be compared."""
    return frozenset(quadruplets.items())


def pair_type(pairs, distance):
    """The two readings of an edge or pair, whichever comes first, and the distance of its ends."""
    swapped = Counter({(by_v, by_u): count for (by_u, by_v), count in pairs.items()})
    return distance, frozenset([node_type(pairs), node_type(swapped)])


def refined(colors, neighbours):
    """1-WL until nothing splits, by sorting: colours are numbers by the order of what they stand for.

    ``neighbours[v]`` holds pairs of a neighbour and the colour of the arc that leads to it.
    """
    while True:
        seen = [(colors[v], sorted((arc, colors[u]) for u, arc in around)) for v, around in enumerate(neighbours)]
        order = sorted(seen)
        refined = [order.index(one) for one in seen]
        if len(set(refined)) == len(set(colors)):
            return refined
        colors = refined
