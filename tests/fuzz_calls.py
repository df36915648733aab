"""Odd arguments for every public function, in a process of its own: see test_fuzz_calls.py.

Each argument in turn is replaced by each odd value, and then seeded draws replace several at once. A call may give an
answer, or raise a ValueError or TypeError that our code raises and that names the argument. Anything else is printed.
"""

from __future__ import annotations

import faulthandler
import itertools
import json
import os
import random
import re
import resource
import sys
import tempfile
import traceback
import warnings
from decimal import Decimal
from pathlib import Path

import networkx as nx
import numpy as np
import pandas
import rustworkx
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData, InMemoryDataset
from torch_geometric.nn import GINConv

import elene
from elene import baselines, datasets, nn, plot, transforms
from elene.nn.functional import ego_reduce
from graphs import LikeDGL

ARCS = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
PATH = Data(edge_index=ARCS, num_nodes=3, x=torch.ones(3, 2))
CONVS = [GINConv(torch.nn.Linear(2, 2))]
GRAPH = elene.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
READY = transforms.EgoStructure(1, "edge")(PATH)
TABLE = pandas.DataFrame({"source": [0, 1], "target": [1, 2]})
FOLDER = Path(tempfile.mkdtemp())
SET = InMemoryDataset()
SET.data, SET.slices = InMemoryDataset.collate([PATH, PATH])
SECONDS = 60  # what a call may take, and what it compiles on a busy machine
ROOM = 1 << 30  # address space beyond what is taken once everything is loaded

ODD = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "0": lambda: 0,
    "3": lambda: 3,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "-2**70": lambda: -(2**70),
    "1.5": lambda: 1.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1j": lambda: 1j,
    "Decimal": lambda: Decimal(2),
    "''": lambda: "",
    "'Valjean'": lambda: "Valjean",
    "'\\0'": lambda: "a\0b",
    "b'1'": lambda: b"1",
    "[]": lambda: [],
    "[[]]": lambda: [[]],
    "[0, 1]": lambda: [0, 1],
    "[0, [1]]": lambda: [0, [1]],
    "['a']": lambda: ["a"],
    "[None]": lambda: [None],
    "[2**80]": lambda: [2**80],
    "()": tuple,
    "{}": dict,
    "{'a': 1}": lambda: {"a": 1},
    "{0, 1}": lambda: {0, 1},
    "object": object,
    "int": lambda: int,
    "len": lambda: len,
    "iterator": lambda: iter([0, 1]),
    "endless": lambda: itertools.repeat(0),
    "range": lambda: range(2),
    "array of no dimension": lambda: np.array(1),
    "no rows": lambda: np.zeros((0, 2), int),
    "square": lambda: np.zeros((2, 2)),
    "cube": lambda: np.ones((3, 3, 3)),
    "nan in array": lambda: np.array([np.nan, 1]),
    "text in array": lambda: np.array(["a", "b"]),
    "objects in array": lambda: np.array([None, []], object),
    "np.int8": lambda: np.int8(1),
    "np.float64": lambda: np.float64(1),
    "tensor": lambda: torch.tensor([0, 1]),
    "tensor of floats": lambda: torch.rand(3, 2),
    "sparse matrix": lambda: sp.csr_array((2, 3)),
    "directed": lambda: nx.DiGraph([(0, 1)]),
    "no graph": nx.Graph,
    "Graph": lambda: GRAPH,
    "Data": Data,
    "HeteroData": HeteroData,
    "Graph class": lambda: elene.Graph,
}


def _fitted():
    return elene.Encoder(k=1).fit([GRAPH])


def _encoder(X=(GRAPH,), **options):
    return elene.Encoder(**options).fit(list(X) if isinstance(X, tuple) else X)


# What is called, with arguments that are right; the names of arguments are those that errors must give.
CALLS = {
    "Graph": (
        elene.Graph,
        {"indptr": np.array([0, 1, 2]), "indices": np.array([1, 0], np.int32), "names": None, "labels": None},
    ),
    "Graph.from_edges": (
        elene.Graph.from_edges,
        {"edges": [(0, 1)], "num_nodes": 3, "names": ["a", "b", "c"], "labels": [0, 0, 1]},
    ),
    "Graph.with_labels": (GRAPH.with_labels, {"labels": ["a", "b", "a", "a"]}),
    "Graph.from_networkx": (elene.Graph.from_networkx, {"graph": nx.path_graph(3), "labels": [0, 0, 1]}),
    "Graph.from_pandas": (elene.Graph.from_pandas, {"table": TABLE, "source": "source", "target": "target"}),
    "Graph.from_scipy": (elene.Graph.from_scipy, {"matrix": sp.csr_array([[0, 1], [1, 0]])}),
    "Graph.from_igraph": (elene.Graph.from_igraph, {"graph": None}),
    "Graph.from_dgl": (elene.Graph.from_dgl, {"graph": LikeDGL([0, 1], [1, 0], 2)}),
    "Graph.from_rustworkx": (elene.Graph.from_rustworkx, {"graph": rustworkx.generators.cycle_graph(3)}),
    "Graph.from_pyg": (elene.Graph.from_pyg, {"data": PATH, "num_nodes": None, "labels": [0, 0, 1]}),
    "Graph.read": (elene.Graph.read, {"path": FOLDER / "edges.g6", "index": None, "labels": None}),
    "Graph.read_all": (elene.Graph.read_all, {"path": FOLDER / "edges.g6"}),
    "GraphStore.open": (elene.GraphStore.open, {"folder": FOLDER / "graph.elene", "verify": False}),
    "Graph.positions": (GRAPH.positions, {"nodes": [0]}),
    "Graph.position": (GRAPH.position, {"node": 0}),
    "encode": (
        elene.encode,
        {
            "graph": GRAPH,
            "k": 1,
            "level": "node",
            "degrees": "relative",
            "form": "marginal",
            "max_degree": None,
            "radius": None,
            "roots": None,
            "threads": None,
        },
    ),
    "encode, pairs": (elene.encode, {"graph": GRAPH, "k": [1, 2], "level": "pair", "radius": 1, "roots": [(0, 1)]}),
    "encode, joint": (elene.encode, {"graph": GRAPH, "k": 1, "form": "joint", "max_degree": 2}),
    "encode, types": (elene.encode, {"graph": GRAPH, "k": 1, "form": "type", "labels": [0, 1, 0, 1]}),
    "affected": (elene.affected, {"graph": GRAPH, "edges": [(0, 1)], "k": 1}),
    "Encoding.row": (elene.encode(GRAPH, 1, level="edge").row, {"name": (0, 1)}),
    "quadruplets": (elene.quadruplets, {"graph": GRAPH, "node": 0, "k": 1}),
    "edge_quadruplets": (elene.edge_quadruplets, {"graph": GRAPH, "edge": (0, 1), "k": 1}),
    "fingerprint": (elene.fingerprint, {"graph": GRAPH, "k": 1, "level": "pair", "refine": None, "radius": 1}),
    "compare": (elene.compare, {"a": GRAPH, "b": GRAPH, "k": 1, "level": "edge", "refine": "wl"}),
    "compare, labels": (
        elene.compare,
        {"a": GRAPH, "b": GRAPH, "k": 1, "labels": ([0, 1, 0, 1], [0, 1, 1, 0]), "edge_labels": ([1] * 4, [2] * 4)},
    ),
    "fingerprint, labels": (
        elene.fingerprint,
        {"graph": GRAPH, "k": 1, "labels": [0, 1, 0, 1], "edge_labels": ["a", "b", "a", "b"]},
    ),
    "Encoder": (
        _encoder,
        {"X": (GRAPH,), "k": 1, "level": "node", "degrees": "relative", "form": "marginal", "max_degree": None}
        | {"per": "row", "threads": 1},
    ),
    "Encoder.transform": (_fitted().transform, {"X": [GRAPH]}),
    "Encoding.load": (elene.Encoding.load, {"path": FOLDER / "encoding.npz"}),
    "Encoding.save": (elene.encode(GRAPH, 1).save, {"path": FOLDER / "again.npz"}),
    "draw_ego": (plot.draw_ego, {"graph": GRAPH, "node": 0, "k": 1}),
    "draw_intersection": (plot.draw_intersection, {"graph": GRAPH, "u": 0, "v": 1, "k": 1}),
    "AddELENE": (
        transforms.AddELENE,
        {"k": 1, "level": "node", "degrees": "relative", "form": "marginal", "max_degree": 2, "most_bytes": 2**20},
    ),
    "Cached": (transforms.Cached, {"transform": transforms.AddELENE(1, max_degree=2), "folder": FOLDER / "kept"}),
    "Cached()": (transforms.Cached(transforms.AddELENE(1, max_degree=2), FOLDER / "kept"), {"data": PATH}),
    "Cached.prepare": (transforms.Cached(transforms.EgoStructure(1), FOLDER / "kept").prepare, {"dataset": SET}),
    "AddELENE.fit": (transforms.AddELENE(1).fit, {"dataset": [PATH]}),
    "AddELENE()": (transforms.AddELENE(1, max_degree=2), {"data": PATH}),
    "EgoStructure": (transforms.EgoStructure, {"k": 1, "level": "node", "max_degree": None}),
    "EgoStructure()": (transforms.EgoStructure(1), {"data": PATH}),
    "EgoLoader": (
        transforms.EgoLoader,
        {"graph": PATH, "structure": transforms.EgoStructure(1), "layers": 1, "input_nodes": None, "features": None}
        | {"most_nodes": None},
    ),
    "Ego.of": (nn.Ego.of, {"data": READY}),
    "Ego.ends": (nn.Ego.of(READY).ends, {"edge_index": ARCS}),
    "ELENE": (
        nn.ELENE,
        {"channels": 2, "k": 1, "level": "node", "max_degree": 2, "hidden": 2, "pool": "mean", "norm": "update"}
        | {"embedding": None},
    ),
    "ELENE()": (
        nn.ELENE(2, 1, "edge"),
        {"x": torch.ones(3, 2), "edge_index": ARCS, "edge_attr": None, "ego": nn.Ego.of(READY)},
    ),
    "ego_reduce": (
        ego_reduce,
        {"x": torch.ones(3, 2), "y": torch.ones(3, 2), "table": torch.ones(9, 2), "entries": nn.Ego.of(READY).pairs}
        | {"pool": "mean", "backend": None},
    ),
    "EgoEmbedding": (nn.EgoEmbedding, {"k": 1, "max_degree": 2, "dim": 4, "level": "node"}),
    "VirtualNode": (nn.VirtualNode, {"channels": 2, "layers": 1}),
    "updates": (nn.updates, {"channels": 2, "layers": 1, "dropout": 0.5}),
    "igel": (baselines.igel, {"k": 1, "max_degree": 2}),
    "GNNAK": (baselines.GNNAK, {"channels": 2, "k": 1, "convs": CONVS, "parts": ["centroid"], "pool": "mean"}),
    "NGNN": (baselines.NGNN, {"channels": 2, "k": 1, "convs": CONVS, "pool": "mean", "hop_dim": 2}),
    "SPNN": (baselines.SPNN, {"k": 1, "mlp": torch.nn.Linear(2, 2)}),
    "Centrality": (baselines.Centrality, {"channels": 2, "max_degree": 2}),
    "Graphormer": (baselines.Graphormer, {"channels": 4, "k": 1, "heads": 2, "ffn": 4, "dropout": 0.1}),
    "PPGNBlock": (baselines.PPGNBlock, {"in_channels": 2, "channels": 2}),
    "Subgraphs.of": (baselines.Subgraphs.of, {"ego": nn.Ego.of(READY), "edge_index": ARCS}),
    "datasets.load": (datasets.load, {"name": "sr25"}),
    "datasets.load_collection": (datasets.load_collection, {"name": "sr25"}),
    "read_brec": (datasets.read_brec, {"path": FOLDER / "brec.tsv"}),
    "triangular": (datasets.triangular, {"n": 5}),
    "latin_square_graph": (datasets.latin_square_graph, {"square": [[0, 1], [1, 0]]}),
    "is_strongly_regular": (datasets.is_strongly_regular, {"graph": GRAPH}),
    "regular_graph": (datasets.regular_graph, {"n": 10, "d": 3, "seed": 0}),
    "barabasi_albert": (datasets.barabasi_albert, {"n": 10, "m": 2, "seed": 0}),
}


# What an error calls an argument by another name.
NAMED_ELSE = {("Graph.from_pyg", "data"): "edge_index"}
# A layer takes the memory that its sizes ask for.
LAYERS = (
    "ELENE",
    "EgoEmbedding",
    "VirtualNode",
    "updates",
    "GNNAK",
    "NGNN",
    "SPNN",
    "Centrality",
    "Graphormer",
    "PPGNBlock",
)
LARGE = {call: {"2**31", "2**63"} for call in (*LAYERS, "igel")}


def prepare():
    import igraph

    CALLS["Graph.from_igraph"][1]["graph"] = igraph.Graph.Ring(3)
    (FOLDER / "edges.g6").write_text("Bw\n")
    TABLE.to_parquet(FOLDER / "edges.parquet")
    elene.GraphStore.build(FOLDER / "edges.parquet", FOLDER / "graph.elene")
    (FOLDER / "brec.tsv").write_text("index\tcategory\tsource\tgraph_a\tgraph_b\n")
    elene.encode(GRAPH, 1).save(FOLDER / "encoding.npz")


def complaint(name, replaced):
    """What is wrong with how a call ends; None if nothing is."""
    call, arguments = CALLS[name]
    given = arguments | {argument: ODD[odd]() for argument, odd in replaced.items()}
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        call(**given)
    except (ValueError, TypeError, OSError, NotImplementedError) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} at {frame.filename}:{frame.lineno}"
        if isinstance(error, OSError) and "path" in replaced:
            return None  # of a file that is not there, the system's words are the best
        if f"{os.sep}elene{os.sep}" not in frame.filename or (frame.line and "raise" not in frame.line):
            return f"not ours: {told}"
        # An argument may be right, and yet not go with another one: either is named. A file is named by its name.
        names = {*arguments, *(NAMED_ELSE.get((name, argument), argument) for argument in arguments)}
        return (
            None
            if "path" in replaced or any(re.search(rf"\b{word}\b", str(error)) for word in names)
            else f"unnamed: {told}"
        )
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} at {frame.filename}:{frame.lineno}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def cases(seed, draws):
    """Every argument with every odd value, and then some arguments at once."""
    for call, (_, arguments) in CALLS.items():
        for argument in arguments:
            for odd in sorted(ODD.keys() - LARGE.get(call, set())):
                yield call, {argument: odd}
    rng = random.Random(seed)
    several = [call for call, (_, arguments) in CALLS.items() if len(arguments) > 1]
    for _ in range(draws):
        call = rng.choice(several)
        arguments = rng.sample(list(CALLS[call][1]), 2)
        odd = sorted(ODD.keys() - LARGE.get(call, set()))
        yield call, {argument: rng.choice(odd) for argument in arguments}


def main():
    warnings.simplefilter("ignore")
    prepare()
    for call, (function, arguments) in CALLS.items():
        if call != "read_brec":
            function(**arguments)  # right as they are, and what is compiled is compiled
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, resource.RLIM_INFINITY))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found, count = [], 0
    for call, replaced in cases(int(sys.argv[1]), int(sys.argv[2])):
        count += 1
        wrong = complaint(call, replaced)
        if wrong is not None:
            found.append(f"{call}({', '.join(f'{key}={value}' for key, value in replaced.items())}): {wrong[:300]}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    print(json.dumps({"calls": count, "wrong": found, "grown": grown}))


if __name__ == "__main__":
    main()
