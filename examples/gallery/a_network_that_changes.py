"""
A network that changes
======================

After a change, only the nodes near it have to be encoded again. Which ones, and how many?
"""

# %%
# A road network, made up: crossings at random places, joined where they are near. Then a road is
# closed.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import elene

roads = nx.random_geometric_graph(700, 0.062, seed=4)
places = nx.get_node_attributes(roads, "pos")
before = elene.Graph.from_networkx(roads)
encoding = elene.encode(before, k=2, max_degree=before.max_degree)


def length(road):
    return np.hypot(*np.subtract(*[places[end] for end in road]))


middle = [road for road in roads.edges if all(np.hypot(*np.subtract(places[end], 0.5)) < 0.15 for end in road)]
closed = max(middle, key=length)
after = elene.Graph.from_networkx(nx.restricted_view(roads, [], [closed]).copy())

# %%
# :func:`elene.affected` names the nodes whose encoding a change of these edges may touch: those
# within ``k`` steps of both of their ends. It is given the graph that has the edges, here the one
# before.

touched = elene.affected(before, [closed], k=2)
print(f"{len(touched)} of {before.num_nodes} nodes to encode again")

# %%
# Encode these, put their rows in place of the old ones, and compare with everything encoded anew:

again = elene.encode(after, k=2, max_degree=before.max_degree, roots=touched)
updated = encoding.matrix.tolil()
updated[before.positions(touched)] = again.matrix
everything = elene.encode(after, k=2, max_degree=before.max_degree)
print("equal to encoding everything:", (updated.tocsr() != everything.matrix).nnz == 0)

# %%

figure, axis = plt.subplots(figsize=(6.4, 6), layout="constrained")
points = np.array([places[node] for node in before.nodes])
changed = np.zeros(len(points), bool)
changed[before.positions(touched)] = True
nx.draw_networkx_edges(roads, places, ax=axis, edge_color="#c9ced4", width=0.8)
axis.scatter(*points[~changed].T, s=12, color="#a3abb5", label="as before")
axis.scatter(*points[changed].T, s=46, color="#cb4335", edgecolor="white", label="encoded again", zorder=3)
ends = np.array([places[end] for end in closed])
axis.plot(*ends.T, color="#22262b", linewidth=3, label="closed road", zorder=4)
axis.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, -0.04))
axis.set(title="What a closed road changes (k = 2)", aspect="equal")
axis.set_axis_off()
