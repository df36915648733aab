"""SPNN and Graphormer, which read distances, against one node at a time; and ELENE-L in the place of an SPNN."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.utils import from_networkx

import naive_baselines
from elene.baselines import SPNN, Centrality, Graphormer
from elene.nn import Ego
from elene.transforms import EgoStructure
from graphs import random_graphs

WIDTH = 6


def as_data(graph, k):
    data = Data(edge_index=from_networkx(graph).edge_index.reshape(2, -1).long(), num_nodes=len(graph))
    return EgoStructure(k)(data)


def features(graph, seed=0):
    return torch.randn(len(graph), WIDTH, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def shortest_path_network(k):
    torch.manual_seed(3)
    layer = SPNN(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()), k).double()
    nn.init.normal_(layer.eps), nn.init.normal_(layer.logits)
    return layer


def assert_same_gradients(layer, x, out, expected):
    wanted = [x, *layer.parameters()]
    mine, twin = (torch.autograd.grad(y.sin().sum(), wanted, allow_unused=True) for y in (out, expected))
    for ours, theirs in zip(mine, twin, strict=True):
        assert torch.allclose(*(torch.zeros(()).double() if g is None else g for g in (ours, theirs)), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(graph=random_graphs(9), k=st.integers(1, 4))
def test_spnn_agrees_with_one_node_at_a_time(graph, k):
    data, x, layer = as_data(graph, k), features(graph).requires_grad_(), shortest_path_network(k)
    out, expected = layer(x, data.edge_index, Ego.of(data)), naive_baselines.spnn(layer, graph, x)
    assert torch.allclose(out, expected, atol=1e-10)
    assert_same_gradients(layer, x, out, expected)
    assert torch.allclose(layer.alpha.sum(), torch.ones(()).double())


@settings(max_examples=30, deadline=None)
@given(graph=random_graphs(9), k=st.integers(1, 4), scale=st.sampled_from([0.01, 1.0, 50.0]))
def test_elene_l_with_the_weights_of_an_spnn_gives_the_same(graph, k, scale):
    data, x, layer = as_data(graph, k), scale * features(graph), shortest_path_network(k)
    ego = Ego.of(data)
    twin = layer.as_elene(WIDTH, bound=float(x.abs().max()))
    sums, _ = twin(x, data.edge_index, None, ego)
    assert torch.allclose(layer.mlp(sums), layer(x, data.edge_index, ego), atol=1e-9)


def test_too_small_a_bound_lets_other_distances_through():
    graph = nx.path_graph(5)
    data, x, layer = as_data(graph, 3), 10 * features(graph), shortest_path_network(3)
    ego = Ego.of(data)
    sums, _ = layer.as_elene(WIDTH, bound=0.1)(x, data.edge_index, None, ego)
    assert not torch.allclose(layer.mlp(sums), layer(x, data.edge_index, ego), atol=1e-3)


def attention(k, heads=2, **options):
    torch.manual_seed(4)
    return Graphormer(WIDTH, k, heads, **options).double()


@settings(max_examples=25, deadline=None)
@given(graph=random_graphs(8), k=st.integers(0, 4), heads=st.sampled_from([1, 2, 3]))
def test_graphormer_agrees_with_one_node_and_head_at_a_time(graph, k, heads):
    data, x, layer = as_data(graph, k), features(graph).requires_grad_(), attention(k, heads, ffn=5)
    out, expected = layer(x, data.edge_index, Ego.of(data)), naive_baselines.graphormer(layer, graph, x)
    assert torch.allclose(out, expected, atol=1e-10)
    assert_same_gradients(layer, x, out, expected)


def test_attention_stays_within_each_graph_of_a_batch():
    graphs = [nx.path_graph(5), nx.empty_graph(1), nx.complete_graph(3), nx.disjoint_union(*[nx.path_graph(2)] * 2)]
    batch, layer = Batch.from_data_list([as_data(graph, 2) for graph in graphs]), attention(2)
    xs = [features(graph, seed) for seed, graph in enumerate(graphs)]
    out = layer(torch.cat(xs), batch.edge_index, Ego.of(batch), batch.batch)
    expected = [naive_baselines.graphormer(layer, graph, x) for graph, x in zip(graphs, xs, strict=True)]
    assert torch.allclose(out, torch.cat(expected), atol=1e-10)


def test_a_graph_without_nodes_does_no_harm():
    layer = attention(1)
    datas = [as_data(graph, 1) for graph in (nx.path_graph(2), nx.empty_graph(0), nx.path_graph(3))]
    batch, x = Batch.from_data_list(datas), features(nx.path_graph(5)).requires_grad_()
    out = layer(x, batch.edge_index, Ego.of(batch), batch.batch)
    out.sum().backward()
    assert out.isfinite().all() and x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())
    assert layer(x[:0], batch.edge_index[:, :0], Ego.of(datas[1])).shape == (0, WIDTH)


def test_dropout_acts_in_training_only():
    data, x = as_data(nx.path_graph(5), 2), features(nx.path_graph(5))
    layer, ego = attention(2, dropout=0.5), Ego.of(data)
    assert not torch.equal(layer(x, data.edge_index, ego), layer(x, data.edge_index, ego))
    layer.eval()
    assert torch.equal(layer(x, data.edge_index, ego), layer(x, data.edge_index, ego))
    assert torch.equal(layer(x, data.edge_index, ego), attention(2).eval()(x, data.edge_index, ego))


def test_centrality_embeds_degrees_and_clips_them():
    module, star = Centrality(WIDTH, max_degree=3), as_data(nx.star_graph(5), 1)
    rows = module(torch.zeros(6, WIDTH), star.edge_index)
    assert torch.equal(rows, module.embedding.weight[[3, 1, 1, 1, 1, 1]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Graphormer(6, 2, heads=4), ValueError, "heads must divide the 6 channels, got 4"),
        (lambda: Graphormer(6, 2, heads=0), ValueError, "heads must be at least 1"),
        (lambda: Graphormer(0, 2), ValueError, "channels must be at least 1"),
        (lambda: Graphormer(6, 2.0, heads=2), TypeError, "k must be an integer"),
        (lambda: Graphormer(6, 2, heads=2, ffn=0), ValueError, "ffn must be at least 1"),
        (lambda: Centrality(6, -1), ValueError, "max_degree must be at least 0"),
        (lambda: SPNN(nn.Identity(), 0), ValueError, "k must be at least 1"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("layer", [SPNN(nn.Identity(), 2), Graphormer(WIDTH, 2, heads=2)])
def test_bad_egos_are_named(layer):
    data = as_data(nx.path_graph(4), 1)
    with pytest.raises(ValueError, match="ego has k=1, and the layer k=2"):
        layer(torch.zeros(4, WIDTH), data.edge_index, Ego.of(data))
    assert "k=2" in repr(layer)
