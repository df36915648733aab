"""Data sets that are downloaded: by PyG where it knows them, from OGB's own tables otherwise, and then converted.

OGB's package is not used: it cannot read its own files under torch 2.6 and later, and its tables need no pickle.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import DTypeLike, NDArray

from elene.csr import pointers
from elene.datasets.collection import Collection
from elene.datasets.registry import find
from elene.extras import needing

SPLITS = ("train", "val", "test")  # as PyG calls them
PATIENCE = 10  # seconds until a silent server counts as out of reach


def check_reachable(address: str) -> None:
    """Raise an OSError, soon, where a server cannot be reached; PyG's downloads would wait for it without end."""
    # A server that answers with an error is there; some do not like to be asked this way.
    _downloader()(address, None, None, check_only=True)


def fetch(address: str, folder: Path) -> Path:
    """Download a file into a folder, whole or not at all; gives its path.

    Args:
        address: where it is.
        folder: where it goes; what is there already under this name is not downloaded again.
    """
    import pooch

    pooch.get_logger().setLevel("WARNING")  # the hash of what was downloaded is ours to tell
    name = address.rpartition("/")[2]
    return Path(pooch.retrieve(address, None, fname=name, path=folder, downloader=_downloader()))


def _downloader() -> Any:
    with needing("torch", "a download"):
        import pooch
    return pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=PATIENCE)


def download(name: str, folder: Path) -> Collection:
    """Download a data set and convert it.

    Args:
        name: its name in the registry.
        folder: where to put files meanwhile; nothing is left there, whatever happens.
    """
    with TemporaryDirectory(prefix=f".{name}-", dir=folder) as workplace:
        return _DOWNLOADS[name](Path(workplace))


def of_pyg(dataset: Any) -> Collection:
    """The graphs of one of PyG's in-memory data sets.

    >>> import torch
    >>> from torch_geometric.data import Data, InMemoryDataset
    >>> path = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), y=torch.tensor([1]))
    >>> dataset = InMemoryDataset()
    >>> dataset.data, dataset.slices = InMemoryDataset.collate([path, path])
    >>> of_pyg(dataset).num_arcs.tolist()
    [4, 4]
    """
    from elene.inmemory import stored

    data, ends = stored(dataset)
    node_ptr = ends["x"].numpy() if "x" in ends else pointers([dataset.get(i).num_nodes for i in range(len(dataset))])
    x = None if data.x is None else data.x.numpy()
    edge_attr = None if data.edge_attr is None else data.edge_attr.numpy().reshape(data.edge_index.shape[1], -1)
    return Collection(node_ptr, ends["edge_index"].numpy(), data.edge_index.numpy(), data.y.numpy(), x, edge_attr)


def in_a_row(parts: Sequence[Collection]) -> Collection:
    """Train, validation and test as one collection with a split.

    >>> from elene.datasets import rook
    >>> part = Collection.of_graphs([rook()], y=np.array([0]))
    >>> joined = in_a_row([part, part, part])
    >>> joined.node_ptr.tolist(), joined.extra["split"].tolist()
    ([0, 16, 32, 48], [0, 1, 2])
    """

    def rows(name: str) -> Any:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    def ends(name: str) -> NDArray[np.int64]:
        return pointers(np.concatenate([np.diff(getattr(part, name)) for part in parts]))

    edge_index = np.concatenate([part.edge_index for part in parts], axis=1)
    split = np.repeat(np.arange(len(parts), dtype=np.uint8), [len(part) for part in parts])
    columns = (rows("y"), rows("x"), rows("edge_attr"))
    return Collection(ends("node_ptr"), ends("edge_ptr"), edge_index, *columns, {"split": split})


def symmetric(collection: Collection) -> Collection:
    """Every arc's reverse added, without self-loops; an edge's features are the mean of those of its arcs.

    >>> one_way = Collection(np.array([0, 3]), np.array([0, 2]), np.array([[0, 1], [1, 2]]), y=np.array([0]))
    >>> symmetric(one_way).edge_index.tolist()
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    import torch
    from torch_geometric.utils import remove_self_loops, to_undirected

    shift = np.repeat(collection.node_ptr[:-1], collection.num_arcs)
    arcs = torch.from_numpy(collection.edge_index + shift)
    weights = None if collection.edge_attr is None else torch.from_numpy(collection.edge_attr)
    arcs, weights = remove_self_loops(arcs, weights)
    arcs, weights = to_undirected(arcs, weights, num_nodes=int(collection.node_ptr[-1]), reduce="mean")
    # They come sorted by their sources, and so by graph.
    edge_ptr = np.searchsorted(arcs[0].numpy(), collection.node_ptr)
    local = arcs.numpy() - np.repeat(collection.node_ptr[:-1], np.diff(edge_ptr))
    edge_attr = None if weights is None else weights.numpy()
    return replace(collection, edge_ptr=edge_ptr, edge_index=local, edge_attr=edge_attr)


def _zinc(subset: bool, workplace: Path) -> Collection:
    from torch_geometric.datasets import ZINC

    return in_a_row([of_pyg(ZINC(str(workplace), subset, split)) for split in SPLITS])


def _pattern(workplace: Path) -> Collection:
    from torch_geometric.datasets import GNNBenchmarkDataset

    return _with_labels(in_a_row([of_pyg(GNNBenchmarkDataset(str(workplace), "PATTERN", split)) for split in SPLITS]))


def _cifar10(workplace: Path) -> Collection:
    from torch_geometric.datasets import GNNBenchmarkDataset

    from elene.inmemory import stored

    parts = []
    for split in SPLITS:
        dataset = GNNBenchmarkDataset(str(workplace), "CIFAR10", split)
        part, position = of_pyg(dataset), stored(dataset)[0].pos.numpy()
        x = np.concatenate([np.asarray(part.x), position], axis=1)
        parts.append(symmetric(replace(part, x=x)))
    return in_a_row(parts)


def _csl(workplace: Path) -> Collection:
    from torch_geometric.datasets import GNNBenchmarkDataset

    return of_pyg(GNNBenchmarkDataset(str(workplace), "CSL"))


def _tu(name: str, workplace: Path) -> Collection:
    from torch_geometric.datasets import TUDataset

    # Some of the data sets have labels of edges, which the stored copies do not have.
    plain = replace(of_pyg(TUDataset(str(workplace), name)), edge_attr=None)
    return plain if plain.x is None else _with_labels(plain)


def _with_labels(collection: Collection) -> Collection:
    """Node features that are one-hot rows as one column of numbers."""
    return replace(collection, x=np.asarray(collection.x).argmax(axis=1).reshape(-1, 1), edge_attr=None)


def _ogb(name: str, workplace: Path) -> Collection:
    edition = find(name).download
    assert edition is not None
    path = fetch(edition.origin, workplace)
    with ZipFile(path) as archive:
        return read_ogb(archive, path.stem)


def read_ogb(archive: ZipFile, folder: str) -> Collection:
    """The graphs of a molecule data set as OGB publishes it: tables in an archive.

    Args:
        archive: the downloaded file.
        folder: the folder that it holds, such as ``hiv``.
    """
    read = partial(_table, archive)
    edges = read(f"{folder}/raw/edge.csv.gz", np.int32)
    arcs = np.stack([edges, edges[:, ::-1]], axis=1).reshape(-1, 2).T
    nodes, edge_counts = (read(f"{folder}/raw/num-{what}-list.csv.gz", np.int64)[:, 0] for what in ("node", "edge"))
    y = read(f"{folder}/raw/graph-label.csv.gz", np.float32)
    split = np.empty(len(nodes), dtype=np.uint8)
    for number, part in enumerate(("train", "valid", "test")):
        split[read(f"{folder}/split/scaffold/{part}.csv.gz", np.int64)[:, 0]] = number
    return Collection(
        pointers(nodes),
        2 * pointers(edge_counts),
        arcs,
        y.astype(np.uint8)[:, 0] if y.shape[1] == 1 else y,
        read(f"{folder}/raw/node-feat.csv.gz", np.int16),
        np.repeat(read(f"{folder}/raw/edge-feat.csv.gz", np.int16), 2, axis=0),
        {"split": split},
    )


def _table(archive: ZipFile, name: str, dtype: DTypeLike) -> NDArray[Any]:
    """A table without a header; empty fields, which only tables of floating-point numbers have, become NaN."""
    missing = (lambda text: float(text or "nan")) if np.issubdtype(dtype, np.floating) else None
    with archive.open(name) as member, gzip.open(member, "rt", encoding="ascii") as lines:
        return np.loadtxt(lines, dtype, delimiter=",", ndmin=2, converters=missing)


_DOWNLOADS: dict[str, Callable[[Path], Collection]] = {
    "zinc12k": partial(_zinc, True),
    "zinc250k": partial(_zinc, False),
    "molhiv": partial(_ogb, "molhiv"),
    "molpcba": partial(_ogb, "molpcba"),
    "pattern": _pattern,
    "cifar10": _cifar10,
    "csl": _csl,
    **{
        f"tu-{name}": partial(_tu, pyg_name)
        for name, pyg_name in {
            "mutag": "MUTAG",
            "proteins": "PROTEINS",
            "nci1": "NCI1",
            "nci109": "NCI109",
            "ptc": "PTC_MR",
            "enzymes": "ENZYMES",
            "imdbbinary": "IMDB-BINARY",
            "imdbmulti": "IMDB-MULTI",
        }.items()
    },
}
