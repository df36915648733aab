"""Nodes of one large graph, classified in mini-batches with exact ego-networks.

    python examples/large_graph.py [--nodes 1000000] [--epochs 5] [--layers 1] [--roots 20000] [--workers 0]

The communities of the graph differ in how nodes are wired and in nothing else: every node has six neighbours and the
same feature, so message passing sees the same tree around each of them, and GIN stays at chance. An ego-network shows
who is linked with whom among the neighbours.
"""

import argparse
import resource
import time
from collections.abc import Iterable

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv

from elene.nn import ELENE, GNN, node_readout
from elene.transforms import EgoLoader, EgoStructure

# A node of a community is linked with those so many places on, and back, around a ring.
STEPS = [(1, 2, 3), (1, 10, 11), (1, 2, 20), (1, 10, 40)]
SIZE = 500  # nodes of a community
REWIRED = 0.15  # share of edges that lead anywhere in the graph instead
WIDTH = 32


def make_graph(nodes: int, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    count = max(nodes // SIZE, 1)
    kinds = rng.permutation(np.arange(count) % len(STEPS))
    place = np.arange(SIZE)
    first = np.arange(count)[:, None] * SIZE
    edges = [
        np.stack([(first + place).ravel(), (first + (place + np.array(STEPS)[kinds, i, None]) % SIZE).ravel()])
        for i in range(len(STEPS[0]))
    ]
    edges = rewire(np.concatenate(edges, axis=1), count * SIZE, rng)
    arcs = torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1))
    labels = torch.from_numpy(np.repeat(kinds, SIZE))
    return Data(x=torch.ones(count * SIZE, 1), edge_index=arcs, y=labels, num_nodes=count * SIZE)


def rewire(edges: np.ndarray, nodes: int, rng: np.random.Generator) -> np.ndarray:
    """Some edges exchange ends, so that all degrees stay as they are; again, where a loop or a twin came of it."""
    edges = edges.copy()
    chosen = np.flatnonzero(rng.random(edges.shape[1]) < REWIRED)
    while len(chosen):
        edges[1, chosen] = edges[1, rng.permutation(chosen)]
        low, high = edges.min(axis=0), edges.max(axis=0)
        _, first = np.unique(low * nodes + high, return_index=True)
        wrong = np.ones(edges.shape[1], bool)
        wrong[first] = False
        wrong |= low == high
        wrong = np.flatnonzero(wrong)
        chosen = np.union1d(wrong, rng.integers(0, edges.shape[1], len(wrong)))
    return edges


def make_model(with_elene: bool, depth: int) -> GNN:
    torch.manual_seed(0)

    def mlp() -> nn.Module:
        return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    # No BatchNorm: its means would be those of a batch, and not of the graph. A LayerNorm looks at one node at a time.
    layers = [ELENE(WIDTH, k=1, max_degree=6, norm="none") if with_elene else None for _ in range(depth)]
    updates = [nn.Sequential(nn.LayerNorm(WIDTH), nn.ReLU()) for _ in range(depth)]
    convs = [GINConv(mlp()) for _ in range(depth)]
    head = nn.Linear(WIDTH, len(STEPS))
    return GNN(nn.Linear(1, WIDTH), convs, updates, head, elene=layers, readout=node_readout)


def loss_of(model: GNN, batch: Data) -> torch.Tensor:
    """Summed over the roots of a batch, which stand first in it."""
    roots = batch.batch_size
    return nn.functional.cross_entropy(model(batch)[:roots], batch.y[:roots], reduction="sum")


def train(model: GNN, loader: EgoLoader, epochs: int) -> float:
    """Seconds an epoch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    start = time.perf_counter()
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            (loss_of(model, batch) / batch.batch_size).backward()
            optimizer.step()
    return (time.perf_counter() - start) / epochs


@torch.no_grad()
def accuracy(model: GNN, loader: EgoLoader) -> float:
    right = total = 0
    for batch in loader:
        found = model(batch)[: batch.batch_size].argmax(dim=1)
        right += int((found == batch.y[: batch.batch_size]).sum())
        total += batch.batch_size
    return right / total


def gradient(model: GNN, batches: Iterable[Data]) -> torch.Tensor:
    model.zero_grad()
    for batch in batches:
        loss_of(model, batch).backward()
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


def gradient_difference(data: Data, layers: int) -> float:
    """How far gradients in batches, of all nodes and of a few at a time, are from the whole graph's, relative to it."""
    model, structure = make_model(with_elene=True, depth=layers).double(), EgoStructure(k=1)
    data.x = data.x.double()
    whole = structure(data)
    whole.batch_size = data.num_nodes
    expected = gradient(model, [whole])
    found = [gradient(model, EgoLoader(data, structure, layers, batch_size=size)) for size in (data.num_nodes, 500)]
    return max(float((other - expected).abs().max() / expected.abs().max()) for other in found)


def main(
    nodes: int = 1_000_000, epochs: int = 5, roots: int = 20_000, layers: int = 1, workers: int = 0
) -> dict[str, float]:
    start = time.perf_counter()
    data = make_graph(nodes)
    print(f"{data.num_nodes:,} nodes, {data.num_edges // 2:,} edges, made in {time.perf_counter() - start:.1f} s")
    chosen = torch.randperm(data.num_nodes, generator=torch.Generator().manual_seed(0))[: 2 * roots]
    options = {"batch_size": 128, "num_workers": workers}
    learn = EgoLoader(data, EgoStructure(k=1), layers, chosen[:roots], shuffle=True, **options)
    unseen = EgoLoader(data, EgoStructure(k=1), layers, chosen[roots:], **options)
    found = {"chance": 1 / len(STEPS)}
    for name, with_elene in (("GIN", False), ("GIN + ELENE-L", True)):
        model = make_model(with_elene, layers)
        seconds = train(model, learn, epochs)
        found[name] = accuracy(model, unseen)
        print(f"{name:15s} {found[name]:.1%} of unseen nodes right, {seconds:.1f} s an epoch of {roots:,} roots")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{peak:,.0f} MB of memory at most, the graph and all libraries included")
    found["difference"] = gradient_difference(make_graph(min(nodes, 10_000)), layers)
    print(f"gradients in batches and of the whole graph differ by {found['difference']:.0e} of the largest at most")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--roots", type=int, default=20_000)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0)
    main(**vars(parser.parse_args()))
