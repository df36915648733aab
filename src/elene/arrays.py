"""Archives of arrays (.npz), read with distrust: no pickle, and no memory for more than the file can hold."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# No byte of a deflated stream stands for more; a few hundred bytes of every member are its header.
MOST_INFLATED = 1032
BLOCK = 2**20
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Arrays(Mapping[str, NDArray[Any]]):
    """The arrays of an archive by name, each read and checked when it is asked for."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive, self._size = archive, size
        self._members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._members:
            raise ValueError(f"there is no array {name!r}, only {', '.join(self._members) or 'an empty archive'}")
        info = self._members[name]
        self._check_size(name, info)
        with self._archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            if version not in _HEADERS:
                raise ValueError(f"array {name!r} has the unknown format {version}")
            shape, columns_first, dtype = _HEADERS[version](member)
            if dtype.hasobject:
                raise ValueError(f"array {name!r} holds Python objects, which are never read (allow_pickle=False)")
            claimed, there = math.prod(shape) * dtype.itemsize, info.file_size - member.tell()
            if claimed > there:
                raise ValueError(
                    f"an array is larger than the memory that the file has for it: {name!r} of shape {shape} "
                    f"takes {claimed} bytes, and {there} are there"
                )
            content, length = np.empty(claimed, np.uint8), 0
            while block := member.read(BLOCK):
                if length + len(block) <= claimed:
                    content[length : length + len(block)] = np.frombuffer(block, np.uint8)
                length += len(block)
        if length != claimed:
            raise ValueError(f"array {name!r} of shape {shape} takes {claimed} bytes, and {length} are there")
        if not claimed:
            return np.empty(shape, dtype)
        return content.view(dtype).reshape(shape, order="F" if columns_first else "C")

    def _check_size(self, name: str, info: zipfile.ZipInfo) -> None:
        most = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_INFLATED}.get(info.compress_type)
        if most is None:
            raise ValueError(f"array {name!r} is packed in a way that numpy does not use")
        if info.file_size > most * min(info.compress_size, self._size):
            raise ValueError(f"array {name!r} cannot have the {info.file_size} bytes that the archive announces")


@contextmanager
def opened(path: Path) -> Iterator[Arrays]:
    """The arrays of an ``.npz`` file; whatever is wrong with it is a ValueError.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "two.npz")
    >>> np.savez(path, a=np.arange(3), b=np.ones(2))
    >>> with opened(path) as arrays:
    ...     list(arrays), arrays["a"].tolist()
    (['a', 'b'], [0, 1, 2])
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield Arrays(archive, path.stat().st_size)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"not an .npz archive, or only a part of one: {error}") from error
    except (KeyError, RuntimeError, OverflowError, SyntaxError, UnicodeError, struct.error) as error:
        raise ValueError(f"a damaged .npz archive: {error}") from error
