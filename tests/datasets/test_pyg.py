"""GraphDataset gives the graphs of its collection, one by one, in batches, in subsets and prepared for ELENE-L."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader

from elene.datasets import Collection, GraphDataset, pyg
from elene.datasets.info import Edition
from elene.datasets.registry import find
from elene.transforms import EgoStructure
from naive_datasets import toy_collection

EDITION = Edition("generated", 12, note="Made for a test.", label="a toy")
NODES = int(toy_collection().node_ptr[-1])
INFO = replace(find("exp"), name="toy", title="Toy", node_categories=(4,), edge_categories=(3,))


def one_by_one(collection, y):
    """The graphs as PyG's users would write them down."""
    for i in range(len(collection)):
        nodes = slice(collection.node_ptr[i], collection.node_ptr[i + 1])
        arcs = slice(collection.edge_ptr[i], collection.edge_ptr[i + 1])
        yield Data(
            x=torch.tensor(collection.x[nodes], dtype=torch.long),
            edge_index=torch.tensor(collection.edge_index[:, arcs], dtype=torch.long),
            edge_attr=torch.tensor(collection.edge_attr[arcs], dtype=torch.long),
            y=y(i),
            pair=torch.tensor([i // 2]),
        )


def same(a, b):
    left, right = a.to_dict(), b.to_dict()
    return set(left) == set(right) and all(
        left[key].dtype == right[key].dtype and torch.equal(left[key], right[key]) for key in left
    )


@pytest.fixture
def collection():
    return toy_collection()


@pytest.fixture
def dataset(collection):
    return GraphDataset(INFO, EDITION, collection)


def expected(collection):
    return list(one_by_one(collection, lambda i: torch.tensor([i % 2])))


@pytest.mark.parametrize("most", [pyg.MOST_KEPT, 0])
def test_graphs_are_those_of_the_collection_kept_or_not(monkeypatch, dataset, collection, most):
    monkeypatch.setattr(pyg, "MOST_KEPT", most)
    for _ in range(2):
        assert all(same(data, other) for data, other in zip(dataset, expected(collection), strict=True))
    assert bool(dataset._data_list) == (most > 0)


def test_a_graph_that_is_changed_is_not_the_kept_one(dataset, collection):
    dataset[3].x = None
    assert same(dataset[3], expected(collection)[3])


def test_subsets_batches_and_copies(dataset, collection):
    chosen = torch.tensor([7, 0, 3])
    subset = dataset[chosen]
    assert all(same(data, expected(collection)[i]) for data, i in zip(subset, chosen, strict=True))
    [batch] = DataLoader(subset, batch_size=3)
    assert same(batch, Batch.from_data_list([expected(collection)[i] for i in chosen]))
    copied = subset.copy()
    assert isinstance(copied, GraphDataset) and all(same(a, b) for a, b in zip(copied, subset, strict=True))


def test_arrays_are_kept_small(dataset):
    assert {dataset._data[key].dtype for key in ("x", "edge_index", "edge_attr")} == {torch.uint8}


def test_it_is_pickled_for_workers(dataset):
    again = pickle.loads(pickle.dumps(dataset))
    assert all(same(a, b) for a, b in zip(again, dataset, strict=True))
    assert again.info == dataset.info and torch.equal(again.splits[0].train, dataset.splits[0].train)


CODES = {"ego_code": "ego_quadruplet", "ego_rooted": "ego_rooted_pair", "ego_inside": "ego_inside_pair"}


def decoded(data):
    """What the lists say, whatever numbers the quadruplets have in their tables."""
    plain = {key: data[key] for key, _ in data if key not in ("num_nodes", *CODES, *CODES.values())}
    return plain | {codes: data[table][data[codes].long()] for codes, table in CODES.items() if codes in data}


@pytest.mark.parametrize("level", ["node", "edge"])
def test_it_is_prepared_at_once_for_elene(dataset, level):
    transform = EgoStructure(k=2, level=level)
    for prepared, data in zip(transform.prepare(dataset), dataset, strict=True):
        together, alone = decoded(prepared), decoded(transform(data))
        assert set(together) == set(alone) and prepared.num_nodes == data.num_nodes
        assert all(torch.equal(together[key], alone[key]) for key in alone)


def test_regression_targets_are_rows_and_scaled_over_all_graphs():
    y = np.random.default_rng(0).normal(size=(12, 2)).astype(np.float32)
    split = np.array([0, 0, 1, 2] * 3)
    info = replace(INFO, task="regression", outputs=2, split="fixed", scaled=True)
    dataset = GraphDataset(info, EDITION, replace(toy_collection(split=split), y=y))
    scale = [np.std([y[i, column] for i in range(12)]) for column in range(2)]
    assert dataset[4].y.shape == (1, 2) and dataset[4].y.dtype == torch.float32
    torch.testing.assert_close(dataset.target_scale, torch.tensor(scale, dtype=torch.float32))
    torch.testing.assert_close(torch.cat([data.y for data in dataset]) * dataset.target_scale, torch.from_numpy(y))


def test_one_regression_target_is_a_row_of_one():
    info = replace(INFO, task="regression", outputs=1)
    assert GraphDataset(info, EDITION, toy_collection())[1].y.tolist() == [[1.0]]


def test_missing_labels_are_nan():
    y = np.array([[np.nan, 1.0]] * 12)
    dataset = GraphDataset(replace(INFO, task="multilabel", outputs=2), EDITION, replace(toy_collection(), y=y))
    assert dataset[0].y.shape == (1, 2) and dataset[0].y.isnan().tolist() == [[True, False]]


def test_node_targets_have_a_number_for_each_node():
    collection = toy_collection()
    y = np.arange(collection.node_ptr[-1]) % 2
    dataset = GraphDataset(replace(INFO, level="node"), EDITION, replace(collection, y=y))
    assert torch.cat([data.y for data in dataset]).tolist() == y.tolist()
    assert all(len(data.y) == data.num_nodes for data in dataset)


def test_classes_are_numbered_from_0():
    dataset = GraphDataset(INFO, EDITION, replace(toy_collection(), y=np.array([7, -1] * 6)))
    assert [int(data.y) for data in dataset] == [1, 0] * 6


def test_graphs_without_features_have_a_constant_column():
    bare = replace(toy_collection(), x=None, edge_attr=None)
    dataset = GraphDataset(replace(INFO, node_categories=(1,), edge_categories=None), EDITION, bare)
    assert all(data.x.tolist() == [[0]] * data.num_nodes and "edge_attr" not in data for data in dataset)
    assert [data.num_nodes for data in dataset] == bare.num_nodes.tolist()


def test_it_says_what_it_is(dataset):
    assert repr(dataset) == "GraphDataset(toy, 12 graphs)"
    assert dataset.title == "Toy, a toy"
    assert dataset.provenance.startswith("Made for a test. Every graph is for training, validation and test.")
    folds = replace(INFO, split="folds", paired=False)
    assert "made here, stratified by class." in GraphDataset(folds, EDITION, toy_collection(20)).provenance
    given = GraphDataset(folds, EDITION, toy_collection(20, fold=np.arange(20) % 10))
    assert "given with the graphs" in given.provenance


@pytest.mark.parametrize(
    ("info", "changes", "problem"),
    [
        (INFO, {"x": np.full((NODES, 1), 4)}, "x goes up to"),
        (INFO, {"x": np.zeros((NODES, 2), dtype=int)}, "x goes up to"),
        (INFO, {"x": np.zeros((NODES, 1))}, "x has the type float64"),
        (replace(INFO, edge_categories=None), {}, "edge_attr has the type int64"),
        (INFO, {"y": np.arange(12) % 3}, "y has the classes"),
        (INFO, {"y": np.zeros(12)}, "y has the classes"),
    ],
)
def test_what_the_registry_does_not_say_is_refused(info, changes, problem):
    with pytest.raises(ValueError, match=problem):
        GraphDataset(info, EDITION, replace(toy_collection(), **changes))


def test_the_collated_form_is_the_one_of_pyg(dataset, collection):
    data, slices = InMemoryDataset.collate(expected(collection))
    assert set(slices) == set(dataset.slices)
    assert all(torch.equal(slices[key], dataset.slices[key]) for key in slices)
    assert all(torch.equal(data[key], dataset._data[key].long()) for key in slices)


def test_one_graph_is_a_data_set_too():
    one = Collection(np.array([0, 2]), np.array([0, 2]), np.array([[0, 1], [1, 0]]), np.array([[1.0]]))
    dataset = GraphDataset(replace(find("zinc12k"), split="all", edge_categories=None), EDITION, one)
    assert len(dataset) == 1 and dataset[0].x.dtype == torch.long
