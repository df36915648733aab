"""
Roles in a novel
================

Who plays a similar part in *Les Misérables*? Characters grouped by the shape of their circles, not by
whom they know.
"""

# %%
# Two characters are tied if they appear in the same chapter. Communities, the groups that most
# methods look for, gather characters who know each other. *Roles* are something else: two people
# who never meet may stand in the same place in their circles. Encodings say nothing about names,
# so that groups of similar encodings are roles.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import elene

novel = nx.les_miserables_graph()
encoding = elene.encode(novel, k=[1, 2], compact=True)
encoding

# %%
# Counts have long tails, so their logarithms go on. Two directions of the principal components are
# enough for a picture, and five groups for a story; both are choices, not findings.

vectors = np.log1p(encoding.matrix.toarray())
flat = PCA(n_components=2).fit_transform(vectors)
group = KMeans(n_clusters=5, n_init=10, random_state=0).fit_predict(vectors)

# Groups are numbered by how many neighbours their members have, so that colours have an order.
degrees = np.array([novel.degree[name] for name in encoding.nodes])
rank = np.argsort(np.argsort([degrees[group == number].mean() for number in range(5)]))
role = rank[group]
colours = np.array(["#a3abb5", "#2f6fc4", "#16848c", "#b9770e", "#cb4335"])[role]

# %%
# The network on the left has every character in its place; on the right stand those side by side
# whose surroundings look alike.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
places = nx.kamada_kawai_layout(novel, weight=None)
nx.draw_networkx_edges(novel, places, ax=left, edge_color="#c9ced4", width=0.7)
points = np.array([places[name] for name in encoding.nodes])
left.scatter(*points.T, c=colours, s=20 + 6 * degrees, edgecolor="white", zorder=2)
right.scatter(*flat.T, c=colours, s=20 + 6 * degrees, edgecolor="white")
for name in ("Valjean", "Gavroche", "Myriel", "Fantine", "Napoleon", "MmePontmercy"):
    i = encoding.nodes.tolist().index(name)
    for axis, place in ((left, points[i]), (right, flat[i])):
        axis.annotate(name, place, xytext=(4, 5), textcoords="offset points", size=9, weight="bold")
left.set_title("the network, coloured by role")
right.set(title="the same characters by their encodings", xlabel="first component", ylabel="second component")
left.set_axis_off()
right.spines[["top", "right"]].set_visible(False)

# %%
# What the groups are, in the words of the library: the mean of some columns in each of them.
# Napoleon and the other loose ends around the bishop have one tie each; members of the student
# society know nearly everybody around them.

table = encoding.to_pandas()
table["ties"], table["role"] = degrees, role
table["closed"] = [nx.clustering(novel, name) for name in encoding.nodes]
table.groupby("role")[["ties", "closed"]].mean().round(2).assign(characters=table.groupby("role").size())

# %%

for number in range(5):
    names = encoding.nodes[role == number]
    print(f"{number}: {', '.join(names[:9])}{', ...' if len(names) > 9 else ''}")
