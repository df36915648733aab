"""``elene brec``: how many of BREC's pairs of graphs encodings tell apart, and models that are trained to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import elene
from elene.cli.common import console, counted, error_console, make_table, resumable, working
from elene.cli.options import ResultsOption, ThreadsOption, argument
from elene.extras import needing

if TYPE_CHECKING:
    from elene.brec.ledger import Ledger
    from elene.brec.tally import Tally
    from elene.datasets import BrecPair

PAIRS = "brec_pairs.tsv"


def brec(
    ctx: typer.Context,
    changes: Annotated[
        list[str] | None,
        argument(metavar="[KEY=VALUE]...", help="With --row, settings to change, such as model.elene.k=2."),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Train this model, such as gin+elene-ed.", show_default="encodings, nothing learned"
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
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="With --row, decides all that is random.", show_default="0")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A tab-separated file with the columns pair, category4, subcategory, g6_a, g6_b.",
            show_default=f"{PAIRS} in the folder ELENE_DATA",
        ),
    ] = None,
    threads: ThreadsOption = None,
    results: ResultsOption = Path("results"),
) -> None:
    """Count how many of BREC's 400 pairs of graphs are told apart, beside the published counts.

    Without --row by encodings, bare or refined, with nothing learned: seconds each. Counts of all pairs are kept, those
    of some pairs only shown.

    With --row by a model, by BREC's RPC protocol: a network is trained for each pair. It must tell new relabelled
    copies of the two graphs apart, but not copies of one of them. The result of each pair is kept, and the same command
    goes on where it was stopped.

    **Example:** elene brec --pairs cfi

    **Example:** elene brec --row gin+elene-ed --pairs 110-160
    """
    if row is None and (changes or seed is not None):
        raise ValueError("settings and --seed are for models that are trained: pass --row NAME, too, or leave them out")
    with needing("experiments", "elene brec"), working("Loading libraries"):
        from elene.brec.ledger import Ledger
        from elene.brec.standings import standings
        from elene.experiments import config
        from elene.experiments.results.origin import origin_of_pairs
    every = _read(file)
    chosen = _chosen(every, pairs)
    if row is None:
        _count(chosen, None if pairs else results, threads)
        return
    spec = config.load_network("brec", row, changes or [])
    ledger = Ledger.open(results, spec, origin_of_pairs(every), seed or 0)
    with resumable(ctx):
        _train(ledger, chosen, threads)
    console.print(_table(standings(results), "trained"))
    _say(ledger)


def _read(file: Path | None) -> list[BrecPair]:
    if file is None:
        folder = os.environ.get("ELENE_DATA")
        if not folder:
            raise ValueError(f"pass --file FILE, or let ELENE_DATA name a folder that holds {PAIRS}")
        file = Path(folder, PAIRS)
    return elene.datasets.read_brec(file)


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


def _progress() -> Progress:
    texts = ("{task.completed} / {task.total} pairs", "{task.fields[told]}")
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), *map(TextColumn, texts), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=error_console, transient=True)


def _count(pairs: list[BrecPair], results: Path | None, threads: int | None) -> None:
    """Count what encodings tell apart, kept in a folder or only shown."""
    from elene.brec.encodings import KIND, METHODS, Method, count_encodings
    from elene.brec.standings import measure, ranked, standings

    with _progress() as progress:
        task = progress.add_task("", total=len(pairs), told="")

        def report(method: Method, done: int) -> None:
            progress.update(task, description=f"{method.name:18}", completed=done)

        if results is None:
            found = ranked(list(count_encodings(pairs, METHODS, threads, report)))
        else:
            done = len(list(measure(pairs, results, METHODS, threads, report)))
            found = standings(results)
    console.print(_table(found, KIND))
    if results is not None and not done:
        error_console.print("All counts were in the results: nothing to do.")


def _train(ledger: Ledger, pairs: list[BrecPair], threads: int | None) -> None:
    """Train on the pairs that have no result yet, and show how far that is."""
    from elene.brec.ledger import run_pairs
    from elene.experiments.results.machine import use_threads

    use_threads(threads)
    with _progress() as progress:
        done = [ledger.pairs[pair.index] for pair in pairs if pair.index in ledger.pairs]
        told = sum(result.distinguished for result in done)
        task = progress.add_task(ledger.setting.spec.row, total=len(pairs), completed=len(done), told="")
        for result in run_pairs(ledger, pairs):
            told += result.distinguished
            progress.update(task, advance=1, told=f"{told} told apart")


def _say(ledger: Ledger) -> None:
    """What this model tells apart."""
    tally = ledger.tally()
    each = (tally.seconds or 0.0) / max(tally.of, 1)
    console.print(
        f"[bold]{escape(tally.method)}[/] tells {tally.total} of {counted(tally.of, 'pair')} apart, {each:.1f} s each."
    )
    if tally.unreliable:
        failed = counted(tally.unreliable, "pair")
        console.print(f"[bold yellow]Not reliable:[/] on {failed} copies of one graph differ, which do not count.")
    console.print(f"Result of each pair: {ledger.path}", markup=False, soft_wrap=True)


def _table(tallies: list[Tally], shown: str) -> Table:
    """How many pairs each method tells apart, those of one kind in bright letters."""
    from elene.brec.tally import CATEGORIES

    columns = {**CATEGORIES, "all": sum(CATEGORIES.values())}
    titles = [f"{name}\n{count}" for name, count in columns.items()]
    table = make_table("pairs told\napart, of", "", *titles, "seconds\n", text=2)
    for tally in tallies:
        seconds = "" if tally.seconds is None else f"{tally.seconds:.1f}"
        table.add_row(
            tally.method, tally.kind, *tally.cells("/"), seconds, style=None if tally.kind == shown else "dim"
        )
    return table
