"""RPC: the statistic against slow twins, and what networks tell apart against fingerprints."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from elene.datasets import read_brec, rook, shrikhande
from elene.encoding.fingerprints import fingerprint
from graphs import relabelled

pytest.importorskip("pydantic")
pytest.importorskip("torch")

import torch
from brec_pairs import ByPlace, cycles, pair_of, small

from elene.brec import rpc
from elene.brec.rpc import hotelling, run_pair, threshold
from elene.experiments import config

REAL = Path(os.environ.get("ELENE_DATA", "")) / "brec_pairs.tsv"

# The statistic


def test_threshold_is_what_brec_publishes():
    assert threshold() == pytest.approx(72.34, abs=0.005)


def test_false_alarms_are_as_rare_as_the_level_says():
    random = np.random.default_rng(0)
    spread = random.normal(size=(3, 3))
    alarms = [
        hotelling(random.normal(size=(10, 3)) @ spread, np.zeros((10, 3))) > threshold(10, 3, 0.9) for _ in range(2000)
    ]
    assert 0.08 < np.mean(alarms) < 0.12


def naive_t2(a, b):
    """The textbook's statistic, one number at a time."""
    copies, dim = a.shape
    mean = [sum(a[i, j] - b[i, j] for i in range(copies)) / copies for j in range(dim)]
    covariance = np.zeros((dim, dim))
    for i, j, k in product(range(copies), range(dim), range(dim)):
        covariance[j, k] += (a[i, j] - b[i, j] - mean[j]) * (a[i, k] - b[i, k] - mean[k]) / (copies - 1)
    inverse = np.linalg.inv(covariance)
    return copies * sum(mean[j] * inverse[j, k] * mean[k] for j, k in product(range(dim), range(dim)))


@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_t2_is_the_textbooks(shift, size):
    a, b = np.random.default_rng(1).normal(size=(2, 32, 16)) * size
    assert hotelling(a + shift * size, b) == pytest.approx(naive_t2(a + shift * size, b), rel=1e-6)


def test_constants_differ_or_do_not_by_more_than_rounding():
    a = np.tile(np.random.default_rng(2).normal(size=16), (32, 1))
    rounding = np.random.default_rng(3).normal(size=(32, 16)) * 1e-14
    assert hotelling(a, a) == 0
    assert hotelling(a, a + rounding) < 1e-6
    assert hotelling(a, a + 1e-14) < 1e-6
    assert hotelling(a, a + 1e-3) > 1e6
    assert hotelling(a, a + 1e-3 + rounding) > 1e6
    assert hotelling(0 * a, 0 * a) == 0


@pytest.mark.parametrize("rank", range(1, 16))
def test_a_difference_where_nothing_varies_is_seen(rank):
    """The covariance is singular: a pseudo-inverse would look only in the directions in which nothing differs."""
    random = np.random.default_rng(rank)
    a, b = random.normal(size=(2, 32, rank)) @ random.normal(size=(rank, 16))
    assert 0 <= hotelling(a, b) < threshold()
    assert hotelling(a, b + 1e-3 * random.normal(size=16)) > 1e6


# Pairs


@pytest.mark.parametrize(
    ("row", "k", "level"), [("gin", 0, "node"), ("gin+elene-nd", 2, "node"), ("gin+elene-ed", 1, "edge")]
)
def test_results_are_those_of_refined_fingerprints(row, k, level):
    pairs = [pair_of(*cycles), pair_of(rook(), shrikhande()), pair_of(nx.path_graph(5), nx.star_graph(4))]
    for pair in pairs:
        a, b = (fingerprint(graph, k, level, "wl") for graph in (pair.a, pair.b))
        result = run_pair(pair, small(row))
        assert result.reliable
        assert result.distinguished == (a != b), (pair, result)


@pytest.mark.parametrize("row", config.rows("brec"))
def test_no_model_tells_a_graph_from_its_copy(row):
    graph = nx.gnp_random_graph(10, 0.4, seed=5)
    result = run_pair(pair_of(graph, relabelled(graph, seed=6)[0]), small(row, "training.epochs=5"))
    assert (result.distinguished, result.reliable, result.epochs) == (False, True, 5)
    assert max(result.t2, result.t2_self) < 1e-3


def test_every_model_tells_a_path_from_a_star():
    pair = pair_of(nx.path_graph(5), nx.star_graph(4))
    for row in config.rows("brec"):
        assert run_pair(pair, small(row)).distinguished, row


def test_a_seed_decides_everything():
    def told(seed):
        return run_pair(pair_of(*cycles), small("gin+elene-nd"), seed).model_copy(update={"seconds": 0})

    torch.manual_seed(0)
    first = told(0)
    torch.manual_seed(1)
    assert told(0) == first != told(1)


def test_copies_are_copies_in_turn_and_no_two_steps_see_the_same():
    trial = rpc._Trial(pair_of(*cycles), small("gin"), seed=0)
    seen = {purpose: trial._copies((trial.pair.a, trial.pair.b), purpose) for purpose in ("train", "test")}
    for copies in seen.values():
        assert len(copies) == 2 * rpc.COPIES
        for i, data in enumerate(copies):
            graph = nx.empty_graph(data.num_nodes)
            graph.add_edges_from(data.edge_index.T.tolist())
            assert nx.is_isomorphic(graph, cycles[i % 2])
    orders = {tuple(data.edge_index.flatten().tolist()) for copies in seen.values() for data in copies}
    assert len(orders) > 3 * rpc.COPIES


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_steps_hold_whole_pairs(batch_size):
    trial = rpc._Trial(pair_of(*cycles), small("gin", f"training.batch_size={batch_size}"), seed=0)
    graphs = [len(step.batch.ptr) - 1 for step in trial.steps]
    assert sum(graphs) == 2 * rpc.COPIES
    assert all(count % 2 == 0 and count <= max(batch_size, 2) for count in graphs)


class ByHeart(ByPlace):
    """Knows the graphs it was trained on by their arcs, and no others."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, batch):
        graph = batch.batch[batch.edge_index[0]]
        arcs = [tuple((batch.edge_index[:, graph == i] - batch.ptr[i]).flatten().tolist()) for i in graph.unique()]
        if self.training:
            self.known |= {numbering: place % 2 for place, numbering in enumerate(arcs)}
        return self.weight * torch.eye(16, dtype=self.weight.dtype)[[self.known.get(each, 2) for each in arcs]]


def test_a_model_that_tells_copies_apart_is_not_reliable(monkeypatch):
    monkeypatch.setattr(rpc, "build", lambda *_: ByPlace())
    result = run_pair(pair_of(*cycles), small("gin"))
    assert result.t2 > threshold()
    assert (result.distinguished, result.reliable) == (False, False)


def test_numberings_learned_by_heart_do_not_count(monkeypatch):
    monkeypatch.setattr(rpc, "build", lambda *_: ByHeart())
    result = run_pair(pair_of(*cycles), small("gin"))
    assert (result.loss, result.distinguished, result.reliable) == (0, False, True)


def test_bad_training_settings():
    with pytest.raises(ValueError, match=r"training\.patience is about validation graphs"):
        run_pair(pair_of(*cycles), small("gin", "training.patience=3"))
    with pytest.raises(ValueError, match=r"training went astray at pair 7: take a lower training\.lr"):
        run_pair(pair_of(nx.path_graph(5), nx.star_graph(4), 7), small("gin", "training.lr=1e36"))


@pytest.mark.skipif(not REAL.is_file(), reason="ELENE_DATA does not name a folder with brec_pairs.tsv")
def test_on_some_pairs_of_brec():
    pairs = read_brec(REAL)
    for index in (0, 60, 110, 111, 160, 380):
        a, b = (fingerprint(graph, 1, "edge", "wl") for graph in (pairs[index].a, pairs[index].b))
        assert run_pair(pairs[index], small("gin+elene-ed")).distinguished == (a != b), index
