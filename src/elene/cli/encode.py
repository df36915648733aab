"""``elene encode``: a graph file in, a file of encodings out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

import elene
from elene.cli.common import clean_interrupts, console, counted, error_console, say_again, size_of, working
from elene.cli.options import FileOptions, GraphArgument, Level, depths, flag, parse_depths, read_graph, reading_files
from elene.cli.parts import encode_parts

if TYPE_CHECKING:
    from elene.encoding.spec import EncodingSpec
    from elene.io.writing import Written

Degrees = StrEnum("Degrees", ("relative", "absolute"))
Form = StrEnum("Form", ("marginal", "joint", "type", "product"))
run_option = partial(typer.Option, rich_help_panel="How it is run")


@reading_files
def encode(  # noqa: PLR0913 - Typer makes every option an argument
    ctx: typer.Context,
    how: FileOptions,
    graph: GraphArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file to write. **.npz**: a sparse matrix that elene.Encoding.load reads. "
            "**.parquet**: a tidy table, one row for each count. **.csv**: one row for each node, edge or pair. "
            "From a graph store, a name without an ending is a folder of Parquet parts.",
            show_default=False,
        ),
    ],
    k: Annotated[list[str] | None, depths(show_default="2")] = None,
    level: Annotated[Level, typer.Option(help="What gets a row.")] = Level.node,
    form: Annotated[
        Form,
        typer.Option(
            help="**marginal** counts closer, degree and farther apart; **joint** has a column for each "
            "quadruplet, **type** one for each distinct encoding; **product** multiplies the vectors of an edge's ends."
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
        int | None, run_option(min=1, metavar="N", help="How many threads.", show_default="all cores")
    ] = None,
    chunk: Annotated[
        int | None,
        run_option(min=1, metavar="N", help="Rows computed at a time.", show_default="about a second's worth"),
    ] = None,
    resume: Annotated[bool, run_option("--resume", metavar="", help="Go on where an interrupted run stopped.")] = False,
    wide: Annotated[bool, flag("--wide", help="A row for each node, edge or pair in Parquet, too.")] = False,
    compact: Annotated[bool, flag("--compact", help="The same without the columns that are zero everywhere.")] = False,
    workers: Annotated[
        int | None,
        run_option(min=1, metavar="N", help="For a folder of parts: so many processes of this machine make them."),
    ] = None,
    scheduler: Annotated[
        str | None,
        run_option(metavar="ADDRESS", help="The same on the Dask cluster at this address, as tcp://host:8786."),
    ] = None,
) -> None:
    """Encode the nodes, edges or pairs of a graph into a file.

    Around each node, all nodes within k hops are counted by their distance and their neighbours: closer to it, all, and
    farther from it. An edge counts those that are within k hops of both its ends.

    The output may be larger than memory: it is computed in chunks, which a folder OUTPUT.parts keeps until all are
    there. Ctrl-C stops it after the chunk under way (twice: at once); --resume goes on.

    A graph store (elene store) may be larger than memory. A folder of parts always goes on where it was stopped.

    **Example:** elene encode edges.csv -k 1,2 --level edge -o features.parquet
    """
    from elene.encoding.spec import EncodingSpec
    from elene.io.writing import check_output, parts_folder, write_encoding

    spec = EncodingSpec.of(parse_depths(k, (2,)), level.value, degrees.value, form.value, max_degree, radius)
    layout = "compact" if compact else "wide" if wide else None
    if workers is not None or scheduler is not None or (Path(graph).is_dir() and not output.suffix):
        if layout is not None or chunk is not None:
            raise ValueError("--wide, --compact and --chunk are for one file: leave them out, or name a file")
        encode_parts(Path(graph), spec, output, workers, scheduler, threads)
        return
    file = check_output(output, layout)
    read = read_graph(graph, how, output)
    error_console.print(f"{graph}: {size_of(read)}", markup=False, soft_wrap=True)
    parts = parts_folder(file)
    _compile(spec)
    started, progress = perf_counter(), _Progress(spec.level, parts)
    try:
        with progress, _finishing_chunks(progress), clean_interrupts():
            written = write_encoding(
                read, spec, file, chunk=chunk, resume=resume, threads=threads, report=progress.report, layout=layout
            )
    except KeyboardInterrupt:
        if not progress.tasks:
            raise
        done, total = progress.tasks[0].completed, progress.tasks[0].total
        told = f"Interrupted: {done:,.0f} of {total:,.0f} rows are done and kept in {parts}."
        error_console.print(told, markup=False, soft_wrap=True, end=" ")
        say_again(ctx, "--resume")
        raise typer.Exit(130) from None
    _say_what_is_there(file, spec, written, perf_counter() - started)


def _compile(spec: EncodingSpec) -> None:
    """Run the kernels once on next to nothing, so that the clock of the progress bar measures encoding only."""
    from elene.encoding.encoding import encode_rows, find_rows

    with working("Compiling (first run only)"):
        tiny = elene.Graph.from_edges([(0, 1), (1, 2)])
        small = replace(spec, depths=tuple({min(depth, 2): None for depth in spec.depths}), max_degree=None)
        encode_rows(tiny, small, find_rows(tiny, small, None), 1)


class _Pace(ProgressColumn):
    """Rows a second, and the time left; in the end, the time it took."""

    stopping = False

    def render(self, task: Task) -> Text:
        if self.stopping:
            return Text("stopping after this chunk", "yellow")
        speed = task.finished_speed or task.speed
        rows = f"{speed:,.0f} rows/s, " if speed is not None and task.description == "Encoding" else ""
        if task.finished_time is not None:
            return Text(f"{rows}{task.finished_time:.1f} s", "cyan")
        left = "" if task.time_remaining is None else f"{timedelta(seconds=int(task.time_remaining))} left"
        return Text(f"{rows}{left}", "cyan")


class _Progress(Progress):
    """A bar for encoding, then one for writing."""

    def __init__(self, level: str, parts: Path) -> None:
        super().__init__(
            TextColumn("{task.description:8}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f} / {task.total:,.0f} {task.fields[unit]}"),
            pace := _Pace(),
            console=error_console,
        )
        self.level, self.parts, self.pace = level, parts, pace

    def report(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is; between two chunks, interrupts are safe."""
        if stage == "discarding":
            note = f"{self.parts} holds an unfinished run: starting over, since --resume is not given"
            self.console.print(note, markup=False, soft_wrap=True)
            return
        for task in self.tasks:
            if task.description == stage.capitalize():
                self.update(task.id, completed=done)
                break
        else:
            unit = f"{self.level}s" if stage == "encoding" else "steps"
            self.add_task(stage.capitalize(), total=total, completed=done, unit=unit)
        if self.pace.stopping:
            raise KeyboardInterrupt


@contextmanager
def _finishing_chunks(progress: _Progress) -> Iterator[None]:
    """Let the first Ctrl-C wait until the chunk under way is finished and kept; a second one is as usual."""
    usual = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: Any) -> None:
        progress.pace.stopping = True
        signal.signal(signal.SIGINT, usual)

    if usual is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _say_what_is_there(target: Path, spec: EncodingSpec, written: Written, seconds: float) -> None:
    name, size = escape(str(target)), decimal(target.stat().st_size)
    reader = {".npz": "elene.Encoding.load", ".parquet": "pandas.read_parquet", ".csv": "pandas.read_csv"}
    console.print(
        f"[bold green]{name}[/]: {counted(written.rows, spec.level)} x {counted(written.columns, 'column')}, "
        f"{counted(written.counts, 'count')}, {size}, {seconds:,.1f} s\n"
        f'Read it with [cyan]{reader[target.suffix]}("{name}")[/]',
        soft_wrap=True,
    )
    deeper = [depth for depth in spec.depths if depth > written.reach >= 0]
    if deeper and spec.form not in ("product", "type"):
        told = " ".join(f"-k {depth}" for depth in deeper)
        console.print(f"No node is farther than {counted(written.reach, 'hop')}: {told} counts the same as that depth.")
