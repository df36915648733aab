"""The command line: ``elene``, or ``python -m elene``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments name."""
    try:
        from elene.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(f'elene: the command line needs {error.name}: pip install "elene[io]"', file=sys.stderr)
        sys.exit(2)
    app(prog_name="elene")


if __name__ == "__main__":
    main()
