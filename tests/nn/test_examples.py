"""The examples of large graphs, at a size that takes seconds."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.jit
def test_communities_of_one_large_graph(capsys):
    found = runpy.run_path(str(EXAMPLES / "large_graph.py"))["main"](nodes=8000, epochs=6, roots=3000)
    assert abs(found["GIN"] - found["chance"]) < 0.03 and found["GIN + ELENE-L"] > 0.8
    assert found["difference"] < 1e-10
    assert "8,000 nodes, 24,000 edges" in capsys.readouterr().out


@pytest.mark.jit
def test_precomputed_encodings():
    found = runpy.run_path(str(EXAMPLES / "precomputed_encodings.py"))["main"]()
    assert len(found) == 3 and min(found.values()) > 0.9
