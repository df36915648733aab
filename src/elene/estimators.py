"""Encoder: the encodings as a scikit-learn transformer over lists of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.encoding.learned import LearnedColumns
from elene.encoding.spec import LEVELS, EncodingSpec
from elene.engine.bags import beside
from elene.extras import needing
from elene.graph import Graph, as_graph, disjoint_union, renumbered_labels
from elene.validation import brief, check_choice, check_list

with needing("io", "elene.Encoder"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """ELENE vectors of the nodes, edges or whole graphs in a list of graphs, for scikit-learn.

    ``fit`` learns the columns: the largest degree (marginal and product forms) or the vocabulary of quadruplets (joint
    form) or of types. In ``transform``, larger degrees count as the largest one, and quadruplets, types and labels
    outside the vocabulary go to a column ``unknown``.

    Args:
        k: depth of the ego-networks, or several depths; with several levels also those of each, as in
            ``{"node": [0, 1, 2, 3], "edge": 1}``.
        level: ``"node"``, ``"edge"`` or ``"pair"``: what is encoded; or several of them, whose columns stand side by
            side where rows are graphs.
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
        weights: what the columns of a level are multiplied by in the end, such as ``{"edge": 0.5}``; others are left as
            they are.
        sparse_output: give a sparse matrix; with False a dense one, or the table that ``set_output`` names.
        threads: how many threads to use; by default one for every core, and in joblib's processes (``n_jobs``) as many
            as their share of the cores. Pass 1 where a Dask worker has but one.

    Attributes:
        columns_: for each level its ``table`` of columns, as integers, and its ``spec``: the parameters at the time of
            fitting, with ``max_degree`` filled in.
        label_names_: what the integers of labels stand for, where they were text.

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
        >>> both = Encoder(k={"node": [0, 1], "edge": 1}, level=["node", "edge"], form="type", per="graph").fit(graphs)
        >>> [name[:9] for name in both.get_feature_names_out()]
        ['node.k0.t', 'node.k1.t', 'node.k1.t', 'node.k1.t', 'node.k0.u', 'node.k1.u', 'edge.k1.t', 'edge.k1.u']
    """

    def __init__(  # noqa: PLR0913 - scikit-learn has every parameter an argument
        self,
        k: int | Sequence[int] | Mapping[str, int | Sequence[int]] = 2,
        level: str | Sequence[str] = "node",
        degrees: str = "relative",
        form: str = "marginal",
        max_degree: int | None = None,
        radius: int | None = None,
        per: str = "row",
        log1p: bool = False,
        labels: Any = None,
        weights: Mapping[str, float] | None = None,
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
        self.weights = weights
        self.sparse_output = sparse_output
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Encoder:
        """Learn the columns from a list of graphs; ``y`` is not used.

        >>> import networkx as nx
        >>> Encoder(k=1).fit([nx.star_graph(4)]).columns_["node"].spec.max_degree
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
        return self._vectors(graphs, *self._learn(graphs))

    def _learn(self, graphs: list[Graph]) -> tuple[Graph, dict[str, Any]]:
        """Learn the columns; gives the graphs as one, and what was counted in them where that has to be done for it."""
        specs, union, apart = self._specs(), disjoint_union(graphs), self.per == "row"
        learned = {level: LearnedColumns.learn(union, spec, apart, self.threads) for level, spec in specs.items()}
        self.columns_ = {level: columns for level, (columns, _) in learned.items()}
        self.label_names_ = union.label_names
        return union, {level: counted for level, (_, counted) in learned.items()}

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
        fitted, asked = {level: columns.spec for level, columns in self.columns_.items()}, self._specs()
        for level in fitted.keys() & asked.keys():
            spec = fitted[level]
            asked[level] = replace(asked[level], max_degree=spec.max_degree, labelled=spec.labelled)
        if asked != fitted:
            then, now = (" and ".join(map(str, specs.values())) for specs in (fitted, asked))
            raise ValueError(f"this Encoder was fitted with {then}, and now asks for {now}: call fit again")
        graphs = self._graphs(X)
        return self._vectors(graphs, self._union(graphs), {})

    def _vectors(self, graphs: list[Graph], union: Graph, counted: Mapping[str, Any]) -> Any:
        nodes, parts = pointers([graph.num_nodes for graph in graphs]), []
        for level, columns in self.columns_.items():
            found = counted.get(level)
            found = columns.count(union, self.per == "row", self.threads) if found is None else found
            part = columns.vectors(found, nodes, self.per)
            values = np.log1p(part.data) if self.log1p else part.data
            if self.weights and level in self.weights:
                values = values * self.weights[level]
            parts.append(part._replace(data=values))
        matrix = (parts[0] if len(parts) == 1 else beside(parts)).matrix()
        return matrix if self.sparse_output else matrix.toarray()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # graphs are no rows of numbers
        tags.no_validation = True
        tags.transformer_tags.preserves_dtype = []  # counts are integers
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The name of each column, with that of its level before it where there are several levels.

        ``input_features`` is not used, since graphs have none.
        """
        check_is_fitted(self)
        names = [
            f"{level}.{column}" if len(self.columns_) > 1 else str(column)
            for level, columns in self.columns_.items()
            for column in columns.spec.name_columns(columns.table, self.label_names_)
        ]
        return np.array(names, dtype=object)

    def _specs(self) -> dict[str, EncodingSpec]:
        """What is encoded of each level; an error for what does not fit together."""
        check_choice("per", self.per, ("row", "graph", "mean"))
        levels = [self.level] if isinstance(self.level, str) else list(check_list("level", self.level, "levels"))
        for level in levels:
            check_choice("level", level, LEVELS)
        if not levels or len(set(levels)) < len(levels):
            raise ValueError(f"level must be one of {LEVELS} or several of them, each once, got {self.level!r}")
        if len(levels) > 1 and self.per == "row":
            raise ValueError(
                f"level={self.level!r} has several levels, whose rows are not the same: pass per='graph' or per='mean'"
            )
        depths = self.k if isinstance(self.k, Mapping) else dict.fromkeys(levels, self.k)
        if set(depths) != set(levels):
            raise ValueError(f"k must have depths for the levels {levels} and no others, got {self.k!r}")
        self._check_weights(levels)
        shared, alone = (self.degrees, self.form, self.max_degree), len(levels) == 1
        return {
            level: EncodingSpec.of(depths[level], level, *shared, self.radius if level == "pair" or alone else None)
            for level in levels
        }

    def _check_weights(self, levels: list[str]) -> None:
        if self.weights is None:
            return
        if not isinstance(self.weights, Mapping) or not set(self.weights) <= set(levels):
            raise ValueError(f"weights must be numbers for some of the levels {levels}, got {brief(self.weights)}")
        for level, weight in self.weights.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not isfinite(weight):
                raise ValueError(f"weights[{level!r}] must be a number, got {brief(weight)}")

    def _graphs(self, X: Any) -> list[Graph]:
        if isinstance(X, Graph) or hasattr(X, "nodes") or hasattr(X, "edge_index"):
            raise TypeError("X must be a list of graphs; wrap a single graph in a list: [graph]")
        if self.labels is not None and self.labels is not False and not isinstance(self.labels, str):
            raise TypeError(f"labels must be None, False or the name of an attribute, got {self.labels!r:.80}")
        return [as_graph(graph, "a graph in X", self.labels) for graph in check_list("X", X, "graphs")]

    def _union(self, graphs: list[Graph]) -> Graph:
        """The graphs as one, with the numbers of labels that were learned."""
        union, spec = disjoint_union(graphs), next(iter(self.columns_.values())).spec
        if graphs and spec.labelled != (union.labels is not None):
            now, then = ("no labels", "some") if spec.labelled else ("labels", "none")
            raise ValueError(
                f"X: the graphs have {now}, and those that fit learned from had {then}: pass labels to both"
            )
        if union.labels is None or spec.form == "type":  # colours know labels by what they are
            return union
        return renumbered_labels(union, self.label_names_)
