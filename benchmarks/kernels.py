"""Bags of ego-network types with a linear model, beside GraKeL's Weisfeiler-Lehman subtree kernel with an SVM.

    python benchmarks/kernels.py [--datasets tu-mutag ...] [--folds 10] [--json FILE]

Both see the same labelled graphs in the same folds, in one run; penalties are chosen by cross-validation among the
training graphs. Seconds are those from graphs to features or to the kernel matrices: fit on the training graphs,
transform the test graphs; graphs are converted to each library's own beforehand. The kernel runs for as many rounds as
the types have depths, which its time is taken of, and for five.
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
KERNEL = "WL subtree kernel, 3 rounds"


def types(level: str) -> Encoder:
    return Encoder(k=DEPTHS, level=level, form="type", per="graph", log1p=True)


def kernel(rounds: int) -> WeisfeilerLehman:
    return WeisfeilerLehman(n_iter=rounds, base_graph_kernel=VertexHistogram, normalize=True)


OURS = {
    "types of nodes": lambda: types("node"),
    "types of nodes and edges": lambda: FeatureUnion([(level, types(level)) for level in ("node", "edge")]),
}
METHODS = OURS | {KERNEL: lambda: kernel(3), "WL subtree kernel, 5 rounds": lambda: kernel(5)}


def classifier(method: str) -> GridSearchCV:
    """A linear model on counts, or an SVM on a kernel matrix; its penalty is chosen by cross-validation."""
    if method in OURS:
        return GridSearchCV(LinearSVC(max_iter=20_000), {"C": (0.001, 0.01, 0.1, 1.0)}, cv=5)
    return GridSearchCV(SVC(kernel="precomputed"), {"C": (0.1, 1.0, 10.0, 100.0)}, cv=5)


def for_grakel(graph: Graph) -> KernelGraph:
    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]]).tolist()
    return KernelGraph([tuple(arc) for arc in arcs], node_labels=dict(enumerate(graph.labels.tolist())))


def one_fold(method: str, graphs: list[Any], y: Any, split: Any) -> tuple[float, float]:
    """Accuracy on the test graphs of a fold, and the seconds that features took."""
    train, _, test = split
    begun = perf_counter()
    features = METHODS[method]()
    of_train = features.fit_transform([graphs[i] for i in train])
    of_test = features.transform([graphs[i] for i in test])
    seconds = perf_counter() - begun
    model = classifier(method).fit(of_train, y[train])
    return float(model.score(of_test, y[test])), seconds


def measure(name: str, folds: int) -> dict[str, dict[str, Any]]:
    dataset = load(name)
    y, labelled = stored(dataset)[0].y.numpy(), [Graph.from_pyg(data, labels="x") for data in dataset]
    converted = [for_grakel(graph) for graph in labelled]
    for features in OURS.values():  # compiled before anything is timed
        features().fit_transform(labelled[:2])
    found: dict[str, dict[str, Any]] = {method: {"accuracy": [], "seconds": []} for method in METHODS}
    for split in [[part.tolist() for part in split] for split in dataset.splits][:folds]:
        for method in METHODS:
            accuracy, seconds = one_fold(method, labelled if method in OURS else converted, y, split)
            found[method]["accuracy"].append(accuracy)
            found[method]["seconds"].append(seconds)
    return found


def show(name: str, found: dict[str, dict[str, Any]]) -> None:
    rival = np.median(found[KERNEL]["seconds"])
    for method, figures in found.items():
        accuracy, seconds = 100 * np.array(figures["accuracy"]), np.median(figures["seconds"])
        ratio = f"  {rival / seconds:6.1f}x the kernel's speed" if method in OURS else ""
        score = f"{accuracy.mean():5.1f} ± {accuracy.std():4.1f}%"
        print(f"{name:12} {method:28} {score}  {seconds:8.3f} s{ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    figures = {}
    for name in arguments.datasets:
        figures[name] = measure(name, arguments.folds)
        show(name, figures[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
