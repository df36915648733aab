"""Options that several commands have, and what their values name: graphs and their files, depths, nodes."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

import elene
from elene.cli.common import error_console, working

Level = StrEnum("Level", ("node", "edge", "pair"))

# Kinds of arguments and options: what all of a kind have in common.
argument = partial(typer.Argument, show_default=False)
count = partial(typer.Option, min=1, metavar="N")
flag = partial(typer.Option, metavar="")
depths = partial(typer.Option, "-k", metavar="K", help="How many hops to look; several as 1,2 or -k 1 -k 2.")

GraphArgument = Annotated[
    str,
    argument(
        metavar="GRAPH",
        help="A graph file: an edge list (.csv .tsv .txt .parquet), .npz, .g6, .graphml, .gml, .gexf, .net, .mtx or "
        ".metis; text files may end in .gz or .zst. In a file of several graphs, FILE#0 is the first; - is an edge "
        "list from standard input.",
    ),
]
ThreadsOption = Annotated[
    int | None,
    count(
        help="How many threads to compute with; with 1, as many commands as there are cores run well side by side.",
        show_default="as many as torch likes",
    ),
]
ResultsOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Where results are kept; what is there is not run again.")
]
RunsOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Where learning curves, checkpoints and trained models go.")
]
SeedOption = Annotated[int, typer.Option(min=0, metavar="N", help="Decides all that is random.")]
FoldOption = Annotated[int, typer.Option(min=0, metavar="N", help="Which of the data set's splits.")]

file_option = partial(typer.Option, rich_help_panel="How the file is read")
SourceOption = Annotated[
    str | None,
    file_option(
        metavar="COLUMN",
        help="In an edge table, the column of one end: its name, or its place counted from 0.",
        show_default="found by name",
    ),
]
TargetOption = Annotated[
    str | None, file_option(metavar="COLUMN", help="The column of the other end.", show_default="found by name")
]
HeaderOption = Annotated[
    bool | None,
    file_option(
        "--header/--no-header",
        metavar="",
        help="Whether the first line of an edge list names its columns.",
        show_default="found",
    ),
]
EdgeLabelsOption = Annotated[
    str | None,
    file_option(
        metavar="NAME",
        help="Tell edges apart by their class: an attribute of edges in GraphML, GML or GEXF, an array in .npz, or a "
        "column of an edge table, by its name or its place counted from 0.",
        show_default=False,
    ),
]


class FileOptions(NamedTuple):
    """How a graph's file is read, as the options of a command say it."""

    source: SourceOption = None
    target: TargetOption = None
    header: HeaderOption = None
    undirected: Annotated[
        bool, file_option("--undirected", metavar="", help="Join arcs, where the file is directed.")
    ] = False
    labels: Annotated[
        str | None,
        file_option(
            metavar="NAME",
            help="Tell nodes apart by their class: an attribute of nodes in GraphML, GML or GEXF, an array in .npz, or "
            "a column of the table --nodes.",
            show_default=False,
        ),
    ] = None
    nodes: Annotated[
        Path | None,
        file_option(
            metavar="FILE",
            help="A table with a row for each node, .csv, .tsv or .parquet: its name, and its label in a column.",
            show_default=False,
        ),
    ] = None


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

    own = inspect.signature(command, eval_str=True).parameters.values()
    more = inspect.signature(FileOptions).parameters.values()
    parameters = [parameter for parameter in own if parameter.name != "how"]
    parameters += [parameter.replace(annotation=options[parameter.name]) for parameter in more]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def read_graph(name: str, how: FileOptions = AS_FOUND, output: Path | None = None) -> elene.Graph:
    """The graph of a file, or the one that ``FILE#3`` names: the fourth in a file that holds several.

    The output, if there is one, must not be that file.
    """
    path, index = which_graph(name)
    with suppress(FileNotFoundError):
        if output is not None and os.path.samefile(path, output):
            raise ValueError(f"--output {str(output)!r} is the graph's own file, and would replace it: name another")
    with _reading(path):
        return elene.Graph.read(path, index, **_arguments(how))


def read_edge_labels(name: str, column: str | None, how: FileOptions) -> tuple[elene.Graph, list[str] | None]:
    """The same with the labels of its edges, if there are some to read, in the order of ``Graph.edges``."""
    from elene.io.readers import Options, read_edge_labels

    if column is None:
        return read_graph(name, how), None
    path, index = which_graph(name)
    with _reading(path):
        return read_edge_labels(path, index, Options(**_arguments(how), edge_labels=as_column(column)))


def which_graph(name: str) -> tuple[str, int | None]:
    """The file, and the number of the graph in it, where the name has one."""
    file, mark, number = name.rpartition("#")
    numbered = bool(mark) and number.isdecimal() and not Path(name).exists()
    return (file, int(number)) if numbered else (name, None)


def _arguments(how: FileOptions) -> dict[str, Any]:
    return {**how._asdict(), "source": as_column(how.source), "target": as_column(how.target)}


def as_column(text: str | None) -> Any:
    """A column by its place, if that is what the text is, or by its name."""
    return int(text) if text is not None and text.isdecimal() else text


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Show what readers say about a file, and name the way to one of several graphs as the command line has it."""
    from elene.io.readers import SeveralGraphs

    logger, handler = logging.getLogger("elene.io"), _Notes(path)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with working(f"Reading {path}"):
            yield
    except ValueError as error:
        if not isinstance(error.__cause__, SeveralGraphs):
            raise
        raise ValueError(f"{path} holds several graphs: pass {path}#0 for the first of them") from None
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Notes(logging.Handler):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is logged."""
        error_console.print(f"{self.path}: {record.getMessage()}", markup=False, soft_wrap=True, style="dim")


def parse_depths(texts: list[str] | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    """The depths that ``-k 1 -k 2`` or ``-k 1,2`` names.

    >>> parse_depths(["1,2", "4"], (3,)), parse_depths(None, (3,))
    ((1, 2, 4), (3,))
    """
    if not texts:
        return usual
    told = ",".join(texts)
    try:
        return tuple(map(int, told.split(",")))
    except ValueError:
        raise ValueError(f"-k must be a number of hops, such as 2, or several: 1,2; got {told}") from None


def parse_label(graph: elene.Graph, text: str, option: str) -> Any:
    """A node's name as the graph has it, from what stands on the command line."""
    if graph.nodes.dtype.kind not in "iu":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{option} must be an integer, as all nodes of this graph are; got {text!r}") from None
