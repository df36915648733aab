"""
Unusual spots in a grid
=======================

A power grid or a street map is regular nearly everywhere. Where it is not, the ego-network is rare.
"""

# %%
# A grid of 24 by 24 crossings, rolled up in both directions so that it has no border, and three
# things that went wrong: a line that is cut, a short cut across the map, and a station that lost
# three of its four lines.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import elene

side = 24
grid = nx.grid_2d_graph(side, side, periodic=True)
grid.remove_edge((4, 6), (5, 6))
grid.add_edge((8, 17), (17, 15))
grid.remove_edges_from([((18, 5), (18, 6)), ((18, 5), (19, 5)), ((18, 5), (18, 4))])

# %%
# The encoding of a node is a row of counts. How unusual a node is, is how few nodes share its row.
# Nothing is learned, no threshold is set, and a node far from all three has the same row as all
# the others like it.

encoding = elene.encode(grid, k=2)
_, kind, size = np.unique(encoding.matrix.toarray(), axis=0, return_inverse=True, return_counts=True)
surprise = -np.log10(size[kind] / len(encoding))
print(f"{len(size)} kinds of surroundings; the usual one has {size.max()} of {len(encoding)} nodes")

# %%

figure, axis = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
shown = np.zeros((side, side))
for (row, column), value in zip(encoding.nodes, surprise, strict=True):
    shown[row, column] = value
image = axis.imshow(shown, cmap="magma_r", vmin=0)
axis.plot([17, 15], [8, 17], color="#2f6fc4", linewidth=2)
for text, (row, column) in {"cut line": (4.5, 6), "short cut": (11, 17), "lost lines": (18, 5)}.items():
    axis.annotate(text, (column, row), xytext=(30, 4), textcoords="offset points", size=10, weight="bold")
figure.colorbar(image, label="surprise: $-\\log_{10}$ of the share of nodes that look the same")
axis.set(title="How rare each crossing's surroundings are (k = 2)", xticks=[], yticks=[])

# %%
# Only nodes near a change differ from the rest: an encoding of depth ``k`` sees no farther than
# that. The rarest node of all comes first:

order = np.argsort(-surprise, kind="stable")
print("the rarest:", [tuple(map(int, encoding.nodes[i])) for i in order[:6]])
print("not usual:", int((surprise > surprise.min()).sum()), "of", len(encoding))

# %%
# :func:`elene.quadruplets` says what one of them sees. The station that lost three lines has one
# neighbour left:

for quadruplet, count in sorted(elene.quadruplets(grid, (18, 5), k=2).items()):
    print(count, "x", quadruplet)
