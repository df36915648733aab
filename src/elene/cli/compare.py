"""``elene compare``: whether and by what two graphs differ; and the table of how many BREC pairs do."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from elene.cli.common import (
    HeaderOption,
    Level,
    SourceOption,
    TargetOption,
    UndirectedOption,
    console,
    error_console,
    make_table,
    read_graph,
    size_of,
    working,
)

if TYPE_CHECKING:
    from elene.brec.encodings import BrecResult
    from elene.encoding.fingerprints import Comparison


class Refine(StrEnum):
    """What refines the encodings when they do not tell graphs apart by themselves."""

    none = "none"
    wl = "wl"
    folklore = "2fwl"


def compare(  # noqa: PLR0913 - Typer makes every option an argument
    a: Annotated[
        str | None,
        typer.Argument(metavar="A", help="A graph file; FILE#0 is the first graph of several.", show_default=False),
    ] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="Another one.", show_default=False)] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", metavar="K", help="How many hops to look; may be repeated.", show_default="1 2 3"),
    ] = None,
    level: Annotated[
        Level | None, typer.Option(help="Compare encodings of nodes, edges or pairs.", show_default="edge")
    ] = None,
    refine: Annotated[
        Refine | None,
        typer.Option(
            help="Refine them with 1-WL, or with folklore 2-WL, whose time is cubic in the nodes.", show_default="wl"
        ),
    ] = None,
    brec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead, count how many BREC pairs each method tells apart. A tab-separated file with the columns "
            "pair, category4, subcategory, g6_a, g6_b.",
            show_default=False,
        ),
    ] = None,
    source: SourceOption = None,
    target: TargetOption = None,
    header: HeaderOption = None,
    undirected: UndirectedOption = False,
) -> None:
    """Tell two graphs apart, and say by what they differ.

    The exit code is that of diff. 0: not told apart, they may be the same graph under other names; 1: they differ; 2:
    bad input.

    **Example:** elene compare a.graphml b.graphml --level pair --refine 2fwl
    """
    if brec is not None:
        if any(given is not None for given in (a, b, level, refine)) or k:
            raise ValueError("--brec measures a fixed list of methods: leave out A, B, -k, --level and --refine")
        return _print_brec(brec)
    if a is None or b is None:
        raise ValueError("pass two graph files A and B, or --brec FILE")
    from elene.encoding.fingerprints import compare as compare_graphs

    first, second = (
        read_graph(file, source=source, target=target, header=header, undirected=undirected) for file in (a, b)
    )
    console.print(f"A  {a}: {size_of(first)}\nB  {b}: {size_of(second)}\n", markup=False)
    refinement = None if refine is Refine.none else (refine or Refine.wl).value
    with working("Comparing (the first run compiles)"):
        found = compare_graphs(first, second, tuple(k or (1, 2, 3)), (level or Level.edge).value, refinement)
    _print_comparison(found)
    raise typer.Exit(int(found.distinguished))


def _print_comparison(found: Comparison) -> None:
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


def _print_brec(path: Path) -> None:
    from elene.brec.encodings import METHODS, Method, measure_brec
    from elene.datasets import read_brec

    pairs = read_brec(path)
    results = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed} / {task.total} pairs"),
    )
    with Progress(*columns, console=error_console, transient=True) as progress:
        task = progress.add_task("", total=len(pairs))

        def report(method: Method, done: int) -> None:
            progress.update(task, description=f"{method.name:18}", completed=done)

        for result in measure_brec(pairs, METHODS, report=report):
            results.append(result)
    console.print(_brec_table(results, Counter(pair.category for pair in pairs)))


def _brec_table(results: list[BrecResult], pairs: Counter[str]) -> Table:
    totals = [f"{name}\n{count:,}" for name, count in [*pairs.items(), ("all", pairs.total())]]
    table = make_table("BREC pairs\ntold apart, of", *totals, "seconds\n")
    for result in results:
        separated = [str(result.separated[category]) for category in pairs]
        table.add_row(result.method.name, *separated, f"[bold]{result.total}[/]", f"[dim]{result.seconds:.1f}[/]")
    return table
