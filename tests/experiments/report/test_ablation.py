"""Ablation: one setting at a time, equal schedules, one commit, and a table that says what is better."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from elene.cli import app
from elene.experiments.report.ablation import gather, write_ablation
from elene.experiments.report.report import write_report
from elene.experiments.results.records import write_record
from elene.experiments.results.store import Store
from elene.experiments.schedule import planning, steps
from elene.experiments.schedule.ablation import FOLDER, Point, panels, points
from elene.experiments.schedule.steps import StepTimes
from made_up import origin, result

TRIANGLES = next(panel for panel in panels() if panel.label == "counting.triangle")


def by_change(row="gin+elene-nd"):
    return {point.change: point for point in points() if point.row == row}


def run_of(point, test, panel=TRIANGLES, seed=0, **others):
    return result(spec=point.spec(panel), test=test, seed=seed, metric=panel.metric, **others)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results" / FOLDER)


@pytest.fixture
def filled(store):
    of = by_change()
    store.add(run_of(Point("gin"), 0.5))
    for seed, test in enumerate((0.02, 0.04)):
        store.add(run_of(of["default"], test, seed=seed))
    store.add(run_of(of["phi 16"], 0.05))
    store.add(run_of(of["joint false"], 0.01))
    seconds = {of[change].title: value for change, value in (("default", 5.0), ("phi 16", 3.0), ("joint false", 5.0))}
    seconds["GIN, default"] = 2.0
    told = StepTimes(seconds=seconds, code=origin().code, machine={})
    write_record(told, store.root / "steps" / f"{TRIANGLES.label}.json")
    return store


def test_outcomes_beside_the_default_and_plain_gin(filled):
    [(panel, outcomes)] = gather(filled).items()
    assert panel == TRIANGLES
    found = {one.point.title: (str(one), one.time) for one in outcomes}
    assert found == {
        "GIN, default": ("0.500", 1.0),
        "GIN+ELENE-L (ND), default": ("0.030 ± 0.014", 2.5),
        "GIN+ELENE-L (ND), phi 16": ("0.050", 1.5),
        "GIN+ELENE-L (ND), joint false": ("0.010", 2.5),
    }


def test_one_commit_at_a_time(filled):
    newer = origin("beef", committed="2026-02-01T00:00:00Z")
    filled.add(run_of(by_change()["phi 16"], 0.5, origin=newer))
    assert len(gather(filled)[TRIANGLES]) == 4  # nothing to compare it with
    filled.add(run_of(by_change()["default"], 0.5, origin=newer))
    assert len(gather(filled)[TRIANGLES]) == 2


def test_a_report_elsewhere_takes_the_ablation_along(filled, tmp_path):
    write_report(Store(filled.root.parent), tmp_path / "elsewhere")
    assert "GIN+ELENE-L (ND), phi 16" in (tmp_path / "elsewhere" / "ablation" / "README.md").read_text()
    write_report(Store(tmp_path / "nothing"), tmp_path / "bare")
    assert not (tmp_path / "bare" / "ablation").exists()


def test_the_table_says_what_is_better(filled):
    text = write_ablation(filled.root.parent, filled.root.parent).read_text()
    assert "| GIN+ELENE-L (ND), default | 0.030 ± 0.014 (2.50x) |" in text
    assert "| GIN+ELENE-L (ND), phi 16 | 0.050 (-0.020, 1.50x) |" in text
    assert "| GIN+ELENE-L (ND), joint false | **0.010** (+0.020, 2.50x) |" in text
    assert "Triangles: MAE, lower is better; 60 of 300 epochs; commit c0ffee." in text
    markdown, _ = write_report(Store(filled.root.parent), filled.root.parent)
    assert "ablation/README.md" in markdown.read_text()
    svg = (filled.root / "figures" / "ablation.svg").read_text()
    assert ElementTree.fromstring(svg).tag.endswith("svg") and "phi 16" in svg


def test_the_command(tmp_path, monkeypatch):
    def fake(job, folder):
        return result(spec=job.spec, seed=job.seed, metric="mae")

    def timed(specs):
        return StepTimes(seconds={name: 4.0 if "ND" in name else 2.0 for name in specs}, code=origin().code, machine={})

    monkeypatch.setattr(planning, "perform", fake)
    monkeypatch.setattr(steps, "time_steps", timed)
    arguments = ["reproduce", "ablation", "--rows", "default,skip", "--datasets", "counting.triangle", "--seeds", "1"]
    found = CliRunner().invoke(app, [*arguments, "--results", str(tmp_path), "--runs", str(tmp_path / "runs")])
    assert found.exit_code == 0, (found.output, found.exception)
    assert "3 runs, 3 of them to be done" in found.stderr
    assert len(list(Store(tmp_path / "ablation").find())) == 3 and list(Store(tmp_path).find()) == []
    assert "skip elene | 0.500 (+0.000, 2.00x)" in (tmp_path / "ablation" / "README.md").read_text()
    refused = CliRunner().invoke(app, [*arguments, "training.epochs=3"])
    assert refused.exit_code == 2 and "ablation has settings of its own" in " ".join(refused.stderr.split())
