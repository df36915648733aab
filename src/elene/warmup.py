"""Every kernel run once on next to nothing, so that it is compiled and kept before anybody waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from elene.encoding import edge_quadruplets, encode, fingerprint, quadruplets
from elene.encoding.spec import LEARNED
from elene.engine.parallel import count_threads
from elene.graph import Graph
from elene.kernels.jit import compiled, keep_quiet


def warm_up(names: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Run some of the :func:`steps`; gives each with the seconds it took.

    numba compiles one kernel at a time in a process: where the first step had to, the others run in several.

    >>> [name for name, _ in warm_up(["nodes, k = 1", "edges, k = 1"])]
    ['nodes, k = 1', 'edges, k = 1']
    """
    first, *others = names
    before = compiled()
    yield _run(first)
    if compiled() == before or not others:
        yield from map(_run, others)
        return
    with ProcessPoolExecutor(min(count_threads(None), len(others)), get_context("spawn")) as pool:
        yield from pool.map(_run, others)


def _run(name: str) -> tuple[str, float]:
    keep_quiet()
    started = perf_counter()
    steps()[name]()
    return name, perf_counter() - started


def complete_graph(nodes: int = 30) -> Graph:
    """All nodes joined, so that ego-networks overlap enough to be explored side by side.

    >>> complete_graph(3)
    Graph(num_nodes=3, num_edges=3)
    """
    return Graph.from_edges(np.stack(np.triu_indices(nodes, 1), axis=1))


def steps() -> dict[str, Callable[[], object]]:
    """What to run, by what it is for; what needs torch and PyG only where they are installed.

    >>> list(steps())[:2]
    ['nodes, k = 1', 'some nodes, k = 1']
    """
    small, dense, large = complete_graph(4), complete_graph(), complete_graph(65)
    found: dict[str, Callable[[], object]] = {
        "nodes, k = 1": lambda: encode(small, 1),
        "some nodes, k = 1": lambda: encode(small, 1, roots=[0]),
        "nodes, k = 2": lambda: encode(small, 2),
        "nodes, k = 2, dense graphs": lambda: encode(dense, 2),
        "nodes, joint": lambda: encode(small, 1, form="joint"),
        "nodes, labels and types": lambda: [encode(small, 1, form=form, labels=[0, 0, 1, 1]) for form in LEARNED],
        "edges, k = 1": lambda: encode(small, 1, level="edge"),
        "edges, k = 2": lambda: encode(small, 2, level="edge"),
        "edges, joint": lambda: encode(small, 1, level="edge", form="joint"),
        "pairs": lambda: (encode(small, 1, level="pair", radius=1), encode(small, 1, level="edge", roots=[(0, 1)])),
        "single nodes and edges": lambda: (quadruplets(small, 0, 1), edge_quadruplets(small, (0, 1), 1)),
        "fingerprints, small graphs": partial(_fingerprint, small, None),
        "fingerprints": partial(_fingerprint, large, None),
        "fingerprints, refined": partial(_fingerprint, large, "wl", "2fwl"),
    }
    if find_spec("torch") is not None and find_spec("torch_geometric") is not None:
        found |= {f'ELENE-L, level="{level}"': partial(_train, small, level) for level in ("node", "edge")}
    return found


def _fingerprint(graph: Graph, *refinements: str | None) -> None:
    for refine in refinements:
        for k, level in ((1, "node"), (1, "edge"), ((1, 2), "edge")):
            fingerprint(graph, k, level, refine)


def _train(graph: Graph, level: str) -> None:
    """One step of the layer, forward and backward, on a batch of all nodes."""
    import torch
    from torch_geometric.data import Data

    from elene.nn import ELENE, Ego
    from elene.transforms import EgoLoader, EgoStructure

    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.astype(np.int64)
    data = Data(edge_index=torch.from_numpy(arcs), num_nodes=graph.num_nodes)
    data = next(iter(EgoLoader(data, EgoStructure(1, level), batch_size=graph.num_nodes)))
    edge_attr = torch.ones(arcs.shape[1], 8) if level == "edge" else None
    layer = ELENE(8, k=1, level=level, max_degree=3)
    x, _ = layer(torch.ones(graph.num_nodes, 8), data.edge_index, edge_attr, Ego.of(data))
    x.sum().backward()
