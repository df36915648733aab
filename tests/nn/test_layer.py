from __future__ import annotations

import copy
import gc
import weakref

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrize
from torch_geometric.data import Batch, Data
from torch_geometric.utils import from_networkx

import naive_nn
from elene.nn import ELENE, EdgeKinds, Ego, EgoEmbedding, Update
from elene.transforms import EgoStructure
from graphs import random_graphs, relabelled

CHANNELS = 6


def as_data(graph, k, level):
    data = Data(edge_index=from_networkx(graph).edge_index.reshape(2, -1), num_nodes=len(graph))
    return EgoStructure(k, level)(data)


def features(data, seed=0):
    """Node features, and edge features that are the same in both directions."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(data.num_nodes, CHANNELS, dtype=torch.double, generator=generator)
    low, high = data.edge_index.min(0).values, data.edge_index.max(0).values
    table = torch.randn(data.num_nodes, data.num_nodes, CHANNELS, dtype=torch.double, generator=generator)
    return x, table[low, high]


def make_layer(k, level, pool="mean", joint=True, intersection=True, max_degree=4, norm="update"):
    """A layer in evaluation, with statistics, gates and tables that are not those of the start."""
    torch.manual_seed(1)
    embedding = EgoEmbedding(k, max_degree, 5, level, joint, intersection)
    layer = ELENE(CHANNELS, k, level, hidden=7, pool=pool, norm=norm, embedding=embedding).double()
    with torch.no_grad():
        for name, values in layer.state_dict().items():
            if "embedding" in name or "gates" in name:
                values.normal_()
            elif "running" in name:
                values.uniform_(0.2, 2)
    return layer.eval()


options = {
    "graph": random_graphs(8),
    "k": st.integers(0, 3),
    "level": st.sampled_from(["node", "edge"]),
    "pool": st.sampled_from(["mean", "sum"]),
    "joint": st.booleans(),
    "intersection": st.booleans(),
    "norm": st.sampled_from(["update", "both", "none"]),
    "training": st.booleans(),
}


@settings(max_examples=40, deadline=None)
@given(**options)
def test_outputs_and_gradients_agree_with_concatenate_and_multiply(graph, k, training, **settings_):
    level = settings_["level"]
    data = as_data(graph, k, level)
    layer = make_layer(k, **settings_)
    # A BatchNorm has no variance of one row, and torch refuses none.
    layer.train(training and len(graph) > 1 and (level == "node" or graph.number_of_edges() > 1))
    x, edge_attr = features(data)
    x.requires_grad_(), edge_attr.requires_grad_()
    out, edges = layer(x, data.edge_index, edge_attr, Ego.of(data))
    (out.sin().sum() + edges.sin().sum()).backward()
    grads = {name: parameter.grad for name, parameter in layer.named_parameters()}
    mine = (x.grad.clone(), edge_attr.grad.clone())

    twin = copy.deepcopy(layer)
    twin.zero_grad()
    y, twin_attr = x.detach().clone().requires_grad_(), edge_attr.detach().clone().requires_grad_()
    arcs = [frozenset(arc) for arc in data.edge_index.T.tolist()]
    both_ways = {}
    for i, arc in enumerate(arcs):
        both_ways.setdefault(arc, []).append(twin_attr[i])
    by_edge = {arc: sum(found) / 2 for arc, found in both_ways.items()}
    expected, expected_edges = naive_nn.elene(twin, graph, y, by_edge, k)
    assert torch.allclose(out, expected, atol=1e-10)
    total = expected.sin().sum()
    if level == "edge" and arcs:
        naive_edges = torch.stack([twin_attr[i] + expected_edges[arc] - by_edge[arc] for i, arc in enumerate(arcs)])
        assert torch.allclose(edges, naive_edges, atol=1e-10)
        total = total + naive_edges.sin().sum()
    else:
        total = total + twin_attr.sin().sum()
    total.backward()
    assert torch.allclose(mine[0], y.grad, atol=1e-9) and torch.allclose(mine[1], twin_attr.grad, atol=1e-9)
    for name, parameter in twin.named_parameters():
        wanted = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        found = torch.zeros_like(parameter) if grads[name] is None else grads[name]
        assert torch.allclose(found, wanted, atol=1e-9), name


@settings(max_examples=30, deadline=None)
@given(graph=random_graphs(9), k=st.integers(1, 3), level=st.sampled_from(["node", "edge"]), seed=st.integers(0, 99))
def test_relabelling_moves_rows_and_nothing_else(graph, k, level, seed):
    copy_, new = relabelled(graph, seed)
    order = torch.tensor([new[v] for v in graph], dtype=torch.long)
    data, moved = as_data(graph, k, level), as_data(copy_, k, level)
    layer = make_layer(k, level)
    x, edge_attr = features(data)
    moved_x = torch.empty_like(x)
    moved_x[order] = x
    place = {arc: i for i, arc in enumerate(map(tuple, moved.edge_index.T.tolist()))}
    arcs = [place[new[u], new[v]] for u, v in data.edge_index.T.tolist()]
    moved_attr = torch.empty_like(edge_attr)
    moved_attr[arcs] = edge_attr
    out, edges = layer(x, data.edge_index, edge_attr, Ego.of(data))
    moved_out, moved_edges = layer(moved_x, moved.edge_index, moved_attr, Ego.of(moved))
    assert (out - moved_out[order]).abs().max() < 1e-9
    if arcs:
        assert (edges - moved_edges[arcs]).abs().max() < 1e-9


@settings(max_examples=20, deadline=None)
@given(several=st.lists(random_graphs(7), min_size=1, max_size=5), k=st.integers(0, 3))
@pytest.mark.parametrize("level", ["node", "edge"])
def test_a_batch_equals_its_graphs_one_by_one(several, k, level):
    datas = [as_data(graph, k, level) for graph in several]
    layer = make_layer(k, level)
    given_ = [features(data, seed) for seed, data in enumerate(datas)]
    apart = [layer(*_arguments(data, *feature)) for data, feature in zip(datas, given_, strict=True)]
    batch = Batch.from_data_list(datas)
    x, edge_attr = (torch.cat(part) for part in zip(*given_, strict=True))
    out, edges = layer(*_arguments(batch, x, edge_attr))
    assert torch.allclose(out, torch.cat([one for one, _ in apart]), atol=1e-12)
    assert torch.allclose(edges, torch.cat([one for _, one in apart]), atol=1e-12)


def _arguments(data, x, edge_attr):
    return x, data.edge_index, edge_attr, Ego.of(data)


def run(layer, k=2):
    data = as_data(nx.path_graph(5), k, layer.level)
    x, edge_attr = features(data)
    out, edges = layer(x.requires_grad_(), data.edge_index, edge_attr, Ego.of(data))
    return torch.cat([out.flatten(), edges.flatten()])


@pytest.mark.parametrize("level", ["node", "edge"])
@pytest.mark.parametrize("joint", [True, False])
def test_every_module_that_has_weights_is_called(level, joint):
    layer = make_layer(2, level, joint=joint, norm="both")
    called, owners = set(), {name: m for name, m in layer.named_modules() if list(m.parameters(recurse=False))}
    for name, module in owners.items():
        module.register_forward_hook(lambda *_, name=name: called.add(name))
    run(layer)
    kinds = {type(module).__name__ for module in owners.values()}
    assert called == set(owners) and kinds == {"Linear", "Embedding", "BatchNorm1d", "PairNorm", "Gates"}


class Shifted(nn.Module):
    def forward(self, weight):
        return weight + 1


@pytest.mark.parametrize("level", ["node", "edge"])
def test_a_parametrisation_of_any_weight_reaches_the_output(level):
    layer = make_layer(2, level, norm="both")
    for module in layer.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.reset_running_stats()  # else no unit of a few is active
    before = run(layer)
    for name, _ in list(layer.named_parameters()):
        path, _, weight = name.rpartition(".")
        module = layer.get_submodule(path)
        parametrize.register_parametrization(module, weight, Shifted())
        assert not torch.allclose(run(layer), before), name
        parametrize.remove_parametrizations(module, weight, leave_parametrized=False)
    assert torch.equal(run(layer), before)


@pytest.mark.parametrize("level", ["node", "edge"])
def test_what_is_cheap_to_make_again_is_not_stored(level):
    layer, entered = make_layer(2, level), []
    modules = [layer.node_update] + ([layer.edge_update, layer.edge_in, layer.product_in] if level == "edge" else [])
    for module in modules:
        # The first part of a node's update is x, which the caller has.
        skip = module is layer.node_update
        module.register_forward_pre_hook(lambda _, args, skip=skip: entered.extend(map(weakref.ref, args[skip:])))
    out = run(layer)
    gc.collect()
    assert len(entered) == (5 if level == "edge" else 1) and all(part() is None for part in entered)
    out.sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


def test_edge_features_are_created_where_absent():
    data = as_data(nx.cycle_graph(5), 1, "edge")
    x, _ = features(data)
    out, edges = make_layer(1, "edge")(x, data.edge_index, None, Ego.of(data))
    assert edges.shape == (10, CHANNELS) and out.shape == x.shape
    node_only = make_layer(1, "node")
    assert node_only(x, data.edge_index, None, Ego.of(data))[1] is None


@settings(max_examples=30, deadline=None)
@given(random_graphs(8), st.integers(1, 2), st.integers(1, 3), st.booleans(), st.booleans())
def test_edges_of_kinds_are_as_edges_with_rows_of_their_own(graph, k, count, both_ways, training):
    data = as_data(graph, k, "edge")
    ego, (x, _) = Ego.of(data), features(data)
    generator = torch.Generator().manual_seed(count)
    kinds = torch.randint(0, count, (graph.number_of_edges() if both_ways else len(ego.arcs),), generator=generator)
    kinds = kinds[ego.arcs] if both_ways else kinds
    table = torch.randn(count, CHANNELS, dtype=torch.double, generator=generator).requires_grad_()
    edges, found = EdgeKinds(table, kinds), []
    for edge_attr in (edges, edges.dense()):
        layer = make_layer(k, "edge", norm="both").train(training and graph.number_of_edges() > 1)
        out, after = layer(x, data.edge_index, edge_attr, ego)
        shared = isinstance(after, EdgeKinds)
        assert shared == (edge_attr is edges and edges.of_edges(ego.ends(data.edge_index)[1]) is not None)
        assert shared or edge_attr is not edges or not both_ways
        after = after.dense() if shared else after
        inputs = [table, *(parameter for name, parameter in layer.named_parameters() if "tables" not in name)]
        total = out.sin().sum() + after.sin().sum()
        found.append([out, after, *torch.autograd.grad(total, inputs, allow_unused=True)])
    for mine, expected in zip(*found, strict=True):
        assert mine is expected is None or torch.allclose(mine, expected)


def test_rho_zero_ignores_degrees():
    """A path and a cycle look alike from a node with two neighbours at k = 1, but for degrees."""
    triangle, path = as_data(nx.cycle_graph(3), 1, "node"), as_data(nx.path_graph(3), 1, "node")
    x = torch.ones(3, CHANNELS, dtype=torch.double)
    for rho, differ in ((0, False), (4, True)):
        layer = make_layer(1, "node", max_degree=rho)
        outs = [layer(x, data.edge_index, None, Ego.of(data))[0][1] for data in (triangle, path)]
        assert torch.allclose(*outs) is not differ


def test_one_embedding_can_serve_several_layers():
    embedding = EgoEmbedding(1, 3, 4)
    layers = nn.ModuleList(ELENE(CHANNELS, 1, embedding=embedding) for _ in range(2))
    assert layers[0].embedding is layers[1].embedding
    assert sum(parameter is embedding.node.tables[0].weight for parameter in layers.parameters()) == 1


def test_phi_is_as_wide_as_the_features_unless_told():
    assert ELENE(CHANNELS, 1).root_in.out_features == CHANNELS
    assert ELENE(CHANNELS, 1, hidden=3).root_in.out_features == 3


def test_repr_and_reset():
    layer = ELENE(CHANNELS, 2, "edge", hidden=9)
    for part in ("level='edge'", "hidden=9", "pool='mean'", "norm='update'", "k=2, max_degree=16", "BatchNorm1d"):
        assert part in repr(layer)
    before = {name: values.clone() for name, values in layer.state_dict().items()}
    with torch.no_grad():
        layer.node_gates.weight.fill_(3)
    layer.reset_parameters()
    after = layer.state_dict()
    assert after["node_gates.weight"].tolist() == [1, 1]
    drawn = [name for name, values in before.items() if values.dim() > 1]
    assert len(drawn) == 15 and not any(torch.equal(before[name], after[name]) for name in drawn)


def test_tables_are_drawn_as_published():
    table = EgoEmbedding(2, 400, dim=16).node.tables[0].weight.detach()
    assert float(table.std()) == pytest.approx((2 / (3 * 401 + 16)) ** 0.5 / 16, rel=0.02)


@settings(max_examples=25, deadline=None)
@given(graph=random_graphs(9), deep=st.integers(1, 4), k=st.integers(0, 3), level=st.sampled_from(["node", "edge"]))
def test_shallower_lists_are_those_of_their_own_depth(graph, deep, k, level):
    k = min(k, deep)
    cut, made = Ego.of(as_data(graph, deep, level)).at(k), Ego.of(as_data(graph, k, level))
    assert cut.k == k

    def readings(entries, rows):
        codes = rows[entries.codes[:, 0].long()].tolist()
        return sorted(zip(entries.rows.tolist(), entries.columns.tolist(), codes, strict=True))

    assert readings(cut.pairs, cut.quadruplets) == readings(made.pairs, made.quadruplets)
    if level == "edge":
        assert readings(cut.triples, cut.edge_quadruplets) == readings(made.triples, made.edge_quadruplets)


def test_a_layer_reads_lists_that_are_deeper_than_it_is():
    graph = nx.barbell_graph(4, 3)
    layer = make_layer(1, "node")
    data, deeper = as_data(graph, 1, "node"), as_data(graph, 3, "node")
    x, _ = features(data)
    outs = [layer(x, data.edge_index, None, Ego.of(lists))[0] for lists in (data, deeper)]
    assert torch.allclose(*outs, atol=1e-12)
    with pytest.raises(ValueError, match=r"ego has k=3, and edges need k=1"):
        make_layer(1, "edge")(x, data.edge_index, None, Ego.of(as_data(graph, 3, "edge")))


def test_identity_tables_and_sums_give_the_elene_vectors():
    """The theorem that ELENE-L is at least as expressive as ELENE: with one-hot tables it puts out the vectors."""
    import elene

    graph, k, rho = nx.wheel_graph(6), 2, 5
    columns = 3 * (k + 1) * (rho + 1)
    embedding = EgoEmbedding(k, rho, (k + 1) * (rho + 1))
    layer = ELENE(columns, k, pool="sum", norm="none", embedding=embedding)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        embedding.node.tables[0].weight[:] = torch.eye(embedding.dim).repeat(3, 1)
        layer.quadruplet_in.weight[:] = torch.eye(columns)
        layer.node_update.parts[1].weight[:] = torch.eye(columns)
        layer.node_gates.reset_parameters()
    data = as_data(graph, k, "node")
    out, _ = layer(torch.zeros(len(graph), columns), data.edge_index, None, Ego.of(data))
    encoding = elene.encode(graph, k)
    by_kind = [
        c.distance * (rho + 1) + c.value + ["closer", "degree", "farther"].index(c.kind) * embedding.dim
        for c in encoding.columns
    ]
    assert torch.equal(out[:, by_kind], torch.from_numpy(encoding.matrix.toarray()).float())


def test_nd_can_be_an_spnn_layer():
    """An SPNN layer: x_v + sum over distances l of alpha_l times the features of the nodes at distance l."""
    graph, k, width = nx.barbell_graph(3, 2), 3, 2
    alpha = torch.tensor([1.3, -0.7, 0.5, 2.0], dtype=torch.double)
    hidden = 2 * width * (k + 1)
    embedding = EgoEmbedding(k, 0, k + 1)
    layer = ELENE(width, k, hidden=hidden, pool="sum", embedding=embedding)
    layer.node_update = Update([width, hidden], width, activation=nn.Identity())
    layer.double()
    large = 1e3
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        embedding.node.tables[0].weight[: k + 1] = torch.eye(k + 1)
        signs = torch.cat([torch.eye(width), -torch.eye(width)]).double()
        layer.member_in.weight[:] = signs.repeat(k + 1, 1)
        # Every distance has a block of hidden units of its own; the others are pushed below zero.
        block = torch.eye(k + 1).double().repeat_interleave(2 * width, 1)
        layer.quadruplet_in.weight[:, : k + 1] = large * (block.T - 1)
        layer.node_update.parts[1].weight[:] = (alpha.repeat_interleave(2 * width)[:, None] * signs.repeat(k + 1, 1)).T
        layer.node_gates.reset_parameters()
    data = as_data(graph, k, "node")
    x = torch.randn(len(graph), width, dtype=torch.double)
    out, _ = layer(x, data.edge_index, None, Ego.of(data))
    distance = dict(nx.all_pairs_shortest_path_length(graph, cutoff=k))
    expected = torch.stack([x[v] + sum(alpha[step] * x[u] for u, step in distance[v].items()) for v in graph])
    assert torch.allclose(out, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda ego, x: ELENE(CHANNELS, 2)(x, None, None, ego), ValueError, r"ego has k=1, and the layer k=2"),
        (lambda ego, x: ELENE(CHANNELS, 1, "edge")(x, None, None, ego), ValueError, 'level="edge"'),
        (
            lambda ego, x: ELENE(CHANNELS, 1)(x[:2], None, None, ego),
            ValueError,
            r"x must have shape \(4, 6\), got \(2, 6\)",
        ),
        (lambda ego, x: ELENE(CHANNELS, 1)(x, None, None, None), TypeError, r"Ego\.of"),
        (lambda ego, x: ELENE(CHANNELS, 1, embedding=EgoEmbedding(2, 3)), ValueError, "embedding is for k=2"),
        (lambda ego, x: ELENE(CHANNELS, 1, "edge", embedding=EgoEmbedding(1, 3)), ValueError, "level='edge'"),
        (lambda ego, x: ELENE(0, 1), ValueError, "channels must be at least 1"),
        (lambda ego, x: ELENE(CHANNELS, 1, pool="max"), ValueError, "pool must be one of"),
        (lambda ego, x: EgoEmbedding(1, -1), ValueError, "max_degree must be at least 0"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    data = as_data(nx.path_graph(4), 1, "node")
    with pytest.raises(error, match=message):
        call(Ego.of(data), torch.zeros(4, CHANNELS))


def test_bad_edge_features_and_missing_lists():
    data = as_data(nx.path_graph(4), 1, "edge")
    with pytest.raises(ValueError, match=r"edge_attr must have shape \(6, 6\), got \(6, 1\): embed it first"):
        ELENE(CHANNELS, 1, "edge")(torch.zeros(4, CHANNELS), data.edge_index, torch.zeros(6, 1), Ego.of(data))
    with pytest.raises(ValueError, match=r"apply elene\.transforms\.EgoStructure"):
        Ego.of(Data(edge_index=data.edge_index, num_nodes=4))
    with pytest.raises(ValueError, match="one depth"):
        Ego.of(Batch.from_data_list([data, as_data(nx.path_graph(4), 2, "edge")]))
