"""What notebooks show of encodings and comparisons."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from elene.encoding.tables import name_columns
from elene.html import table

if TYPE_CHECKING:
    from elene.encoding import Comparison, Encoding

MOST_ROWS, MOST_COLUMNS = 8, 10


def encoding_view(encoding: Encoding) -> str:
    """The first rows of an encoding, and of its columns those by which these rows differ most.

    >>> from elene import Graph, encode
    >>> encoding_view(encode(Graph.from_edges([(0, 1), (1, 2)]), k=1))[-42:]
    '3 of 3 rows, 8 of 18 columns are shown</p>'
    """
    rows = min(len(encoding), MOST_ROWS)
    counts = encoding.matrix[:rows]
    used = np.unique(counts.indices)
    cells = counts[:, used].toarray()
    telling = np.sort(np.argsort(-cells.var(axis=0), kind="stable")[:MOST_COLUMNS]) if rows else used
    shown, cells = used[telling], cells[:, telling]
    names = {name: labels[:rows].tolist() for name, labels in name_columns(encoding).items()}
    columns = [str(encoding.columns[place]) for place in shown.tolist()]
    lines = zip(*names.values(), *cells.T.tolist(), strict=True)
    note = f"{rows} of {len(encoding)} rows, {len(shown)} of {encoding.shape[1]} columns are shown"
    return f"<p>{escape(repr(encoding))}</p>{table([*names, *columns], lines)}<p>{note}</p>"


def comparison_view(comparison: Comparison) -> str:
    """What tells two graphs apart.

    >>> import networkx as nx
    >>> from elene import compare
    >>> comparison_view(compare(nx.path_graph(2), nx.path_graph(3)))[:43]
    '<p>The graphs differ by number of nodes</p>'
    """
    first, *_ = repr(comparison).splitlines()
    evidence = table(["", "in a", "in b"], comparison.evidence) if comparison.evidence else ""
    return f"<p>{escape(first.rstrip(':'))}</p>{evidence}"
