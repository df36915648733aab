"""The lists of ego-networks that travel in a PyG graph: the names, rows and shifts of all ``ego_*`` keys, in one place.

:class:`elene.transforms.EgoStructure` writes them, PyG and the batches of experiments put graphs one behind the other,
and :meth:`elene.nn.Ego.of` reads them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch_geometric.data import Data

# The columns of ego_shape, a row a graph: its nodes, its undirected edges, the distinct quadruplets and pairs of them
# (rooted, inside); the arcs of the edge_index that the lists were made from, and a hash of them; the depth.
NODES, EDGES, QUADRUPLETS, ROOTED, INSIDE, ARCS, STAMP, DEPTH = range(8)


class Key(NamedTuple):
    """A list: of what it has a row each, of what its values are numbers, and the key of the rows that they number.

    Numbers of nodes and edges are shifted in a batch; codes are numbers in their own graph's rows, and stay.
    """

    rows: str
    numbers: str | None = None
    table: str | None = None


SCHEMA = {
    "ego_shape": Key("graph"),
    # Pairs (root, node), grouped by root
    "ego_size": Key("node"),
    "ego_node": Key("pair", numbers="node"),
    "ego_code": Key("pair", table="ego_quadruplet"),
    "ego_quadruplet": Key("quadruplet"),
    # Triples (root, edge), grouped by root; level="edge" only
    "ego_triples": Key("node"),
    "ego_edge": Key("triple", numbers="edge"),
    "ego_rooted": Key("triple", table="ego_rooted_pair"),
    "ego_inside": Key("triple", table="ego_inside_pair"),
    "ego_rooted_pair": Key("rooted pair"),
    "ego_inside_pair": Key("inside pair"),
    # The undirected edge of each arc of edge_index
    "ego_arc": Key("arc", numbers="edge"),
}
TABLES = ("ego_quadruplet", "ego_rooted_pair", "ego_inside_pair")  # in the order of their columns in ego_shape


def shift_of(key: str) -> str | None:
    """By the number of what a batch shifts the values of a key: ``"node"``, ``"edge"`` or None.

    >>> shift_of("edge_index"), shift_of("ego_edge"), shift_of("ego_code"), shift_of("x")
    ('node', 'edge', None, None)
    """
    return "node" if key == "edge_index" else SCHEMA[key].numbers if key in SCHEMA else None


def without_lists(storage: dict[str, Any]) -> dict[str, Any]:
    """What is stored besides the lists: those of another depth or level must not stay behind.

    >>> without_lists({"x": 1, "ego_node": 2})
    {'x': 1}
    """
    return {key: value for key, value in storage.items() if key not in SCHEMA}


class EgoData(Data):
    """A PyG ``Data`` whose ego-network lists are batched by their exact names.

    >>> EgoData(num_nodes=3).__inc__("ego_node", None)
    3
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key not in SCHEMA:
            return super().__inc__(key, value, *args, **kwargs)
        shift = shift_of(key)
        return self.num_nodes if shift == "node" else int(self.ego_shape[0, EDGES]) if shift == "edge" else 0

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        return 0 if key in SCHEMA else super().__cat_dim__(key, value, *args, **kwargs)


torch.serialization.add_safe_globals([EgoData])  # so that PyG loads processed data sets without unpickling at large
