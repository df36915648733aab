"""GNN-AK, AK+ and NGNN against one subgraph at a time; the list of subgraphs, and sampling from it."""

from __future__ import annotations

import gc

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GINConv, GINEConv
from torch_geometric.utils import from_networkx

import naive_baselines
from elene.baselines import AK, AK_PLUS, GNNAK, NGNN, RootedGNN, Subgraphs
from elene.baselines import subgraphs as module
from elene.nn import Ego
from elene.transforms import EgoStructure
from graphs import random_graphs

WIDTH = 6


def as_data(graph, k, level="edge"):
    data = Data(edge_index=from_networkx(graph).edge_index.reshape(2, -1).long(), num_nodes=len(graph))
    return EgoStructure(k, level)(data)


def features(data, seed=0):
    """Node features, features of arcs that differ by direction, and the latter by arc."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(data.num_nodes, WIDTH, dtype=torch.double, generator=generator)
    edge_attr = torch.randn(data.num_edges, WIDTH, dtype=torch.double, generator=generator)
    return x, edge_attr, dict(zip(map(tuple, data.edge_index.T.tolist()), edge_attr, strict=True))


def convs(layers):
    return [GINEConv(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()), train_eps=True) for _ in range(layers)]


def build(kind, k, layers=1, **options):
    """A layer in evaluation: its BatchNorms would see all copies at once, which one subgraph does not have."""
    torch.manual_seed(2)
    layer = kind(WIDTH, k, convs(layers), updates=[nn.Tanh() for _ in range(layers)], **options).double()
    for name, values in layer.named_buffers():
        if "running" in name:
            values.uniform_(0.2, 2)
    return layer.eval()


def gradients(layer, out, x):
    layer.zero_grad()
    found = torch.autograd.grad(out.sin().sum(), [x, *layer.parameters()], allow_unused=True)
    return [torch.zeros(()) if grad is None else grad for grad in found]


def assert_same(layer, x, out, expected):
    assert torch.allclose(out, expected, atol=1e-10)
    for mine, wanted in zip(gradients(layer, out, x), gradients(layer, expected, x), strict=True):
        assert torch.allclose(mine, wanted, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    graph=random_graphs(8),
    k=st.integers(0, 3),
    layers=st.integers(1, 2),
    parts=st.sampled_from([AK, AK_PLUS, ("centroid", "context"), ("centroid",)]),
    pool=st.sampled_from(["mean", "sum"]),
    fuse=st.sampled_from(["concat", "add"]),
)
def test_gnn_ak_agrees_with_one_subgraph_at_a_time(graph, k, layers, **options):
    data = as_data(graph, k)
    layer = build(GNNAK, k, layers, **options)
    x, edge_attr, edges = features(data)
    x.requires_grad_()
    out = layer(x, data.edge_index, edge_attr, Ego.of(data))
    assert_same(layer, x, out, naive_baselines.gnn_ak(layer, graph, x, edges))


@settings(max_examples=20, deadline=None)
@given(graph=random_graphs(8), k=st.integers(0, 3), layers=st.integers(1, 2), pool=st.sampled_from(["mean", "sum"]))
def test_ngnn_agrees_with_one_subgraph_at_a_time(graph, k, layers, pool):
    data = as_data(graph, k)
    layer = build(NGNN, k, layers, pool=pool)
    x, edge_attr, edges = features(data)
    x.requires_grad_()
    out = layer(x, data.edge_index, edge_attr, Ego.of(data))
    assert_same(layer, x, out, naive_baselines.ngnn(layer, graph, x, edges))


@settings(max_examples=20, deadline=None)
@given(graph=random_graphs(9), k=st.integers(0, 3), cover=st.integers(1, 4), seed=st.integers(0, 99))
def test_sampled_roots_cover_every_node_and_the_nearest_speaks(graph, k, cover, seed):
    data = as_data(graph, k)
    whole = Subgraphs.of(Ego.of(data), data.edge_index)
    torch.manual_seed(seed)
    some = whole.sample(cover)
    roots = set(some.root.tolist())
    distance = dict(nx.all_pairs_shortest_path_length(graph, cutoff=k))
    for v in graph:
        assert int(some.copies[v]) == len(roots & set(distance[v])) >= min(cover, len(distance[v]))
        assert some.node[some.anchor[v]] == v
        assert int(some.hop[some.anchor[v]]) == min(distance[v][w] for w in roots if w in distance[v])
    for part in (whole, some):
        ends = part.node[part.edge_index]
        assert torch.equal(ends, data.edge_index[:, part.arc])
        assert torch.equal(part.root[part.edge_index[0]], part.root[part.edge_index[1]])
        arcs = sum(2 * graph.subgraph(distance[w]).number_of_edges() for w in set(part.root.tolist()))
        assert ends.shape[1] == arcs


@pytest.mark.parametrize("parts", [AK, AK_PLUS])
@pytest.mark.parametrize("seed", range(3))
def test_training_on_sampled_roots_agrees_with_the_same_roots_one_at_a_time(parts, seed):
    graph, k = nx.random_labeled_tree(14, seed=seed), 2
    data = as_data(graph, k)
    layer = build(GNNAK, k, parts=parts, cover=1)
    layer.training = True  # it alone: it samples then, and its BatchNorms still do not look at the batch
    x, edge_attr, edges = features(data)
    ego = Ego.of(data)
    torch.manual_seed(seed)
    some = Subgraphs.of(ego, data.edge_index).sample(1)
    speaker = dict(enumerate(some.root[some.anchor].tolist()))
    assert len(set(speaker.values())) < len(graph)
    torch.manual_seed(seed)
    out = layer(x, data.edge_index, edge_attr, ego)
    assert torch.allclose(out, naive_baselines.gnn_ak(layer, graph, x, edges, speaker), atol=1e-10)
    layer.eval()
    out = layer(x, data.edge_index, edge_attr, ego)
    assert torch.allclose(out, naive_baselines.gnn_ak(layer, graph, x, edges), atol=1e-10)


def test_all_subgraphs_are_used_if_so_many_are_wanted():
    data = as_data(nx.barbell_graph(4, 2), 2)
    ego = Ego.of(data)
    x, edge_attr, _ = features(data)
    sampled = build(GNNAK, 2, parts=AK_PLUS, cover=100)
    whole = build(GNNAK, 2, parts=AK_PLUS)
    outs = [layer(x, data.edge_index, edge_attr, ego) for layer in (sampled, whole)]
    assert torch.allclose(*outs, atol=1e-12)


def test_subgraphs_are_kept_with_their_ego_and_no_longer():
    data = as_data(nx.path_graph(5), 1)
    ego = Ego.of(data)
    assert Subgraphs.of(ego, data.edge_index) is Subgraphs.of(ego, data.edge_index)
    before = len(module._KEPT)
    del ego
    gc.collect()
    assert len(module._KEPT) == before - 1


def test_convs_with_and_without_edge_features():
    data = as_data(nx.wheel_graph(6), 1)
    x, edge_attr, _ = features(data)
    inner = [GINConv(nn.Linear(WIDTH, WIDTH)), GATConv(WIDTH, WIDTH, edge_dim=WIDTH)]
    layer = GNNAK(WIDTH, 1, inner).double()
    ego = Ego.of(data)
    first = layer(x, data.edge_index, edge_attr, ego)
    assert first.shape == x.shape
    assert not torch.allclose(first, layer(x, data.edge_index, 2 * edge_attr, ego))
    assert layer(x, data.edge_index, None, ego).shape == x.shape


def test_graphs_without_edges_and_nodes():
    for graph in (nx.empty_graph(3), nx.empty_graph(0)):
        data = as_data(graph, 1)
        x, edge_attr, _ = features(data)
        for layer in (build(GNNAK, 1, parts=AK_PLUS, cover=1), build(NGNN, 1)):
            assert layer(x, data.edge_index, edge_attr, Ego.of(data)).shape == x.shape


def test_usual_updates_and_repr():
    layer = GNNAK(WIDTH, 2, convs(2), parts=AK_PLUS)
    assert [type(module) for module in layer.inner.updates[1]] == [nn.BatchNorm1d, nn.ReLU, nn.Dropout]
    assert "k=2, parts=('centroid', 'subgraph', 'context'), pool='mean', cover=None" in repr(layer)
    assert "k=2, pool='mean'" in repr(NGNN(WIDTH, 2, convs(1)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: GNNAK(WIDTH, 1, []), ValueError, "convs must hold at least one conv"),
        (
            lambda: GNNAK(WIDTH, 1, convs(2), updates=[nn.ReLU()]),
            ValueError,
            "updates must have one entry for each of the 2 convs, got 1",
        ),
        (lambda: GNNAK(WIDTH, -1, convs(1)), ValueError, "k must be at least 0, got -1"),
        (lambda: GNNAK(0, 1, convs(1), updates=[nn.ReLU()]), ValueError, "channels must be at least 1"),
        (lambda: GNNAK(WIDTH, 1, convs(1), pool="max"), ValueError, "pool must be one of"),
        (lambda: GNNAK(WIDTH, 1, convs(1), cover=0), ValueError, "cover must be at least 1"),
        (lambda: GNNAK(WIDTH, 1, convs(1), cover=1.5), TypeError, "cover must be an integer"),
        (lambda: NGNN(WIDTH, 1, convs(1), pool="max"), ValueError, "pool must be one of"),
        (lambda: RootedGNN(WIDTH, 1, convs(1), hop_dim=0), ValueError, "hop_dim must be at least 1"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("kind", [GNNAK, NGNN])
def test_bad_egos_are_named(kind):
    data = as_data(nx.path_graph(4), 1)
    layer, x = kind(WIDTH, 2, convs(1)), torch.zeros(4, WIDTH)
    with pytest.raises(ValueError, match=r"ego has k=1, and the layer k=2: use EgoStructure\(k=2\)"):
        layer(x, data.edge_index, None, Ego.of(data))
    with pytest.raises(TypeError, match=r"pass Ego\.of\(data\)"):
        layer(x, data.edge_index, None, None)
    with pytest.raises(ValueError, match='level="edge"'):
        layer(x, data.edge_index, None, Ego.of(as_data(nx.path_graph(4), 2, "node")))
    with pytest.raises(ValueError, match=r"x must have 4 rows, one for each node, got shape \(3, 6\)"):
        layer(x[:3], data.edge_index, None, Ego.of(as_data(nx.path_graph(4), 2)))
