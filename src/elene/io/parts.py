"""Finished chunks of an encoding, a file each, in a folder that belongs to one run and one setting at a time.

A lock in the folder says who works there. Every part carries a seal: a digest of its content and of everything that the
content depends on. A part whose seal is broken, for whatever reason, is as good as none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene import __version__
from elene.arrays import opened
from elene.encoding import Encoding
from elene.encoding.archive import plain_labels
from elene.encoding.counts import farthest_seen
from elene.encoding.encoding import encode_rows
from elene.encoding.spec import LEARNED, EncodingSpec
from elene.engine.plan import Rows
from elene.files import holding, replacing
from elene.forking import cached_property
from elene.graph import Graph, warn

MAX_INT32 = 2**31 - 1
LOCK, MANIFEST = "lock", "manifest.json"


@contextmanager
def working_in(folder: Path, what: str) -> Iterator[bool]:
    """Have a folder of parts for oneself; gives whether it was there before."""
    with ExitStack() as stack:
        while True:
            existed = folder.exists()
            folder.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # another run that just ended removed it
                _refuse_strangers(folder)
                advice = "wait until it ends, or name another output"
                stack.enter_context(holding(folder / LOCK, f"{what} is being written", advice))
                break
        try:
            yield existed
        finally:
            stack.close()
            with suppress(OSError):  # it goes unless something is in it
                folder.rmdir()


def _refuse_strangers(folder: Path) -> None:
    for path in folder.iterdir():
        if not _is_ours(path):
            raise FileExistsError(
                f"output: {str(folder)!r} is in the way, and not a folder of parts (it holds {path.name!r}): move it"
            )


def _is_ours(path: Path) -> bool:
    return path.name in (LOCK, MANIFEST) or path.name.removeprefix(".").startswith(("part-", "manifest.part"))


@dataclass(frozen=True)
class Parts:
    """The finished chunks of an encoding, a file each, and the manifest that says what they belong to."""

    graph: Graph
    spec: EncodingSpec
    rows: Rows
    chunk: int
    folder: Path

    def __len__(self) -> int:
        return -(-len(self.rows) // self.chunk)

    def start(self, resume: bool) -> list[int]:
        """Make the folder ready; gives the chunks that are still to be computed."""
        if resume:
            self.check_manifest()
            return [number for number in range(len(self)) if not self._is_whole(number)]
        self.clear()
        with replacing(self.folder / MANIFEST) as temporary:
            temporary.write_text(json.dumps(self._manifest, indent=1))
        return list(range(len(self)))

    def clear(self) -> None:
        """Remove all that a run leaves in the folder, but the lock."""
        for path in self.folder.iterdir():
            if _is_ours(path) and path.name != LOCK:
                path.unlink()

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        """Everything that the content of the parts depends on."""
        graph = f"{self.graph.num_nodes} nodes, {self.graph.num_edges} edges, digest {_digest(self.graph)}"
        spec = {**asdict(self.spec), "depths": list(self.spec.depths)}
        return {"elene": __version__, "graph": graph, **spec, "rows": len(self.rows), "chunk": self.chunk}

    def check_manifest(self) -> None:
        """An error if the parts in the folder are not parts of this."""
        try:
            found = dict(json.loads((self.folder / MANIFEST).read_text()))
        except (OSError, ValueError, TypeError):
            raise ValueError(
                f"resume: {str(self.folder)!r} has no readable manifest.json: leave out resume to start over"
            ) from None
        differing = [name for name, value in self._manifest.items() if found.get(name) != value]
        if differing:
            then = ", ".join(f"{name}={found.get(name)!r}" for name in differing)
            now = ", ".join(f"{name}={self._manifest[name]!r}" for name in differing)
            raise ValueError(
                f"resume: the parts in {str(self.folder)!r} were made with {then}, and now it is {now}: "
                "repeat the first command, or leave out resume to start over"
            )

    def _is_whole(self, number: int) -> bool:
        path = self._path(number)
        if not path.exists():
            return False
        try:
            with opened(path) as file:
                arrays = dict(file)
            if arrays.pop("seal").tobytes() == self._seal(number, arrays):
                return True
        except (OSError, ValueError, KeyError):
            pass
        warn(f"{path} is damaged: computing it again")
        return False

    def _seal(self, number: int, arrays: dict[str, NDArray[Any]]) -> bytes:
        digest = blake2b(json.dumps([self._manifest, number]).encode(), digest_size=16)
        for name in sorted(arrays):
            array = arrays[name]
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:06d}.npz"

    def rows_of(self, number: int) -> Rows:
        """The rows of a chunk."""
        return self.rows.at(slice(number * self.chunk, (number + 1) * self.chunk))

    def save(self, number: int, encoding: Encoding) -> None:
        """Keep a finished chunk: its counts and, where they are not known beforehand, its columns."""
        matrix = encoding.matrix
        indices = matrix.indices.astype(integer_for(matrix.shape[1]), copy=False)
        arrays = {"data": matrix.data, "indices": indices, "indptr": matrix.indptr}
        if self._is_learned:
            arrays["table"] = encoding.table
        seal = np.frombuffer(self._seal(number, arrays), np.uint8)
        with replacing(self._path(number)) as temporary:
            np.savez(temporary, seal=seal, **arrays)

    def load(self, number: int, name: str) -> NDArray[Any]:
        """One array of a part."""
        try:
            with opened(self._path(number)) as file:
                return file[name]
        except (OSError, ValueError) as error:
            raise ValueError(f"{self._path(number)} is damaged ({error}): resume computes it again") from error

    @cached_property
    def counts(self) -> list[int]:
        """How many counts each part holds."""
        return [int(self.load(number, "indptr")[-1]) for number in range(len(self))]

    @cached_property
    def empty(self) -> Encoding:
        """The encoding of no rows: it has the types of all arrays and, unless they are learned, the columns."""
        return encode_rows(self.graph, self.spec, self.rows.at(slice(0)), 1)

    @property
    def _is_learned(self) -> bool:
        """Whether each part has columns of its own."""
        return self.spec.form in LEARNED

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """What the columns of the whole encoding count."""
        if not self._is_learned:
            return self.empty.table
        table = self._vocabulary.view(">u8").reshape(-1, self.empty.table.shape[1]).astype(np.int64)
        table[:, 0] = np.array(self.spec.depths)[table[:, 0]]
        return table

    def reach(self) -> int:
        """The largest distance that a node is counted at; -1 if none is."""
        found = (farthest_seen(self.columns(number), self.table, self.spec) for number in range(len(self)))
        return max(found, default=-1)

    def columns(self, number: int) -> NDArray[Any]:
        """For each count of a part, its column in the table of the whole."""
        indices = self.load(number, "indices")
        if not self._is_learned:
            return indices
        place = np.searchsorted(self._vocabulary, self._keys(self.load(number, "table")))
        columns: NDArray[Any] = place[indices]
        return columns

    def matrix(self, number: int) -> csr_array:
        """The counts of a part, by the columns of the whole."""
        counts = (self.load(number, "data"), self.columns(number), self.load(number, "indptr"))
        return csr_array(counts, shape=(len(self.rows_of(number)), len(self.table)))

    @cached_property
    def _vocabulary(self) -> NDArray[np.bytes_]:
        """The columns of all parts, each once, in the order of the one table they share."""
        known, fresh = self._keys(self.empty.table), []
        for number in range(len(self)):
            fresh.append(self._keys(self.load(number, "table")))
            # Sorting only once as much is new as is known keeps all sorting together to a few times the last one.
            if sum(map(len, fresh)) > len(known) or number == len(self) - 1:
                known, fresh = np.unique(np.concatenate([known, *fresh])), []
        return known

    def _keys(self, table: NDArray[np.int64]) -> NDArray[np.bytes_]:
        """Columns as bytes that sort as columns do: by the place of their depth, then by their numbers."""
        order = np.argsort(self.spec.depths)
        place = order[np.searchsorted(np.array(self.spec.depths)[order], table[:, 0])]
        numbers = np.column_stack([place, table[:, 1:]]).astype(">u8")
        keys: NDArray[np.bytes_] = numbers.view(f"S{8 * numbers.shape[1]}").ravel()
        return keys


def integer_for(largest: int) -> Any:
    """The narrowest type for indices up to this number."""
    return np.int32 if largest <= MAX_INT32 else np.int64


def _digest(graph: Graph) -> str:
    digest = blake2b(digest_size=8)
    arrays: list[NDArray[Any]] = [graph.indptr, graph.indices, plain_labels(graph.nodes)]
    for array in arrays if graph.labels is None else [*arrays, graph.label_values]:
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
