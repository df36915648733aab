from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache of data sets for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELENE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
