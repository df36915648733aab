"""
A big network from the command line
===================================

From a file of edges to a table of features without a line of Python, and what the table shows.
"""

# %%
# A network of 100,000 nodes and about half a million edges is written as a plain edge list. It
# grows by preferential attachment, so that it has hubs, as most large networks do.

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from elene.datasets import barabasi_albert
from elene.plot import draw_ego

folder = Path(tempfile.mkdtemp())
network = barabasi_albert(100_000, 5, seed=0)
np.savetxt(folder / "edges.txt", network.edges, fmt="%d")
print(network, "largest degree", network.max_degree)


# %%
# The command reads it, encodes every node and writes a table that any tool opens. It shows how far
# it is, may be stopped with Ctrl-C, and goes on with ``--resume``. On the command line it is what
# follows the ``$``; here, a program types it.


def shell(command):
    print("$", command)
    words = [sys.executable, "-m", *command.split()]
    print(subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout)


shell("elene encode edges.txt -k 1 --max-degree 20 --compact -o features.parquet")

# %%

table = pd.read_parquet(folder / "features.parquet").set_index("node")
table.iloc[:3, :8]

# %%
# Columns are named after what they count. A neighbour of a node that has ``d`` ties around it
# closes ``d - 1`` triangles with it, so that the number of triangles of every node is a weighted
# sum of columns. Counts beyond ``--max-degree`` are clipped; around hubs, the sum is a lower
# bound.

degree = network.degrees[table.index.to_numpy()]
triangles = sum(table[f"k1.distance1.degree{d}"] * (d - 1) for d in range(2, 21)) / 2

figure, axis = plt.subplots(figsize=(7.4, 4.6), layout="constrained")
some = triangles > 0
drawn = axis.hexbin(
    degree[some], triangles[some], xscale="log", yscale="log", bins="log", gridsize=45, cmap="viridis", mincnt=1
)
figure.colorbar(drawn, label="nodes")
axis.set(xlabel="neighbours", ylabel="triangles, at least", title="Hubs, and how closed their surroundings are")

# %%
# One node of the network, as the encoding sees it: of those with at most a dozen neighbours, the
# one with most triangles. The command prints what is around it, and draws the picture.

node = triangles[degree <= 12].idxmax()
shell(f"elene explain edges.txt --node {node} -k 1 -o node.svg")
ego = draw_ego(network, node, k=1)
