"""Graph: one immutable undirected simple graph in compressed sparse rows, and the ways into it."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elene.extras import needing
from elene.graph import sources
from elene.graph.arrays import GraphArrays
from elene.graph.edges import adjacency, checked_names, count_nodes, edge_array, integers, positions_of_names
from elene.graph.labels import checked_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Graph(GraphArrays):
    """An undirected simple graph in compressed sparse rows; build it with one of the ``from_...`` methods.

    Inside, nodes are the positions ``0 .. num_nodes - 1``. Where the source named its nodes otherwise, ``names`` keeps
    the names, every function of the library takes them, and results carry them. A label is another thing: the class of
    a node (the atom, the community), which many nodes share and which encodings tell apart.

    Args:
        indptr: where each node's neighbours begin in ``indices``; ``num_nodes + 1`` integers.
        indices: the neighbours, ascending for each node; every edge stands here twice.
        names: the original name of each node, or None where names are positions.
        labels: the class of each node, an integer, or None where there are no classes.
        label_names: what the integers stand for, where labels were text; else None.

    Example:
        >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
        >>> graph
        Graph(num_nodes=4, num_edges=4)
        >>> graph.degrees.tolist()
        [2, 2, 3, 1]
        >>> graph.with_labels(["C", "C", "N", "O"])
        Graph(num_nodes=4, num_edges=4, labels=3)
    """

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled arrays come back writable, and cached ones are cheaper to compute than to send.
        return Graph.trusted, tuple(getattr(self, field.name) for field in fields(self))

    def with_labels(self, labels: Any) -> Graph:
        """The same graph with other labels, or with None for none.

        Args:
            labels: one for each node, integers or text, in the order of the nodes; or, by their names, a ``dict`` or a
                pandas ``Series``, such as a column of a table of nodes whose index is their name. One-hot rows are
                read as the place of the 1.

        Example:
            >>> graph = Graph.from_edges([("a", "b"), ("b", "c")])
            >>> labelled = graph.with_labels({"a": "red", "b": "blue", "c": "red"})
            >>> labelled.labels.tolist(), labelled.label_names.tolist()
            ([1, 0, 1], ['blue', 'red'])
        """
        found = (None, None) if labels is None else checked_labels(labels, self.nodes)
        return Graph.trusted(self.indptr, self.indices, self.names, *found)

    def to_scipy(self) -> csr_array:
        """The adjacency matrix as a ``scipy.sparse.csr_array`` of ones.

        >>> Graph.from_edges([(0, 1)]).to_scipy().toarray().tolist()
        [[0, 1], [1, 0]]
        """
        from scipy.sparse import csr_array

        ones = np.ones(len(self.indices), dtype=np.int32)
        return csr_array((ones, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def to_networkx(self) -> Any:
        """The same graph for networkx, with the names of the nodes, and their labels as the attribute ``label``.

        >>> Graph.from_edges([("a", "b"), ("b", "c")]).to_networkx().edges
        EdgeView([('a', 'b'), ('b', 'c')])
        """
        with needing("io", "Graph.to_networkx"):
            import networkx
        if self.names is not None:
            _ = self._position_of  # nodes of one name would become one node
        names = self.nodes.tolist()
        graph = networkx.Graph()
        graph.add_nodes_from(names)
        graph.add_edges_from((names[u], names[v]) for u, v in self.edges.tolist())
        if self.labels is not None:
            networkx.set_node_attributes(graph, dict(zip(names, self.label_values.tolist(), strict=True)), "label")
        return graph

    @classmethod
    def from_edges(
        cls, edges: ArrayLike, num_nodes: int | None = None, *, names: ArrayLike | None = None, labels: Any = None
    ) -> Graph:
        """A graph from an ``(m, 2)`` array of node positions, one undirected edge a row, in either direction or both.

        Self-loops and repeated rows are dropped with a :class:`GraphWarning`.

        Args:
            edges: integers, or strings, which are names; an ``edge_index`` of shape ``(2, m)`` goes through
                :meth:`from_pyg`, integers that are names through :meth:`from_pandas`.
            num_nodes: how many nodes there are; by default the largest position plus one.
            names: the name of each node; where the edges hold names, by default those, in ascending order.
            labels: the class of each node, as :meth:`with_labels` takes it.

        Example:
            >>> Graph.from_edges([(0, 1), (1, 2)], num_nodes=5)
            Graph(num_nodes=5, num_edges=2)
            >>> Graph.from_edges([("c", "a"), ("c", "b")]).nodes.tolist()
            ['a', 'b', 'c']
        """
        pairs = edge_array(edges)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            hint = " (an edge_index of shape (2, m) goes through Graph.from_pyg)" if pairs.shape[:1] == (2,) else ""
            raise ValueError(f"edges must have shape (m, 2), got {pairs.shape}{hint}")
        if pairs.dtype.kind == "U":
            pairs, names = positions_of_names(pairs, num_nodes, names)
            num_nodes = len(names)
        pairs = integers(pairs, "edges")
        n = count_nodes(pairs, num_nodes, "edges")
        named = None if names is None else checked_names(names, n)
        indptr, indices, _ = adjacency(pairs[:, 0], pairs[:, 1], n)
        return cls.trusted(indptr, indices, named)._labelled(labels)

    @classmethod
    def _named(cls, edges: sources.Edges, labels: Any) -> Graph:
        pairs, num_nodes, names = edges
        return cls.from_edges(pairs, num_nodes, names=names, labels=labels)

    def _labelled(self, labels: Any) -> Graph:
        return self if labels is None else self.with_labels(labels)

    @classmethod
    def from_pandas(cls, table: Any, source: Any = "source", target: Any = "target", *, labels: Any = None) -> Graph:
        """A graph from a table with one edge a row: a pandas or polars ``DataFrame``, other columns ignored.

        Ends are names, integers or strings; nodes are in their ascending order.

        Args:
            table: the table.
            source: the column that holds one end.
            target: the column that holds the other.
            labels: the class of each node, as :meth:`with_labels` takes it: best a column of a table of nodes.

        Example:
            >>> import pandas
            >>> friends = pandas.DataFrame({"who": [7, 9], "whom": [9, 30], "since": [2001, 2010]})
            >>> Graph.from_pandas(friends, "who", "whom").nodes.tolist()
            [7, 9, 30]
            >>> people = pandas.DataFrame({"id": [30, 9, 7], "town": ["Rome", "Rome", "Oslo"]}).set_index("id")
            >>> Graph.from_pandas(friends, "who", "whom", labels=people["town"]).label_values.tolist()
            ['Oslo', 'Rome', 'Rome']
        """
        return cls._named(sources.table_edges(table, source, target), labels)

    @classmethod
    def from_networkx(cls, graph: Any, *, labels: Any = None) -> Graph:
        """A graph from an undirected networkx graph, with its names of nodes.

        Args:
            graph: the graph.
            labels: the attribute that holds the class of each node, or as :meth:`with_labels` takes them.

        Example:
            >>> import networkx as nx
            >>> Graph.from_networkx(nx.petersen_graph())
            Graph(num_nodes=10, num_edges=15)
            >>> Graph.from_networkx(nx.karate_club_graph(), labels="club").label_names.tolist()
            ['Mr. Hi', 'Officer']
        """
        return cls._named(sources.networkx_edges(graph), sources.networkx_labels(graph, labels))

    @classmethod
    def from_scipy(cls, matrix: Any, *, labels: Any = None) -> Graph:
        """A graph from a symmetric scipy sparse (or dense) adjacency matrix; every nonzero entry is an edge.

        ``labels`` are the classes of nodes, as :meth:`with_labels` takes them.

        >>> import scipy.sparse as sp
        >>> Graph.from_scipy(sp.csr_array([[0, 1], [1, 0]]))
        Graph(num_nodes=2, num_edges=1)
        """
        return cls._from_arcs(*sources.matrix_arcs(matrix), "matrix", "matrix.maximum(matrix.T)")._labelled(labels)

    @classmethod
    def from_igraph(cls, graph: Any, *, labels: Any = None) -> Graph:
        """A graph from an undirected python-igraph graph; a vertex attribute ``name`` names the nodes.

        ``labels`` is the attribute that holds the class of each node, or as :meth:`with_labels` takes them.

        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph.Ring(5))
        Graph(num_nodes=5, num_edges=5)
        """
        return cls._named(sources.igraph_edges(graph), sources.igraph_labels(graph, labels))

    @classmethod
    def from_dgl(cls, graph: Any, *, labels: Any = None) -> Graph:
        """A graph from a DGL graph with nodes of one type, which must list both directions of every edge.

        As in ``Graph.from_dgl(dgl.to_bidirected(dgl.graph(([0, 1], [1, 2]))))``. ``labels`` is the feature in ``ndata``
        that holds the class of each node, or as :meth:`with_labels` takes them.
        """
        found = cls._from_arcs(*sources.dgl_arcs(graph), "graph", "dgl.to_bidirected(graph)")
        return found._labelled(sources.dgl_labels(graph, labels))

    @classmethod
    def from_rustworkx(cls, graph: Any, *, labels: Any = None) -> Graph:
        """A graph from an undirected rustworkx graph; where nodes were removed, names are indices.

        ``labels`` are the classes of nodes, as :meth:`with_labels` takes them: ``graph.nodes()`` where they are these.

        >>> import rustworkx
        >>> Graph.from_rustworkx(rustworkx.generators.cycle_graph(5))
        Graph(num_nodes=5, num_edges=5)
        """
        return cls._named(sources.rustworkx_edges(graph), labels)

    @classmethod
    def from_pyg(cls, data: Any, num_nodes: int | None = None, *, labels: Any = None) -> Graph:
        """A graph from a PyG ``Data`` or an ``edge_index`` of shape ``(2, arcs)`` that lists both directions.

        ``adj_t``, the sparse matrix of ``ToSparseTensor``, stands in where there is no ``edge_index``. ``labels`` names
        what holds the class of each node (``"x"``, where it is one column or one-hot), or as :meth:`with_labels`
        takes them.

        >>> import torch
        >>> Graph.from_pyg(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        Graph(num_nodes=3, num_edges=2)
        """
        fix = "torch_geometric.utils.to_undirected(edge_index)"
        found = cls._from_arcs(*sources.data_arcs(data, num_nodes), "edge_index", fix)
        return found._labelled(sources.pyg_labels(data, labels))

    @classmethod
    def _joined(
        cls, sources: NDArray[Any], targets: NDArray[Any], n: int, names: NDArray[Any] | None = None
    ) -> tuple[Graph, int]:
        """The graph that arcs span, and how many of its edges stood in both directions."""
        indptr, indices, distinct_arcs = adjacency(sources, targets, n)
        return cls.trusted(indptr, indices, names), distinct_arcs - len(indices) // 2

    @classmethod
    def _from_arcs(cls, sources: NDArray[Any], targets: NDArray[Any], n: int, name: str, fix: str) -> Graph:
        """A graph from a list that must hold both directions of every edge."""
        indptr, indices, distinct_arcs = adjacency(sources, targets, n)
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
        labels: str | None = None,
        nodes: str | os.PathLike[str] | None = None,
    ) -> Graph:
        """A graph from a file; ``elene.io.readers`` lists the formats.

        What was read and how is logged by the logger ``elene.io`` at the level INFO.

        Args:
            path: the file; its ending decides the format, and ``.gz`` or ``.zst`` may follow; ``-`` is an edge list
                from standard input.
            index: which graph, in a file that holds several (:meth:`read_all` gives them all).
            source: the column of an edge table that holds one end, by name or counted from 0, where it does not show.
            target: the column that holds the other end.
            header: whether the first line of a text names the columns, where it does not show.
            undirected: join arcs, in a file that holds them.
            labels: the attribute of nodes that is their class, in GraphML, GML and GEXF; the array, in ``.npz``; or the
                column of the table of nodes.
            nodes: a table with a row for each node, ``.csv``, ``.tsv`` or ``.parquet``: its name in the column
                ``node``, ``name`` or ``id``, or else the first, and its label in another.

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

        return read_graph(path, index, Options(source, target, header, undirected, labels, nodes))

    @classmethod
    def read_all(
        cls, path: str | os.PathLike[str], *, undirected: bool = False, labels: str | None = None
    ) -> list[Graph]:
        """Every graph of a file; a list of one for the formats that hold one. For the arguments see :meth:`read`.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "two.g6")
        >>> _ = path.write_text("Bw\\nCR\\n")
        >>> Graph.read_all(path)
        [Graph(num_nodes=3, num_edges=3), Graph(num_nodes=4, num_edges=3)]
        """
        from elene.io.readers import Options, read_graphs

        return read_graphs(path, Options(undirected=undirected, labels=labels))
