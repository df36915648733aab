"""``elene train``: a spec in, a trained model and a result out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from elene.cli.common import console, counted, error_console, make_table, resumable, working
from elene.cli.options import FoldOption, ResultsOption, RunsOption, SeedOption, ThreadsOption, argument, count
from elene.extras import needing

if TYPE_CHECKING:
    from elene.experiments.results.store import Result


def train(  # noqa: PLR0913 - Typer makes every option an argument
    ctx: typer.Context,
    spec: Annotated[
        str,
        argument(
            metavar="SPEC",
            help="A data set that the paper has results for, with its target behind a dot where it has several, such "
            "as **zinc12k** or **counting.triangle**; or a .toml file.",
        ),
    ],
    changes: Annotated[
        list[str] | None, argument(metavar="KEY=VALUE", help="Settings to change, such as training.epochs=5.")
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which model: a row of the paper's table. Without it they are listed.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 0,
    fold: FoldOption = 0,
    devices: Annotated[int, count(help="How many GPUs or, without any, processes share each batch.")] = 1,
    threads: ThreadsOption = None,
    results: ResultsOption = Path("results"),
    runs: RunsOption = Path("runs"),
) -> None:
    """Train a model and test it at its best validation epoch.

    A spec says what is trained on what and how; those of all rows of the paper's tables come with the library. The
    result is a small text file in the folder of results. Ctrl-C stops a run, and the same command goes on with it, to
    the same result.

    **Example:** elene train counting.triangle --row gin+elene-nd training.epochs=5
    """
    with needing("experiments", "training"), working("Loading libraries"):
        from elene.experiments import config
        from elene.experiments.results.machine import use_threads
        from elene.experiments.results.origin import origin_of
        from elene.experiments.results.store import Store, run_name
        from elene.experiments.train import runner
    use_threads(threads)
    wanted, store = config.load(spec, row, changes or []), Store(results)
    origin = origin_of(wanted.dataset.name)
    with resumable(ctx):
        result, made = runner.run_unless_stored(wanted, seed, fold, store=store, folder=runs, devices=devices)
    if not made:
        error_console.print("This run is in the results: nothing to do.")
    _say(result, store.path(wanted, origin, seed, fold), runs / run_name(wanted, origin, seed, fold))


def _say(result: Result, path: Path, folder: Path) -> None:
    spec, cost = result.spec, result.cost
    title = f"[bold]{escape(result.title)}[/], {escape(spec.row)}, seed {result.seed}, fold {result.fold}"
    size = f"{counted(cost.parameters, 'parameter')}, {counted(cost.epochs, 'epoch')} of {cost.seconds_per_epoch:.3g} s"
    console.print(f"{title}: {size}, {cost.peak_memory:,.0f} MB")
    checked = result.best.relabelled is not None
    table = make_table(result.metric, "epoch", "validation", "test", *(["relabelled"] if checked else []))
    for name, score in (("best", result.best), ("last", result.last)):
        values = [score.validation, score.test, *([score.relabelled] if score.relabelled is not None else [])]
        table.add_row(name, str(score.epoch + 1), *(f"{value:.4g}" for value in values))
    console.print(table)
    console.print(f"Result: {path}", markup=False, soft_wrap=True)
    if (folder / "model.pt").exists():
        console.print(f"Model and learning curve: {folder}", markup=False, soft_wrap=True)
