"""What is encoded, and how: encode() and its Encoding, single multisets, fingerprints of whole graphs."""

from elene.encoding.changes import affected
from elene.encoding.columns import Column, JointColumn, LabelledColumn, LabelledQuadruplet, Quadruplet, TypeColumn
from elene.encoding.encoding import Encoding, encode
from elene.encoding.fingerprints import Comparison, compare, fingerprint
from elene.encoding.multisets import edge_quadruplets, quadruplets

__all__ = [
    "Column",
    "Comparison",
    "Encoding",
    "JointColumn",
    "LabelledColumn",
    "LabelledQuadruplet",
    "Quadruplet",
    "TypeColumn",
    "affected",
    "compare",
    "edge_quadruplets",
    "encode",
    "fingerprint",
    "quadruplets",
]
