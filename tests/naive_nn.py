"""The oracle of ELENE-L: concatenate and multiply, one pair and one triple at a time, on networkx graphs."""

from __future__ import annotations

import torch

import naive


def embed(tables, quadruplet, distance_row, rho, joint):
    """Emb of one quadruplet: the rows of closer, degree and farther, concatenated."""
    rows = []
    for kind, value in enumerate(quadruplet[1:]):
        value = min(value, rho)
        if joint:
            rows.append(tables[0][kind, distance_row * (rho + 1) + value])
        else:
            rows.append(tables[0][kind, distance_row] + tables[1][kind, value])
    return torch.cat(rows)


def pooled(messages, how, width):
    if not messages:
        return torch.zeros(width, dtype=torch.double)
    total = torch.stack(messages)
    return total.mean(0) if how == "mean" else total.sum(0)


def ego_quadruplets(graph, root, k):
    distance = naive.ball(graph, root, k)
    subgraph = graph.subgraph(distance)
    return {node: naive.quadruplet(subgraph, node, distance) for node in distance}


def inside_quadruplets(graph, u, w, k):
    """For every node of the intersection its two quadruplets there, as u and as w sees it."""
    from_u, from_w = naive.ball(graph, u, k), naive.ball(graph, w, k)
    subgraph = graph.subgraph(set(from_u) & set(from_w))
    return {v: (naive.quadruplet(subgraph, v, from_u), naive.quadruplet(subgraph, v, from_w)) for v in subgraph}


def node_message(layer, x, v, u, quadruplet):
    emb = layer.embedding
    weight = torch.cat([layer.root_in.weight, layer.member_in.weight, layer.node_table.T], dim=1)
    embedded = embed(emb.node, quadruplet, quadruplet[0], emb.max_degree, emb.joint)
    return torch.relu(weight @ torch.cat([x[v], x[u], embedded]) + layer.root_in.bias)


def edge_message(layer, x, x_edge, v, edge, rooted, inside):
    emb = layer.embedding
    q_u, q_w = rooted
    embedded = embed(emb.rooted, q_u, 3 * q_u[0] + q_u[0] - q_w[0] + 1, emb.max_degree, emb.joint) + embed(
        emb.rooted, q_w, 3 * q_w[0] + q_w[0] - q_u[0] + 1, emb.max_degree, emb.joint
    )
    parts = [layer.edge_root_in.weight, layer.edge_in.weight, layer.product_in.weight, layer.rooted_table.T]
    values = [x[v], x_edge, x[edge[0]] * x[edge[1]], embedded]
    if emb.intersection:
        parts.append(layer.inside_table.T)
        values.append(sum(embed(emb.inside, q, q[0], emb.max_degree, emb.joint) for q in inside))
    return torch.relu(torch.cat(parts, dim=1) @ torch.cat(values) + layer.edge_root_in.bias)


def elene(layer, graph, x, edges, k):
    """The layer on one graph: x by node, edges as a dict from frozenset of ends to features; the same come back."""
    around = {v: ego_quadruplets(graph, v, k) for v in graph}
    nodes = []
    for v in graph:
        messages = [node_message(layer, x, v, u, q) for u, q in around[v].items()]
        nodes.append(layer.node_out(pooled(messages, layer.pool, layer.hidden)))
    if layer.level == "node":
        return x + layer.gamma * torch.stack(nodes), edges
    to_node, updated = {v: [] for v in graph}, {}
    for u, w in graph.edges:
        inside = inside_quadruplets(graph, u, w, k)
        messages = []
        for v, readings in inside.items():
            rooted = (around[v][u], around[v][w])
            message = edge_message(layer, x, edges[frozenset((u, w))], v, (u, w), rooted, readings)
            messages.append(message)
            to_node[v].append(message)
        new = layer.edge_gamma * layer.edge_out(pooled(messages, layer.pool, layer.hidden))
        updated[frozenset((u, w))] = edges[frozenset((u, w))] + new
    for v in graph:
        nodes[v] = nodes[v] + layer.around_out(pooled(to_node[v], layer.pool, layer.hidden))
    return x + layer.gamma * torch.stack(nodes), updated
