"""How fast encode() is beside that of another commit: two processes of their own, asked in turn.

    git worktree add ../other COMMIT
    python benchmarks/versions.py ../other [--only NAME ...] [--seconds 2]

Both read the networks of ``ELENE_DATA`` (or generated ones) and start from a fresh graph each time. Two copies in one
process would be no fair race, nor would two processes at the same time: while one computes, the other waits.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import PAUSE, geometric_mean, networks

TASKS = {"nodes, k=1": (1, "node"), "nodes, k=2": (2, "node"), "edges, k=1": (1, "edge")}
# Commits differ in how they make a graph of arrays that are known to be right.
SERVER = f"""
import sys, time
import numpy as np, elene
make = getattr(elene.Graph, "trusted", elene.Graph)
for line in sys.stdin:
    k, level, path = line.rstrip("\\n").split(" ", 2)
    with np.load(path) as file:
        arrays = file["indptr"], file["indices"]
    for _ in range(2):
        graph = make(*arrays)
        time.sleep({PAUSE})
        start = time.perf_counter()
        elene.encode(graph, int(k), level=level)
        seconds = time.perf_counter() - start
    print(seconds, flush=True)
"""


class Version:
    """The library in a folder, in a process that encodes what it is told."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
        command = [sys.executable, "-c", SERVER]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, k: int, level: str, path: Path) -> float:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(k, level, path, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def compare(versions: list[Version], k: int, level: str, path: Path, budget: float) -> float:
    """How many times as fast the first version is, by the best times of each."""
    best = [float("inf")] * len(versions)
    begun = time.perf_counter()
    while time.perf_counter() - begun < budget:
        best = [min(known, one.seconds(k, level, path)) for known, one in zip(best, versions, strict=True)]
    return best[1] / best[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("other", type=Path, help="a checkout of the other commit")
    parser.add_argument("--only", nargs="*", help="names of networks")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each race")
    options = parser.parse_args()
    versions = [Version(Path(__file__).parent.parent), Version(options.other)]
    table = Table("", *TASKS, title="Times as fast as the other commit")
    found: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.npz")
        for name, graph in networks(options.only):
            np.savez(path, indptr=graph.indptr, indices=graph.indices)
            found.append([compare(versions, k, level, path, options.seconds) for k, level in TASKS.values()])
            table.add_row(name, *(f"{ratio:.2f}" for ratio in found[-1]))
    table.add_section()
    table.add_row("geometric mean", *(f"{geometric_mean(list(ratios)):.2f}" for ratios in zip(*found, strict=True)))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
