"""The one place for numba's flags, for where compiled kernels are kept, and for a word while they are being made."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import numba
from numba.core import caching, event
from numba.np import linalg

PATIENCE = 2.0  # seconds of compilation that nobody is told of
NOTICE = "elene: compiling its kernels for this machine, once; `elene warmup` does it beforehand"


def _load_arrays() -> None:
    """Load numba's functions of arrays, but not scipy.linalg, which takes a tenth of a warm start.

    numba imports it there only to see whether there is a BLAS, which there is, for elene needs scipy; and again,
    with the same check, wherever it uses one.
    """
    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = check


_load_arrays()

# No `parallel=True`: its threads do not survive a fork; see engine.parallel.
_FLAGS = {"nogil": True, "error_model": "numpy"}
_CONFIG: Any = numba.config  # which has no type

# For the pieces of a kernel: a call costs reference counts on every array it passes, more than some ego-networks take.
inlined = numba.njit(inline="always", **_FLAGS)


def kernel(function: Callable[..., Any]) -> Any:
    """Compiled on first call, and kept beside the package, in the user's cache or in a temporary folder."""
    compiled: Any = numba.njit(**_FLAGS)(function)
    if _CONFIG.DISABLE_JIT:
        return compiled
    try:
        compiled._cache = _KernelCache(function)
    except RuntimeError:  # numba finds no folder that it may write to
        with _temporary_cache() as found:
            if found:
                compiled._cache = _KernelCache(function)
    return compiled


class _KernelCache(caching.FunctionCache):
    """numba's, but what was compiled counts only as long as all kernels are as they were then.

    numba looks at the file that a kernel stands in; what is inlined in it comes from other files, too.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _all_kernels()
        self._cache_file = _Index(self._cache_path, self._impl.filename_base, stamp)


class _Index(caching.IndexDataCacheFile):
    """What is kept of a kernel."""

    def _load_index(self) -> dict[Any, Any]:
        try:
            return dict(super()._load_index())
        except Exception:  # other kernels wrote it, with named tuples that are gone; or it is damaged
            return {}


@cache
def _all_kernels() -> bytes:
    """A digest of all kernels."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).digest()


@contextmanager
def _temporary_cache() -> Any:
    """Let numba keep what is decorated meanwhile in a temporary folder; gives whether there is one."""
    folder, before = _private_folder(), _CONFIG.CACHE_DIR
    _warn(folder)
    _CONFIG.CACHE_DIR = "" if folder is None else str(folder)
    try:
        yield folder is not None
    finally:
        _CONFIG.CACHE_DIR = before


def _private_folder() -> Path | None:
    """A folder that is this user's alone, for what is in it is run; None where there can be none."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"elene-kernels-{user}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022
    return folder if ours and os.access(folder, os.W_OK) else None


_warned = False


def _warn(folder: Path | None) -> None:
    global _warned
    if not _warned:
        _warned = True
        where = "nowhere, and each process compiles anew" if folder is None else f"in {folder}"
        warnings.warn(
            f"neither elene's own folder nor the user's cache can be written to: compiled kernels are kept {where}. "
            "Let NUMBA_CACHE_DIR name a folder that lasts",
            RuntimeWarning,
            stacklevel=5,
        )


class _Notice(event.Listener):
    """Says once on standard error that kernels are being compiled, when that has taken a while."""

    def __init__(self) -> None:
        self.said, self.kernels, self.depth, self.spent, self.began = False, 0, 0, 0.0, 0.0
        self.timer = threading.Timer(0, self.say)

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.kernels += 1
        if self.said:
            return
        self.depth += 1
        if self.depth == 1:
            self.began = monotonic()
            self.timer = threading.Timer(max(PATIENCE - self.spent, 0), self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        if self.said or not _is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0:
            self.timer.cancel()
            self.spent += monotonic() - self.began

    def say(self) -> None:
        self.said = True
        print(NOTICE, file=sys.stderr, flush=True)


def _is_ours(event: Any) -> bool:
    return bool(event.data["dispatcher"].py_func.__module__.startswith("elene."))


_NOTICE = _Notice()
event.register("numba:compile", _NOTICE)


def compiled() -> int:
    """How many kernels this process compiled, for nothing was kept of them."""
    return _NOTICE.kernels


def keep_quiet() -> None:
    """Do not say that kernels are being compiled: whoever calls does."""
    _NOTICE.said = True
