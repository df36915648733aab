"""Views as Cytoscape draws them: elements, and a style for light and for dark."""

from __future__ import annotations

from typing import Any

from elene.explorer.labels import MOST_SHADES, RARER
from elene.explorer.view import Dot, View
from elene.plot.pictures import COLOURS

OUTSIDE = {"only-u": "#8a6d1f", "only-v": "#4f6b8f"}
TIERS = {f"tier{number}": colour for number, colour in enumerate(COLOURS)} | OUTSIDE
SHADES = {f"label{number}": colour for number, colour in enumerate(COLOURS[:MOST_SHADES])} | {RARER: COLOURS[-1]}
THEMES = {
    "light": {"edge": "#a3abb5", "lit": "#f5a400", "rim": "#ffffff", "ink": "#1d2126"},
    "dark": {"edge": "#5d6670", "lit": "#ffc53d", "rim": "#15191e", "ink": "#e8ebee"},
}


def elements_of(view: View) -> list[dict[str, Any]]:
    """Nodes and edges for Cytoscape; those of kinds that are lit have the class of it, the others are dimmed.

    >>> from elene.explorer.view import Dot
    >>> dot = Dot("0", "rook", "0", "0", "tier0", "0.0.1.1", 0.0, 0.0)
    >>> elements_of(View("", "", dots=(dot,), lit=("0.0.1.1",)))[0]["classes"]
    'tier0 lit'
    """
    lighting = any(dot.kind in view.lit for dot in view.dots)
    nodes = [
        {
            "data": {
                "id": dot.id,
                "graph": dot.graph,
                "name": dot.name,
                "text": dot.text,
                "kind": dot.kind,
                "labelled": dot.label,
            },
            "position": {"x": round(dot.x, 1), "y": round(dot.y, 1)},
            "classes": _classes(dot, ("lit" if dot.kind in view.lit else "dim") if lighting else ""),
        }
        for dot in view.dots
    ]
    captions = [
        {
            "data": {"id": f"caption {number}", "name": "", "graph": "", "kind": "", "text": caption.text},
            "position": {"x": round(caption.x, 1), "y": round(caption.y, 1)},
            "classes": "caption",
        }
        for number, caption in enumerate(view.captions)
    ]
    edges = [
        {"data": {"id": f"{line.source}--{line.target}", "source": line.source, "target": line.target}}
        for line in view.lines
    ]
    return nodes + captions + edges


def _classes(dot: Dot, light: str) -> str:
    marked = "marked" if dot.shade and dot.tier == "tier0" else ""
    return " ".join(name for name in (dot.tier, dot.shade, marked, light) if name)


def style_of(theme: str) -> list[dict[str, Any]]:
    """The style sheet of a theme.

    >>> style_of("dark")[0]["selector"]
    'node'
    """
    colours = THEMES[theme]
    node = {
        "label": "data(text)",
        "width": 58,
        "height": 58,
        "font-size": 10,
        "text-max-width": 64,
        "font-weight": "bold",
        "font-family": "system-ui, sans-serif",
        "color": "#ffffff",
        "text-wrap": "wrap",
        "text-valign": "center",
        "text-halign": "center",
        "border-width": 1.5,
        "border-color": colours["rim"],
    }
    lit = {"border-width": 6, "border-color": colours["lit"], "opacity": 1, "z-index": 10}
    return [
        {"selector": "node", "style": node},
        {
            "selector": "edge",
            "style": {"line-color": colours["edge"], "width": 1.5, "curve-style": "straight", "opacity": 0.8},
        },
        *({"selector": f".{tier}", "style": {"background-color": colour}} for tier, colour in TIERS.items()),
        *({"selector": f".{tier}", "style": {"opacity": 0.75, "shape": "round-rectangle"}} for tier in OUTSIDE),
        *({"selector": f".{shade}", "style": {"background-color": colour}} for shade, colour in SHADES.items()),
        {"selector": ".marked", "style": {"border-width": 4, "border-color": colours["ink"]}},
        {"selector": ".dim", "style": {"opacity": 0.4}},
        {"selector": ".lit", "style": lit},
        {"selector": ".cold", "style": {"opacity": 0.25}},
        {"selector": ".hot", "style": lit},
        {
            "selector": ".caption",
            "style": {
                "background-opacity": 0,
                "border-width": 0,
                "color": colours["ink"],
                "font-size": 14,
                "text-max-width": 400,
                "opacity": 1,
                "events": "no",
            },
        },
        {"selector": "edge.over", "style": {"line-color": colours["lit"], "width": 4, "opacity": 1}},
    ]
