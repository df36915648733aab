from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from elene.cli import app
from elene.experiments.results.store import Store
from elene.experiments.train import runner

SMALL = ["sr25", "--row", "gin+elene-ed", "model.hidden=8", "model.elene.omega=4"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def train(*arguments, code=0):
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def test_a_run_and_what_it_leaves(here):
    shown = train(*SMALL, "training.epochs=2", "--seed", 5).stdout
    [result] = Store("results").find()
    assert (result.seed, result.cost.epochs, result.spec.model.elene.omega) == (5, 2, 4)
    assert "SR25" in shown and "gin+elene-ed, seed 5" in shown and "relabelled" in shown
    [path] = Path("results").rglob("*.json")
    [model] = Path("runs").rglob("model.pt")
    assert str(path) in shown and str(model.parent) in shown
    again = train(*SMALL, "training.epochs=2", "--seed", 5)
    assert "nothing to do" in again.stderr and again.stdout == shown


def test_a_spec_of_ones_own(here):
    Path("mine.toml").write_text(
        '[dataset]\nname = "rook-shrikhande"\n[model]\nconv = "gcn"\nlayers = 1\nhidden = 4\n[training]\nepochs = 1\n'
    )
    train("mine.toml", "--results", "r", "--runs", "u")
    assert [result.spec.dataset.label for result in Store("r").find("rook-shrikhande", "model")] == ["rook-shrikhande"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sr25"], "sr25 has several models: choose a row of gin, "),
        (["sr26", "--row", "gin"], "'sr26' has no spec; did you mean 'sr25'?"),
        (["sr25", "--row", "gin", "training.epoch=3"], "training.epoch is not a setting: choose from epochs, "),
        (["sr25", "--row", "gin", "training.epochs=0"], "training.epochs must be greater than or equal to 1, got 0"),
        (["sr25", "--row", "gin", "dataset.name=sr2"], "name 'sr2' is not a data set"),
        (["sr25", "--row", "gin", "--fold", "1"], "fold must be 0 for sr25, got 1"),
        (["sr25", "--row", "gin", "--fold", "1", "--devices", "2"], "fold must be 0 for sr25, got 1"),
        (["none.toml"], "there is no file none.toml"),
    ],
)
def test_bad_input_gets_one_line(here, arguments, message):
    result = train(*arguments, code=2)
    assert result.stdout == "" and result.stderr.count("error:") == 1
    assert message in " ".join(result.stderr.split())


def test_an_interrupted_run_says_how_to_go_on(here):
    command = [sys.executable, "-m", "elene", "train", *SMALL, "training.epochs=100000"]
    environment = {**os.environ, "PYTHONWARNINGS": "default"}
    # Tests may run in the background, where interrupts are ignored, and what they start would ignore them, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        for _ in range(2000):
            if [file for file in Path("runs").rglob("metrics.csv") if file.read_text().count("\n") > 3]:
                break
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert f"To go on:\n  elene train {' '.join(SMALL)} training.epochs=100000" in said
    assert not list(Path("results").rglob("*.json"))


def test_an_interrupt_that_compiled_code_swallowed_says_how_to_go_on(here, monkeypatch):
    def run_unless_stored(*_, **__):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(runner, "run_unless_stored", run_unless_stored)
    assert f"To go on:\n  elene train {' '.join(SMALL)}" in train(*SMALL, code=130).stderr
