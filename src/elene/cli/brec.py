"""``elene brec``: how many of BREC's pairs of graphs models are trained to tell apart."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from elene.cli.common import ARGUMENTS, ThreadsOption, console, counted, error_console, make_table, working
from elene.extras import needing

if TYPE_CHECKING:
    from elene.brec.ledger import Ledger
    from elene.brec.standings import Standing
    from elene.datasets import BrecPair

PAIRS = "brec_pairs.tsv"


def brec(
    ctx: typer.Context,
    row: Annotated[str, typer.Option(metavar="NAME", help="Which model, such as gin+elene-ed.", show_default=False)],
    changes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...", help="Settings to change, such as model.elene.k=2.", show_default=False
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="PAIRS",
            help="Only some pairs: 110-160 (160 not included), 7, Basic, cfi or 0-5,strongly_regular.",
            show_default="all",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Decides all that is random.")] = 0,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A tab-separated file with the columns pair, category4, subcategory, g6_a, g6_b.",
            show_default=f"{PAIRS} in the folder ELENE_DATA",
        ),
    ] = None,
    threads: ThreadsOption = None,
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="Where verdicts are kept; what is there is not run again.")
    ] = Path("results"),
) -> None:
    """Train a model to tell BREC's 400 pairs of graphs apart, by BREC's RPC protocol.

    A network is trained for each pair. It must tell new relabelled copies of the two graphs apart, but not copies of
    one of them. Verdicts are kept, and the same command goes on where it was stopped.

    What encodings tell apart with nothing learned: elene compare --brec FILE

    **Example:** elene brec --row gin+elene-ed --pairs 110-160
    """
    with needing("experiments", "training"), working("Loading libraries"):
        from elene.brec.ledger import Ledger
        from elene.brec.standings import standings
        from elene.experiments import config
        from elene.experiments.results.machine import use_threads
        from elene.experiments.results.origin import origin_of_pairs
    use_threads(threads)
    every = _read(file)
    chosen = _chosen(every, pairs)
    ledger = Ledger.open(results, config.load_network("brec", row, changes or []), origin_of_pairs(every), seed)
    try:
        _judge(ledger, chosen)
    except KeyboardInterrupt:
        again = shlex.join(["elene", *ctx.meta[ARGUMENTS]])
        kept = counted(len(ledger.verdicts), "verdict")
        error_console.print(f"Interrupted, {kept} kept. To go on:\n  {again}", markup=False, soft_wrap=True)
        raise typer.Exit(130) from None
    console.print(_table(standings(results)))
    _say(ledger)


def _read(file: Path | None) -> list[BrecPair]:
    from elene.datasets import read_brec

    if file is None:
        folder = os.environ.get("ELENE_DATA")
        if not folder:
            raise ValueError(f"pass --file FILE, or let ELENE_DATA name a folder that holds {PAIRS}")
        file = Path(folder, PAIRS)
    return read_brec(file)


def _chosen(pairs: list[BrecPair], text: str | None) -> list[BrecPair]:
    """The pairs that ``"0-5,strongly_regular"`` names."""
    if text is None:
        return pairs
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if first.isdecimal() and (last.isdecimal() if dash else not last):
            wanted = range(int(first), int(last) if dash else int(first) + 1)
            matching = {pair.index for pair in pairs if pair.index in wanted}
        else:
            matching = {pair.index for pair in pairs if part.lower() in (pair.category.lower(), pair.subcategory)}
        if not matching:
            names = ", ".join(dict.fromkeys(name for pair in pairs for name in (pair.category, pair.subcategory)))
            raise ValueError(f"--pairs {part!r} names no pair: pass numbers such as 7 or 110-160, or one of {names}")
        chosen |= matching
    return [pair for pair in pairs if pair.index in chosen]


def _judge(ledger: Ledger, pairs: list[BrecPair]) -> None:
    """Judge the pairs that have no verdict yet, and show how far that is."""
    from elene.brec.ledger import judge

    texts = ("{task.completed} / {task.total} pairs", "{task.fields[told]} told apart")
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), *map(TextColumn, texts), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=error_console, transient=True) as progress:
        done = [ledger.verdicts[pair.index] for pair in pairs if pair.index in ledger.verdicts]
        told = sum(verdict.distinguished for verdict in done)
        task = progress.add_task(ledger.setting.spec.row, total=len(pairs), completed=len(done), told=told)
        for verdict in judge(ledger, pairs):
            told += verdict.distinguished
            progress.update(task, advance=1, told=told)


def _say(ledger: Ledger) -> None:
    """What this model tells apart."""
    tally = ledger.tally()
    each = tally.seconds / max(tally.of, 1)
    console.print(
        f"[bold]{escape(tally.name)}[/] tells {tally.total} of {counted(tally.of, 'pair')} apart, {each:.1f} s each."
    )
    if tally.unreliable:
        failed = counted(tally.unreliable, "pair")
        console.print(f"[bold yellow]Not reliable:[/] on {failed} copies of one graph differ, which do not count.")
    console.print(f"Verdicts: {ledger.path}", markup=False, soft_wrap=True)


def _table(standings: list[Standing]) -> Table:
    """How many pairs each method tells apart."""
    from elene.brec.standings import CATEGORIES

    columns = {**CATEGORIES, "all": sum(CATEGORIES.values())}
    titles = [f"{name}\n{count}" for name, count in columns.items()]
    table = make_table("pairs told\napart, of", "", *titles, text=2)
    for standing in standings:
        told = {**standing.told_apart, "all": standing.total}
        tried = {**standing.tried, "all": sum(standing.tried.values())}
        cells = [_cell(told.get(name, 0), tried.get(name, 0), count) for name, count in columns.items()]
        table.add_row(standing.method, standing.kind, *cells, style=None if standing.kind == "trained" else "dim")
    return table


def _cell(told: int, tried: int, count: int) -> str:
    if not tried:
        return ""
    return str(told) if tried == count else f"{told}/{tried}"
