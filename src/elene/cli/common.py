"""What the commands share: where they print, and how they speak."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich import box
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

import elene

ARGUMENTS = "elene.arguments"
TEXT_WIDTH = 100

# Results go to standard output; progress, notes and errors do not get in their way.
console = Console(highlight=False)
error_console = Console(stderr=True, highlight=False)


def complain(word: str, style: str, message: str) -> None:
    """One line on standard error, however long."""
    error_console.print(Text.assemble((word, style), " ", message), soft_wrap=True)


@contextmanager
def readable_warnings() -> Iterator[None]:
    """Show what the library warns of as one line each."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        complain("warning:", "bold yellow", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", elene.GraphWarning)
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
        with clean_interrupts():
            yield
    except KeyboardInterrupt:
        error_console.print("Interrupted; what was done is kept.")
        say_again(ctx)
        raise typer.Exit(130) from None


def say_again(ctx: typer.Context, *more: str) -> None:
    """How to go on with a command: by the same one, with some arguments more where it has not got them."""
    command = shlex.join(["elene", *(one for one in ctx.meta[ARGUMENTS] if one not in more), *more])
    error_console.print(f"To go on:\n  {command}", markup=False, soft_wrap=True)


def working(what: str) -> Status:
    """Say what takes a while, as long as it does."""
    return error_console.status(f"{what} ...")


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


def size_of(graph: elene.Graph) -> str:
    """A graph's size in words.

    >>> from elene.datasets import rook
    >>> size_of(rook())
    '16 nodes, 48 edges'
    """
    labels = "" if graph.labels is None else f", {counted(len(set(graph.labels.tolist())), 'label')}"
    return f"{counted(graph.num_nodes, 'node')}, {counted(graph.num_edges, 'edge')}{labels}"
