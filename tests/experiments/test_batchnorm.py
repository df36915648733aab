from __future__ import annotations

import copy

import pytest
import torch
import torch.distributed as dist
from torch import nn

from elene.experiments.batchnorm import SharedBatchNorm, share_batch_norms


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
