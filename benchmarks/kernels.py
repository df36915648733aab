"""Bags of ego-network types with a linear model, beside GraKeL's Weisfeiler-Lehman subtree kernel with an SVM.

    python benchmarks/kernels.py [--datasets tu-mutag ...] [--folds 10] [--rounds 3] [--json FILE]

Both see the same labelled graphs in the same folds, in one run; penalties are chosen by cross-validation among the
training graphs. Seconds are those from graphs to features or to the kernel matrices: fit on the training graphs,
transform the test graphs; graphs are converted to each library's own beforehand.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from grakel import Graph as KernelGraph
from grakel.kernels import VertexHistogram, WeisfeilerLehman
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion
from sklearn.svm import SVC, LinearSVC

from elene import Encoder
from elene.datasets import load
from elene.graph import Graph
from elene.inmemory import stored

DATASETS = ("tu-mutag", "tu-nci1", "tu-proteins")
DEPTHS = (1, 2, 3)
NODES, BOTH, KERNEL = "types of nodes", "types of nodes and edges", "WL subtree kernel"


def types(level: str) -> Encoder:
    return Encoder(k=DEPTHS, level=level, form="type", per="graph", log1p=True)


FEATURES = {
    NODES: lambda rounds: types("node"),
    BOTH: lambda rounds: FeatureUnion([(level, types(level)) for level in ("node", "edge")]),
    KERNEL: lambda rounds: WeisfeilerLehman(n_iter=rounds, base_graph_kernel=VertexHistogram, normalize=True),
}


def classifier(method: str) -> GridSearchCV:
    """A linear model on counts, or an SVM on a kernel matrix; its penalty is chosen by cross-validation."""
    if method == KERNEL:
        return GridSearchCV(SVC(kernel="precomputed"), {"C": (0.1, 1.0, 10.0, 100.0)}, cv=5)
    return GridSearchCV(LinearSVC(max_iter=20_000), {"C": (0.001, 0.01, 0.1, 1.0)}, cv=5)


def for_grakel(graph: Graph) -> KernelGraph:
    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]]).tolist()
    return KernelGraph([tuple(arc) for arc in arcs], node_labels=dict(enumerate(graph.labels.tolist())))


def one_fold(method: str, graphs: list[Any], y: Any, split: Any, rounds: int) -> tuple[float, float]:
    """Accuracy on the test graphs of a fold, and the seconds that features took."""
    train, _, test = split
    begun = perf_counter()
    features = FEATURES[method](rounds)
    of_train = features.fit_transform([graphs[i] for i in train])
    of_test = features.transform([graphs[i] for i in test])
    seconds = perf_counter() - begun
    model = classifier(method).fit(of_train, y[train])
    return float(model.score(of_test, y[test])), seconds


def measure(name: str, folds: int, rounds: int) -> dict[str, dict[str, Any]]:
    dataset = load(name)
    y, labelled = stored(dataset)[0].y.numpy(), [Graph.from_pyg(data, labels="x") for data in dataset]
    ways = {NODES: labelled, BOTH: labelled, KERNEL: [for_grakel(graph) for graph in labelled]}
    for method in (NODES, BOTH):  # compiled before anything is timed
        FEATURES[method](rounds).fit_transform(labelled[:2])
    found: dict[str, dict[str, Any]] = {method: {"accuracy": [], "seconds": []} for method in ways}
    for split in [[part.tolist() for part in split] for split in dataset.splits][:folds]:
        for method, graphs in ways.items():
            accuracy, seconds = one_fold(method, graphs, y, split, rounds)
            found[method]["accuracy"].append(accuracy)
            found[method]["seconds"].append(seconds)
    return found


def show(name: str, found: dict[str, dict[str, Any]]) -> None:
    kernel = np.median(found[KERNEL]["seconds"])
    for method, figures in found.items():
        accuracy, seconds = 100 * np.array(figures["accuracy"]), np.median(figures["seconds"])
        ratio = "" if method == KERNEL else f"  {kernel / seconds:6.1f}x the kernel's speed"
        print(
            f"{name:12} {method:26} {accuracy.mean():5.1f} ± {accuracy.std():4.1f}%  {seconds:8.3f} s{ratio}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3, help="of the kernel: as many as the types have depths")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    figures = {}
    for name in arguments.datasets:
        figures[name] = measure(name, arguments.folds, arguments.rounds)
        show(name, figures[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
