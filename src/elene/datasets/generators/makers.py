"""The data sets that are made here, and how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from elene.datasets.collection import Collection
from elene.datasets.generators.counting import substructures
from elene.datasets.generators.pattern import pattern
from elene.datasets.generators.properties import graph_properties
from elene.datasets.generators.proximity import h_proximity
from elene.datasets.generators.strongly_regular import chang, rook, shrikhande, sr25, triangular
from elene.graph import Graph


def _family(*graphs: Graph) -> Collection:
    return Collection.of_graphs(graphs, np.arange(len(graphs)))


MAKERS: dict[str, Callable[[], Collection]] = {
    "rook-shrikhande": lambda: _family(rook(), shrikhande()),
    "sr16": lambda: _family(rook(), shrikhande()),
    "sr25": lambda: _family(*sr25()),
    "sr28": lambda: _family(triangular(8), *chang()),
    "counting": partial(substructures, seed=0),
    "graph-properties": partial(graph_properties, seed=1234),
    **{f"proximity-{h}": partial(h_proximity, h, graphs=9000, seed=0) for h in (1, 3, 5, 8, 10)},
    "pattern-generated": partial(pattern, seed=0),
}
