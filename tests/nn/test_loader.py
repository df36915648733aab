"""EgoLoader: what roots need, exact lists, and networks that give in batches what they give on the whole graph."""

from __future__ import annotations

import faulthandler
import gc
import itertools
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DistributedSampler
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINConv, GINEConv
from torch_geometric.utils import from_networkx

import elene
import naive
import naive_nn
from elene.engine.surroundings import surroundings
from elene.nn import ELENE, GNN, Ego, node_readout
from elene.transforms import EgoLoader, EgoStructure
from elene.transforms.loader import Rows
from graphs import random_graphs, relabelled

WIDTH = 6


def as_data(graph, seed=0):
    data = Data(edge_index=from_networkx(graph).edge_index.reshape(2, -1), num_nodes=len(graph))
    generator = torch.Generator().manual_seed(seed)
    data.x = torch.randn(len(graph), 3, dtype=torch.double, generator=generator)
    data.edge_attr = torch.randn(data.num_edges, 2, dtype=torch.double, generator=generator)
    data.y = torch.arange(len(graph)) % 2
    data.name = "a name"
    return data


def sparse_graphs():
    """Graphs in which a few hops do not reach everything."""
    chords = nx.cycle_graph(90)
    chords.add_edges_from([(i, i + 2) for i in range(0, 88, 3)] + [(5, 40), (41, 43)])
    return {
        "tree": nx.random_labeled_tree(120, seed=1),
        "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 12)),
        "chords": chords,
        "pieces": nx.disjoint_union(nx.complete_graph(5), nx.disjoint_union(nx.cycle_graph(30), nx.empty_graph(2))),
    }


GRAPHS = sparse_graphs()


def make_model(conv, layers, level="node", norm="none"):
    torch.manual_seed(1)
    convs = [conv() for _ in layers]
    elene = [ELENE(WIDTH, depth, level, max_degree=4, norm=norm) if depth else None for depth in layers]
    edges = [nn.Linear(2, WIDTH) for _ in layers] if conv is gine else None
    updates = [nn.Tanh() for _ in layers]
    model = GNN(nn.Linear(3, WIDTH), convs, updates, nn.Linear(WIDTH, 2), elene, edges, node_readout)
    return model.double()


def gradients(model):
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}


def gine():
    return GINEConv(nn.Linear(WIDTH, WIDTH))


def gin():
    return GINConv(nn.Linear(WIDTH, WIDTH))


def gcn():
    return GCNConv(WIDTH, WIDTH)


@settings(max_examples=40, deadline=None)
@given(graph=random_graphs(14), hops=st.integers(0, 4), data=st.data())
def test_surroundings_are_balls_and_the_subgraph_they_induce(graph, hops, data):
    centres = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, max_size=4))
    found = surroundings(elene.Graph.from_networkx(graph), np.array(centres), hops)
    distance = {}
    for centre in centres:
        for node, far in naive.ball(graph, centre, hops).items():
            distance[node] = min(far, distance.get(node, hops))
    nodes = found.nodes.tolist()
    assert set(nodes) == set(distance) and len(nodes) == len(distance)
    assert nodes[: found.within(0)] == list(dict.fromkeys(centres))
    assert all(sum(far <= step for far in distance.values()) == found.within(step) for step in range(hops + 1))
    assert all(distance[a] <= distance[b] for a, b in itertools.pairwise(nodes))
    edges = {frozenset((nodes[u], nodes[v])) for u, v in found.graph.edges.tolist()}
    assert edges == {frozenset(edge) for edge in graph.subgraph(distance).edges}
    few = surroundings(elene.Graph.from_networkx(graph), np.array(centres), hops, most=len(nodes) - 1)
    assert few is None and surroundings(elene.Graph.from_networkx(graph), np.array(centres), hops, most=len(nodes))


@settings(max_examples=30, deadline=None)
@given(graph=random_graphs(14), k=st.integers(0, 2), layers=st.integers(1, 2), data=st.data())
def test_lists_are_those_of_the_whole_graph_or_not_there(graph, k, layers, data):
    centres = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, max_size=3, unique=True))
    loader = EgoLoader(as_data(graph), EgoStructure(k, "edge"), layers, centres, batch_size=len(centres))
    (batch,) = loader
    nodes = batch.n_id.tolist()
    near = {node for centre in centres for node in naive.ball(graph, centre, layers * (k + 1) - k)}
    assert nodes[: len(centres)] == centres
    start = 0
    for node, size in zip(nodes, batch.ego_size.tolist(), strict=True):
        stop = start + size
        quadruplets = batch.ego_quadruplet[batch.ego_code[start:stop].long()].tolist()
        members = [nodes[i] for i in batch.ego_node[start:stop].tolist()]
        expected = naive_nn.ego_quadruplets(graph, node, k) if node in near else {}
        assert dict(zip(members, map(tuple, quadruplets), strict=True)) == expected and len(members) == len(expected)
        start = stop
    assert read_triples(batch, nodes) == expected_triples(graph, nodes, near, k)


def read_triples(batch, nodes):
    ends = {
        int(number): frozenset(nodes[end] for end in arc)
        for arc, number in zip(batch.edge_index.T.tolist(), batch.ego_arc, strict=True)
    }
    roots = torch.repeat_interleave(torch.arange(len(nodes)), batch.ego_triples.long()).tolist()
    rooted = batch.ego_rooted_pair[batch.ego_rooted.long()].reshape(-1, 2, 4).tolist()
    inside = batch.ego_inside_pair[batch.ego_inside.long()].reshape(-1, 2, 4).tolist()
    found = {}
    for i, root in enumerate(roots):
        readings = tuple(tuple(sorted(map(tuple, pair))) for pair in (rooted[i], inside[i]))
        found[nodes[root], ends[int(batch.ego_edge[i])]] = readings
    assert len(found) == len(roots)
    return found


def expected_triples(graph, nodes, near, k):
    """Those of roots, or of edges, whose surroundings are all there."""
    expected = {}
    around = {root: naive_nn.ego_quadruplets(graph, root, k) for root in graph}
    for u, w in graph.edges:
        for v, readings in naive_nn.inside_quadruplets(graph, u, w, k).items():
            if v in near or {u, w} <= near:
                expected[v, frozenset((u, w))] = (tuple(sorted((around[v][u], around[v][w]))), tuple(sorted(readings)))
    assert {v for v, _ in expected} <= set(nodes)
    return expected


SETTINGS = {
    "one layer": (gin, [1], "node"),
    "two layers": (gin, [1, 1], "node"),
    "deep": (gin, [2, 2], "node"),
    "degrees": (gcn, [1, 1], "node"),
    "edges": (gine, [1, 1], "edge"),
    "deep edges": (gine, [2, 2], "edge"),
    "ELENE-L first": (gine, [2, 0, 0], "edge"),
    "ELENE-L last": (gin, [0, 0, 2], "node"),
    "shallower": (gin, [1, 2, 1], "node"),
}


@pytest.mark.jit
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_roots_get_in_batches_what_they_get_in_the_whole_graph(name, setting):
    conv, layers, level = SETTINGS[setting]
    data, model = as_data(GRAPHS[name]), make_model(conv, layers, level)
    structure = EgoStructure(max(layers), level)
    whole = model(structure(data))
    whole.sin().sum().backward()
    expected = gradients(model)
    model.zero_grad()
    loader = EgoLoader(data, structure, layers, batch_size=7, shuffle=True)
    seen, smaller = [], 0
    for batch in loader:
        given = model(batch)[: batch.batch_size]
        assert torch.allclose(given, whole[batch.n_id[: batch.batch_size]], atol=1e-10)
        given.sin().sum().backward()
        seen += batch.n_id[: batch.batch_size].tolist()
        smaller += batch.num_nodes < data.num_nodes
    assert sorted(seen) == list(range(data.num_nodes)) and smaller
    for key, gradient in gradients(model).items():
        assert torch.allclose(gradient, expected[key], atol=1e-8), key


@pytest.mark.jit
@pytest.mark.parametrize("level", ["node", "edge"])
def test_a_batch_of_all_nodes_is_the_graph_batch_norms_included(level):
    data, structure = as_data(GRAPHS["grid"]), EgoStructure(1, level)
    model = make_model(gine, [1, 1], level, norm="both")
    (batch,) = EgoLoader(data, structure, 2, batch_size=data.num_nodes)
    given = []
    for one in (structure(data), batch):
        model.load_state_dict(make_model(gine, [1, 1], level, norm="both").state_dict())
        model.zero_grad()
        out = model(one)
        out.sin().sum().backward()
        given.append([out, *gradients(model).values()])
    assert all(torch.allclose(a, b, atol=1e-9) for a, b in zip(*given, strict=True))


def test_relabelling_a_graph_relabels_what_roots_get():
    graph, new = relabelled(GRAPHS["chords"], seed=3)
    order = torch.tensor([new[node] for node in GRAPHS["chords"]])
    data, model = as_data(GRAPHS["chords"]), make_model(gin, [1, 1])
    other = as_data(graph)
    other.x[order] = data.x
    roots = [3, 70, 12]
    (batch,) = EgoLoader(data, EgoStructure(1), 2, roots, batch_size=3)
    (again,) = EgoLoader(other, EgoStructure(1), 2, order[roots], batch_size=3)
    assert torch.allclose(model(batch)[:3], model(again)[:3])
    assert set(order[batch.n_id].tolist()) == set(again.n_id.tolist())


def test_what_a_batch_carries():
    data = as_data(GRAPHS["grid"])
    encoding = elene.encode(data, 1, max_degree=3)
    more = {"score": np.arange(len(data.x), dtype=np.float32), "code": encoding.matrix.tocoo()}
    loader = EgoLoader(data, EgoStructure(1, "edge"), 1, data.y == 1, more, batch_size=5)
    assert len(loader) == -(-int(data.y.sum()) // 5) and "EgoStructure" in repr(loader)
    for batch in loader:
        assert torch.equal(batch.x, data.x[batch.n_id]) and torch.equal(batch.y, data.y[batch.n_id])
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
        assert torch.equal(batch.score, batch.n_id.float()) and batch.name == "a name"
        assert np.array_equal(batch.code, encoding.matrix.toarray()[batch.n_id]) and batch.code.dtype == torch.float
        assert (data.y == 1).nonzero().flatten()[batch.input_id].tolist() == batch.n_id[: batch.batch_size].tolist()
        Ego.of(batch)


def test_convs_alone_need_no_lists_and_get_none_that_are_cut_off():
    (batch,) = EgoLoader(as_data(GRAPHS["grid"]), EgoStructure(2, "edge"), [0], [40], batch_size=1)
    assert batch.num_nodes > 1 and batch.ego_size.tolist() == [0] * batch.num_nodes


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_names_of_nodes_and_edges_are_taken_as_features_are(kind):
    data = as_data(GRAPHS["grid"])
    data.title = kind([f"node {node}" for node in range(data.num_nodes)])
    data.edge_title = kind([f"arc {arc}" for arc in range(data.num_edges)])
    (batch,) = EgoLoader(data, EgoStructure(1), 1, [40, 3], batch_size=2)
    assert list(batch.title) == [f"node {node}" for node in batch.n_id.tolist()]
    assert list(batch.edge_title) == [f"arc {arc}" for arc in batch.e_id.tolist()]


def test_a_root_that_is_named_twice_is_there_once():
    (batch,) = EgoLoader(as_data(GRAPHS["tree"]), EgoStructure(1), 1, [4, 9, 4], batch_size=3)
    assert batch.batch_size == 2 and batch.n_id[:2].tolist() == [4, 9] and batch.input_id.tolist() == [0, 1]


@pytest.mark.parametrize("level", ["node", "edge"])
def test_lists_of_a_batch_belong_to_its_arcs(level):
    (batch,) = EgoLoader(as_data(GRAPHS["grid"]), EgoStructure(1, level), 1, [40], batch_size=1)
    edges = batch.edge_index
    other = edges.clone()
    other[:, 0], other[:, 1] = torch.tensor([0, batch.num_nodes - 1]), torch.tensor([batch.num_nodes - 1, 0])
    for wrong in (edges[:, :-2], other, as_data(GRAPHS["grid"]).edge_index):
        batch.edge_index = wrong
        with pytest.raises(ValueError, match="another graph"):
            Ego.of(batch)
    batch.edge_index = edges.flip(1)
    if level == "edge":
        with pytest.raises(ValueError, match="another order"):
            Ego.of(batch)


def test_large_batches_are_told(monkeypatch):
    monkeypatch.setattr("elene.transforms.loader.MANY", 10)
    with pytest.warns(elene.GraphWarning, match="a batch of 3 roots needs 61 of 61 nodes") as told:
        list(EgoLoader(as_data(nx.star_graph(60)), EgoStructure(1), 1, batch_size=3))
    assert [warning.category for warning in told].count(elene.GraphWarning) == 1


@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_are_split_until_they_need_no_more_than_they_may(shuffle):
    data, most = as_data(GRAPHS["grid"]), 40
    given = [
        list(EgoLoader(data, EgoStructure(1), 1, batch_size=16, most_nodes=limit, shuffle=shuffle))
        for limit in (most, 1000)
    ]
    assert max(batch.num_nodes for batch in given[0]) <= most < max(batch.num_nodes for batch in given[1])
    assert len(given[0]) > len(given[1]) == 7
    for batches in given:
        roots = [node for batch in batches for node in batch.n_id[: batch.batch_size].tolist()]
        assert sorted(roots) == list(range(data.num_nodes)) and (roots == sorted(roots)) != shuffle


def test_roots_that_need_too_much_alone_are_refused():
    star = as_data(nx.star_graph(60))
    loader = EgoLoader(star, EgoStructure(1), 1, [7, 3], most_nodes=20, batch_size=2)
    with pytest.raises(ValueError, match="most_nodes=20 is less than what is within 2 hops of node 7: pass fewer"):
        next(iter(loader))
    with pytest.raises(TypeError, match="no len"):
        len(loader)
    own = EgoLoader(star, EgoStructure(1), 1, most_nodes=20, batch_sampler=[[0, 1, 2]])
    with pytest.raises(ValueError, match="2 hops of the 3 roots of a batch"):
        next(iter(own))


def test_shuffling_is_reproducible():
    def order(seed):
        generator = torch.Generator().manual_seed(seed)
        loader = EgoLoader(
            as_data(GRAPHS["tree"]), EgoStructure(1), 1, range(50), batch_size=9, shuffle=True, generator=generator
        )
        return [batch.n_id.tolist() for batch in loader]

    assert order(0) == order(0) and order(0) != order(1)


def test_bad_arguments_are_named():
    data, structure = as_data(GRAPHS["tree"]), EgoStructure(1)
    for wrong, message in {
        (("structure", 1),): "structure must be an EgoStructure",
        (("layers", 0),): "layers must be at least 1",
        (("layers", (2, 1)),): "layers has depth 2, and the lists k=1",
        (("input_nodes", (120,)),): "input_nodes: node 120 is not in the graph",
        (("input_nodes", (-1,)),): "input_nodes: node -1",
        (("input_nodes", (0.5,)),): "input_nodes must be positions",
        (("input_nodes", (True, False)),): "input_nodes is a mask of shape",
        (("features", 3),): "features must be a dictionary",
        (("most_nodes", 0),): "most_nodes must be at least 1",
    }.items():
        with pytest.raises((ValueError, TypeError), match=message):
            EgoLoader(**{"graph": data, "structure": structure, **dict(wrong)})
    with pytest.raises(ValueError, match=r"features: 'x' must be .* 120 rows"):
        EgoLoader(data, structure, features={"x": np.zeros(3)})
    twice = Data(edge_index=torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0]]), num_nodes=2)
    with pytest.warns(elene.GraphWarning), pytest.raises(ValueError, match="lists some edges more than once"):
        EgoLoader(twice, structure)


def test_mapped_features_are_sent_as_their_names(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((10_000, 3)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    sent = pickle.dumps(Rows(mapped))
    assert len(sent) < 1000
    places = np.array([5, 9999, 0])
    assert np.array_equal(pickle.loads(sent).take(places), mapped[places])
    changed = np.load(tmp_path / "x.npy", mmap_mode="c")
    changed[5] = 7
    assert np.array_equal(pickle.loads(pickle.dumps(Rows(changed))).take(places), changed[places])
    part = Rows(mapped[10:20])
    assert np.array_equal(pickle.loads(pickle.dumps(part)).take(places % 10), mapped[10 + places % 10])


class Module(nn.Module):
    """Made where Lightning is."""

    @staticmethod
    def make():
        import pytorch_lightning as lightning

        class Learner(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.model, self.seen = make_model(gine, [1, 1], "edge"), []

            def training_step(self, batch, _):
                self.seen.append(batch.n_id[: batch.batch_size].tolist())
                out = self.model(batch)[: batch.batch_size]
                return nn.functional.cross_entropy(out, batch.y[: batch.batch_size])

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        return Learner()


def fit(folder, **options):
    import pytorch_lightning as lightning

    loader = EgoLoader(as_data(GRAPHS["tree"]), EgoStructure(1, "edge"), 2, range(20), batch_size=4, shuffle=True)
    learner = Module.make()
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        **options,
    )
    trainer.fit(learner, loader)
    return learner


@pytest.mark.jit
def test_lightning_fits(tmp_path):
    pytest.importorskip("pytorch_lightning")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = fit(tmp_path)
    assert sorted(itertools.chain(*learner.seen[:5])) == list(range(20)) and len(learner.seen) == 10


def store_of(data, folder):
    np.savetxt(f"{folder}/edges.csv", data.edge_index.T, "%d", ",", header="source,target", comments="")
    return elene.GraphStore.build(f"{folder}/edges.csv", f"{folder}/graph.elene")


def assert_same(one, other):
    assert set(one.keys()) == set(other.keys())
    for key, value in one.to_dict().items():
        assert torch.equal(value, other[key]) if torch.is_tensor(value) else value == other[key], key


def load_in_workers(context, folder):
    data = as_data(GRAPHS["grid"])
    np.save(f"{folder}/score.npy", np.arange(data.num_nodes, dtype=np.float32))
    more = {"score": np.load(f"{folder}/score.npy", mmap_mode="r")}
    for graph in (data, store_of(data, folder)):
        here, there = (
            list(EgoLoader(graph, EgoStructure(1, "edge"), 2, features=more, batch_size=30, **options))
            for options in ({}, {"num_workers": 2, "multiprocessing_context": context})
        )
        assert len(here) == len(there) == 4
        for one, other in zip(here, there, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("level", ["node", "edge"])
def test_batches_of_a_store_are_those_of_the_data(level, tmp_path):
    pytest.importorskip("duckdb")
    data = as_data(GRAPHS["grid"])
    del data.edge_attr, data.name
    more = {"x": data.x, "y": data.y}
    store = store_of(data, tmp_path)
    ways = ((data, None), (store, more))
    given = [EgoLoader(graph, EgoStructure(1, level), 1, features=more, batch_size=20) for graph, more in ways]
    for one, other in zip(*given, strict=True):
        assert_same(one, other)


def in_two_processes(rank, folder):
    """Each process has half of the roots; the mean of their gradients is that of all roots at once."""
    faulthandler.dump_traceback_later(200, exit=True)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(make_model(gine, [1, 1], "edge"))
    sampler = DistributedSampler(range(40), shuffle=False)
    loader = EgoLoader(as_data(GRAPHS["grid"]), EgoStructure(1, "edge"), 2, range(40), sampler=sampler, batch_size=20)
    (batch,) = loader
    model(batch)[: batch.batch_size].sin().mean().backward()
    if rank == 0:
        torch.save(gradients(model.module), f"{folder}/grads.pt")
    del model  # torch can wait for ever where a wrapped network outlives its process group
    gc.collect()
    dist.destroy_process_group()


def fit_in_two_processes(rank, folder):
    """Lightning shares the roots out by itself: it makes the loader anew, with a sampler of its own."""
    faulthandler.dump_traceback_later(200, exit=True)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": folder.rsplit(":", 1)[1], "NODE_RANK": "0"}
    os.environ |= {"LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    warnings.simplefilter("ignore")
    folder = folder.rsplit(":", 1)[0]
    learner = fit(folder, strategy="ddp", devices=2)
    torch.save(learner.seen, f"{folder}/seen{rank}.pt")


def run_alone(*arguments):
    """In a process of its own: the threads of a test runner may hold locks when it forks."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", __file__, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path[1:]])}
    if sys.platform == "linux":
        environment["GLOO_SOCKET_IFNAME"] = "lo"
    subprocess.run(command, check=True, timeout=240, env=environment)


@pytest.mark.jit
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_make_the_same_batches(context, tmp_path):
    run_alone("workers", tmp_path, context)


@pytest.mark.jit
def test_two_processes_share_roots_and_gradients(tmp_path):
    run_alone("ddp", tmp_path)
    model, data = make_model(gine, [1, 1], "edge"), as_data(GRAPHS["grid"])
    model(EgoStructure(1, "edge")(data))[:40].sin().mean().backward()
    found = torch.load(tmp_path / "grads.pt", weights_only=True)
    for name, gradient in gradients(model).items():
        assert torch.allclose(found[name], gradient, atol=1e-10), name


@pytest.mark.jit
def test_lightning_shares_roots_among_two_processes(tmp_path):
    pytest.importorskip("pytorch_lightning")
    run_alone("lightning", tmp_path)
    first, second = (torch.load(tmp_path / f"seen{rank}.pt", weights_only=True) for rank in range(2))
    assert len(first) == len(second) == 6  # two epochs of ten roots each, four at a time
    epochs = [sorted(itertools.chain(*first[i : i + 3], *second[i : i + 3])) for i in (0, 3)]
    assert epochs == [list(range(20))] * 2 and first[:3] != first[3:]


if __name__ == "__main__":
    what, where = sys.argv[1:3]
    if what == "workers":
        load_in_workers(sys.argv[3], where)
    elif what == "ddp":
        mp.spawn(in_two_processes, args=(where,), nprocs=2)
    else:
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        mp.spawn(fit_in_two_processes, args=(f"{where}:{port}",), nprocs=2)
