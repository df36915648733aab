"""Arrays on disk that are written from front to back, and a digest of their bytes on the way."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = 128  # bytes: that of numpy for any array of one row, padded as numpy pads it
BLOCK = 1 << 24  # bytes that are read at a time


class ArrayFile:
    """An array of one row as a ``.npy`` file, appended to while nobody knows yet how long it gets.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "squares.npy")
    >>> with ArrayFile(path, np.int64) as file:
    ...     file.append(np.array([0, 1]))
    ...     file.append(np.array([4]))
    >>> np.load(path).tolist()
    [0, 1, 4]
    """

    def __init__(self, path: Path, dtype: Any) -> None:
        self.dtype, self.length = np.dtype(dtype), 0
        self.file = path.open("wb")
        self.file.write(bytes(HEADER))

    def append(self, values: NDArray[Any]) -> None:
        """Put values behind those that are there."""
        self.file.write(np.ascontiguousarray(values, self.dtype).data.cast("B") if len(values) else b"")
        self.length += len(values)

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        with self.file:
            if kind is None:
                self.file.seek(0)
                header = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.length,)}
                np.lib.format.write_array_header_1_0(self.file, header)
                if self.file.tell() != HEADER:
                    raise OSError(f"the header of an array takes {self.file.tell()} bytes, not {HEADER}")


def digest_of(path: Path) -> str:
    """A hash of all bytes of a file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "empty")
    >>> path.touch()
    >>> len(digest_of(path))
    32
    """
    digest = blake2b(digest_size=16)
    with path.open("rb", buffering=0) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def mapped(path: Path) -> NDArray[Any]:
    """The array of a file, in whose place the system reads what is asked for.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "ones.npy")
    >>> np.save(path, np.ones(3))
    >>> mapped(path).flags.writeable
    False
    """
    # As a plain array: kernels are compiled for those, and need not be compiled again.
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
