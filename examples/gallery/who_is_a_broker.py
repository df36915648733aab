"""
Who is a broker?
================

Node classification in a social network: find those who hold groups together, in a network that was never seen.
"""

# %%
# Colleagues work in teams where nearly everybody knows everybody. *Brokers* know as many people,
# but in different teams; *newcomers* know a few. The number of ties does not tell brokers from
# team members: who these are tied with does. The networks are made up, so that the right answers
# are known.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import ConfusionMatrixDisplay, balanced_accuracy_score

import elene

KINDS = ["team member", "broker", "newcomer"]


def office(seed, teams=14, size=7):
    rng = np.random.default_rng(seed)
    network, kind = nx.Graph(), {}
    for team in range(teams):
        members = range(team * size, (team + 1) * size)
        pairs = [(a, b) for a in members for b in members if a < b and rng.random() < 0.85]
        network.add_edges_from(pairs)
        kind |= dict.fromkeys(members, 0)
    people = teams * size
    for broker in range(people, people + 12):
        others = rng.choice(people, rng.integers(3, 9), replace=False)
        network.add_edges_from((broker, int(other)) for other in others)
        kind[broker] = 1
    for newcomer in range(people + 12, people + 32):
        friends = network.neighbors(int(rng.integers(people)))
        network.add_edges_from([(newcomer, friend) for friend in list(friends)[:2]])
        kind[newcomer] = 2
    return network, np.array([kind[node] for node in network])


(known, answers), (unseen, hidden) = office(seed=1), office(seed=2)

# %%
# Train on one office, test on another: nothing about single nodes can be carried over, only what
# their surroundings look like. ``max_degree`` fixes the columns, so that both matrices have the
# same.


def features(network, k):
    return elene.encode(network, k=k, max_degree=12).matrix.toarray()


def degrees(network):
    return np.array([[network.degree[node]] for node in network])


def score(train, test):
    forest = RandomForestClassifier(200, class_weight="balanced", random_state=0).fit(train, answers)
    return balanced_accuracy_score(hidden, forest.predict(test)), forest.predict(test)


ways = {
    "degree": score(degrees(known), degrees(unseen)),
    "ELENE, k = 1": score(features(known, 1), features(unseen, 1)),
    "ELENE, k = 2": score(features(known, 2), features(unseen, 2)),
}
for way, (accuracy, _) in ways.items():
    print(f"{way:14} {accuracy:.0%} balanced accuracy in the other office")

# %%

best = max(ways, key=lambda way: ways[way][0])
predicted = ways[best][1]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained", width_ratios=(1.5, 1))
places = nx.spring_layout(unseen, seed=3, k=0.22, iterations=100)
nx.draw_networkx_edges(unseen, places, ax=left, edge_color="#c9ced4", width=0.6)
points = np.array([places[node] for node in unseen])
for kind, colour in enumerate(("#2f6fc4", "#cb4335", "#b9770e")):
    mine = predicted == kind
    left.scatter(*points[mine].T, s=34, color=colour, edgecolor="white", label=KINDS[kind], zorder=2)
wrong = predicted != hidden
left.scatter(*points[wrong].T, s=130, facecolor="none", edgecolor="#22262b", label="wrong", zorder=3)
left.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, -0.06), handletextpad=0.1)
left.set_title(f"the unseen office as predicted by {best}")
left.set_axis_off()
ConfusionMatrixDisplay.from_predictions(
    hidden, predicted, display_labels=KINDS, cmap="Greens", ax=right, colorbar=False
)
right.set_title("who was taken for whom")
