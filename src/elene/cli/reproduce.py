"""``elene reproduce``: a table of the paper, run by run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from elene.cli.common import (
    clean_interrupts,
    console,
    counted,
    error_console,
    make_table,
    resumable,
    say_again,
    working,
)
from elene.cli.options import ResultsOption, RunsOption, ThreadsOption, argument, count, flag
from elene.extras import needing

if TYPE_CHECKING:
    from elene.experiments.results.store import Result, Store
    from elene.experiments.results.tables import Table
    from elene.experiments.schedule.execution import Event
    from elene.experiments.schedule.planning import PlannedRun

COST, ABLATION = "cost", "ablation"
MINUTE = 60.0


def reproduce(  # noqa: PLR0913 - Typer makes every option an argument
    ctx: typer.Context,
    table: Annotated[
        str,
        argument(
            metavar="TABLE",
            help="expressivity, counting, properties, proximity, benchmarks or tu; cost, for seconds and memory; "
            "or ablation, for one setting changed at a time (--rows then names settings). For BREC: elene brec.",
        ),
    ],
    changes: Annotated[
        list[str] | None,
        argument(
            metavar="[KEY=VALUE]...",
            help="Settings to change in all rows alike, such as training.epochs=20; reports say so.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="MINUTES", help="Stop then; the same command goes on.", show_default="no limit"),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these models, such as gin,gin+elene-nd.", show_default="the paper's"),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these data sets, such as counting.star.", show_default="the paper's"),
    ] = None,
    seeds: Annotated[
        int | None,
        count(help="How many runs of each row: seeds or, where there are, folds.", show_default="the paper's"),
    ] = None,
    chosen: Annotated[
        bool, flag("--chosen", help="Use the settings that elene search found best, for those rows that were searched.")
    ] = False,
    threads: ThreadsOption = None,
    results: ResultsOption = Path("results"),
    runs: RunsOption = Path("runs"),
) -> None:
    """Run what is missing of a table of the paper, every row once before any row twice.

    No run is started that would not end within the budget, as far as that is known; one that is running when it is used
    up stops, and goes on with the next call. Ctrl-C does the same. Several of these commands share the work: none takes
    a run that another one is at. What other code made, by its commit, or other data is run again.

    **Example:** elene reproduce expressivity --budget 60
    """
    with needing("experiments", "training"), working("Loading libraries"):
        from elene.experiments.results.machine import use_threads

        work = _undertaking(table, changes or [], _names(rows), _names(datasets), seeds, chosen, results)
    use_threads(threads)
    with resumable(ctx):
        states = _run(work, runs, None if budget is None else budget * MINUTE)
    work.show()
    if states["stopped"] or states["too long"]:
        error_console.print(f"The budget is used up: {_say_states(states)}.")
        say_again(ctx)
    elif states["failed"]:
        raise typer.Exit(1)


class _Undertaking(NamedTuple):
    """What is to be run, how, where results are kept, and what shows them in the end."""

    jobs: list[PlannedRun]
    perform: Callable[[PlannedRun, Path], Result]
    store: Store
    show: Callable[[], None]


def _undertaking(
    name: str, changes: list[str], rows: list[str], datasets: list[str], seeds: int | None, chosen: bool, results: Path
) -> _Undertaking:
    """What the arguments of the command ask for."""
    from elene.experiments.results.choices import Choices
    from elene.experiments.results.store import Store
    from elene.experiments.results.tables import find, tables
    from elene.experiments.schedule import ablation, cost, planning
    from elene.validation import check_choice

    if name == "brec":
        raise ValueError("BREC is a command of its own, with nothing learned or a model trained: elene brec --help")
    check_choice("TABLE", name, [*(known.name for known in tables()), COST, ABLATION])
    if name in (COST, ABLATION) and (changes or chosen):
        raise ValueError(f"{name} has settings of its own: pass neither KEY=VALUE nor --chosen")
    if name == ABLATION:
        jobs, store = ablation.plan_ablation(rows, datasets, seeds), Store(results / ablation.FOLDER)
        return _Undertaking(jobs, planning.perform, store, partial(_write_ablation, results))
    if name == COST:
        store = Store(results / cost.FOLDER)
        return _Undertaking(cost.plan_cost(rows, datasets), cost.perform, store, partial(_print_cost, store))
    table, store, choices = find(name), Store(results), Choices(results) if chosen else None
    jobs = planning.plan_table(table, rows, datasets, seeds, changes, choices)
    return _Undertaking(jobs, planning.perform, store, partial(_print_table, table, store))


def _names(text: str | None) -> list[str]:
    return [] if text is None else [name.strip() for name in text.split(",")]


def _run(work: _Undertaking, folder: Path, budget: float | None) -> Counter[str]:
    """Run what is missing, say what happens, and count what became of it."""
    from elene.experiments.schedule.execution import Clock, execute
    from elene.experiments.schedule.planning import missing

    def run(job: PlannedRun) -> Result:
        with clean_interrupts():
            return work.perform(job, folder)

    left = missing(work.jobs, work.store)
    limit = "" if budget is None else f", {budget / MINUTE:g} minutes"
    error_console.print(f"{counted(len(work.jobs), 'run')}, {len(left)} of them to be done{limit}")
    states: Counter[str] = Counter()

    def tell(event: Event) -> None:
        _say_event(event, states, len(left))
        states[event.state] += 1

    execute(left, work.store, run, Clock(work.store, folder).estimate, tell, budget)
    return states


def _say_event(event: Event, states: Counter[str], total: int) -> None:
    if event.state == "starts":
        expected = "" if event.seconds is None else f"  about {_say_time(event.seconds)}"
        error_console.print(f"[dim]{states['starts'] + 1}/{total}[/]  [bold]{event.job}[/]{expected}")
    elif event.result is not None:
        score, metric = event.result.best.test, event.result.metric
        error_console.print(f"      {metric} {score:.4g}  [dim]{_say_time(event.seconds or 0)}[/]")
    elif event.state == "taken":
        error_console.print(f"      [bold]{event.job}[/] is left out: {event.error}", soft_wrap=True)
    elif event.state == "known":
        error_console.print(f"      [bold]{event.job}[/] was done by another process meanwhile")
    elif event.error is not None:
        error_console.print(f"      [red]failed:[/] {event.error or 'there is not enough memory'}", soft_wrap=True)
    elif event.state == "stopped":
        error_console.print("      stopped; it goes on next time")


def _say_time(seconds: float) -> str:
    """A duration in words.

    >>> _say_time(42), _say_time(600), _say_time(9000)
    ('42 s', '10 min', '2.5 h')
    """
    for unit, length in (("h", 3600.0), ("min", MINUTE)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s"


def _say_states(states: Counter[str]) -> str:
    return ", ".join(
        f"{states[state]} {state}" for state in ("done", "stopped", "too long", "taken", "failed") if states[state]
    )


def _print_table(table: Table, store: Store) -> None:
    """In the shape of the paper's table, our numbers above the published ones."""
    from elene.experiments.results.summary import summarise

    colours = {"better": "green", "worse": "red"}
    [(wide, entries)] = [found for found in summarise(store) if found[0].name == table.name]
    grid = make_table(wide.title, *(f"{column.title}\n{column.unit}" for column in wide.columns))
    across = len(wide.columns)
    for i in range(0, len(entries), across):
        cells = []
        for entry in entries[i : i + across]:
            style = colours.get(entry.versus_paper, "bold")
            ours = f"[{style}]{entry.ours}[/]" if entry.results else "[dim]-[/]"
            budget = f"{entry.epochs} epochs" if entry.shortened else ""
            cells.append("\n".join([ours, *(f"[dim]{told}[/]" for told in (entry.paper, budget) if told)]))
        grid.add_row(entries[i].line.title, *cells)
    console.print(grid)
    console.print("Ours, and below it the paper's. More: [cyan]elene report[/]")


def _write_ablation(results: Path) -> None:
    from elene.experiments.report.ablation import gather, write_ablation
    from elene.experiments.results.store import Store
    from elene.experiments.schedule.ablation import FOLDER
    from elene.experiments.schedule.steps import time_points

    with working("Timing steps of all models side by side"):
        for panel, outcomes in gather(Store(results / FOLDER)).items():
            time_points(results / FOLDER, panel, [one.point for one in outcomes])
    console.print(str(write_ablation(results, results)), markup=False, soft_wrap=True)


def _print_cost(store: Store) -> None:
    from elene.experiments.report.blocks import Grid
    from elene.experiments.report.cost import compose

    for block in compose(store):
        if isinstance(block, Grid):
            grid = make_table(*block.header)
            for row in block.rows:
                grid.add_row(*(f"{cell.text}\n[dim]{cell.note}[/]" if cell.note else cell.text for cell in row))
            console.print(grid)
