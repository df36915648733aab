"""The page: a thin layer of Dash over scenes. The address holds the state, and one callback goes from act to scene."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dash_cytoscape
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update

from elene.explorer.drawing import THEMES, style_of
from elene.explorer.parts import LATER, NONE, OUTPUTS, SOON, acting, hits_of, is_waiting, news_of, ranking_list, show
from elene.explorer.scene import scene_of
from elene.explorer.shelf import Opened, Shelf
from elene.explorer.state import DEEPEST, follow
from elene.explorer.state import State as ViewState

LEVELS = {"node": "nodes", "edge": "edges", "pair": "pairs"}


def make_app(shelf: Shelf) -> Dash:
    """The app that shows the graphs of a shelf, with all its scripts and styles on board.

    >>> make_app(Shelf({})).title
    'elene explore'
    """
    dash_cytoscape.load_extra_layouts()  # for its export as SVG, which the small bundle has not
    app = Dash(
        "elene.explorer",
        title="elene explore",
        update_title="",
        serve_locally=True,
        assets_folder=str(Path(__file__).parent / "assets"),
        compress=False,
        add_log_handler=False,
    )
    app.layout = _layout(shelf)
    _connect(app, shelf)
    _connect_in_browser(app)
    return app


def _layout(shelf: Shelf) -> html.Div:
    return html.Div(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="action"),
            dcc.Store(id="again"),
            dcc.Store(id="theme", storage_type="local"),
            dcc.Store(id="styles", data={theme: style_of(theme) for theme in THEMES}),
            dcc.Interval(id="tick", interval=LATER, disabled=True),
            _header(shelf),
            html.Div(id="news", role="status"),
            html.Main([_stage(), _side()]),
        ],
        id="page",
    )


def _header(shelf: Shelf) -> html.Header:
    graphs = [{"label": title, "value": key} for key, title in shelf.titles.items()]
    marks = {depth: str(depth) for depth in range(DEEPEST + 1)}
    return html.Header(
        [
            html.H1("elene explore"),
            _labelled("Graph", dcc.Dropdown(graphs, id="graph", clearable=False, searchable=False)),
            html.Div(
                [
                    html.Label("Find a node", htmlFor="search"),
                    dcc.Input(id="search", type="search", placeholder="name …", autoComplete="off", debounce=False),
                    html.Div(id="hits"),
                ],
                className="field finder",
            ),
            _labelled("Depth k", dcc.Slider(0, DEEPEST, 1, id="depth", value=2, marks=marks), "depth-field"),
            _labelled(
                "Compare with",
                dcc.Dropdown([{"label": "nothing", "value": NONE}, *graphs], NONE, id="beside", clearable=False),
            ),
            html.Button("◐", id="shade", title="Light or dark", className="plain"),
        ]
    )


def _labelled(text: str, control: Any, name: str = "") -> html.Div:
    return html.Div([html.Label(text, htmlFor=control.id), control], className=f"field {name}".strip())


def _stage() -> html.Section:
    clicks = {"walk": "walks there", "pair": "pairs it with the root"}
    return html.Section(
        [
            html.H2(id="title"),
            html.P(id="facts"),
            html.Div(id="notes"),
            dash_cytoscape.Cytoscape(
                id="canvas",
                elements=[],
                layout={"name": "preset", "fit": True, "padding": 18},
                style={"width": "100%", "height": "100%"},
                stylesheet=style_of("light"),
                boxSelectionEnabled=False,
                autoungrabify=True,
                minZoom=0.1,
                maxZoom=4,
            ),
            html.Div(id="hover"),
            html.Div(id="legend"),
            html.Div(
                [
                    html.Span("A click on a node"),
                    dcc.RadioItems(clicks, "walk", id="click", inline=True),
                    html.Span("On an edge: shows what both its ends see."),
                ],
                id="clicking",
            ),
            html.P(id="reading"),
        ],
        id="stage",
    )


def _side() -> html.Aside:
    return html.Aside(
        [
            html.Div(
                [
                    html.A("Link to this view", id="link", href="", title="Copies the address"),
                    html.Button("PNG", id="png", title="Save the picture as PNG"),
                    html.Button("SVG", id="svg", title="Save the picture as SVG"),
                    html.Button("Back to one node", id="close", **acting("close")),
                ],
                id="tools",
            ),
            html.Div(
                [html.Span("Compare by"), dcc.RadioItems(LEVELS, "edge", id="level", inline=True)],
                id="leveling",
            ),
            html.Div(id="table"),
            html.Div(id="ranking"),
        ],
        id="side",
    )


def _connect(app: Dash, shelf: Shelf) -> None:
    """The callbacks: one that does everything, one that looks at what comes later, and one that finds names."""
    inputs = {
        "url": Input("url", "search"),
        "action": Input("action", "data"),
        "depth": Input("depth", "value"),
        "graph": Input("graph", "value"),
        "beside": Input("beside", "value"),
        "level": Input("level", "value"),
        "again": Input("again", "data"),
        "search": Input("search", "n_submit"),
    }
    states = {"typed": State("search", "value"), "click": State("click", "value")}
    outputs = {f"{id}.{prop}": Output(id, prop) for id, prop in OUTPUTS}

    @app.callback(output=outputs, inputs={"given": inputs | states})
    def update(given: dict[str, Any]) -> dict[str, Any]:
        trigger = ctx.triggered_id or "url"
        wanted = next_state(shelf, ViewState.parse(given["url"]), trigger, given)
        reading = trigger == "action" and isinstance(given["action"], Mapping) and given["action"].get("do") == "read"
        problem = shelf.read_again(wanted.graph) if reading else None
        shown = show(shelf, scene_of(shelf, wanted))
        if problem is not None:
            shown["news.children"] = html.P(problem)
        if trigger in ("url", "again"):
            shown["url.search"] = no_update  # a step back in the browser must not be a step forward
        return shown

    @app.callback(
        Output("ranking", "children", allow_duplicate=True),
        Output("news", "children", allow_duplicate=True),
        Output("again", "data"),
        Output("tick", "interval", allow_duplicate=True),
        Input("tick", "n_intervals"),
        State("link", "href"),
        State("title", "className"),
        prevent_initial_call=True,
    )
    def look(times: int, query: str, waiting: str | None) -> tuple[Any, Any, Any, int]:
        scene = scene_of(shelf, ViewState.parse(query))
        now_there = waiting == "waiting" and scene.view.waiting is None
        every = SOON if is_waiting(scene) else LATER
        return ranking_list(scene), news_of(shelf, scene.opened), times if now_there else no_update, every

    @app.callback(Output("hits", "children"), Input("search", "value"), State("link", "href"))
    def find(typed: str | None, query: str) -> Any:
        return hits_of(scene_opened(shelf, ViewState.parse(query)), typed or "")


def _connect_in_browser(app: Dash) -> None:
    """The callbacks that need no server: the theme, and saving pictures."""
    in_browser = {
        "shade": (
            [Output("canvas", "stylesheet"), Output("theme", "data")],
            [Input("shade", "n_clicks")],
            ["theme", "styles"],
        ),
        "save": (
            [Output("canvas", "generateImage")],
            [Input("png", "n_clicks"), Input("svg", "n_clicks")],
            ["link", "theme"],
        ),
    }
    for name, (out, given, kept) in in_browser.items():
        known = [State(id, "href" if id == "link" else "data") for id in kept]
        app.clientside_callback(ClientsideFunction("elene", name), *out, *given, *known)  # type: ignore[no-untyped-call]


def next_state(shelf: Shelf, state: ViewState, trigger: str, given: Mapping[str, Any]) -> ViewState:
    """The state after something was done: a control moved, a node clicked, a name typed.

    Args:
        shelf: the graphs.
        state: what was shown.
        trigger: the control.
        given: the values of all controls, which anybody can send.

    Example:
        >>> next_state(Shelf({}), ViewState(graph="karate"), "depth", {"depth": 3}).k
        3
    """
    if trigger == "depth":
        return follow(state, {"do": "depth", "k": given["depth"]})
    if trigger == "graph":
        return follow(state, {"do": "open", "graph": given["graph"]})
    if trigger == "beside":
        chosen = given["beside"]
        return follow(state, {"do": "close"} if chosen == NONE else {"do": "beside", "graph": chosen})
    if trigger == "level":
        return follow(state, {"do": "level", "level": given["level"]})
    if trigger == "search":
        opened = scene_opened(shelf, state)
        hits = opened.search(str(given["typed"] or ""))
        return follow(state, {"do": "walk", "node": opened.texts[hits[0]]}) if hits else state
    if trigger == "action" and isinstance(given["action"], Mapping):
        return _after_action(shelf, state, given["action"], given.get("click"))
    return state


def _after_action(shelf: Shelf, state: ViewState, action: Mapping[str, Any], click: str | None) -> ViewState:
    if action.get("do") != "tap":
        return follow(state, action)
    root = scene_of(shelf, state).state.node
    if click == "pair" and root is not None:
        return follow(state, {"do": "pair", "node": root, "other": action.get("node")})
    return follow(state, {**action, "do": "walk"})


def scene_opened(shelf: Shelf, state: ViewState) -> Opened:
    """The graph of a state, or the first.

    >>> scene_opened(Shelf({}), ViewState(graph="no such")).key
    'karate'
    """
    opened = shelf.open(state.graph) or shelf.open(shelf.first)
    assert opened is not None
    return opened
