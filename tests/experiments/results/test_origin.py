"""Origin: which commit made a result, what was changed since, and which data it was made of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import elene
from elene.datasets import load
from elene.datasets.loading import content_hash
from elene.experiments.results.origin import code_in, origin_of

NAMES = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


def git(folder, *arguments, **variables):
    environment = {**NAMES, "HOME": str(folder), "PATH": "/usr/bin:/bin:/usr/local/bin", **variables}
    found = subprocess.run(["git", "-C", folder, *arguments], env=environment, check=True, capture_output=True)
    return found.stdout.decode().strip()


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "src" / "elene"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one", GIT_COMMITTER_DATE="2026-01-02T03:04:05+0200")
    return folder


def test_the_commit_and_when_it_was_made(package):
    found = code_in(package)
    assert found.commit == git(package, "rev-parse", "HEAD")
    assert (found.changes, found.committed) == ("", "2026-01-02T01:04:05Z")
    assert found.name == found.commit[:10]


def test_changes_are_marked_and_told_apart(package):
    clean = code_in(package)
    (package / "__init__.py").write_text("x = 1")
    changed = code_in(package)
    assert changed.commit == clean.commit and changed.name == f"{clean.name}+{changed.changes}"
    (package / "__init__.py").write_text("x = 2")
    (package / "new.py").write_text("")
    both = code_in(package)
    git(package, "add", ".")
    names = {clean.name, changed.name, both.name}
    assert len(names) == 3 and clean.age < changed.age
    git(package, "checkout", "-q", "HEAD", "--", ".")
    git(package, "rm", "-q", "-f", "new.py")
    assert code_in(package) == clean


def test_what_is_not_the_librarys_code_is_no_change(package):
    (package.parent / "notes.txt").write_text("results, for example")
    assert code_in(package).changes == ""


def test_newer_commits_are_newer(package):
    first = code_in(package)
    git(package, "commit", "-q", "--allow-empty", "-m", "two", GIT_COMMITTER_DATE="2026-01-02T03:04:05+0000")
    assert code_in(package).age > first.age


def test_a_repository_that_does_not_track_the_package_says_nothing_about_it(package):
    installed = package.parent / "environment"
    installed.mkdir()
    (installed / "__init__.py").write_text("")
    assert code_in(installed).name == f"v{elene.__version__}"


def test_variables_of_a_hook_do_not_mislead(package, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    expected = code_in(package)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert code_in(package) == expected


def test_without_git_there_is_the_version(package, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert code_in(package).name == f"v{elene.__version__}"


def test_the_hash_of_the_data_is_that_of_what_is_loaded():
    assert origin_of("counting").data == load("counting").edition.sha256 == content_hash("counting")
    assert origin_of("counting").data != origin_of("sr25").data


def test_a_file_is_hashed_anew_when_it_changes(tmp_path, monkeypatch):
    """Damaged data must not pass for what it was before."""
    monkeypatch.setenv("ELENE_CACHE", str(tmp_path))
    content_hash("counting")
    content_hash("counting")
    Path(tmp_path, "counting.npz").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="cannot be read"):
        content_hash("counting")
