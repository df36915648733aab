"""What is written before Sphinx reads: the pages of the API, the help of the command line, and the pictures."""

import importlib
import os
import re
import shutil
from pathlib import Path
from types import ModuleType

from docutils import nodes

import elene

# What is public beside the rooms that `import elene` offers; names that an earlier room has are not listed again.
FURTHER = ("elene.encoding", "elene.nn.functional", "elene.nn.graphgym")
PICTURE = re.compile(r"pictures/([\w-]+\.svg)")  # a picture of pictures.py, as pages refer to it


def rooms():
    """Every module with public names, and those names, each under the first module that has it.

    >>> rooms()["elene.plot"]
    ['draw_ego', 'draw_intersection']
    """
    found, seen = {}, []
    for room in ("elene", *(f"elene.{name}" for name in elene._ROOMS), *FURTHER):
        module = importlib.import_module(room)
        names = []
        for name in getattr(module, "__all__", None) or _defined(module):
            value = getattr(module, name)
            # Rooms have pages of their own.
            if name.startswith("__") or isinstance(value, ModuleType) or any(value is other for other in seen):
                continue
            seen.append(value)
            names.append(name)
        found[room] = names
    return found


def _defined(module):
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__
    ]


def write_rooms(folder):
    """A page for each room, with a table of its names that lead to pages of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    for room, names in rooms().items():
        entries = "\n".join(f"   {name}" for name in names)
        table = f".. autosummary::\n   :toctree: ../names\n   :nosignatures:\n\n{entries}\n" if names else ""
        head = f"{room}\n{'=' * len(room)}\n\n.. automodule:: {room}\n   :no-members:\n"
        _write(folder / f"{room}.rst", f"{head}\n{table}")
    lines = [f"| [{room}](rooms/{room}) | {_summary(room)} |" for room in rooms()]
    lines.append("| [elene](rooms/command-line) on the command line | The help of every command. |")
    _write(folder / "table.txt", "\n".join(["| Room | What is in it |", "|---|---|", *lines, ""]))


def _summary(room):
    """The first sentence of a module, without what only reStructuredText reads."""
    first = importlib.import_module(room).__doc__.partition("\n\n")[0]
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", " ".join(first.split())).replace("``", "`")


def write_commands(folder):
    """The help of every command, as it is printed."""
    import typer

    from elene.cli import app

    commands = typer.main.get_command(app)
    parts = ["# The command line\n", "What `elene COMMAND --help` prints, for every command.\n"]
    for name in sorted(commands.commands):
        parts += [f"## elene {name}\n", f"```text\n{_help(app, name)}\n```\n"]
    _write(folder / "command-line.md", "\n".join(parts))


def _help(app, command):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1"})
    return "\n".join(line.rstrip() for line in result.output.strip().splitlines())


def _write(path, text):
    # Only what changed: Sphinx reads again what is newer.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _make(app, config):
    source = Path(app.srcdir)
    shutil.rmtree(source / "api" / "rooms", ignore_errors=True)
    write_rooms(source / "api" / "rooms")
    known = {f"{room}.{name}" for room, names in rooms().items() for name in names}
    for page in (source / "api" / "names").glob("*.rst"):
        if page.stem not in known:  # of an earlier build
            page.unlink()
    write_commands(source / "api" / "rooms")
    os.environ.setdefault("MPLBACKEND", "Agg")
    from pictures import draw_all

    draw_all(source / "pictures")


def _trim(app, tree):
    """Code without the empty line that a doctest in Markdown ends with."""
    for block in tree.findall(nodes.literal_block):
        if block.astext().startswith(">>>") and block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip()
            block.children = [nodes.Text(block.rawsource)]


def setup(app):
    """Write before Sphinx looks for files: what comes later, autosummary does not see in a fresh clone."""
    app.connect("config-inited", _make)
    app.connect("doctree-read", _trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
