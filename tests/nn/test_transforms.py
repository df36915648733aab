from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.utils import from_networkx

import elene
import naive
import naive_nn
from elene.nn import Ego
from elene.transforms import AddELENE, EgoStructure
from graphs import random_graphs

PATH = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)


def as_data(graph):
    return Data(edge_index=from_networkx(graph).edge_index.reshape(2, -1), num_nodes=len(graph), y=torch.zeros(1))


@settings(max_examples=40, deadline=None)
@given(graph=random_graphs(9), k=st.integers(0, 3), clip=st.sampled_from([None, 0, 2]))
def test_pairs_are_the_ego_networks(graph, k, clip):
    data = EgoStructure(k, max_degree=clip)(as_data(graph))
    rho = len(graph) if clip is None else clip
    start = 0
    for root in graph:
        stop = start + int(data.ego_size[root])
        quadruplets = data.ego_quadruplet[data.ego_code[start:stop].long()].tolist()
        found = dict(zip(data.ego_node[start:stop].tolist(), map(tuple, quadruplets), strict=True))
        expected = naive_nn.ego_quadruplets(graph, root, k)
        assert found == {node: naive.clip(q, rho) for node, q in expected.items()}
        start = stop
    assert start == len(data.ego_node) == len(data.ego_code)


@settings(max_examples=40, deadline=None)
@given(graph=random_graphs(8), k=st.integers(0, 3))
def test_triples_are_the_edges_of_the_ego_networks(graph, k):
    data = EgoStructure(k, "edge")(as_data(graph))
    ends = {int(number): frozenset(arc) for arc, number in zip(data.edge_index.T.tolist(), data.ego_arc, strict=True)}
    roots = torch.repeat_interleave(torch.arange(len(graph)), data.ego_triples.long()).tolist()
    rooted = data.ego_rooted_pair[data.ego_rooted.long()].reshape(-1, 2, 4).tolist()
    inside = data.ego_inside_pair[data.ego_inside.long()].reshape(-1, 2, 4).tolist()
    found = {}
    for i, root in enumerate(roots):
        readings = tuple(tuple(sorted(map(tuple, pair))) for pair in (rooted[i], inside[i]))
        found[root, ends[int(data.ego_edge[i])]] = readings
    expected = {}
    around = {root: naive_nn.ego_quadruplets(graph, root, k) for root in graph}
    for u, w in graph.edges:
        for v, readings in naive_nn.inside_quadruplets(graph, u, w, k).items():
            expected[v, frozenset((u, w))] = (tuple(sorted((around[v][u], around[v][w]))), tuple(sorted(readings)))
    assert found == expected and len(found) == len(roots)
    within = {(v, frozenset(edge)) for v in graph for edge in graph.subgraph(around[v]).edges}
    assert set(found) == within


def test_a_pair_takes_at_most_eight_bytes_and_so_does_a_triple():
    data = EgoStructure(3, "edge")(as_data(nx.random_regular_graph(3, 200, seed=0)))
    bytes_of = {key: data[key].element_size() * data[key].numel() for key in data.to_dict() if key.startswith("ego_")}
    pairs = sum(bytes_of[key] for key in ("ego_size", "ego_node", "ego_code", "ego_quadruplet"))
    assert pairs / len(data.ego_node) <= 8
    triples = sum(bytes_of[key] for key in ("ego_edge", "ego_rooted", "ego_inside"))
    assert triples / len(data.ego_edge) <= 8


@pytest.mark.parametrize("level", ["node", "edge"])
def test_batches_come_apart_again(level):
    graphs = [nx.star_graph(4), nx.empty_graph(2), nx.cycle_graph(5), nx.empty_graph(1)]
    datas = [EgoStructure(2, level)(as_data(graph)) for graph in graphs]
    for before, after in zip(datas, Batch.from_data_list(datas).to_data_list(), strict=True):
        assert set(before.keys()) == set(after.keys())
        for key in before.to_dict():
            same = torch.equal(before[key], after[key]) if torch.is_tensor(before[key]) else before[key] == after[key]
            assert same, key


def total(loader):
    return sum(int(Ego.of(batch).pairs.columns.sum()) + int(Ego.of(batch).triples.columns.sum()) for batch in loader)


def load_in_workers(workers, context):
    datas = [as_data(nx.cycle_graph(n)) for n in range(3, 15)]
    ready = [EgoStructure(2, "edge")(data) for data in datas]
    expected = total(DataLoader(ready, batch_size=5))
    loader = DataLoader(Lazy(datas), batch_size=5, num_workers=workers, multiprocessing_context=context)
    assert total(loader) == expected


def test_a_data_loader():
    load_in_workers(0, None)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_data_loaders_with_workers(context):
    # In a process of its own: the threads of a test runner may hold locks when it forks.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", __file__, context]
    subprocess.run(command, check=True, timeout=240, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])})


class Lazy(torch.utils.data.Dataset):
    """Transforms in the worker, as a PyG data set with ``transform`` does."""

    def __init__(self, datas):
        self.datas = datas

    def __len__(self):
        return len(self.datas)

    def __getitem__(self, index):
        return EgoStructure(2, "edge")(self.datas[index])


class Cycles(InMemoryDataset):
    def __init__(self, root, pre_transform=None):
        super().__init__(root, pre_transform=pre_transform)
        self.load(self.processed_paths[0], data_cls=type(pre_transform(PATH)))

    @property
    def processed_file_names(self):
        return ["cycles.pt"]

    def process(self):
        self.save([self.pre_transform(as_data(nx.cycle_graph(n))) for n in range(3, 8)], self.processed_paths[0])


def test_in_memory_data_sets(tmp_path):
    for _ in range(2):  # processed, then read back
        dataset = Cycles(str(tmp_path), EgoStructure(2, "edge"))
        assert total(DataLoader(dataset, batch_size=3)) > 0
        assert torch.equal(dataset[2].ego_node, EgoStructure(2, "edge")(as_data(nx.cycle_graph(5))).ego_node)


@pytest.mark.parametrize("level", ["node", "edge"])
@pytest.mark.parametrize("with_x", [True, False])
def test_preparing_a_data_set_at_once_equals_one_by_one(level, with_x):
    graphs = [nx.star_graph(5), nx.empty_graph(2), nx.cycle_graph(6), nx.gnp_random_graph(9, 0.4, seed=3)]
    datas = [as_data(graph) for graph in graphs]
    for data in datas:
        if with_x:
            data.x = torch.randn(data.num_nodes, 2)
    dataset = InMemoryDataset()
    dataset.data, dataset.slices = InMemoryDataset.collate(datas)
    for order in ([0, 1, 2, 3], [3, 1]):
        prepared = EgoStructure(2, level).prepare(dataset[order])
        for i, data in zip(order, prepared, strict=True):
            one, other = EgoStructure(2, level)(datas[i]), data
            assert set(one.keys()) == set(other.keys()) and torch.equal(one.ego_shape, other.ego_shape)
            assert torch.equal(one.ego_node, other.ego_node) and one.ego_code.dtype == other.ego_code.dtype
            for codes, rows in (
                ("ego_code", "ego_quadruplet"),
                ("ego_rooted", "ego_rooted_pair"),
                ("ego_inside", "ego_inside_pair"),
            ):
                if codes in one:
                    assert torch.equal(one[rows][one[codes].long()], other[rows][other[codes].long()])
            if level == "edge":
                assert torch.equal(one.ego_edge, other.ego_edge) and torch.equal(one.ego_arc, other.ego_arc)
    assert "ego_node" not in dataset[0]


def test_data_is_left_as_it_was_and_moves_between_devices():
    before = copy.copy(PATH)
    data = EgoStructure(1, "edge")(PATH)
    assert set(PATH.keys()) == set(before.keys()) and data is not PATH
    assert data.to("cpu").ego_node.device.type == "cpu"
    meta = data.to("meta")
    assert meta.ego_node.device.type == "meta" and meta.ego_node.dtype == torch.int32


def test_reprs_name_everything():
    assert repr(EgoStructure(2, "edge", 5)) == "EgoStructure(k=2, level='edge', max_degree=5)"
    assert repr(AddELENE(2)) == (
        "AddELENE(k=[2], level='node', degrees='relative', form='marginal', max_degree=None, log1p=False, labels=None, "
        "columns=not fitted)"
    )
    one, other = (AddELENE(1, form="joint").fit([as_data(graph)]) for graph in (nx.path_graph(3), nx.cycle_graph(3)))
    assert repr(one) != repr(other)


@pytest.mark.parametrize("options", [{"max_degree": 3}, {"form": "joint"}, {"degrees": "absolute", "max_degree": 2}])
@pytest.mark.parametrize("level", ["node", "edge"])
def test_add_elene_adds_the_encodings(level, options):
    graph = nx.wheel_graph(6)
    graph.add_edge(5, 6)
    data = as_data(graph)
    transform = AddELENE([1, 2], level, **options).fit([data])
    values = transform(data)["x" if level == "node" else "edge_attr"]
    encoding = elene.encode(graph, [1, 2], level=level, **options)
    expected = (encoding.onto(encoding.table) if "form" in options else encoding).matrix.toarray()
    if level == "edge":
        place = {frozenset(edge): i for i, edge in enumerate(encoding.edges.tolist())}
        expected = expected[[place[frozenset(arc)] for arc in data.edge_index.T.tolist()]]
    assert np.array_equal(values.numpy(), expected)


def test_add_elene_keeps_what_was_there():
    data = as_data(nx.cycle_graph(4))
    data.x = torch.arange(4)
    data.edge_attr = torch.randn(8, 2, dtype=torch.double)
    nodes = AddELENE(1, max_degree=2)(data)
    assert nodes.x[:, 0].tolist() == [0, 1, 2, 3] and nodes.x.shape == (4, 19) and data.x.dim() == 1
    edges = AddELENE(1, "edge", form="product", max_degree=2, log1p=True)(data)
    assert edges.edge_attr.dtype == torch.double and torch.equal(edges.edge_attr[:, :2], data.edge_attr)
    assert torch.allclose(edges.edge_attr[:, 2:].max(), torch.tensor(4.0).log1p().double())


def test_large_graphs_do_not_become_dense_by_accident():
    for level, rows in (("node", 3), ("edge", 4)):
        size = 4 * rows * 18
        assert AddELENE(1, level, max_degree=2, most_bytes=size)(PATH).num_nodes == 3
        with pytest.raises(ValueError, match=f"18 columns of {rows} rows, more than most_bytes={size - 1}: .*sparse"):
            AddELENE(1, level, max_degree=2, most_bytes=size - 1)(PATH)
    arcs = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"data needs 11\.4 GiB"):
        AddELENE(2, max_degree=16)(Data(edge_index=arcs, num_nodes=20_000_000))


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="call fit"):
        AddELENE(1)(PATH)
    with pytest.raises(ValueError, match="level must be one of 'node', 'edge'"):
        AddELENE(1, "pair")
    with pytest.raises(ValueError, match="level must be one of 'node', 'edge'"):
        EgoStructure(1, "pair")
    with pytest.raises(TypeError, match="k must be an integer"):
        EgoStructure([1, 2])
    with pytest.raises(ValueError, match="x has 2 rows, and the graph needs 3"):
        AddELENE(1, max_degree=2)(Data(edge_index=PATH.edge_index, num_nodes=3, x=torch.zeros(2, 1)))
    with pytest.raises(ValueError, match="directed"):
        EgoStructure(1)(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))
    loop = Data(edge_index=torch.tensor([[0, 0, 1], [0, 1, 0]]), num_nodes=2)
    with pytest.warns(elene.GraphWarning, match="1 self-loop"), pytest.raises(ValueError, match="self-loop at node 0"):
        EgoStructure(1, "edge")(loop)


if __name__ == "__main__":
    load_in_workers(2, sys.argv[1])
