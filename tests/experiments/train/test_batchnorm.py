from __future__ import annotations

import copy

import pytest
import torch
import torch.distributed as dist
from torch import nn

from elene.experiments.train.batchnorm import SharedBatchNorm, SharedPairNorm, freeze, reestimate, share_batch_norms
from elene.nn import Entries, PairNorm


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A group of this process only: all that is shared is shared with nobody."""
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_shared_is_what_it_is_for_one_process(alone):
    torch.manual_seed(0)
    usual = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).double()
    shared = share_batch_norms(copy.deepcopy(usual))
    assert type(shared[1]) is SharedBatchNorm and type(usual[1]) is nn.BatchNorm1d
    for _ in range(3):
        x = 5 + torch.randn(7, 3, dtype=torch.float64)
        outputs = [network(x) for network in (usual, shared)]
        assert torch.allclose(*outputs)
        for output in outputs:
            output.square().sum().backward()
    grads = [[parameter.grad for parameter in network.parameters()] for network in (usual, shared)]
    assert all(torch.allclose(a, b, atol=1e-8) for a, b in zip(*grads, strict=True))
    states = [network.state_dict() for network in (usual, shared)]
    assert all(torch.allclose(states[0][key], states[1][key]) for key in states[0])
    x = torch.randn(1, 3, dtype=torch.float64)
    assert torch.allclose(usual.eval()(x), shared.eval()(x))


class PairNormed(nn.Module):
    """The first output of a norm over pairs, of a row with itself."""

    def __init__(self, channels):
        super().__init__()
        self.norm = PairNorm(channels)

    def forward(self, x):
        own = torch.arange(len(x))
        entries = Entries(torch.ones_like(own), own, torch.zeros_like(own)[:, None], len(x))
        return self.norm(x, x, torch.zeros_like(x[:1]), entries)[0]


def test_shared_norm_of_pairs_is_what_it_is_for_one_process(alone):
    torch.manual_seed(0)
    entries = Entries(
        torch.tensor([2, 0, 3]), torch.tensor([0, 1, 1, 0, 2]), torch.tensor([[0], [1], [1], [0], [0]]), 3
    )
    usual = PairNorm(4).double()
    shared = share_batch_norms(copy.deepcopy(usual))
    assert type(shared) is SharedPairNorm and type(usual) is PairNorm
    found = []
    for norm in (usual, shared):
        parts = [(torch.arange(float(4 * n)).sin().reshape(n, 4)).double().requires_grad_() for n in (3, 3, 2)]
        outputs = norm(*parts, entries)
        sum(output.square().sum() for output in outputs).backward()
        found.append([*outputs, *(part.grad for part in parts), *norm.state_dict().values()])
    assert all(torch.allclose(a, b) for a, b in zip(*found, strict=True))


def test_statistics_are_means_over_all_batches_whatever_was_seen_before(alone):
    torch.manual_seed(0)
    usual = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, momentum=0.3), nn.Dropout(0.5)).double()
    shared = share_batch_norms(copy.deepcopy(usual))
    batches = [torch.randn(5, 3, dtype=torch.float64) + i for i in range(4)]
    for network in (usual, shared):
        network(100 * batches[0])
        reestimate(network, batches)
        assert network.training and network[1].momentum == 0.3 and network[1].weight.grad is None
        rows = [network[0](batch).detach() for batch in batches]
        assert torch.allclose(network[1].running_mean, torch.stack([row.mean(0) for row in rows]).mean(0))
        assert torch.allclose(network[1].running_var, torch.stack([row.var(0) for row in rows]).mean(0))


def test_frozen_statistics_stay_as_they_are_and_are_what_is_trained_with(alone):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), PairNormed(4)).double()
    network(torch.randn(5, 3, dtype=torch.float64) + 1)
    freeze(network)
    statistics = [buffer.clone() for buffer in network.buffers()]
    x = torch.randn(5, 3, dtype=torch.float64)
    assert network[2].training and not any(torch.equal(network(x), network(x)) for _ in range(3))
    network[2].eval()
    output = network(x)
    output.square().sum().backward()
    assert torch.equal(output, network.eval()(x)) and network[1].weight.grad.abs().min() > 0
    assert all(map(torch.equal, network.buffers(), statistics))
