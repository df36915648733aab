"""PPGN against products of matrices spelled out."""

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
from elene.baselines import PPGN, NodePairs, PPGNBlock
from graphs import random_graphs

WIDTH = 4


def as_data(graph, seed=0):
    generator = torch.Generator().manual_seed(seed)
    edge_index = from_networkx(graph).edge_index.reshape(2, -1).long()
    x, edge_attr = (
        torch.randn(n, WIDTH, dtype=torch.double, generator=generator) for n in (len(graph), edge_index.shape[1])
    )
    return Data(x=x, edge_index=edge_index, edge_attr=edge_attr, num_nodes=len(graph))


def build(blocks, edge_encoder=None):
    torch.manual_seed(5)
    chain = [PPGNBlock(WIDTH + (i == 0), WIDTH) for i in range(blocks)]
    return PPGN(nn.Linear(WIDTH, WIDTH), chain, nn.Linear(2 * WIDTH, 3), edge_encoder).double()


@settings(max_examples=12, deadline=None)
@given(several=st.lists(random_graphs(6), min_size=1, max_size=3), blocks=st.integers(1, 2), with_edges=st.booleans())
def test_ppgn_agrees_with_products_spelled_out(several, blocks, with_edges):
    model = build(blocks, nn.Linear(WIDTH, WIDTH) if with_edges else None)
    datas = [as_data(graph, seed) for seed, graph in enumerate(several)]
    out, expected = model(Batch.from_data_list(datas)), []
    for graph, data in zip(several, datas, strict=True):
        embedded = model.edge_encoder(data.edge_attr) if with_edges else torch.zeros_like(data.edge_attr)
        edges = dict(zip(map(tuple, data.edge_index.T.tolist()), embedded, strict=True))
        expected.append(naive_baselines.ppgn(model, graph, model.encoder(data.x), edges))
    expected = torch.stack(expected)
    assert torch.allclose(out, expected, atol=1e-9)
    mine, twin = (
        torch.autograd.grad(y.sin().sum(), list(model.parameters()), allow_unused=True) for y in (out, expected)
    )
    for ours, theirs in zip(mine, twin, strict=True):
        assert torch.allclose(*(torch.zeros(()).double() if g is None else g for g in (ours, theirs)), atol=1e-8)


def test_products_are_those_of_each_graph():
    sizes = [3, 1, 4, 3]
    pairs = NodePairs.of(torch.repeat_interleave(torch.tensor(sizes)))
    matrices = [torch.randn(2, n, n, 5).double() for n in sizes]
    products = [torch.stack([m[0, :, :, c] @ m[1, :, :, c] for c in range(5)], dim=-1) for m in matrices]
    left, right, expected = (torch.empty(len(pairs.graph), 5).double() for _ in range(3))
    for i, (both, product) in enumerate(zip(matrices, products, strict=True)):
        for rows, values in ((left, both[0]), (right, both[1]), (expected, product)):
            rows[pairs.graph == i] = values.reshape(-1, 5)
    assert torch.allclose(pairs.multiply(left, right), expected, atol=1e-12)


def test_no_nodes_and_no_edges():
    model = build(2)
    assert model(as_data(nx.empty_graph(0))).shape == (0, 3)
    assert model(as_data(nx.empty_graph(3))).isfinite().all()
    datas = [as_data(graph) for graph in (nx.path_graph(3), nx.empty_graph(0), nx.path_graph(2))]
    first, _, last = model(Batch.from_data_list(datas))
    assert torch.allclose(torch.stack([first, last]), torch.cat([model(datas[0]), model(datas[2])]), atol=1e-12)


def test_many_blocks_neither_overflow_nor_vanish():
    model = build(8)
    out = model(as_data(nx.complete_graph(12)))
    out.sum().backward()
    assert out.isfinite().all()
    assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="in_channels must be at least 1, got 0"):
        PPGNBlock(0, 4)
    with pytest.raises(TypeError, match="channels must be an integer"):
        PPGNBlock(4, 4.0)
