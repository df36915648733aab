"""encode(): validate, count, and give an Encoding: sparse counts with named columns."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from elene.arrays import opened
from elene.encoding.archive import plain_labels, read_fields
from elene.encoding.columns import AnyColumn
from elene.encoding.counts import count_rows
from elene.encoding.rows import find_rows as find_rows
from elene.encoding.rows import rows_between as rows_between
from elene.encoding.spec import EncodingSpec, with_unknown
from elene.engine.plan import Rows
from elene.files import check_path, replacing
from elene.forking import cached_property
from elene.graph import Graph, as_graph
from elene.progress import showing
from elene.validation import brief, check_list


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """The encodings of nodes, edges or pairs as a sparse matrix, one row each.

    Args:
        matrix: the counts, a ``scipy.sparse.csr_array``.
        table: what each column counts, as integers; :attr:`columns` spells it out.
        spec: the parameters it was made with.
        nodes: the name of each row's node (``level="node"``).
        edges: the names of each row's two ends (``level="edge"`` and ``"pair"``).
        distances: the distance of each row's two ends (``level="pair"``); -1 where no path joins them.
        label_names: what the integers of labels in ``table`` stand for, where labels were text.

    Example:
        >>> import networkx as nx
        >>> encoding = encode(nx.path_graph(3), k=1)
        >>> encoding
        Encoding(3 nodes x 18 columns, k=1, marginal)
        >>> str(encoding.columns[10]), encoding.matrix[:, 10].toarray().tolist()
        ('k1.distance1.closer1', [1, 2, 1])
    """

    matrix: csr_array
    table: NDArray[np.int64]
    spec: EncodingSpec
    nodes: NDArray[Any] | None = None
    edges: NDArray[Any] | None = None
    distances: NDArray[np.int64] | None = None
    label_names: NDArray[Any] | None = None

    def __repr__(self) -> str:
        rows, columns = self.matrix.shape
        depths = self.spec.depths
        k = depths[0] if len(depths) == 1 else list(depths)
        labels = ", labels" if self.spec.labelled else ""
        return f"Encoding({rows} {self.spec.level}s x {columns} columns, k={k}, {self.spec.form}{labels})"

    def _repr_html_(self) -> str:
        from elene.encoding.views import encoding_view

        return encoding_view(self)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are.

        >>> import networkx as nx
        >>> encode(nx.path_graph(3), k=1).shape
        (3, 18)
        """
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    def __len__(self) -> int:
        return self.shape[0]

    # With a length and brackets, Python would take it for a list of rows.
    __iter__ = None

    def __getitem__(self, column: str | AnyColumn) -> NDArray[Any]:
        """The counts of one column, by its readable name: one for each row.

        >>> import networkx as nx
        >>> encode(nx.path_graph(3), k=1)["k1.distance1.closer1"].tolist()
        [1, 2, 1]
        """
        counts: NDArray[Any] = self.matrix[:, [self._place(column)]].toarray().ravel()
        return counts

    def _place(self, column: str | AnyColumn) -> int:
        name = str(column)
        if name not in self._place_of:
            some = ", ".join(repr(str(known)) for known in self.columns[:3])
            raise KeyError(f"no column {name!r} among {some}, ...; encoding.row(...) gives the row of a node")
        return self._place_of[name]

    def example(self, column: str | AnyColumn) -> Any:
        """The first node that is counted in a column, or the two ends of the first edge or pair: to look at a type.

        >>> import elene, networkx as nx
        >>> graph = nx.star_graph(3)
        >>> types = encode(graph, k=1, form="type")
        >>> for column in types.columns:
        ...     node = types.example(column)
        ...     print(types[column].sum(), column, sorted(tuple(q) for q in elene.quadruplets(graph, node, k=1)))
        1 k1.type.8ddc6e64af3d02c5 [(0, 0, 3, 3), (1, 1, 1, 0)]
        3 k1.type.fd9a64c6c7137c9a [(0, 0, 1, 1), (1, 1, 1, 0)]
        """
        rows = np.flatnonzero(self[column])
        if not len(rows):
            raise ValueError(f"column {str(column)!r} is zero in every row, so there is no example of it")
        if self.nodes is not None:
            return self.nodes[rows[0] : rows[0] + 1].tolist()[0]
        assert self.edges is not None
        return tuple(self.edges[rows[0]].tolist())

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {str(column): place for place, column in enumerate(self.columns)}

    def row(self, name: Any) -> NDArray[Any]:
        """The counts of one node by its name; of an edge or a pair by its two ends, in either order.

        >>> import networkx as nx
        >>> encode(nx.path_graph(["a", "b", "c"]), k=1, form="joint").row("b").tolist()
        [0, 1, 2]
        """
        if self.nodes is not None:
            found = _same(self.nodes, name)
        else:
            assert self.edges is not None
            ends = check_list("name", name, "two nodes")
            if len(ends) != 2:
                raise ValueError(f"name must be the two ends of a row, got {name!r}")
            u, v = ends
            first, second = self.edges.T
            found = (_same(first, u) & _same(second, v)) | (_same(first, v) & _same(second, u))
        rows = np.flatnonzero(found)
        if len(rows) != 1:
            raise ValueError(f"name: {self.spec.level} {name!r:.80} has {len(rows)} rows in this encoding")
        counts: NDArray[Any] = self.matrix[rows].toarray().ravel()
        return counts

    def to_pandas(self) -> Any:
        """A pandas ``DataFrame`` with a row for each node, edge or pair, named, and a readable column for each count.

        The index is ``node``, or ``source`` and ``target``, for pairs with ``pair_distance``.

        >>> import networkx as nx
        >>> encode(nx.path_graph(["a", "b", "c"]), k=1, form="joint").to_pandas()
              k1.(0,0,1,1)  k1.(0,0,2,2)  k1.(1,1,1,0)
        node
        a                1             0             1
        b                0             1             2
        c                1             0             1
        """
        from elene.encoding.tables import pandas_table

        return pandas_table(self)

    def to_arrow(self) -> Any:
        """A pyarrow ``Table``, as :meth:`to_pandas`, with the names as its first columns.

        >>> import networkx as nx
        >>> encode(nx.path_graph(3), k=1, form="joint").to_arrow().column_names
        ['node', 'k1.(0,0,1,1)', 'k1.(0,0,2,2)', 'k1.(1,1,1,0)']
        """
        from elene.encoding.tables import arrow_table

        return arrow_table(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        from elene.encoding.tables import dense

        return dense(self).astype(dtype or self.matrix.dtype, copy=False)

    def compact(self) -> Encoding:
        """The same without the columns that are zero in every row; ``encode(..., compact=True)`` gives it at once.

        >>> import networkx as nx
        >>> [str(column) for column in encode(nx.empty_graph(2), k=1).compact().columns]
        ['k1.distance0.closer0', 'k1.distance0.degree0', 'k1.distance0.farther0']
        """
        used = np.zeros(self.shape[1], bool)
        used[self.matrix.indices] = True
        place = (np.cumsum(used) - 1).astype(self.matrix.indices.dtype)
        parts = (self.matrix.data, place[self.matrix.indices], self.matrix.indptr)
        return replace(self, matrix=csr_array(parts, shape=(len(self), int(used.sum()))), table=self.table[used])

    @cached_property
    def columns(self) -> Sequence[AnyColumn]:
        """What each column counts, as a named tuple; ``str`` of it is a readable name."""
        return self.spec.name_columns(self.table, self.label_names)

    def onto(self, table: NDArray[np.int64]) -> Encoding:
        """The same counts on the columns of another table; what it lacks goes to one unknown column a depth.

        Labels must have the same numbers in both.

        >>> import networkx as nx
        >>> triangle = encode(nx.complete_graph(3), k=1, form="joint")
        >>> path = encode(nx.path_graph(3), k=1, form="joint").onto(triangle.table)
        >>> [str(column) for column in path.columns]
        ['k1.(0,0,2,2)', 'k1.(1,1,2,0)', 'k1.unknown']
        >>> path.matrix.toarray().tolist()
        [[0, 0, 2], [1, 0, 2], [0, 0, 2]]
        """
        columns = with_unknown(table, self.spec.depths)
        known = len(columns) - len(self.spec.depths)
        found = _places(self.table, columns[:known], self.spec.form == "type")
        spare = np.searchsorted(np.sort(self.spec.depths), self.table[:, 0])
        unknown = known + np.argsort(self.spec.depths)[spare]
        target = np.where(found < 0, unknown, found).astype(np.int32)
        coo = coo_array(self.matrix)
        shape = (self.matrix.shape[0], len(columns))
        matrix = coo_array((coo.data, (coo.row, target[coo.col])), shape=shape).tocsr()
        return replace(self, matrix=matrix, table=columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one ``.npz`` file, whole or not at all, without pickle; :meth:`load` reads it.

        >>> import networkx as nx, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "path.npz")
        >>> encode(nx.path_graph(3), k=1).save(path)
        >>> Encoding.load(path)
        Encoding(3 nodes x 18 columns, k=1, marginal)
        """
        if not str(path).endswith(".npz"):
            raise ValueError(f"path must end in .npz, got {str(path)!r}")
        names = {name: getattr(self, name) for name in ("nodes", "edges", "distances", "label_names")}
        arrays: dict[str, Any] = {
            "data": self.matrix.data,
            "indices": self.matrix.indices,
            "indptr": self.matrix.indptr,
            "shape": np.array(self.matrix.shape),
            "table": self.table,
            "spec": np.array(json.dumps(asdict(self.spec))),
            **{name: plain_labels(array) for name, array in names.items() if array is not None},
        }
        with replacing(path) as temporary:
            np.savez_compressed(temporary, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Encoding:
        """Read what :meth:`save` or ``elene encode -o out.npz`` wrote."""
        name = check_path("path", path)
        try:
            with opened(name) as file:
                return cls(**read_fields(file))
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no file {str(name)!r}") from None
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{str(name)!r} is not an encoding saved by elene, or not whole: {error}") from error


def encode(  # noqa: PLR0913 - the one entry point: every argument but the first two is an option with a default
    graph: Any,
    k: int | Sequence[int],
    *,
    level: str = "node",
    degrees: str = "relative",
    form: str = "marginal",
    max_degree: int | None = None,
    radius: int | None = None,
    roots: ArrayLike | None = None,
    threads: int | None = None,
    compact: bool = False,
    labels: Any = None,
    progress: bool = False,
) -> Encoding:
    """ELENE encodings of the nodes, edges or pairs of a graph.

    The encoding of a node v is the multiset of the quadruplets ``(distance, closer, degree, farther)`` of all nodes
    within k of v; that of an edge or pair reads the intersection of both ego-networks from either end. In a graph with
    labels, a quadruplet has the label of its node as one more part: joint columns gain it, and marginal columns are
    there once for each label that occurs.

    Args:
        graph: a :class:`Graph`, or a networkx, igraph, scipy or PyG graph.
        k: depth of the ego-networks, or several depths, whose columns stand side by side.
        level: ``"node"``, ``"edge"``, or ``"pair"`` for all pairs of connected nodes (each node with itself included).
        degrees: ``"relative"``, or ``"absolute"`` for (distance, degree) alone (IGEL).
        form: ``"marginal"`` counts closer, degree and farther apart, in ``3 (k+1) (max_degree+1)`` columns;
            ``"joint"`` counts whole quadruplets, a column each; ``"type"`` has a column for each distinct encoding, the
            whole multiset, and a 1 in it; ``"product"`` multiplies the ends' marginal vectors.
        max_degree: larger values count as this one; by default the largest degree of the graph.
        radius: for pairs, the largest distance between the two.
        roots: the nodes to encode, or edges or pairs as an array of shape ``(r, 2)`` or, like PyG's
            ``edge_label_index``, ``(2, r)``; by default all. A pair that no path joins gets an empty row, and the
            distance -1.
        threads: how many threads to use; by default one for every core. The result does not depend on it.
        compact: leave out the columns that are zero in every row.
        labels: by default those that a :class:`Graph` has; False for none; the name of the attribute that holds them,
            for graphs of other libraries; or labels, as :meth:`Graph.with_labels` takes them.
        progress: show on standard error how far it is.

    Returns:
        An :class:`Encoding` with one row for each root, in the order given.

    Example:
        >>> import networkx as nx
        >>> star = nx.star_graph(3)
        >>> joint = encode(star, k=1, form="joint")
        >>> [str(column) for column in joint.columns]
        ['k1.(0,0,1,1)', 'k1.(0,0,3,3)', 'k1.(1,1,1,0)']
        >>> joint.matrix.toarray().tolist()
        [[0, 1, 3], [1, 0, 1], [1, 0, 1], [1, 0, 1]]
        >>> encode(star, k=[1, 2], level="edge")
        Encoding(3 edges x 60 columns, k=[1, 2], marginal)
        >>> water = encode(nx.path_graph(3), k=1, form="joint", labels=["H", "O", "H"])
        >>> [str(column) for column in water.columns]
        ['k1.(0,0,1,1,H)', 'k1.(0,0,2,2,O)', 'k1.(1,1,1,0,H)', 'k1.(1,1,1,0,O)']
    """
    graph = as_graph(graph, labels=labels)
    spec = EncodingSpec.of(k, level, degrees, form, max_degree, radius)
    rows = find_rows(graph, spec, roots)
    with showing(f"encoding {len(rows)} {level}s") if progress else nullcontext():
        encoding = encode_rows(graph, spec, rows, threads)
    return encoding.compact() if compact else encoding


def encode_rows(graph: Graph, spec: EncodingSpec, rows: Rows, threads: int | None) -> Encoding:
    """What :func:`encode` does once its arguments are checked and its rows are known."""
    spec = replace(spec, labelled=graph.labels is not None)
    return with_names(graph, spec, rows, *count_rows(graph, spec, rows, threads))


def with_names(graph: Graph, spec: EncodingSpec, rows: Rows, matrix: csr_array, table: NDArray[np.int64]) -> Encoding:
    """Counts and the table of their columns, with the names of what the rows stand for."""
    if rows.second is None:
        return Encoding(matrix, table, spec, nodes=graph.names_at(rows.first), label_names=graph.label_names)
    edges = np.stack([graph.names_at(rows.first), graph.names_at(rows.second)], axis=1)
    return Encoding(matrix, table, spec, edges=edges, distances=rows.distance, label_names=graph.label_names)


def _places(table: NDArray[np.int64], known: NDArray[np.int64], colors: bool) -> NDArray[np.int64]:
    """Where each row of a table stands among the known ones, -1 where it does not.

    Types are many, and need not be looked at one by one: their colours can be searched for.
    """
    if np.array_equal(table, known):
        return np.arange(len(table))
    if not colors:
        place = {row: i for i, row in enumerate(map(tuple, known.tolist()))}
        return np.array([place.get(tuple(row), -1) for row in table.tolist()], dtype=np.int64)
    places = np.full(len(table), -1)
    for depth in np.unique(table[:, 0]).tolist():
        rows, ours = np.flatnonzero(known[:, 0] == depth), np.flatnonzero(table[:, 0] == depth)
        rows = rows[np.argsort(known[rows, 2])]
        at = np.searchsorted(known[rows, 2], table[ours, 2])
        there = at < len(rows)
        there[there] = known[rows[at[there]], 2] == table[ours[there], 2]
        places[ours[there]] = rows[at[there]]
    return places


def _same(labels: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Which labels are this one; those that are objects may be tuples, which numpy would take for arrays."""
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"name must be made of names of nodes, got {brief(label)}") from None
    return np.fromiter((bool(one == label) for one in labels.tolist()), dtype=bool, count=len(labels))
