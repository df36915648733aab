"""Files that are there whole or not at all, and files that one process holds at a time."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

try:
    import fcntl
except ModuleNotFoundError:  # not on Windows, where nothing is held
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside the target, with the same ending, moved into place when the block ends without an error.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "out.txt")
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(target.parent)!r} does not exist: create it first")
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def holding(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a file while the block runs; it says who holds it, and is gone afterwards.

    The system lets go of it when the process ends, however it ends, and not while it is stopped. What a dead process
    left behind is no obstacle.

    Raises:
        BlockingIOError: another process, or another block of this one, holds the file.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp(), "run.lock")
        >>> with holding(target), holding(target):
        ...     pass
        Traceback (most recent call last):
        ...
        BlockingIOError: ...run.lock is held by process ... since ...
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    file = _held(target)
    try:
        file.truncate(0)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        file.write(f"process {os.getpid()} on {platform.node()} since {now} UTC")
        file.flush()
        yield
    finally:
        target.unlink(missing_ok=True)
        file.close()


def _held(path: Path) -> TextIO:
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read() or "another process"
            file.close()
            raise BlockingIOError(f"{path} is held by {holder}") from None
        # Whoever held it may have taken it away between the two steps, and a third may have made it anew.
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()
