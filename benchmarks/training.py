"""What training costs beside the model: batches gathered from flat arrays against PyG's, Lightning against a bare loop.

    python benchmarks/training.py [--json FILE] [--epochs N]

Counting graphs (generated) and, where ``ELENE_DATA`` has them, ZINC molecules, 128 in a batch. The bare loop does the
same steps on the same batches, and must come to the same validation metric after every epoch.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch_geometric.data import Batch

from common import race, write_json
from elene.datasets import load
from elene.experiments import config
from elene.experiments.data.batches import Stock, seed_of
from elene.experiments.train import runner
from elene.experiments.train.experiment import Experiment
from elene.transforms import EgoStructure

console = Console(width=120)
BATCH = 128
STRUCTURES = {"graphs": None, "ND, k=3": (3, "node"), "ED, k=3": (3, "edge")}


def collate(name: str, structure: tuple[int, str] | None) -> dict[str, float]:
    dataset = load(name)
    if structure is not None:
        dataset = EgoStructure(*structure).prepare(dataset)
    stock, graphs = Stock(dataset), torch.randperm(len(dataset), generator=torch.Generator().manual_seed(0))[:BATCH]
    runners = {
        "gathered": lambda: stock.gather(graphs),
        "PyG": lambda: Batch.from_data_list([dataset[int(i)] for i in graphs]),
    }
    return race(runners, repeats=20)


def bare(made: config.ExperimentSpec) -> list[float]:
    """The validation metric after each epoch, with nothing between us and torch."""
    experiment, plan = Experiment(made), made.training
    network, found = experiment.network(), []
    optimizer = torch.optim.Adam(network.parameters(), lr=plan.lr)
    train, validation = (experiment.loader(part) for part in ("train", "validation"))
    for epoch in range(plan.epochs):
        torch.manual_seed(seed_of("epoch", 0, epoch, 0))
        train.epoch = epoch
        for group in optimizer.param_groups:
            group["lr"] = plan.rate(epoch)
        network.train()
        for batch in train:
            optimizer.zero_grad()
            experiment.objective.loss(network(batch), batch.y).backward()
            optimizer.step()
        network.eval()
        with torch.inference_mode():
            outputs, truths = zip(*((network(batch), batch.y) for batch in validation), strict=True)
            found.append(experiment.objective.measure(torch.cat(outputs), torch.cat(truths)))
    return found


def whole(made: config.ExperimentSpec) -> list[float]:
    with tempfile.TemporaryDirectory() as folder, runner.reproducibly():
        return runner.fit(Experiment(made), Path(folder))[1].curve["validation"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args()
    names = ["counting", *(["zinc12k"] if os.environ.get("ELENE_DATA") else [])]
    figures: dict[str, dict[str, float]] = {}
    table = Table("what", "with", "without", "ratio", title="seconds, best of all rounds")
    for name in names:
        for what, structure in STRUCTURES.items():
            best = collate(name, structure)
            figures[f"batch of {name}, {what}"] = best
            ratio = f"{best['PyG'] / best['gathered']:.1f} times as fast as PyG"
            table.add_row(
                f"batch of {name}, {what}: gathered / PyG", f"{best['gathered']:.4f}", f"{best['PyG']:.4f}", ratio
            )
    for label in ("sr25", *(["zinc12k"] if "zinc12k" in names else [])):
        epochs = options.epochs if label == "sr25" else 1
        made = config.load(label, "gin", [f"training.epochs={epochs}"])
        assert bare(made) == whole(made)
        best = race({"bare": lambda made=made: bare(made), "Lightning": lambda made=made: whole(made)}, budget=60)
        figures[f"epoch of {label}, GIN"] = {name: seconds / epochs for name, seconds in best.items()}
        more = f"{(best['Lightning'] - best['bare']) / epochs * 1000:+.1f} ms an epoch"
        table.add_row(
            f"epoch of {label}, GIN: Lightning / bare",
            f"{best['Lightning'] / epochs:.4f}",
            f"{best['bare'] / epochs:.4f}",
            more,
        )
    console.print(table)
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
