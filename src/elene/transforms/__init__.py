"""PyG: encodings as features, and the lists that ELENE-L sums over."""

from elene.extras import needing

with needing("torch", "elene.transforms"):
    from elene.transforms.cache import Cached
    from elene.transforms.features import AddELENE
    from elene.transforms.loader import EgoLoader
    from elene.transforms.schema import EgoData
    from elene.transforms.structure import EgoStructure

__all__ = ["AddELENE", "Cached", "EgoData", "EgoLoader", "EgoStructure"]
