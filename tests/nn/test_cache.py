"""Cached: the second time from disk, the same to the bit; other content, parameters or versions are made anew."""

from __future__ import annotations

import zipfile

import networkx as nx
import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.utils import from_networkx

import elene
from elene.nn import Ego
from elene.transforms import AddELENE, Cached, EgoData, EgoStructure


def data_of(graph, seed=0):
    generator = torch.Generator().manual_seed(seed)
    arcs = from_networkx(graph).edge_index
    x, edge_attr = (torch.randn(size, 2, generator=generator) for size in (len(graph), arcs.shape[1]))
    return Data(x=x, edge_index=arcs, edge_attr=edge_attr, y=torch.tensor([seed]))


def dataset_of(*graphs):
    dataset = InMemoryDataset()
    dataset.data, dataset.slices = InMemoryDataset.collate(list(graphs))
    return dataset


KARATE, CYCLE = data_of(nx.karate_club_graph()), data_of(nx.cycle_graph(5), 1)
TRANSFORMS = {
    "AddELENE": AddELENE(k=1, max_degree=4, log1p=True),
    "AddELENE, edges": AddELENE(k=[1, 2], level="edge", max_degree=4),
    "AddELENE, joint": AddELENE(k=1, form="joint").fit([KARATE]),
    "EgoStructure": EgoStructure(k=2),
    "EgoStructure, edges": EgoStructure(k=1, level="edge"),
    "both": T.Compose([AddELENE(k=1, max_degree=4), EgoStructure(k=1)]),
}


def assert_same(found, expected):
    assert type(found) is type(expected)
    a, b = found.to_dict(), expected.to_dict()
    assert a.keys() == b.keys()
    for name, value in b.items():
        assert torch.equal(a[name], value) if isinstance(value, torch.Tensor) else a[name] == value
        assert not isinstance(value, torch.Tensor) or a[name].dtype == value.dtype


def forbid(monkeypatch, transform):
    def refuse(*arguments):
        raise AssertionError("computed once more")

    monkeypatch.setattr(type(transform), "forward", refuse)
    if hasattr(transform, "prepare"):
        monkeypatch.setattr(type(transform), "prepare", refuse)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_graph_comes_from_disk_the_second_time(tmp_path, monkeypatch, name):
    transform = TRANSFORMS[name]
    cached, expected = Cached(transform, tmp_path / "new"), transform(KARATE)
    assert_same(cached(KARATE), expected)
    forbid(monkeypatch, transform)
    again = Cached(transform, tmp_path / "new")(KARATE)
    assert_same(again, expected)
    assert repr(cached) == repr(transform)
    if isinstance(again, EgoData):
        Ego.of(again)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("graphs", [[KARATE, CYCLE], [KARATE]])
def test_a_data_set_comes_from_one_file(tmp_path, monkeypatch, name, graphs):
    transform, dataset = TRANSFORMS[name], dataset_of(*graphs)
    expected = transform.prepare(dataset) if hasattr(transform, "prepare") else map(transform, graphs)
    expected = list(expected)
    made = Cached(transform, tmp_path).prepare(dataset)
    forbid(monkeypatch, transform)
    kept = Cached(transform, tmp_path).prepare(dataset_of(*graphs))
    for several in (made, kept):
        for found, wanted in zip(several, expected, strict=True):
            assert_same(found, wanted)
    assert len(list(tmp_path.iterdir())) == 1
    assert not dataset[0].to_dict().keys() - {"x", "edge_index", "edge_attr", "y"}


def test_a_selection_is_other_content(tmp_path):
    dataset, cached = dataset_of(KARATE, CYCLE), Cached(EgoStructure(1), tmp_path)
    assert len(cached.prepare(dataset)[0].ego_size) == 34
    assert len(cached.prepare(dataset[[1]])[0].ego_size) == 5


def test_what_the_result_depends_on_is_the_key(tmp_path, monkeypatch):
    other, flipped = KARATE.clone(), KARATE.clone()
    other.x = other.x + 1
    flipped.edge_index = flipped.edge_index.flip(1)
    for data in (KARATE, other, flipped, CYCLE):
        for transform in (AddELENE(k=1, max_degree=4), AddELENE(k=1, max_degree=5), EgoStructure(1)):
            assert_same(Cached(transform, tmp_path)(data), transform(data))
    assert len(list(tmp_path.iterdir())) == 12
    monkeypatch.setattr(elene, "__version__", "0.2.0")
    Cached(EgoStructure(1), tmp_path)(CYCLE)
    assert len(list(tmp_path.iterdir())) == 13


def damage(kind, path):
    content = bytearray(path.read_bytes())
    if kind == "a bit":
        content[len(content) // 2] ^= 1
    elif kind == "cut":
        del content[len(content) // 2 :]
    elif kind == "empty":
        content.clear()
    elif kind == "other graphs":
        other = Cached(EgoStructure(1, "edge"), path.parent / "other")
        other(CYCLE)
        content = next(other.folder.iterdir()).read_bytes()
    elif kind == "objects":
        with open(path, "wb") as file:
            np.savez(file, head=np.array([{}], object))
        return
    elif kind == "no head":
        with zipfile.ZipFile(path, "w"):
            return
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["a bit", "cut", "empty", "other graphs", "objects", "no head"])
def test_a_damaged_file_is_made_anew(tmp_path, kind):
    transform = EgoStructure(1, "edge")
    cached, expected = Cached(transform, tmp_path), transform(KARATE)
    cached(KARATE)
    (path,) = tmp_path.iterdir()
    damage(kind, path)
    with pytest.warns(UserWarning, match=r"npz is damaged and made anew: "):
        assert_same(cached(KARATE), expected)
    assert_same(cached(KARATE), expected)  # without a warning, which would be an error


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match=r"cannot be written, and will be computed again"):
        assert_same(Cached(EgoStructure(1), tmp_path / "file")(KARATE), EgoStructure(1)(KARATE))


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def die(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", die)
    with pytest.raises(KeyboardInterrupt):
        Cached(EgoStructure(1), tmp_path)(KARATE)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_kept_is_named(tmp_path):
    class Named(T.BaseTransform):
        def forward(self, data):
            data.who = {"ann"}
            return data

    with pytest.raises(TypeError, match=r"transform gives who = .*: only tensors, numbers, text"):
        Cached(Named(), tmp_path)(CYCLE)
    with pytest.raises(TypeError, match="transform must be a transform of PyG"):
        Cached("EgoStructure", tmp_path)
    with pytest.raises(TypeError, match=r"dataset must be a torch_geometric.data.InMemoryDataset"):
        Cached(EgoStructure(1), tmp_path).prepare([CYCLE])
    with pytest.raises(TypeError, match=r"data must be a torch_geometric.data.Data"):
        Cached(EgoStructure(1), tmp_path)(None)
