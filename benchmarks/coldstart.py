"""How long a user waits on a machine that never ran elene: new processes with an empty cache, and with a full one.

    python benchmarks/coldstart.py [--json FILE] [--repeat 3]

Each step is run in the same process, one after the other, so that it shows what it takes more than those before it.
Cold, all but imports is compilation; warm, the first step is imports. The graph is the karate club, read from a list of
edges; the last rows are new processes that start warm and end after ``encode(graph, 1)``, beside what no such process
can do without: Python, numpy, scipy.sparse and numba with one compiled function that does nothing. Seconds are those of
whole processes there. numba and scipy import whatever they find (coverage, PyYAML, cffi, ...), so these are measured
here and where nothing is installed but what elene needs. On a busy machine look at CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import networkx

STEPS = {
    "encode k=1": "elene.encode(graph, 1)",
    "encode k=2": "elene.encode(graph, 2)",
    "encode k=1, edges": "elene.encode(graph, 1, level='edge')",
    "encode k=2, edges": "elene.encode(graph, 2, level='edge')",
    "encode k=1, joint": "elene.encode(graph, 1, form='joint')",
    "encode k=2, lanes": "elene.encode(elene.Graph.from_edges(list(combinations(range(30), 2))), 2)",
    "fingerprint": "elene.fingerprint(graph, 1)",
}
TARGETS = {"encode k=1": 5.0, "encode k=2": 6.0, "encode k=1, edges": 4.0}
WARM_TARGET = 0.7
PROGRAM = """
import time
begun, spent = time.monotonic(), time.process_time()
import json
from itertools import combinations
import elene
graph = elene.Graph.from_edges({edges!r})
found = []
for step in {steps!r}:
    exec(step)
    found.append((time.monotonic() - begun, time.process_time() - spent))
    begun, spent = time.monotonic(), time.process_time()
print(json.dumps(found))
"""
NOTHING = """
import numba

@numba.njit(cache=True, nogil=True, error_model="numpy")
def nothing(values):
    return values[0]
"""
FLOOR = "import numpy, scipy.sparse, nothing; nothing.nothing(numpy.zeros(1))"
ENCODE = "import elene; elene.encode(elene.Graph.from_edges({edges!r}), 1)"
# Whole processes, warm: what is run, and whether only what elene needs is installed
WHOLE = {
    "numba, numpy, scipy alone": (FLOOR, False),
    "encode, from edges": (ENCODE, False),
    "encode, from networkx": ("import elene, networkx; elene.encode(networkx.karate_club_graph(), 1)", False),
    "numba, numpy, scipy alone, nothing else there": (FLOOR, True),
    "encode, from edges, nothing else there": (ENCODE, True),
}
NEEDED = ("elene", "llvmlite", "numba", "numpy", "scipy")


def run(cache: Path) -> dict[str, tuple[float, float]]:
    """The wall-clock and CPU seconds of every step in a new process."""
    done = start(PROGRAM.format(edges=karate(), steps=list(STEPS.values())), cache)
    return dict(zip(STEPS, map(tuple, json.loads(done)), strict=True))


def start(program: str, cache: Path, bare: bool = False) -> str:
    """What a new process prints, whose compiled functions are kept in a folder; ``bare`` is without other packages."""
    path = os.pathsep.join([*([str(link_needed(cache))] if bare else sys.path[1:]), str(cache)])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # pip compiles what it installs
    command = [sys.executable, *(["-S"] if bare else []), "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def link_needed(folder: Path) -> Path:
    """A folder of packages that has those which elene needs, with the libraries that stand beside them."""
    bare = folder / "bare"
    bare.mkdir(exist_ok=True)
    for name in NEEDED:
        (found,) = find_spec(name).submodule_search_locations
        for part in (Path(found), Path(f"{found}.libs")):
            if part.exists() and not (bare / part.name).exists():
                (bare / part.name).symlink_to(part)
    return bare


def karate() -> list[tuple[int, int]]:
    return [(int(u), int(v)) for u, v in networkx.karate_club_graph().edges]


def run_whole(cache: Path) -> dict[str, tuple[float, float]]:
    """The wall-clock and CPU seconds of whole processes, from their start to their end, once all is compiled."""
    (cache / "nothing.py").write_text(NOTHING)
    found = {}
    for name, (program, bare) in WHOLE.items():
        program = program.format(edges=karate())
        start(program, cache, bare)
        begun, before = time.monotonic(), os.times()
        start(program, cache, bare)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        found[name] = (time.monotonic() - begun, spent)
    return found


def measure() -> dict[str, dict[str, tuple[float, float]]]:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        return {"cold": run(cache), "warm": run(cache), "whole": run_whole(cache)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    runs = [measure() for _ in range(arguments.repeat)]
    figures = {
        state: {step: [median(run[state][step][i] for run in runs) for i in (0, 1)] for step in runs[0][state]}
        for state in ("cold", "warm", "whole")
    }
    print(f"{'seconds':26} {'cold':>7} {'CPU':>7} {'target':>7} {'warm':>7} {'CPU':>7} {'target':>7}")
    for step in STEPS:
        cold, warm = figures["cold"][step], figures["warm"][step]
        aim = TARGETS.get(step, "")
        print(f"{step:26} {cold[0]:7.2f} {cold[1]:7.2f} {aim:>7} {warm[0]:7.2f} {warm[1]:7.2f}")
    for name, (seconds, spent) in figures["whole"].items():
        aim = "" if name.startswith("numba") else WARM_TARGET
        print(f"{name:50} {seconds:7.2f} {spent:7.2f} {aim:>7}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
