"""The command line, one module for each command; heavy imports wait until a command runs, so that help is quick."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from elene import __version__
from elene.cli.common import ARGUMENTS, clean_interrupts, complain, error_console, readable_warnings
from elene.cli.options import flag


class Commands(TyperGroup):
    """All commands, and the one place where bad input ends: as a message of one line and exit code 2."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and remember them for commands that quote them."""
        ctx.meta[ARGUMENTS] = list(args)
        try:
            return super().parse_args(ctx, args)
        except KeyboardInterrupt:
            # Typer would end without a word.
            raise _interrupted() from None

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with readable_warnings(), clean_interrupts():
                return super().invoke(ctx)
        except BrokenPipeError:
            # Typer knows what to do when `head` has seen enough.
            raise
        except KeyboardInterrupt:
            raise _interrupted() from None
        except RuntimeError as error:
            if "can't start new thread" not in str(error) or ctx.params["debug"]:
                raise
            complain("error:", "bold red", "the system starts no more threads: raise its limit (ulimit -u)")
            raise typer.Exit(2) from None
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            if ctx.params["debug"]:
                raise
            complain("error:", "bold red", _in_words(error) or "there is not enough memory for this")
            raise typer.Exit(2) from None


def _interrupted() -> typer.Exit:
    error_console.print("interrupted")
    return typer.Exit(130)


def _in_words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return error.strerror
    return str(error)


app = typer.Typer(
    name="elene",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Each command is a function in a module of the same name.
PANELS = {
    "Graphs": ("demo", "encode", "explain", "explore", "compare", "store"),
    "The paper's tables, and other experiments": ("datasets", "train", "search", "reproduce", "report", "brec"),
    "This machine": ("warmup",),
}
for panel, names in PANELS.items():
    for name in names:
        command = getattr(import_module(f"elene.cli.{name}"), name)
        app.command(name, rich_help_panel=panel)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"elene {__version__}")
        raise typer.Exit


@app.callback()
def elene(
    debug: Annotated[bool, flag("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, flag("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """What the surroundings of nodes and edges look like, as exact counts: fast ego-network encodings of graphs.

    New here? **elene demo** shows what it is about in a minute.
    """
