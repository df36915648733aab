"""Downloads: PyG's data sets and OGB's tables become the same graphs in a collection, and being offline shows soon."""

from __future__ import annotations

import gzip
import io
import socket
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
import requests
import torch
import torch_geometric.datasets
from torch_geometric.data import Data, InMemoryDataset

from elene.datasets import remote
from elene.datasets.remote import check_reachable, download, fetch, in_a_row, of_pyg, read_ogb, symmetric
from naive_datasets import equal, toy_collection


def random_data(seed, **given):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    arcs = np.argwhere(rng.random((n, n)) < 0.5)
    arcs = arcs[arcs[:, 0] != arcs[:, 1]].T
    values = {
        "x": torch.from_numpy(rng.integers(0, 9, (n, 1))),
        "edge_index": torch.from_numpy(arcs),
        "edge_attr": torch.from_numpy(rng.integers(1, 4, arcs.shape[1])),
        "y": torch.tensor([float(seed)]),
    }
    return Data(**{key: given.get(key, lambda value: value)(value) for key, value in values.items()})


def fake(monkeypatch, name, make, number=4):
    """One of PyG's classes, replaced by one that makes graphs out of its arguments."""
    asked = []

    class Fake(InMemoryDataset):
        def __init__(self, root, *arguments):
            super().__init__()
            asked.append(arguments)
            graphs = [make(100 * len(asked) + i) for i in range(number)]
            self.data, self.slices = self.collate(graphs)
            self.graphs = graphs

    monkeypatch.setattr(torch_geometric.datasets, name, Fake)
    return asked


def graphs_of(collection):
    for i in range(len(collection)):
        nodes = slice(collection.node_ptr[i], collection.node_ptr[i + 1])
        arcs = slice(collection.edge_ptr[i], collection.edge_ptr[i + 1])
        yield nodes, collection.edge_index[:, arcs], arcs


@pytest.mark.parametrize(("name", "subset"), [("zinc12k", True), ("zinc250k", False)])
def test_zinc(monkeypatch, tmp_path, name, subset):
    asked = fake(monkeypatch, "ZINC", random_data)
    found = download(name, tmp_path)
    assert asked == [(subset, "train"), (subset, "val"), (subset, "test")]
    assert found.extra["split"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    originals = [random_data(100 * part + i) for part in (1, 2, 3) for i in range(4)]
    for data, (nodes, arcs, which) in zip(originals, graphs_of(found), strict=True):
        assert found.x[nodes].tolist() == data.x.tolist()
        assert arcs.tolist() == data.edge_index.tolist()
        assert found.edge_attr[which].tolist() == data.edge_attr[:, None].tolist()
    assert found.y.tolist() == [float(data.y) for data in originals]
    assert not list(tmp_path.iterdir())


def one_hot(x):
    return torch.eye(9)[x[:, 0]]


def test_tu_labels_are_one_column_and_edge_labels_are_left_out(monkeypatch, tmp_path):
    asked = fake(monkeypatch, "TUDataset", lambda seed: random_data(seed, x=one_hot))
    found = download("tu-imdbbinary", tmp_path)
    assert asked == [("IMDB-BINARY",)]
    assert found.x.tolist() == torch.cat([random_data(100 + i).x for i in range(4)]).tolist()
    assert found.edge_attr is None and not found.extra


def test_tu_without_labels(monkeypatch, tmp_path):
    def bare(seed):
        data = random_data(seed)
        return Data(edge_index=data.edge_index, y=data.y, num_nodes=data.num_nodes)

    fake(monkeypatch, "TUDataset", bare)
    found = download("tu-imdbmulti", tmp_path)
    assert found.x is None and found.num_nodes.tolist() == [random_data(100 + i).num_nodes for i in range(4)]


def test_pattern_has_node_labels_and_targets(monkeypatch, tmp_path):
    def coloured(seed):
        data = random_data(seed, x=one_hot)
        return Data(x=data.x, edge_index=data.edge_index, y=data.x.argmax(dim=1) % 2)

    asked = fake(monkeypatch, "GNNBenchmarkDataset", coloured)
    found = download("pattern", tmp_path)
    assert asked == [("PATTERN", "train"), ("PATTERN", "val"), ("PATTERN", "test")]
    assert found.y.tolist() == (found.x[:, 0] % 2).tolist() and len(found.y) == found.node_ptr[-1]


def test_csl(monkeypatch, tmp_path):
    asked = fake(monkeypatch, "GNNBenchmarkDataset", random_data)
    assert len(download("csl", tmp_path)) == 4 and asked == [("CSL",)]


def test_cifar10_has_colours_and_places_and_arcs_in_both_directions(monkeypatch, tmp_path):
    def pixels(seed):
        data = random_data(seed, x=lambda x: torch.rand(len(x), 3), edge_attr=lambda weights: weights / 7)
        data.pos = torch.arange(2.0 * data.num_nodes).reshape(-1, 2)
        return data

    fake(monkeypatch, "GNNBenchmarkDataset", pixels)
    found = download("cifar10", tmp_path)
    assert found.x.shape == (found.node_ptr[-1], 5)
    originals = [random_data(100 * part + i) for part in (1, 2, 3) for i in range(4)]
    for data, (nodes, arcs, which) in zip(originals, graphs_of(found), strict=True):
        assert found.x[nodes, 3:].tolist() == torch.arange(2.0 * data.num_nodes).reshape(-1, 2).tolist()
        expected = {}
        for (u, v), weight in zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True):
            expected.setdefault(frozenset((u, v)), []).append(weight / 7)
        assert len({tuple(arc) for arc in arcs.T.tolist()}) == arcs.shape[1] == 2 * len(expected)
        for (u, v), weight in zip(arcs.T.tolist(), found.edge_attr[which, 0].tolist(), strict=True):
            assert weight == pytest.approx(np.mean(expected[frozenset((u, v))]))


def test_symmetric_drops_self_loops_and_keeps_what_is_symmetric():
    toy = toy_collection()
    again = symmetric(toy)
    for i in range(len(toy)):
        assert np.array_equal(toy.graph(i).edges, again.graph(i).edges)
    assert again.edge_ptr.tolist() == toy.edge_ptr.tolist()


def test_a_collection_in_three_parts_is_put_together():
    parts = [toy_collection(n, seed=n) for n in (3, 1, 2)]
    joined = in_a_row(parts)
    expected = [part.graph(i).edges.tolist() for part in parts for i in range(len(part))]
    assert [joined.graph(i).edges.tolist() for i in range(6)] == expected
    assert joined.extra["split"].tolist() == [0, 0, 0, 1, 2, 2]
    assert joined.x.tolist() == np.concatenate([part.x for part in parts]).tolist()


def test_of_pyg_is_the_inverse_of_the_data_set():
    dataset = InMemoryDataset()
    graphs = [random_data(i) for i in range(5)]
    dataset.data, dataset.slices = InMemoryDataset.collate(graphs)
    found = of_pyg(dataset)
    assert [arcs.tolist() for _, arcs, _ in graphs_of(found)] == [data.edge_index.tolist() for data in graphs]


def ogb_archive(toy, labels):
    """A collection as OGB's tables."""
    first = [arcs[:, arcs[0] < arcs[1]].T for _, arcs, _ in graphs_of(toy)]
    kinds = [toy.edge_attr[which][arcs[0] < arcs[1]] for _, arcs, which in graphs_of(toy)]
    tables = {
        "raw/edge": np.concatenate(first),
        "raw/edge-feat": np.repeat(np.concatenate(kinds), 3, axis=1),
        "raw/node-feat": np.repeat(toy.x, 9, axis=1),
        "raw/num-node-list": toy.num_nodes[:, None],
        "raw/num-edge-list": toy.num_arcs[:, None] // 2,
        "raw/graph-label": labels,
        **{
            f"split/scaffold/{part}": np.flatnonzero(toy.extra["split"] == i)[:, None]
            for i, part in enumerate(("train", "valid", "test"))
        },
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, table in tables.items():
            text = "".join(",".join(str(value) for value in row) + "\n" for row in table)
            archive.writestr(f"hiv/{name}.csv.gz", gzip.compress(text.encode()))
    return buffer


def test_ogb(monkeypatch, tmp_path):
    toy = toy_collection(split=np.array([2, 0, 1] * 4))
    buffer = ogb_archive(toy, toy.y[:, None])

    def stand_in(address, folder):
        assert address.endswith("/hiv.zip")
        (folder / "hiv.zip").write_bytes(buffer.getvalue())
        return folder / "hiv.zip"

    monkeypatch.setattr(remote, "fetch", stand_in)
    found = download("molhiv", tmp_path)
    assert found.y.tolist() == toy.y.tolist() and found.extra["split"].tolist() == toy.extra["split"].tolist()
    assert found.x.tolist() == np.repeat(toy.x, 9, axis=1).tolist()
    for (_, arcs, which), (_, wanted, kinds) in zip(graphs_of(found), graphs_of(toy), strict=True):
        kind = dict(zip(map(tuple, wanted.T.tolist()), toy.edge_attr[kinds, 0].tolist(), strict=True))
        assert dict(zip(map(tuple, arcs.T.tolist()), found.edge_attr[which].tolist(), strict=True)) == {
            arc: [value] * 3 for arc, value in kind.items()
        }
    assert not list(tmp_path.iterdir())


def test_ogb_with_missing_labels():
    toy = toy_collection(3, split=np.array([0, 1, 2]))
    with zipfile.ZipFile(ogb_archive(toy, [["1.0", ""], ["", "0.0"], ["", ""]])) as archive:
        found = read_ogb(archive, "hiv")
    assert np.array_equal(found.y, [[1, np.nan], [np.nan, 0], [np.nan, np.nan]], equal_nan=True)


def test_a_download_that_breaks_off_leaves_nothing(monkeypatch, tmp_path):
    def broken(root, *arguments):
        (tmp_path / root / "half.zip").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch_geometric.datasets, "ZINC", broken)
    with pytest.raises(KeyboardInterrupt):
        download("zinc12k", tmp_path)
    assert not list(tmp_path.iterdir())


def test_servers_are_not_waited_for_without_end(monkeypatch):
    timeouts = []

    def answer(address, timeout, **others):
        timeouts.append(timeout)
        return SimpleNamespace(status_code=405)  # no HEAD here

    monkeypatch.setattr(requests, "head", answer)
    check_reachable("https://example.org/x.zip")
    assert timeouts == [remote.PATIENCE]


@pytest.fixture
def server():
    """A server on this machine that has one file, and breaks off in the middle of another."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "9")
            self.end_headers()
            self.wfile.write(b"some data" if self.path == "/whole.zip" else b"some")

        def do_HEAD(self):
            self.send_error(501)

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_files_are_fetched_whole_or_not_at_all(server, tmp_path, capfd):
    check_reachable(f"{server}/whole.zip")
    path = fetch(f"{server}/whole.zip", tmp_path)
    assert (path.name, path.read_bytes()) == ("whole.zip", b"some data")
    with pytest.raises(OSError):
        fetch(f"{server}/half.zip", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["whole.zip"]
    assert capfd.readouterr() == ("", "")


def test_where_there_is_no_server_an_error_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(OSError):
            check_reachable(f"http://127.0.0.1:{free.getsockname()[1]}/x.zip")


def test_the_twin_can_tell_collections_apart():
    assert equal(toy_collection(), toy_collection())
    assert not equal(toy_collection(), toy_collection(seed=1))
