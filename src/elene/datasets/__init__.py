"""Graphs to measure expressivity with: families made by construction, and readers of published collections.

Nothing is downloaded. Strongly regular graphs come from :mod:`elene.datasets.strongly_regular`, the BREC pairs
from :mod:`elene.datasets.brec`.

    >>> from elene.datasets import is_strongly_regular, sr25
    >>> len(sr25()), is_strongly_regular(sr25()[0])
    (15, (25, 12, 5, 6))
"""

from elene.datasets.brec import BrecPair, read_brec
from elene.datasets.collection import Collection
from elene.datasets.strongly_regular import (
    chang,
    is_strongly_regular,
    latin_square_graph,
    rook,
    shrikhande,
    sr25,
    triangular,
)

__all__ = [
    "BrecPair",
    "Collection",
    "chang",
    "is_strongly_regular",
    "latin_square_graph",
    "read_brec",
    "rook",
    "shrikhande",
    "sr25",
    "triangular",
]
