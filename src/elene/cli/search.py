"""``elene search``: which settings are best on the validation graphs."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elene.cli.common import console, counted, error_console, make_table, resumable, working
from elene.cli.options import FoldOption, ResultsOption, RunsOption, SeedOption, ThreadsOption, argument, count, flag
from elene.extras import needing

if TYPE_CHECKING:
    from rich.table import Table

    from elene.experiments.search.search import Search

SHOWN = 10  # rows of the table


def search(  # noqa: PLR0913 - Typer makes every option an argument
    ctx: typer.Context,
    spec: Annotated[
        str, argument(metavar="SPEC", help="What to train: a data set or a .toml file, as in **elene train**.")
    ],
    settings: Annotated[
        list[str] | None,
        argument(
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
        int | None, count(help="Try only so many combinations; a Parzen estimator proposes them.", show_default="all")
    ] = None,
    in_turn: Annotated[
        bool, flag("--in-turn", help="Try one setting after the other, and keep the best value of each.")
    ] = False,
    epochs: Annotated[
        int | None,
        count(
            help="A shorter schedule: so many epochs, with the learning rate halved in proportion.",
            show_default="the paper's",
        ),
    ] = None,
    seed: SeedOption = 0,
    fold: FoldOption = 0,
    threads: ThreadsOption = None,
    results: ResultsOption = Path("results"),
    runs: RunsOption = Path("runs"),
) -> None:
    """Train a model with several settings, and find those that are best on the validation graphs.

    Test graphs have no say. Ctrl-C stops a search, and the same command goes on with it. What was tried and chosen is
    kept in the folder of results, for **elene reproduce --chosen**.

    **Example:** elene search zinc12k --row gin+elene-nd --epochs 30 --in-turn
    """
    with needing("experiments", "searching"), working("Loading libraries"):
        from elene.experiments.results.choices import Choices
        from elene.experiments.results.machine import use_threads
        from elene.experiments.search.search import Search
        from elene.experiments.search.space import search_space
    if in_turn and trials is not None:
        raise ValueError("--trials and --in-turn are two ways to try some of the combinations: choose one")
    use_threads(threads)
    found = Search(search_space(spec, row, settings or [], seed, fold, epochs), results, runs)
    with resumable(ctx):
        _run(found, trials, in_turn)
    console.print(_table(found))
    _say(found)
    kept = Choices(results).add(found.choice(_how(found, trials, in_turn)))
    console.print(f"Kept for elene reproduce --chosen: {kept}", markup=False, soft_wrap=True)


def _how(search: Search, trials: int | None, in_turn: bool) -> str:
    if in_turn:
        return "one setting after the other"
    whole = search.goal(trials) == len(search.space.valid)
    return "all combinations" if whole else "combinations that a Parzen estimator proposed"


def _run(search: Search, trials: int | None, in_turn: bool) -> None:
    goal, known = search.goal(trials, in_turn), len(search.known)
    left_out = math.prod(map(len, search.space.grid.values())) - len(search.space.valid)
    if left_out:
        error_console.print(f"{counted(left_out, 'combination')} that the model cannot have left out.")
    for values, validation in search.run_in_turn() if in_turn else search.run(trials):
        told = " ".join(search.space.changes_of(values)[len(search.space.changes) :])
        line = f"{len(search.known)} of {goal}: {told}: validation {search.metric} {validation:.4g}"
        error_console.print(line, markup=False, soft_wrap=True)
    if len(search.known) == known:
        error_console.print("All trials are in the results: nothing to do.")


def _table(search: Search) -> Table:
    ranking = search.ranking
    table = make_table(*search.space.grid, f"validation {search.metric}", text=0)
    for values, validation in ranking[:SHOWN]:
        table.add_row(*values, f"{validation:.4g}")
    if len(ranking) > SHOWN:
        table.add_row(f"and {len(ranking) - SHOWN} more")
    return table


def _say(search: Search) -> None:
    """The best settings, and how to train with them."""
    space = search.space
    best, _ = search.ranking[0]
    row = [] if space.row is None else ["--row", space.row]
    numbers = [
        part for name in ("seed", "fold") if (number := getattr(space, name)) for part in (f"--{name}", str(number))
    ]
    command = ["elene", "train", space.source, *row, *numbers, *space.changes_of(best)]
    console.print(
        f"The best of {counted(len(search.known), 'trial')} ({'lower' if search.lower else 'higher'} is better):"
    )
    console.print(f"  {shlex.join(command)}", markup=False, soft_wrap=True)
