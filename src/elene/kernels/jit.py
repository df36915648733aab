"""The one place for numba's flags."""

from __future__ import annotations

import numba

# Compiled on first call and cached on disk; no `parallel=True`: its threads do not survive a fork: engine.parallel.
kernel = numba.njit(nogil=True, cache=True, error_model="numpy")

# For the pieces of a kernel: a call costs reference counts on every array it passes, more than some ego-networks take.
inlined = numba.njit(nogil=True, inline="always", error_model="numpy")
