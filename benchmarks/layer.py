"""One training step of ELENE-L beside plain GIN and beside the concatenate-and-multiply form, in one run.

    python benchmarks/layer.py [--only step op structure] [--json FILE]

With ``GOMP_SPINCOUNT=10000`` torch's idle threads leave the cores to those of the fused op, as the command line has it.

(i) 128 ZINC molecules (from ``ELENE_DATA``, or generated), hidden size 128, 6 layers, k=3, the published head, ELENE-L
in every layer with phi 128, 64 and 32 wide: step time (forward, backward, Adam) as a multiple of GIN's and of the same
network's with the fused op taken out; bytes saved for backward, as a multiple of GIN's; peak memory.
(ii) d-regular graphs, d=12, k=1 and 2: the fused op beside the naive one, forward and backward.
(iii) EgoStructure of many molecules beside a dense all-pairs construction of the same pairs in torch.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.nn import GINEConv
from torch_geometric.utils import scatter

from common import race, verdict, write_json
from elene.nn import ELENE, GNN, Ego, updates
from elene.nn.functional import ego_reduce
from elene.transforms import AddELENE, EgoStructure
from naive_layer import MapsOnly, NaiveELENE, dense_pairs

console = Console(width=120)
WIDTH, LAYERS, DEPTH, RHO = 128, 6, 3, 8


@dataclass(frozen=True)
class Variant:
    """A network: plain GIN, GIN with encodings, or GIN with a kind of ELENE-L; and what it is measured against."""

    level: str | None = None
    layer: type[ELENE] = ELENE
    phi: int = WIDTH
    encoded: bool = False
    maps: str | None = None  # the variant whose op is taken out
    targets: tuple[float, float, float] | None = None  # times GIN, times its maps, saved bytes times GIN


TARGETS = {"node": (2.5, 1.2, 1.7), "edge": (5.0, 1.4, 2.5)}
VARIANTS = {"GIN": Variant(), "GIN+ELENE": Variant(encoded=True)}
for _level, _name in (("node", "ND"), ("edge", "ED")):
    for _phi in (128, 64, 32):
        _label = f"GIN+ELENE-L ({_name})" + ("" if _phi == WIDTH else f", phi {_phi}")
        _maps = f"{_label}: maps alone"
        VARIANTS[_label] = Variant(_level, phi=_phi, maps=_maps, targets=TARGETS[_level])
        VARIANTS[_maps] = Variant(_level, MapsOnly, _phi)
    VARIANTS[f"naive {_name}"] = Variant(_level, NaiveELENE)


def molecules(count: int) -> list[Data]:
    """ZINC molecules, or trees with a few rings of the same size."""
    path = Path(os.environ.get("ELENE_DATA", "")) / "collections" / "zinc12k.npz"
    if not path.is_file():
        return [generated(seed) for seed in range(count)]
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in ("node_ptr", "edge_ptr", "edge_index", "x", "edge_attr", "y")}
    found = []
    for i in range(count):
        nodes, arcs = (slice(*arrays[key][i : i + 2]) for key in ("node_ptr", "edge_ptr"))
        columns = [
            torch.from_numpy(arrays[key][rows].astype(np.int64)).flatten()
            for key, rows in (("x", nodes), ("edge_attr", arcs))
        ]
        edge_index = torch.from_numpy(arrays["edge_index"][:, arcs].astype(np.int64))
        y = torch.tensor([float(arrays["y"][i])])
        found.append(Data(x=columns[0], edge_index=edge_index, edge_attr=columns[1], y=y, num_nodes=len(columns[0])))
    return found


def generated(seed: int) -> Data:
    rng = np.random.default_rng(seed)
    tree = nx.random_labeled_tree(23, seed=seed)
    tree.add_edges_from(rng.integers(0, 23, (3, 2)).tolist())
    tree.remove_edges_from(list(nx.selfloop_edges(tree)))
    edges = torch.tensor(list(tree.edges)).T
    edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    return Data(
        x=torch.randint(0, 20, (23,)),
        edge_index=edge_index,
        edge_attr=torch.ones(edge_index.shape[1], dtype=torch.long),
        y=torch.zeros(1),
        num_nodes=23,
    )


class Encoded(nn.Module):
    """The atom's embedding plus the projected encodings that stand beside it."""

    def __init__(self, extra: int) -> None:
        super().__init__()
        self.atom, self.extra = nn.Embedding(30, WIDTH), nn.Linear(extra, WIDTH)

    def forward(self, x):
        return self.atom(x[:, 0].long()) + self.extra(x[:, 1:])


def mlp(channels: int = WIDTH) -> nn.Sequential:
    """Two layers; a BatchNorm takes a bias away."""
    first, second = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, channels, bias=channels != WIDTH)
    return nn.Sequential(first, nn.BatchNorm1d(WIDTH), nn.ReLU(), second)


def build(name: str, datas: list[Data]):
    """The model and the batch of one variant."""
    torch.manual_seed(0)
    variant, elene, encoder = VARIANTS[name], None, nn.Embedding(30, WIDTH)
    if variant.encoded:
        add = AddELENE(DEPTH, max_degree=RHO, log1p=True)
        datas = [add(data) for data in datas]
        encoder = Encoded(datas[0].x.shape[1] - 1)
    elif variant.level is not None:
        datas = [EgoStructure(DEPTH, variant.level, RHO)(data) for data in datas]
        elene = [variant.layer(WIDTH, DEPTH, variant.level, RHO, hidden=variant.phi) for _ in range(LAYERS)]
    model = GNN(
        encoder,
        [GINEConv(mlp(), train_eps=True) for _ in range(LAYERS)],
        updates(WIDTH, LAYERS),
        mlp(1),
        elene=elene,
        edge_encoders=[nn.Embedding(5, WIDTH) for _ in range(LAYERS)],
    )
    return model, Batch.from_data_list(datas)


def stepper(model, batch):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        (model(batch).squeeze(-1) - batch.y).abs().mean().backward()
        optimizer.step()

    return step


def saved_bytes(model, batch) -> int:
    """Bytes of distinct storages kept for backward, and of all parameters.

    Where a layer looks at what is saved itself, only weights and what it makes again pass by unseen here: weights are
    counted anyway, and what it makes things from is saved elsewhere.
    """
    seen = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    for parameter in model.parameters():
        pack(parameter)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        kept = model(batch)
    del kept
    return sum(seen.values())


def peak_of_step(queue, name: str, count: int) -> None:
    model, batch = build(name, molecules(count))
    step = stepper(model, batch)
    step()  # allocates the optimiser's state and compiles
    Path("/proc/self/clear_refs").write_text("5")
    before = int(_status()["VmRSS"].split()[0])
    step()
    queue.put((int(_status()["VmHWM"].split()[0]) - before) * 1024)


def _status() -> dict[str, str]:
    return dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())


def peak_bytes(name: str, count: int) -> int:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=peak_of_step, args=(queue, name, count))
    process.start()
    peak = queue.get()
    process.join()
    return peak


def measure_step(count: int = 128) -> list[dict]:
    datas = molecules(count)
    built = {name: build(name, datas) for name in VARIANTS}
    seconds = race({name: stepper(*pair) for name, pair in built.items()}, repeats=25, budget=240)
    rows = []
    for name, pair in built.items():
        row = {"variant": name, "seconds": seconds[name], "saved": saved_bytes(*pair)}
        if VARIANTS[name].layer is not MapsOnly:
            row["peak"] = peak_bytes(name, count)
        if VARIANTS[name].maps:
            row["maps"] = seconds[VARIANTS[name].maps]
        rows.append(row)
    return rows


def show_step(rows: list[dict]) -> None:
    table = Table(title="One training step on 128 molecules, hidden 128, 6 layers, k=3, ELENE-L in every layer")
    for heading in ("", "ms", "x GIN", "x its maps", "saved MB", "x GIN", "peak MB", "verdict"):
        table.add_column(heading, justify="left" if heading in ("", "verdict") else "right")
    base = rows[0]
    for row in rows:
        ratios = [row["seconds"] / base["seconds"], row["saved"] / base["saved"]]
        ratios.insert(1, row["seconds"] / row["maps"] if "maps" in row else float("nan"))
        said = ""
        if goals := VARIANTS[row["variant"]].targets:
            judged = zip(("step", "maps", "saved"), ratios, goals, strict=True)
            said = "\n".join(f"{what} {verdict(ratio, goal, False)}" for what, ratio, goal in judged)
        table.add_row(
            row["variant"],
            f"{row['seconds'] * 1e3:.1f}",
            f"{ratios[0]:.2f}",
            f"{ratios[1]:.2f}" if "maps" in row else "",
            f"{row['saved'] / 1e6:.1f}",
            f"{ratios[2]:.2f}",
            f"{row['peak'] / 1e6:.0f}" if "peak" in row else "",
            said,
        )
    console.print(table)


def regular(nodes: int, degree: int, k: int, level: str) -> Data:
    graph = nx.random_regular_graph(degree, nodes, seed=0)
    edges = torch.tensor(list(graph.edges)).T
    data = Data(edge_index=torch.cat([edges, edges.flip(0)], dim=1), num_nodes=nodes)
    return EgoStructure(k, level, max_degree=degree)(data)


def op_runner(kind: str, entries, rows, level: str, stage: str):
    """The op alone: fused over mapped rows, or concatenated, multiplied and scattered as the equations have it."""
    torch.manual_seed(0)
    x, y = torch.randn(len(entries.sizes), WIDTH), torch.randn(entries.num_columns, WIDTH)
    table, weight = torch.randn(len(rows), 3 * 32), torch.randn(WIDTH, 2 * WIDTH + 3 * 32) / 20
    given = [x, y, table @ weight[:, 2 * WIDTH :].T if kind == "fused" else table, weight]
    given = [tensor.detach().requires_grad_() for tensor in given]

    def run():
        if kind == "fused":
            out, through = ego_reduce(given[0], given[1], given[2], entries, by_column=level == "edge")
        else:
            embedded = given[2][entries.codes.long()].sum(1)
            inputs = torch.cat([given[0][entries.rows], given[1][entries.columns.long()], embedded], dim=1)
            messages = torch.relu(inputs @ given[3].T)
            out = scatter(messages, entries.rows, 0, len(x), reduce="mean")
            through = scatter(messages, entries.columns.long(), 0, len(y), reduce="mean") if level == "edge" else None
        if stage != "forward":
            (out.sum() if through is None else out.sum() + through.sum()).backward()

    return run


def measure_op() -> list[dict]:
    """The op alone and the whole layer, fused and naive, forward and backward."""
    rows = []
    for k, nodes in ((1, 4000), (2, 1000)):
        for level in ("node", "edge"):
            data = regular(nodes, 12, k, level)
            ego, x = Ego.of(data), torch.randn(nodes, WIDTH, requires_grad=True)
            row = {"k": k, "level": level, "nodes": nodes, "entries": len((ego.triples or ego.pairs).columns)}
            for stage in ("forward", "forward and backward"):
                runners = {}
                for name, kind in (("fused", ELENE), ("naive", NaiveELENE)):
                    torch.manual_seed(0)
                    layer = kind(WIDTH, k, level, 12, hidden=WIDTH)
                    runners[name] = lambda layer=layer, stage=stage: run_layer(layer, x, data, ego, stage)  # noqa: B023
                seconds = race(runners, repeats=25, budget=20)
                row[f"layer, {stage}"] = seconds["naive"] / seconds["fused"]
                entries, kinds = (
                    (ego.pairs, ego.quadruplets) if level == "node" else (ego.triples, ego.edge_quadruplets)
                )
                runners = {kind: op_runner(kind, entries, kinds, level, stage) for kind in ("fused", "naive")}
                seconds = race(runners, repeats=25, budget=20)
                row[f"op, {stage}"] = seconds["naive"] / seconds["fused"]
            rows.append(row)
    return rows


def run_layer(layer, x, data, ego, stage):
    out, edges = layer(x, data.edge_index, None, ego)
    if stage != "forward":
        (out.sum() if edges is None else out.sum() + edges.sum()).backward()


def show_op(rows: list[dict]) -> None:
    table = Table(title="On a 12-regular graph: times faster than concatenate-and-multiply (target for the op: 20)")
    stages = ("op, forward", "op, forward and backward", "layer, forward", "layer, forward and backward")
    for heading in ("level", "k", "nodes", "pairs or triples", *stages, "verdict"):
        table.add_column(heading, justify="right")
    for row in rows:
        values = [f"{row[stage]:.1f}x" for stage in stages]
        said = verdict(row["op, forward and backward"], 20, True)
        table.add_row(row["level"], str(row["k"]), f"{row['nodes']:,}", f"{row['entries']:,}", *values, said)
    console.print(table)


def measure_structure(count: int = 12_000, sample: int = 200) -> dict:
    """All molecules at once, and a sample of them by dense all-pairs products in torch."""
    datas = molecules(count)
    transform, dataset = EgoStructure(DEPTH), InMemoryDataset()
    dataset.data, dataset.slices = InMemoryDataset.collate(datas)
    few = datas[:sample]
    times = race(
        {
            "seconds": lambda: transform.prepare(dataset),
            "one by one": lambda: [transform(data) for data in few],
            "dense": lambda: [dense_pairs(data, DEPTH) for data in few],
        }
    )
    share = sample / count
    return {"graphs": count, **{name: t if name == "seconds" else t / share for name, t in times.items()}}


def show_structure(found: dict) -> None:
    console.print(
        f"EgoStructure(k=3) of {found['graphs']:,} molecules: {found['seconds']:.2f} s at once, "
        f"{found['one by one']:.1f} s one by one; dense all-pairs torch {found['dense']:.1f} s: "
        f"{found['dense'] / found['seconds']:.0f}x " + verdict(found["dense"] / found["seconds"], 50, True)
    )


PARTS = {
    "step": (measure_step, show_step),
    "op": (measure_op, show_op),
    "structure": (measure_structure, show_structure),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="some parts only")
    parser.add_argument("--json", help="write all figures to this file")
    options = parser.parse_args()
    figures: dict = {}
    for part in options.only:
        measure, show = PARTS[part]
        figures[part] = measure()
        show(figures[part])
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
