"""``elene explore``: a page of this machine on which graphs are looked at."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import elene
from elene.cli.common import console, error_console, size_of
from elene.cli.options import FileOptions, argument, read_graph, reading_files, which_graph

if TYPE_CHECKING:
    from elene.explorer.shelf import Named


@reading_files
def explore(
    how: FileOptions,
    graph: Annotated[
        str | None,
        argument(
            metavar="[GRAPH]",
            help="A graph file, as other commands take it; without one, there are some to begin with.",
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(metavar="GRAPH", help="Another file, to compare the first one with.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Where; if taken, another is found.")] = 8050,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page, too.")] = True,
) -> None:
    """Look at a graph in the browser: ego-networks, edges and pairs, and two graphs side by side.

    The page is served to this machine alone, and reads no file but those named here. Ctrl-C ends it.

    **Example:** elene explore friends.csv
    """
    from elene.extras import needing

    with needing("explorer", "elene explore"):
        from elene.explorer.page import make_app
    from elene.explorer.server import bind, serve
    from elene.explorer.shelf import Shelf

    read = partial(_read, how=how)
    named = {key: _named(file, read) for key, file in (("file", graph), ("file-b", beside)) if file is not None}
    shelf = Shelf(named)
    for key in named:
        opened = shelf.open(key)
        assert opened is not None
        console.print(f"{opened.title}: {size_of(opened.graph)}", markup=False)
    bound, as_wanted = bind(port)
    if not as_wanted:
        error_console.print(f"port {port} is taken: took another one", style="dim")
    with suppress(KeyboardInterrupt):
        serve(make_app(shelf), bound, partial(_announce, browser=browser))
    console.print("\nGood-bye.")


def _announce(address: str, browser: bool) -> None:
    console.print(f"The page is at [bold green]{address}[/]  (Ctrl-C ends it)", soft_wrap=True)
    if browser:
        webbrowser.open(address)


def _named(file: str, read: partial[elene.Graph]) -> Named:
    from elene.explorer.shelf import Named

    from_file = file != "-"
    on_disk = which_graph(file)[0] if from_file else None
    return Named(Path(file).name if from_file else "standard input", partial(read, file), on_disk)


def _read(file: str, how: FileOptions) -> elene.Graph:
    graph = read_graph(file, how)
    if graph.num_nodes == 0:
        raise ValueError(f"{file} has no nodes: there is nothing to look at")
    return graph
