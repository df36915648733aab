"""Origin: the graphs that lists were made from, and whether a data is still that of its lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from elene.forking import cached_property
from elene.graph import pyg_arcs
from elene.transforms.arcs import stamp_arcs
from elene.transforms.schema import ARCS, DEPTH, NODES, STAMP
from elene.validation import brief


@dataclass(frozen=True, eq=False)
class Origin:
    """The graphs that lists were made from.

    Args:
        shape: ``ego_shape``, a row a graph; :mod:`elene.transforms.schema` names its columns.
        ordered: whether the lists number arcs by their places in ``edge_index``.
    """

    shape: NDArray[np.int64]
    ordered: bool

    @cached_property
    def totals(self) -> list[int]:
        """The sums of the columns of shape."""
        totals: list[int] = self.shape.sum(0).tolist()
        return totals

    def differs(self, edge_index: Tensor) -> str | None:
        """What tells an ``edge_index`` from that of the lists; None if nothing does."""
        if tuple(edge_index.shape) != (2, self.totals[ARCS]):
            return f"edge_index has shape {tuple(edge_index.shape)}, and theirs had (2, {self.totals[ARCS]})"
        found = stamp_arcs(pyg_arcs(edge_index), self.shape[:, NODES], self.shape[:, ARCS], self.ordered)
        unequal = found != self.shape[:, STAMP]
        if not unequal.any():
            return None
        where = f" in graph {np.argmax(unequal)} of the batch" if len(found) > 1 else ""
        return f"edge_index has other arcs{' or another order' if self.ordered else ''}{where}"


def read_shape(data: Any) -> NDArray[np.int64]:
    """``ego_shape`` of a data; an error if there is none, or one that no single depth can be read from."""
    if not hasattr(data, "num_nodes"):
        raise TypeError(f"data must be a torch_geometric.data.Data or Batch, got {brief(data)}")
    shape = getattr(data, "ego_shape", None)
    if shape is None:
        raise ValueError("data has no ego-network lists: apply elene.transforms.EgoStructure(k=...) to it first")
    found: NDArray[np.int64] = shape.cpu().numpy()
    if found.ndim != 2 or found.shape[1] != DEPTH + 1:
        raise ValueError(
            "the ego-network lists of data are those of another version of elene: apply EgoStructure anew (a data set "
            "that PyG has processed is made anew after its folder 'processed' is removed)"
        )
    if not len(found) or (found[:, DEPTH] != found[0, DEPTH]).any():
        depths = np.unique(found[:, DEPTH]).tolist()
        raise ValueError(f"the graphs of a batch must have one depth, got k in {depths}")
    return found


def what_differs(data: Any, origin: Origin) -> str | None:
    """What tells the graphs of a data from those that its lists were made from; None if nothing does."""
    nodes = origin.totals[NODES]
    for name, found in (("data", data.num_nodes), ("ego_size", len(data.ego_size))):
        if found != nodes:
            return f"{name} has {found} nodes, and theirs had {nodes}"
    if data.edge_index is None:
        return "data has no edge_index"
    return origin.differs(data.edge_index)
