"""How long a user waits on a machine that never ran elene: new processes with an empty cache, and with a full one.

    python benchmarks/coldstart.py [--json FILE] [--repeat 3]

Each step is run in the same process, one after the other, so that it shows what it takes more than those before it. All
but the first row of a process is compilation; warm rows are imports. On a busy machine look at CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

STEPS = {
    "encode k=1": "elene.encode(graph, 1)",
    "encode k=2": "elene.encode(graph, 2)",
    "encode k=1, edges": "elene.encode(graph, 1, level='edge')",
    "encode k=2, edges": "elene.encode(graph, 2, level='edge')",
    "encode k=1, joint": "elene.encode(graph, 1, form='joint')",
    "encode k=2, lanes": "elene.encode(nx.complete_graph(30), 2)",
    "fingerprint": "elene.fingerprint(graph, 1)",
}
TARGETS = {"encode k=1": 5.0, "encode k=2": 6.0, "encode k=1, edges": 4.0}
WARM_TARGET = 0.7
PROGRAM = """
import time
begun, spent = time.monotonic(), time.process_time()
import json
import elene
import networkx as nx
graph = nx.karate_club_graph()
found = []
for step in {steps!r}:
    exec(step)
    found.append((time.monotonic() - begun, time.process_time() - spent))
    begun, spent = time.monotonic(), time.process_time()
print(json.dumps(found))
"""


def run(cache: Path) -> dict[str, tuple[float, float]]:
    """The wall-clock and CPU seconds of every step in a new process."""
    program = PROGRAM.format(steps=list(STEPS.values()))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return dict(zip(STEPS, map(tuple, json.loads(done.stdout)), strict=True))


def measure() -> dict[str, dict[str, tuple[float, float]]]:
    with tempfile.TemporaryDirectory() as folder:
        return {"cold": run(Path(folder)), "warm": run(Path(folder))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    runs = [measure() for _ in range(arguments.repeat)]
    figures = {
        state: {step: [median(run[state][step][i] for run in runs) for i in (0, 1)] for step in STEPS}
        for state in ("cold", "warm")
    }
    print(f"{'seconds':24} {'cold':>7} {'CPU':>7} {'target':>7} {'warm':>7} {'CPU':>7} {'target':>7}")
    for step in STEPS:
        cold, warm = figures["cold"][step], figures["warm"][step]
        aims = TARGETS.get(step, ""), WARM_TARGET if step == "encode k=1" else ""
        print(f"{step:24} {cold[0]:7.2f} {cold[1]:7.2f} {aims[0]:>7} {warm[0]:7.2f} {warm[1]:7.2f} {aims[1]:>7}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
