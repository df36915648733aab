"""Speed and memory of encode() beside its rivals, all in one run.

    python benchmarks/encode.py [--json FILE] [--plot FILE] [--only NAME ...] [--skip-growth] [--seconds 5]

(a) igraph, a node or an edge at a time, on a sample of roots, scaled up to all of them: as the paper's release does it,
    and as well as igraph allows ("bulk");
(b) scipy: ``(A @ A).multiply(A)`` beside k=1 and ``A @ A`` beside k=2, which give less than the encoding does;
(c) networkit's local clustering coefficients (turbo) and GraphBLAS' masked product beside nodes at k=1, and networkit's
    triangles of edges beside edges: all of them a part of what the encoding says;
(d) the same kernels with max_degree=0 and no matrix made: all scans and decisions, next to nothing counted or put out.
Every figure is a ratio of best times, taken in turn. encode() starts from a fresh Graph each time, so its preparation
counts. Losses are printed as losses.

The 27 networks alone are estimated at 15 to 20 minutes with five seconds for each race and two for each sample, and at
five with ``--seconds 1 --skip-growth``, which is good for a glance: best times of few runs are too long.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import time
from pathlib import Path

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

import elene
from common import geometric_mean, networks, race, random_graph, small_world, verdict, write_json
from elene.engine.counting import node_job, pair_job
from elene.engine.parallel import count_threads
from elene.engine.plan import Rows
from elene.engine.tallying import tally_triangles, worth_tallying
from igraph_way import encode_edge, encode_node, list_edges, to_igraph
from rivals import graphblas_nodes, networkit_edges, networkit_nodes

console = Console(width=150)


def fresh(graph: elene.Graph) -> elene.Graph:
    """The same graph without anything cached."""
    return elene.Graph.trusted(graph.indptr, graph.indices)


def sampled(run, roots, total, seconds) -> float:
    """The time all roots would take, from as many of the given ones as fit in some seconds."""
    start, done = time.perf_counter(), 0
    for root in roots:
        run(root)
        done += 1
        if time.perf_counter() - start > seconds:
            break
    return (time.perf_counter() - start) / done * total


def scipy_product(graph: elene.Graph, k: int):
    """The rival product, or None where it may not fit in half of the free memory."""
    if 12 * float((graph.degrees.astype(float) ** 2).sum()) > psutil.virtual_memory().available / 2:
        return None
    matrix = graph.to_scipy()
    return (lambda: (matrix @ matrix).multiply(matrix)) if k == 1 else (lambda: matrix @ matrix)


def limit(graph: elene.Graph, rows: Rows, k: int) -> None:
    """Scan what the encoding scans, and count everything as 0."""
    if k == 1 and rows.second is None and worth_tallying(graph, rows.first, count_threads(None)):
        tally_triangles(graph, 0, count_threads(None))
        return
    job = (node_job if rows.second is None else pair_job)(graph, rows, k, 0, False)
    job.run(None)


def node_figures(name: str, graph: elene.Graph, rival, k: int, budget: float) -> dict:
    rows = Rows(np.arange(graph.num_nodes))
    runners = {"elene": lambda: elene.encode(fresh(graph), k), "limit": lambda: limit(fresh(graph), rows, k)}
    product = scipy_product(graph, k)
    if product is not None:
        runners["scipy"] = product
    if k == 1:
        runners |= {"networkit": networkit_nodes(graph), "GraphBLAS": graphblas_nodes(graph)}
    seconds = race(runners, budget=budget)
    roots = np.random.default_rng(0).permutation(graph.num_nodes).tolist()
    slow = sampled(lambda root: encode_node(rival, root, k), roots[:300], graph.num_nodes, 0.4 * budget)
    bulk = sampled(lambda root: encode_node(rival, root, k, list_edges), roots[:300], graph.num_nodes, 0.4 * budget)
    return {
        "network": name,
        "k": k,
        "seconds": seconds["elene"],
        "igraph": slow / seconds["elene"],
        "igraph bulk": bulk / seconds["elene"],
        **{name: seconds[name] / seconds["elene"] for name in ("networkit", "GraphBLAS") if name in seconds},
        "scipy": seconds["scipy"] / seconds["elene"] if product is not None else None,
        "limit": seconds["elene"] / seconds["limit"],
    }


def edge_figures(name: str, graph: elene.Graph, rival, budget: float) -> dict:
    rows = Rows(graph.edges[:, 0].astype(np.int64), graph.edges[:, 1].astype(np.int64))
    runners = {
        "elene": lambda: elene.encode(fresh(graph), 1, level="edge"),
        "limit": lambda: limit(fresh(graph), rows, 1),
        "networkit": networkit_edges(graph),
    }
    seconds = race(runners, budget=budget)
    sample = np.random.default_rng(0).permutation(graph.edges)[:300].tolist()
    slow = sampled(lambda edge: encode_edge(rival, *edge, 1), sample, graph.num_edges, 0.4 * budget)
    bulk = sampled(lambda edge: encode_edge(rival, *edge, 1, list_edges), sample, graph.num_edges, 0.4 * budget)
    return {
        "network": name,
        "seconds": seconds["elene"],
        "igraph": slow / seconds["elene"],
        "igraph bulk": bulk / seconds["elene"],
        "networkit": seconds["networkit"] / seconds["elene"],
        "limit": seconds["elene"] / seconds["limit"],
    }


def measure_networks(only, budget) -> tuple[list[dict], list[dict]]:
    nodes, edges = [], []
    small = random_graph(1000, 5000)  # compiles everything before anything is timed
    for k, level in ((1, "node"), (2, "node"), (1, "edge")):
        elene.encode(small, k, level=level)
    with console.status("measuring") as status:
        for name, graph in networks(only):
            rival = to_igraph(graph)
            for k in (1, 2):
                status.update(f"{name}, nodes at k={k}")
                nodes.append(node_figures(name, graph, rival, k, budget))
            status.update(f"{name}, edges at k=1")
            edges.append(edge_figures(name, graph, rival, budget))
            gc.collect()
    return nodes, edges


def show_networks(nodes: list[dict], edges: list[dict]) -> dict:
    table = Table(title="encode() of every node and every edge: how many times faster, and how far from its limit")
    for heading in (
        "network",
        "k=1 igraph",
        "scipy",
        "networkit",
        "GraphBLAS",
        "limit",
        "k=2 igraph",
        "scipy",
        "limit",
        "ED k=1 igraph",
        "networkit",
        "limit",
    ):
        table.add_column(heading, justify="left" if heading == "network" else "right")
    for i, edge in enumerate(edges):
        cells = [edge["network"]]
        for row in nodes[2 * i : 2 * i + 2]:
            scipy = "no memory" if row["scipy"] is None else f"{row['scipy']:.2f}x"
            triangles = [f"{row[name]:.2f}x" for name in ("networkit", "GraphBLAS") if name in row]
            cells += [f"{row['igraph']:,.0f}x", scipy, *triangles, f"{row['limit']:.2f}"]
        table.add_row(*cells, f"{edge['igraph']:,.0f}x", f"{edge['networkit']:.2f}x", f"{edge['limit']:.2f}")
    console.print(table)
    means = {}
    for k, target in ((1, 10), (2, 1)):
        rows = [row for row in nodes if row["k"] == k]
        means[f"nodes k={k}: igraph / elene"] = (geometric_mean([r["igraph"] for r in rows]), 500, True)
        means[f"nodes k={k}: igraph bulk / elene"] = (geometric_mean([r["igraph bulk"] for r in rows]), None, True)
        kept = [r["scipy"] for r in rows if r["scipy"] is not None]
        means[f"nodes k={k}: scipy / elene"] = (geometric_mean(kept), target, True)
        means[f"nodes k={k}: elene / limit"] = (geometric_mean([r["limit"] for r in rows]), 2, False)
    shallow = [row for row in nodes if row["k"] == 1]
    for name, target in (("networkit", 2), ("GraphBLAS", None)):
        means[f"nodes k=1: {name} / elene"] = (geometric_mean([row[name] for row in shallow]), target, True)
    means["nodes k=1: networkit / elene, least"] = (min(row["networkit"] for row in shallow), 1, True)
    means["edges k=1: triangles of networkit / elene"] = (geometric_mean([r["networkit"] for r in edges]), None, True)
    means["nodes, both k: igraph / elene"] = (geometric_mean([row["igraph"] for row in nodes]), 500, True)
    means["edges k=1: igraph / elene"] = (geometric_mean([r["igraph"] for r in edges]), 200, True)
    means["edges k=1: igraph bulk / elene"] = (geometric_mean([r["igraph bulk"] for r in edges]), None, True)
    means["edges k=1: elene / limit"] = (geometric_mean([r["limit"] for r in edges]), 2, False)
    summary = Table(title="Geometric means")
    for heading in ("ratio", "value", "verdict"):
        summary.add_column(heading, justify="right" if heading == "value" else "left")
    for what, (value, goal, at_least) in means.items():
        summary.add_row(what, f"{value:,.2f}", verdict(value, goal, at_least))
    console.print(summary)
    return {what: value for what, (value, _, _) in means.items()}


def measure_growth(largest: int) -> list[dict]:
    """Time against the number of edges, at degree 10, on graphs where neighbours are near in memory or anywhere."""
    rows = []
    for kind, make in (("small world", small_world), ("random", random_graph)):
        for exponent in np.arange(4, np.log10(largest) + 0.01, 0.5):
            edges = int(10**exponent)
            graph = make(edges // 5, edges)
            for k, level in ((1, "node"), (2, "node"), (1, "edge")):
                runner = {"elene": lambda: elene.encode(fresh(graph), k, level=level)}  # noqa: B023
                seconds = race(runner, repeats=3, budget=20)["elene"]
                rows.append({"kind": kind, "edges": graph.num_edges, "k": k, "level": level, "seconds": seconds})
    return rows


def show_growth(rows: list[dict], path: Path) -> dict:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    slopes = {}
    for i, kind in enumerate(("small world", "random")):
        title = f"encode() on {kind} graphs of degree 10"
        axes = figure.add_subplot(
            1, 2, i + 1, xscale="log", yscale="log", xlabel="edges", ylabel="seconds", title=title
        )
        for level, k in (("node", 1), ("node", 2), ("edge", 1)):
            chosen = [row for row in rows if (row["kind"], row["level"], row["k"]) == (kind, level, k)]
            edges, seconds = (np.array([row[key] for row in chosen]) for key in ("edges", "seconds"))
            large = edges >= 10**5 * 0.9  # below, starting threads takes longer than the work
            slope = float(np.polyfit(np.log(edges[large]), np.log(seconds[large]), 1)[0])
            slopes[f"{kind}, {level} k={k}"] = slope
            axes.plot(edges, seconds, "o-", label=f"{level}s, k={k} (exponent {slope:.2f})")
        axes.plot(edges, edges * seconds[-1] / edges[-1], ":", color="grey", label="linear")
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    console.print(f"Growth exponent with edges (1 is linear): {slopes}; plot in {path}")
    return slopes


def peak_of_encode(queue, edges: int, k: int, threads: int) -> None:
    graph = random_graph(edges // 5, edges)
    elene.encode(random_graph(1000, 5000), k, threads=threads)  # compiles and loads before measuring
    graph_bytes = graph.indptr.nbytes + graph.indices.nbytes
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = psutil.Process().memory_info().rss
    encoding = elene.encode(graph, k, threads=threads)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024 - before
    matrix = encoding.matrix
    output = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    queue.put(
        {
            "edges": graph.num_edges,
            "nodes": graph.num_nodes,
            "k": k,
            "graph": graph_bytes,
            "output": output,
            "peak": peak,
        }
    )


def measure_memory(edges: int, threads: int = 2) -> list[dict]:
    """The peak above the graph, in a process of its own; Linux only."""
    rows = []
    context = multiprocessing.get_context("spawn")
    for k in (1, 2):
        queue = context.Queue()
        process = context.Process(target=peak_of_encode, args=(queue, edges, k, threads))
        process.start()
        rows.append(queue.get())
        process.join()
    return rows


def show_memory(rows: list[dict]) -> None:
    table = Table(title="Memory of encode() on a random graph of degree 10, 2 threads, in MB")
    for heading in (
        "k",
        "nodes",
        "edges",
        "graph",
        "output",
        "peak above the graph",
        "peak - output - second graph, a node",
    ):
        table.add_column(heading, justify="right")
    for row in rows:
        rest = (row["peak"] - row["output"] - row["graph"]) / row["nodes"]
        mega = [f"{row[what] / 1e6:,.0f}" for what in ("graph", "output", "peak")]
        table.add_row(str(row["k"]), f"{row['nodes']:,}", f"{row['edges']:,}", *mega, f"{rest:.0f} bytes")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--plot", default="bench/encode-growth.svg", type=Path, help="where the growth plot goes")
    parser.add_argument("--only", nargs="*", help="names of networks")
    parser.add_argument("--skip-growth", action="store_true", help="measure the networks alone")
    parser.add_argument("--largest", type=int, default=10**7, help="edges of the largest generated graph")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each race; samples of igraph get two fifths")
    options = parser.parse_args()
    nodes, edges = measure_networks(options.only, options.seconds)
    if not nodes:
        parser.error(f"--only names no network that is here: {' '.join(options.only)}")
    figures: dict = {"nodes": nodes, "edges": edges, "means": show_networks(nodes, edges)}
    if not options.skip_growth:
        figures["growth"] = measure_growth(options.largest)
        figures["exponents"] = show_growth(figures["growth"], options.plot)
        figures["memory"] = measure_memory(min(options.largest, 10**6))
        show_memory(figures["memory"])
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
