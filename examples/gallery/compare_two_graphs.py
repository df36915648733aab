"""
Compare two graphs
==================

Two molecules and two famous strongly regular graphs that message passing cannot tell apart, and what can.
"""

# %%
# Decalin has two rings of six atoms that share a bond, bicyclopentyl two rings of five that are
# joined by one. Both have ten atoms and eleven bonds, and every atom has neighbours of the same
# kinds in both: to a message-passing network, which is at most as strong as the colour refinement
# 1-WL, they are one and the same graph.

import matplotlib.pyplot as plt
import networkx as nx

import elene
from elene.datasets import rook, shrikhande
from elene.plot import draw_intersection

decalin = nx.cycle_graph(10)
decalin.add_edge(0, 5)
bicyclopentyl = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
bicyclopentyl.add_edge(0, 5)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, graph, name in zip(axes, (decalin, bicyclopentyl), ("decalin", "bicyclopentyl"), strict=True):
    places = nx.kamada_kawai_layout(graph)
    colours = ["#1b8a57" if graph.degree[node] == 3 else "#2f6fc4" for node in graph]
    nx.draw(graph, places, axis, node_color=colours, node_size=260, width=2, edge_color="#a3abb5")
    axis.set(title=name, aspect="equal")
    axis.margins(0.15)

# %%
# :func:`elene.compare` tries depths in turn and says what tells two graphs apart, or that nothing
# did. At ``k=0`` the encodings say nothing, so that 1-WL runs alone:

print(elene.compare(decalin, bicyclopentyl, k=0, level="node").distinguished)

# %%
# With the ego-networks of nodes it is one look: from an atom where the rings meet, some atoms two
# steps away are neighbours of each other in a ring of five, and never in a ring of six.

elene.compare(decalin, bicyclopentyl, level="node")

# %%
# **Where nodes do not help.** In the Rook graph and in the Shrikhande graph every node has six
# neighbours, every two adjacent nodes share two of them, and so do every two others. All
# ego-networks of nodes look alike, at any depth.

elene.compare(rook(), shrikhande(), level="node")

# %%
# An edge has two ends, and what both of them see differs: the two shared neighbours are joined in
# the Rook graph, and not in the Shrikhande graph.

elene.compare(rook(), shrikhande(), level="edge")

# %%
# The picture of one edge of each. Nodes carry (closer, degree, farther) as seen from either end.

of_rook = draw_intersection(rook(), u=0, v=1, k=1)

# %%

of_shrikhande = draw_intersection(shrikhande(), u=0, v=1, k=1)

# %%
# :func:`elene.fingerprint` gives a string for each graph instead: equal for graphs that differ
# only in the numbering of their nodes, so that it finds duplicates in a collection.

graphs = [decalin, bicyclopentyl, nx.relabel_nodes(decalin, lambda node: 9 - node)]
print([elene.fingerprint(graph, k=2)[:8] for graph in graphs])
