"""Two processes with half of the graphs each get what one process gets with all of them: gradients, statistics."""

from __future__ import annotations

import faulthandler
import gc
import subprocess
import sys

import networkx as nx
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv
from torch_geometric.utils import from_networkx

from elene.experiments.train.batchnorm import share_batch_norms
from elene.nn import ELENE, GNN, Entries, PairNorm
from elene.transforms import EgoStructure

WIDTH, KEYS = 6, 7


def graphs():
    datas = []
    for seed in range(4):
        data = Data(edge_index=from_networkx(nx.gnp_random_graph(7, 0.5, seed=seed)).edge_index, num_nodes=7)
        data.x, data.edge_attr = torch.ones(7, 1).double(), torch.ones(data.num_edges, 1).double()
        datas.append(EgoStructure(2, "edge")(data))
    return datas


def make_model():
    torch.manual_seed(0)
    conv = GINEConv(nn.Linear(WIDTH, WIDTH))
    layer = ELENE(WIDTH, 2, "edge", max_degree=4)
    edge = [nn.Linear(1, WIDTH)]
    head = nn.Linear(WIDTH, 1)
    return GNN(nn.Linear(1, WIDTH), [conv], [nn.ReLU()], head, elene=[layer], edge_encoders=edge).double()


def normalised(first, last):
    """What a norm over the entries of some keys keeps, and the keys' gradients."""
    generator = torch.Generator().manual_seed(3)
    x, y, table = (3 + torch.randn(n, WIDTH, dtype=torch.double, generator=generator) for n in (KEYS, 4, 2))
    others, codes = (torch.randint(0, n, (KEYS, 3), generator=generator) for n in (4, 2))
    mine = slice(first, last)
    entries = Entries(torch.full((last - first,), 3), others[mine].flatten(), codes[mine].reshape(-1, 1), 4)
    x, norm = x[mine].requires_grad_(), share_batch_norms(PairNorm(WIDTH).double())
    norm(x, y, table, entries)[0].square().sum().backward()
    return {"mean": norm.running_mean, "variance": norm.running_var, "gradient": x.grad}


def worker(rank, folder):
    faulthandler.dump_traceback_later(200, exit=True)  # says where it hangs
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(share_batch_norms(make_model()))
    model(Batch.from_data_list(graphs()[2 * rank : 2 * rank + 2])).mean().backward()
    if rank == 0:
        torch.save({name: p.grad for name, p in model.module.named_parameters()}, f"{folder}/grads.pt")
    torch.save(normalised(*((0, 2), (2, KEYS))[rank]), f"{folder}/norm{rank}.pt")
    del model  # torch can wait for ever where a wrapped network outlives its process group
    gc.collect()
    dist.destroy_process_group()


@pytest.mark.jit
def test_gradients_and_statistics_of_two_processes(tmp_path, monkeypatch):
    if sys.platform == "linux":
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # a machine's own name need not resolve
    subprocess.run([sys.executable, __file__, str(tmp_path)], check=True, timeout=240)
    model = make_model()
    model(Batch.from_data_list(graphs())).mean().backward()
    found = torch.load(tmp_path / "grads.pt", weights_only=True)
    for name, parameter in model.named_parameters():
        assert torch.allclose(found[name], parameter.grad, atol=1e-8), name
    first, second = (torch.load(tmp_path / f"norm{rank}.pt", weights_only=True) for rank in range(2))
    expected = normalised(0, KEYS)
    assert torch.allclose(torch.cat([first["gradient"], second["gradient"]]), expected["gradient"])
    for name in ("mean", "variance"):
        assert torch.allclose(first[name], expected[name]) and torch.equal(first[name], second[name])


if __name__ == "__main__":
    mp.spawn(worker, args=(sys.argv[1],), nprocs=2)
