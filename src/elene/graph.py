"""Graph: one immutable undirected simple graph, and the ways into it from other libraries and files."""

from __future__ import annotations

import os
import sys
import warnings
import zlib
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elene.csr import pointers
from elene.extras import needing
from elene.forking import cached_property
from elene.validation import as_array, brief, check_list

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from elene.kernels.data import Adjacency

MAX_NODES = 2**31 - 1
# A file or a list of a few bytes must not cost gigabytes: nodes take about 16 bytes each.
FREE_NODES, NODES_AN_EDGE = 4_000_000, 8
WIDE = 2**32  # arcs from which on pointers take 64 bits


class GraphWarning(UserWarning):
    """Something was dropped, ignored or done again, and the result is right if that was."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected simple graph in compressed sparse rows; build it with one of the ``from_...`` methods.

    Inside, nodes are the positions ``0 .. num_nodes - 1``. Where the source named its nodes otherwise, ``labels`` keeps
    the names, every function of the library takes them, and results carry them.

    Args:
        indptr: where each node's neighbours begin in ``indices``; ``num_nodes + 1`` integers.
        indices: the neighbours, ascending for each node; every edge stands here twice.
        labels: the original name of each node, or None where names are positions.

    Example:
        >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
        >>> graph
        Graph(num_nodes=4, num_edges=4)
        >>> graph.degrees.tolist()
        [2, 2, 3, 1]
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        indptr, indices = _checked_adjacency(self.indptr, self.indices)
        labels = None if self.labels is None else _checked_labels(self.labels, len(indptr) - 1)
        self._set(indptr, indices, labels)

    @classmethod
    def trusted(cls, indptr: NDArray[np.int64], indices: NDArray[np.int32], labels: Any = None) -> Graph:
        """A graph from arrays that are known to be right: checking them would cost as much as making them did.

        >>> Graph.trusted(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32))
        Graph(num_nodes=2, num_edges=1)
        """
        graph = object.__new__(cls)
        graph._set(indptr, indices, labels)
        return graph

    def _set(self, indptr: NDArray[np.int64], indices: NDArray[np.int32], labels: NDArray[Any] | None) -> None:
        for name, array in (("indptr", indptr), ("indices", indices), ("labels", labels)):
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled arrays come back writable, and cached ones are cheaper to compute than to send.
        return Graph.trusted, (self.indptr, self.indices, self.labels)

    def __repr__(self) -> str:
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def _repr_html_(self) -> str:
        from elene.html import graph_view

        return graph_view(self.nodes, self.edges, self.max_degree)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes in the same order, and the same edges; :func:`elene.compare` relabels."""
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.nodes, other.nodes)
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((zlib.crc32(self.indptr.data), zlib.crc32(self.indices.data)))

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, isolated ones included."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """How many undirected edges there are."""
        return len(self.indices) // 2

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The degree of each node, by position."""
        degrees = np.diff(self.indptr)
        degrees.flags.writeable = False
        return degrees

    @property
    def max_degree(self) -> int:
        """The largest degree; 0 for a graph without edges."""
        return int(self.degrees.max(initial=0))

    @property
    def nodes(self) -> NDArray[Any]:
        """The label of each node, by position.

        >>> Graph.from_edges([(0, 1)]).nodes.tolist()
        [0, 1]
        """
        return np.arange(self.num_nodes) if self.labels is None else self.labels

    @cached_property
    def edges(self) -> NDArray[np.int32]:
        """Each undirected edge once, as positions ``(u, v)`` with ``u < v``, in ascending order.

        >>> Graph.from_edges([(2, 1), (1, 0)]).edges.tolist()
        [[0, 1], [1, 2]]
        """
        sources = np.repeat(np.arange(self.num_nodes, dtype=np.int32), self.degrees)
        once = sources < self.indices
        edges = np.stack([sources[once], self.indices[once]], axis=1)
        edges.flags.writeable = False
        return edges

    def neighbors(self, position: int) -> NDArray[np.int32]:
        """The neighbours of the node at a position, ascending.

        >>> Graph.from_edges([(0, 1), (0, 2)]).neighbors(0).tolist()
        [1, 2]
        """
        return self.indices[self.indptr[position] : self.indptr[position + 1]]

    def positions(self, nodes: Any, name: str = "nodes") -> NDArray[np.int64]:
        """Where the nodes with these labels stand; ``name`` is what an error calls them.

        >>> import networkx as nx
        >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"])).positions(["c", "a"]).tolist()
        [2, 0]
        """
        nodes = check_list(name, nodes, "nodes")
        if self.labels is None:
            values = _integers(_row(nodes, name), name) if len(nodes) else np.empty(0, dtype=np.int64)
            bad = (values < 0) | (values >= self.num_nodes)
            if bad.any():
                raise ValueError(
                    f"{name}: node {values[bad].flat[0]} is not in the graph, whose nodes are 0 to {self.num_nodes - 1}"
                )
            return values
        try:
            return np.array([self._position_of[label] for label in nodes], dtype=np.int64)
        except KeyError as error:
            some = ", ".join(repr(label) for label in self.labels[:3].tolist())
            raise ValueError(f"{name}: node {error.args[0]!r} is not in the graph, which has {some}, ...") from None
        except TypeError:
            raise TypeError(f"{name} must be labels of nodes, got {brief(_unhashable(nodes))}") from None

    def position(self, node: Any, name: str = "node") -> int:
        """Where the node with this label stands; ``name`` is what an error calls it.

        >>> Graph.from_edges([(0, 1)]).position(1)
        1
        """
        try:
            key = int(index(node)) if self.labels is None else hash(node)
        except TypeError:
            key = None
        if key is None or (self.labels is None and isinstance(node, bool)):
            raise TypeError(f"{name} must be one node, got {node!r:.80}")
        return int(self.positions([node if self.labels is not None else key], name)[0])

    @cached_property
    def _position_of(self) -> dict[Any, int]:
        assert self.labels is not None
        position_of = {label: position for position, label in enumerate(self.labels.tolist())}
        if len(position_of) < len(self.labels):
            raise ValueError("labels repeat, so a label does not say which node is meant: give each node its own")
        return position_of

    @property
    def scanned(self) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        """Where each node's neighbours begin, and one end more; the neighbours. Pointers are narrow, for they are read
        at random, and unsigned, for a negative index would have to be looked out for.
        """
        indptr = self.indptr.astype(np.uint32 if len(self.indices) < WIDE else np.uint64)
        indptr.flags.writeable = False
        return indptr, self.indices.view(np.uint32)

    @cached_property
    def ranked(self) -> Adjacency:
        """What the kernels scan: pointers as in :attr:`scanned`; the neighbours, with some padding at the end; where in
        each node's list those begin that are ranked above it.
        """
        from elene.kernels.order import rank_adjacency

        return rank_adjacency(*self.scanned)

    def to_scipy(self) -> csr_array:
        """The adjacency matrix as a ``scipy.sparse.csr_array`` of ones.

        >>> Graph.from_edges([(0, 1)]).to_scipy().toarray().tolist()
        [[0, 1], [1, 0]]
        """
        from scipy.sparse import csr_array

        ones = np.ones(len(self.indices), dtype=np.int32)
        return csr_array((ones, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def to_networkx(self) -> Any:
        """The same graph for networkx, with the names of the nodes.

        >>> Graph.from_edges([("a", "b"), ("b", "c")]).to_networkx().edges
        EdgeView([('a', 'b'), ('b', 'c')])
        """
        with needing("io", "Graph.to_networkx"):
            import networkx
        if self.labels is not None:
            _ = self._position_of  # nodes of one name would become one node
        names = self.nodes.tolist()
        graph = networkx.Graph()
        graph.add_nodes_from(names)
        graph.add_edges_from((names[u], names[v]) for u, v in self.edges.tolist())
        return graph

    @classmethod
    def from_edges(cls, edges: ArrayLike, num_nodes: int | None = None, labels: ArrayLike | None = None) -> Graph:
        """A graph from an ``(m, 2)`` array of node positions, one undirected edge a row, in either direction or both.

        Self-loops and repeated rows are dropped with a :class:`GraphWarning`.

        Args:
            edges: integers, or strings, which are names; an ``edge_index`` of shape ``(2, m)`` goes through
                :meth:`from_pyg`, integers that are names through :meth:`from_pandas`.
            num_nodes: how many nodes there are; by default the largest position plus one.
            labels: the name of each node; where the edges hold names, by default those, in ascending order.

        Example:
            >>> Graph.from_edges([(0, 1), (1, 2)], num_nodes=5)
            Graph(num_nodes=5, num_edges=2)
            >>> Graph.from_edges([("c", "a"), ("c", "b")]).nodes.tolist()
            ['a', 'b', 'c']
        """
        pairs = _edge_array(edges)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            hint = " (an edge_index of shape (2, m) goes through Graph.from_pyg)" if pairs.shape[:1] == (2,) else ""
            raise ValueError(f"edges must have shape (m, 2), got {pairs.shape}{hint}")
        if pairs.dtype.kind == "U":
            pairs, labels = _positions_of_names(pairs, num_nodes, labels)
            num_nodes = len(labels)
        pairs = _integers(pairs, "edges")
        n = _count_nodes(pairs, num_nodes, "edges")
        named = None if labels is None else _checked_labels(labels, n)
        indptr, indices, _ = _adjacency(pairs[:, 0], pairs[:, 1], n)
        return cls.trusted(indptr, indices, named)

    @classmethod
    def from_pandas(cls, table: Any, source: Any = "source", target: Any = "target") -> Graph:
        """A graph from a table with one edge a row: a pandas or polars ``DataFrame``, other columns ignored.

        Ends are names, integers or strings, and become labels in ascending order.

        Args:
            table: the table.
            source: the column that holds one end.
            target: the column that holds the other.

        Example:
            >>> import pandas
            >>> friends = pandas.DataFrame({"who": [7, 9], "whom": [9, 30], "since": [2001, 2010]})
            >>> Graph.from_pandas(friends, "who", "whom").nodes.tolist()
            [7, 9, 30]
        """
        if not (hasattr(table, "columns") and hasattr(table, "__getitem__")):
            raise TypeError(f"table must be a pandas or polars DataFrame, got {brief(table)}")
        ends = [_end_column(table, "source", source), _end_column(table, "target", target)]
        if ends[0].dtype.kind != ends[1].dtype.kind and all(len(end) for end in ends):
            raise TypeError(
                f"source and target must both be integers or both be strings, got {ends[0].dtype} and {ends[1].dtype}"
            )
        names, positions = np.unique(np.concatenate(ends), return_inverse=True)
        plain = names.dtype.kind != "U" and np.array_equal(names, np.arange(len(names)))
        return cls.from_edges(positions.reshape(2, -1).T, num_nodes=len(names), labels=None if plain else names)

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """A graph from an undirected networkx graph; its node names become labels.

        >>> import networkx as nx
        >>> Graph.from_networkx(nx.petersen_graph())
        Graph(num_nodes=10, num_edges=15)
        """
        if not all(hasattr(graph, part) for part in ("is_directed", "nodes", "edges", "number_of_edges")):
            raise TypeError(f"graph must be a networkx graph, got {brief(graph)}")
        if graph.is_directed():
            raise ValueError("graph is directed and elene encodes undirected graphs: pass graph.to_undirected()")
        names = list(graph.nodes)
        position = {name: i for i, name in enumerate(names)}
        flat = (position[end] for edge in graph.edges() for end in edge)
        pairs = np.fromiter(flat, dtype=np.int64, count=2 * graph.number_of_edges()).reshape(-1, 2)
        labels = None if names == list(range(len(names))) else _label_array(names)
        return cls.from_edges(pairs, num_nodes=len(names), labels=labels)

    @classmethod
    def from_scipy(cls, matrix: Any) -> Graph:
        """A graph from a symmetric scipy sparse (or dense) adjacency matrix; every nonzero entry is an edge.

        >>> import scipy.sparse as sp
        >>> Graph.from_scipy(sp.csr_array([[0, 1], [1, 0]]))
        Graph(num_nodes=2, num_edges=1)
        """
        sources, targets, n = matrix_arcs(matrix)
        return cls._from_arcs(sources, targets, n, "matrix", "matrix.maximum(matrix.T)")

    @classmethod
    def from_igraph(cls, graph: Any) -> Graph:
        """A graph from an undirected python-igraph graph; a vertex attribute ``name`` becomes the labels.

        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph.Ring(5))
        Graph(num_nodes=5, num_edges=5)
        """
        if not all(hasattr(graph, part) for part in ("is_directed", "vs", "get_edgelist", "vcount")):
            raise TypeError(f"graph must be a python-igraph graph, got {brief(graph)}")
        if graph.is_directed():
            raise ValueError("graph is directed and elene encodes undirected graphs: pass graph.as_undirected()")
        labels = _label_array(graph.vs["name"]) if "name" in graph.vs.attributes() else None
        return cls.from_edges(np.array(graph.get_edgelist()), num_nodes=graph.vcount(), labels=labels)

    @classmethod
    def from_dgl(cls, graph: Any) -> Graph:
        """A graph from a DGL graph with nodes of one type, which must list both directions of every edge.

        As in ``Graph.from_dgl(dgl.to_bidirected(dgl.graph(([0, 1], [1, 2]))))``.
        """
        if not all(hasattr(graph, part) for part in ("is_homogeneous", "edges", "num_nodes")):
            raise TypeError(f"graph must be a DGL graph, got {brief(graph)}")
        if not graph.is_homogeneous:
            raise TypeError("graph has nodes or edges of several types: pass dgl.to_homogeneous(graph)")
        sources, targets = (end.detach().cpu().numpy() for end in graph.edges())
        return cls._from_arcs(sources, targets, int(graph.num_nodes()), "graph", "dgl.to_bidirected(graph)")

    @classmethod
    def from_rustworkx(cls, graph: Any) -> Graph:
        """A graph from an undirected rustworkx graph; where nodes were removed, indices of the others become labels.

        >>> import rustworkx
        >>> Graph.from_rustworkx(rustworkx.generators.cycle_graph(5))
        Graph(num_nodes=5, num_edges=5)
        """
        if not all(hasattr(graph, part) for part in ("node_indices", "edge_list")):
            raise TypeError(f"graph must be a rustworkx graph, got {brief(graph)}")
        if hasattr(graph, "to_undirected"):
            raise ValueError("graph is directed and elene encodes undirected graphs: pass graph.to_undirected()")
        nodes = np.array(graph.node_indices(), dtype=np.int64)
        pairs = np.array(graph.edge_list(), dtype=np.int64).reshape(-1, 2)
        plain = np.array_equal(nodes, np.arange(len(nodes)))
        return cls.from_edges(np.searchsorted(nodes, pairs), len(nodes), None if plain else nodes)

    @classmethod
    def from_pyg(cls, data: Any, num_nodes: int | None = None) -> Graph:
        """A graph from a PyG ``Data`` or an ``edge_index`` of shape ``(2, arcs)`` that lists both directions.

        ``adj_t``, the sparse matrix of ``ToSparseTensor``, stands in where there is no ``edge_index``.

        >>> import torch
        >>> Graph.from_pyg(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        Graph(num_nodes=3, num_edges=2)
        """
        array = pyg_arcs(data)
        if num_nodes is None and hasattr(data, "edge_index"):
            num_nodes = data.num_nodes
        elif num_nodes is None and _is_sparse(data):
            num_nodes = len(data)
        if array.ndim != 2 or array.shape[0] != 2:
            raise ValueError(f"edge_index must have shape (2, arcs), got {array.shape}")
        array = _integers(array, "edge_index") if array.size else np.empty((2, 0), dtype=np.int64)
        n = _count_nodes(array, num_nodes, "edge_index")
        return cls._from_arcs(array[0], array[1], n, "edge_index", "torch_geometric.utils.to_undirected(edge_index)")

    @classmethod
    def _joined(
        cls, sources: NDArray[Any], targets: NDArray[Any], n: int, labels: NDArray[Any] | None = None
    ) -> tuple[Graph, int]:
        """The graph that arcs span, and how many of its edges stood in both directions."""
        indptr, indices, distinct_arcs = _adjacency(sources, targets, n)
        return cls.trusted(indptr, indices, labels), distinct_arcs - len(indices) // 2

    @classmethod
    def _from_arcs(cls, sources: NDArray[Any], targets: NDArray[Any], n: int, name: str, fix: str) -> Graph:
        """A graph from a list that must hold both directions of every edge."""
        indptr, indices, distinct_arcs = _adjacency(sources, targets, n)
        if distinct_arcs < len(indices):
            raise ValueError(f"{name} is directed (some edges stand in one direction only): pass {fix}")
        return cls.trusted(indptr, indices)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        index: int | None = None,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        header: bool | None = None,
        undirected: bool = False,
    ) -> Graph:
        """A graph from a file; :mod:`elene.io.readers` lists the formats.

        What was read and how is logged by the logger ``elene.io`` at the level INFO.

        Args:
            path: the file; its ending decides the format, and ``.gz`` or ``.zst`` may follow; ``-`` is an edge list
                from standard input.
            index: which graph, in a file that holds several (:meth:`read_all` gives them all).
            source: the column of an edge table that holds one end, by name or counted from 0, where it does not show.
            target: the column that holds the other end.
            header: whether the first line of a text names the columns, where it does not show.
            undirected: join arcs, in a file that holds them.

        Example:
            >>> import pathlib, tempfile
            >>> path = pathlib.Path(tempfile.mkdtemp(), "triangle.txt")
            >>> _ = path.write_text("a b\\nb c\\nc a\\n")
            >>> Graph.read(path).nodes.tolist()
            ['a', 'b', 'c']
            >>> _ = path.write_text("person 1,person 2\\nann,ben\\nben,cat\\n")
            >>> Graph.read(path, header=True).nodes.tolist()
            ['ann', 'ben', 'cat']
        """
        from elene.io.readers import Options, read_graph

        return read_graph(path, index, Options(source, target, header, undirected))

    @classmethod
    def read_all(cls, path: str | os.PathLike[str], *, undirected: bool = False) -> list[Graph]:
        """Every graph of a file; a list of one for the formats that hold one.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "two.g6")
        >>> _ = path.write_text("Bw\\nCR\\n")
        >>> Graph.read_all(path)
        [Graph(num_nodes=3, num_edges=3), Graph(num_nodes=4, num_edges=3)]
        """
        from elene.io.readers import Options, read_graphs

        return read_graphs(path, Options(undirected=undirected))


def as_graph(graph: Any, name: str = "graph") -> Graph:
    """A :class:`Graph` from any graph type the library knows; ``name`` is what an error calls it.

    >>> import networkx as nx
    >>> as_graph(nx.path_graph(3))
    Graph(num_nodes=3, num_edges=2)
    """
    if isinstance(graph, Graph):
        return graph
    try:
        return _converted(graph, name)
    except (TypeError, ValueError) as error:
        if str(error).startswith(name):
            raise
        raise type(error)(f"{name}: {error}") from None


def _converted(graph: Any, name: str) -> Graph:
    ways = {
        "networkx": Graph.from_networkx,
        "igraph": Graph.from_igraph,
        "scipy": Graph.from_scipy,
        "dgl": Graph.from_dgl,
        "rustworkx": Graph.from_rustworkx,
        **dict.fromkeys(("torch", "torch_geometric", "torch_sparse"), Graph.from_pyg),
    }
    way = ways.get(type(graph).__module__.split(".")[0])
    if way is None and hasattr(graph, "is_directed") and hasattr(graph, "adj"):
        way = Graph.from_networkx
    elif way is None and hasattr(graph, "edge_index"):
        way = Graph.from_pyg
    if way is not None:
        return way(graph)
    raise TypeError(
        f"{name} must be an elene.Graph, a networkx, igraph, rustworkx or DGL graph, a scipy sparse matrix, or a PyG "
        f"Data or edge_index; got {type(graph).__name__}. Edge arrays go through Graph.from_edges (graph-tool: "
        "Graph.from_edges(g.get_edges(), g.num_vertices())), files through Graph.read"
    )


def pyg_arcs(data: Any) -> NDArray[Any]:
    """The ``edge_index`` of a PyG ``Data``, or the one given, as an array; ``adj_t`` stands in where there is none.

    >>> import torch
    >>> pyg_arcs(torch.tensor([[0, 1], [1, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    if hasattr(data, "to_homogeneous"):
        raise TypeError(f"data is a {type(data).__name__}, with nodes of several types: pass data.to_homogeneous()")
    arcs = data
    if hasattr(data, "edge_index"):
        arcs = data.edge_index
        arcs = getattr(data, "adj_t", None) if arcs is None else arcs
    if arcs is None:
        raise ValueError("data has no edge_index: set data.edge_index to an integer tensor of shape (2, arcs)")
    if hasattr(arcs, "as_tensor"):  # an EdgeIndex, which does not turn into an array by itself
        arcs = arcs.as_tensor()
    if _is_sparse(arcs):
        arcs = arcs.detach().to_sparse_coo().coalesce().indices()
    if hasattr(arcs, "detach"):
        return arcs.detach().cpu().numpy()  # type: ignore[no-any-return]
    return as_array("edge_index", arcs)


def disjoint_union(graphs: Sequence[Graph]) -> Graph:
    """All graphs side by side in one; nodes keep their order, labels are dropped.

    >>> edge = Graph.from_edges([(0, 1)])
    >>> disjoint_union([edge, edge]).edges.tolist()
    [[0, 1], [2, 3]]
    """
    sizes = np.array([graph.num_nodes for graph in graphs], dtype=np.int64)
    first = pointers(sizes)
    if first[-1] > MAX_NODES:
        raise ValueError(f"graphs have {first[-1]} nodes together, more than the {MAX_NODES} of one Graph")
    if not len(graphs):
        return Graph.from_edges([])
    indices = np.concatenate([graph.indices + shift for graph, shift in zip(graphs, first[:-1], strict=True)])
    degrees = np.concatenate([graph.degrees for graph in graphs])
    return Graph.trusted(pointers(degrees), indices.astype(np.int32))


def _edge_array(edges: Any) -> NDArray[Any]:
    """Edges as an array; of integers or of text where they are all of one kind."""
    try:
        pairs = as_array("edges", edges)
        if pairs.dtype.kind == "U" and not hasattr(edges, "dtype"):
            pairs = np.asarray(edges, dtype=object)  # numpy makes text of what stands beside text
    except ValueError:
        raise ValueError("edges must have shape (m, 2), got rows of different lengths") from None
    return _uniform(pairs)


def _uniform(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as integers or as text, where they are all of one of these kinds: so nullable columns are read."""
    if values.dtype.kind not in "OT":
        return values
    flat = values.ravel().tolist()
    for fits, kind in ((_is_integer, np.int64), (lambda value: isinstance(value, str), np.str_)):
        if all(map(fits, flat)):
            with suppress(OverflowError):
                return np.array(flat, dtype=kind).reshape(values.shape)
    return values


def _positions_of_names(
    pairs: NDArray[np.str_], num_nodes: int | None, labels: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Where the names in the edges stand among the labels, and the labels."""
    if num_nodes is not None:
        raise ValueError(f"num_nodes={num_nodes} is for positions, and edges hold names: pass all of them as labels")
    names, positions = np.unique(pairs, return_inverse=True)
    positions = positions.reshape(pairs.shape)
    if labels is None:
        return positions, names
    named = _label_array(check_list("labels", labels, "names"))
    place = {label: position for position, label in enumerate(named.tolist())}
    if len(place) < len(named):
        raise ValueError("labels repeat, so a name in edges does not say which node is meant: give each node its own")
    unknown = [name for name in names.tolist() if name not in place]
    if unknown:
        raise ValueError(f"edges: node {unknown[0]!r} is not among the labels")
    return np.array([place[name] for name in names.tolist()], dtype=np.int64)[positions], named


def _end_column(table: Any, what: str, name: Any) -> NDArray[Any]:
    """The names in a column of ends."""
    columns = list(table.columns)
    if not isinstance(name, Hashable) or name not in columns:
        raise ValueError(f"{what}={name!r} is not a column of the table, which has {columns!r:.200}")
    column = table[name]
    missing = np.asarray(column.isna() if hasattr(column, "isna") else column.is_null(), dtype=bool)
    if missing.any():
        raise ValueError(
            f"{what}: row {int(np.argmax(missing))} of the column {name!r}, counted from 0, misses an end of its edge"
        )
    values = _uniform(np.asarray(column))
    if values.dtype.kind not in "iuU" and len(values):
        raise TypeError(f"{what}: the column {name!r} must hold integers or strings, it holds {column.dtype}")
    if values.dtype.kind == "u" and values.max(initial=0) >= 2**63:
        raise ValueError(f"{what}: {values.max()} in the column {name!r} does not fit 64 bits: pass it as strings")
    return values if values.dtype.kind == "U" else values.astype(np.int64)


def _is_sparse(tensor: Any) -> bool:
    return str(getattr(tensor, "layout", "torch.strided")).startswith("torch.sparse")


def _row(nodes: Any, name: str) -> NDArray[Any]:
    """Nodes as an array; a list may not hold lists."""
    try:
        values = np.asarray(nodes)
    except ValueError:  # some are lists, of different lengths
        values = np.empty((0, 0))
    if values.ndim != 1 and not isinstance(nodes, np.ndarray):
        raise ValueError(f"{name} must be a list of nodes, got lists inside it: {nodes!r:.80}")
    return values


def _unhashable(labels: Iterable[Any]) -> Any:
    for label in labels:
        try:
            hash(label)
        except TypeError:
            return label
    return None


def _integers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {values.dtype} (such as {_offender(values)!r})")
    if values.size and int(values.max()) >= MAX_NODES:
        raise ValueError(f"{name}: {values.max()} is beyond the largest position a graph can have, {MAX_NODES - 1}")
    return values.astype(np.int64, copy=False)


def _offender(values: NDArray[Any]) -> Any:
    """A value that shows why these are not integers."""
    flat = values.ravel()
    if values.dtype.kind == "f":
        flat = np.append(flat[flat != np.floor(flat)], flat)
    return min(flat.tolist(), key=lambda value: isinstance(value, int)) if flat.dtype == object else flat[0].item()


def _count_nodes(positions: NDArray[np.int64], num_nodes: int | None, name: str) -> int:
    if positions.size and positions.min() < 0:
        raise ValueError(f"{name}: node positions must not be negative, got {positions.min()}")
    least = int(positions.max(initial=-1)) + 1
    if num_nodes is None:
        check_room(
            least, positions.size // 2, f"{name}: the largest position is {least - 1}, so there would be {least}"
        )
        return least
    if not isinstance(num_nodes, int | np.integer) or isinstance(num_nodes, bool):
        raise TypeError(f"num_nodes must be an integer, got {num_nodes!r}")
    if num_nodes < 0:
        raise ValueError(f"num_nodes must not be negative, got {num_nodes}")
    if num_nodes < least:
        raise ValueError(f"num_nodes={num_nodes} is too small: the edges name node {least - 1}; pass at least {least}")
    if num_nodes > MAX_NODES:
        raise ValueError(f"num_nodes={num_nodes} is more than the {MAX_NODES} nodes a graph can have")
    return int(num_nodes)


def matrix_arcs(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Rows and columns of the entries of an adjacency matrix that are not zero, and how many nodes there are.

    >>> matrix_arcs([[0, 2], [0, 0]])[2]
    2
    """
    from scipy.sparse import coo_array

    try:
        coo = coo_array(matrix)
    except (TypeError, ValueError, NotImplementedError):
        raise TypeError(f"matrix must be a scipy sparse matrix or a dense array, got {brief(matrix)}") from None
    if coo.dtype.kind not in "biufc":
        raise TypeError(f"matrix must hold numbers, got {coo.dtype}")
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        raise ValueError(f"matrix must be square, got shape {coo.shape}")
    if np.isnan(coo.data).any():
        raise ValueError("matrix holds NaN: an entry must be zero (no edge) or nonzero (edge)")
    keep = coo.data != 0
    return coo.row[keep], coo.col[keep], coo.shape[0]


def check_room(nodes: int, edges: int, what: str) -> None:
    """An error that names the number of nodes where there are far too many for the edges: memory goes by it.

    >>> check_room(10**6, 1, "num_nodes is 1000000, so there would be 1000000")
    """
    if nodes > FREE_NODES + NODES_AN_EDGE * edges:
        raise ValueError(
            f"{what} nodes for {_counted(edges, 'edge')}. Number them without gaps: names, ends = "
            "np.unique(edges, return_inverse=True), then Graph.from_edges(ends.reshape(-1, 2), labels=names); "
            f"or pass num_nodes={nodes} to Graph.from_edges to have them all"
        )


def _checked_adjacency(indptr: Any, indices: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Copies of the arrays, if they are the adjacency lists of an undirected simple graph."""
    pointers, neighbours = as_array("indptr", indptr), as_array("indices", indices)
    for name, array in (("indptr", pointers), ("indices", neighbours)):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise TypeError(f"{name} must be one row of integers, got {array.dtype} of shape {array.shape}")
    n, arcs = len(pointers) - 1, len(neighbours)
    if not 0 <= n <= MAX_NODES:
        raise ValueError(
            f"indptr must have one entry more than there are nodes, from 1 to {MAX_NODES + 1}; got {n + 1}"
        )
    if pointers[0] != 0 or pointers[-1] != arcs or (pointers[1:] < pointers[:-1]).any():
        raise ValueError(f"indptr must rise from 0 to {arcs}, the length of indices, and never fall")
    if arcs and not 0 <= neighbours.min() <= neighbours.max() < n:
        raise ValueError(f"indices must be nodes from 0 to {n - 1}, got {neighbours.min()} to {neighbours.max()}")
    pointers, neighbours = pointers.astype(np.int64), neighbours.astype(np.int32)
    _check_simple(pointers, neighbours)
    return pointers, neighbours


def _check_simple(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> None:
    from scipy.sparse import csr_array

    n = len(indptr) - 1
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    wrong = (np.diff(sources) == 0) & (np.diff(indices) <= 0)
    if wrong.any():
        node = sources[np.argmax(wrong)]
        raise ValueError(f"indices must be ascending for each node, each neighbour once; those of node {node} are not")
    if (sources == indices).any():
        raise ValueError(f"indices must hold no self-loops; node {sources[np.argmax(sources == indices)]} has one")
    columns = csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(n, n)).tocsc()
    if not (np.array_equal(columns.indptr, indptr) and np.array_equal(columns.indices, indices)):
        raise ValueError("indices must hold every edge twice, at both of its ends: build it with Graph.from_edges")


def _checked_labels(labels: Any, n: int) -> NDArray[Any]:
    """A copy, for the array of the caller must stay writable."""
    labels = check_list("labels", labels, "names")
    named = np.array(labels) if isinstance(labels, np.ndarray) else _label_array(labels)
    if named.ndim != 1:
        raise ValueError(f"labels must be one row of names, got an array of shape {named.shape}")
    if len(named) != n:
        raise ValueError(f"labels must name all {n} nodes, got {len(named)} names")
    return named


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _adjacency(
    sources: NDArray[Any], targets: NDArray[Any], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Sorted adjacency lists of the undirected simple graph that the arcs span, and how many arcs were distinct."""
    from scipy.sparse import coo_array

    loops = sources == targets
    if loops.any():
        warn(f"{_counted(int(loops.sum()), 'self-loop')} dropped")
        sources, targets = sources[~loops], targets[~loops]
    ones = np.ones(len(sources), dtype=bool)
    one_way = coo_array((ones, (sources.astype(np.int32), targets.astype(np.int32))), shape=(n, n)).tocsr()
    if one_way.nnz < len(sources):
        warn(f"{_counted(len(sources) - one_way.nnz, 'duplicate edge')} dropped")
    both = (one_way + one_way.T.tocsr()).tocsr()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32, copy=False), one_way.nnz


def warn(message: str) -> None:
    """Warn at the line outside the library that led here, however deep inside it that is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("elene."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, GraphWarning, stacklevel=level)


def _label_array(names: Iterable[Any]) -> NDArray[Any]:
    """Names as a compact array of integers or strings where they are all of one kind, else of objects."""
    names = list(names)
    if all(_is_integer(name) for name in names) and all(abs(name) < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    if all(isinstance(name, str) for name in names):
        return np.array(names, dtype=str)
    return _object_array(names)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _object_array(names: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):
        array[i] = name
    return array
