from __future__ import annotations

import os


def pytest_configure(config):
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        # Hashes wrap around on purpose: compiled code does so silently, numpy's scalars warn.
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")
