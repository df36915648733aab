"""``elene store``: edge tables of any size in, a graph on disk out."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

import elene
from elene.cli.common import clean_interrupts, console, counted, size_of
from elene.cli.options import HeaderOption, SourceOption, TargetOption, argument, as_column


def store(
    files: Annotated[
        list[Path], argument(metavar="FILES", help="Edge tables: .parquet, .csv, .tsv or .txt, also .gz and .zst.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="The folder to make: graph.elene.", show_default=False),
    ] = None,
    nodes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table with a row for each node, isolated ones too.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of that table with the class of each node.")
    ] = None,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="What sorting may take; the rest goes to disk.")] = "2GB",
    source: SourceOption = None,
    target: TargetOption = None,
    header: HeaderOption = None,
) -> None:
    """Build a graph store: a graph on disk that need not fit in memory, for every command that takes a graph.

    Self-loops and repeated edges are dropped and counted. Temporary files stand beside the output until it is done;
    stopped in between, nothing is left. Without an output, the store that is named is read once and verified.

    **Example:** elene store edges/*.parquet -o graph.elene
    """
    started = perf_counter()
    if output is None:
        if len(files) != 1 or not files[0].is_dir():
            raise ValueError("name the folder to make: -o graph.elene (without it, a store is verified)")
        found = elene.GraphStore.open(files[0], verify=True)
        console.print(f"[bold green]{escape(str(files[0]))}[/]: {size_of(found)}, every array as it was written")
        return
    with clean_interrupts():
        ends = {"source": as_column(source), "target": as_column(target)}
        found = elene.GraphStore.build(
            files, output, nodes=nodes, label=label, **ends, header=header, memory=memory, progress=True
        )
    told, size = found.manifest, sum(about["bytes"] for about in found.manifest.arrays.values())
    console.print(
        f"[bold green]{escape(str(output))}[/]: {size_of(found)}, {decimal(size)}, {perf_counter() - started:,.1f} s\n"
        f"of {counted(told.rows, 'row')}: {counted(told.loops, 'self-loop')} and "
        f"{counted(told.repeated, 'repeated edge')} dropped",
        soft_wrap=True,
    )
