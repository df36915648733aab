"""
Your own data set
=================

From tables of edges and labels to a fitted, saved model, and to a data set of PyTorch Geometric.
"""

# %%
# Data often comes as two tables: one with an edge a row, which says which graph it belongs to, and
# one with the label of each graph. Here they are written first, to have something to read: small
# worlds (class 1) and random graphs (class 0) of equal size and density.

import pickle
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import elene

folder = Path(tempfile.mkdtemp())
made = [nx.watts_strogatz_graph(30, 4, 0.15, seed=seed) for seed in range(40)]
made += [nx.gnm_random_graph(30, 60, seed=seed) for seed in range(40)]
rows = [(i, f"node {u}", f"node {v}") for i, graph in enumerate(made) for u, v in graph.edges]
pd.DataFrame(rows, columns=["graph", "from", "to"]).to_csv(folder / "edges.csv", index=False)
pd.Series([1] * 40 + [0] * 40, name="class").to_csv(folder / "labels.csv", index_label="graph")

# %%
# Reading them is one ``groupby``. Ends may be numbers or names; nodes without any edge do not show
# in such a table, and do not come back from it.

edges = pd.read_csv(folder / "edges.csv")
labels = pd.read_csv(folder / "labels.csv", index_col="graph")["class"]
graphs = [elene.Graph.from_pandas(table, "from", "to") for _, table in edges.groupby("graph")]
graphs[0]

# %%
# The pipeline, checked in five folds; ``per="mean"`` gives each graph the mean of its nodes' rows,
# whatever its size.

encoder = elene.Encoder(k=1, per="mean", sparse_output=False).set_output(transform="pandas")
model = make_pipeline(encoder, LogisticRegression(C=100, max_iter=2000))
scores = cross_val_score(model, graphs, labels, cv=5)
print(f"accuracy {scores.mean():.0%} ({scores.min():.0%} to {scores.max():.0%} in a fold)")

# %%
# What separates them? The table has a name for each column, and the model a weight.

model.fit(graphs, labels)
table = model[0].transform(graphs)
weights = pd.Series(model[-1].coef_[0], index=table.columns).sort_values(key=abs).tail(8)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
flat = PCA(n_components=2).fit_transform(table)
for kind, colour, name in ((1, "#1b8a57", "small world"), (0, "#5d6670", "random")):
    left.scatter(*flat[labels == kind].T, color=colour, edgecolor="white", s=45, label=name)
left.set(title="each graph, by its mean encoding", xlabel="first component", ylabel="second component")
left.legend(frameon=False)
right.barh(weights.index, weights, color=np.where(weights > 0, "#1b8a57", "#5d6670"))
right.set(title="the largest weights", xlabel="for random graphs  |  for small worlds")
right.axvline(0, color="#22262b", linewidth=0.8)
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)

# %%
# A fitted pipeline is saved as any of scikit-learn is. Pickles run code when they are read: load
# only your own.

(folder / "model.pickle").write_bytes(pickle.dumps(model))
again = pickle.loads((folder / "model.pickle").read_bytes())
print("the same answers:", bool((again.predict(graphs) == model.predict(graphs)).all()))

# %%
# **For PyTorch Geometric** the same graphs become ``Data``, each direction of an edge a column of
# ``edge_index``; the transform adds the encodings as node features. A list of them goes into any
# ``DataLoader``.

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from elene.transforms import AddELENE

transform = AddELENE(k=1, max_degree=8, log1p=True)
dataset = []
for graph, label in zip(graphs, labels, strict=True):
    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T
    data = Data(edge_index=torch.from_numpy(arcs.copy()).long(), num_nodes=graph.num_nodes)
    data.y = torch.tensor([label])
    dataset.append(transform(data))
print(next(iter(DataLoader(dataset, batch_size=16))))
