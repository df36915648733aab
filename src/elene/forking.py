"""Forks that are safe while other threads are at work: a child has no thread that could release what it waits for.

What another thread may hold when a process forks, and a child would wait for in vain: a module that is being imported,
the locks of numba and LLVM while a kernel is compiled, and before Python 3.12 the lock of every ``cached_property``. So
a fork waits until nothing is being imported or compiled, and our cached properties have no lock.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401 - with hooks of its own, which must not be added while ours are waiting
import functools
import importlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any

# Imports that are waited for: ours, and those that ours lead to. They all end.
ROOTS = frozenset({"elene", "llvmlite", "networkx", "numba", "numpy", "pyarrow", "scipy", "sklearn"})
PAUSE = 0.001  # seconds between two looks at imports

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):
        """``functools.cached_property`` as it is from Python 3.12 on: without a lock."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            kept = instance.__dict__
            if self.attrname not in kept:
                kept[self.attrname] = self.func(instance)
            return kept[self.attrname]


_held: list[list[Any]] = []  # by the thread that forks, from before to after


def _compiler_locks() -> list[Any]:
    """The locks of whatever compiler is loaded, in the order in which it takes them."""
    numba, llvm = (sys.modules.get(name) for name in ("numba.core.compiler_lock", "llvmlite.binding.ffi"))
    found = [getattr(numba, "global_compiler_lock", None), getattr(getattr(llvm, "lib", None), "_lock", None)]
    return [lock for lock in found if lock is not None]


def _importing_elsewhere() -> bool:
    """Whether another thread is in the middle of an import."""
    names = {
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ROOTS and getattr(getattr(module, "__spec__", None), "_initializing", False)
    }
    frame = sys._getframe() if names else None
    while frame is not None:
        names.discard(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return bool(names)


def _before() -> None:
    while True:
        while _importing_elsewhere():
            time.sleep(PAUSE)
        locks = _compiler_locks()
        for lock in locks:
            lock.__enter__()
        _imp.acquire_lock()  # no import begins from here on
        if not _importing_elsewhere():
            _held.append(locks)
            return
        _release(locks)  # to compile may be part of an import


def _release(locks: list[Any]) -> None:
    _imp.release_lock()
    for lock in reversed(locks):
        lock.__exit__(None, None, None)


def _after_in_parent() -> None:
    _release(_held.pop())


def _after_in_child() -> None:
    # What was being looked for, and not found yet, is looked for again.
    getattr(importlib._bootstrap, "_module_locks", {}).clear()
    _after_in_parent()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
