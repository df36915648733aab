"""One training step of every baseline beside GIN and ELENE-L, in one run.

    python benchmarks/baselines.py [--json FILE] [--repeats N]

128 ZINC molecules (from ``ELENE_DATA``, or generated), hidden size 128, 6 layers, k=3: step time (forward, backward,
Adam) and bytes saved for backward, each as a multiple of GIN's. Every model reads its lists in each step, as in
training. Graphormer's distances go up to 16; NGNN has its 6 layers inside; AK has one layer inside each of 6.
"""

from __future__ import annotations

import argparse
import itertools

import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv

import layer
from common import race, write_json
from elene.baselines import AK_PLUS, GNNAK, NGNN, PPGN, SPNN, Centrality, Graphormer, PPGNBlock, igel
from elene.nn import ELENE, GNN, updates
from elene.transforms import EgoStructure
from layer import DEPTH, LAYERS, RHO, WIDTH, Encoded, molecules, saved_bytes, stepper

console = Console(width=120)
OURS = ("GIN", "GIN+ELENE", "GIN+ELENE-L (ND)", "GIN+ELENE-L (ED)")
FAR = 16


def gin() -> GINEConv:
    mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
    return GINEConv(mlp, train_eps=True)


def kernel(**options) -> GNNAK:
    return GNNAK(WIDTH, DEPTH, [gin()], **options)


def path_sum() -> SPNN:
    return SPNN(
        nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)), DEPTH
    )


def atoms() -> nn.Embedding:
    return nn.Embedding(30, WIDTH)


def bonds() -> nn.Embedding:
    return nn.Embedding(5, WIDTH)


def head(width: int = WIDTH) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))


def network(convs, after=None, **options) -> GNN:
    after = updates(WIDTH, len(convs)) if after is None else after
    encoder = options.pop("encoder", None) or atoms()
    return GNN(encoder, convs, after, head(), edge_encoders=[bonds() for _ in convs], **options)


def with_igel() -> GNN:
    columns = igel(DEPTH, RHO)(molecules(1)[0]).x.shape[1]
    return network([gin() for _ in range(LAYERS)], encoder=Encoded(columns - 1))


def transformer() -> GNN:
    convs = [Centrality(WIDTH, RHO), *(Graphormer(WIDTH, FAR) for _ in range(LAYERS))]
    return network(convs, [nn.Identity() for _ in convs])


def products() -> PPGN:
    widths = itertools.pairwise([WIDTH + 1, *[WIDTH] * LAYERS])
    return PPGN(atoms(), [PPGNBlock(*pair) for pair in widths], head(2 * WIDTH), bonds())


def together() -> GNN:
    layers = [ELENE(WIDTH, DEPTH, "node", RHO) for _ in range(LAYERS)]
    return network([kernel(parts=AK_PLUS) for _ in range(LAYERS)], elene=layers)


BASELINES = {
    "GIN+IGEL": (igel(DEPTH, RHO, log1p=True), with_igel),
    "SPNN": (EgoStructure(DEPTH), lambda: network([path_sum() for _ in range(LAYERS)])),
    "Graphormer": (EgoStructure(FAR), transformer),
    "NGNN": (EgoStructure(DEPTH, "edge"), lambda: network([NGNN(WIDTH, DEPTH, [gin() for _ in range(LAYERS)])])),
    "GIN-AK": (EgoStructure(DEPTH, "edge"), lambda: network([kernel() for _ in range(LAYERS)])),
    "GIN-AK+": (EgoStructure(DEPTH, "edge"), lambda: network([kernel(parts=AK_PLUS) for _ in range(LAYERS)])),
    "GIN-AK+, sampled (cover 3)": (
        EgoStructure(DEPTH, "edge"),
        lambda: network([kernel(parts=AK_PLUS, cover=3) for _ in range(LAYERS)]),
    ),
    "GIN-AK+ and ELENE-L (ND)": (EgoStructure(DEPTH, "edge"), together),
    "PPGN": (None, products),
}


def build(variant: str, datas: list[Data]):
    """The model and the batch of one variant."""
    if variant in OURS:
        return layer.build(variant, datas)
    torch.manual_seed(0)
    transform, make = BASELINES[variant]
    prepared = datas if transform is None else [transform(data) for data in datas]
    return make(), Batch.from_data_list(prepared)


def measure(repeats: int, count: int = 128) -> list[dict]:
    datas = molecules(count)
    built = {variant: build(variant, datas) for variant in (*OURS, *BASELINES)}
    steps = {variant: stepper(*pair) for variant, pair in built.items()}
    seconds = race(steps, repeats=repeats, budget=600)
    rows = []
    for variant, (model, batch) in built.items():
        saved = saved_bytes(model, batch)
        parameters = sum(parameter.numel() for parameter in model.parameters())
        rows.append({"variant": variant, "seconds": seconds[variant], "saved": saved, "parameters": parameters})
    return rows


def show(rows: list[dict]) -> None:
    table = Table(title="One training step on 128 molecules, hidden 128, 6 layers, k=3")
    for heading in ("", "ms", "x GIN", "saved MB", "x GIN", "parameters"):
        table.add_column(heading, justify="left" if not heading else "right")
    base = rows[0]
    for row in rows:
        numbers = (
            f"{row['seconds'] * 1e3:.0f}",
            f"{row['seconds'] / base['seconds']:.2f}",
            f"{row['saved'] / 1e6:.1f}",
            f"{row['saved'] / base['saved']:.2f}",
            f"{row['parameters']:,}",
        )
        table.add_row(row["variant"], *numbers)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--repeats", type=int, default=5, help="rounds; the best of them counts")
    options = parser.parse_args()
    figures = {"step": measure(options.repeats)}
    show(figures["step"])
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
