"""Encodings as tables: a row for each node, edge or pair with its name, a readable column for each count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elene.encoding.archive import plain_labels
from elene.extras import needing

if TYPE_CHECKING:
    from elene.encoding.encoding import Encoding

MOST_CELLS = 2**31  # 8 GB of counts


def name_columns(encoding: Encoding) -> dict[str, NDArray[Any]]:
    """What the rows stand for, by the names that their columns have in tables.

    >>> from elene import encode
    >>> import networkx as nx
    >>> list(name_columns(encode(nx.path_graph(3), k=1, level="pair")))
    ['source', 'target', 'pair_distance']
    """
    if encoding.nodes is not None:
        return {"node": encoding.nodes}
    assert encoding.edges is not None
    names = {"source": encoding.edges[:, 0], "target": encoding.edges[:, 1]}
    if encoding.distances is not None:
        names["pair_distance"] = encoding.distances
    return names


def pandas_table(encoding: Encoding) -> Any:
    """See :meth:`elene.Encoding.to_pandas`."""
    with needing("io", "Encoding.to_pandas"):
        import pandas
    names = name_columns(encoding)
    if len(names) == 1:
        index = pandas.Index(names["node"], name="node")
    else:
        index = pandas.MultiIndex.from_arrays(list(names.values()), names=list(names))
    return pandas.DataFrame(dense(encoding), index=index, columns=[str(column) for column in encoding.columns])


def arrow_table(encoding: Encoding) -> Any:
    """See :meth:`elene.Encoding.to_arrow`."""
    with needing("io", "Encoding.to_arrow"):
        import pyarrow
    columns = {name: plain_labels(labels) for name, labels in name_columns(encoding).items()}
    counts = np.asfortranarray(dense(encoding))
    columns |= {str(column): counts[:, place] for place, column in enumerate(encoding.columns)}
    return pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})


def dense(encoding: Encoding) -> NDArray[Any]:
    """All counts, zeros too; an error where these would take too much memory.

    >>> from elene import Graph, encode
    >>> dense(encode(Graph.from_edges([(0, 1)]), k=1, form="joint")).tolist()
    [[1, 1], [1, 1]]
    """
    rows, columns = encoding.shape
    if rows * columns > MOST_CELLS:
        raise ValueError(
            f"a table of {rows} rows and {columns} columns would take {rows * columns * 4 / 1e9:.0f} GB: encode with "
            "compact=True or a smaller max_degree, or use encoding.matrix, which is sparse"
        )
    counts: NDArray[Any] = encoding.matrix.toarray()
    return counts
