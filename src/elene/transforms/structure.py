"""PyG transforms: AddELENE puts encodings into features, EgoStructure adds the lists that ELENE-L sums over."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.transforms import BaseTransform

from elene.encoding import Encoding
from elene.encoding.encoding import encode_rows, find_rows
from elene.encoding.spec import Spec
from elene.engine.reading import ego_members, ego_triples
from elene.graph import Graph, as_graph, disjoint_union, pyg_arcs
from elene.validation import brief, check_choice, check_integer, check_list

# The columns of ego_shape, a row a graph: its nodes, its undirected edges, the distinct quadruplets and pairs of them
# (rooted, inside); the arcs of the edge_index that the lists were made from, and a hash of them; the depth.
NODES, EDGES, QUADRUPLETS, ROOTED, INSIDE, ARCS, STAMP, DEPTH = range(8)

# How batching shifts each key: by nodes, by undirected edges, or not at all. Exact names, nothing guessed.
SHIFTED_BY_NODES = frozenset({"ego_node"})
SHIFTED_BY_EDGES = frozenset({"ego_edge", "ego_arc"})
NOT_SHIFTED = frozenset(
    {
        "ego_shape",
        "ego_size",
        "ego_code",
        "ego_quadruplet",
        "ego_triples",
        "ego_rooted",
        "ego_inside",
        "ego_rooted_pair",
        "ego_inside_pair",
    }
)


EGO_KEYS = SHIFTED_BY_NODES | SHIFTED_BY_EDGES | NOT_SHIFTED


class AddELENE(BaseTransform):  # type: ignore[misc]
    """Concatenate encodings to ``x`` or, with ``level="edge"``, to ``edge_attr``; either is created where absent.

    All graphs must get the same columns: fix them with ``max_degree`` (marginal and product forms) or learn them from a
    data set with :meth:`fit`; the joint form always needs :meth:`fit`.

    Args:
        k: depth of the ego-networks, or several depths.
        level: ``"node"`` or ``"edge"``.
        degrees: ``"relative"`` (ELENE) or ``"absolute"`` (IGEL).
        form: ``"marginal"``, ``"joint"`` or, for edges, ``"product"``; see :func:`elene.encode`.
        max_degree: larger values count as this one.
        log1p: add log(1 + count) instead of counts.

    Example:
        >>> from torch_geometric.data import Data
        >>> path = Data(x=torch.zeros(3, 2), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> AddELENE(k=1, max_degree=2)(path).x.shape
        torch.Size([3, 20])
        >>> AddELENE(k=1, form="joint").fit([path])(path).x[:, 2:].tolist()
        [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 0.0]]
    """

    def __init__(
        self,
        k: int | Sequence[int],
        level: str = "node",
        degrees: str = "relative",
        form: str = "marginal",
        max_degree: int | None = None,
        log1p: bool = False,
    ) -> None:
        check_choice("level", level, ("node", "edge"))
        self.spec = Spec.of(k, level, degrees, form, max_degree)
        self.log1p = log1p
        self.table: NDArray[np.int64] | None = None
        if max_degree is not None and form != "joint":
            self._fix_columns(max_degree)

    def __repr__(self) -> str:
        # PyG compares this to decide whether a cached data set is stale, so what was learned belongs in it.
        spec = self.spec
        columns = (
            "not fitted" if self.table is None else hashlib.blake2b(self.table.tobytes(), digest_size=8).hexdigest()
        )
        return (
            f"AddELENE(k={list(spec.depths)}, level={spec.level!r}, degrees={spec.degrees!r}, form={spec.form!r}, "
            f"max_degree={spec.max_degree}, log1p={self.log1p}, columns={columns})"
        )

    def fit(self, dataset: Iterable[Data]) -> AddELENE:
        """Learn the columns from the training graphs; gives the transform itself."""
        graphs = [as_graph(data, "a graph of dataset") for data in check_list("dataset", dataset, "graphs")]
        if self.spec.form == "joint":
            encoding = self._encode(disjoint_union(graphs))
            self.table = encoding.onto(encoding.table).table
        else:
            rho = self.spec.max_degree
            self._fix_columns(max((graph.max_degree for graph in graphs), default=0) if rho is None else rho)
        return self

    def _fix_columns(self, rho: int) -> None:
        self.spec = replace(self.spec, max_degree=rho)
        self.table = np.vstack([self.spec.marginal_table(depth, rho) for depth in self.spec.depths])

    def _encode(self, graph: Graph) -> Encoding:
        return encode_rows(graph, self.spec, find_rows(graph, self.spec, None), None)

    def forward(self, data: Data) -> Data:
        """A copy of the data with the encodings added."""
        if self.table is None:
            raise ValueError(
                "AddELENE does not know its columns yet: pass max_degree, or call fit(training_graphs) first"
            )
        arcs = _arcs(data)
        graph = Graph.from_pyg(data)
        encoding = self._encode(graph)
        matrix = encoding.onto(self.table).matrix if self.spec.form == "joint" else encoding.matrix
        values = torch.from_numpy(matrix.toarray()).float()
        values = values.log1p() if self.log1p else values
        if self.spec.level == "edge":
            values = values[torch.from_numpy(_number_arcs(graph, arcs)).long()]
        key = "x" if self.spec.level == "node" else "edge_attr"
        result = copy.copy(data)
        result[key] = _beside(data.get(key), values.to(data.edge_index.device), key)
        return result


def _beside(old: Tensor | None, new: Tensor, name: str) -> Tensor:
    """New columns beside the old ones, whose type is kept if it is a floating one."""
    if old is None:
        return new
    if len(old) != len(new):
        raise ValueError(f"{name} has {len(old)} rows, and the graph needs {len(new)}")
    old = old[:, None] if old.dim() == 1 else old
    dtype = old.dtype if old.is_floating_point() else new.dtype
    return torch.cat([old.to(dtype), new.to(dtype)], dim=1)


class EgoData(Data):
    """A PyG ``Data`` whose ego-network lists are batched by their exact names.

    >>> EgoData(num_nodes=3).__inc__("ego_node", None)
    3
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key in SHIFTED_BY_NODES:
            return self.num_nodes
        if key in SHIFTED_BY_EDGES:
            return int(self.ego_shape[0, EDGES])
        if key in NOT_SHIFTED:
            return 0
        return super().__inc__(key, value, *args, **kwargs)

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        return 0 if key in EGO_KEYS else super().__cat_dim__(key, value, *args, **kwargs)


torch.serialization.add_safe_globals([EgoData])  # so that PyG loads processed data sets without unpickling at large


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
        arcs = _arcs(data)
        graph = Graph.from_pyg(data)
        result = EgoData(**_without_lists(data.to_dict()))
        if "num_nodes" not in result:
            result.num_nodes = data.num_nodes
        lists = self._pairs(graph)
        if self.level == "edge":
            lists |= self._triples(graph)
            lists["ego_arc"] = _number_arcs(graph, arcs)
        counts = [
            len(lists[key]) if key in lists else 0 for key in ("ego_quadruplet", "ego_rooted_pair", "ego_inside_pair")
        ]
        sizes = np.array([[graph.num_nodes], [arcs.shape[1]]])
        stamp = stamp_arcs(arcs, *sizes, self.level == "edge")[0]
        row = [graph.num_nodes, graph.num_edges, *counts, arcs.shape[1], stamp, self.k]
        shape = np.array([row], dtype=np.int64)
        for key, values in {"ego_shape": shape, **lists}.items():
            result[key] = torch.from_numpy(np.ascontiguousarray(values))
        return result

    def prepare(self, dataset: InMemoryDataset) -> InMemoryDataset:
        """A copy of an in-memory data set with the lists added to all graphs in one go, as if one by one.

        >>> from torch_geometric.data import Data
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> dataset = InMemoryDataset()
        >>> dataset.data, dataset.slices = InMemoryDataset.collate([path, path])
        >>> EgoStructure(k=1).prepare(dataset)[1].ego_node.tolist()
        [0, 1, 1, 0, 2, 2, 1]
        """
        result = copy.copy(dataset) if dataset._indices is None else dataset.copy()
        if result.slices is None:  # PyG's way to keep a single graph
            result._data, result._data_list = self(result._data), None
            return result
        nodes, arcs = _sizes(result)
        edge_index = _arcs(result._data)
        union_arcs = edge_index + np.repeat(np.cumsum(nodes) - nodes, arcs)
        union = Graph.from_pyg(union_arcs, num_nodes=int(nodes.sum()))
        lists, counts = self._split(union, union_arcs, nodes, arcs)
        result._data_list = None  # what looking at sizes may have cached
        found = {key: torch.from_numpy(values) for key, values in lists.items()}
        pointers = {key: torch.from_numpy(np.concatenate([[0], np.cumsum(count)])) for key, count in counts.items()}
        result._data = EgoData(**_without_lists(result._data.to_dict()), **found)
        result.slices = {**_without_lists(result.slices), **pointers}
        return result

    def _split(
        self, union: Graph, union_arcs: NDArray[Any], nodes: NDArray[np.int64], arcs: NDArray[np.int64]
    ) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[np.int64]]]:
        """The lists of a union of graphs, each graph numbered by itself, and how many entries each graph has."""
        lists = self._pairs(union)
        node_shift = np.cumsum(nodes) - nodes
        pairs = _per_graph(lists["ego_size"], nodes)
        counts = {"ego_shape": np.ones_like(nodes), "ego_size": nodes, "ego_node": pairs, "ego_code": pairs}
        lists["ego_node"] = (lists["ego_node"] - np.repeat(node_shift, pairs)).astype(np.int32)
        tables = [("ego_code", "ego_quadruplet", pairs)]
        edges = arcs // 2
        if self.level == "edge":
            lists |= self._triples(union)
            triples, edge_shift = _per_graph(lists["ego_triples"], nodes), np.cumsum(edges) - edges
            lists["ego_edge"] = (lists["ego_edge"] - np.repeat(edge_shift, triples)).astype(np.int32)
            lists["ego_arc"] = (_number_arcs(union, union_arcs) - np.repeat(edge_shift, arcs)).astype(np.int32)
            counts |= {"ego_triples": nodes, "ego_edge": triples, "ego_arc": arcs}
            counts |= {"ego_rooted": triples, "ego_inside": triples}
            tables += [("ego_rooted", "ego_rooted_pair", triples), ("ego_inside", "ego_inside_pair", triples)]
        for codes, rows, count in tables:
            lists[codes], lists[rows], counts[rows] = _localised(lists[codes], lists[rows], count)
        numbers = [
            counts.get(key, np.zeros_like(nodes)) for key in ("ego_quadruplet", "ego_rooted_pair", "ego_inside_pair")
        ]
        stamps = stamp_arcs(union_arcs, nodes, arcs, self.level == "edge")
        lists["ego_shape"] = np.stack([nodes, edges, *numbers, arcs, stamps, np.full_like(nodes, self.k)], axis=1)
        return lists, counts

    def _clip(self, graph: Graph) -> int:
        return graph.max_degree if self.max_degree is None else min(self.max_degree, graph.max_degree)

    def _pairs(self, graph: Graph) -> dict[str, NDArray[Any]]:
        members = ego_members(graph, self.k, self._clip(graph))
        return {
            "ego_size": members.sizes.astype(np.int32),
            "ego_node": members.nodes.astype(np.int32),
            "ego_code": _compact(members.codes, members.quadruplets),
            "ego_quadruplet": members.quadruplets.astype(np.int32),
        }

    def _triples(self, graph: Graph) -> dict[str, NDArray[Any]]:
        found = ego_triples(graph, self.k, self._clip(graph))
        return {
            "ego_triples": found.sizes.astype(np.int32),
            "ego_edge": found.edges,
            "ego_rooted": _compact(found.rooted, found.rooted_pairs),
            "ego_inside": _compact(found.inside, found.inside_pairs),
            "ego_rooted_pair": found.rooted_pairs.astype(np.int32),
            "ego_inside_pair": found.inside_pairs.astype(np.int32),
        }


def stamp_arcs(
    edge_index: NDArray[Any], nodes: NDArray[np.int64], arcs: NDArray[np.int64], ordered: bool
) -> NDArray[np.int64]:
    """A hash of each graph's part of an ``edge_index``, the same wherever in a batch the graph stands.

    Args:
        edge_index: the arcs of all graphs, ``(2, arcs)``.
        nodes: how many nodes each graph has.
        arcs: how many arcs each graph has.
        ordered: whether the order of arcs counts, as it does for lists that number them.

    Example:
        >>> twice = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> first, second = stamp_arcs(twice, np.array([2, 2]), np.array([2, 2]), ordered=True)
        >>> bool(first == second)
        True
    """
    from elene.kernels.structure import stamps

    return stamps(np.asarray(edge_index, dtype=np.int64), nodes, arcs, ordered)


def _arcs(data: Any) -> NDArray[Any]:
    """The ``edge_index`` of a data as an array."""
    if not isinstance(data, Data):
        hint = ": pass data.to_homogeneous()" if hasattr(data, "to_homogeneous") else ""
        raise TypeError(f"data must be a torch_geometric.data.Data, got {brief(data)}{hint}")
    if data.edge_index is None:
        before = " (ToSparseTensor took it: apply this before, or pass it remove_edge_index=False)"
        raise ValueError(f"data has no edge_index{before if 'adj_t' in data else ''}")
    return pyg_arcs(data)


def _without_lists(storage: dict[str, Any]) -> dict[str, Any]:
    """What is stored besides the lists: those of another depth or level must not stay behind."""
    return {key: value for key, value in storage.items() if key not in EGO_KEYS}


def _sizes(dataset: InMemoryDataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes and arcs of each graph of a data set."""
    arcs = np.diff(np.asarray(dataset.slices["edge_index"]))
    if "x" in dataset.slices:
        return np.diff(np.asarray(dataset.slices["x"])), arcs
    return np.array([dataset.get(i).num_nodes for i in range(len(arcs))], dtype=np.int64), arcs


def _per_graph(sizes: NDArray[Any], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the nodes' sizes in each graph."""
    ends = np.concatenate([[0], np.cumsum(sizes)])[np.concatenate([[0], np.cumsum(nodes)])]
    return np.diff(ends)


def _localised(
    codes: NDArray[Any], rows: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Codes into rows of all graphs as codes into rows of each graph, and how many rows each has."""
    from elene.kernels.structure import localise

    local, picked, sizes = localise(codes, counts, len(rows))
    return local.astype(np.int16) if sizes.max(initial=0) < 2**15 else local, rows[picked], sizes


def _compact(codes: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    return codes.astype(np.int16 if len(rows) < 2**15 else np.int32)


def _number_arcs(graph: Graph, arcs: NDArray[Any]) -> NDArray[np.int32]:
    """The number of each arc's undirected edge."""
    low, high = arcs.min(axis=0), arcs.max(axis=0)
    if (low == high).any():
        raise ValueError(
            f"edge_index has a self-loop at node {low[low == high][0]}, which no ego-network holds: pass "
            "torch_geometric.utils.remove_self_loops(edge_index, edge_attr)"
        )
    if arcs.shape[1] != 2 * graph.num_edges:
        raise ValueError("edge_index lists some edges more than once: pass torch_geometric.utils.coalesce(edge_index)")
    known = graph.edges[:, 0].astype(np.int64) * graph.num_nodes + graph.edges[:, 1]
    return np.searchsorted(known, low.astype(np.int64) * graph.num_nodes + high).astype(np.int32)
