"""ELENE-L for PyTorch Geometric: the layer, its embeddings, the lists it sums over, and a model around it."""

from elene.extras import needing

with needing("torch", "elene.nn"):
    from elene.nn.ego import Ego
    from elene.nn.embedding import EgoEmbedding
    from elene.nn.entries import Entries
    from elene.nn.gine import GINE, Arcs, EdgeKinds
    from elene.nn.layer import ELENE, Gates, Update
    from elene.nn.model import GNN, GraphReadout, VirtualNode, edge_readout, node_readout, updates
    from elene.nn.norm import PairNorm

__all__ = [
    "ELENE",
    "GINE",
    "GNN",
    "Arcs",
    "EdgeKinds",
    "Ego",
    "EgoEmbedding",
    "Entries",
    "Gates",
    "GraphReadout",
    "PairNorm",
    "Update",
    "VirtualNode",
    "edge_readout",
    "node_readout",
    "updates",
]
