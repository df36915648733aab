"""A GraphGym configuration that names our encoders: the model it builds, trained, and the same numbers as by hand."""

from __future__ import annotations

import warnings

import networkx as nx
import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.utils import from_networkx

pytest.importorskip("yacs", reason="GraphGym's configurations need yacs")

from elene.nn import graphgym
from elene.transforms import AddELENE

CONFIG = """
dataset: {node_encoder: True, node_encoder_name: ELENE, node_encoder_bn: False,
          edge_encoder: True, edge_encoder_name: ELENE, edge_encoder_bn: False, edge_dim: 8, task: graph}
elene: {k: [1, 2], max_degree: 3}
model: {loss_fun: cross_entropy, type: gnn}
gnn: {layers_pre_mp: 0, layers_mp: 2, layers_post_mp: 1, dim_inner: 8, layer_type: generaledgeconv, head: graph}
optim: {optimizer: adam, base_lr: 0.05, max_epoch: 20}
"""


def data_of(graph, **features):
    return Data(edge_index=from_networkx(graph).edge_index, num_nodes=len(graph), **features)


# Regular graphs of one degree, which message passing cannot tell apart: six nodes around, or two triangles.
AROUND, TRIANGLES = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
GRAPHS = [
    data_of(graph, x=torch.ones(6, 1), y=torch.tensor([label])) for label, graph in enumerate([AROUND, TRIANGLES])
]


@pytest.fixture
def cfg(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GraphGym's own
        from torch_geometric.graphgym.config import cfg, set_cfg

        graphgym.register()
        graphgym.register()  # a second time changes nothing
        set_cfg(cfg)
        (tmp_path / "config.yaml").write_text(CONFIG)
        cfg.merge_from_file(str(tmp_path / "config.yaml"))
        cfg.share.dim_in, cfg.share.dim_out = 1, 2
        yield cfg
        set_cfg(cfg)


def build():
    from torch_geometric.graphgym.model_builder import create_model

    torch.manual_seed(0)
    return create_model(to_device=False)


def accuracy(model, loss):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(20):
        for batch in DataLoader(GRAPHS, batch_size=2):
            optimizer.zero_grad()
            loss(*model(batch))[0].backward()
            optimizer.step()
    predicted, true = model.eval()(Batch.from_data_list(GRAPHS))
    return float(((predicted > 0).squeeze() == true).float().mean())


def test_a_configuration_is_trained_and_sees_what_message_passing_does_not(cfg):
    from torch_geometric.graphgym.loss import compute_loss

    cfg.share.dim_out = 1
    model = build()
    assert model.encoder.node_encoder.transform.spec.depths == (1, 2)
    assert accuracy(model, compute_loss) == 1
    cfg.dataset.node_encoder = cfg.dataset.edge_encoder = False
    cfg.gnn.layer_type, cfg.gnn.layers_pre_mp = "generalconv", 1
    assert accuracy(build(), compute_loss) == 0.5


def test_graphgym_trains_it_by_itself(cfg, tmp_path):
    from torch_geometric.graphgym import register as registry
    from torch_geometric.graphgym.train import GraphGymDataModule, train

    def load(format, name, folder):
        dataset = InMemoryDataset()
        dataset.data, dataset.slices = InMemoryDataset.collate(GRAPHS * 4)
        for part in ("train", "val", "test"):
            dataset.data[f"{part}_graph_index"] = torch.arange(8)
        return dataset

    registry.loader_dict["two"] = load
    cfg.out_dir, cfg.accelerator, cfg.train.enable_ckpt = str(tmp_path), "cpu", False
    cfg.optim.max_epoch, cfg.share.dim_out, cfg.train.batch_size = 2, 1, 4
    try:
        loaders = GraphGymDataModule()
    finally:
        del registry.loader_dict["two"]
    cfg.share.dim_out = 1
    model = build()
    before = model.encoder.node_encoder.linear.weight.clone()
    train(model, loaders, logger=False, trainer_config={"logger": False, "enable_progress_bar": False})
    assert not torch.equal(before, model.encoder.node_encoder.linear.weight)


def test_features_are_those_of_the_transform(cfg):
    batch = Batch.from_data_list(GRAPHS)
    encoder = build().encoder
    added = AddELENE([1, 2], "node", max_degree=3, log1p=True)(batch)
    around = AddELENE([1, 2], "edge", max_degree=3, log1p=True)(batch)
    encoded = encoder(batch.clone())
    assert torch.equal(encoded.x, encoder.node_encoder.linear(added.x))
    assert torch.equal(encoded.edge_attr, encoder.edge_encoder.linear(around.edge_attr))


def test_other_encoders_come_first(cfg):
    from torch_geometric.graphgym import register as registry

    class Ones(torch.nn.Module):
        def __init__(self, emb_dim):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(emb_dim))

        def forward(self, batch):
            batch.x = self.weight.expand(batch.num_nodes, -1)
            return batch

    registry.node_encoder_dict["Ones"] = Ones
    try:
        cfg.elene.node_encoder = "Ones"
        encoder = build().encoder
    finally:
        del registry.node_encoder_dict["Ones"]
    encoder(Batch.from_data_list(GRAPHS)).x.sum().backward()
    assert encoder.node_encoder.first.weight.grad.abs().sum() > 0


def test_no_features_and_too_many(cfg):
    bare = [data_of(AROUND)]
    assert build().encoder(Batch.from_data_list(bare)).x.shape == (6, 8)
    wide = Batch.from_data_list([data_of(AROUND, x=torch.ones(6, 1), edge_attr=torch.ones(12, 3))])
    with pytest.raises(ValueError, match=r"edge_attr has 3 columns, and 0 were announced: set cfg.elene"):
        build().encoder(wide)
    cfg.elene.edge_columns = 3
    assert build().encoder(wide).edge_attr.shape == (12, 8)
