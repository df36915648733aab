"""From an edge list to a table with one row a node: ``python examples/node_table.py [edges.csv] [features.csv]``.

The same on the command line: ``elene encode edges.csv -k 1 --compact -o features.csv``
"""

from __future__ import annotations

import sys

import networkx as nx
import pandas as pd

import elene


def main(edges: str = "marriages.csv", features: str = "features.csv") -> pd.DataFrame:
    if edges == "marriages.csv":  # of the great families of Florence, around 1430
        marriages = pd.DataFrame(nx.florentine_families_graph().edges, columns=["source", "target"])
        marriages.to_csv(edges, index=False)
    encoding = elene.encode(elene.Graph.read(edges), k=1, compact=True)
    table = encoding.to_pandas()
    table.to_csv(features)
    print(f"{features}: {len(table)} rows, {table.shape[1]} columns. Whose relatives have no other relatives around?")
    alone = table["k1.distance1.degree1"].nlargest(5)  # neighbours with one neighbour in sight, which is this one
    for name, count in alone.items():
        print(f"  {name!s:12} {'*' * count} {count}")
    return table


if __name__ == "__main__":
    main(*sys.argv[1:])
