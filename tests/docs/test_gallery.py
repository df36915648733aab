"""Every example of the gallery runs as it stands, so that the site shows what the library does."""

from __future__ import annotations

import runpy
from pathlib import Path

import gallery
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "gallery"


@pytest.fixture
def pyplot(monkeypatch, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    monkeypatch.chdir(tmp_path)  # what an example writes is not left behind
    yield pyplot
    pyplot.close("all")


# What a page says of its own outcome.
CLAIMS = {
    "molecules_with_sklearn": lambda made: min(map(min, made["by_elene"][1:])) > 0.9 and np.mean(made["by_wl"]) < 0.7,
    "who_is_a_broker": lambda made: made["ways"]["ELENE, k = 1"][0] > 0.9 > made["ways"]["degree"][0],
    "elene_l_in_three_lines": lambda made: made["with_elene"][-1] == 1 and made["plain"][-1] == 0.5,
    "what_a_model_learned": lambda made: (made["found"] - made["batch"].y).abs().mean() < 0.6,
    "a_network_that_changes": lambda made: (made["updated"].tocsr() != made["everything"].matrix).nnz == 0,
    "brec_without_learning": lambda made: (
        made["counts"]["1-WL"].sum() == 0 < made["counts"]["PD, k = 1 to 3, bare"].sum()
    ),
}


@pytest.mark.jit
@pytest.mark.parametrize("name", gallery.ORDER)
def test_an_example_runs_draws_and_keeps_its_word(name, pyplot):
    from matplotlib.figure import Figure

    made = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert pyplot.get_fignums() or any(isinstance(value, Figure) for value in made.values())
    assert CLAIMS.get(name, bool)(made)


def test_every_script_has_its_place_in_the_gallery():
    assert sorted(gallery.ORDER) == sorted(path.stem for path in EXAMPLES.glob("*.py"))
