"""``elene encode`` from a graph store into a folder of Parquet parts, here or on a cluster."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import elene
from elene.cli.common import clean_interrupts, complain, console, counted, error_console, size_of

if TYPE_CHECKING:
    from elene.encoding.spec import EncodingSpec


def encode_parts(
    graph: Path, spec: EncodingSpec, output: Path, workers: int | None, scheduler: str | None, threads: int | None
) -> None:
    """Make all parts that are missing, and say how far it is.

    They are made by so many processes of this machine, on the cluster of a scheduler, or by this process.
    """
    from elene.cluster import encode

    if workers is not None and scheduler is not None:
        raise ValueError("--workers is for this machine, and --scheduler for a cluster: leave one of them out")
    if not graph.is_dir():
        raise ValueError(f"{graph} is not a graph store: build one with elene store {graph} -o graph.elene")
    store, started = elene.GraphStore.open(graph), perf_counter()
    error_console.print(f"{graph}: {size_of(store)}", markup=False, soft_wrap=True)
    options = {name: getattr(spec, name) for name in ("level", "degrees", "form", "max_degree", "radius")}
    try:
        with ExitStack() as stack, clean_interrupts():
            where = _where(workers, scheduler, stack)
            bar = stack.enter_context(_bar(spec.level))
            task = bar.add_task("Encoding", total=None, rows=0)

            def report(done: int, total: int, rows: int) -> None:
                bar.update(task, completed=done, total=total, rows=rows)

            found = encode(store, spec.depths, output, threads=threads, report=report, **where, **options)
    except KeyboardInterrupt:
        complain("stopped:", "bold yellow", f"{output} keeps the parts that are done; the same command goes on")
        raise
    name = escape(str(output))
    console.print(
        f"[bold green]{name}[/]: {counted(found.rows, spec.level)}, {counted(found.counts, 'count')} in "
        f"{counted(found.parts, 'part')}, {found.made:,} of them made now, {decimal(found.size)}, "
        f'{perf_counter() - started:,.1f} s\nRead it with [cyan]pandas.read_parquet("{name}")[/]',
        soft_wrap=True,
    )


def _where(workers: int | None, scheduler: str | None, stack: ExitStack) -> dict[str, Any]:
    """What to tell :func:`elene.cluster.encode` about the place."""
    if scheduler is None and workers is None:
        return {"workers": 0}
    from elene.extras import need

    need("cluster", "--workers and --scheduler", "distributed")
    if scheduler is None:
        return {"workers": workers}
    from distributed import Client

    try:
        client = stack.enter_context(Client(scheduler))
    except (OSError, ValueError) as error:
        raise OSError(f"--scheduler {scheduler}: no Dask scheduler answers there ({error})") from None
    error_console.print(f"dashboard: {client.dashboard_link}", markup=False, soft_wrap=True)
    return {"client": client}


def _bar(level: str) -> Progress:
    return Progress(
        TextColumn("{task.description:8}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:,.0f} / {task.total} parts, {task.fields[rows]:,} " + f"{level}s"),
        TimeRemainingColumn(),
        console=error_console,
    )
