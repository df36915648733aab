"""``elene explain``: one node or edge as the encodings see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

import elene
from elene.cli.common import console, counted, make_table, say, size_of, working
from elene.cli.options import FileOptions, GraphArgument, parse_label, read_graph, reading_files

MOST_ROWS = 10
FIELDS = ("distance", "closer", "degree", "farther")


@reading_files
def explain(
    how: FileOptions,
    graph: GraphArgument,
    node: Annotated[str | None, typer.Option(metavar="NODE", help="The node to explain.", show_default=False)] = None,
    edge: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="U V", help="The edge to explain, as its two ends.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="K", help="How many hops to look.")] = 2,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Draw it as well, into this .png or .svg file.", show_default=False
        ),
    ] = None,
) -> None:
    """Show what the encoding of a node or an edge counts, and draw it.

    Every node within k hops is one quadruplet: its distance, and how many of its neighbours are one hop closer, within
    k hops at all, and one hop farther. An edge counts the nodes that are within k hops of both its ends, as either
    sees them.

    **Example:** elene explain friends.csv --node 7 -k 2 -o ego-7.png
    """
    from elene.plot import draw_ego, draw_intersection

    if (node is None) == (edge is None):
        raise ValueError("pass either --node NODE or --edge U V")
    if output is not None and output.suffix not in (".png", ".svg"):
        raise ValueError(f"--output must end in .png or .svg, got {str(output)!r}")
    read = read_graph(graph, how, output)
    if node is not None:
        root = parse_label(read, node, "--node")
        explain_node(read, root, k)
        draw = partial(draw_ego, read, root, k)
    elif edge is not None:
        u, v = (parse_label(read, end, "--edge") for end in edge)
        explain_edge(read, u, v, k)
        draw = partial(draw_intersection, read, u, v, k)
    if output is not None:
        save_picture(output, draw)


def save_picture(path: Path, draw: Callable[[Path], Any]) -> None:
    """Draw into a file and say where it is."""
    with working("Drawing"):
        draw(path)
    console.print(f"Picture: [bold green]{escape(str(path))}[/]", soft_wrap=True)


def explain_node(graph: elene.Graph, node: Any, k: int) -> None:
    """Print the quadruplets around a node, and one of them in words."""
    with working("Looking around (the first time, compiling)"):
        found = elene.quadruplets(graph, node, k)
    edges = sum(quadruplet.degree * count for quadruplet, count in found.items()) // 2
    name = escape(str(node))
    say(f"[bold]Node {name}, k = {k}[/]  {_sizes(found, edges, k, '')}, in a graph of {size_of(graph)}\n")
    table = make_table(*FIELDS, *["label"] * (graph.labels is not None), "nodes", text=0)
    _fill(table, {tuple(quadruplet): count for quadruplet, count in found.items()})
    console.print(table)
    say(_in_words(found, name), style="italic")


def explain_edge(graph: elene.Graph, u: Any, v: Any, k: int) -> None:
    """Print the pairs of quadruplets that both ends of an edge see, and how to read them."""
    with working("Looking around (the first time, compiling)"):
        found = elene.edge_quadruplets(graph, (u, v), k)
    edges = sum(seen.degree * count for (seen, _), count in found.items()) // 2
    ends = [escape(str(u)), escape(str(v))]
    sizes = _sizes(found, edges, k, " of both ends")
    say(f"[bold]Edge ({', '.join(ends)}), k = {k}[/]  {sizes}, in a graph of {size_of(graph)}\n")
    titles = [*(f"{field}\nfrom {end}" for end in ends for field in FIELDS), *["\nlabel"] * (graph.labels is not None)]
    table = make_table(*titles, "\nnodes", text=0)
    _fill(table, {(*by_u[:4], *by_v): count for (by_u, by_v), count in found.items()})
    console.print(table)
    say(
        f"Each row is a kind of node as {ends[0]} sees it (left) and as {ends[1]} does (right): how far it is, and "
        "how many of its neighbours in sight of both are closer to that end, there at all, and farther from it.",
        style="italic",
    )


def _sizes(found: Counter[Any], edges: int, k: int, of: str) -> str:
    return f"{counted(found.total(), 'node')} within {counted(k, 'hop')}{of}, {counted(edges, 'edge')} among them"


def _in_words(found: Counter[Any], node: str) -> str:
    """The most frequent quadruplet as a sentence; the root's own only where there is no other."""
    quadruplet, count = max(found.items(), key=lambda item: (item[0].distance > 0, item[1], -item[0].distance))
    distance, closer, degree, farther, *label = quadruplet
    labelled = f" labelled {escape(str(label[0]))}" if label else ""
    subject = f"{count:,} nodes{labelled} are" if count > 1 else f"1 node{labelled} is"
    return (
        f"Row ({', '.join(map(str, quadruplet))}): {subject} {counted(distance, 'hop')} from {node} and "
        f"{'have' if count > 1 else 'has'} {counted(degree, 'neighbour')} in sight{' each' if count > 1 else ''}: "
        f"{closer} closer to {node}, {degree - closer - farther} as far as it, {farther} farther."
    )


def _fill(table: Table, counts: dict[tuple[Any, ...], int]) -> None:
    """The most frequent rows of each distance, and one for the rest of it."""
    for distance in sorted({numbers[0] for numbers in counts}):
        here = sorted((numbers for numbers in counts if numbers[0] == distance), key=lambda numbers: -counts[numbers])
        for numbers in sorted(here[:MOST_ROWS]):
            table.add_row(*(escape(str(number)) for number in numbers), f"[bold]{counts[numbers]:,}[/]")
        if rest := here[MOST_ROWS:]:
            rarer = f"{sum(counts[numbers] for numbers in rest):,}\n[dim]in {counted(len(rest), 'rarer row')}[/]"
            table.add_row(str(distance), *["..."] * (len(table.columns) - 2), rarer)
        table.add_section()
