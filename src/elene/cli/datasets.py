"""``elene datasets``: what can be loaded by name, and where it would come from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from rich.text import Text

from elene.cli.common import console, say
from elene.cli.options import argument

if TYPE_CHECKING:
    from elene.datasets import DatasetInfo, Edition

_STYLES = {"cached": "green", "ELENE_DATA": "green", "generated": "green", "download": "yellow", "missing": "red"}


def datasets(
    name: Annotated[str | None, argument(metavar="NAME", help="Say everything about this one.")] = None,
) -> None:
    """List the data sets that elene.datasets.load knows: task, metric, sizes, and whether they are at hand.

    **Example:** elene datasets zinc12k
    """
    from elene.datasets import DATASETS
    from elene.datasets.registry import find

    if name is None:
        _print_all(DATASETS)
    else:
        _print_one(find(name))


def _print_all(infos: tuple[DatasetInfo, ...]) -> None:
    from elene.datasets.loading import cache_folder

    # No lines between columns: this must fit a terminal of 80.
    table = Table(box=None, header_style="bold cyan", padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("name", "task", "metric"):
        table.add_column(title, no_wrap=True)
    for title in ("graphs", "nodes", "edges"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("at hand", no_wrap=True)
    for family, members in groupby(infos, key=lambda info: info.family):
        table.add_row()
        table.add_row(f"[bold]{family}[/]")
        for info in members:
            table.add_row(info.name, _say_task(info), info.metric, *_sizes(info), _say_where(info))
    console.print(table)
    say("\nNodes and edges are averages of a graph, with ~ where only the paper gives them.")
    console.print(f"Cache: {cache_folder()}", style="dim", markup=False, soft_wrap=True)
    console.print(
        '\nIn Python  [cyan]elene.datasets.load("sr25")[/]    More about one  [cyan]elene datasets zinc12k[/]'
    )


def _print_one(info: DatasetInfo) -> None:
    rows: dict[str, str | Text] = {
        "task": f"{_say_task(info)}, judged by {info.metric}",
        "targets": ", ".join(info.targets),
        "split": {"fixed": "fixed", "folds": "ten folds", "all": "train is test"}[info.split],
        "node features": _say_features(info.node_categories),
        "edge features": _say_features(info.edge_categories),
        "at hand": _say_where(info),
        **{_say_origin(edition): _say_edition(edition) for edition in info.editions},
        "paper's average": "" if info.paper is None else f"{info.paper[0]} nodes, {info.paper[1] / 2} edges",
        "note": info.note,
        "credit": info.credit,
    }
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for what, value in rows.items():
        if value:
            grid.add_row(what, value)
    console.print(Text.assemble((info.title, "bold"), "\n"))
    console.print(grid, width=min(console.width, 100))


def _say_task(info: DatasetInfo) -> str:
    nouns = {"classification": "classes", "binary": "label", "regression": "targets", "multilabel": "labels"}
    noun = "target" if info.task == "regression" and info.outputs == 1 else nouns[info.task]
    return f"{info.outputs} {'node ' if info.level == 'node' else ''}{noun}"


def _sizes(info: DatasetInfo) -> tuple[str, str, str]:
    edition = info.editions[0]
    counts = (edition.nodes, edition.arcs)
    averages = []
    for i, divisor in enumerate((1, 2)):
        total = counts[i]
        if total is not None:
            averages.append(f"{total / divisor / edition.graphs:,.0f}")
        else:
            averages.append("" if info.paper is None else f"~{info.paper[i] / divisor:,.0f}")
    return f"{edition.graphs:,}", averages[0], averages[1]


def _say_where(info: DatasetInfo) -> Text:
    from elene.datasets.loading import where

    place = where(info).value
    return Text(place, _STYLES[place])


def _say_features(categories: tuple[int, ...] | None) -> str:
    if categories is None:
        return "continuous or none"
    return "none" if categories == (1,) else f"{', '.join(map(str, categories))} categories"


def _say_origin(edition: Edition) -> str:
    return "from the network" if edition.is_download else edition.origin


def _say_edition(edition: Edition) -> str:
    label = f"({edition.label}) " if edition.label else ""
    address = f" {edition.origin}" if edition.is_download else ""
    return f"{label}{edition.note}{address}"
