"""How far a long call is, on one line of standard error, for whoever asked for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

EVERY = 0.2  # seconds between two lines
_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


def tell(share: float) -> None:
    """Say that this share of a stage, more than nothing, is done; nobody may be listening.

    >>> with showing("counting"):
    ...     tell(0.5)
    """
    listener = _listener.get()
    if listener is not None:
        listener(share)


@contextmanager
def showing(what: str) -> Iterator[None]:
    """Show on standard error what is told inside the block, and in the end the time it took.

    >>> with showing("counting"):
    ...     tell(1.0)
    """
    started = stage = said = monotonic()
    done = 0.0

    def listen(share: float) -> None:
        nonlocal stage, said, done
        now = monotonic()
        if share < done:  # the next stage: several depths come one after the other
            stage = said
        done = share
        if now - said >= EVERY:
            said = now
            _write(f"{what}: {share:4.0%}, {(now - stage) * (1 / share - 1):.0f} s left")

    token = _listener.set(listen)
    try:
        yield
        _write(f"{what}: done in {monotonic() - started:.1f} s")
    finally:
        _listener.reset(token)
        print(file=sys.stderr, flush=True)


def _write(line: str) -> None:
    print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)
