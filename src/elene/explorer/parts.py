"""Scenes as the components of the page: plain functions, whose results the page's callbacks hand out."""

from __future__ import annotations

from typing import Any

from dash import html

from elene.explorer.drawing import SHADES, TIERS, elements_of
from elene.explorer.scene import Scene
from elene.explorer.shelf import Opened, Shelf
from elene.explorer.usual import Ranked, ranking_of
from elene.explorer.view import TableRow, View, counted

SOON, LATER = 700, 4000  # milliseconds between looks at what is being computed, and at the file
NONE = "none"
OUTPUTS = (
    *((control, "value") for control in ("depth", "graph", "beside", "level", "search")),
    *((part, "children") for part in ("title", "facts", "notes", "legend", "reading", "table", "ranking", "news")),
    *(("canvas", "elements"), ("canvas", "layout"), ("url", "search"), ("link", "href")),
    *(("title", "className"), ("page", "className"), ("tick", "disabled"), ("tick", "interval")),
)


def acting(act: str, **what: str) -> dict[str, Any]:
    """The attributes by which the page's script knows what a click on an element does.

    >>> acting("walk", node="Valjean")
    {'data-do': 'walk', 'data-node': 'Valjean'}
    """
    return {"data-do": act} | {f"data-{name}": value for name, value in what.items()}


def show(shelf: Shelf, scene: Scene) -> dict[str, Any]:
    """All that the page shows of a scene, by component and property.

    >>> from elene.explorer.scene import scene_of
    >>> from elene.explorer.state import State
    >>> shown = show(Shelf({}), scene_of(Shelf({}), State(graph="rook", node="0", k=1)))
    >>> shown["title.children"], shown["url.search"], len(shown["canvas.elements"])
    ('Node 0', '?graph=rook&node=0&k=1', 19)
    """
    state, view = scene.state, scene.view
    beside = state.beside is not None
    return {
        "url.search": state.query,
        "depth.value": state.k,
        "graph.value": state.graph,
        "beside.value": state.beside or NONE,
        "level.value": state.level,
        "canvas.elements": elements_of(view),
        # What changes with the state makes the canvas fit anew.
        "canvas.layout": {"name": "preset", "fit": True, "padding": 18, "of": state.query},
        "title.children": view.title,
        "title.className": "waiting" if view.waiting else "",
        "facts.children": view.waiting or view.facts,
        "notes.children": [html.P(note, className="note") for note in view.notes],
        "legend.children": [_key(tier, text) for tier, text in view.legend],
        "reading.children": view.reading,
        "table.children": _table(view),
        "ranking.children": ranking_list(scene),
        "news.children": news_of(shelf, scene.opened),
        "link.href": state.query,
        "page.className": "beside" if beside else ("pair" if state.other else "one"),
        "tick.disabled": not is_waiting(scene) and not shelf.can_read_again(scene.opened.key),
        "tick.interval": SOON if is_waiting(scene) else LATER,
        "search.value": "",
    }


def is_waiting(scene: Scene) -> bool:
    """Whether something of a scene is still being computed."""
    return scene.view.waiting is not None or not ranking_of(scene.opened, scene.state.k).done()


def _key(tier: str, text: str) -> html.Span:
    """A line of the legend: a colour, or a mark that the page's style draws."""
    colour = (TIERS | SHADES).get(tier)
    return html.Span([html.I(className=tier) if colour is None else html.I(style={"background": colour}), text])


def _table(view: View) -> Any:
    if not view.rows:
        return None
    head = html.Thead(html.Tr([html.Th(text) for text in view.head]))
    return html.Table([head, html.Tbody([_row(row, len(view.head), row.kind in view.lit) for row in view.rows])])


def _row(row: TableRow, columns: int, lit: bool) -> html.Tr:
    wide = columns - len(row.cells) + 1
    cells = [html.Td(row.cells[0], colSpan=wide), *map(html.Td, row.cells[1:])]
    name = " ".join(name for name, there in (("lit", lit), ("undrawn", not row.drawn)) if there)
    hint = "none of them is drawn: a click draws some" if not row.drawn else f"{row.drawn:,} drawn"
    return html.Tr(cells, className=name, tabIndex=0, title=hint, **acting("light", kind=row.kind))


def ranking_list(scene: Scene) -> Any:
    """The lists of the most and the least usual nodes, or a word while they are being computed."""
    future, head = ranking_of(scene.opened, scene.state.k), html.H3("Unusual and usual nodes")
    if not future.done():
        return [head, html.P("Ranking all nodes by their encodings, once …")]
    if future.exception() is not None:
        return [head, html.P(f"Could not rank them: {future.exception()}")]
    ranking = future.result()
    if ranking.encodings == 1:
        return [head, html.P(f"All nodes have the same encoding at k = {ranking.depth}.")]
    said = html.P(
        f"{counted(ranking.encodings, 'different encoding')} at k = {ranking.depth}. Bits: how surprising what a node "
        "sees is, on average."
    )
    lists = [("Most unusual", ranking.unusual), ("Most usual", ranking.usual)]
    if ranking.encodings <= len(ranking.unusual):
        lists = [("From unusual to usual nodes", ranking.unusual)]
    return [
        html.Div([html.Div([html.H3(title), _ranked(scene.opened, nodes)]) for title, nodes in lists], className="two"),
        said,
    ]


def _ranked(opened: Opened, nodes: list[Ranked]) -> html.Ol:
    lines = []
    for node in nodes:
        name = opened.texts[node.position]
        others = f" and {node.alike - 1:,} like it" if node.alike > 1 else ""
        told = [html.B(name), html.Small(f"{node.bits:.1f} bits{others}")]
        lines.append(html.Li(html.Button(told, **acting("walk", node=name))))
    return html.Ol(lines)


def news_of(shelf: Shelf, opened: Opened) -> Any:
    """What happened to the graph's file, with a button to read it again; nothing where nothing happened."""
    news = shelf.news(opened.key)
    if news is None:
        return None
    again = html.Button("Read it again", **acting("read"))
    return html.P([news, " ", again if shelf.can_read_again(opened.key) else None])


def hits_of(opened: Opened, typed: str) -> Any:
    """The nodes that a search finds, as buttons.

    >>> from elene.explorer.demos import miserables
    >>> [hit.children for hit in hits_of(Opened("m", "Les Misérables", miserables()), "valj")]
    ['Valjean']
    >>> hits_of(Opened("m", "Les Misérables", miserables()), "Quixote").children
    'no such node'
    """
    found = opened.search(typed)
    if typed.strip() and not found:
        return html.P("no such node")
    names = [opened.texts[position] for position in found]
    return [html.Button(name, **acting("walk", node=name)) for name in names]
