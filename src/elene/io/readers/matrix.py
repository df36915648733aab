"""Matrix Market: an adjacency matrix as text."""

from __future__ import annotations

import io

import numpy as np

from elene.graph import check_room, matrix_arcs
from elene.io.readers.source import Options, Source, from_arcs, single, without_weights


def matrix_market(text: bytes, options: Options) -> Source:
    """The graph of a square matrix; every entry that is not zero is an edge."""
    from scipy.io import mminfo, mmread

    rows, columns, entries, form, *_ = mminfo(io.BytesIO(text))
    if 2 * entries > len(text):  # before memory is asked for: an entry takes a digit and the end of a line
        raise ValueError(f"a file of {len(text)} bytes cannot hold the {entries} entries that its head announces")
    if form == "coordinate":
        check_room(max(rows, columns), entries, f"the matrix has {rows} rows, so there would be {rows}")
    matrix = mmread(io.BytesIO(text))
    if (np.unique(matrix.data if form == "coordinate" else matrix[matrix != 0]) != 1).any():
        without_weights()
    sources, targets, n = matrix_arcs(matrix)
    return single(from_arcs((sources, targets), n, "matrix", "a symmetric matrix", options))
