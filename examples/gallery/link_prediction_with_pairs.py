"""
Link prediction with pairs
==========================

Which ties are missing? Two nodes that are not tied have an encoding, too.
"""

# %%
# A tenth of the ties of a network are hidden, and the question is which pairs they were. A pair
# encoding (PD) describes two nodes by the intersection of their ego-networks. At ``k = 1`` that is
# their common neighbours, and how these are tied to each other: more than the number that the
# usual scores go by.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import elene

full = nx.relaxed_caveman_graph(60, 10, p=0.25, seed=1)
full.remove_edges_from(list(nx.selfloop_edges(full)))
rng = np.random.default_rng(0)
ties = np.array(full.edges)
hidden = ties[rng.choice(len(ties), len(ties) // 10, replace=False)]
seen = full.copy()
seen.remove_edges_from(map(tuple, hidden))
print(f"{seen.number_of_edges()} ties are seen, {len(hidden)} are hidden")

# %%
# As many pairs that are not tied at all are drawn beside them. Pairs that nothing joins would be
# too easy, so that only those at a distance of two in the network as it is seen are taken, on both
# sides.


def two_apart(pairs):
    return [
        tuple(map(int, pair)) for pair in pairs if not seen.has_edge(*pair) and any(nx.common_neighbors(seen, *pair))
    ]


candidates = two_apart(
    pair for pair in rng.choice(len(full), (20_000, 2)) if not full.has_edge(*pair) and pair[0] != pair[1]
)
positive = two_apart(hidden)
negative = candidates[: len(positive)]
pairs, answers = positive + negative, np.repeat([1, 0], [len(positive), len(negative)])
print(f"{len(positive)} hidden ties and as many others, all two steps apart")

# %%
# ``roots`` names the pairs to encode. The encodings are those in the network as it is seen:
# nothing of what is hidden goes in.

encoding = elene.encode(seen, k=[1, 2], level="pair", roots=pairs, compact=True)
model = make_pipeline(MaxAbsScaler(), LogisticRegression(C=1, max_iter=5000))
by_elene = cross_val_predict(model, encoding.matrix, answers, cv=10, method="decision_function")

scores = {
    "pair encodings, k = 1 and 2": by_elene,
    "common neighbours": [len(list(nx.common_neighbors(seen, *pair))) for pair in pairs],
    "Adamic-Adar": [score for _, _, score in nx.adamic_adar_index(seen, pairs)],
    "preferential attachment": [score for _, _, score in nx.preferential_attachment(seen, pairs)],
}
for name, score in scores.items():
    print(f"{name:28} AUC {roc_auc_score(answers, score):.3f}")

# %%
# On this network the number of common neighbours says most of it, and the encodings, which contain
# it, add a little. They go through a model that learns, in ten folds, from other pairs; the three
# scores are formulas and learn nothing.

figure, axis = plt.subplots(figsize=(5.6, 5), layout="constrained")
colours = ("#1b8a57", "#2f6fc4", "#b9770e", "#5d6670")
for (name, score), colour in zip(scores.items(), colours, strict=True):
    RocCurveDisplay.from_predictions(answers, score, name=name, ax=axis, curve_kwargs={"color": colour, "linewidth": 2})
axis.plot([0, 1], [0, 1], color="#a3abb5", linestyle=":")
axis.set(xlabel="false alarms", ylabel="hidden ties found", title="Which pairs were tied?")
axis.legend(frameon=False, loc="lower right")
axis.spines[["top", "right"]].set_visible(False)
