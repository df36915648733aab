"""PyG: encodings as features, and the lists that ELENE-L sums over."""

from elene.extras import needing

with needing("torch", "elene.transforms"):
    from elene.transforms.features import AddELENE
    from elene.transforms.schema import EgoData
    from elene.transforms.structure import EgoStructure

__all__ = ["AddELENE", "EgoData", "EgoStructure"]
