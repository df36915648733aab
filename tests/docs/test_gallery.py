"""Every example of the gallery runs as it stands, so that the site shows what the library does."""

from __future__ import annotations

import runpy
from pathlib import Path

import gallery
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


@pytest.mark.jit
@pytest.mark.parametrize("name", gallery.ORDER)
def test_an_example_runs_and_draws(name, pyplot):
    from matplotlib.figure import Figure

    made = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert pyplot.get_fignums() or any(isinstance(value, Figure) for value in made.values())


def test_every_script_has_its_place_in_the_gallery():
    assert sorted(gallery.ORDER) == sorted(path.stem for path in EXAMPLES.glob("*.py"))
