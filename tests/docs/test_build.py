"""The whole site, built as `make docs` does: only where a folder for it is named, since it runs every example."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif("ELENE_SITE" not in os.environ, reason="ELENE_SITE does not name a folder to build the site in")
def test_the_site_builds_without_a_warning_and_without_a_broken_link():
    site = os.environ["ELENE_SITE"]
    for command in (["-m", "sphinx", "-W", "--keep-going", "-q", DOCS, site], [DOCS / "check.py", site]):
        run = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True)
        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
