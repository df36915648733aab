"""Memory and speed of EgoLoader against the size of the graph, beside the transform of the whole graph.

    python benchmarks/loader.py [--sizes 100000 1000000 10000000] [--layers 1 2] [--json FILE] [--folder FOLDER]

A graph of 3 edges a node, nine in ten between near nodes, is built into a GraphStore; features (16 floats a node) are a
mapped file. In a process of its own, batches of 256 random roots are made, k=1. What is counted is anonymous memory
(RssAnon, looked at every 5 ms) above what the process had before it opened the store, libraries loaded and kernels
compiled: pages of mapped files can go any time. Beside it, EgoStructure on the whole graph in memory, above what the
graph takes, as far as it stays below 8 GB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from common import small_world, write_json

console = Console(width=120)
BATCH, BATCHES, WIDTH = 256, 40, 16
LIMIT = 8 * 2**30  # bytes that the transform of the whole graph may take


def anonymous() -> int:
    """Bytes of memory that no file stands behind."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024


class Watch:
    """The most anonymous memory while something runs, above what there was before."""

    def __enter__(self) -> Watch:
        self.before, self.most, self.over = anonymous(), 0, threading.Event()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()
        return self

    def _look(self) -> None:
        while not self.over.wait(0.005):
            self.most = max(self.most, anonymous())

    def __exit__(self, *_: Any) -> None:
        self.most = max(self.most, anonymous())
        self.over.set()
        self.thread.join()

    @property
    def peak(self) -> int:
        return self.most - self.before


def build(nodes: int, folder: Path) -> None:
    """The store and the features of one size."""
    import pyarrow
    import pyarrow.parquet

    import elene

    edges = small_world(nodes, 3 * nodes).edges
    table = pyarrow.table({"source": edges[:, 0], "target": edges[:, 1]})
    pyarrow.parquet.write_table(table, folder / "edges.parquet")
    elene.GraphStore.build(folder / "edges.parquet", folder / "graph.elene")
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (nodes, WIDTH))
    for start in range(0, nodes, 2**20):
        x[start : start + 2**20] = 1
    x.flush()


def load(folder: Path, layers: int, queue: Any) -> None:
    """Make batches from the store."""
    import elene
    from elene.transforms import EgoLoader, EgoStructure

    def run(graph: elene.Graph, x: Any, batches: int) -> tuple[int, float]:
        roots = np.random.default_rng(0).integers(0, graph.num_nodes, batches * BATCH)
        loader = EgoLoader(graph, EgoStructure(k=1), layers, roots, {"x": x}, batch_size=BATCH)
        start, nodes = time.perf_counter(), 0
        for batch in loader:
            nodes += batch.num_nodes
        return nodes // batches, (time.perf_counter() - start) / batches

    run(small_world(100, 300), np.ones((100, WIDTH), np.float32), 1)  # whatever is compiled or imported
    with Watch() as watch:
        store = elene.GraphStore.open(folder / "graph.elene")
        nodes, seconds = run(store, np.load(folder / "x.npy", mmap_mode="r"), BATCHES)
    queue.put({"peak": watch.peak, "nodes": nodes, "batches": 1 / seconds})


def transform(folder: Path, _: int, queue: Any) -> None:
    """The lists of the whole graph at once."""
    import torch
    from torch_geometric.data import Data

    import elene
    from elene.transforms import EgoStructure

    EgoStructure(k=1)(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2))  # compiles
    store = elene.GraphStore.open(folder / "graph.elene")
    arcs = torch.from_numpy(np.stack([np.repeat(np.arange(store.num_nodes), np.diff(store.indptr)), store.indices]))
    data = Data(edge_index=arcs, num_nodes=store.num_nodes)
    status = Path("/proc/self/statm").read_text().split()
    resource.setrlimit(resource.RLIMIT_AS, (int(status[0]) * resource.getpagesize() + LIMIT, resource.RLIM_INFINITY))
    try:
        with Watch() as watch:
            start = time.perf_counter()
            EgoStructure(k=1)(data)
            seconds = time.perf_counter() - start
        queue.put({"peak": watch.peak, "seconds": seconds})
    except (MemoryError, RuntimeError):
        queue.put({"peak": None, "seconds": None})


def alone(task: Any, folder: Path, layers: int = 1) -> dict:
    """What a task finds in a process of its own."""
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=task, args=(folder, layers, queue))
    process.start()
    found = queue.get()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--folder", type=Path, help="where stores are kept, and found again; by default nowhere")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for size in options.sizes:
            folder = (options.folder or Path(temporary)) / str(size)
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "x.npy").exists():
                build(size, folder)
            for layers in options.layers:
                found = alone(load, folder, layers)
                rows.append({"nodes": size, "what": "loader", "layers": layers, **found})
                console.print(
                    f"{size:>11,} nodes, {layers} layer{'s' * (layers > 1)}: {found['peak'] / 1e6:6,.0f} MB, "
                    f"{found['batches']:6.1f} batches a second, {found['nodes']:7,} nodes in each"
                )
            found = alone(transform, folder)
            rows.append({"nodes": size, "what": "transform", **found})
            took = "more than 8 GB" if found["peak"] is None else f"{found['peak'] / 1e6:6,.0f} MB"
            console.print(f"{size:>11,} nodes, all at once: {took}, {found['seconds'] or float('nan'):.1f} s")
    for layers in options.layers:
        peaks = [row["peak"] for row in rows if row.get("layers") == layers]
        console.print(
            f"{layers} layer{'s' * (layers > 1)}: the largest peak is {max(peaks) / min(peaks):.2f} times the smallest"
        )
    write_json(options.json, {"loader": rows})


if __name__ == "__main__":
    main()
