"""Memory and time of training against the size and the density of the graph, with plots.

    python benchmarks/scaling.py [--json FILE] [--plots FOLDER] [--full]

One layer of GIN, GIN-AK, GIN-AK+, GIN with ELENE-L (ND) and (ED), hidden size 128, as in the experiments; up to 25
training steps on one graph and a constant target; every point in a process of its own (its peak above that before
training is what is plotted). Sweeps: nodes of d-regular graphs; the degree of regular graphs of 1000 nodes; m of
Barabasi-Albert graphs of 1000 nodes; k = 1, 2, 3. A series ends where memory or time does. ``--full`` has all of the
paper's points, up to 31,623 nodes with d = 6, 12, 18, and goes on with ELENE-L (ND) to 10^6 nodes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import numpy as np
from rich.console import Console

from common import write_json
from elene.datasets.generators.memory import barabasi_albert, regular_graph

console = Console(width=120)
STEPS, WIDTH, LAYERS = 25, 128, 1
LIMIT = 6 * 2**30  # bytes that training may take
PATIENCE = 3.0  # seconds of the processor: no further step then, since memory does not grow any more
SLOW = 10.0  # seconds of a step after which no larger graph is tried
MODELS = ("gin", "gin+elene-nd", "gin+elene-ed", "gin-ak", "gin-ak+")


def model_of(name: str, k: int):
    from elene.experiments.config.network import Model

    conv = {"name": name, "k": k} if name.startswith("gin-ak") else "gin"
    elene = {"level": name[-2:], "k": k} if "elene" in name else None
    # A single graph has no variance for a BatchNorm in the head.
    return Model(conv=conv, layers=LAYERS, hidden=WIDTH, elene=elene, head_norm="none")


def train(queue, sweep: str, name: str, nodes: int, degree: int, k: int) -> None:
    """Train one model on one graph; says how much memory that takes, or nothing about it if there is not enough."""
    import torch
    from torch_geometric.data import Data, InMemoryDataset

    from elene.experiments.data.batches import Stock
    from elene.experiments.data.preparation import Columns, Preparation, Shape
    from elene.experiments.train.networks import build
    from elene.nn import Ego

    torch.manual_seed(0)
    graph = barabasi_albert(nodes, degree) if sweep == "m" else regular_graph(nodes, degree)
    arcs = torch.from_numpy(graph.edges.T.astype(np.int64))
    data = Data(x=torch.zeros(nodes, 1, dtype=torch.long), edge_index=torch.cat([arcs, arcs.flip(0)], dim=1))
    dataset = InMemoryDataset()
    dataset._data = data
    dataset.slices = {"x": torch.tensor([0, nodes]), "edge_index": torch.tensor([0, data.num_edges])}
    row = {"sweep": sweep, "model": name, "nodes": nodes, "degree": degree, "k": k, "peak": None}
    before = peak()
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + LIMIT, resource.RLIM_INFINITY))
    try:
        start = time.process_time()
        preparation = Preparation.learn(model_of(name, k), dataset, torch.arange(1))
        batch = Stock(preparation(dataset)).gather(torch.arange(1))
        ego = [Ego.of(batch)] if "ego_shape" in batch else []
        row["prepare"] = time.process_time() - start
        network = build(preparation, Shape(Columns((1,)), None, 1, "graph"))
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
        start, steps = time.process_time(), 0
        while steps < 2 or (steps < STEPS and time.process_time() - start < PATIENCE):
            optimizer.zero_grad()
            loss = (network(batch, *ego) - 1).abs().mean()
            loss.backward()
            optimizer.step()
            steps += 1
        row |= {"step": (time.process_time() - start) / steps, "steps": steps, "peak": peak() - before}
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
    queue.put(row)


def peak() -> int:
    return status("VmHWM")


def status(key: str) -> int:
    """Bytes, as the system counts them."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[key].split()[0]) * 1024


def measure(sweep: str, name: str, nodes: int, degree: int, k: int) -> dict:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["elene.experiments.train.networks", "elene.experiments.data.batches", "common"])
    queue = context.Queue()
    process = context.Process(target=train, args=(queue, sweep, name, nodes, degree, k))
    process.start()
    row = None
    while row is None:
        try:
            row = queue.get(timeout=1)
        except Empty:
            if not process.is_alive():
                raise ChildProcessError(f"{name} on {nodes} nodes failed: see above") from None
    process.join()
    found = "too much" if row["peak"] is None else f"{row['peak'] / 1e6:8,.0f} MB, {row['step'] * 1e3:9,.1f} ms a step"
    console.print(f"{sweep:6s} {name:12s} n={nodes:>9,} d={degree:2d} k={k}: {found}")
    return row


def series(full: bool) -> Iterator[list[tuple[str, str, int, int, int]]]:
    """Points that grow."""
    sizes = (100, 316, 1000, 3162, 10_000, 31_623) if full else (316, 1000, 3162)
    for name in MODELS:
        for k in (0,) if name == "gin" else (1, 2, 3):
            more = {1: (100_000, 1_000_000), 2: (100_000,)}.get(k, ()) if full and name == "gin+elene-nd" else ()
            for degree in (6, 12, 18) if full else (12,):
                largest = more if degree == 12 else ()
                yield [("nodes", name, nodes, degree, k) for nodes in (*sizes, *largest)]
            yield [("degree", name, 1000, degree, k) for degree in ((4, 8, 12, 18, 24, 32) if full else (4, 12, 24))]
            yield [("m", name, 1000, degree, k) for degree in ((2, 4, 6, 9, 12, 16) if full else (2, 6, 12))]


def grow(points: list[tuple[str, str, int, int, int]]) -> Iterator[dict]:
    for point in points:
        row = measure(*point)
        yield row
        if row["peak"] is None or row["step"] > SLOW:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--plots", type=Path, default="bench", help="where the plots go")
    parser.add_argument("--full", action="store_true", help="all of the paper's points, and up to 10^6 nodes")
    options = parser.parse_args()
    rows = [row for points in series(options.full) for row in grow(points)]
    from elene.experiments.report.figures import draw_memory

    options.plots.mkdir(parents=True, exist_ok=True)
    for sweep in ("nodes", "degree", "m"):
        (options.plots / f"memory-{sweep}.svg").write_text(draw_memory(f"memory-{sweep}", rows, sweep))
    write_json(options.json, {"scaling": rows})


if __name__ == "__main__":
    main()
