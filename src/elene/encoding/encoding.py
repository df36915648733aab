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
from scipy.sparse import coo_array, csr_array, hstack

from elene.arrays import opened
from elene.encoding.archive import plain_labels, read_counts, read_names
from elene.encoding.spec import Column as Column
from elene.encoding.spec import EncodingSpec
from elene.encoding.spec import JointColumn as JointColumn
from elene.encoding.spec import Quadruplet as Quadruplet
from elene.engine.counting import count_joint, count_marginal
from elene.engine.distances import distances_between, pairs_within
from elene.engine.plan import Rows, effective_depth
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

    def __repr__(self) -> str:
        rows, columns = self.matrix.shape
        depths = self.spec.depths
        k = depths[0] if len(depths) == 1 else list(depths)
        return f"Encoding({rows} {self.spec.level}s x {columns} columns, k={k}, {self.spec.form})"

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

    def __getitem__(self, column: str | Column | JointColumn) -> NDArray[Any]:
        """The counts of one column, by its readable name: one for each row.

        >>> import networkx as nx
        >>> encode(nx.path_graph(3), k=1)["k1.distance1.closer1"].tolist()
        [1, 2, 1]
        """
        name = str(column)
        if name not in self._place_of:
            some = ", ".join(repr(str(known)) for known in self.columns[:3])
            raise KeyError(f"no column {name!r} among {some}, ...; encoding.row(...) gives the row of a node")
        counts: NDArray[Any] = self.matrix[:, [self._place_of[name]]].toarray().ravel()
        return counts

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
    def columns(self) -> list[Column] | list[JointColumn]:
        """What each column counts, as a named tuple; ``str`` of it is a readable name."""
        return self.spec.name_columns(self.table)

    def onto(self, table: NDArray[np.int64]) -> Encoding:
        """The same joint counts on the columns of another table; what it lacks goes to one unknown column a depth.

        >>> import networkx as nx
        >>> triangle = encode(nx.complete_graph(3), k=1, form="joint")
        >>> path = encode(nx.path_graph(3), k=1, form="joint").onto(triangle.table)
        >>> [str(column) for column in path.columns]
        ['k1.(0,0,2,2)', 'k1.(1,1,2,0)', 'k1.unknown']
        >>> path.matrix.toarray().tolist()
        [[0, 0, 2], [1, 0, 2], [0, 0, 2]]
        """
        known = table[table[:, 1] >= 0]
        unknown = np.full((len(self.spec.depths), table.shape[1]), -1)
        unknown[:, 0] = self.spec.depths
        place = {row: i for i, row in enumerate(map(tuple, known.tolist()))}
        spare = {depth: len(known) + i for i, depth in enumerate(self.spec.depths)}
        target = np.array([place.get(tuple(row), spare[row[0]]) for row in self.table.tolist()], dtype=np.int32)
        coo = coo_array(self.matrix)
        shape = (self.matrix.shape[0], len(known) + len(unknown))
        matrix = coo_array((coo.data, (coo.row, target[coo.col])), shape=shape).tocsr()
        return replace(self, matrix=matrix, table=np.vstack([known, unknown]))

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
        labels = {name: getattr(self, name) for name in ("nodes", "edges", "distances")}
        arrays: dict[str, Any] = {
            "data": self.matrix.data,
            "indices": self.matrix.indices,
            "indptr": self.matrix.indptr,
            "shape": np.array(self.matrix.shape),
            "table": self.table,
            "spec": np.array(json.dumps(asdict(self.spec))),
            **{name: plain_labels(array) for name, array in labels.items() if array is not None},
        }
        with replacing(path) as temporary:
            np.savez_compressed(temporary, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Encoding:
        """Read what :meth:`save` or ``elene encode -o out.npz`` wrote."""
        name = check_path("path", path)
        try:
            with opened(name) as file:
                matrix, table, spec = read_counts(file)
                return cls(matrix, table, spec, **read_names(file))
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
    progress: bool = False,
) -> Encoding:
    """ELENE encodings of the nodes, edges or pairs of a graph.

    The encoding of a node v is the multiset of the quadruplets ``(distance, closer, degree, farther)`` of all nodes
    within k of v; that of an edge or pair reads the intersection of both ego-networks from either end.

    Args:
        graph: a :class:`Graph`, or a networkx, igraph, scipy or PyG graph.
        k: depth of the ego-networks, or several depths, whose columns stand side by side.
        level: ``"node"``, ``"edge"``, or ``"pair"`` for all pairs of connected nodes (each node with itself included).
        degrees: ``"relative"``, or ``"absolute"`` for (distance, degree) alone (IGEL).
        form: ``"marginal"`` counts closer, degree and farther apart, in ``3 (k+1) (max_degree+1)`` columns;
            ``"joint"`` counts whole quadruplets, a column each; ``"product"`` multiplies the ends' marginal vectors.
        max_degree: larger values count as this one; by default the largest degree of the graph.
        radius: for pairs, the largest distance between the two.
        roots: the nodes to encode, or edges or pairs as an array of shape ``(r, 2)`` or, like PyG's
            ``edge_label_index``, ``(2, r)``; by default all. A pair that no path joins gets an empty row, and the
            distance -1.
        threads: how many threads to use; by default one for every core. The result does not depend on it.
        compact: leave out the columns that are zero in every row.
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
    """
    graph = as_graph(graph)
    spec = EncodingSpec.of(k, level, degrees, form, max_degree, radius)
    rows = find_rows(graph, spec, roots)
    with showing(f"encoding {len(rows)} {level}s") if progress else nullcontext():
        encoding = encode_rows(graph, spec, rows, threads)
    return encoding.compact() if compact else encoding


def encode_rows(graph: Graph, spec: EncodingSpec, rows: Rows, threads: int | None) -> Encoding:
    """What :func:`encode` does once its arguments are checked and its rows are known."""
    counted = _count_depths(graph, spec, rows, threads)
    parts = [counted[depth] for depth in spec.depths]
    matrix = parts[0][0] if len(parts) == 1 else hstack([part[0] for part in parts], format="csr")
    table = np.vstack([part[1] for part in parts])
    if rows.second is None:
        return Encoding(matrix, table, spec, nodes=graph.names_at(rows.first))
    edges = np.stack([graph.names_at(rows.first), graph.names_at(rows.second)], axis=1)
    return Encoding(matrix, table, spec, edges=edges, distances=rows.distance)


Counts = tuple[csr_array, NDArray[np.int64]]


def _count_depths(graph: Graph, spec: EncodingSpec, rows: Rows, threads: int | None) -> dict[int, Counts]:
    """The counts and columns of each depth; once nothing is left to be reached, deeper ones are not counted again."""
    count = {"marginal": _marginal, "joint": _joint, "product": _product}[spec.form]
    counted: dict[int, Counts] = {}
    whole: Counts | None = None
    deepest = max(spec.depths)
    for depth in sorted(spec.depths):
        if whole is not None:
            counted[depth] = _deepened(graph, whole, depth, spec)
            continue
        counted[depth] = count(graph, rows, depth, spec, threads)
        if depth < deepest and _reaches_all(counted[depth], rows, depth, spec):
            whole = counted[depth]
    return counted


def _reaches_all(counts: Counts, rows: Rows, depth: int, spec: EncodingSpec) -> bool:
    """Whether greater depths count the same.

    So it is where nothing was found at the full depth: on the way from a root to what is farther there would be. For
    two roots, no farther apart than the depth, that is so for the larger of both distances. Products may hide it.
    """
    farthest = farthest_seen(counts[0].indices, counts[1], spec)
    apart = 0 if rows.distance is None else int(rows.distance.max(initial=0))
    return spec.form != "product" and farthest < depth and apart <= depth


def farthest_seen(indices: NDArray[Any], table: NDArray[np.int64], spec: EncodingSpec) -> int:
    """The largest distance that some columns of a table stand for; -1 without columns.

    >>> farthest_seen(np.array([0, 2]), np.array([[2, 0, 1, 0], [2, 1, 1, 0], [2, 2, 1, 0]]), EncodingSpec.of(2))
    2
    """
    used = np.zeros(len(table), bool)
    used[indices] = True
    fields = 1 + np.arange(0, table.shape[1] - 1, 2 if spec.absolute else 4) if spec.form == "joint" else [1]
    return int(table[used][:, fields].max(initial=-1))


def _deepened(graph: Graph, whole: Counts, depth: int, spec: EncodingSpec) -> Counts:
    """The counts of a greater depth that reaches nothing new."""
    matrix, table = whole
    if spec.form == "joint":
        table = table.copy()
        table[:, 0] = depth
        return matrix, table
    table = marginal_table(graph, spec, depth)
    wider = csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], len(table)))
    return wider, table


def marginal_table(graph: Graph, spec: EncodingSpec, depth: int) -> NDArray[np.int64]:
    """The columns of a depth, which must not be many more than the graph can make use of."""
    rho = graph.max_degree if spec.max_degree is None else spec.max_degree
    useful = 3 * (effective_depth(graph, depth) + 1) * (min(rho, graph.max_degree) + 1)
    return spec.marginal_table(depth, rho, useful)


def _marginal(graph: Graph, rows: Rows, depth: int, spec: EncodingSpec, threads: int | None) -> Counts:
    table = marginal_table(graph, spec, depth)
    rho = graph.max_degree if spec.max_degree is None else spec.max_degree
    return count_marginal(graph, rows, depth, rho, spec.absolute, threads), table


def _joint(graph: Graph, rows: Rows, depth: int, spec: EncodingSpec, threads: int | None) -> Counts:
    rho = graph.max_degree if spec.max_degree is None else min(spec.max_degree, graph.max_degree)
    matrix, quadruplets = count_joint(graph, rows, depth, rho, spec.absolute, threads)
    return matrix, np.hstack([np.full((len(quadruplets), 1), depth), quadruplets])


def _product(graph: Graph, rows: Rows, depth: int, spec: EncodingSpec, threads: int | None) -> Counts:
    assert rows.second is not None
    ends, place = np.unique(np.concatenate([rows.first, rows.second]), return_inverse=True)
    vectors, table = _marginal(graph, Rows(ends), depth, spec, threads)
    return csr_array(vectors[place[: len(rows)]].multiply(vectors[place[len(rows) :]])), table


def find_rows(graph: Graph, spec: EncodingSpec, roots: ArrayLike | None) -> Rows:
    """The rows that the roots name, or all of the level."""
    if spec.level == "node":
        if roots is None:
            return Rows(np.arange(graph.num_nodes))
        names = check_list("roots", roots, "nodes")
        if graph.names is None and isinstance(names, np.ndarray) and names.ndim != 1:
            raise ValueError(f"roots must be a list of nodes, got an array of shape {names.shape}")
        return Rows(graph.positions(names, "roots"))
    if roots is not None:
        return _named_pairs(graph, spec, roots)
    if spec.level == "edge":
        return Rows(graph.edges[:, 0].astype(np.int64), graph.edges[:, 1].astype(np.int64))
    return pairs_within(graph, spec.radius)


def rows_between(graph: Graph, spec: EncodingSpec, start: int, stop: int) -> Rows:
    """Those of all rows of the level whose first node stands from ``start`` up to ``stop``."""
    if spec.level == "node":
        return Rows(np.arange(start, stop))
    if spec.level == "pair":
        return pairs_within(graph, spec.radius, start, stop)
    indptr = graph.indptr[start : stop + 1]
    first, second = np.repeat(np.arange(start, stop), np.diff(indptr)), graph.indices[indptr[0] : indptr[-1]]
    once = first < second
    return Rows(first[once], second[once].astype(np.int64))


def _named_pairs(graph: Graph, spec: EncodingSpec, roots: Any) -> Rows:
    pairs = [_pair(pair, spec) for pair in _pair_rows(check_list("roots", roots, "pairs of nodes"), roots)]
    first = graph.positions([u for u, _ in pairs], "roots")
    second = graph.positions([v for _, v in pairs], "roots")
    distance = distances_between(graph, first, second, 1 if spec.level == "edge" else spec.radius)
    if spec.level == "edge":
        wrong, what = distance != 1, "is not an edge of the graph"
    elif spec.radius is not None:
        wrong, what = distance < 0, f"is not within radius={spec.radius}: leave it out, or leave radius out"
    else:
        wrong, what = (distance < 0) & _connected(graph, first, second, distance), "is too far apart to be encoded"
    if wrong.any():
        raise ValueError(f"roots: {pairs[int(np.argmax(wrong))]} {what}")
    return Rows(first, second, None if spec.level == "edge" else distance)


def _connected(
    graph: Graph, first: NDArray[np.int64], second: NDArray[np.int64], distance: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a path joins each pair."""
    if (distance >= 0).all():
        return np.ones(len(first), bool)
    from scipy.sparse.csgraph import connected_components

    component = connected_components(graph.to_scipy(), directed=False)[1]
    joined: NDArray[np.bool_] = component[first] == component[second]
    return joined


def _pair_rows(pairs: Sequence[Any] | NDArray[Any], given: Any) -> Sequence[Any] | NDArray[Any]:
    """Pairs one a row; an array of shape (2, r), like PyG's ``edge_label_index``, holds one a column."""
    if not isinstance(pairs, np.ndarray) or pairs.ndim != 2 or pairs.shape[0] != 2:
        return pairs
    if pairs.shape[1] != 2:
        return pairs.T
    if hasattr(given, "detach"):
        raise ValueError(
            "roots of shape (2, 2) may hold a pair a row or a pair a column: pass roots.tolist() for the one, "
            "roots.t().tolist() for the other (edge_label_index)"
        )
    return pairs


def _same(labels: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Which labels are this one; those that are objects may be tuples, which numpy would take for arrays."""
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"name must be made of names of nodes, got {brief(label)}") from None
    return np.fromiter((bool(one == label) for one in labels.tolist()), dtype=bool, count=len(labels))


def _pair(pair: Any, spec: EncodingSpec) -> tuple[Any, Any]:
    ends = tuple(check_list("roots", pair, "pairs of nodes"))
    if len(ends) != 2:
        raise ValueError(
            f"roots must be pairs of nodes at level={spec.level!r}, an array of shape (r, 2), got {pair!r} among them"
        )
    return ends
