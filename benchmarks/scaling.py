"""Memory and time of training ELENE-L against the size of the graph, with plots.

    python benchmarks/scaling.py [--json FILE] [--plot FILE] [--full]

d-regular graphs, d = 6, 12, 18, and Barabasi-Albert graphs with hubs; k = 1, 2, 3; one layer of GIN with ELENE-L (ND)
before it, hidden size 32, 25 training steps on a constant target, every point in a process of its own (its peak above
the bare process is what is plotted). ``--full`` goes on to the largest graphs: 10^6 nodes at d=12, k=1 and 10^5 at
k=2; the paper's largest has 31,623 nodes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from common import write_json
from elene.datasets.generators.memory import barabasi_albert, regular_graph

console = Console(width=120)
STEPS, WIDTH = 25, 32


def train(queue, kind: str, nodes: int, degree: int, k: int) -> None:
    import torch
    from torch import nn
    from torch_geometric.data import Data
    from torch_geometric.nn import GINConv

    from elene.nn import ELENE, GNN, Ego, updates
    from elene.transforms import EgoStructure

    graph = regular_graph(nodes, degree) if kind == "regular" else barabasi_albert(nodes, degree // 2)
    arcs = torch.from_numpy(graph.edges.T.astype(np.int64))
    data = Data(x=torch.ones(nodes, 1), edge_index=torch.cat([arcs, arcs.flip(0)], dim=1))
    before = peak()
    start = time.perf_counter()
    data = EgoStructure(k, max_degree=32)(data)
    ego = Ego.of(data)
    prepared = time.perf_counter() - start
    torch.manual_seed(0)
    conv = GINConv(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)))
    model = GNN(
        nn.Linear(1, WIDTH), [conv], updates(WIDTH, 1), nn.Linear(WIDTH, 1), elene=[ELENE(WIDTH, k, max_degree=32)]
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    start, losses = time.perf_counter(), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = (model(data, ego) / nodes - 1).abs().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    seconds = (time.perf_counter() - start) / STEPS
    queue.put(
        {
            "kind": kind, "nodes": nodes, "degree": degree, "k": k, "pairs": len(data.ego_node), "prepare": prepared,
            "step": seconds, "peak": peak() - before, "learned": losses[-1] < losses[0],
        }
    )  # fmt: skip


def peak() -> int:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


def measure(kind: str, nodes: int, degree: int, k: int) -> dict:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=train, args=(queue, kind, nodes, degree, k))
    process.start()
    row = queue.get(timeout=1800)
    process.join()
    console.print(
        f"{kind:9s} n={nodes:>9,} d={degree:2d} k={k}: {row['pairs']:>12,} pairs, {row['peak'] / 1e6:8,.0f} MB, "
        f"{row['step'] * 1e3:9,.1f} ms a step, prepared in {row['prepare']:.2f} s, loss fell: {row['learned']}"
    )
    return row


def plan(full: bool) -> list[tuple[str, int, int, int]]:
    sizes = {1: (1000, 10_000, 100_000), 2: (1000, 3162, 10_000), 3: (316, 1000, 3162)}
    points = [("regular", n, d, k) for k in sizes for d in (6, 12, 18) for n in sizes[k]]
    points += [("hubs", n, 12, k) for k in (1, 2) for n in (1000, 10_000)]
    return points + ([("regular", 100_000, 12, 2), ("regular", 1_000_000, 12, 1)] if full else [])


def plot(rows: list[dict], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, k in zip(panels, (1, 2, 3), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="nodes", title=f"k = {k}")
        for kind, degree in (("regular", 6), ("regular", 12), ("regular", 18), ("hubs", 12)):
            found = [row for row in rows if (row["kind"], row["degree"], row["k"]) == (kind, degree, k)]
            if found:
                name = f"d = {degree}" if kind == "regular" else "hubs (Barabasi-Albert)"
                axes.plot([row["nodes"] for row in found], [row["peak"] / 1e6 for row in found], "o-", label=name)
        sizes = sorted({row["nodes"] for row in rows if row["k"] == k})
        axes.set_xticks(sizes, labels=[f"{size:,}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.legend(frameon=False)
    panels[0].set_ylabel("peak MB above the bare process")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--plot", type=Path, default="bench/scaling.svg", help="where the plot goes")
    parser.add_argument("--full", action="store_true", help="up to 10^6 nodes")
    options = parser.parse_args()
    rows = [measure(*point) for point in plan(options.full)]
    plot(rows, options.plot)
    for k in (1, 2, 3):
        big = [row for row in rows if row["kind"] == "regular" and row["degree"] == 12 and row["k"] == k]
        slope = np.polyfit(*(np.log([row[key] for row in big[-2:]]) for key in ("nodes", "peak")), 1)[0]
        console.print(f"k={k}, d=12: memory grows with nodes to the power {slope:.2f} between the two largest graphs")
    write_json(options.json, {"scaling": rows})


if __name__ == "__main__":
    main()
