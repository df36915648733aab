from __future__ import annotations

import copy

import networkx as nx
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    GINEConv,
    PNAConv,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import from_networkx

from elene.datasets import rook, shrikhande, sr25
from elene.nn import ELENE, GNN, Ego, EgoEmbedding, GraphReadout, VirtualNode, edge_readout, node_readout, updates
from elene.transforms import EgoStructure

WIDTH = 8


def molecule(seed, k=1, level="edge"):
    graph = nx.gnp_random_graph(7, 0.4, seed=seed)
    data = Data(edge_index=from_networkx(graph).edge_index.reshape(2, -1), num_nodes=7)
    generator = torch.Generator().manual_seed(seed)
    data.x = torch.randint(0, 4, (7,), generator=generator)
    low, high = data.edge_index.min(0).values, data.edge_index.max(0).values
    data.edge_attr = (low + 2 * high) % 3
    return EgoStructure(k, level)(data)


def mlp():
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))


CONVS = {
    "GINE": lambda: GINEConv(mlp(), train_eps=True),
    "GIN": lambda: GINConv(mlp()),
    "GCN": lambda: GCNConv(WIDTH, WIDTH),
    "GAT": lambda: GATConv(WIDTH, WIDTH, edge_dim=WIDTH),
    "PNA": lambda: PNAConv(
        WIDTH, WIDTH, ["mean", "max"], ["identity"], torch.ones(8, dtype=torch.long), edge_dim=WIDTH
    ),
}


def make_model(conv="GINE", level="edge", **options):
    torch.manual_seed(0)
    return GNN(
        nn.Embedding(4, WIDTH),
        [CONVS[conv]() for _ in range(2)],
        updates(WIDTH, 2),
        nn.Linear(options.pop("out", WIDTH), 1),
        elene=None if level is None else [ELENE(WIDTH, 1, level), None],
        edge_encoders=[nn.Embedding(3, WIDTH) for _ in range(2)],
        **options,
    )


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("level", [None, "node", "edge"])
def test_any_conv_trains_and_a_batch_equals_its_graphs(conv, level):
    model = make_model(conv, level)
    datas = [molecule(seed) for seed in range(4)]
    batch = Batch.from_data_list(datas)
    model(batch).sum().backward()
    # GIN and GCN read no edge features, so what makes those has no gradient.
    without = {name for name, p in model.named_parameters() if p.grad is None}
    assert all("edge" in name for name in without)
    model.eval()
    assert torch.allclose(model(batch), torch.cat([model(data) for data in datas]), atol=1e-5)


@pytest.mark.parametrize(
    ("readout", "width", "rows"),
    [
        (node_readout, WIDTH, lambda b: b.num_nodes),
        (edge_readout, 2 * WIDTH, lambda b: b.num_edges),
        (GraphReadout(global_mean_pool), WIDTH, lambda b: b.num_graphs),
        (GraphReadout(global_max_pool), WIDTH, lambda b: b.num_graphs),
    ],
)
def test_node_edge_and_graph_tasks(readout, width, rows):
    batch = Batch.from_data_list([molecule(seed) for seed in range(3)])
    model = make_model(readout=readout, out=width).eval()
    assert model(batch).shape == (rows(batch), 1)


def test_virtual_node_and_dropout():
    model = make_model(virtual_node=VirtualNode(WIDTH, 2))
    datas = [molecule(seed) for seed in range(3)]
    batch = Batch.from_data_list(datas)
    model(batch).sum().backward()
    assert model.virtual_node.start.grad.abs().sum() > 0
    model.eval()
    assert torch.allclose(model(batch), torch.cat([model(data) for data in datas]), atol=1e-5)
    assert any(isinstance(module, nn.Dropout) and module.p == 0.3 for module in updates(WIDTH, 1, 0.3)[0])


def test_forward_leaves_its_data_alone():
    data = molecule(0)
    before = copy.deepcopy(data.to_dict())
    make_model().eval()(data)
    assert set(before) == set(data.to_dict())
    assert all(torch.equal(value, data[key]) for key, value in before.items() if torch.is_tensor(value))


def test_own_modules_and_lengths():
    class Own(nn.Module):
        def forward(self, x, edge_index):
            return x

    data = molecule(1)
    model = GNN(nn.Embedding(4, WIDTH), [Own()], updates(WIDTH, 1), nn.Linear(WIDTH, 2))
    assert model(data).shape == (1, 2)
    with pytest.raises(ValueError, match="elene must have one entry for each of the 1 convs, got 2"):
        GNN(nn.Embedding(4, WIDTH), [Own()], updates(WIDTH, 1), nn.Linear(WIDTH, 2), elene=[None, None])


def family(graphs, level="edge", k=1):
    datas = []
    for label, graph in enumerate(graphs):
        arcs = torch.from_numpy(graph.edges.T.copy()).long()
        data = Data(x=torch.zeros(graph.num_nodes, dtype=torch.long), edge_index=torch.cat([arcs, arcs.flip(0)], dim=1))
        data.y = torch.tensor([label])
        datas.append(EgoStructure(k, level)(data))
    return Batch.from_data_list(datas)


def shuffled(graph, seed):
    from elene import Graph

    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(seed)).numpy()
    return Graph.from_edges(order[graph.edges], num_nodes=graph.num_nodes)


def classifier(classes, pool, intersection=True, seed=0):
    torch.manual_seed(seed)
    width = 32
    layers = [
        ELENE(width, 1, "edge", pool=pool, embedding=EgoEmbedding(1, 12, 16, "edge", True, intersection))
        for _ in range(2)
    ]
    convs = [GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))) for _ in range(2)]
    return GNN(
        nn.Embedding(1, width),
        convs,
        updates(width, 2),
        nn.Sequential(nn.BatchNorm1d(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, classes)),
        elene=layers,
        readout=GraphReadout(global_mean_pool),
    )


@pytest.mark.parametrize("pool", ["mean", "sum"])
def test_the_literal_equations_cannot_tell_strongly_regular_graphs_apart(pool):
    for graphs in ([rook(), shrikhande()], sr25()):
        batch = family(graphs)
        literal, ours = (classifier(3, pool, intersection).double() for intersection in (False, True))
        ego = Ego.of(batch)
        for model, apart in ((literal, False), (ours, True)):
            x = torch.ones(batch.num_nodes, 32, dtype=torch.double)
            out, _ = model.elene[0](x, batch.edge_index, None, ego)
            sums = torch.zeros(batch.num_graphs, 32, dtype=torch.double).index_add_(0, batch.batch, out)
            gaps = torch.cdist(sums, sums) + torch.eye(len(sums)).double()
            assert (gaps.min() > 1e-9) == apart
            if not apart:
                assert gaps[~torch.eye(len(sums), dtype=torch.bool)].max() < 1e-9


@pytest.mark.jit
@pytest.mark.parametrize("pool", ["mean", "sum"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sr25_is_learned_and_holds_on_relabelled_copies(pool, seed):
    graphs = sr25()
    batch = family(graphs)
    unseen = family([shuffled(graph, 100 * seed + i) for i, graph in enumerate(graphs)])
    model = classifier(15, pool, seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(400):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), batch.y)
        loss.backward()
        optimizer.step()
        if loss < 0.001:  # at 0.01 one start in a dozen falls short once BatchNorm takes its running averages
            break
    with torch.no_grad():
        for _ in range(200):  # the running averages of BatchNorm catch up with the weights: graphs differ by little
            model(batch)
    model.eval()
    for graphs_ in (batch, unseen):
        assert (model(graphs_).argmax(1) == graphs_.y).sum() == 15
