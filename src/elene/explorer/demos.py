"""Graphs to look at without a file of one's own; each is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from elene.datasets import rook, shrikhande
from elene.extras import needing
from elene.graph import Graph


def karate() -> Graph:
    """Friendships in a karate club that split in two (Zachary, 1977).

    >>> karate()
    Graph(num_nodes=34, num_edges=78)
    """
    return Graph.from_networkx(_networkx().karate_club_graph())


def miserables() -> Graph:
    """Who is on stage together in Les Misérables (Knuth, 1993).

    >>> miserables()
    Graph(num_nodes=77, num_edges=254)
    """
    return Graph.from_networkx(_networkx().les_miserables_graph())


def families() -> Graph:
    """Marriages between the great families of Florence around 1430 (Padgett).

    >>> families().num_nodes
    15
    """
    return Graph.from_networkx(_networkx().florentine_families_graph())


def grid(side: int = 12) -> Graph:
    """A square grid with one wire too many: what is unusual in it?

    >>> grid(3)
    Graph(num_nodes=9, num_edges=13)
    """
    edges = [(row * side + column, row * side + column + 1) for row in range(side) for column in range(side - 1)]
    edges += [(node, node + side) for node in range(side * (side - 1))]
    middle = side * (side // 2) + side // 2
    names = [f"{node // side},{node % side}" for node in range(side * side)]
    return Graph.from_edges([*edges, (middle, middle - side - 1)], names=names)


def social(people: int = 2000) -> Graph:
    """A generated network of friends with hubs and triangles (Holme and Kim, 2002).

    >>> social(50).num_nodes
    50
    """
    return Graph.from_networkx(_networkx().powerlaw_cluster_graph(people, 4, 0.4, seed=1))


def caffeine() -> Graph:
    """The atoms of caffeine and the bonds between them; labels are the elements.

    >>> caffeine()
    Graph(num_nodes=24, num_edges=25, labels=4)
    """
    ring = "N1 C1, C1 N2, N2 C2, C2 C3, C3 N1, C3 C4, C4 N3, N3 C5, C5 N4, N4 C2"  # both rings: C2 and C3 are in each
    around = "N1 C6, N3 C7, N4 C8, C4 O1, C5 O2, C1 H1"
    hydrogens = "C6 H2, C6 H3, C6 H4, C7 H5, C7 H6, C7 H7, C8 H8, C8 H9, C8 H10"
    bonds = [tuple(bond.split()) for bond in f"{ring}, {around}, {hydrogens}".split(", ")]
    bare = Graph.from_edges(bonds)
    return bare.with_labels([name[0] for name in bare.nodes.tolist()])


DEMOS: Mapping[str, tuple[str, Callable[[], Graph]]] = {
    "karate": ("Karate club (friends)", karate),
    "miserables": ("Les Misérables (characters)", miserables),
    "families": ("Families of Florence (marriages)", families),
    "caffeine": ("Caffeine (atoms)", caffeine),
    "grid": ("A grid with a flaw", grid),
    "rook": ("Rook graph, 4x4", rook),
    "shrikhande": ("Shrikhande graph", shrikhande),
    "social": ("A generated social network", social),
}


def _networkx() -> Any:
    with needing("explorer", "a demo graph"):
        import networkx
    return networkx
