"""GraphGym: encodings as encoders of nodes and edges that a configuration names; nothing is registered by an import."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from elene.extras import need
from elene.transforms import AddELENE

NAME = "ELENE"


class FeatureEncoder(nn.Module):
    """Encodings beside what a batch has for its nodes or edges, and one linear map of both.

    They are counted batch by batch, on the CPU: ego-networks never leave their graph.

    Args:
        channels: how many columns nodes or edges have before; those of ``first``, where there is one.
        emb_dim: how many they have afterwards.
        transform: what is added: an :class:`elene.transforms.AddELENE` that knows its columns.
        first: another encoder of GraphGym that embeds the features before, such as that of atoms.

    Example:
        >>> from torch_geometric.data import Data
        >>> path = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> FeatureEncoder(2, 8, AddELENE(k=1, max_degree=2))(path).x.shape
        torch.Size([3, 8])
    """

    def __init__(self, channels: int, emb_dim: int, transform: AddELENE, first: nn.Module | None = None) -> None:
        super().__init__()
        if transform.table is None:
            raise ValueError("transform does not know its columns yet: pass max_degree, or call fit first")
        self.key = "x" if transform.spec.level == "node" else "edge_attr"
        self.channels, self.transform, self.first = channels, transform, first
        self.linear = nn.Linear(channels + len(transform.table), emb_dim)

    def forward(self, batch: Any) -> Any:
        """The batch with the new features in the place of the old ones."""
        batch = batch if self.first is None else self.first(batch)
        if self.key == "x" and batch.x is None:  # which GraphGym counts as one column
            batch.x = torch.ones(batch.num_nodes, 1, device=batch.edge_index.device)
        features = batch.get(self.key)
        found = 0 if features is None else features[0].numel() if len(features) else self.channels
        if found != self.channels:
            raise ValueError(f"{self.key} has {found} columns, and {self.channels} were announced: set cfg.elene")
        batch = self.transform(batch)
        batch[self.key] = self.linear(batch[self.key])
        return batch


def register() -> None:
    """Make ``ELENE`` a name for ``dataset.node_encoder_name`` and ``dataset.edge_encoder_name``; once is enough.

    The configuration gets a group ``elene``: ``k`` (a list of depths), ``max_degree``, ``degrees`` and ``log1p`` as in
    :class:`elene.transforms.AddELENE`; ``node_encoder`` and ``edge_encoder``, names of encoders that come before; and
    ``edge_columns``, how many columns of numbers ``edge_attr`` has where no encoder comes before::

        dataset:
          node_encoder: True
          node_encoder_name: ELENE
        elene:
          k: [1, 2]
          max_degree: 8
          node_encoder: Atom
    """
    need("graphgym", "elene.nn.graphgym.register", "yacs", "pytorch_lightning")
    from torch_geometric.graphgym import register as registry
    from torch_geometric.graphgym.config import cfg

    if NAME in registry.config_dict:
        return
    registry.register_config(NAME, _add_options)
    registry.register_node_encoder(NAME, _node_encoder)
    registry.register_edge_encoder(NAME, _edge_encoder)
    _add_options(cfg)  # GraphGym filled in its own when it was imported


def _add_options(cfg: Any) -> None:
    from yacs.config import CfgNode

    options = {"k": [2], "max_degree": 16, "degrees": "relative", "log1p": True}
    cfg.elene = CfgNode({**options, "node_encoder": "", "edge_encoder": "", "edge_columns": 0})


def _node_encoder(emb_dim: int) -> FeatureEncoder:
    from torch_geometric.graphgym.config import cfg
    from torch_geometric.graphgym.register import node_encoder_dict

    name = cfg.elene.node_encoder
    first = node_encoder_dict[name](emb_dim) if name else None
    return FeatureEncoder(emb_dim if name else cfg.share.dim_in, emb_dim, _transform(cfg.elene, "node"), first)


def _edge_encoder(emb_dim: int) -> FeatureEncoder:
    from torch_geometric.graphgym.config import cfg
    from torch_geometric.graphgym.register import edge_encoder_dict

    name = cfg.elene.edge_encoder
    first = edge_encoder_dict[name](emb_dim) if name else None
    return FeatureEncoder(emb_dim if name else cfg.elene.edge_columns, emb_dim, _transform(cfg.elene, "edge"), first)


def _transform(options: Any, level: str) -> AddELENE:
    return AddELENE(options.k, level, options.degrees, max_degree=options.max_degree, log1p=options.log1p)
