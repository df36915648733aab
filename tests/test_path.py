"""A user's path, script by script: an edge list to a table, graphs to a pipeline, a trained PyG model."""

from __future__ import annotations

import runpy
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.jit
EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments):
    return runpy.run_path(str(EXAMPLES / name))["main"](*arguments)


def test_an_edge_list_becomes_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = run("node_table.py")
    read = pd.read_csv("features.csv", index_col="node")
    florence = nx.florentine_families_graph()
    assert set(read.index) == set(florence) and np.array_equal(read.to_numpy(), table.to_numpy())
    pendant = {u: sum(not set(florence[u]) & set(florence[v]) for v in florence[u]) for u in florence}
    assert read["k1.distance1.degree1"].to_dict() == pendant
    assert "features.csv: 15 rows" in capsys.readouterr().out


def test_your_own_edge_list(tmp_path, capsys):
    edges, features = tmp_path / "mine.csv", tmp_path / "mine-features.csv"
    edges.write_text("source,target\n7,8\n8,9\n")
    run("node_table.py", str(edges), str(features))
    assert pd.read_csv(features)["node"].tolist() == [7, 8, 9]


def test_graphs_go_through_a_pipeline(capsys):
    shares = run("graph_pipeline.py")
    assert shares["the node alone (k=0)"] <= 0.6 and shares["two hops (k=2)"] > 0.85
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_pyg_model_is_trained(capsys):
    errors = run("train_pyg.py")
    assert errors["GIN with AddELENE"] < errors["GIN"] / 2
    assert "counter.pt counts" in capsys.readouterr().out
