"""Encoder: the encodings as a scikit-learn transformer over lists of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.csr import pointers
from elene.encoding import Encoding
from elene.encoding.encoding import encode_rows, find_rows, marginal_table
from elene.encoding.spec import LEARNED, EncodingSpec, with_unknown
from elene.encoding.types import Types
from elene.extras import needing
from elene.graph import Graph, as_graph, disjoint_union, renumbered_labels
from elene.validation import check_choice, check_list

with needing("io", "elene.Encoder"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """ELENE vectors of the nodes, edges or whole graphs in a list of graphs, for scikit-learn.

    ``fit`` learns the columns: the largest degree (marginal and product forms) or the vocabulary of quadruplets (joint
    form) or of types. In ``transform``, larger degrees count as the largest one, and quadruplets, types and labels
    outside the vocabulary go to a column ``unknown``.

    Args:
        k: depth of the ego-networks, or several depths.
        level: ``"node"``, ``"edge"`` or ``"pair"``: what is encoded.
        degrees: ``"relative"`` (ELENE) or ``"absolute"`` (IGEL).
        form: ``"marginal"``, ``"joint"``, ``"type"`` or ``"product"``; see :func:`elene.encode`. The sum of types over
            a graph is a bag of ego-network types: a graph kernel with an explicit feature map.
        max_degree: larger values count as this one; by default the largest degree in the training graphs.
        radius: for pairs, the largest distance between the two.
        per: ``"row"`` for a row for each node, edge or pair; ``"graph"`` for their sum, a row for each graph;
            ``"mean"`` for their mean.
        log1p: give log(1 + count) instead of counts (of the sums or means, where these are asked for).
        labels: by default those that each :class:`elene.Graph` has; False for none; or the attribute that holds them in
            graphs of other libraries. Either all graphs have labels or none has.
        sparse_output: give a sparse matrix; with False a dense one, or the table that ``set_output`` names.
        threads: how many threads to use; by default one for every core, and in joblib's processes (``n_jobs``) as many
            as their share of the cores. Pass 1 where a Dask worker has but one.

    Attributes:
        table_: the columns, as integers.
        label_names_: what the integers of labels stand for, where they were text.
        spec_: the parameters at the time of fitting, with ``max_degree`` filled in.

    Example:
        >>> import networkx as nx
        >>> graphs = [nx.cycle_graph(5), nx.star_graph(4), nx.path_graph(3)]
        >>> encoder = Encoder(k=1, form="joint", per="graph").fit(graphs[:2])
        >>> encoder.get_feature_names_out().tolist()
        ['k1.(0,0,1,1)', 'k1.(0,0,2,2)', 'k1.(0,0,4,4)', 'k1.(1,1,1,0)', 'k1.unknown']
        >>> encoder.transform(graphs).toarray().tolist()
        [[0, 5, 0, 10, 0], [4, 0, 1, 8, 0], [2, 1, 0, 4, 0]]
        >>> Encoder(k=1, form="type", per="graph").fit_transform(graphs).toarray().tolist()
        [[0, 5, 0, 0], [1, 0, 4, 0], [0, 1, 2, 0]]
    """

    def __init__(  # noqa: PLR0913 - scikit-learn has every parameter an argument
        self,
        k: int | Sequence[int] = 2,
        level: str = "node",
        degrees: str = "relative",
        form: str = "marginal",
        max_degree: int | None = None,
        radius: int | None = None,
        per: str = "row",
        log1p: bool = False,
        labels: Any = None,
        sparse_output: bool = True,
        threads: int | None = None,
    ) -> None:
        self.k = k
        self.level = level
        self.degrees = degrees
        self.form = form
        self.max_degree = max_degree
        self.radius = radius
        self.per = per
        self.log1p = log1p
        self.labels = labels
        self.sparse_output = sparse_output
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Encoder:
        """Learn the columns from a list of graphs; ``y`` is not used.

        >>> import networkx as nx
        >>> Encoder(k=1).fit([nx.star_graph(4)]).spec_.max_degree
        4
        """
        self._learn(self._graphs(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The vectors of the graphs that the columns are learned from; what ``fit`` counts is not counted again.

        >>> import networkx as nx
        >>> Encoder(k=1, form="joint").fit_transform([nx.star_graph(4)]).shape
        (5, 4)
        """
        graphs = self._graphs(X)
        return self._vectors(graphs, self._learn(graphs))

    def _learn(self, graphs: list[Graph]) -> Encoding | Types | None:
        """Learn the columns; gives what was counted in the graphs, where that has to be done for it."""
        spec, union = self._spec(), disjoint_union(graphs)
        if spec.max_degree is None and spec.form not in LEARNED:
            spec = self._spec(max((graph.max_degree for graph in graphs), default=0))
        self.spec_ = replace(spec, labelled=union.labels is not None)
        self.label_names_ = union.label_names
        counted = self._count(union) if spec.form in LEARNED else None
        if counted is not None:
            self.table_ = with_unknown(counted.table, spec.depths)
        else:
            self.table_ = np.vstack([marginal_table(union, self.spec_, depth) for depth in spec.depths])
            if self.spec_.learned:
                self.table_ = with_unknown(self.table_, spec.depths)
        return counted

    def transform(self, X: Any) -> Any:
        """The vectors of a list of graphs as a sparse matrix, or as ``sparse_output`` and ``set_output`` say.

        >>> import networkx as nx
        >>> Encoder(k=1).fit_transform([nx.star_graph(4)]).shape
        (5, 30)
        >>> encoder = Encoder(k=1, form="joint", per="mean", sparse_output=False).set_output(transform="pandas")
        >>> encoder.fit_transform([nx.star_graph(4)])
           k1.(0,0,1,1)  k1.(0,0,4,4)  k1.(1,1,1,0)  k1.unknown
        0           0.8           0.2           1.6         0.0
        """
        check_is_fitted(self)
        asked = replace(self._spec(self.spec_.max_degree), labelled=self.spec_.labelled)
        if asked != self.spec_:
            raise ValueError(f"this Encoder was fitted with {self.spec_}, and now asks for {asked}: call fit again")
        return self._vectors(self._graphs(X), None)

    def _vectors(self, graphs: list[Graph], counted: Encoding | Types | None) -> Any:
        counted = self._count(self._union(graphs)) if counted is None else counted
        if isinstance(counted, Types):
            rows = self._rows_per_graph(graphs, counted.rows.first)
            matrix = counted.bags(self.table_, rows)
            if self.per == "mean":
                matrix.data = matrix.data / np.repeat(rows, np.diff(matrix.indptr))
        else:
            matrix = counted.onto(self.table_).matrix if self.spec_.learned else counted.matrix
            if self.per != "row":
                first = np.arange(len(counted)) if counted.edges is None else counted.edges[:, 0]
                matrix = _sum_rows(matrix, self._rows_per_graph(graphs, first), self.per == "mean")
        if self.log1p:
            matrix.data = np.log1p(matrix.data)  # scipy would check all of a matrix that it makes anew
        return matrix if self.sparse_output else matrix.toarray()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # graphs are no rows of numbers
        tags.no_validation = True
        tags.transformer_tags.preserves_dtype = []  # counts are integers
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The name of each column; ``input_features`` is not used, since graphs have none."""
        check_is_fitted(self)
        return np.array(
            [str(column) for column in self.spec_.name_columns(self.table_, self.label_names_)], dtype=object
        )

    def _spec(self, max_degree: int | None = None) -> EncodingSpec:
        check_choice("per", self.per, ("row", "graph", "mean"))
        rho = self.max_degree if max_degree is None else max_degree
        return EncodingSpec.of(self.k, self.level, self.degrees, self.form, rho, self.radius)

    def _graphs(self, X: Any) -> list[Graph]:
        if isinstance(X, Graph) or hasattr(X, "nodes") or hasattr(X, "edge_index"):
            raise TypeError("X must be a list of graphs; wrap a single graph in a list: [graph]")
        if self.labels is not None and self.labels is not False and not isinstance(self.labels, str):
            raise TypeError(f"labels must be None, False or the name of an attribute, got {self.labels!r:.80}")
        return [as_graph(graph, "a graph in X", self.labels) for graph in check_list("X", X, "graphs")]

    def _union(self, graphs: list[Graph]) -> Graph:
        """The graphs as one, with the numbers of labels that were learned."""
        union = disjoint_union(graphs)
        if graphs and self.spec_.labelled != (union.labels is not None):
            now, then = ("no labels", "some") if self.spec_.labelled else ("labels", "none")
            raise ValueError(
                f"X: the graphs have {now}, and those that fit learned from had {then}: pass labels to both"
            )
        if union.labels is None or self.spec_.form == "type":  # colours know labels by what they are
            return union
        return renumbered_labels(union, self.label_names_)

    def _count(self, union: Graph) -> Encoding | Types:
        """All graphs in one go: ego-networks never leave their graph, so a disjoint union changes nothing."""
        rows = find_rows(union, self.spec_, None)
        if self.spec_.form == "type" and self.per != "row":
            return Types.of(union, self.spec_, rows, self.threads)
        return encode_rows(union, self.spec_, rows, self.threads)

    def _rows_per_graph(self, graphs: list[Graph], first: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many rows each graph has, which are in the order of their first nodes."""
        begins = pointers([graph.num_nodes for graph in graphs])
        return np.diff(np.searchsorted(first, begins))


def _sum_rows(matrix: csr_array, counts: NDArray[np.int64], mean: bool = False) -> csr_array:
    """The sum of each group of consecutive rows, or their mean; of none it is zero.

    Indices are as wide as those of the matrix: some estimators, SVC among them, refuse wider ones than 32 bits.
    """
    wide = matrix.indices.dtype
    indptr = pointers(counts).astype(wide)
    weights = np.repeat(1 / counts.clip(1), counts) if mean else np.ones(matrix.shape[0], dtype=matrix.dtype)
    groups = csr_array((weights, np.arange(len(weights), dtype=wide), indptr), shape=(len(counts), len(weights)))
    return (groups @ matrix).tocsr()
