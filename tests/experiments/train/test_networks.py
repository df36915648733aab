from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, GINConv

from elene.baselines import AK_PLUS, GNNAK, NGNN, PPGN, SPNN, Graphormer
from elene.datasets import load
from elene.experiments import config
from elene.experiments.config.network import Model
from elene.experiments.data import preparation
from elene.experiments.data.batches import Stock
from elene.experiments.data.preparation import Columns, Preparation, Shape
from elene.experiments.data.selection import relabelled
from elene.experiments.train import networks
from elene.experiments.train.experiment import Experiment
from elene.experiments.train.networks import FeatureEncoder, KindEncoder, build
from elene.nn import ELENE, GINE, GNN, EdgeKinds
from elene.transforms import AddELENE

CONVS = ["gin", "gcn", "gat", "pna"]
DEEP = [{"name": name, "k": 2} for name in ("gin-ak", "gin-ak+", "ngnn", "spnn", "graphormer")]
EDGED = Columns((3, 2), 1)
PLAIN = Columns((5,), 2)


def network(edges=EDGED, level="graph", outputs=3, **settings):
    settings = {"conv": "gin", "layers": 2, "hidden": 8, **settings}
    degrees = torch.tensor([0, 2, 5, 1])
    return build(Preparation(Model(**settings), degrees), Shape(PLAIN, edges, outputs, level))


def batch(model, edges=EDGED, graphs=4):
    """Graphs with the columns above, prepared for a model."""
    dataset = load("sr25")
    chosen = Stock(Preparation.learn(model, dataset, torch.arange(graphs))(dataset)).gather(torch.arange(graphs))
    generator = torch.Generator().manual_seed(0)

    def features(rows, columns):
        discrete = [torch.randint(0, count, (rows, 1), generator=generator).float() for count in columns.categories]
        return torch.cat([*discrete, torch.rand(rows, columns.numbers, generator=generator)], dim=1)

    chosen.x = features(chosen.num_nodes, PLAIN)
    if edges is not None:
        chosen.edge_attr = features(chosen.edge_index.shape[1], edges)
    return chosen


@pytest.mark.parametrize("edges", [EDGED, None], ids=["edges", "no edges"])
@pytest.mark.parametrize("level", [None, "nd", "ed"])
@pytest.mark.parametrize("conv", [*CONVS, *DEEP, "ppgn"], ids=str)
def test_every_model_trains(conv, level, edges):
    settings = {"conv": conv, "layers": 2, "hidden": 8}
    name = conv if isinstance(conv, str) else conv["name"]
    if level is not None:
        if name in ("ngnn", "ppgn"):
            return
        settings["elene"] = {"level": level, "k": 2, "omega": 4}
    model = Model(**settings)
    made = network(edges, **settings)
    output = made(batch(model, edges))
    assert output.shape == (4, 3)
    output.sum().backward()
    without = [key for key, parameter in made.named_parameters() if parameter.grad is None]
    # What edges become is not read where a conv reads no edges; an edge-centric layer reads features that are there.
    assert all("edge" in key for key in without)
    if name in ("gin", "gin-ak", "gin-ak+", "ngnn", "ppgn") and edges is not None:
        assert without == []


def test_modules_are_those_of_the_spec():
    kinds = {"gin": GINE, "gcn": GCNConv}
    for name, kind in kinds.items():
        assert all(type(conv) is kind for conv in network(conv=name).convs)
    plain = network(edges=None, edge_constant=False).convs
    assert all(type(conv) is GINConv and conv.eps.requires_grad for conv in plain)
    assert all(type(conv) is GINE for conv in network(edges=None).convs)
    for name, kind in {"gin-ak": GNNAK, "gin-ak+": GNNAK, "ngnn": NGNN, "spnn": SPNN}.items():
        found = network(conv={"name": name, "k": 1})
        assert type(found) is GNN and all(type(conv) is kind for conv in found.convs)
        assert len(found.convs) == (1 if name == "ngnn" else 2)
    assert [conv.parts for conv in network(conv={"name": "gin-ak+", "k": 1}).convs] == [AK_PLUS, AK_PLUS]
    released = {"name": "gin-ak+", "k": 1, "subgraph": False, "fuse": "add"}
    assert [(conv.parts, conv.fuse) for conv in network(conv=released).convs] == 2 * [(("centroid", "context"), None)]
    assert [type(conv) for conv in network(conv={"name": "graphormer", "k": 1}).convs][1:] == [Graphormer, Graphormer]
    assert type(network(conv="ppgn")) is PPGN
    assert network(virtual_node=True).virtual_node is not None
    assert network(dropout=0.25).updates[0][-1].p == 0.25


def test_elene_where_it_is_wanted():
    found = network(layers=3, elene={"level": "ed", "k": 1, "omega": 4, "layers": [1], "pool": "sum"})
    assert [isinstance(layer, ELENE) for layer in found.elene] == [False, True, False]
    assert found.elene[1].embedding.max_degree == 3 and found.elene[1].pool == "sum"
    # Without edge features of the data only that layer's conv reads edges.
    edgeless = {"layers": 3, "edge_constant": False}
    convs = network(None, **edgeless, elene={"level": "ed", "k": 1, "layers": [1]}).convs
    assert [type(conv) for conv in convs] == [GINConv, GINE, GINConv]
    shared = network(layers=3, elene={"level": "nd", "k": 1, "max_degree": 0, "share": True}).elene
    assert shared[0].embedding is shared[1].embedding is shared[2].embedding
    assert shared[0].embedding.max_degree == 0
    apart = network(layers=2, elene={"level": "nd", "k": 1}).elene
    assert apart[0].embedding is not apart[1].embedding


def test_the_pool_must_suit_the_task():
    assert network(level="node", pool="none")(batch(Model(conv="gin", layers=2))).shape[0] > 4
    with pytest.raises(ValueError, match=r"model.pool must be none in node tasks, got sum"):
        network(level="node")
    with pytest.raises(ValueError, match=r"model.pool must be sum or mean in graph tasks, got none"):
        network(pool="none")


def test_features_are_embedded_and_projected_side_by_side():
    columns = Columns((3, 2), numbers=1, counts=2)
    rows = torch.tensor([[2, 1, 0.5, 7, 0], [0, 0, -1.0, 0, 3]])
    for norm in (True, False):
        encoder = FeatureEncoder(columns, channels=4, norm=norm).eval()
        expected = []
        for a, b, *others in rows.tolist():
            table = encoder.embedding.weight
            projected = encoder.linear.weight @ torch.cat([table[int(a)] + table[3 + int(b)], torch.tensor(others)])
            expected.append(projected / (1 + 1e-5) ** 0.5 if norm else projected + encoder.linear.bias)
        expected = torch.stack(expected)
        assert torch.allclose(encoder(rows), expected.relu() if norm else expected, atol=1e-6)
    whole = FeatureEncoder(Columns((3,)), channels=4)
    assert torch.equal(whole(torch.tensor([[1]], dtype=torch.uint8)), whole.embedding.weight[[1]])


def test_kinds_of_edges_are_their_columns_embedded():
    columns = Columns((3, 2, 4))
    rows = torch.cartesian_prod(torch.arange(3), torch.arange(2), torch.arange(4)).flip(0)
    encoder = KindEncoder(columns, channels=8)
    found = encoder(rows.float())
    assert isinstance(found, EdgeKinds) and found.table.shape == (24, 8)
    assert torch.allclose(found.dense(), encoder.encoder(rows))
    assert not KindEncoder.fits(Columns((3,), numbers=1)) and not KindEncoder.fits(Columns((17, 16)))


def test_edges_are_of_kinds_where_only_gine_reads_them():
    bonds = Columns((4, 2))
    for settings, fused in (
        ({}, True),
        ({"elene": {"level": "nd", "k": 1}}, True),
        ({"elene": {"level": "ed", "k": 1}}, True),
        ({"conv": "gat", "elene": {"level": "ed", "k": 1}}, False),
        ({"conv": "gat"}, False),
        ({"conv": {"name": "gin-ak+", "k": 1}}, True),
    ):
        made = network(bonds, **settings)
        assert all(type(encoder) is (KindEncoder if fused else FeatureEncoder) for encoder in made.edge_encoders)
        assert made(batch(Model(**{"conv": "gin", "layers": 2, **settings}), bonds)).shape == (4, 3)


def kinds(module):
    return [type(part) for part in module]


def test_the_network_is_the_published_one():
    """facts of the released code, point by point."""
    made = network(edges=None, dropout=0.25, elene={"level": "nd", "k": 1})
    assert kinds(made.head) == [nn.Dropout, nn.Linear, nn.BatchNorm1d, nn.ReLU, nn.Linear]
    assert made.head[1].bias is None and made.head[1].out_features == 8
    assert kinds(made.encoder.norm) == [nn.BatchNorm1d, nn.ReLU]
    assert type(FeatureEncoder(Columns((4,)), 8).norm) is nn.Identity
    constant = [encoder(torch.zeros(3, 1)).dense() for encoder in made.edge_encoders]
    assert all(torch.equal(one, one[:1].expand(3, 8)) for one in constant) and not torch.equal(*constant)
    layer = made.elene[0]
    assert layer.hidden == 8 and type(layer.node_update.norm) is nn.BatchNorm1d
    assert type(layer.node_update.activation) is nn.ReLU and layer.node_gates.weight.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("settings", "differs"),
    [
        ({"head_norm": "layer"}, lambda made: type(made.head[1]) is nn.LayerNorm),
        ({"head_norm": "none"}, lambda made: type(made.head[1]) is nn.Identity and made.head[0].bias is not None),
        ({"input_norm": False}, lambda made: type(made.encoder.norm) is nn.Identity),
        ({"edge_constant": False}, lambda made: made.edge_encoders is None and type(made.convs[0]) is GINConv),
        ({"skip": "elene"}, lambda made: type(made) is networks.SkipsFromELENE),
        ({"elene.hidden": 3}, lambda made: made.elene[0].root_in.out_features == 3),
        ({"elene.joint": False}, lambda made: not made.elene[0].embedding.joint),
        ({"elene.norm": "update"}, lambda made: made.elene[0].pair_norm is None),
        ({"elene.norm": "none"}, lambda made: made.elene[0].norm == "none"),
        ({"elene.update": "linear"}, lambda made: type(made.elene[0].node_update.activation) is nn.Identity),
        ({"elene.layers": "first"}, lambda made: [type(layer) for layer in made.elene] == [ELENE, *3 * [nn.Identity]]),
        ({"elene.layers": "half"}, lambda made: [type(layer) is ELENE for layer in made.elene] == 2 * [1] + 2 * [0]),
        ({"conv": "none"}, lambda made: type(made.convs[0]) is networks.NoConv),
        (
            {"conv": {"name": "gin-ak", "k": 3}},
            lambda made: getattr(made.convs[0], "inner", None) is not None,
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_each_point_can_be_set(settings, differs):
    elene = {"level": "nd", "k": 2, "omega": 4}
    elene |= {key.removeprefix("elene."): value for key, value in settings.items() if key.startswith("elene.")}
    settings = {"layers": 4, **{key: value for key, value in settings.items() if not key.startswith("elene.")}}
    made = network(edges=None, elene=elene, **settings)
    assert differs(made)
    published = network(edges=None, layers=4, elene={"level": "nd", "k": 2, "omega": 4})
    assert not differs(published)
    given = batch(Model(**{"conv": "gin", "hidden": 8, "elene": elene, **settings}), edges=None)
    assert made(given).shape == (4, 3)


def test_skips_begin_before_or_after_elene():
    """With convs that put out nothing, what ELENE-L makes is lost or kept."""
    settings = {"elene": {"level": "nd", "k": 1, "omega": 4}, "hidden": 8, "layers": 1}
    given = batch(Model(conv="gin", **settings), edges=None)
    for skip, kept in (("input", False), ("elene", True)):
        made = network(edges=None, skip=skip, **settings).eval()
        made.updates[0] = nn.Sequential(nn.Identity(), _Nothing())
        before = made(given)
        with torch.no_grad():
            made.elene[0].node_gates.weight.fill_(0.5)
        assert torch.allclose(before, made(given)) is not kept


class _Nothing(nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)


@pytest.mark.parametrize("edges", ["none", "product", "exact"])
@pytest.mark.parametrize("name", ["elene", "igel"])
def test_counts_of_all_graphs_equal_those_one_by_one(name, edges, monkeypatch):
    monkeypatch.setattr(preparation, "AT_ONCE", 30)  # several stretches
    dataset = load("sr25")
    model = Model(conv="gin", layers=1, encoding={"name": name, "k": 2, "edges": edges, "max_degree": 9})
    prepared = Preparation.learn(model, dataset, torch.arange(15))(dataset)
    degrees = "relative" if name == "elene" else "absolute"
    slow = [AddELENE(2, "node", degrees, "marginal", 9)]
    if edges != "none":
        slow.append(AddELENE(2, "edge", degrees, "product" if edges == "product" else "marginal", 9))
    for number in (0, 7, 14):
        expected = dataset[number]
        for transform in slow:
            expected = transform(expected)
        found = prepared[number]
        assert torch.equal(found.x.float(), expected.x)
        assert ("edge_attr" in found) == (edges != "none")
        assert edges == "none" or torch.equal(found.edge_attr.float(), expected.edge_attr)
    assert prepared._data.x.dtype == torch.uint8
    shape = Shape.of(dataset, prepared, outputs=15)
    assert shape.nodes == Columns((1,), 0, prepared._data.x.shape[1] - 1)
    assert (shape.edges is None) == (edges == "none")


@pytest.mark.parametrize("log1p", [False, True])
@pytest.mark.parametrize("shares", [False, True])
def test_what_is_read_of_counts_is_what_edges_multiply(log1p, shares):
    dataset = load("sr25")
    settings = {"name": "elene", "k": 1, "edges": "product", "log1p": log1p, "shares": shares}
    prepared = Preparation.learn(Model(conv="gin", layers=1, encoding=settings), dataset, torch.arange(15))(dataset)
    graph = dataset[3]
    expected = AddELENE(1, max_degree=12, log1p=log1p)(graph).x[:, 1:]
    if shares:
        expected = torch.stack([row / row.sum() for row in expected])
    found = prepared[3]
    assert torch.allclose(found.x[:, 1:].float(), expected)
    for arc, (a, b) in enumerate(graph.edge_index.T.tolist()):
        assert torch.allclose(found.edge_attr[arc].float(), expected[a] * expected[b])


def test_degrees_are_those_of_the_training_graphs():
    dataset = load("counting")
    sizes = {int(dataset[i].num_nodes): i for i in range(200)}
    model = Model(conv="gin", layers=1)
    for number in sizes.values():
        graph = dataset[number]
        expected = torch.bincount(graph.edge_index[0], minlength=graph.num_nodes).bincount()
        assert torch.equal(Preparation.learn(model, dataset, torch.tensor([number])).degrees, expected)


@pytest.mark.parametrize("row", ["gin+elene", "gin+elene-edges", "gin+elene-nd", "gin+elene-ed", "gin-ak+"])
def test_a_model_does_not_see_the_numbers_of_nodes(row):
    experiment = Experiment(config.load("sr25", row, ["model.hidden=8"]))
    made = experiment.network().double().eval()
    first, *_ = experiment.relabelled()
    outputs = [made(next(iter(loader))) for loader in (experiment.loader("test"), first)]
    assert torch.allclose(*outputs, atol=1e-9)


def test_weights_depend_on_the_seed_alone():
    small = config.load("sr25", "gin+elene-ed", ["model.hidden=8"])
    first, again, other = (Experiment(small, seed).network().state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)


def test_one_target_of_several():
    dataset = load("counting")
    for number, target in enumerate(dataset.info.targets):
        experiment = Experiment(config.load(f"counting.{target}", "gin"), dataset=dataset)
        assert experiment.objective.outputs == 1
        assert torch.equal(experiment.dataset._data.y[:, 0], dataset._data.y[:, number])
    assert (
        Experiment(config.load("counting.star", "gin", ["dataset.target=none"]), dataset=dataset).objective.outputs == 4
    )
    with pytest.raises(
        ValueError, match=r"dataset.target 'square' is not a target of counting: choose from triangle, "
    ):
        Experiment(config.load("counting.star", "gin", ["dataset.target=square"]), dataset=dataset)


def test_only_train_is_test_sets_are_checked_on_copies():
    assert list(Experiment(config.load("counting.star", "gin")).relabelled()) == []
    copies = list(Experiment(config.load("sr25", "gin")).relabelled())
    assert len(copies) * 15 >= 128
    numbers = [torch.cat([batch.edge_index for batch in loader], dim=1) for loader in copies]
    assert not torch.equal(numbers[0], numbers[1])


def test_relabelling_leaves_the_original_alone():
    dataset = load("sr25")
    before = dataset._data.edge_index.clone()
    relabelled(dataset, seed=0)
    assert torch.equal(dataset._data.edge_index, before)
