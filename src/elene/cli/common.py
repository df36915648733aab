"""What the commands share: where they print, how they read graphs, and how they speak."""

from __future__ import annotations

import inspect
import logging
import os
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TextIO, get_type_hints

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from elene.graph import Graph

ARGUMENTS = "elene.arguments"
TEXT_WIDTH = 100

# Results go to standard output; progress, notes and errors do not get in their way.
console = Console(highlight=False)
error_console = Console(stderr=True, highlight=False)

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A graph file: an edge list (.csv .tsv .txt .parquet), .npz, .g6, .graphml, .gml, .gexf, .net, .mtx or "
        ".metis; text files may end in .gz or .zst. In a file of several graphs, FILE#0 is the first; - is an edge "
        "list from standard input.",
        show_default=False,
    ),
]


ThreadsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many threads to compute with; with 1, as many commands as there are cores run well side by side.",
        show_default="as many as torch likes",
    ),
]


FILE_PANEL = "How the file is read"
DEPTHS_HELP = "How many hops to look; several as 1,2 or -k 1 -k 2."

ResultsOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Where results are kept; what is there is not run again.")
]
RunsOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Where learning curves, checkpoints and trained models go.")
]
SeedOption = Annotated[int, typer.Option(min=0, metavar="N", help="Decides all that is random.")]
FoldOption = Annotated[int, typer.Option(min=0, metavar="N", help="Which of the data set's splits.")]


SourceOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="In an edge table, the column of one end: its name, or its place counted from 0.",
        show_default="found by name",
        rich_help_panel=FILE_PANEL,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the other end.",
        show_default="found by name",
        rich_help_panel=FILE_PANEL,
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar="",
        help="Whether the first line of an edge list names its columns.",
        show_default="found",
        rich_help_panel=FILE_PANEL,
    ),
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Tell nodes apart by their class: an attribute of nodes in GraphML, GML or GEXF, an array in .npz, or a "
        "column of the table --nodes.",
        show_default=False,
        rich_help_panel=FILE_PANEL,
    ),
]
NodesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table with a row for each node, .csv, .tsv or .parquet: its name, and its label in a column.",
        show_default=False,
        rich_help_panel=FILE_PANEL,
    ),
]
UndirectedOption = Annotated[
    bool,
    typer.Option("--undirected", metavar="", help="Join arcs, where the file is directed.", rich_help_panel=FILE_PANEL),
]


EdgeLabelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Tell edges apart by their class: an attribute of edges in GraphML, GML or GEXF, an array in .npz, or a "
        "column of an edge table, by its name or its place counted from 0.",
        show_default=False,
        rich_help_panel=FILE_PANEL,
    ),
]


class FileOptions(NamedTuple):
    """How a graph's file is read, as the options of a command say it."""

    source: SourceOption = None
    target: TargetOption = None
    header: HeaderOption = None
    undirected: UndirectedOption = False
    labels: LabelsOption = None
    nodes: NodesOption = None


AS_FOUND = FileOptions()


def reading_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all of :class:`FileOptions` as options of its own, in the place of its argument ``how``.

    Typer makes an option of each argument, and every command that reads graphs has these.
    """
    options = get_type_hints(FileOptions, include_extras=True)

    @wraps(command)
    def run(**arguments: Any) -> None:
        how = FileOptions(*(arguments.pop(name) for name in options))
        command(**arguments, how=how)

    kinds, defaults = get_type_hints(command, include_extras=True), FileOptions._field_defaults
    own = inspect.signature(command).parameters.values()
    parameters = [parameter.replace(annotation=kinds[parameter.name]) for parameter in own if parameter.name != "how"]
    for name, kind in options.items():
        parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=defaults[name], annotation=kind))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


class Level(StrEnum):
    """What is encoded."""

    node = "node"
    edge = "edge"
    pair = "pair"


def complain(word: str, style: str, message: str) -> None:
    """One line on standard error, however long."""
    error_console.print(Text.assemble((word, style), " ", message), soft_wrap=True)


@contextmanager
def readable_warnings() -> Iterator[None]:
    """Show what the library warns of as one line each."""
    from elene.graph import GraphWarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        complain("warning:", "bold yellow", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", GraphWarning)
        warnings.showwarning = show
        yield


@contextmanager
def clean_interrupts() -> Iterator[None]:
    """Let an interrupt be one even where it arrives while arguments go from Python to compiled code.

    There it surfaces as a SystemError (of a SystemError ...) that something "returned a result with an exception set".
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        raise


@contextmanager
def resumable(ctx: typer.Context) -> Iterator[None]:
    """An interrupt ends the command, which says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        error_console.print("Interrupted; what was done is kept.")
        say_again(ctx)
        raise typer.Exit(130) from None


def say_again(ctx: typer.Context) -> None:
    """How to go on with a command: by the same one."""
    command = shlex.join(["elene", *ctx.meta[ARGUMENTS]])
    error_console.print(f"To go on:\n  {command}", markup=False, soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say what takes a while, as long as it does."""
    with error_console.status(f"{what} ..."):
        yield


def read_graph(name: str, how: FileOptions = AS_FOUND, output: Path | None = None) -> Graph:
    """The graph of a file, or the one that ``FILE#3`` names: the fourth in a file that holds several.

    The output, if there is one, must not be that file.
    """
    from elene.graph import Graph

    path, index = _which(name)
    if output is not None and _is_one_file(path, output):
        raise ValueError(f"--output {str(output)!r} is the graph's own file, and would replace it: name another")
    with _reading(path):
        return Graph.read(path, index, **_arguments(how))


def read_edge_labels(name: str, edge_labels: str, how: FileOptions = AS_FOUND) -> tuple[Graph, list[str]]:
    """The same with the labels of its edges, in the order of ``Graph.edges``."""
    from elene.io.readers import Options, read_edge_labels

    path, index = _which(name)
    with _reading(path):
        return read_edge_labels(path, index, Options(**_arguments(how), edge_labels=as_column(edge_labels)))


def _which(name: str) -> tuple[str, int | None]:
    """The file, and the number of the graph in it, where the name has one."""
    file, mark, number = name.rpartition("#")
    numbered = bool(mark) and number.isdecimal() and not Path(name).exists()
    return (file, int(number)) if numbered else (name, None)


def _arguments(how: FileOptions) -> dict[str, Any]:
    return {**how._asdict(), "source": as_column(how.source), "target": as_column(how.target)}


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Show what readers say about a file, and name the way to one of several graphs as the command line has it."""
    from elene.io.readers import SeveralGraphs

    with working(f"Reading {path}"), _notes(path):
        try:
            yield
        except ValueError as error:
            if not isinstance(error.__cause__, SeveralGraphs):
                raise
            raise ValueError(f"{path} holds several graphs: pass {path}#0 for the first of them") from None


def as_column(text: str | None) -> Any:
    """A column by its place, if that is what the text is, or by its name."""
    return int(text) if text is not None and text.isdecimal() else text


@contextmanager
def _notes(path: str) -> Iterator[None]:
    """Show what readers say about a file."""
    handler = _Notes(path)
    logger = logging.getLogger("elene.io")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Notes(logging.Handler):
    def __init__(self, path: str) -> None:
        super().__init__(logging.INFO)
        self.path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is logged."""
        error_console.print(f"{self.path}: {record.getMessage()}", markup=False, soft_wrap=True, style="dim")


def _is_one_file(a: str, b: Path) -> bool:
    """Whether both names, links followed, stand for the same file."""
    try:
        return os.path.samefile(a, b)
    except FileNotFoundError:
        return False


def parse_depths(texts: list[str] | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    """The depths that ``-k 1 -k 2`` or ``-k 1,2`` names.

    >>> parse_depths(["1,2", "4"], (3,)), parse_depths(None, (3,))
    ((1, 2, 4), (3,))
    """
    try:
        return tuple(int(depth) for text in texts for depth in text.split(",")) if texts else usual
    except ValueError:
        raise ValueError(
            f"-k must be a number of hops, such as 2, or several: 1,2; got {','.join(texts or [])}"
        ) from None


def parse_label(graph: Graph, text: str, option: str) -> Any:
    """A node's name as the graph has it, from what stands on the command line."""
    if graph.nodes.dtype.kind not in "iu":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{option} must be an integer, as all nodes of this graph are; got {text!r}") from None


def say(text: str, style: str | None = None) -> None:
    """Print text in lines that are not too long to read."""
    console.print(text, style=style, width=min(console.width, TEXT_WIDTH))


def make_table(*titles: str, text: int = 1) -> Table:
    """An empty table; its first columns hold text, the others numbers."""
    table = Table(box=box.ROUNDED, header_style="bold cyan", border_style="dim")
    for i, title in enumerate(titles):
        table.add_column(title, justify="left" if i < text else "right")
    return table


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "node"), counted(12345, "edge")
    ('1 node', '12,345 edges')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def size_of(graph: Graph) -> str:
    """A graph's size in words.

    >>> from elene.datasets import rook
    >>> size_of(rook())
    '16 nodes, 48 edges'
    """
    labels = "" if graph.labels is None else f", {counted(len(set(graph.labels.tolist())), 'label')}"
    return f"{counted(graph.num_nodes, 'node')}, {counted(graph.num_edges, 'edge')}{labels}"
