"""EgoStructure: the lists that ELENE-L sums over, added to single graphs or to whole data sets at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.transforms import BaseTransform

from elene.csr import pointers
from elene.engine.reading import ego_members, ego_triples
from elene.graph import Graph
from elene.inmemory import restored, stored, whole
from elene.transforms.arcs import number_arcs, read_arcs, stamp_arcs
from elene.transforms.schema import SCHEMA, TABLES, EgoData, without_lists
from elene.validation import check_choice, check_integer

Counts = NDArray[np.int64]


class EgoStructure(BaseTransform):  # type: ignore[misc]
    """Add what ELENE-L needs: every (root, node) pair of the k-hop ego-networks, with the number of its quadruplet.

    With ``level="edge"`` also every (root, edge) triple, with the numbers of two unordered pairs of quadruplets: those
    of the edge's ends in the root's ego-network, and those of the root in the intersection of the ends' ego-networks.

    A pair takes 6 bytes, a triple 8. Read the lists with :meth:`elene.nn.Ego.of`; their names begin with ``ego_``. They
    know the ``edge_index`` they were made from, and are refused beside another one: this transform goes last, after all
    that changes nodes or edges.

    Args:
        k: depth of the ego-networks.
        level: ``"node"`` or ``"edge"``.
        max_degree: larger values count as this one; by default nothing is clipped here.

    Example:
        >>> from torch_geometric.data import Data
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> data = EgoStructure(k=1)(path)
        >>> data.ego_size.tolist(), data.ego_node.tolist()
        ([2, 3, 2], [0, 1, 1, 0, 2, 2, 1])
        >>> data.ego_quadruplet[data.ego_code[:2].long()].tolist()
        [[0, 0, 1, 1], [1, 1, 1, 0]]
    """

    def __init__(self, k: int, level: str = "node", max_degree: int | None = None) -> None:
        check_choice("level", level, ("node", "edge"))
        self.k = check_integer("k", k)
        self.level = level
        self.max_degree = None if max_degree is None else check_integer("max_degree", max_degree)

    def __repr__(self) -> str:
        return f"EgoStructure(k={self.k}, level={self.level!r}, max_degree={self.max_degree})"

    def forward(self, data: Data) -> EgoData:
        """A copy of the data with the lists added."""
        arcs = read_arcs(data)
        graph = Graph.from_pyg(data)
        result = EgoData(**without_lists(data.to_dict()))
        if "num_nodes" not in result:
            result.num_nodes = data.num_nodes
        return self.write(result, graph, arcs)

    def write(self, data: EgoData, graph: Graph, arcs: NDArray[Any], whole: int | None = None) -> EgoData:
        """Put the lists of a graph into a data that has its ``arcs`` for an ``edge_index``; gives the data.

        Where the graph is a part of a larger one, only the first ``whole`` nodes have all of their ego-networks in it,
        and the others get no lists.
        """
        lists = self._lists(graph, arcs, whole)
        rows = {key: np.array([len(lists[key])]) for key in TABLES if key in lists}
        sizes = np.array([graph.num_nodes]), np.array([graph.num_edges]), np.array([arcs.shape[1]])
        lists["ego_shape"] = self._shape(arcs, *sizes, rows)
        for key, values in lists.items():
            data[key] = torch.from_numpy(np.ascontiguousarray(values))
        return data

    def prepare(self, dataset: InMemoryDataset) -> InMemoryDataset:
        """A copy of an in-memory data set with the lists added to all graphs in one go, as if one by one.

        >>> from torch_geometric.data import Data
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> dataset = InMemoryDataset()
        >>> dataset.data, dataset.slices = InMemoryDataset.collate([path, path])
        >>> EgoStructure(k=1).prepare(dataset)[1].ego_node.tolist()
        [0, 1, 1, 0, 2, 2, 1]
        """
        dataset = whole(dataset)
        data, slices = stored(dataset)
        if slices is None:  # PyG's way to keep a single graph
            return restored(dataset, self(data), None)
        nodes, arcs = _sizes(dataset)
        union_arcs = read_arcs(data) + np.repeat(pointers(nodes)[:-1], arcs)
        lists, counts = self._split(union_arcs, nodes, arcs)
        found = {key: torch.from_numpy(values) for key, values in lists.items()}
        ends = {key: torch.from_numpy(pointers(count)) for key, count in counts.items()}
        return restored(dataset, EgoData(**without_lists(data.to_dict()), **found), {**without_lists(slices), **ends})

    def _lists(self, graph: Graph, arcs: NDArray[Any], whole: int | None = None) -> dict[str, NDArray[Any]]:
        rho = graph.max_degree if self.max_degree is None else min(self.max_degree, graph.max_degree)
        members = ego_members(graph, self.k, rho, whole)
        lists: dict[str, NDArray[Any]] = {
            "ego_size": members.sizes.astype(np.int32),
            "ego_node": members.nodes.astype(np.int32),
            "ego_code": _compact(members.codes, members.quadruplets),
            "ego_quadruplet": members.quadruplets.astype(np.int32),
        }
        if self.level == "node":
            return lists
        found = ego_triples(graph, self.k, rho, whole)
        return lists | {
            "ego_triples": found.sizes.astype(np.int32),
            "ego_edge": found.edges,
            "ego_rooted": _compact(found.rooted, found.rooted_pairs),
            "ego_inside": _compact(found.inside, found.inside_pairs),
            "ego_rooted_pair": found.rooted_pairs.astype(np.int32),
            "ego_inside_pair": found.inside_pairs.astype(np.int32),
            "ego_arc": number_arcs(graph, arcs),
        }

    def _shape(
        self, arcs: NDArray[Any], nodes: Counts, edges: Counts, num_arcs: Counts, rows: dict[str, Counts]
    ) -> NDArray[np.int64]:
        """``ego_shape`` of graphs with so many nodes, edges, arcs and rows of each table."""
        tables = [rows.get(key, np.zeros_like(nodes)) for key in TABLES]
        stamps = stamp_arcs(arcs, nodes, num_arcs, self.level == "edge")
        return np.stack([nodes, edges, *tables, num_arcs, stamps, np.full_like(nodes, self.k)], axis=1)

    def _split(
        self, arcs: NDArray[Any], nodes: Counts, num_arcs: Counts
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Counts]]:
        """The lists of a union of graphs, each graph numbered by itself, and how many rows of each one a graph has."""
        union = Graph.from_pyg(arcs, num_nodes=int(nodes.sum()))
        lists, edges = self._lists(union, arcs), num_arcs // 2
        rows = {"graph": np.ones_like(nodes), "node": nodes, "edge": edges, "arc": num_arcs}
        rows["pair"] = _per_graph(lists["ego_size"], nodes)
        if self.level == "edge":
            rows["triple"] = _per_graph(lists["ego_triples"], nodes)
        for key, (of, numbers, table) in SCHEMA.items():
            if key in lists and numbers is not None:
                lists[key] = _shifted_back(lists[key], rows[of], rows[numbers])
            if key in lists and table is not None:
                lists[key], lists[table], rows[SCHEMA[table].rows] = _localised(lists[key], lists[table], rows[of])
        tables = {key: rows[SCHEMA[key].rows] for key in TABLES if key in lists}
        lists["ego_shape"] = self._shape(arcs, nodes, edges, num_arcs, tables)
        return lists, {key: rows[SCHEMA[key].rows] for key in lists}


def _sizes(dataset: InMemoryDataset) -> tuple[Counts, Counts]:
    """The nodes and arcs of each graph of a data set."""
    _, slices = stored(dataset)
    arcs = np.diff(np.asarray(slices["edge_index"]))
    if "x" in slices:
        return np.diff(np.asarray(slices["x"])), arcs
    return np.array([dataset.get(i).num_nodes for i in range(len(arcs))], dtype=np.int64), arcs


def _per_graph(sizes: NDArray[Any], nodes: Counts) -> Counts:
    """The sum of the nodes' sizes in each graph."""
    return np.diff(pointers(sizes)[pointers(nodes)])


def _shifted_back(numbers: NDArray[Any], counts: Counts, numbered: Counts) -> NDArray[np.int32]:
    """Numbers in a union as numbers in each graph, which has so many of them, and so many of what they number."""
    shifted: NDArray[np.int32] = (numbers - np.repeat(pointers(numbered)[:-1], counts)).astype(np.int32)
    return shifted


def _localised(
    codes: NDArray[Any], rows: NDArray[np.int32], counts: Counts
) -> tuple[NDArray[Any], NDArray[np.int32], Counts]:
    """Codes into rows of all graphs as codes into rows of each graph, and how many rows each has."""
    from elene.kernels.structure import localise

    local, picked, sizes = localise(codes, counts, len(rows))
    return local.astype(np.int16) if sizes.max(initial=0) < 2**15 else local, rows[picked], sizes


def _compact(codes: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    return codes.astype(np.int16 if len(rows) < 2**15 else np.int32)
