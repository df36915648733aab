"""Beside ELENE-L: the layer by concatenation and one product a pair, its maps alone, dense all-pairs preparation."""

from __future__ import annotations

import torch
from torch import nn
from torch_geometric.utils import scatter, to_dense_adj

from elene.nn import ELENE


def embed(tables, quadruplets, distance, rho):
    """The three embeddings of each quadruplet, concatenated: rows x 4 in, rows x 3 dim out."""
    degree = quadruplets[:, 1:].clamp(max=rho).long()
    index = distance[:, None].long() * (rho + 1) + degree
    closer_degree_farther = tables.tables[0].weight.chunk(3)
    return torch.cat([table[index[:, kind]] for kind, table in enumerate(closer_degree_farther)], dim=1)


class NaiveELENE(ELENE):
    """The same weights and the same output, with every pair and triple spelled out."""

    def forward(self, x, edge_index, edge_attr, ego):
        rho = self.embedding.max_degree
        pairs, quadruplets = ego.pairs, ego.quadruplets[ego.pairs.codes[:, 0].long()]
        embedded = embed(self.embedding.node, quadruplets, quadruplets[:, 0], rho)
        inputs = torch.cat([x[pairs.rows], x[pairs.columns.long()], embedded], dim=1)
        weight = torch.cat([self.root_in.weight, self.member_in.weight, self.quadruplet_in.weight], dim=1)
        messages = torch.relu(nn.functional.linear(inputs, weight, self.root_in.bias))
        parts = [x, scatter(messages, pairs.rows, 0, len(x), reduce=self.pool)]
        if self.level == "edge":
            edge_attr, around = self._naive_edges(x, edge_index, edge_attr, ego)
            parts.append(around)
        return self.node_gates(x, self.node_update(*parts)), edge_attr

    def _naive_edges(self, x, edge_index, edge_attr, ego):
        rho, triples = self.embedding.max_degree, ego.triples
        edges, (low, high) = triples.num_columns, ego.ends(edge_index)[0]
        rooted, inside = (ego.edge_quadruplets[triples.codes[:, c].long()].reshape(-1, 2, 4) for c in range(2))
        delta = rooted[:, :, 0] - rooted[:, :, 0].flip(1) + 1
        around = sum(
            embed(self.embedding.rooted, rooted[:, i], 3 * rooted[:, i, 0] + delta[:, i], rho) for i in range(2)
        )
        within = sum(embed(self.embedding.inside, inside[:, i], inside[:, i, 0], rho) for i in range(2))
        e = triples.columns.long()
        mean = x.new_zeros(edges, self.channels)
        if edge_attr is not None:
            mean = mean.index_add(0, ego.arcs, edge_attr) / 2
        inputs = torch.cat([x[triples.rows], mean[e], x[low[e]] * x[high[e]], around, within], dim=1)
        parts = [self.edge_root_in.weight, self.edge_in.weight, self.product_in.weight, self.rooted_in.weight]
        weight = torch.cat([*parts, self.inside_in.weight], dim=1)
        messages = torch.relu(nn.functional.linear(inputs, weight, self.edge_root_in.bias))
        update = self.edge_update(scatter(messages, e, 0, edges, reduce=self.pool))[ego.arcs]
        pooled = scatter(messages, triples.rows, 0, len(x), reduce=self.pool)
        return self.edge_gates(torch.zeros_like(update) if edge_attr is None else edge_attr, update), pooled


class MapsOnly(ELENE):
    """The same weights, maps, norms and gates with the fused op taken out, which costs nothing here: the limit."""

    def _sums(self, parts, entries, by_edge=False):
        passed = _Passed.apply(*parts, by_edge)
        return [(tensor, lambda tensor=tensor: tensor) for tensor in passed[: 1 + by_edge]]


class _Passed(torch.autograd.Function):
    """Roots' and others' rows as they are; gradients reach all that has led to them."""

    @staticmethod
    def forward(ctx, x, y, table, by_edge):
        ctx.by_edge, ctx.table = by_edge, table
        return x.view_as(x), y.view_as(y)

    @staticmethod
    def backward(ctx, d_x, d_y):
        return d_x, d_y if ctx.by_edge else d_x, torch.zeros_like(ctx.table), None


def dense_pairs(data, k):
    """The (root, node) pairs and their quadruplets of one graph by dense products over all pairs."""
    adjacency = to_dense_adj(data.edge_index, max_num_nodes=data.num_nodes)[0]
    n = data.num_nodes
    distance = torch.full((n, n), k + 1, dtype=torch.long)
    reach = torch.eye(n)
    for step in range(k + 1):
        distance[(reach > 0) & (distance > step)] = step
        reach = reach @ adjacency
    levels = [(distance == step).float() for step in range(-1, k + 2)]
    towards = [level @ adjacency for level in levels[:-1]] + [torch.zeros(n, n)]
    inside = (distance <= k).float() @ adjacency
    closer, farther = torch.zeros(n, n), torch.zeros(n, n)
    for step in range(1, k + 2):
        closer += levels[step] * towards[step - 1]
        farther += levels[step] * towards[step + 1]
    root, node = (distance <= k).nonzero(as_tuple=True)
    fields = [distance, closer, inside, farther]
    return root, node, torch.stack([field[root, node].long() for field in fields], dim=1)
