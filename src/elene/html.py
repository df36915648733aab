"""What notebooks show: small tables, and a picture where a graph is small enough to be seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_DRAWN = 60  # nodes of a picture
LONGEST = 40  # letters of a cell


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table; long texts are cut, and names of columns may break behind a dot.

    >>> table(["node", "k1.degree2"], [["a & b", 3]])
    '<table><tr><th>node</th><th>k1.<wbr>degree2</th></tr><tr><td>a &amp; b</td><td>3</td></tr></table>'
    """
    lines = ["".join(f"<th>{_text(cell).replace('.', '.<wbr>')}</th>" for cell in header)]
    lines += ["".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def graph_view(nodes: NDArray[Any], edges: NDArray[np.int32], max_degree: int) -> str:
    """The sizes of a graph and, where it is small, a picture of it.

    >>> graph_view(np.arange(2), np.array([[0, 1]]), 1).count("<circle")
    2
    """
    some = ", ".join(map(str, nodes[:5].tolist())) + (", ..." if len(nodes) > 5 else "")
    numbers = [f"{number:,}" for number in (len(nodes), len(edges), max_degree)]
    sizes = table(["nodes", "edges", "largest degree", "names"], [[*numbers, some]])
    return sizes + (picture(nodes, edges) if 0 < len(nodes) <= MOST_DRAWN else "")


def picture(nodes: NDArray[Any], edges: NDArray[np.int32], side: int = 260) -> str:
    """A drawing in SVG; a node's name is shown where the mouse rests on it.

    >>> picture(np.array(["a", "b"]), np.array([[0, 1]])).count("<line")
    1
    """
    places = 12 + (side - 24) * _layout(len(nodes), edges)
    height = places[:, 1].max() + 12
    lines = [
        f'<line x1="{a[0]:.0f}" y1="{a[1]:.0f}" x2="{b[0]:.0f}" y2="{b[1]:.0f}" stroke="#999"/>'
        for a, b in places[edges].tolist()
    ]
    dots = [
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="#3b6ea5"><title>{_text(name)}</title></circle>'
        for name, (x, y) in zip(nodes.tolist(), places.tolist(), strict=True)
    ]
    return f'<svg width="{side}" height="{height:.0f}">{"".join(lines + dots)}</svg>'


def _layout(n: int, edges: NDArray[np.int32]) -> NDArray[np.float64]:
    """Places between 0 and 1 whose distances are as near to those in the graph as they get (stress majorization)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    if n == 1:
        return np.full((1, 2), 0.5)
    adjacency = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    hops = shortest_path(adjacency, directed=False)
    hops = np.minimum(hops, hops[np.isfinite(hops)].max() + 1)  # parts that nothing joins stay in sight
    weight = 1 / np.maximum(hops, 1) ** 2
    np.fill_diagonal(weight, 0)
    angles = 2 * np.pi * np.arange(n) / n
    places = hops.max() / 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for _ in range(60):
        apart = places[:, None] - places[None]
        stretch = hops / np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        wanted = places[None] + apart * stretch[..., None]
        places = (weight[..., None] * wanted).sum(axis=1) / weight.sum(axis=1)[:, None]
    places -= places.min(axis=0)
    spread: NDArray[np.float64] = places / max(places.max(), 1e-9)
    return spread


def _text(value: Any) -> str:
    text = str(value)
    return escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
