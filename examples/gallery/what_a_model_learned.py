"""
Reading what a model learned
============================

ELENE-L looks quadruplets up in tables. After training, the tables can be read.
"""

# %%
# A small model is trained on a task with a known answer: for every node of a random graph, in how
# many triangles does it lie? At ``k = 1`` a neighbour that sees itself as ``(1, 1, d, 0)`` forms
# ``d - 1`` triangles with the root. A model that has understood this adds something that grows
# with ``d`` for each neighbour, and does not care about anything else. Has it?

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import torch
from torch import nn
from torch_geometric.loader import DataLoader
from torch_geometric.utils import from_networkx

from elene.nn import ELENE, Ego
from elene.transforms import EgoStructure

MOST = 10
structure = EgoStructure(k=1)


def example(seed):
    graph = nx.random_geometric_graph(40, 0.22, seed=seed)
    for node in graph:
        graph.nodes[node].clear()
    data = from_networkx(graph)
    data.y = torch.tensor([float(count) for count in nx.triangles(graph).values()])
    return structure(data)


class Counter(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.elene = ELENE(width, k=1, max_degree=MOST, pool="sum", norm="none")
        self.head = nn.Linear(width, 1)
        self.width = width

    def forward(self, data):
        x = torch.zeros(data.num_nodes, self.width)
        x, _ = self.elene(x, data.edge_index, None, Ego.of(data))
        return self.head(x).squeeze(1)


torch.manual_seed(0)
model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
train, unseen = [example(seed) for seed in range(24)], [example(seed) for seed in range(100, 120)]
for _ in range(50):
    for batch in DataLoader(train, batch_size=12, shuffle=True):
        optimizer.zero_grad()
        nn.functional.l1_loss(model(batch), batch.y).backward()
        optimizer.step()

batch = next(iter(DataLoader(unseen, batch_size=20)))
with torch.no_grad():
    found = model(batch)
print(f"mean error on unseen graphs: {(found - batch.y).abs().mean():.2f} triangles")

# %%
# The table of the layer has a row for each distance and value. What a neighbour with ``d`` ties
# adds to the sum is the relu of its row, mapped to the width of the layer; everything else is zero
# here, since no node has features.

degrees = torch.arange(1, MOST + 1)
quadruplets = torch.stack(
    [torch.ones_like(degrees), torch.ones_like(degrees), degrees, torch.zeros_like(degrees)], dim=1
)
with torch.no_grad():
    rows = model.elene.embedding.node(quadruplets, quadruplets[:, 0])
    message = (model.elene.quadruplet_in(rows) + model.elene.root_in.bias).relu()

# %%
# Each line on the left is one of the features that the layer sums up. On the right is what the
# whole model says of a root with six neighbours that all have ``d`` ties, beside the truth: ``6 (d
# - 1) / 2`` triangles.

with torch.no_grad():
    root = torch.tensor([[0, 0, 6, 6]])
    own = model.elene.quadruplet_in(model.elene.embedding.node(root, root[:, 0]))
    pooled = (own + model.elene.root_in.bias).relu() + 6 * message
    zero = torch.zeros(MOST, model.width)
    answer = model.head(model.elene.node_gates(zero, model.elene.node_update(zero, pooled))).squeeze(1)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left.plot(degrees, message, color="#2f6fc4", alpha=0.7)
left.set(xlabel="ties of a neighbour, d", ylabel="what it adds, by feature", title="the learned table")
shown = degrees <= 6
right.plot(degrees[shown], 3.0 * (degrees[shown] - 1), color="#a3abb5", linewidth=6, label="the truth")
right.plot(degrees[shown], answer[shown], color="#1b8a57", marker="o", label="the model")
right.set(xlabel="ties of each of six neighbours, d", ylabel="triangles", title="what the model makes of it")
right.legend(frameon=False)
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# How straight the lines are can be said in a number: the correlation of each feature that is ever
# used with ``d``.

used = message.max(0).values > 0
seen = [np.corrcoef(degrees, column)[0, 1] for column in message[:, used].T]
print(f"{int(used.sum())} of {model.width} features are used; correlation with d:", np.round(seen, 2))
