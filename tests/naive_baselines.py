"""The oracles of the baselines: one subgraph, one pair of nodes, one entry at a time, on networkx graphs."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import torch

import naive


def rooted_states(inner, graph, x, edges, root):
    """The states of a root's subgraph, {node: state}: the convs run on it alone, cut out and numbered afresh."""
    subgraph = nx.ego_graph(graph, root, radius=inner.k)
    distance = naive.ball(graph, root, inner.k)
    nodes = list(subgraph)
    weight = torch.cat([inner.node_in.weight, inner.hop_in.weight], dim=1)
    starts = [torch.cat([x[node], inner.hops.weight[distance[node]]]) for node in nodes]
    state = torch.stack([weight @ start + inner.node_in.bias for start in starts])
    arcs = [(u, v) for u, v in graph.to_directed().edges if u in subgraph and v in subgraph]
    edge_index = torch.tensor([[nodes.index(end) for end in arc] for arc in arcs], dtype=torch.long).reshape(-1, 2).T
    edge_attr = torch.stack([edges[arc] for arc in arcs]) if arcs else x.new_zeros(0, x.shape[1])
    for conv, update in zip(inner.convs, inner.updates, strict=True):
        state = state + update(conv(state, edge_index, edge_attr))
    return dict(zip(nodes, state, strict=True))


def pooled(rows, how):
    return sum(rows) / (len(rows) if how == "mean" else 1)


def gnn_ak(layer, graph, x, edges, speaker=None):
    """GNN-AK(+); ``speaker`` names for each node the root whose subgraph speaks for it, by default itself."""
    speaker = {v: v for v in graph} if speaker is None else speaker
    states = {root: rooted_states(layer.inner, graph, x, edges, root) for root in set(speaker.values())}
    distance = dict(nx.all_pairs_shortest_path_length(graph))

    def gated(part, u, v, state):
        gate = torch.sigmoid(layer.gates[part](layer.inner.hops.weight[distance[u][v]])) if layer.gates else 1
        return gate * layer.maps[part](state[None])[0]

    out = []
    for v in graph:
        root = speaker[v]
        read = {"centroid": states[root][v]}
        if "subgraph" in layer.parts:
            copies = [gated("subgraph", u, root, state) for u, state in states[root].items()]
            read["subgraph"] = pooled(copies, layer.pool)
        if "context" in layer.parts:
            copies = [gated("context", v, w, states[w][v]) for w in states if v in states[w]]
            read["context"] = pooled(copies, layer.pool)
        parts = [read[part] for part in layer.parts]
        out.append(sum(parts) if layer.fuse is None else layer.fuse(torch.cat(parts)))
    return torch.stack(out)


def ngnn(layer, graph, x, edges):
    states = [rooted_states(layer.inner, graph, x, edges, root) for root in graph]
    return torch.stack([layer.out(pooled(list(state.values()), layer.pool)) for state in states])


def spnn(layer, graph, x):
    out = []
    for v in graph:
        total = (1 + layer.eps) * x[v]
        for u, step in naive.ball(graph, v, layer.k).items():
            total = total + (layer.alpha[step - 1] * x[u] if step else 0)
        out.append(layer.mlp(total))
    return torch.stack(out)


def igel(graph, k, max_degree):
    """For each node the counts of (distance, degree), one after another."""
    rows = []
    for v in graph:
        distance = naive.ball(graph, v, k)
        inside = graph.subgraph(distance)
        counts = Counter((distance[u], min(inside.degree(u), max_degree)) for u in inside)
        rows.append([float(counts[step, degree]) for step in range(k + 1) for degree in range(max_degree + 1)])
    return torch.tensor(rows)


def graphormer(layer, graph, x):
    """One head and one node at a time."""
    width = x.shape[1] // layer.heads
    query, key, value = (part.split(width, dim=1) for part in layer.project(layer.attention_norm(x)).chunk(3, dim=1))
    rows = []
    for v in graph:
        distance, mixed = naive.ball(graph, v, layer.k), []
        for head in range(layer.heads):
            keys = [*(key[head][u] for u in graph), layer.virtual[0, head, 0]]
            values = [*(value[head][u] for u in graph), layer.virtual[1, head, 0]]
            biases = [*(layer.bias.weight[distance.get(u, layer.k + 1), head] for u in graph), 0]
            scores = [query[head][v] @ one / width**0.5 + bias for one, bias in zip(keys, biases, strict=True)]
            weights = torch.stack(scores).softmax(0)
            mixed.append(sum(weight * one for weight, one in zip(weights, values, strict=True)))
        rows.append(layer.out(torch.cat(mixed)))
    attended = torch.stack(rows)
    return attended + layer.ffn(layer.ffn_norm(x + attended))


def ppgn_block(block, matrix):
    """An n x n x channels matrix in and out; the product spelled out."""
    left, right = block.left(matrix), block.right(matrix)
    nodes = range(len(matrix))
    product = torch.stack([torch.stack([sum(left[i, j] * right[j, k] for j in nodes) for k in nodes]) for i in nodes])
    return block.norm(block.skip(torch.cat([matrix, product], dim=2)))


def ppgn(model, graph, x, edges):
    n, width = x.shape
    matrix = x.new_zeros(n, n, width + 1)
    for v in graph:
        matrix[v, v, :width] = x[v]
    for (u, v), features in edges.items():
        matrix[u, v] = torch.cat([features, features.new_ones(1)])
    for block in model.blocks:
        matrix = ppgn_block(block, matrix)
    diagonal = sum(matrix[v, v] for v in graph)
    others = sum((matrix[u, v] for u in graph for v in graph if u != v), torch.zeros_like(diagonal))
    return model.head(torch.cat([diagonal, others]))
