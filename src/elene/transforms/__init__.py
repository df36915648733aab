"""PyG: encodings as features, and the lists that ELENE-L sums over."""

from elene.transforms.structure import SHIFTED_BY_EDGES, SHIFTED_BY_NODES, AddELENE, EgoData, EgoStructure

__all__ = ["SHIFTED_BY_EDGES", "SHIFTED_BY_NODES", "AddELENE", "EgoData", "EgoStructure"]
