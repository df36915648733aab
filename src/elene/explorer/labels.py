"""Labels of nodes on the page: how they are called, and which colour each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.graph import Graph, Labels

MOST_SHADES = 7  # colours that are told apart at a glance; what is rarer is grey
RARER = "label-rarer"
ROOT, OUTSIDE = "mark-root", "mark-outside"  # in legends where colours are labels: marks that are none
READING = (
    "Below the name stands the label, which is also the colour: the legend says how many of the nodes in sight have "
    "each."
)

Legend = tuple[tuple[str, str], ...]
Shades = Mapping[str, str]


class NodeLabels(NamedTuple):
    """The labels that occur in a graph, as text, and the place of each node's among them.

    >>> labels = NodeLabels.of(Graph.from_edges([(0, 1)], labels=["N", "C"]))
    >>> labels.texts, labels.text(0)
    (['C', 'N'], 'N')
    """

    texts: list[str]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> NodeLabels | None:
        """Those of a graph; None where it has none."""
        if graph.labels is None:
            return None
        found, places = graph.classes
        return cls([str(label) for label in Labels(found, graph.label_names).values.tolist()], places.astype(np.int64))

    def text(self, position: int) -> str:
        """The label of the node at a position."""
        return self.texts[int(self.which[position])]

    def counts(self, nodes: NDArray[np.int64] | None = None) -> Counter[str]:
        """How many of some nodes, by default of all, have each label."""
        which = self.which if nodes is None else self.which[nodes]
        times = np.bincount(which, minlength=len(self.texts)).tolist()
        return Counter({text: count for text, count in zip(self.texts, times, strict=True) if count})


def shades_of(counts: Mapping[str, int]) -> Shades:
    """A colour for each label: the most frequent have their own.

    >>> shades_of({"H": 10, "C": 8})
    {'H': 'label0', 'C': 'label1'}
    """
    often = sorted(counts, key=lambda text: (-counts[text], text))
    return {text: f"label{place}" if place < MOST_SHADES else RARER for place, text in enumerate(often)}


def label_legend(shades: Shades, counts: Mapping[str, int]) -> Legend:
    """What colours mean, and how many nodes in sight have each label; rare labels share a colour and a line.

    >>> label_legend({"C": "label0", "H": "label1"}, {"H": 3})
    (('label1', 'H (3)'),)
    """
    own = [(shade, f"{text} ({counts[text]:,})") for text, shade in shades.items() if counts.get(text)]
    legend = [(shade, words) for shade, words in own if shade != RARER]
    rarer = [text for text, shade in shades.items() if shade == RARER and counts.get(text)]
    if len(rarer) > 1:
        legend.append((RARER, f"{len(rarer):,} rarer labels ({sum(counts[text] for text in rarer):,})"))
    return (*legend, *(line for line in own if line[0] == RARER and len(rarer) == 1))
