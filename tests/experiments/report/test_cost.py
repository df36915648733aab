"""Cost: the paper's numbers, ratios to plain GIN, and runs in processes of their own."""

from __future__ import annotations

from typer.testing import CliRunner

from elene.cli import app
from elene.experiments.report.blocks import Grid
from elene.experiments.report.cost import compose, gather, published
from elene.experiments.results.store import Store
from elene.experiments.schedule import cost
from made_up import origin, result


def run_of(row, seconds, label="zinc12k", **others):
    return result(label, row, changes=["training.epochs=3"], seconds_per_epoch=seconds, **others)


def test_numbers_of_the_paper():
    told = published()
    assert list(told) == ["gin", "gin-ak", "gin-ak+", "gin+elene", "gin+elene-nd", "gin+elene-ed"]
    assert (told["gin+elene-nd"]["pattern-generated"].seconds, told["gin-ak"]["cifar10"].memory) == (146.15, 18800)
    assert "pattern-generated" not in told["gin-ak"] and "cifar10" not in told["gin+elene-ed"]
    assert sum(len(row) for row in told.values()) == 25


def cells(store):
    grids = [block for block in compose(store) if isinstance(block, Grid)]
    return {(grid.header[0], row[0].text): (row[1].text, row[1].note) for grid in grids for row in grid.rows}


def test_ratios_to_gin(tmp_path):
    store = Store(tmp_path)
    store.add(run_of("gin", 2.0))
    store.add(run_of("gin+elene-nd", 5.0))
    found = cells(store)
    assert found["Seconds of an epoch", "GIN"] == ("2 s", "paper 6.02 s")
    assert found["Seconds of an epoch", "GIN+ELENE-L (ND)"] == ("2.50x", "paper 1.70x")
    assert found["Memory", "GIN+ELENE-L (ND)"] == ("1.00x", "paper 8.25x")
    assert found["Memory", "GIN"] == ("50 MB", "paper 120 MB")
    assert found["Memory", "GIN-AK"] == ("missing", "paper 9.25x")


def test_one_commit_at_a_time(tmp_path):
    store = Store(tmp_path)
    newer = origin("beef", committed="2026-02-01T00:00:00Z")
    store.add(run_of("gin", 2.0))
    store.add(run_of("gin+elene-nd", 5.0))
    store.add(run_of("gin+elene-nd", 7.0, origin=newer))
    assert cells(store)["Seconds of an epoch", "GIN+ELENE-L (ND)"][0] == "2.50x"
    store.add(run_of("gin", 1.0, origin=newer))
    assert cells(store)["Seconds of an epoch", "GIN+ELENE-L (ND)"][0] == "7.00x"
    assert list(gather(Store(tmp_path / "nothing"))) == []


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(cost, "perform", lambda job, folder: result(spec=job.spec, metric="mae"))
    monkeypatch.setattr("elene.experiments.schedule.planning.origin_of", lambda dataset: origin())
    arguments = ["reproduce", "cost", "--rows", "gin,gin+elene-nd", "--datasets", "zinc12k"]
    found = CliRunner().invoke(app, [*arguments, "--results", str(tmp_path)], env={"COLUMNS": "120"})
    assert found.exit_code == 0, (found.output, found.exception)
    assert "1.00x" in found.stdout and "paper 1.70x" in found.stdout
    assert len(list(Store(tmp_path / "cost").find())) == 2
