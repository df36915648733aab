from __future__ import annotations

from itertools import chain

import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset

from elene.datasets import load
from elene.experiments.data.batches import Loader, Stock
from elene.experiments.data.selection import relabelled
from elene.transforms import EgoStructure


def mixed():
    """Graphs of all sizes: without edges, with one node, with features of nodes and edges."""
    generator = torch.Generator().manual_seed(0)
    datas = []
    for nodes in (3, 1, 6, 2, 5, 4):
        pairs = torch.combinations(torch.arange(nodes))
        pairs = pairs[torch.rand(len(pairs), generator=generator) < 0.6].T
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        datas.append(
            Data(
                x=torch.randint(0, 9, (nodes, 2), generator=generator),
                edge_index=edge_index,
                edge_attr=torch.rand(edge_index.shape[1], 3, generator=generator),
                y=torch.tensor([[float(nodes)]]),
            )
        )
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = InMemoryDataset.collate(datas)
    return dataset


def assert_equal(found, expected):
    assert set(found.keys()) == set(expected.keys())
    for key in expected.keys():  # noqa: SIM118 - a Batch has keys, but is no mapping
        # Features stay in small types.
        same = found[key] if key not in ("x", "edge_attr") else found[key].to(expected[key].dtype)
        assert same.dtype == expected[key].dtype and torch.equal(same, expected[key]), key


@pytest.mark.parametrize("structure", [None, (1, "node"), (2, "node"), (1, "edge"), (3, "edge")])
@pytest.mark.parametrize(
    "make", [mixed, lambda: load("sr25"), lambda: load("counting")], ids=["mixed", "sr25", "counting"]
)
def test_a_gathered_batch_equals_that_of_pyg(make, structure):
    dataset = make() if structure is None else EgoStructure(*structure).prepare(make())
    stock = Stock(dataset)
    generator = torch.Generator().manual_seed(1)
    for graphs in (torch.arange(6), torch.tensor([1]), torch.randint(0, len(dataset), (9,), generator=generator)):
        assert_equal(stock.gather(graphs), Batch.from_data_list([dataset[int(i)] for i in graphs]))


def test_a_stock_needs_the_whole_data_set_and_features():
    with pytest.raises(ValueError, match="dataset is a part of a data set"):
        Stock(load("sr25")[:3])
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = InMemoryDataset.collate(
        [Data(edge_index=torch.empty(2, 0).long(), y=torch.ones(1))]
    )
    with pytest.raises(ValueError, match="dataset must have node features x, got only edge_index, y"):
        Stock(dataset)


def seen(loader):
    return [batch.y.tolist() for batch in loader]


def test_epochs_have_orders_of_their_own_that_the_seed_decides():
    stock = Stock(load("sr25"))

    def orders(seed):
        loader = Loader(stock, torch.arange(15), 4, seed)
        found = []
        for epoch in (0, 1, 0):
            loader.epoch = epoch
            found.append(seen(loader))
        return found

    first, second, again = orders(0)
    assert first == again != second
    assert orders(0) == [first, second, again] and orders(1)[0] != first
    assert sorted(chain(*first)) == list(range(15))
    assert seen(Loader(stock, torch.tensor([4, 2, 8]), 2)) == [[4, 2, 8]]  # none is left alone


@pytest.mark.parametrize("graphs", [2, 4, 5, 8, 9, 15])
def test_processes_share_every_batch(graphs):
    stock = Stock(load("sr25"))
    alone = Loader(stock, torch.arange(graphs), 4, seed=3)
    shared = [list(Loader(stock, torch.arange(graphs), 4, seed=3, rank=rank, world=2)) for rank in range(2)]
    together = [sorted(a.y.tolist() + b.y.tolist()) for a, b in zip(*shared, strict=True)]
    assert sorted(chain(*together)) == list(range(graphs))
    for a, b in zip(*shared, strict=True):
        assert [a.share, b.share] == pytest.approx([2 * len(part.y) / (len(a.y) + len(b.y)) for part in (a, b)])
    assert together[:-1] == [sorted(batch) for batch in seen(alone)][: len(together) - 1]


def test_too_many_devices():
    with pytest.raises(ValueError, match="2 graphs cannot be shared by 3 devices"):
        Loader(Stock(load("sr25")), torch.arange(2), 4, world=3)


def test_relabelled_graphs_are_the_same_graphs():
    import networkx as nx
    from torch_geometric.utils import to_networkx

    dataset = mixed()
    other = relabelled(dataset, seed=5)
    changed = 0
    for before, after in zip(dataset, other, strict=True):
        changed += not torch.equal(before.x, after.x)
        graphs = [to_networkx(data, node_attrs=["x"], edge_attrs=["edge_attr"]) for data in (before, after)]
        assert nx.is_isomorphic(*graphs, node_match=dict.__eq__, edge_match=dict.__eq__)
        assert torch.equal(before.y, after.y)
    assert changed > 2
