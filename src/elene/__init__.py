"""Fast, exact ego-network encodings of nodes, edges and pairs (ELENE), and what is built on them.

Everything public is loaded on first use, so that ``import elene`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import elene.forking  # noqa: F401 - from now on, so that forks wait for what is loaded below

if TYPE_CHECKING:
    from elene.cluster import GraphStore as GraphStore
    from elene.encoding import Column as Column
    from elene.encoding import Comparison as Comparison
    from elene.encoding import Encoding as Encoding
    from elene.encoding import affected as affected
    from elene.encoding import compare as compare
    from elene.encoding import edge_quadruplets as edge_quadruplets
    from elene.encoding import encode as encode
    from elene.encoding import fingerprint as fingerprint
    from elene.encoding import quadruplets as quadruplets
    from elene.estimators import Encoder as Encoder
    from elene.graph import Graph as Graph
    from elene.graph import GraphWarning as GraphWarning

__version__ = "0.1.0"

_HOMES = {
    "Column": "encoding",
    "Encoding": "encoding",
    "encode": "encoding",
    "Encoder": "estimators",
    "affected": "encoding",
    "Comparison": "encoding",
    "compare": "encoding",
    "fingerprint": "encoding",
    "Graph": "graph",
    "GraphStore": "cluster",
    "GraphWarning": "graph",
    "edge_quadruplets": "encoding",
    "quadruplets": "encoding",
}
_ROOMS = ("baselines", "cluster", "datasets", "experiments", "nn", "plot", "transforms")

__all__ = [*_HOMES, *_ROOMS, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(f"elene.{_HOMES[name]}"), name)
        return found
    if name in _ROOMS:
        return import_module(f"elene.{name}")
    raise AttributeError(f"module 'elene' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
