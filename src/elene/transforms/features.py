"""AddELENE: encodings as features of nodes or arcs."""

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
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from elene.encoding import Encoding
from elene.encoding.encoding import encode_rows, find_rows
from elene.encoding.spec import LEARNED, EncodingSpec, with_unknown
from elene.graph import Graph, as_graph, disjoint_union, renumbered_labels
from elene.transforms.arcs import number_arcs, read_arcs
from elene.validation import check_choice, check_integer, check_list

MOST_BYTES = 2**31  # of features that nobody asked twice for


class AddELENE(BaseTransform):  # type: ignore[misc]
    """Concatenate encodings to ``x`` or, with ``level="edge"``, to ``edge_attr``; either is created where absent.

    All graphs must get the same columns: fix them with ``max_degree`` (marginal and product forms) or learn them from a
    data set with :meth:`fit`; the joint form, types and labels always need :meth:`fit`. What was not there then goes to
    a column for all that is unknown.

    What is added is dense, and a large graph could need more memory than there is: beyond ``most_bytes`` it is refused
    before anything is computed. Encodings of large graphs stay sparse: :class:`EgoLoader` makes rows of them dense
    batch by batch, ``EgoLoader(data, ..., features={"x": elene.encode(data, k).matrix})``.

    Args:
        k: depth of the ego-networks, or several depths.
        level: ``"node"`` or ``"edge"``.
        degrees: ``"relative"`` (ELENE) or ``"absolute"`` (IGEL).
        form: ``"marginal"``, ``"joint"``, ``"type"`` or, for edges, ``"product"``; see :func:`elene.encode`.
        max_degree: larger values count as this one.
        log1p: add log(1 + count) instead of counts.
        most_bytes: how large what is added may be.
        labels: what holds the class of each node: ``"x"``, where it is one column or one-hot; by default nothing.

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
        most_bytes: int = MOST_BYTES,
        labels: str | None = None,
    ) -> None:
        check_choice("level", level, ("node", "edge"))
        if not isinstance(labels, str | None):
            raise TypeError(f"labels must be the name of what holds them in the data, got {labels!r:.80}")
        self.spec = replace(EncodingSpec.of(k, level, degrees, form, max_degree), labelled=labels is not None)
        self.log1p, self.most_bytes = log1p, check_integer("most_bytes", most_bytes)
        self.labels = labels
        self.label_names: NDArray[Any] | None = None
        self.table: NDArray[np.int64] | None = None
        if max_degree is not None and not self.spec.learned:
            self._fix_columns(max_degree)

    def __repr__(self) -> str:
        # PyG compares this to decide whether a cached data set is stale, so what was learned belongs in it.
        spec, columns = self.spec, "not fitted"
        if self.table is not None:
            names = [] if self.label_names is None else self.label_names.tolist()
            columns = hashlib.blake2b(self.table.tobytes() + repr(names).encode(), digest_size=8).hexdigest()
        return (
            f"AddELENE(k={list(spec.depths)}, level={spec.level!r}, degrees={spec.degrees!r}, form={spec.form!r}, "
            f"max_degree={spec.max_degree}, log1p={self.log1p}, labels={self.labels!r}, columns={columns})"
        )

    def fit(self, dataset: Iterable[Data]) -> AddELENE:
        """Learn the columns from the training graphs; gives the transform itself."""
        several = check_list("dataset", dataset, "graphs")
        graphs = [as_graph(data, "a graph of dataset", self.labels) for data in several]
        union = disjoint_union(graphs)
        self.label_names = union.label_names
        if self.spec.form in LEARNED:
            self.table = with_unknown(self._encode(union).table, self.spec.depths)
        else:
            rho = self.spec.max_degree
            labels = None if union.labels is None else union.classes[0]
            self._fix_columns(union.max_degree if rho is None else rho, labels)
        return self

    def _fix_columns(self, rho: int, labels: NDArray[np.int64] | None = None) -> None:
        self.spec = replace(self.spec, max_degree=rho)
        tables = [self.spec.marginal_table(depth, rho, labels=labels) for depth in self.spec.depths]
        table = np.vstack(tables)
        self.table = with_unknown(table, self.spec.depths) if self.spec.learned else table

    def _encode(self, graph: Graph) -> Encoding:
        return encode_rows(graph, self.spec, find_rows(graph, self.spec, None), None)

    def _check_size(self, rows: int, columns: int) -> None:
        size = 4 * rows * columns
        if size > self.most_bytes:
            raise ValueError(
                f"data needs {size / 2**30:,.1f} GiB for {columns} columns of {rows} rows, more than "
                f"most_bytes={self.most_bytes}: pass a smaller max_degree or a larger most_bytes, or leave them "
                'sparse: EgoLoader(data, ..., features={"x": elene.encode(data, k, max_degree=...).matrix})'
            )

    def forward(self, data: Data) -> Data:
        """A copy of the data with the encodings added."""
        if self.table is None:
            raise ValueError(
                "AddELENE does not know its columns yet: call fit(training_graphs) first, or, where they go by degrees "
                "alone, pass max_degree"
            )
        arcs = read_arcs(data)
        self._check_size(data.num_nodes if self.spec.level == "node" else arcs.shape[1], len(self.table))
        graph = Graph.from_pyg(data, labels=self.labels)
        if graph.labels is not None and self.spec.form != "type":
            graph = renumbered_labels(graph, self.label_names)
        encoding = self._encode(graph)
        matrix = encoding.onto(self.table).matrix if self.spec.learned else encoding.matrix
        values = torch.from_numpy(matrix.astype(np.float32).toarray())
        values = values.log1p() if self.log1p else values
        if self.spec.level == "edge":
            values = values[torch.from_numpy(number_arcs(graph, arcs)).long()]
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
