"""``elene report``: all results beside the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elene.cli.common import console, working
from elene.extras import needing


def report(
    results: Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept.")] = Path("results"),
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the report goes.", show_default="the folder of results")
    ] = None,
) -> None:
    """Write all results beside the published ones: README.md, and report.html, a page that needs nothing else.

    Tables of the paper come with its numbers, ours and the difference; learning curves, accuracy against cost, and the
    memory that **benchmarks/scaling.py --json DIR/scaling.json** measured are drawn.

    **Example:** elene report --results results
    """
    if not results.is_dir():
        raise ValueError(f"--results: there is no folder {results}: elene train and elene reproduce make one")
    with needing("experiments", "a report"), working("Writing"):
        from elene.experiments.report.report import write_report
        from elene.experiments.results.store import Store

        written = write_report(Store(results), results if out is None else out)
    for path in written:
        console.print(str(path), markup=False, soft_wrap=True)
