"""Graphs on disk: building a store, encoding from it beside encoding in memory, workers, and what Dask costs.

    python benchmarks/cluster.py STAGE [--rows 1e7] [--folder FOLDER] [--json FILE]

Stages, each a process of its own, so that one can be run at a time: ``generate`` (a small world with hubs, in blocks,
to Parquet), ``build`` (with 2 GB), ``store`` (k = 1 from the store, range by range, and as a folder of parts),
``memory`` (the same graph in memory, k = 1), ``workers`` (one Dask worker and two, k = 1), ``overhead`` (the largest
network in ``ELENE_DATA``, or a generated one, at k = 2: Dask beside plain threads), ``model`` (seconds of stores of
several sizes, for the cost model). The peak of anonymous memory is that of ``RssAnon``, looked at 50 times a second.
"""

from __future__ import annotations

import argparse
import re
import shutil
import threading
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from rich.console import Console

import elene
from common import networks, write_json
from elene.cluster.dask import local_client
from elene.cluster.parts import cut_parts, write_part
from elene.encoding.encoding import encode_rows, rows_between
from elene.encoding.spec import EncodingSpec
from elene.engine.parallel import count_threads
from elene.engine.plan import degrees_of, two_hop_paths
from elene.io.tidy import tidy_table

console = Console(width=120)
BLOCK = 5_000_000
OVERHEAD_RUNS = 7  # one after the other in turn: a machine's own noise is as large as what is looked for
NODES_A_ROW = 0.1
DEPTH = EncodingSpec.of(1)


class Peak:
    """The largest anonymous memory of this process while the block runs, in MB, and the seconds it took."""

    def __enter__(self):
        self.megabytes, self.over, self.begun = 0.0, threading.Event(), time.perf_counter()
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()
        return self

    def watch(self):
        while not self.over.wait(0.02):
            kilobytes = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())[1]
            self.megabytes = max(self.megabytes, int(kilobytes) / 1000)

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.begun
        self.over.set()
        self.watcher.join()


def generate(rows: int, folder: Path) -> dict:
    """Four edges in five to a node near by, at a distance with a long tail; the fifth to one that many are tied to."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, n = np.random.default_rng(0), int(rows * NODES_A_ROW)
    schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
    with pq.ParquetWriter(folder / "edges.parquet", schema) as writer:
        for start in range(0, rows, BLOCK):
            size = min(BLOCK, rows - start)
            u = rng.integers(0, n, size)
            near = (u + np.minimum(1 + 16 * rng.pareto(0.8, size), n - 1).astype(np.int64)) % n
            far = (n * rng.random(size) ** 3).astype(np.int64)
            v = np.where(rng.random(size) < 0.8, near, far)
            writer.write_table(pa.table({"source": u.astype(np.int32), "target": v.astype(np.int32)}))
    return {"rows": rows, "bytes": (folder / "edges.parquet").stat().st_size}


def build(rows: int, folder: Path) -> dict:
    shutil.rmtree(folder / "graph.elene", ignore_errors=True)
    with Peak() as peak:
        store = elene.GraphStore.build(folder / "edges.parquet", folder / "graph.elene", memory="2GB")
    told = store.manifest
    size = sum(about["bytes"] for about in told.arrays.values())
    return {
        "edges": told.edges, "nodes": told.nodes, "max_degree": told.max_degree, "seconds": peak.seconds,
        "anonymous_MB": peak.megabytes, "store_MB": size / 1e6,
    }  # fmt: skip


def in_parts(graph, cuts, threads=None) -> int:
    """Encode range by range, and let each go: what a part does, but for the file."""
    counts = 0
    for start, stop in pairwise(cuts):
        counts += encode_rows(graph, DEPTH, rows_between(graph, DEPTH, start, stop), threads).matrix.nnz
    return counts


def from_store(rows: int, folder: Path) -> dict:
    store = elene.GraphStore.open(folder / "graph.elene")
    elene.encode(store, 1, roots=[0, 1])
    with Peak() as plan:
        cuts = cut_parts(store, DEPTH)
    with Peak() as cold:
        in_parts(store, cuts)
    with Peak() as warm:
        counts = in_parts(store, cuts)
    out = folder / "features"
    shutil.rmtree(out, ignore_errors=True)
    with Peak() as written:
        found = elene.cluster.encode(store, 1, out, workers=0)
    shutil.rmtree(out)
    return {
        "edges": store.num_edges, "parts": len(cuts) - 1, "counts": counts, "plan_s": plan.seconds,
        "first_s": cold.seconds, "second_s": warm.seconds, "edges_per_s": store.num_edges / warm.seconds,
        "anonymous_MB": max(plan.megabytes, cold.megabytes, warm.megabytes),
        "folder_s": written.seconds, "folder_anonymous_MB": written.megabytes, "folder_MB": found.size / 1e6,
    }  # fmt: skip


def in_memory(rows: int, folder: Path) -> dict:
    """The best of two calls, beside the store's second."""
    store = elene.GraphStore.open(folder / "graph.elene")
    graph = elene.Graph.trusted(np.array(store.indptr), np.array(store.indices))
    with Peak() as ranking:
        _ = graph.ranked
    seconds, megabytes = [], 0.0
    for _ in range(2):
        with Peak() as peak:
            counts = elene.encode(graph, 1).matrix.nnz
        seconds.append(peak.seconds)
        megabytes = max(megabytes, peak.megabytes)
    return {
        "edges": graph.num_edges, "counts": counts, "ranking_s": ranking.seconds, "seconds": min(seconds),
        "edges_per_s": graph.num_edges / min(seconds), "anonymous_MB": megabytes,
    }  # fmt: skip


def timed_on(client, store, k, out: Path, **options) -> float:
    """Seconds of a run on workers that have done something before: imports and compilation are not what is asked."""
    shutil.rmtree(out, ignore_errors=True)
    begun = time.perf_counter()
    elene.cluster.encode(store, k, out, client, **options)
    seconds = time.perf_counter() - begun
    shutil.rmtree(out)
    return seconds


def workers(rows: int, folder: Path) -> dict:
    store, seconds = elene.GraphStore.open(folder / "graph.elene"), {}
    for count in (1, 2):
        with local_client(count) as client:
            warm_up(client, folder, 1)
            seconds[count] = timed_on(client, store, 1, folder / "features")
    return {"one_s": seconds[1], "two_s": seconds[2], "ratio": seconds[1] / seconds[2]}


def warm_up(client, folder: Path, k: int) -> None:
    """Every worker makes some parts of a small graph."""
    shutil.rmtree(folder / "small.elene", ignore_errors=True)
    ring = pd.DataFrame({"source": range(2000), "target": [(i + 1) % 2000 for i in range(2000)]})
    ring.to_parquet(folder / "small.parquet")
    small = elene.GraphStore.build(folder / "small.parquet", folder / "small.elene")
    timed_on(client, small, k, folder / "small", parts=40)


def overhead(rows: int, folder: Path) -> dict:
    """A worker a core beside this process with a thread a core: the networks of `largest` at k = 2, the built graph."""
    found = {}
    for name, graph in largest():
        pd.DataFrame(graph.edges, columns=["source", "target"]).to_parquet(folder / "network.parquet")
        shutil.rmtree(folder / "network.elene", ignore_errors=True)
        store = elene.GraphStore.build(folder / "network.parquet", folder / "network.elene")
        found[f"{name}, k = 2"] = one_overhead(store, 2, folder)
    if (folder / "graph.elene").exists():
        found["generated, k = 1"] = one_overhead(elene.GraphStore.open(folder / "graph.elene"), 1, folder, runs=3)
    return found


def largest() -> list[tuple[str, elene.Graph]]:
    """The network with the most edges, and that with the most paths of two steps: a mesh has few of these."""
    known = list(networks())
    return [max(known, key=lambda one: one[1].num_edges), max(known, key=lambda one: two_hops(one[1]))]


def one_overhead(store, k: int, folder: Path, runs: int = OVERHEAD_RUNS) -> dict:
    """In turn, each cluster of its own: workers that wait take a little of the cores that threads work on."""
    plain, dask, out = [], [], folder / "features"
    timed_on(None, store, k, out, workers=0)
    for _ in range(runs):
        plain.append(timed_on(None, store, k, out, workers=0))
        with local_client(count_threads(None)) as client:
            warm_up(client, folder, k)
            timed_on(client, store, k, out)
            dask.append(timed_on(client, store, k, out))
    return {
        "edges": store.num_edges, "parts": len(cut_parts(store, EncodingSpec.of(k))) - 1, "plain_s": median(plain),
        "dask_s": median(dask), "overhead": median(dask) / median(plain) - 1, "plain_least_s": min(plain),
        "dask_least_s": min(dask),
    }  # fmt: skip


def model(rows: int, folder: Path) -> dict:
    """Build and encode graphs of several sizes, and fit what a row, an edge, a path of two steps and a count cost."""
    points = []
    for size in (10**5, 10**6, 10**7, 10**8):
        if size > rows:
            break
        place = folder / f"model-{size}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        generate(size, place)
        built = build(size, place)
        store = elene.GraphStore.open(place / "graph.elene")
        point = {"rows": size, "build_s": built["seconds"], "edges": built["edges"], "nodes": built["nodes"]}
        points.append(point | {f"k{k}": some_parts(store, k, place) for k in (1, 2)})
        console.print(points[-1])
        shutil.rmtree(place)
    return {"points": points, "fit": fit(points)}


def some_parts(store, k: int, place: Path, most: int = 12) -> dict:
    """Parts from the beginning to the end of a graph: what is in them, and the seconds of encoding and writing them."""
    spec = EncodingSpec.of(k)
    cuts = cut_parts(store, spec)
    chosen = np.unique(np.linspace(0, len(cuts) - 2, most).astype(int)).tolist()
    roots = np.concatenate([np.arange(cuts[part], cuts[part + 1]) for part in chosen])
    one_part(store, spec, (cuts[0], cuts[1]), place)
    encoded, written, counts = np.sum(
        [one_part(store, spec, (cuts[part], cuts[part + 1]), place) for part in chosen], axis=0
    ).tolist()
    return {
        "parts": len(cuts) - 1, "looked_at": len(chosen), "edges": degrees_of(store, roots).sum().item() / 2,
        "paths": two_hop_paths(store, roots).sum().item(), "counts": counts, "encode_s": encoded, "write_s": written,
    }  # fmt: skip


def one_part(store, spec: EncodingSpec, between: tuple[int, int], place: Path) -> tuple[float, float, int]:
    """Seconds of encoding and of writing one part, and how many counts it has."""
    begun = time.perf_counter()
    encoding = encode_rows(store, spec, rows_between(store, spec, *between), None)
    encoded = time.perf_counter()
    write_part(tidy_table(encoding), place / "part.parquet")
    return encoded - begun, time.perf_counter() - encoded, encoding.matrix.nnz


def fit(points: list[dict]) -> dict:
    """What a unit costs on this machine, at all sizes but the smallest, where it is calls that take time."""
    cores, points = count_threads(None), points[1:] or points
    units = {
        "build, s per row": [(point["rows"], point["build_s"]) for point in points],
        "k=1, core s per edge": [(point["k1"]["edges"], cores * point["k1"]["encode_s"]) for point in points],
        "k=2, core s per path": [(point["k2"]["paths"], cores * point["k2"]["encode_s"]) for point in points],
        "writing, s per count": [(point[k]["counts"], point[k]["write_s"]) for point in points for k in ("k1", "k2")],
    }
    return {name: one_fit(*np.array(pairs).T) for name, pairs in units.items()}


def one_fit(amount, seconds) -> dict:
    """The geometric mean of seconds a unit, which has the least relative error, and the least and the most of them."""
    rates = seconds / amount
    return {"mean": np.exp(np.log(rates).mean()).item(), "least": rates.min().item(), "most": rates.max().item()}


def two_hops(graph) -> int:
    return int(np.square(np.diff(graph.indptr)).sum())


STAGES = {
    "generate": generate, "build": build, "store": from_store, "memory": in_memory, "workers": workers,
    "overhead": overhead, "model": model,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=[*STAGES, "all"])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path("cluster-benchmark"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for stage in STAGES if arguments.stage == "all" else [arguments.stage]:
        found[stage] = STAGES[stage](int(arguments.rows), arguments.folder)
        console.print(stage, {k: round(v, 3) if isinstance(v, float) else v for k, v in found[stage].items()})
    if arguments.json:
        write_json(arguments.json, found)


if __name__ == "__main__":
    main()
