"""Files that are there whole or not at all, and files that one process holds at a time."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # not on Windows, where nothing is held
    fcntl = None  # type: ignore[assignment]

PATIENCE = 5  # looks at a file whose holder has not said yet who it is


class Held(BlockingIOError):
    """Another process, or another block of this one, holds a file; the message says who."""


def check_path(name: str, path: str | os.PathLike[str]) -> Path:
    """The path; an integer is none, though ``open`` takes it for an open file.

    >>> check_path("path", "out.npz").suffix
    '.npz'
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{name} must be the name of a file, as a str or a pathlib.Path; got {path!r}")
    if "\0" in os.fspath(path):
        raise ValueError(f"{name} must be the name of a file, and none holds a null byte; got {path!r}")
    return Path(path)


def followed(path: str | os.PathLike[str]) -> Path:
    """The file that a path stands for: where it is a link, what that points at.

    >>> followed("out.npz").name
    'out.npz'
    """
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside the target, with the same ending, moved into place when the block ends without an error.

    A link is followed. What a process that was killed left behind is used again or removed.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "out.txt")
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    target = followed(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(target.parent)!r} does not exist: create it first")
    temporary, descriptor = _reserve(target)
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(descriptor)


def _reserve(target: Path) -> tuple[Path, int]:
    """A temporary file that no other writer of the target uses, locked, so that they can tell."""
    for number in count():
        temporary = _temporary_name(target, number)
        descriptor = _lock(temporary)
        if descriptor is not None:
            os.truncate(descriptor, 0)
            _remove_left_overs(target, number + 1)
            return temporary, descriptor
    raise AssertionError("numbers do not end")


def _remove_left_overs(target: Path, number: int) -> None:
    while (path := _temporary_name(target, number)).exists() and (descriptor := _lock(path)) is not None:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        number += 1


def _temporary_name(target: Path, number: int) -> Path:
    return target.with_name(f".{target.stem}.part{number or ''}{target.suffix}")


@contextmanager
def holding(path: str | os.PathLike[str], what: str = "", advice: str = "") -> Iterator[None]:
    """Hold a file while the block runs; it says who holds it, and is gone afterwards.

    The system lets go of it when the process ends, however it ends, and not while it is stopped. What a dead process
    left behind is no obstacle.

    Args:
        path: the file.
        what: what an error says is being done by whoever holds the file; by default that it is held.
        advice: what the error says to do.

    Raises:
        Held: another process, or another block of this one, holds the file.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp(), "run.lock")
        >>> with holding(target), holding(target):
        ...     pass
        Traceback (most recent call last):
        ...
        elene.files.Held: ...run.lock is held by process ... since ...
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _lock(target)
    if descriptor is None:
        raise Held(f"{what or f'{target} is held'} by {_holder(target)}" + (f": {advice}" if advice else ""))
    try:
        os.truncate(descriptor, 0)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        os.write(descriptor, f"process {os.getpid()} on {platform.node()} since {now} UTC".encode())
        yield
    finally:
        target.unlink(missing_ok=True)
        os.close(descriptor)


def _holder(path: Path) -> str:
    for _ in range(PATIENCE):
        with suppress(OSError, UnicodeDecodeError):
            if holder := path.read_text():
                return holder
        time.sleep(0.01)
    return "another process"


def _lock(path: Path) -> int | None:
    """Open a file, made where there is none, and lock it for as long as it is open; None if somebody else has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            pass  # a file system without locks
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        # Whoever held it may have taken it away between the two steps, and a third may have made it anew.
        os.close(descriptor)
