"""PyG: encodings as features, and the lists that ELENE-L sums over."""

from elene.extras import needing

with needing("torch", "elene.transforms"):
    from elene.transforms.structure import SHIFTED_BY_EDGES, SHIFTED_BY_NODES, AddELENE, EgoData, EgoStructure

__all__ = ["SHIFTED_BY_EDGES", "SHIFTED_BY_NODES", "AddELENE", "EgoData", "EgoStructure"]
