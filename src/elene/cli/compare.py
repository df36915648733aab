"""``elene compare``: whether and by what two graphs differ."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import elene
from elene.cli.common import console, counted, make_table, size_of, working
from elene.cli.options import (
    EdgeLabelsOption,
    FileOptions,
    Level,
    argument,
    depths,
    parse_depths,
    read_edge_labels,
    reading_files,
)

Refine = StrEnum("Refine", {"none": "none", "wl": "wl", "folklore": "2fwl"})


@reading_files
def compare(
    how: FileOptions,
    a: Annotated[str, argument(metavar="A", help="A graph file; FILE#0 is the first graph of several.")],
    b: Annotated[str, argument(metavar="B", help="Another one.")],
    k: Annotated[list[str] | None, depths(show_default="1,2,3")] = None,
    level: Annotated[Level, typer.Option(help="Compare encodings of nodes, edges or pairs.")] = Level.edge,
    refine: Annotated[
        Refine, typer.Option(help="Refine them with 1-WL, or with folklore 2-WL, whose time is cubic in the nodes.")
    ] = Refine.wl,
    edge_labels: EdgeLabelsOption = None,
) -> None:
    """Tell two graphs apart, and say by what they differ.

    The exit code is that of diff. 0: not told apart, they may be the same graph under other names; 1: they differ; 2:
    bad input.

    **Example:** elene compare a.graphml b.graphml --level pair --refine 2fwl

    **Two molecules:** elene compare a.graphml b.graphml --labels atom --edge-labels bond
    """
    from elene.encoding.fingerprints import compare as compare_graphs

    if edge_labels is not None and refine is Refine.none:
        raise ValueError("--edge-labels is read by the refinement alone: pass --refine wl or --refine 2fwl with it")
    at = parse_depths(k, (1, 2, 3))
    (first, ours), (second, theirs) = (read_edge_labels(file, edge_labels, how) for file in (a, b))
    console.print(f"A  {a}: {_size(first, ours)}\nB  {b}: {_size(second, theirs)}\n", markup=False)
    refinement = None if refine is Refine.none else refine.value
    with working("Comparing (the first run compiles)"):
        found = compare_graphs(first, second, at, level.value, refinement, edge_labels=(ours, theirs))
    _print_comparison(found)
    raise typer.Exit(int(found.distinguished))


def _size(graph: elene.Graph, edge_labels: list[str] | None) -> str:
    more = "" if edge_labels is None else f", {counted(len(set(edge_labels)), 'label')} of edges"
    return size_of(graph) + more


def _print_comparison(found: elene.Comparison) -> None:
    if not found.distinguished:
        console.print(f"[bold yellow]Not told apart[/] by {', '.join(found.tried)}.")
        console.print("They may be isomorphic. The strongest comparison: [cyan]--level pair --refine 2fwl[/]")
        return
    console.print(f"[bold green]The graphs differ[/] by {found.by}.")
    if found.evidence:
        table = make_table("what", "in A", "in B")
        for what, in_a, in_b in found.evidence:
            table.add_row(what, f"{in_a:,}", f"{in_b:,}")
        console.print(table)
