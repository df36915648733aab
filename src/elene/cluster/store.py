"""GraphStore: a graph as a folder of arrays on disk, read where it is asked for and never loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elene.cluster.columns import digest_of, mapped
from elene.files import check_path
from elene.forking import cached_property
from elene.graph import Graph
from elene.html import table
from elene.validation import brief

if TYPE_CHECKING:
    from elene.kernels.data import Adjacency

FORMAT = 1
MANIFEST = "manifest.json"
NEEDED = ("indptr", "indices", "pointers", "ranked", "split")
SMALL = 1 << 24  # bytes of an array whose content is looked at whenever a store is opened


@dataclass(frozen=True)
class Manifest:
    """What a store holds, and where it came from.

    Attributes:
        nodes: how many there are.
        edges: how many there are.
        max_degree: the largest degree.
        rows: how many rows the files had.
        loops: how many of them were self-loops, and dropped.
        repeated: how many named an edge that another row names, in either direction, and were dropped.
        classes: what the labels 0, 1, ... were called, where they were not integers from 0 on.
        arrays: type, length, bytes and digest of each array, by name.
        digest: of the content: stores of equal ones hold the same graph.
    """

    nodes: int
    edges: int
    max_degree: int
    rows: int
    loops: int
    repeated: int
    classes: list[Any] | None
    arrays: dict[str, dict[str, Any]]
    digest: str
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Put it into the folder."""
        (folder / MANIFEST).write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """That of a folder, or an error that says what it is not."""
        if not folder.is_dir():
            raise FileNotFoundError(f"folder: there is no store {str(folder)!r}: build it with elene store")
        try:
            found = cls(**json.loads((folder / MANIFEST).read_text()))
        except FileNotFoundError:
            raise ValueError(f"folder: {str(folder)!r} is no graph store: it has no {MANIFEST}") from None
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"{str(folder)!r}: {MANIFEST} cannot be read: {error}") from None
        if found.format != FORMAT:
            raise ValueError(f"{str(folder)!r} has the format {found.format}, and this is for {FORMAT}: build it anew")
        if found.digest != content_digest(found.arrays) or not set(NEEDED) <= set(found.arrays):
            raise ValueError(f"{str(folder)!r}: {MANIFEST} was changed: build the store anew")
        return found


def content_digest(arrays: dict[str, dict[str, Any]]) -> str:
    """One digest of all arrays, from theirs."""
    told = sorted((name, about["blake2b"]) for name, about in arrays.items())
    return blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


class GraphStore(Graph):
    """A graph on disk, taken wherever a :class:`Graph` is: a folder of memory-mapped arrays with a manifest.

    Opening it reads next to nothing, whatever its size. What is read often stays in the system's cache and is shared by
    all processes of a machine; none of it counts as memory of theirs.

    Example:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "edges.csv").write_text("source,target\\nann,ben\\nben,cat\\ncat,ben\\n")
        >>> store = GraphStore.build(folder / "edges.csv", folder / "friends.elene")
        >>> store
        GraphStore('...friends.elene', num_nodes=3, num_edges=2)
        >>> store.manifest.repeated
        1
        >>> from elene import encode
        >>> encode(store, k=1, compact=True).row("ben").tolist()
        [1, 0, 1, 0, 1, 2, 2, 2]
    """

    folder: Path
    manifest: Manifest
    _arrays: dict[str, NDArray[Any]]

    @classmethod
    def open(cls, folder: str | os.PathLike[str], verify: bool = False) -> GraphStore:
        """The store in a folder; an array that is not as it was written is refused by name.

        The sizes of all arrays are looked at, and the content of those below 16 MB.

        Args:
            folder: the folder.
            verify: read everything once and compare it with the digests; it takes about a second for a gigabyte.
        """
        if not isinstance(verify, bool):
            raise TypeError(f"verify must be True or False, got {brief(verify)}")
        # Links stay: other machines know the store by this name, and it may stand elsewhere there.
        place = check_path("folder", folder).absolute()
        manifest = Manifest.read(place)
        arrays = {name: _checked(place, name, about, verify) for name, about in manifest.arrays.items()}
        store = object.__new__(cls)
        classes = None if manifest.classes is None else np.array(manifest.classes)
        store._set(arrays["indptr"], arrays["indices"], arrays.get("names"), arrays.get("labels"), classes)
        for name, value in (("folder", place), ("manifest", manifest), ("_arrays", arrays)):
            object.__setattr__(store, name, value)
        return store

    @classmethod
    def build(  # noqa: PLR0913 - every argument but the first two is an option with a default
        cls,
        files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        folder: str | os.PathLike[str],
        *,
        nodes: str | os.PathLike[str] | None = None,
        label: str | None = None,
        source: str | int | None = None,
        target: str | int | None = None,
        header: bool | None = None,
        memory: str = "2GB",
        progress: bool = False,
    ) -> GraphStore:
        """A store from edge tables of any size, Parquet or text: what does not fit in memory is sorted on disk.

        Rows are edges, in either direction or both. Self-loops and repeated edges are dropped and counted. Nodes are
        numbered by ascending name, as :meth:`Graph.read` numbers them. Stopped in between, nothing is left.

        Args:
            files: one or several files, ``.parquet``, or text with one edge a line (``.csv .tsv .txt``, also ``.gz``).
            folder: where the store is to be; beside it are temporary files as large as the edges, until it is done.
            nodes: a table with a row for each node, its name in a column ``node``, ``id`` or ``name``, or the first
                one: those that no edge names are isolated nodes.
            label: the column of that table that holds the class of each node: integers, or names of classes.
            source: the column of edge tables that holds one end, by name or counted from 0, where it does not show.
            target: the column that holds the other end.
            header: whether the first line of a text names the columns, where it does not show.
            memory: what sorting may take, as ``"2GB"`` or ``"500MB"``.
            progress: show on standard error how far it is.
        """
        from elene.cluster.build import Sources, build
        from elene.io.readers import Options

        named = [files] if isinstance(files, str | os.PathLike) else list(files)
        sources = Sources(named, nodes, label, Options(source, target, header))
        return cls.open(build(sources, check_path("folder", folder), memory, progress))

    def verify(self) -> None:
        """Read everything once, and raise an error that names an array that is not as it was written."""
        for name, about in self.manifest.arrays.items():
            _checked(self.folder, name, about, True)

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStore.open, (str(self.folder),)

    def __repr__(self) -> str:
        return f"GraphStore({str(self.folder)!r}, num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def _repr_html_(self) -> str:
        sizes = [str(self.folder), self.num_nodes, self.num_edges, self.max_degree]
        return table(["store", "nodes", "edges", "largest degree"], [sizes])

    @property
    def in_memory(self) -> bool:
        """No: it is scanned as it is numbered."""
        return False

    @property
    def max_degree(self) -> int:
        """The largest degree; 0 for a graph without edges."""
        return self.manifest.max_degree

    @property
    def scanned(self) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        """Pointers and neighbours as kernels read them."""
        return self._arrays["pointers"], self.indices.view(np.uint32)

    @cached_property
    def ranked(self) -> Adjacency:
        """What the kernels scan, as it was ranked when the store was built."""
        from elene.kernels.data import Adjacency

        return Adjacency(self._arrays["pointers"], self._arrays["ranked"], self._arrays["split"])

    @cached_property
    def _position_of(self) -> Any:
        assert self.names is not None
        return _Sorted(self.names)


class _Sorted:
    """The places of names in ascending order, found without a dictionary of all of them."""

    def __init__(self, names: NDArray[Any]) -> None:
        self.names = names

    def __getitem__(self, name: Any) -> int:
        hash(name)  # a list is no name, as in a dictionary
        try:
            key = str(name) if self.names.dtype.kind == "U" else index(name)
        except TypeError:
            raise KeyError(name) from None
        if isinstance(key, str) != isinstance(name, str) or (not isinstance(key, str) and abs(key) >= 2**63):
            raise KeyError(name)
        place = int(np.searchsorted(self.names, np.array(key, self.names.dtype)))
        if place == len(self.names) or self.names[place] != key:
            raise KeyError(name)
        return place


def _checked(folder: Path, name: str, about: dict[str, Any], verify: bool) -> NDArray[Any]:
    """An array of a store, if it is as it was written."""
    path = folder / f"{name}.npy"
    try:
        size = path.stat().st_size
    except OSError:
        raise ValueError(f"{str(folder)!r} lacks the array {name!r}: build the store anew") from None
    wrong = f"{str(folder)!r}: the array {name!r} is not as it was written"
    if size != about["bytes"]:
        raise ValueError(f"{wrong} ({size} bytes, not {about['bytes']}): build the store anew")
    if (verify or size <= SMALL) and digest_of(path) != about["blake2b"]:
        raise ValueError(f"{wrong} (another digest): build the store anew")
    try:
        array = mapped(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{wrong} ({error}): build the store anew") from None
    if (array.dtype.str, len(array)) != (about["dtype"], about["length"]):
        raise ValueError(f"{wrong} ({array.dtype.str}, {len(array)} entries): build the store anew")
    return array


def describe_array(path: Path) -> dict[str, Any]:
    """What a manifest says about an array."""
    array = mapped(path)
    size = path.stat().st_size
    return {"dtype": array.dtype.str, "length": len(array), "bytes": size, "blake2b": digest_of(path)}
