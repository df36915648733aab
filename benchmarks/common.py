"""What the benchmarks share: real or generated networks, fair timing, tables and figures."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import elene
from elene.datasets.generators.memory import attached_edges

PAUSE = 0.02  # seconds after which idle threads sleep


def networks(only: list[str] | None = None) -> Iterator[tuple[str, elene.Graph]]:
    """The networks in ``ELENE_DATA``, or generated stand-ins of the same kinds."""
    folder = Path(os.environ.get("ELENE_DATA", "")) / "networks"
    files = sorted(folder.glob("*.npz")) if os.environ.get("ELENE_DATA") else []
    found = ((path.stem, lambda path=path: elene.Graph.read(path)) for path in files)
    for name, make in found if files else stand_ins():
        if not only or name in only:
            yield name, make()


def stand_ins() -> Iterator[tuple[str, Callable[[], elene.Graph]]]:
    yield "generated: mesh", lambda: lattice(300)
    yield "generated: random, degree 10", lambda: random_graph(50_000, 250_000)
    yield "generated: dense, degree 80", lambda: random_graph(6_000, 240_000)
    yield "generated: preferential attachment", lambda: preferential(50_000, 5)
    yield "generated: one large hub", lambda: preferential(40_000, 4, hub=15_000)


def random_graph(nodes: int, edges: int, seed: int = 0) -> elene.Graph:
    """About so many uniformly random edges."""
    return distinct(np.random.default_rng(seed).integers(0, nodes, (edges, 2)), nodes)


def small_world(nodes: int, edges: int, seed: int = 0) -> elene.Graph:
    """A ring, each node linked to those next to it, and one edge in ten to a random node: local, as networks are."""
    rng = np.random.default_rng(seed)
    start = np.repeat(np.arange(nodes), edges // nodes)
    end = (start + 1 + np.arange(len(start)) % (edges // nodes)) % nodes
    end = np.where(rng.random(len(end)) < 0.1, rng.integers(0, nodes, len(end)), end)
    return distinct(np.stack([start, end], axis=1), nodes)


def preferential(nodes: int, each: int, seed: int = 0, hub: int = 0) -> elene.Graph:
    """Hubs arise where new nodes are linked to the ends of earlier edges; node 0 gets ``hub`` more neighbours."""
    rng = np.random.default_rng(seed)
    edges = attached_edges(nodes, each, rng).astype(np.int64)
    spokes = np.stack([np.zeros(hub, dtype=np.int64), rng.permutation(nodes)[:hub]], axis=1)
    return distinct(np.concatenate([edges, spokes]), nodes)


def lattice(side: int) -> elene.Graph:
    number = np.arange(side * side).reshape(side, side)
    right = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return distinct(np.concatenate([right, down]), side * side)


def distinct(edges: np.ndarray, nodes: int) -> elene.Graph:
    edges = np.sort(edges, axis=1)
    keys = np.unique(edges[:, 0] * nodes + edges[:, 1])
    edges = np.stack([keys // nodes, keys % nodes], axis=1)
    return elene.Graph.from_edges(edges[edges[:, 0] != edges[:, 1]], num_nodes=nodes)


def race(runners: dict[str, Callable[[], Any]], repeats: int = 15, budget: float = 5.0) -> dict[str, float]:
    """The best time of each runner, all of them in turn, so that a busy moment hits none alone.

    Each goes once before it is timed: what another left in the caches and of the allocator's memory is not its own. And
    each waits until the threads of others sleep: those of OpenMP spin for some milliseconds after their last work.
    Stops early once every runner was timed and the budget of seconds is spent.
    """
    best = dict.fromkeys(runners, float("inf"))
    begun = time.perf_counter()
    for _ in range(repeats):
        for name, run in runners.items():
            time.sleep(PAUSE)
            run()
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
        if time.perf_counter() - begun > budget:
            break
    return best


def geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")


def verdict(value: float, target: float | None, at_least: bool) -> str:
    if target is None:
        return ""
    won = value >= target if at_least else value <= target
    return (
        f"[green]met[/] (target {'>=' if at_least else '<='} {target:g})"
        if won
        else f"[red]MISSED[/] (target {target:g})"
    )


def write_json(path: str | None, figures: dict[str, Any]) -> None:
    if path:
        figures["machine"] = {
            "cores": os.cpu_count(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        }
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(figures, indent=1))
