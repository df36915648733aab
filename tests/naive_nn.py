"""The oracle of ELENE-L: concatenate and multiply, one pair and one triple at a time, on networkx graphs."""

from __future__ import annotations

import torch

import naive


def embed(tables, quadruplet, distance_row, rho, joint):
    """Emb of one quadruplet: the rows of closer, degree and farther, concatenated."""
    rows = []
    weights = [table.weight.reshape(3, -1, table.embedding_dim) for table in tables.tables]
    for kind, value in enumerate(quadruplet[1:]):
        value = min(value, rho)
        if joint:
            rows.append(weights[0][kind, distance_row * (rho + 1) + value])
        else:
            rows.append(weights[0][kind, distance_row] + weights[1][kind, value])
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
    weight = torch.cat([layer.root_in.weight, layer.member_in.weight, layer.quadruplet_in.weight], dim=1)
    embedded = embed(emb.node, quadruplet, quadruplet[0], emb.max_degree, emb.joint)
    return weight @ torch.cat([x[v], x[u], embedded]) + layer.root_in.bias


def edge_message(layer, x, x_edge, v, edge, rooted, inside):
    emb = layer.embedding
    q_u, q_w = rooted
    embedded = embed(emb.rooted, q_u, 3 * q_u[0] + q_u[0] - q_w[0] + 1, emb.max_degree, emb.joint) + embed(
        emb.rooted, q_w, 3 * q_w[0] + q_w[0] - q_u[0] + 1, emb.max_degree, emb.joint
    )
    parts = [layer.edge_root_in.weight, layer.edge_in.weight, layer.product_in.weight, layer.rooted_in.weight]
    values = [x[v], x_edge, x[edge[0]] * x[edge[1]], embedded]
    if emb.intersection:
        parts.append(layer.inside_in.weight)
        values.append(sum(embed(emb.inside, q, q[0], emb.max_degree, emb.joint) for q in inside))
    return torch.cat(parts, dim=1) @ torch.cat(values) + layer.edge_root_in.bias


def activated(norm, messages):
    """relu of all messages {name: row}, after a norm that sees them all at once."""
    if norm is None or not messages:
        return {name: torch.relu(row) for name, row in messages.items()}
    rows = torch.nn.BatchNorm1d.forward(norm, torch.stack(list(messages.values())))
    return dict(zip(messages, torch.relu(rows), strict=True))


def update(module, *parts):
    """Phi of rows: concatenate, multiply, normalise, relu; the norm sees all rows at once."""
    weight = torch.cat([linear.weight for linear in module.parts], dim=1)
    values = torch.cat(parts, dim=1) @ weight.T
    if module.parts[0].bias is not None:
        values = values + module.parts[0].bias
    return torch.relu(module.norm(values))


def elene(layer, graph, x, edges, k):
    """The layer on one graph: x by node, edges as a dict from frozenset of ends to features; the same come back."""
    around = {v: ego_quadruplets(graph, v, k) for v in graph}
    pairs = {(v, u): node_message(layer, x, v, u, q) for v in graph for u, q in around[v].items()}
    pairs = activated(layer.pair_norm, pairs)
    by_node = [pooled([pairs[v, u] for u in around[v]], layer.pool, layer.hidden) for v in graph]
    if layer.level == "node":
        old, new = layer.node_gates.weight
        return old * x + new * update(layer.node_update, x, torch.stack(by_node)), edges
    triples = {}
    for u, w in graph.edges:
        for v, readings in inside_quadruplets(graph, u, w, k).items():
            rooted = (around[v][u], around[v][w])
            triples[v, (u, w)] = edge_message(layer, x, edges[frozenset((u, w))], v, (u, w), rooted, readings)
    triples = activated(layer.triple_norm, triples)
    grouped = [[row for key, row in triples.items() if key[1] == edge] for edge in graph.edges]
    by_edge = [pooled(rows, layer.pool, layer.hidden) for rows in grouped]
    from_edges = [pooled([row for key, row in triples.items() if key[0] == v], layer.pool, layer.hidden) for v in graph]
    old, new = layer.node_gates.weight
    nodes = old * x + new * update(layer.node_update, x, torch.stack(by_node), torch.stack(from_edges))
    if not by_edge:
        return nodes, {}
    old, new = layer.edge_gates.weight
    updates = new * update(layer.edge_update, torch.stack(by_edge))
    names = [frozenset(edge) for edge in graph.edges]
    return nodes, {name: old * edges[name] + row for name, row in zip(names, updates, strict=True)}
