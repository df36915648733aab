"""ELENE-L for PyTorch Geometric: the layer, its embeddings, the lists it sums over, and a model around it."""

from elene.nn.ego import Ego, Entries
from elene.nn.embedding import EgoEmbedding
from elene.nn.layer import ELENE

__all__ = ["ELENE", "Ego", "EgoEmbedding", "Entries"]
