"""``elene encode``: a graph file in, a file of encodings out."""

from __future__ import annotations

import shlex
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from elene.cli.common import (
    ARGUMENTS,
    GraphArgument,
    Level,
    console,
    counted,
    error_console,
    read_graph,
    size_of,
    working,
)

if TYPE_CHECKING:
    from elene.spec import Spec
    from elene.writing import Written


class Degrees(StrEnum):
    """What is kept of each node."""

    relative = "relative"
    absolute = "absolute"


class Form(StrEnum):
    """How a multiset becomes a vector."""

    marginal = "marginal"
    joint = "joint"
    product = "product"


def encode(  # noqa: PLR0913 - Typer makes every option an argument
    ctx: typer.Context,
    graph: GraphArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file to write. **.npz**: a sparse matrix that elene.Encoding.load reads. "
            "**.parquet**: a tidy table, one row for each count.",
            show_default=False,
        ),
    ],
    k: Annotated[
        list[int] | None,
        typer.Option("-k", metavar="K", help="How many hops to look; may be repeated.", show_default="2"),
    ] = None,
    level: Annotated[Level, typer.Option(help="What gets a row.")] = Level.node,
    form: Annotated[
        Form,
        typer.Option(
            help="**marginal** counts closer, degree and farther apart; **joint** has a column for each "
            "quadruplet; **product** multiplies the vectors of an edge's ends."
        ),
    ] = Form.marginal,
    degrees: Annotated[
        Degrees, typer.Option(help="**absolute** keeps only distance and degree (IGEL).")
    ] = Degrees.relative,
    max_degree: Annotated[
        int | None,
        typer.Option(metavar="N", help="Count larger values as this one.", show_default="the graph's largest degree"),
    ] = None,
    radius: Annotated[
        int | None,
        typer.Option(metavar="N", help="For pairs: the largest distance.", show_default="all connected pairs"),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many threads.", show_default="all cores")
    ] = None,
    chunk: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rows computed at a time.", show_default="about a second's worth"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Go on where an interrupted run stopped.")
    ] = False,
) -> None:
    """Encode the nodes, edges or pairs of a graph into a file.

    Around each node, all nodes within k hops are counted by their distance and their neighbours: closer to it, all, and
    farther from it. An edge counts those that are within k hops of both its ends.

    The output may be larger than memory: it is computed in chunks, which a folder OUTPUT.parts keeps until all are
    there. Stop it with Ctrl-C at any time, and go on with --resume.

    **Example:** elene encode edges.csv -k 1 -k 2 --level edge -o features.parquet
    """
    from elene.spec import Spec
    from elene.writing import check_output, parts_folder, write_encoding

    spec = Spec.of(tuple(k or [2]), level.value, degrees.value, form.value, max_degree, radius)
    target = check_output(output)
    read = read_graph(graph)
    error_console.print(f"{graph}: {size_of(read)}", markup=False, soft_wrap=True)
    parts = parts_folder(target)
    if parts.exists() and not resume:
        error_console.print(
            f"{parts} holds an unfinished run: starting over, since --resume is not given", soft_wrap=True
        )
    _compile(spec)
    started, progress = time.perf_counter(), _Progress(spec.level)
    try:
        with progress:
            written = write_encoding(
                read, spec, target, chunk=chunk, resume=resume, threads=threads, report=progress.report
            )
    except KeyboardInterrupt:
        _say_how_to_resume(ctx, progress, parts)
        raise typer.Exit(130) from None
    _say_what_is_there(target, spec, written, time.perf_counter() - started)


def _compile(spec: Spec) -> None:
    """Run the kernels once on next to nothing, so that the clock of the progress bar measures encoding only."""
    from elene.encoding import encode_rows, find_rows
    from elene.graph import Graph

    with working("Compiling (first run only)"):
        tiny = Graph.from_edges([(0, 1), (1, 2)])
        encode_rows(tiny, spec, find_rows(tiny, spec, None), 1)


class _Speed(ProgressColumn):
    """Rows a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None or task.description != "Encoding" else f"{speed:,.0f} rows/s", "cyan")


class _Progress(Progress):
    """A bar for encoding, then one for writing."""

    def __init__(self, level: str) -> None:
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.completed:,.0f} / {task.total:,.0f} {task.fields[unit]}"),
            _Speed(),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=error_console,
        )
        self.level = level

    def report(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        for task in self.tasks:
            if task.description == stage.capitalize():
                self.update(task.id, completed=done)
                return
        unit = f"{self.level}s" if stage == "encoding" else "steps"
        self.add_task(stage.capitalize(), total=total, completed=done, unit=unit)


def _say_how_to_resume(ctx: typer.Context, progress: _Progress, parts: Path) -> None:
    arguments = [argument for argument in ctx.meta[ARGUMENTS] if argument != "--resume"]
    done, total = (progress.tasks[0].completed, progress.tasks[0].total) if progress.tasks else (0, 0)
    error_console.print(
        f"Interrupted: {done:,.0f} of {total:,.0f} rows are done and kept in {parts}. To go on:", soft_wrap=True
    )
    error_console.print(f"  {shlex.join(['elene', *arguments, '--resume'])}", markup=False, soft_wrap=True)


def _say_what_is_there(target: Path, spec: Spec, written: Written, seconds: float) -> None:
    size = target.stat().st_size / 1e6
    console.print(
        f"[bold green]{target}[/]: {counted(written.rows, spec.level)} x {counted(written.columns, 'column')}, "
        f"{counted(written.counts, 'count')}, {size:,.1f} MB, {seconds:,.1f} s",
        soft_wrap=True,
    )
    how = f'elene.Encoding.load("{target}")' if target.suffix == ".npz" else f'pandas.read_parquet("{target}")'
    console.print(f"Read it with [cyan]{how}[/]", soft_wrap=True)
