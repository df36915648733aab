"""
Molecules and scikit-learn
==========================

A pipeline that classifies molecules by their skeleton, and how deep it has to look.
"""

# %%
# The molecules are made up: a core of two rings, either fused (as in decalin) or joined by a bond
# (as in bicyclopentyl), with chains of carbon atoms grown onto it at random. Both cores have ten
# atoms and eleven bonds, and message passing cannot tell them apart: the smallest known trap for
# graph networks in chemistry.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import elene


def molecule(fused, rng):
    rings = [nx.cycle_graph(10)] if fused else [nx.cycle_graph(5), nx.cycle_graph(5)]
    graph = nx.disjoint_union_all(rings)
    graph.add_edge(0, 5)
    for atom in range(10, 10 + rng.integers(4, 12)):
        free = [other for other in graph if graph.degree[other] < 4]
        graph.add_edge(atom, int(rng.choice(free)))
    return nx.relabel_nodes(graph, dict(enumerate(rng.permutation(len(graph)).tolist())))


rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 160)
molecules = [molecule(label, rng) for label in labels]

figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained")
for axis, i in zip(axes, [*np.flatnonzero(labels == 0)[:2], *np.flatnonzero(labels == 1)[:2]], strict=True):
    graph = molecules[i]
    ring = {node for cycle in nx.minimum_cycle_basis(graph) for node in cycle}
    nx.draw(
        graph,
        nx.kamada_kawai_layout(graph),
        axis,
        node_size=60,
        width=1.5,
        edge_color="#a3abb5",
        node_color=["#1b8a57" if node in ring else "#2f6fc4" for node in graph],
    )
    axis.set(title="fused" if labels[i] else "joined", aspect="equal")
    axis.margins(0.1)

# %%
# An :class:`elene.Encoder` turns a list of graphs into a matrix, here with a row for each graph:
# the sum over its nodes. It has the parameters of :func:`elene.encode`, which a grid search may
# vary like any others.

model = make_pipeline(elene.Encoder(k=2, per="graph"), MaxAbsScaler(), LogisticRegression(C=10, max_iter=2000))
search = GridSearchCV(model, {"encoder__k": [1, 2], "encoder__form": ["marginal", "joint"]}, cv=5).fit(
    molecules, labels
)
print(search.best_params_)

# %%
# How deep must one look? At ``k = 0`` an encoding says that there is a node, at ``k = 1`` it sees
# triangles, of which there are none. Beside it stand the counts of the colours of 1-WL after as
# many rounds, which is what message passing could use.


def colours(graph, rounds):
    nx.set_node_attributes(graph, "C", "atom")
    return nx.weisfeiler_lehman_subgraph_hashes(graph, node_attr="atom", iterations=rounds)


def wl_features(graphs, rounds):
    bags = [[colour for per_node in colours(graph, rounds).values() for colour in per_node] for graph in graphs]
    place = {colour: i for i, colour in enumerate(sorted({colour for bag in bags for colour in bag}))}
    return np.array([np.bincount([place[colour] for colour in bag], minlength=len(place)) for bag in bags])


depths = [1, 2, 3]
classifier = make_pipeline(MaxAbsScaler(), LogisticRegression(C=10, max_iter=2000))
by_wl = [cross_val_score(classifier, wl_features(molecules, depth), labels, cv=5) for depth in depths]
by_elene = [cross_val_score(model.set_params(encoder__k=depth), molecules, labels, cv=5) for depth in depths]

figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for scores, name, colour in ((by_elene, "ELENE, depth k", "#1b8a57"), (by_wl, "1-WL, k rounds", "#5d6670")):
    means, spread = np.mean(scores, axis=1), np.std(scores, axis=1)
    axis.errorbar(depths, means, spread, marker="o", capsize=4, color=colour, label=name)
axis.axhline(max(labels.mean(), 1 - labels.mean()), color="#cb4335", linestyle=":", label="always the same answer")
axis.set(xticks=depths, xlabel="k", ylabel="accuracy, 5 folds", ylim=(0.4, 1.03))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)

# %%
# Which columns did it? Those with the largest weights are about nodes at distance two:

fitted = make_pipeline(elene.Encoder(k=2, per="graph"), MaxAbsScaler(), LogisticRegression(C=10, max_iter=2000))
fitted.fit(molecules, labels)
weights = fitted[-1].coef_[0]
for i in np.argsort(-abs(weights))[:6]:
    print(f"{weights[i]:+.2f}  {fitted[0].get_feature_names_out()[i]}")
