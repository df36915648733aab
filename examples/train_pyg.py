"""A trained PyTorch Geometric model: PyG's own GIN counts triangles, with one transform more and without."""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool
from torch_geometric.utils import from_networkx

from elene.transforms import AddELENE


class Counter(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.gin = GIN(columns, hidden_channels=32, num_layers=2, out_channels=1, act="elu")

    def forward(self, data: Data) -> Tensor:
        return global_add_pool(self.gin(data.x, data.edge_index), data.batch)


def graphs(count: int, first: int) -> list[Data]:
    """Random graphs, each with the number of its triangles."""
    found = []
    for seed in range(first, first + count):
        graph = nx.gnm_random_graph(16, 40, seed=seed)
        triangles = sum(nx.triangles(graph).values()) / 3
        arcs = from_networkx(graph).edge_index
        found.append(Data(x=torch.ones(16, 1), edge_index=arcs, y=torch.tensor([[triangles]])))
    return found


def train(training: list[Data], epochs: int = 60) -> Counter:
    torch.manual_seed(0)
    model = Counter(training[0].num_features)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(epochs):
        for batch in DataLoader(training, batch_size=20, shuffle=True):
            optimizer.zero_grad()
            nn.functional.l1_loss(model(batch), batch.y).backward()
            optimizer.step()
    return model.eval()


@torch.no_grad()
def error(model: Counter, unseen: list[Data]) -> float:
    batch = next(iter(DataLoader(unseen, batch_size=len(unseen))))
    return float(nn.functional.l1_loss(model(batch), batch.y))


def main() -> dict[str, float]:
    training, unseen = graphs(100, first=0), graphs(50, first=1000)
    add = AddELENE(k=1, max_degree=12)  # the one line more
    file = Path(tempfile.mkdtemp(), "counter.pt")
    errors = {}
    print("Triangles in graphs that the model has not seen: how many too many or too few")
    for name, transform in (("GIN", lambda data: data), ("GIN with AddELENE", add)):
        model = train([transform(data) for data in training])
        errors[name] = error(model, [transform(data) for data in unseen])
        print(f"  {name:18} {errors[name]:4.1f}  {'#' * round(4 * errors[name])}")
    torch.save(model.state_dict(), file)
    again = Counter(add(unseen[0]).num_features)
    again.load_state_dict(torch.load(file, weights_only=True))
    for data in unseen[:3]:
        print(f"  {file.name} counts {again(add(data)).item():4.1f} where there are {data.y.item():.0f}")
    return errors


if __name__ == "__main__":
    main()
