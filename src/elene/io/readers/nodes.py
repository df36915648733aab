"""Labels from a table of nodes: one row a node, its name in one column, its class in another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from elene.graph import Graph
from elene.io.readers.source import extra

NAMES = ("node", "name", "id")
TEXT = (".csv", ".tsv", ".txt")


def labelled_by_table(graph: Graph, path: Path, column: str | None) -> Graph:
    """The graph with the labels that a column of a table has for its nodes.

    Names of nodes are in the column called ``node``, ``name`` or ``id``, or else in the first.
    """
    table = _read(path)
    if column is None or column not in table.column_names:
        raise ValueError(f"labels={column!r} is not a column of {path}, which has {table.column_names!r:.200}")
    names = next((name for name in table.column_names if name.lower() in NAMES), table.column_names[0])
    if names == column:
        raise ValueError(f"labels={column!r} is the column with the names of nodes in {path}: name another")
    nodes, classes = table.column(names).to_pylist(), table.column(column).to_pylist()
    if len(set(nodes)) < len(nodes):
        raise ValueError(f"{path}: nodes repeat in the column {names!r}, so a node has several labels")
    text = graph.nodes.dtype.kind == "U"
    found = {str(node) if text else node: label for node, label in zip(nodes, classes, strict=True)}
    return graph.with_labels(found)


def _read(path: Path) -> Any:
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if path.suffix == ".parquet":
        return extra("pyarrow.parquet").read_table(path)
    if path.suffix not in TEXT:
        raise ValueError(f"{path}: a table of nodes must end in .parquet or {' '.join(TEXT)}")
    csv = extra("pyarrow.csv")
    between = "," if path.suffix == ".csv" else "\t"
    return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=between))
