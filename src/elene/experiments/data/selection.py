"""Selection: one target and one split of a data set; and its graphs once more, their nodes in another order."""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch_geometric.data import InMemoryDataset

from elene.datasets.pyg import GraphDataset, Split
from elene.experiments.config.spec import ExperimentSpec
from elene.inmemory import restored, stored


def choose(dataset: GraphDataset, spec: ExperimentSpec, fold: int) -> tuple[GraphDataset, Split]:
    """The data set with the one target that a spec wants, and one of its splits.

    >>> from elene.datasets import load
    >>> from elene.experiments import config
    >>> choose(load("sr25"), config.load("sr25", row="gin"), fold=1)
    Traceback (most recent call last):
    ValueError: fold must be 0 for sr25, got 1
    """
    folds, target, names = len(dataset.splits), spec.dataset.target, dataset.info.targets
    if not 0 <= fold < folds:
        right = "0" if folds == 1 else f"from 0 to {folds - 1}"
        raise ValueError(f"fold must be {right} for {spec.dataset.name}, got {fold}")
    if target is None:
        return dataset, dataset.splits[fold]
    if target not in names:
        choices = f"choose from {', '.join(names)}" if names else "it has none, leave it out"
        raise ValueError(f"dataset.target {target!r} is not a target of {dataset.info.name}: {choices}")
    data, slices = stored(dataset)
    data = copy.copy(data)
    if data.y.dim() > 1:
        data.y = data.y[:, [names.index(target)]]
    return restored(dataset, data, slices), dataset.splits[fold]


def relabelled(dataset: InMemoryDataset, seed: int) -> InMemoryDataset:
    """The same graphs, the nodes and arcs of each in a random order.

    >>> from elene.datasets import load
    >>> dataset = load("rook-shrikhande")
    >>> other = relabelled(dataset, seed=0)
    >>> other[0].num_edges, torch.equal(other[0].edge_index, dataset[0].edge_index)
    (96, False)
    """
    generator = torch.Generator().manual_seed(seed)
    data, slices = stored(dataset)
    data, nodes, arcs = copy.copy(data), slices["x"], slices["edge_index"]
    node_order, arc_order = (_shuffled(ends, generator) for ends in (nodes, arcs))
    place = torch.empty_like(node_order)
    place[node_order] = torch.arange(len(place))
    shift = nodes[:-1].repeat_interleave(arcs.diff())
    data.edge_index = (place[data.edge_index.long() + shift] - shift)[:, arc_order]
    for key, ends in slices.items():
        if key == "edge_index":
            continue
        if torch.equal(ends, nodes):
            data[key] = data[key][node_order]
        elif torch.equal(ends, arcs):
            data[key] = data[key][arc_order]
    return restored(dataset, data, slices)


def _shuffled(ends: Tensor, generator: torch.Generator) -> Tensor:
    """All rows in a random order, but each graph's in its place."""
    graph = torch.arange(len(ends) - 1).repeat_interleave(ends.diff())
    order = torch.randperm(len(graph), generator=generator)
    return order[graph[order].argsort(stable=True)]
