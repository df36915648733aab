"""``elene search``: which settings are best on the validation graphs."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elene.cli.common import ARGUMENTS, ThreadsOption, console, counted, error_console, make_table, working
from elene.extras import needing

if TYPE_CHECKING:
    from rich.table import Table

    from elene.experiments.search import Search

SHOWN = 10  # rows of the table


def search(  # noqa: PLR0913 - Typer makes every option an argument
    ctx: typer.Context,
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="What to train: a data set or a .toml file, as in **elene train**.", show_default=False
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=V1,V2,...]...",
            help="Values to try, such as model.elene.k=1,2,3; a single value is used in all trials.",
            show_default="the paper's grid",
        ),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which model: a row of the paper's table.", show_default="lists them"),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Try only so many combinations; a Parzen estimator proposes them.",
            show_default="all",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Decides all that is random.")] = 0,
    fold: Annotated[int, typer.Option(min=0, metavar="N", help="Which of the data set's splits.")] = 0,
    threads: ThreadsOption = None,
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="Where trials are kept; what is there is not run again.")
    ] = Path("results"),
    runs: Annotated[
        Path, typer.Option(metavar="DIR", help="Where learning curves, checkpoints and trained models go.")
    ] = Path("runs"),
) -> None:
    """Train a model with several settings, and find those that are best on the validation graphs.

    Test graphs have no say. Ctrl-C stops a search, and the same command goes on with it.

    **Example:** elene search zinc12k --row gin+elene-nd model.elene.k=1,2,3 training.epochs=50
    """
    with needing("experiments", "searching"), working("Loading libraries"):
        from elene.experiments.machine import use_threads
        from elene.experiments.search import Search, plan_of
    use_threads(threads)
    found = Search(plan_of(spec, row, settings or [], seed, fold), results, runs)
    try:
        _run(found, trials)
    except KeyboardInterrupt:
        again = f"Interrupted. To go on with it:\n  {shlex.join(['elene', *ctx.meta[ARGUMENTS]])}"
        error_console.print(again, markup=False, soft_wrap=True)
        raise typer.Exit(130) from None
    console.print(_table(found))
    _say(found)


def _run(search: Search, trials: int | None) -> None:
    goal = search.goal(trials)
    left_out = math.prod(map(len, search.plan.grid.values())) - len(search.plan.valid)
    if left_out:
        error_console.print(f"{counted(left_out, 'combination')} that the model cannot have left out.")
    if len(search.known) >= goal:
        error_console.print("All trials are in the results: nothing to do.")
    for values, validation in search.run(trials):
        told = " ".join(search.plan.changes_of(values)[len(search.plan.changes) :])
        line = f"{len(search.known)} of {goal}: {told}: validation {search.metric} {validation:.4g}"
        error_console.print(line, markup=False, soft_wrap=True)


def _table(search: Search) -> Table:
    ranking = search.ranking
    table = make_table(*search.plan.grid, f"validation {search.metric}", text=0)
    for values, validation in ranking[:SHOWN]:
        table.add_row(*values, f"{validation:.4g}")
    if len(ranking) > SHOWN:
        table.add_row(f"and {len(ranking) - SHOWN} more")
    return table


def _say(search: Search) -> None:
    """The best settings, and how to train with them."""
    plan = search.plan
    best, _ = search.ranking[0]
    row = [] if plan.row is None else ["--row", plan.row]
    numbers = [
        part for name in ("seed", "fold") if (number := getattr(plan, name)) for part in (f"--{name}", str(number))
    ]
    command = ["elene", "train", plan.source, *row, *numbers, *plan.changes_of(best)]
    console.print(
        f"The best of {counted(len(search.known), 'trial')} ({'lower' if search.lower else 'higher'} is better):"
    )
    console.print(f"  {shlex.join(command)}", markup=False, soft_wrap=True)
