"""Lists that no longer fit their graph are refused, whatever made them unfit."""

from __future__ import annotations

import copy
import dataclasses

import networkx as nx
import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import RandomNodeLoader
from torch_geometric.loader.utils import filter_data
from torch_geometric.utils import from_networkx

from elene.baselines import Subgraphs
from elene.experiments.data.batches import Stock
from elene.nn import ELENE, Ego, Entries
from elene.nn.codes import renumber_in_torch
from elene.nn.functional import ego_reduce
from elene.transforms import EgoStructure
from elene.transforms.schema import EDGES, NODES, QUADRUPLETS
from graphs import random_graphs


def as_data(graph):
    edge_index = from_networkx(graph).edge_index.reshape(2, -1)
    return Data(x=torch.randn(len(graph), 2), edge_index=edge_index, num_nodes=len(graph))


def prepared(graph, level="edge", k=2):
    return EgoStructure(k, level)(as_data(graph))


def reordered(data):
    changed = copy.copy(data)
    changed.edge_index = data.edge_index[:, torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(1))]
    return changed


def rewired(data):
    """The same degrees, the same number of arcs: two edges have swapped their ends."""
    changed = copy.copy(data)
    graph = nx.from_edgelist(data.edge_index.T.tolist())
    nx.double_edge_swap(graph, 1, max_tries=1000, seed=0)
    changed.edge_index = from_networkx(graph.subgraph(sorted(graph))).edge_index
    return changed


def with_isolated_nodes():
    graph = nx.path_graph(20)
    graph.add_nodes_from([20, 21])
    return graph


def filtered(data):
    """What a neighbour loader makes of the first half of a path."""
    arcs = (data.edge_index < 50).all(0).nonzero().flatten()
    row, col = data.edge_index[:, arcs]
    return filter_data(data, torch.arange(50), row, col, arcs, None)


CHANGES = {
    "subgraph": lambda data: data.subgraph(torch.arange(50)),
    "edge_subgraph": lambda data: data.edge_subgraph(torch.arange(20)),
    "filter_data": filtered,
    "random nodes": lambda data: next(iter(RandomNodeLoader(data, num_parts=4))),
    "largest component": lambda data: T.LargestConnectedComponents()(data.edge_subgraph(torch.arange(20))),
    "link split, training": lambda data: T.RandomLinkSplit(is_undirected=True)(data)[0],
    "link split, test": lambda data: T.RandomLinkSplit(is_undirected=True)(data)[2],
    "self-loops": T.AddSelfLoops(),
    "another edge_index": rewired,
    "one arc fewer": lambda data: copy.copy(data).update({"edge_index": data.edge_index[:, 1:]}),
    "more nodes": lambda data: copy.copy(data).update({"num_nodes": 101}),
    "knn": lambda data: copy.copy(data).update({"edge_index": data.edge_index.flip(1)[:, :50]}),
}


@pytest.mark.parametrize("level", ["node", "edge"])
@pytest.mark.parametrize("change", CHANGES)
def test_lists_of_another_graph_are_refused(change, level):
    changed = CHANGES[change](prepared(nx.path_graph(100), level))
    with pytest.raises(ValueError, match=r"made from another graph: .*EgoStructure\(k=2.*after everything"):
        Ego.of(changed)
    batch = [prepared(nx.path_graph(5), level), changed]
    if change != "more nodes":
        with pytest.raises(ValueError, match="made from another graph"):
            Ego.of(Batch.from_data_list(batch, exclude_keys=["edge_label", "edge_label_index"]))


@pytest.mark.parametrize("level", ["node", "edge"])
def test_nodes_without_edges_count(level):
    with pytest.raises(ValueError, match="20 nodes, and theirs had 22"):
        Ego.of(T.RemoveIsolatedNodes()(prepared(with_isolated_nodes(), level)))


def test_the_order_of_arcs_counts_where_they_are_numbered():
    with pytest.raises(ValueError, match="other arcs or another order"):
        Ego.of(reordered(prepared(nx.cycle_graph(30), "edge")))
    kept, moved = (Ego.of(f(prepared(nx.cycle_graph(30), "node"))) for f in (copy.copy, reordered))
    assert torch.equal(kept.pairs.columns, moved.pairs.columns)


@settings(max_examples=60, deadline=None)
@given(graph=random_graphs(7), other=random_graphs(7), level=st.sampled_from(["node", "edge"]))
def test_no_other_graph_of_the_same_size_passes(graph, other, level):
    data, changed = prepared(graph, level, 1), copy.copy(prepared(graph, level, 1))
    changed.edge_index, changed.num_nodes = as_data(other).edge_index, len(other)
    lists = [entry.edge_index.T.tolist() for entry in (data, changed)]
    same = lists[0] == lists[1] if level == "edge" else sorted(lists[0]) == sorted(lists[1])
    if same and len(other) == len(graph):
        assert Ego.of(changed).k == 1
    else:
        with pytest.raises(ValueError, match="made from another graph"):
            Ego.of(changed)


def test_a_batch_names_the_graph_and_whole_ones_pass():
    datas = [prepared(nx.cycle_graph(n)) for n in (3, 6, 4)]
    assert len(Ego.of(Batch.from_data_list(datas)).pairs.sizes) == 13
    datas[1] = reordered(datas[1])
    with pytest.raises(ValueError, match="in graph 1 of the batch"):
        Ego.of(Batch.from_data_list(datas))
    swapped = Batch.from_data_list([prepared(nx.path_graph(6)), prepared(nx.star_graph(5))])
    swapped.edge_index = Batch.from_data_list([as_data(nx.star_graph(5)), as_data(nx.path_graph(6))]).edge_index
    with pytest.raises(ValueError, match="in graph 0 of the batch"):
        Ego.of(swapped)


@pytest.mark.parametrize("level", ["node", "edge"])
def test_a_data_set_and_a_stock_carry_what_they_were_made_from(level):
    graphs = [nx.star_graph(5), nx.empty_graph(2), nx.cycle_graph(6)]
    dataset = InMemoryDataset()
    dataset.data, dataset.slices = InMemoryDataset.collate(
        [Data(x=data.x, edge_index=data.edge_index) for data in map(as_data, graphs)]
    )
    dataset = EgoStructure(1, level).prepare(dataset)
    for data, graph in zip(dataset, graphs, strict=True):
        assert torch.equal(data.ego_shape, prepared(graph, level, 1).ego_shape)
    batch = Stock(dataset).gather(torch.tensor([2, 0]))
    assert len(Ego.of(batch).pairs.sizes) == 12
    batch.edge_index[:, 0] = batch.edge_index[:, 1]
    with pytest.raises(ValueError, match="in graph 0 of the batch"):
        Ego.of(batch)


def test_making_lists_anew_leaves_nothing_of_the_old_ones():
    data = prepared(nx.path_graph(100), "edge").subgraph(torch.arange(50))
    again = EgoStructure(1, "node")(data)
    assert not {"ego_edge", "ego_arc", "ego_triples"} & set(again.keys())
    assert torch.equal(Ego.of(again).pairs.columns, Ego.of(prepared(nx.path_graph(50), "node", 1)).pairs.columns)
    dataset = InMemoryDataset()
    dataset.data, dataset.slices = InMemoryDataset.collate([prepared(nx.path_graph(4), "edge")])
    assert Ego.of(EgoStructure(1, "node").prepare(dataset)[0]).triples is None


def test_lists_that_do_not_fit_each_other_are_refused():
    plain = [Data(**prepared(nx.cycle_graph(n)).to_dict()) for n in (3, 4)]
    with pytest.raises(ValueError, match=r"do not fit each other \(graph 1 of 2\).*EgoData"):
        Ego.of(Batch.from_data_list(plain))
    for key in ("ego_size", "ego_node", "ego_code", "ego_triples", "ego_edge", "ego_rooted", "ego_inside"):
        for wrong in (-1, 2**14):
            data = prepared(nx.cycle_graph(5))
            data[key][1] = wrong
            with pytest.raises(ValueError, match="do not fit each other"):
                Ego.of(data)
    for key in ("ego_node", "ego_code", "ego_quadruplet", "ego_triples", "ego_rooted", "ego_inside_pair"):
        data = prepared(nx.cycle_graph(5))
        data[key] = data[key][:-1]
        with pytest.raises(ValueError, match="do not fit each other"):
            Ego.of(data)
    old = prepared(nx.cycle_graph(5))
    old.ego_shape = old.ego_shape[:, :6]
    with pytest.raises(ValueError, match="another version of elene"):
        Ego.of(old)


def test_renumbering_elsewhere_refuses_the_same():
    data = Batch.from_data_list([prepared(nx.cycle_graph(4), "node"), prepared(nx.star_graph(4), "node")])
    shape, lists = data.ego_shape[:, [NODES, NODES, QUADRUPLETS]], (data.ego_size, data.ego_node)
    number = np.arange(len(data.ego_quadruplet), dtype=np.int32)
    found, wrong = renumber_in_torch(data.ego_code, lists, shape, number)
    ego = Ego.of(data)
    assert wrong == -1 and torch.equal(data.ego_quadruplet[found], ego.quadruplets[ego.pairs.codes[:, 0]])
    for broken in ((data.ego_code + 20, lists), (data.ego_code, (data.ego_size, data.ego_node.flip(0)))):
        assert renumber_in_torch(*broken, shape, number)[1] == 0
    assert renumber_in_torch(data.ego_code, (data.ego_size - 1, data.ego_node), shape, number)[1] == 0


def test_a_layer_reads_no_edges_of_another_graph():
    data = prepared(nx.cycle_graph(6))
    layer, ego = ELENE(2, k=2, level="edge"), Ego.of(data)
    first = layer(data.x, data.edge_index, None, ego)[0]
    assert torch.equal(first, layer(data.x, data.edge_index.clone(), None, ego)[0])
    for other in (reordered(data).edge_index, data.edge_index[:, :6]):
        with pytest.raises(ValueError, match="ego was made from another graph"):
            layer(data.x, other, None, ego)
        with pytest.raises(ValueError, match="ego was made from another graph"):
            Subgraphs.of(ego, other)
    assert torch.equal(first, layer(data.x, data.edge_index, None, ego)[0])
    data.edge_index[:] = reordered(data).edge_index  # the very tensor that the ends are known of
    with pytest.raises(ValueError, match="ego was made from another graph"):
        layer(data.x, data.edge_index, None, ego)
    with pytest.raises(ValueError, match="ego was made from another graph"), torch.inference_mode():
        ego.ends(data.edge_index.clone())


def test_lists_made_by_hand_answer_for_what_they_are_given():
    data = prepared(nx.path_graph(3), k=1)
    ego = dataclasses.replace(Ego.of(data), origin=None)
    renamed = 2 - data.edge_index
    assert ego.ends(data.edge_index)[0].tolist() == [[0, 1], [1, 2]]
    assert ego.ends(renamed)[0].tolist() == [[1, 0], [2, 1]]
    assert Subgraphs.of(ego, data.edge_index) is Subgraphs.of(ego, data.edge_index)
    assert not torch.equal(Subgraphs.of(ego, renamed).arc, Subgraphs.of(ego, data.edge_index).arc)
    for wrong, match in ((data.edge_index[:, :2], "must have shape"), (data.edge_index[[0, 0]], "does not fit")):
        with pytest.raises(ValueError, match=match):
            ego.ends(wrong)
    with pytest.raises(ValueError, match='level="edge"'):
        Ego.of(prepared(nx.path_graph(3), "node")).ends(data.edge_index)


@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_the_op_indexes_nothing_that_was_not_checked(backend):
    def reduce(sizes=(2,), columns=(0, 1), codes=((0,), (0,)), rows=1):
        entries = Entries(*(torch.tensor(values) for values in (sizes, columns, codes)), 2)
        return ego_reduce(torch.zeros(1, 1), torch.zeros(2, 1), torch.ones(rows, 1), entries, "sum", backend=backend)

    assert reduce()[0].tolist() == [[2.0]]
    for wrong in (
        {"columns": (0, 2)},
        {"columns": (-1, 0)},
        {"sizes": (3,)},
        {"codes": ((0,), (-1,))},
        {"codes": (0, 0)},
    ):
        with pytest.raises(ValueError, match="entries: "):
            reduce(**wrong)
    with pytest.raises(ValueError, match="table must have 2 rows"):
        reduce(codes=((0,), (1,)))
    with pytest.raises(TypeError, match="columns must be integers"):
        reduce(columns=(0.0, 1.0))


def test_the_hash_of_a_batch_is_that_of_its_graphs():
    datas = [prepared(graph) for graph in (nx.cycle_graph(4), nx.empty_graph(3), nx.cycle_graph(4))]
    shape = Batch.from_data_list(datas).ego_shape
    assert torch.equal(shape[0], shape[2]) and shape[:, EDGES].tolist() == [4, 0, 4]
