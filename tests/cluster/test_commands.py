"""elene store, and elene encode from a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import elene
from elene.cli import app

pytestmark = pytest.mark.jit


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\na,b\nb,c\nc,a\nc,d\nd,d\na,b\n")
    Path("nodes.csv").write_text("node,kind\na,x\nb,y\nc,x\nd,y\nlonely,x\n")
    return tmp_path


def run(*arguments, code=0):
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert found.exit_code == code, found.output
    return found.output


def test_from_edges_to_a_folder_of_parts(here):
    said = run(
        "store", "edges.csv", "-o", "graph.elene", "--nodes", "nodes.csv", "--label", "kind", "--memory", "200MB"
    )
    assert "graph.elene: 5 nodes, 4 edges" in said and "1 self-loop and 1 repeated edge dropped" in said
    assert elene.GraphStore.open("graph.elene").label_values.tolist() == ["x", "y", "x", "y", "x"]
    assert "every array as it was written" in run("store", "graph.elene")
    said = run("encode", "graph.elene", "-k", 1, "-o", "features")
    assert "features: 5 nodes" in said and "1 part, 1 of them made now" in said
    assert "0 of them made now" in run("encode", "graph.elene", "-k", 1, "-o", "features")
    run("encode", "graph.elene", "-k", 1, "-o", "one.parquet")
    assert pd.read_parquet("features").equals(pd.read_parquet("one.parquet"))
    assert "2 neighbours in" in run("explain", "graph.elene", "--node", "c", "-k", 1)
    assert "was begun with depths=[1]" in run("encode", "graph.elene", "-k", 2, "-o", "features", code=2)


def test_workers_of_this_machine(here):
    run("store", "edges.csv", "-o", "graph.elene")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "elene", "encode", "graph.elene", "-k", "1", "-o", "features", "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "1 of them made now" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["store", "edges.csv"], "name the folder to make: -o graph.elene"),
        (["store", "edges.csv", "-o", "edges.csv"], "is there already"),
        (["store", "edges.csv", "-o", "g.elene", "--memory", "lots"], "memory must be a text"),
        (["encode", "edges.csv", "-o", "f", "--workers", "2"], "is not a graph store: build one with elene store"),
        (["encode", "graph", "-o", "f", "--workers", "2", "--scheduler", "tcp://a:1"], "leave one of them out"),
        (["encode", "graph", "-o", "f", "--workers", "2", "--wide"], "--wide, --compact and --chunk are for one file"),
    ],
)
def test_what_does_not_go_is_one_line(arguments, complaint, here):
    assert complaint in run(*arguments, code=2).replace("\n", " ")
