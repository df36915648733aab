"""Encodings made once for the whole of a graph, then read by mini-batches: as features, sparse, or from a file.

Whatever a loader cuts away, the encodings are those of the whole graph.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import RandomNodeLoader
from torch_geometric.nn import GINConv

import elene
from elene.transforms import AddELENE, EgoLoader, EgoStructure


def make_graph(communities: int = 40, size: int = 100) -> Data:
    """Rings in which everybody has four neighbours: in every second one, neighbours know each other."""
    place, arcs = np.arange(size), []
    for community in range(communities):
        for step in (1, 2 if community % 2 else 11):
            ends = np.stack([place, (place + step) % size]) + community * size
            arcs += [ends, ends[::-1]]
    labels = torch.arange(communities).repeat_interleave(size) % 2
    return Data(edge_index=torch.from_numpy(np.concatenate(arcs, axis=1)), y=labels, num_nodes=communities * size)


class Network(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList([GINConv(nn.Linear(columns, 16)), GINConv(nn.Linear(16, 16))])
        self.head = nn.Linear(16, 2)

    def forward(self, batch: Data) -> torch.Tensor:
        x = batch.x
        for conv in self.convs:
            x = conv(x, batch.edge_index).relu()
        return self.head(x)


def accuracy(batches, columns: int, epochs: int = 3) -> float:
    torch.manual_seed(0)
    model = Network(columns)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(epochs):
        right = total = 0
        for batch in batches:
            # The roots of an EgoLoader stand first; other loaders ask for all nodes.
            roots = getattr(batch, "batch_size", batch.num_nodes)
            out, y = model(batch)[:roots], batch.y[:roots]
            optimizer.zero_grad()
            nn.functional.cross_entropy(out, y).backward()
            optimizer.step()
            right, total = right + int((out.argmax(1) == y).sum()), total + roots
    return right / total


def main() -> dict[str, float]:
    data, found = make_graph(), {}

    # 1. As features, where they fit into memory; a loader of PyG that cuts edges does not change them.
    added = AddELENE(k=1, max_degree=4, log1p=True)(data)
    columns = added.x.shape[1]
    found["added to x, PyG's RandomNodeLoader"] = accuracy(RandomNodeLoader(added, num_parts=8, shuffle=True), columns)

    # 2. Sparse, and dense only in batches. Two convs alone need no ego-networks: k=0, and no ELENE-L in either layer.
    matrix = elene.encode(data, k=1, max_degree=4).matrix.log1p()
    options = {"structure": EgoStructure(k=0), "layers": [0, 0], "batch_size": 200, "shuffle": True}
    found["sparse, EgoLoader"] = accuracy(EgoLoader(data, features={"x": matrix}, **options), columns)

    # 3. From a file, for graphs whose features do not fit: written in ranges of nodes, and mapped.
    path = Path(tempfile.mkdtemp(), "x.npy")
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (data.num_nodes, columns))
    for start in range(0, data.num_nodes, 1000):
        roots = np.arange(start, min(start + 1000, data.num_nodes))
        rows[roots] = elene.encode(data, k=1, max_degree=4, roots=roots).matrix.log1p().toarray()
    rows.flush()
    mapped = np.load(path, mmap_mode="r")
    found["from a file, EgoLoader"] = accuracy(EgoLoader(data, features={"x": mapped}, **options), columns)

    assert np.array_equal(mapped, matrix.toarray().astype(np.float32)) and np.allclose(mapped, added.x)
    for way, share in found.items():
        print(f"{way:35s} {share:.1%} right")
    return found


if __name__ == "__main__":
    main()
