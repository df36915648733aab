"""The pictures of the concept pages, drawn by elene.plot itself."""

import networkx as nx

from elene.datasets import rook, shrikhande
from elene.plot import draw_ego, draw_intersection


def draw_all(folder):
    """Draw every picture into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    families = nx.florentine_families_graph()
    draw_ego(families, "Medici", 1, folder / "medici-1.svg")
    draw_ego(families, "Medici", 2, folder / "medici-2.svg")
    draw_intersection(families, "Medici", "Ridolfi", 2, folder / "medici-ridolfi.svg")
    for name, graph in (("rook", rook()), ("shrikhande", shrikhande())):
        draw_ego(graph, 0, 1, folder / f"{name}-node.svg")
        draw_intersection(graph, 0, 1, 1, folder / f"{name}-edge.svg")
