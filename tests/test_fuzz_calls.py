"""Odd arguments for every public function: no crash, no hang, no memory, and errors in our words."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import elene
import fuzz_calls

DRAWS = 1500

# Public, and not called with what users have at hand.
LEFT_OUT = {
    # made by the library, for reading
    *("Column", "Encoding", "Comparison", "GraphWarning", "Ego", "Entries", "EgoData", "Subgraphs", "NodePairs"),
    *("Arcs", "EdgeKinds"),
    *("BrecPair", "Collection", "DatasetInfo", "Edition", "GraphDataset", "Split"),
    # made of modules that are given, which speak for themselves
    *("GINE", "GNN", "GraphReadout", "PPGN", "RootedGNN", "Gates", "Update", "PairNorm"),
    *("edge_readout", "node_readout"),
    # without arguments
    *("chang", "rook", "shrikhande", "sr25"),
}


@pytest.mark.jit
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is measured as Linux does")
def test_odd_arguments_are_answered_or_named():
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(elene.__file__).parents[1])])
    command = [sys.executable, fuzz_calls.__file__, "0", str(DRAWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr[-2000:]  # killed by a signal: a crash, or a call that hangs
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["calls"] > 8000 and found["grown"] < 200


def test_every_public_function_is_called():
    called = {name.removeprefix("datasets.").split(".")[0].split(",")[0].rstrip("()") for name in fuzz_calls.CALLS}
    rooms = [elene, elene.nn, elene.transforms, elene.baselines, elene.datasets]
    public = {name for room in rooms for name in room.__all__ if callable(getattr(room, name))}
    assert public - called - LEFT_OUT == set()
    drawn = {name for name, made in vars(elene.plot).items() if name.startswith("draw_") and inspect.isfunction(made)}
    assert drawn <= called


def test_every_way_into_a_graph_is_called():
    ways = {name for name in vars(elene.Graph) if name.startswith(("from_", "read"))}
    assert {f"Graph.{name}" for name in ways} <= fuzz_calls.CALLS.keys()
