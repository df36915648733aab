"""What ELENE is compared with: subgraph networks, shortest-path networks, transformers and matrix products.

A baseline is a conv for :class:`elene.nn.GNN`, with ``forward(x, edge_index, edge_attr, ego)`` or less, or a model of
its own (:class:`PPGN`), or a transform (:func:`igel`). The convs read the lists of
:class:`elene.transforms.EgoStructure`, as ELENE-L does, so that they mix with it on one :class:`elene.nn.Ego`.

    >>> from torch import nn
    >>> from torch_geometric.nn import GINConv
    >>> from elene.baselines import AK_PLUS, GNNAK
    >>> from elene.nn import ELENE, GNN, updates
    >>> convs = [GNNAK(8, k=2, convs=[GINConv(nn.Linear(8, 8))], parts=AK_PLUS)]
    >>> model = GNN(nn.Embedding(28, 8), convs, updates(8, 1), nn.Linear(8, 1), elene=[ELENE(8, k=2)])
"""

from elene.extras import needing

with needing("torch", "elene.baselines"):
    from elene.baselines.ak import AK, AK_PLUS, GNNAK
    from elene.baselines.graphormer import Centrality, Graphormer
    from elene.baselines.igel import igel
    from elene.baselines.nested import NGNN
    from elene.baselines.ppgn import PPGN, NodePairs, PPGNBlock
    from elene.baselines.spnn import SPNN
    from elene.baselines.subgraphs import RootedGNN, Subgraphs

__all__ = [
    "AK",
    "AK_PLUS",
    "GNNAK",
    "NGNN",
    "PPGN",
    "SPNN",
    "Centrality",
    "Graphormer",
    "NodePairs",
    "PPGNBlock",
    "RootedGNN",
    "Subgraphs",
    "igel",
]
