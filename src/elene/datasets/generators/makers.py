"""The data sets that are made here; each maker imports what it needs when it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from elene.datasets.collection import Collection
from elene.datasets.generators import strongly_regular
from elene.graph import Graph


def _family(members: Callable[[], Sequence[Graph]]) -> Collection:
    graphs = members()
    return Collection.of_graphs(graphs, np.arange(len(graphs)))


def _rook_and_shrikhande() -> list[Graph]:
    return [strongly_regular.rook(), strongly_regular.shrikhande()]


def _sr28() -> list[Graph]:
    return [strongly_regular.triangular(8), *strongly_regular.chang()]


def _counting() -> Collection:
    from elene.datasets.generators.counting import substructures

    return substructures(seed=0)


def _graph_properties() -> Collection:
    from elene.datasets.generators.properties import graph_properties

    return graph_properties(seed=1234)


def _proximity(h: int) -> Collection:
    from elene.datasets.generators.proximity import h_proximity

    return h_proximity(h, graphs=9000, seed=0)


def _pattern() -> Collection:
    from elene.datasets.generators.pattern import pattern

    return pattern(seed=0)


MAKERS: dict[str, Callable[[], Collection]] = {
    "rook-shrikhande": partial(_family, _rook_and_shrikhande),
    "sr16": partial(_family, _rook_and_shrikhande),
    "sr25": partial(_family, strongly_regular.sr25),
    "sr28": partial(_family, _sr28),
    "counting": _counting,
    "graph-properties": _graph_properties,
    **{f"proximity-{h}": partial(_proximity, h) for h in (1, 3, 5, 8, 10)},
    "pattern-generated": _pattern,
}
