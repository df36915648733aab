"""``elene datasets``: every data set with where it would come from, on one line of a narrow terminal."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from elene.cli import app
from elene.datasets import DATASETS


@pytest.fixture
def narrow(monkeypatch, tmp_path):
    """A terminal of 80 columns, an empty cache and nothing stored."""
    monkeypatch.delenv("ELENE_DATA", raising=False)
    monkeypatch.setenv("ELENE_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["datasets", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def rows(text):
    return {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}


def test_everything_is_listed_and_nothing_is_cut_off(narrow):
    text = run().stdout
    listed = rows(text)
    assert all(listed[info.name][-1] in ("generated", "download", "missing") for info in DATASETS)
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert listed["zinc12k"] == ["zinc12k", "1", "target", "mae", "12,000", "23", "25", "download"]
    assert listed["molpcba"][-3:] == ["~26", "~28", "download"]
    assert listed["pattern"][1:4] == ["2", "node", "classes"]
    assert [listed[name][-1] for name in ("sr25", "exp", "cifar10")] == ["generated", "missing", "download"]


def test_what_is_cached_or_stored_shows(narrow, monkeypatch):
    (narrow / "cifar10.npz").write_bytes(b"")
    (narrow / "brec_pairs.tsv").write_bytes(b"")
    monkeypatch.setenv("ELENE_DATA", str(narrow))
    listed = rows(run().stdout)
    assert [listed[name][-1] for name in ("cifar10", "brec", "exp")] == ["cached", "ELENE_DATA", "missing"]


@pytest.mark.parametrize("info", DATASETS, ids=lambda info: info.name)
def test_one_is_explained(narrow, info):
    text = " ".join(run(info.name).stdout.split())
    assert info.title in text and info.metric in text
    for edition in info.editions:
        assert edition.note in text and edition.label in text
        # Long addresses are folded.
        assert not edition.is_download or edition.origin in text.replace(" ", "")


def test_a_substitute_is_explained(narrow):
    assert "(substitute train) Validation and test are the published ones" in " ".join(run("zinc12k").stdout.split())


def test_an_unknown_name_is_refused(narrow):
    result = run("zinc-12k", code=2)
    assert result.stdout == "" and "did you mean 'zinc12k'?" in " ".join(result.stderr.split())


def test_help_has_an_example():
    assert "elene datasets" in run("--help").stdout.partition("Example:")[2]


def test_the_module_is_the_command(narrow):
    text = subprocess.run([sys.executable, "-m", "elene.datasets", "sr25"], capture_output=True, text=True, check=True)
    assert text.stdout == run("sr25").stdout


def test_the_registry_needs_no_torch(narrow):
    code = "import sys, elene.datasets, elene.datasets.registry; print('torch' in sys.modules, 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False False"
