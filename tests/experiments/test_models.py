from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import GCNConv, GINConv, GINEConv

from elene.baselines import GNNAK, NGNN, PPGN, SPNN, Graphormer
from elene.datasets import load
from elene.experiments import models, spec
from elene.experiments.batches import Stock
from elene.experiments.experiment import Experiment, relabelled
from elene.experiments.models import Columns, FeatureEncoder, Preparation, Shape, build
from elene.experiments.spec import Model
from elene.nn import ELENE, GNN
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
    kinds = {"gin": GINEConv, "gcn": GCNConv}
    for name, kind in kinds.items():
        assert all(type(conv) is kind for conv in network(conv=name).convs)
    assert all(type(conv) is GINConv and conv.eps.requires_grad for conv in network(edges=None).convs)
    for name, kind in {"gin-ak": GNNAK, "gin-ak+": GNNAK, "ngnn": NGNN, "spnn": SPNN}.items():
        found = network(conv={"name": name, "k": 1})
        assert type(found) is GNN and all(type(conv) is kind for conv in found.convs)
        assert len(found.convs) == (1 if name == "ngnn" else 2)
    assert [conv.context for conv in network(conv={"name": "gin-ak+", "k": 1}).convs] == [True, True]
    assert [type(conv) for conv in network(conv={"name": "graphormer", "k": 1}).convs][1:] == [Graphormer, Graphormer]
    assert type(network(conv="ppgn")) is PPGN
    assert network(virtual_node=True).virtual_node is not None
    assert network(dropout=0.25).updates[0][-1].p == 0.25


def test_elene_where_it_is_wanted():
    found = network(layers=3, elene={"level": "ed", "k": 1, "omega": 4, "layers": [1], "pool": "sum"})
    assert [isinstance(layer, ELENE) for layer in found.elene] == [False, True, False]
    assert found.elene[1].embedding.max_degree == 3 and found.elene[1].pool == "sum"
    # Without edge features of the data only that layer's conv reads edges.
    convs = network(None, layers=3, elene={"level": "ed", "k": 1, "layers": [1]}).convs
    assert [type(conv) for conv in convs] == [GINConv, GINEConv, GINConv]
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


def test_features_are_embedded_projected_and_added():
    encoder = FeatureEncoder(Columns((3, 2), numbers=1, counts=2, log1p=True), channels=4)
    rows = torch.tensor([[2, 1, 0.5, 7, 0], [0, 0, -1.0, 0, 3]])
    expected = []
    for a, b, number, *counts in rows.tolist():
        values = torch.tensor([number, *(torch.tensor(count).log1p() for count in counts)])
        table = encoder.embedding.weight
        expected.append(table[int(a)] + table[3 + int(b)] + encoder.linear.weight @ values + encoder.linear.bias)
    assert torch.allclose(encoder(rows), torch.stack(expected), atol=1e-6)
    whole = FeatureEncoder(Columns((3,)), channels=4)
    assert torch.equal(whole(torch.tensor([[1]], dtype=torch.uint8)), whole.embedding.weight[[1]])


@pytest.mark.parametrize("edges", ["none", "product", "exact"])
@pytest.mark.parametrize("name", ["elene", "igel"])
def test_counts_of_all_graphs_equal_those_one_by_one(name, edges, monkeypatch):
    monkeypatch.setattr(models, "AT_ONCE", 30)  # several stretches
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
    shape = Shape.of(dataset, prepared, model.encoding, outputs=15)
    assert shape.nodes == Columns((1,), 0, prepared._data.x.shape[1] - 1, log1p=True)
    assert (shape.edges is None) == (edges == "none")


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
    experiment = Experiment(spec.load("sr25", row, ["model.hidden=8"]))
    made = experiment.network().double().eval()
    first, *_ = experiment.relabelled()
    outputs = [made(next(iter(loader))) for loader in (experiment.loader("test"), first)]
    assert torch.allclose(*outputs, atol=1e-9)


def test_weights_depend_on_the_seed_alone():
    small = spec.load("sr25", "gin+elene-ed", ["model.hidden=8"])
    first, again, other = (Experiment(small, seed).network().state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)


def test_one_target_of_several():
    dataset = load("counting")
    for number, target in enumerate(dataset.info.targets):
        experiment = Experiment(spec.load(f"counting.{target}", "gin"), dataset=dataset)
        assert experiment.objective.outputs == 1
        assert torch.equal(experiment.dataset._data.y[:, 0], dataset._data.y[:, number])
    assert (
        Experiment(spec.load("counting.star", "gin", ["dataset.target=none"]), dataset=dataset).objective.outputs == 4
    )
    with pytest.raises(
        ValueError, match=r"dataset.target 'square' is not a target of counting: choose from triangle, "
    ):
        Experiment(spec.load("counting.star", "gin", ["dataset.target=square"]), dataset=dataset)


def test_only_train_is_test_sets_are_checked_on_copies():
    assert list(Experiment(spec.load("counting.star", "gin")).relabelled()) == []
    copies = list(Experiment(spec.load("sr25", "gin")).relabelled())
    assert len(copies) * 15 >= 128
    numbers = [torch.cat([batch.edge_index for batch in loader], dim=1) for loader in copies]
    assert not torch.equal(numbers[0], numbers[1])


def test_relabelling_leaves_the_original_alone():
    dataset = load("sr25")
    before = dataset._data.edge_index.clone()
    relabelled(dataset, seed=0)
    assert torch.equal(dataset._data.edge_index, before)
