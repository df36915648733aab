"""PyG: encodings as features, and the lists that ELENE-L sums over."""

from elene.extras import needing

with needing("torch", "elene.transforms"):
    from elene.transforms.features import AddELENE
    from elene.transforms.loader import EgoLoader
    from elene.transforms.schema import EgoData
    from elene.transforms.structure import EgoStructure

__all__ = ["AddELENE", "EgoData", "EgoLoader", "EgoStructure"]
