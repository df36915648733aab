"""
BREC without learning
=====================

Pairs of graphs made to be hard to tell apart, and how many of them each kind of encoding separates.
"""

# %%
# BREC is a benchmark of 400 pairs of different graphs that look alike to message passing. Its file
# is not part of this library: where the folder ``ELENE_DATA`` has it, every eighth pair is taken;
# elsewhere, pairs are made up from two families that are as mean: strongly regular graphs with the
# same parameters, and cycles with chords.

import os
from collections import Counter
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import elene
from elene.datasets import BrecPair, chang, read_brec, rook, shrikhande, sr25, triangular


def make_up():
    regular = [*combinations(sr25()[:5], 2), (rook(), shrikhande())]
    regular += [(triangular(8), graph) for graph in chang()]
    chords = [nx.circulant_graph(41, [1, step]) for step in (2, 3, 4, 5, 6, 9)]
    kinds = {"strongly regular": regular, "cycles with chords": combinations(chords, 2)}
    return [BrecPair(0, kind, kind, a, b) for kind, pairs in kinds.items() for a, b in pairs]


file = Path(os.environ.get("ELENE_DATA", "."), "brec_pairs.tsv")
pairs = read_brec(file)[::8] if file.exists() else make_up()
sizes = Counter(pair.category for pair in pairs)
print(dict(sizes))

# %%
# A fingerprint that differs proves that two graphs do. The methods, from weak to strong: the
# colour refinement 1-WL alone (``k = 0`` says nothing), which is what message passing can do at
# most, then encodings of nodes, of edges and of pairs.

METHODS = {
    "1-WL": {"k": 0, "level": "node"},
    "ND, k = 2, with 1-WL": {"k": 2, "level": "node"},
    "ED, k = 1 to 3, with 1-WL": {"k": [1, 2, 3], "level": "edge"},
    "PD, k = 1 to 3, bare": {"k": [1, 2, 3], "level": "pair", "refine": None},
    "PD, k = 1, with 2-FWL": {"k": 1, "level": "pair", "refine": "2fwl"},
}


def separated(method):
    told = [pair.category for pair in pairs if apart(pair, method)]
    return np.array([Counter(told)[category] for category in sizes])


def apart(pair, method):
    return elene.fingerprint(pair.a, **method) != elene.fingerprint(pair.b, **method)


counts = {name: separated(method) for name, method in METHODS.items()}
for name, found in counts.items():
    print(f"{name:27} {found.sum():3} of {len(pairs)}")

# %%

figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
left = np.zeros(len(METHODS))
names = list(METHODS)[::-1]
colours = ("#1b8a57", "#2f6fc4", "#b9770e", "#7d4fa3")
for i, category in enumerate(sizes):
    widths = np.array([counts[name][i] for name in names])
    axis.barh(names, widths, left=left, color=colours[i], label=f"{category} ({sizes[category]})")
    left += widths
axis.axvline(len(pairs), color="#22262b", linewidth=1, linestyle=":")
axis.set(xlabel=f"pairs told apart, of {len(pairs)}", xlim=(0, len(pairs) * 1.02))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.4, 1))

# %%
# No graph was trained on, no seed was drawn, and the answer does not depend on the numbering of
# nodes. All 400 pairs on the command line: ``elene brec --file brec_pairs.tsv``.
