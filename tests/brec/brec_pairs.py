"""Pairs of graphs, small models and results for the tests of BREC."""

from __future__ import annotations

import networkx as nx
import torch

from elene.brec.rpc import PairResult
from elene.datasets import BrecPair
from elene.experiments import config
from elene.graph import Graph

SMALL = ["model.hidden=16", "model.layers=2"]

cycles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))


def pair_of(a, b, index=0, category="Basic"):
    graphs = (graph if isinstance(graph, Graph) else Graph.from_networkx(graph) for graph in (a, b))
    return BrecPair(index, category, category.lower(), *graphs)


def small(row, *changes):
    return config.load("brec", row, [*SMALL, *changes])


def result_of(pair, distinguished=True, reliable=True):
    numbers = {"t2": 100.0, "t2_self": 0.5, "loss": 0.1, "epochs": 3, "seconds": 1.5}
    about = {"pair": pair.index, "category": pair.category, "subcategory": pair.subcategory}
    return PairResult(**about, distinguished=distinguished, reliable=reliable, **numbers)


class ByPlace(torch.nn.Module):
    """Tells graphs apart by whether their place in the batch is even."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, batch):
        places = torch.arange(len(batch.ptr) - 1, dtype=self.weight.dtype)
        return self.weight * (1 + places % 2)[:, None] * torch.eye(16, dtype=self.weight.dtype)[0]
