"""File formats read the slow and obvious way: the nodes and the edges, as sets."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ElementTree

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp


def edge_list(content, delimiter, ends, header):
    """An edge list whose delimiter, columns and header are known."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    rows = list(rows_of(text.split("\n"), delimiter, lambda line: line[0] in "#%"))
    pairs = [[row[end] for end in ends] for row in rows[header:]]
    if all(re.fullmatch("0|-?[1-9][0-9]*", end) and abs(int(end)) < 2**63 for pair in pairs for end in pair):
        return spanned([[int(end) for end in pair] for pair in pairs])
    rows = rows_of(text.split("\n"), delimiter, lambda line: re.match("[#%]([ \t]|$)", line) is not None)
    return spanned([[row[end] for end in ends] for row in list(rows)[header:]])


def rows_of(lines, delimiter, is_comment):
    begun = False
    for line in lines:
        line = line.strip(" ") if delimiter == "\t" else line.strip(" \t")
        bare = line.strip(" \t")
        if not bare or (bare[0] in "#%" if not begun else is_comment(bare)):
            continue
        begun = True
        yield fields_of(without_attributes(line), delimiter)


def without_attributes(line):
    """A line without the dictionary that networkx writes behind an edge."""
    for place, letter in enumerate(line):
        body = line[place:].rstrip(" \t")
        filled = len(body) > 2 and body[1] in "'\"" and ":" in body
        behind = letter == "{" and line[place - 1 : place] in tuple(" \t,;")
        if behind and body.endswith("}") and (body == "{}" or filled):
            return line[:place].rstrip(" \t,;")
    return line


def fields_of(line, delimiter):
    if delimiter == " " and '"' not in line:
        return re.split("[ \t]+", line.strip(" \t"))
    if delimiter == " ":
        line = re.sub("[ \t]+", " ", line.strip(" \t"))
    return [field.strip(" \t") for field in next(csv.reader([line], delimiter=delimiter, strict=True))]


def parquet(path, ends):
    table = pq.read_table(path, columns=ends)
    columns = [table.column(end).to_pylist() for end in ends]
    if len({type(value) for column in columns for value in column}) > 1:
        columns = [list(map(str, column)) for column in columns]
    strip = lambda value: value.strip(" \t") if isinstance(value, str) else value  # noqa: E731
    return spanned([[strip(value) for value in pair] for pair in zip(*columns, strict=True)])


def network(path):
    with np.load(path) as arrays:
        return spanned(arrays["edges"].tolist(), range(arrays["num_nodes"].item()))


def matrix(path):
    with np.load(path) as arrays:
        form, shape = arrays["format"].item().decode(), tuple(arrays["shape"])
        places = (arrays["row"], arrays["col"]) if form == "coo" else (arrays["indices"], arrays["indptr"])
        entries = (arrays["data"], places) if form == "coo" else (arrays["data"], *places)
        dense = getattr(sp, f"{form}_array")(entries, shape=shape).toarray()
    return spanned(np.argwhere(dense).tolist(), range(len(dense)))


def graph6(content):
    lines = [line.strip().removeprefix(b">>graph6<<") for line in content.split(b"\n")]
    graph = nx.from_graph6_bytes(next(filter(None, lines)))
    return spanned(graph.edges, graph.nodes)


def graphml(content):
    """The first graph, by the elements alone."""
    root = ElementTree.fromstring(content)
    space = root.tag[: root.tag.index("}") + 1] if "}" in root.tag else ""
    graph = next(root.iter(f"{space}graph"))
    pairs = [(edge.attrib["source"], edge.attrib["target"]) for edge in graph.iter(f"{space}edge")]
    return spanned(pairs, [node.attrib["id"] for node in graph.iter(f"{space}node")])


def gml(content):
    """Nodes and edges by their keys; nodes go by their labels where all have one of their own, else by their ids."""
    text = re.sub(r"(?m)^\s*#.*$", "", content.decode("ascii"))
    graph = dict(pairs_of(iter(re.findall(r'"[^"]*"|\[|\]|[^\s\[\]"]+', text))))["graph"]
    nodes = [dict(value) for key, value in graph if key == "node"]
    edges = [dict(value) for key, value in graph if key == "edge"]
    labels = [node.get("label") for node in nodes]
    key = "id" if None in labels or len(set(labels)) < len(labels) else "label"
    names = {node["id"]: node[key] for node in nodes}
    return spanned([(names[edge["source"]], names[edge["target"]]) for edge in edges], names.values())


def pairs_of(tokens):
    """Keys and values until the bracket closes."""
    found = []
    for key in tokens:
        if key == "]":
            break
        value = next(tokens)
        quoted = value.startswith('"')
        found.append((key, pairs_of(tokens) if value == "[" else value[1:-1] if quoted else number(value)))
    return found


def number(text):
    try:
        return int(text)
    except ValueError:
        return text


def metis(content):
    lines = [line.split() for line in content.decode("ascii").split("\n") if not line.startswith("%")]
    n, _, *rest = (int(number) for number in lines[0])
    fmt = str(rest[0] if rest else 0).zfill(3)
    skip = (fmt[0] == "1") + (fmt[1] == "1") * (rest[1] if len(rest) > 1 else 1)
    step = 2 if fmt[2] == "1" else 1
    pairs = [(node, int(other) - 1) for node in range(n) for other in lines[node + 1][skip::step]]
    return spanned(pairs, range(n))


def spanned(pairs, nodes=()):
    pairs = [tuple(pair) for pair in pairs]
    return {end for pair in pairs for end in pair} | set(nodes), {frozenset(p) for p in pairs if p[0] != p[1]}
