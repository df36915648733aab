"""GraphArrays: an immutable undirected simple graph in compressed sparse rows, and all that its arrays tell."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields
from operator import index
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from elene.forking import cached_property
from elene.graph.edges import checked_adjacency, checked_names, integers, row, unhashable
from elene.graph.labels import Labels, checked_classes
from elene.validation import brief, check_list

if TYPE_CHECKING:
    from elene.kernels.data import Adjacency, Words

WIDE = 2**32  # arcs from which on pointers take 64 bits


@dataclass(frozen=True, eq=False, repr=False)
class GraphArrays:
    """What a :class:`~elene.Graph` holds, which adds the ways into it and out of it."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    names: NDArray[Any] | None = None
    labels: NDArray[np.int64] | None = None
    label_names: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        indptr, indices = checked_adjacency(self.indptr, self.indices)
        names = None if self.names is None else checked_names(self.names, len(indptr) - 1)
        nodes = np.arange(len(indptr) - 1) if names is None else names
        self._set(indptr, indices, names, *checked_classes(self.labels, self.label_names, nodes))

    @classmethod
    def trusted(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        names: Any = None,
        labels: Any = None,
        label_names: Any = None,
    ) -> Self:
        """A graph from arrays that are known to be right: checking them would cost as much as making them did.

        >>> from elene import Graph
        >>> Graph.trusted(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32))
        Graph(num_nodes=2, num_edges=1)
        """
        graph = object.__new__(cls)
        graph._set(indptr, indices, names, labels, label_names)
        return graph

    def _set(self, *arrays: NDArray[Any] | None) -> None:
        for field, array in zip(fields(self), arrays, strict=True):
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, field.name, array)

    def __repr__(self) -> str:
        labels = "" if self.labels is None else f", labels={len(np.unique(self.labels))}"
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges}{labels})"

    def _repr_html_(self) -> str:
        from elene.html import graph_view

        return graph_view(self.nodes, self.edges, self.max_degree)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes in the same order, the same labels and edges; :func:`elene.compare` asks
        whether some order of the nodes makes them equal.
        """
        if not isinstance(other, GraphArrays):
            return NotImplemented
        return self is other or (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.nodes, other.nodes)
            and (self.labels is None) == (other.labels is None)
            and (self.labels is None or np.array_equal(self.label_values, other.label_values))
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        labels = None if self.label_colors is None else zlib.crc32(self.label_colors.data)
        return hash((zlib.crc32(self.indptr.data), zlib.crc32(self.indices.data), labels))

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

    @cached_property
    def max_degree(self) -> int:
        """The largest degree; 0 for a graph without edges."""
        return int(self.degrees.max(initial=0))

    @property
    def nodes(self) -> NDArray[Any]:
        """The name of each node, by position.

        >>> from elene import Graph
        >>> Graph.from_edges([(0, 1)]).nodes.tolist()
        [0, 1]
        """
        return np.arange(self.num_nodes) if self.names is None else self.names

    @property
    def label_values(self) -> NDArray[Any]:
        """The label of each node as it was given, by position; an error where the graph has none.

        >>> from elene import Graph
        >>> Graph.from_edges([(0, 1)], labels=["N", "C"]).label_values.tolist()
        ['N', 'C']
        """
        return Labels(self._some_labels, self.label_names).values

    @property
    def _some_labels(self) -> NDArray[np.int64]:
        if self.labels is None:
            raise ValueError("the graph has no labels: give it some with graph.with_labels(...)")
        return self.labels

    @cached_property
    def classes(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """The labels that occur, ascending, and the place of each node's among them; an error where there are none.

        >>> from elene import Graph
        >>> Graph.from_edges([(0, 1)], labels=[9, 4]).classes[1].tolist()
        [1, 0]
        """
        found, places = np.unique(self._some_labels, return_inverse=True)
        return found, _frozen(places.astype(np.uint64))

    @cached_property
    def label_colors(self) -> NDArray[np.uint64] | None:
        """A number of 64 bits for each node's label, the same in every graph; None where there are no labels."""
        return None if self.labels is None else _frozen(Labels(self.labels, self.label_names).colors)

    @cached_property
    def edges(self) -> NDArray[np.int32]:
        """Each undirected edge once, as positions ``(u, v)`` with ``u < v``, in ascending order.

        >>> from elene import Graph
        >>> Graph.from_edges([(2, 1), (1, 0)]).edges.tolist()
        [[0, 1], [1, 2]]
        """
        sources = np.repeat(np.arange(self.num_nodes, dtype=np.int32), self.degrees)
        once = sources < self.indices
        edges = np.stack([sources[once], self.indices[once]], axis=1)
        edges.flags.writeable = False
        return edges

    def names_at(self, positions: NDArray[Any]) -> NDArray[Any]:
        """The names of the nodes at these positions: a few of millions are not worth the list of all.

        >>> from elene import Graph
        >>> Graph.from_edges([("a", "b")]).names_at(np.array([1, 0])).tolist()
        ['b', 'a']
        """
        return np.array(positions) if self.names is None else self.names[positions]

    def neighbors(self, position: int) -> NDArray[np.int32]:
        """The neighbours of the node at a position, ascending.

        >>> from elene import Graph
        >>> Graph.from_edges([(0, 1), (0, 2)]).neighbors(0).tolist()
        [1, 2]
        """
        return self.indices[self.indptr[position] : self.indptr[position + 1]]

    def positions(self, nodes: Any, name: str = "nodes") -> NDArray[np.int64]:
        """Where the nodes with these names stand; ``name`` is what an error calls them.

        >>> import networkx as nx
        >>> from elene import Graph
        >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"])).positions(["c", "a"]).tolist()
        [2, 0]
        """
        nodes = check_list(name, nodes, "nodes")
        if self.names is None:
            values = integers(row(nodes, name), name) if len(nodes) else np.empty(0, dtype=np.int64)
            bad = (values < 0) | (values >= self.num_nodes)
            if bad.any():
                raise ValueError(
                    f"{name}: node {values[bad].flat[0]} is not in the graph, whose nodes are 0 to {self.num_nodes - 1}"
                )
            return values
        try:
            return np.array([self._position_of[name] for name in nodes], dtype=np.int64)
        except KeyError as error:
            some = ", ".join(repr(name) for name in self.names[:3].tolist())
            raise ValueError(f"{name}: node {error.args[0]!r} is not in the graph, which has {some}, ...") from None
        except TypeError:
            raise TypeError(f"{name} must be names of nodes, got {brief(unhashable(nodes))}") from None

    def position(self, node: Any, name: str = "node") -> int:
        """Where the node with this name stands; ``name`` is what an error calls it.

        >>> from elene import Graph
        >>> Graph.from_edges([(0, 1)]).position(1)
        1
        """
        try:
            key = int(index(node)) if self.names is None else hash(node)
        except TypeError:
            key = None
        if key is None or (self.names is None and isinstance(node, bool)):
            raise TypeError(f"{name} must be one node, got {node!r:.80}")
        return int(self.positions([node if self.names is not None else key], name)[0])

    @cached_property
    def _position_of(self) -> dict[Any, int]:
        assert self.names is not None
        position_of = {name: position for position, name in enumerate(self.names.tolist())}
        if len(position_of) < len(self.names):
            raise ValueError("names repeat, so a name does not say which node is meant: give each node its own")
        return position_of

    @property
    def in_memory(self) -> bool:
        """Whether a copy with other numbers of nodes may be made of it, which has room where the graph itself has."""
        return True

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

    @cached_property
    def label_hashes(self) -> NDArray[np.uint64] | None:
        """What kernels read of labels: their colours hashed, for they are small numbers where labels were not text."""
        from elene.kernels.refine import chain_all

        colors = self.label_colors
        return None if colors is None else _frozen(chain_all(np.zeros_like(colors), colors))

    @cached_property
    def words(self) -> Words:
        """What kernels read of small parts: runs of at most 64 nodes that no edge leaves, as a molecule of many is."""
        from elene.kernels.order import small_parts

        return small_parts(*self.scanned)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to, however often others ask for it."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
