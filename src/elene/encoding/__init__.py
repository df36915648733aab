"""What is encoded, and how: encode() and its Encoding, single multisets, fingerprints of whole graphs."""

from elene.encoding.changes import affected
from elene.encoding.encoding import Column, Encoding, JointColumn, Quadruplet, encode
from elene.encoding.fingerprints import Comparison, compare, fingerprint
from elene.encoding.multisets import edge_quadruplets, quadruplets

__all__ = [
    "Column",
    "Comparison",
    "Encoding",
    "JointColumn",
    "Quadruplet",
    "affected",
    "compare",
    "edge_quadruplets",
    "encode",
    "fingerprint",
    "quadruplets",
]
