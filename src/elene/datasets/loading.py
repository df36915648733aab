"""Where data sets are found: in the cache, in the folder that ``ELENE_DATA`` names, or else made or downloaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elene.datasets.brec import brec_collection, read_brec
from elene.datasets.canonical import canonical, digest
from elene.datasets.collection import Collection
from elene.datasets.info import DatasetInfo, Edition
from elene.datasets.registry import find
from elene.extras import needing

if TYPE_CHECKING:
    from elene.datasets.pyg import GraphDataset

FEWEST_CACHED = 100  # so few graphs are built as fast as they are read


class Where(StrEnum):
    """Where a data set would come from now."""

    cache = "cached"
    stored = "ELENE_DATA"
    generated = "generated"
    download = "download"
    missing = "missing"


def load(name: str, root: str | os.PathLike[str] | None = None) -> GraphDataset:
    """A data set for PyG, with its splits; see ``elene datasets`` for the names.

    It is looked for in the cache, then in the folder that the environment variable ``ELENE_DATA`` names. If it is in
    neither it is generated or downloaded, and cached. Its content is compared with the registry each time.

    Args:
        name: a data set's name.
        root: the folder of the cache; by default that of the environment variable ``ELENE_CACHE``, or ~/.cache/elene.

    Example:
        >>> dataset = load("sr25")
        >>> dataset, dataset.info.metric
        (GraphDataset(sr25, 15 graphs), 'accuracy')
        >>> from torch_geometric.loader import DataLoader
        >>> loader = DataLoader(dataset[dataset.splits[0].train], batch_size=5, shuffle=True)
    """
    with needing("torch", "elene.datasets.load (not load_collection)"):
        from elene.datasets.pyg import GraphDataset

    info = find(name)
    collection, edition = _obtain(info, cache_folder(root))
    return GraphDataset(info, edition, collection)


def content_hash(name: str, root: str | os.PathLike[str] | None = None) -> str:
    """The SHA-256 of the content that :func:`load` would give; a file that is not changed is read once.

    Args:
        name: a data set's name.
        root: the folder of the cache, as in :func:`load`.

    Example:
        >>> content_hash("sr25") == load("sr25").edition.sha256
        True
    """
    info, folder = find(name), cache_folder(root)
    for path in (_cached(info, folder), _stored(info)):
        if path is not None and path.is_file():
            state = path.stat()
            return _hash_of_file(name, folder, str(path), state.st_mtime_ns, state.st_size)
    return _known_hash(_obtain(info, folder)[1])


@cache
def _hash_of_file(name: str, folder: Path, *state: str | int) -> str:
    return _known_hash(_obtain(find(name), folder)[1])


def _known_hash(edition: Edition) -> str:
    assert edition.sha256 is not None
    return edition.sha256


def load_collection(name: str, root: str | os.PathLike[str] | None = None) -> Collection:
    """The same graphs as flat arrays, for use without torch; features and targets are as in the files.

    Args:
        name: a data set's name.
        root: the folder of the cache, as in :func:`load`.

    Example:
        >>> load_collection("sr25").graph(0)
        Graph(num_nodes=25, num_edges=150)
    """
    return _obtain(find(name), cache_folder(root))[0]


def cache_folder(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the cache: the given one, that of ``ELENE_CACHE``, or ~/.cache/elene."""
    return Path(root or os.environ.get("ELENE_CACHE") or Path("~", ".cache", "elene")).expanduser()


def where(info: DatasetInfo, root: str | os.PathLike[str] | None = None) -> Where:
    """Where a data set would come from now, judged by which files are there.

    >>> from elene.datasets.registry import find
    >>> where(find("sr25"), root="no such folder").value
    'generated'
    """
    if _cached(info, cache_folder(root)).is_file():
        return Where.cache
    stored = _stored(info)
    if stored is not None and stored.is_file():
        return Where.stored
    if info.generated:
        return Where.generated
    return Where.missing if info.download is None else Where.download


def _cached(info: DatasetInfo, folder: Path) -> Path:
    return folder / f"{info.name}.npz"


def _stored(info: DatasetInfo) -> Path | None:
    folder = os.environ.get("ELENE_DATA")
    if not folder:
        return None
    return Path(folder, "brec_pairs.tsv" if info.name == "brec" else f"collections/{info.name}.npz").expanduser()


def _obtain(info: DatasetInfo, folder: Path) -> tuple[Collection, Edition]:
    cached, stored = _cached(info, folder), _stored(info)
    if cached.is_file():
        return _read(info, cached, f"delete {cached}, and it is made anew")
    if stored is not None and stored.is_file():
        return _read(info, stored, f"put a good copy in place of {stored}, or unset ELENE_DATA")
    worth_keeping = info.editions[0].graphs >= FEWEST_CACHED
    if worth_keeping:
        _check_writable(folder)
    made = canonical(_make(info, cached))
    what = f"what numpy {np.__version__} drew" if info.generated else "what was downloaded"
    edition = _identify(info, made, what, "please report this")
    if worth_keeping:
        made.save(cached)
    return made, edition


def _check_writable(folder: Path) -> None:
    """Before the work, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"the cache {folder} cannot be made ({error}): pass another root, or set ELENE_CACHE") from error
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"nothing can be written to the cache {folder}: pass another root, or set ELENE_CACHE")


def _make(info: DatasetInfo, cached: Path) -> Collection:
    if info.generated:
        from elene.datasets.generators.makers import MAKERS

        with working(f"Generating {info.title}"):
            return MAKERS[info.name]()
    if info.download is None:
        raise FileNotFoundError(f"{info.name} is neither generated nor downloaded: {_say_where(info)}")
    from elene.datasets.remote import check_reachable, download

    address = info.download.origin
    try:
        check_reachable(address)
        with working(f"Downloading {info.title}"):
            return download(info.name, cached.parent)
    except OSError as error:
        raise FileNotFoundError(
            f"{info.name} is not at hand, and cannot be downloaded from {address} ({error}). Where there is a network, "
            f"elene.datasets.load({info.name!r}) makes {cached.name} in its cache: copy that file to {cached}, or "
            f"{_say_where(info)}"
        ) from error


def _say_where(info: DatasetInfo) -> str:
    if info.name == "brec":
        layout = "brec_pairs.tsv, a table that elene.datasets.read_brec describes"
    else:
        layout = f"collections/{info.name}.npz, with the arrays that elene.datasets.Collection describes"
    folder = os.environ.get("ELENE_DATA")
    found = "" if not folder else f" (now {folder}, which does not)"
    return f"let ELENE_DATA name a folder that holds {layout}{found}. Made by: {info.credit}"


def _read(info: DatasetInfo, path: Path, fix: str) -> tuple[Collection, Edition]:
    try:
        collection = canonical(brec_collection(read_brec(path)) if path.suffix == ".tsv" else Collection.load(path))
    except PermissionError:
        raise
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} cannot be read ({error.__cause__ or error}): {fix}") from error
    return collection, _identify(info, collection, str(path), fix)


def _identify(info: DatasetInfo, collection: Collection, what: str, fix: str) -> Edition:
    """The edition that a content is, which decides what may be said about results on it; with the content's hash."""
    counts = (len(collection), int(collection.node_ptr[-1]), int(collection.edge_ptr[-1]))
    sha256 = digest(collection)
    for edition in info.editions:
        if edition.known_by(sha256, counts):
            return replace(edition, sha256=sha256)
    known = " or ".join(_say_counts(one.graphs, one.nodes, one.arcs, one.sha256) for one in info.editions)
    raise ValueError(f"{what} is not {info.title}: {_say_counts(*counts, sha256)}, but {known} is wanted: {fix}")


def _say_counts(graphs: int, nodes: int | None, arcs: int | None, sha256: str | None) -> str:
    counts = ((graphs, "graphs"), (nodes, "nodes"), (arcs, "arcs"))
    words = [f"{count} {what}" for count, what in counts if count is not None]
    return ", ".join([*words, *([f"SHA-256 {sha256[:16]}..."] if sha256 else [])])


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal what takes a while and for how long, if rich is installed."""
    try:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ModuleNotFoundError:
        yield
        return
    columns, console = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()), Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        progress.add_task(what, total=None)
        yield
