"""Where compiled kernels are kept, and what is said while they are made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import elene

pytestmark = pytest.mark.jit

SORT = """
import numpy as np
from elene.kernels import jit
{before}
from elene.kernels.order import sort_by_key
print(sort_by_key(np.array([2, 0, 1]), 3).tolist(), sum(sort_by_key.stats.cache_hits.values()))
"""


def run_python(folder, before="", **variables):
    """What a process prints that compiles one kernel, or finds it in the cache, and what it says on standard error."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, "-c", SORT.format(before=before)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.fixture
def nowhere(tmp_path):
    """A copy of the package in a place where nothing can be written, for a user without a home."""
    shutil.copytree(Path(elene.__file__).parent, tmp_path / "site/elene", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "site/elene/kernels/__pycache__").touch()
    (tmp_path / "temporary").mkdir()
    return tmp_path / "site", {"XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": str(tmp_path / "temporary")}


def test_a_temporary_folder_keeps_kernels_that_nothing_else_can(nowhere):
    folder, variables = nowhere
    for hits in (0, 1):
        found, said = run_python(folder, **variables)
        assert found == f"[1, 2, 0] {hits}"
        assert said.count("RuntimeWarning") == 1 and "NUMBA_CACHE_DIR" in said
    (kept,) = Path(variables["TMPDIR"]).iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_kernels_count_as_long_as_all_of_them_are_the_same(tmp_path):
    """What is inlined in a kernel comes from other files, which numba does not look at."""
    shutil.copytree(Path(elene.__file__).parent, tmp_path / "elene", ignore=shutil.ignore_patterns("__pycache__"))
    kernels = tmp_path / "elene/kernels"
    for hits, change in ((0, None), (1, None), (0, "count.py"), (1, None), (0, "order*.nbi"), (1, None)):
        if change is not None:
            (file,) = [*kernels.glob(change), *kernels.glob(f"__pycache__/{change}")]
            content = file.read_bytes()
            file.write_bytes(content + b"# other" if change.endswith("py") else content[:-9])
        assert run_python(tmp_path) == (f"[1, 2, 0] {hits}", "")


@pytest.mark.parametrize("how", ["open to all", "a link", "a file"])
def test_a_folder_that_others_may_have_made_is_not_trusted(how, nowhere):
    folder, variables = nowhere
    planted = Path(variables["TMPDIR"], f"elene-kernels-{os.getuid()}")
    if how == "open to all":
        planted.mkdir()
        planted.chmod(0o777)
    elif how == "a link":
        planted.symlink_to(folder)
    else:
        planted.touch()
    found, said = run_python(folder, **variables)
    assert found == "[1, 2, 0] 0" and "each process compiles anew" in said
    assert how == "a file" or not list(planted.rglob("*.nbi"))


def test_a_long_compilation_is_announced_once(tmp_path):
    source = Path(elene.__file__).parents[1]
    eager = "jit.PATIENCE = 0.0"
    for before, hits, times in ((eager, 0, 1), (eager, 1, 0)):
        found, said = run_python(source, before, NUMBA_CACHE_DIR=str(tmp_path))
        assert found == f"[1, 2, 0] {hits}" and said.count("compiling its kernels") == times


def test_a_short_compilation_is_not(tmp_path):
    _, said = run_python(Path(elene.__file__).parents[1], "jit.PATIENCE = 60.0", NUMBA_CACHE_DIR=str(tmp_path))
    assert said == ""


LINEAR = """
import sys
import elene
encoding = elene.encode(elene.Graph.from_edges([(0, 1), (1, 2)]), 1)
print("scipy.linalg" in sys.modules)
import numba
import numpy as np
print(numba.njit(lambda a: np.dot(a, a))(2 * np.eye(2)).tolist(), "scipy.linalg" in sys.modules)
"""


def test_scipy_linalg_is_loaded_where_it_is_used_and_not_before():
    done = subprocess.run([sys.executable, "-c", LINEAR], capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.split("\n")[:2] == ["False", "[[4.0, 0.0], [0.0, 4.0]] True"]
