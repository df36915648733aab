"""The command line: ``elene``, or ``python -m elene``."""

from __future__ import annotations

import atexit
import gc
import os
import sys

# torch's threads wait for their next task by spinning, for milliseconds, on the cores that the fused op's threads need.
# A thirtieth of that is enough for torch's own sake; it is read when torch is loaded.
SPINS = "10000"


def main() -> None:
    """Run the command that the arguments name; an interrupt is one line, also while modules are loaded."""
    os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    # Python looks through all that is alive once more when it ends: three seconds where torch and PyG are loaded.
    atexit.register(gc.freeze)
    try:
        _run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _run() -> None:
    from elene.extras import needing

    try:
        with needing("io", "the command line"):
            from elene.cli import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(f"elene: {error}", file=sys.stderr)
        sys.exit(2)
    app(prog_name="elene")


if __name__ == "__main__":
    main()
