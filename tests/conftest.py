from __future__ import annotations

import os

import pytest

# Two test workers with two OpenMP threads each wait for one another most of the time; read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config):
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        # Hashes wrap around on purpose: compiled code does so silently, numpy's scalars warn.
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache of data sets for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELENE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
