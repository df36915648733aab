"""Bags of ego-network types with a linear model, beside GraKeL's Weisfeiler-Lehman subtree kernel with an SVM.

    python benchmarks/kernels.py [--datasets tu-mutag ...] [--folds 10] [--json FILE]

Both see the same labelled graphs in the same folds, in one run, with an SVM on top; its penalty, how many rounds the
kernel runs, and how much types of edges weigh, are chosen by cross-validation among the training graphs. The recipe of
the types is that of the rows ``types`` and ``types+edges`` of ``elene reproduce tu``. Seconds are those from graphs to
features or to the kernel matrices: fit on the training graphs, transform the test graphs; graphs are converted to each
library's own beforehand, and each fold is a race of best times. The kernel's are those of three rounds, which see as
far as the types do. With ``--seconds`` nothing is learned.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from grakel import Graph as KernelGraph
from grakel.kernels import VertexHistogram, WeisfeilerLehman
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from common import race
from elene import Encoder
from elene.datasets import load
from elene.graph import Graph
from elene.inmemory import stored

DATASETS = ("tu-mutag", "tu-nci1", "tu-proteins")
KERNEL = "WL subtree kernel"
DEPTHS = {"node": (0, 1, 2, 3), "edge": (1,)}


def types(levels: list[str], weight: float = 1.0) -> Encoder:
    """Bags of types; those of edges weigh less or more."""
    depths, weights = {level: DEPTHS[level] for level in levels}, {"edge": weight} if "edge" in levels else None
    return Encoder(k=depths, level=levels, form="type", per="graph", log1p=True, weights=weights)


def kernel(rounds: int) -> WeisfeilerLehman:
    return WeisfeilerLehman(n_iter=rounds, base_graph_kernel=VertexHistogram, normalize=True)


# For each method what makes its features, and the values that are chosen among; the middle one is timed.
METHODS = {
    "types of nodes": (partial(types, ["node"]), (1.0,)),
    "types of nodes and edges": (partial(types, ["node", "edge"]), (0.25, 0.5, 1.0)),
    KERNEL: (kernel, (1, 2, 3, 4, 5)),
}


def classifier(ours: bool) -> GridSearchCV:
    """A linear SVM on counts, or an SVM on a kernel matrix; its penalty is chosen by cross-validation."""
    if ours:
        return GridSearchCV(SVC(kernel=linear_kernel), {"C": (0.003, 0.01, 0.03, 0.1, 0.3)}, cv=5)
    return GridSearchCV(SVC(kernel="precomputed"), {"C": (0.1, 1.0, 10.0, 100.0, 1000.0)}, cv=5)


def for_grakel(graph: Graph) -> KernelGraph:
    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]]).tolist()
    return KernelGraph([tuple(arc) for arc in arcs], node_labels=dict(enumerate(graph.labels.tolist())))


def made(features: Any, graphs: list[Any], split: Any) -> tuple[Any, Any]:
    """What a model learns from and is tested on."""
    train, _, test = split
    return features.fit_transform([graphs[i] for i in train]), features.transform([graphs[i] for i in test])


def one_fold(method: str, graphs: list[Any], y: Any, split: Any) -> float:
    """Accuracy on the test graphs of a fold, by the features that do best among the training graphs."""
    train, _, test = split
    make, values = METHODS[method]
    found = []
    for value in values:
        of_train, of_test = made(make(value), graphs, split)
        model = classifier(method != KERNEL).fit(of_train, y[train])
        found.append((model.best_score_, float(model.score(of_test, y[test]))))
    return max(found, key=lambda scores: scores[0])[1]


def measure(name: str, folds: int, learn: bool) -> dict[str, dict[str, Any]]:
    dataset = load(name)
    y, labelled = stored(dataset)[0].y.numpy(), [Graph.from_pyg(data, labels="x") for data in dataset]
    converted = [for_grakel(graph) for graph in labelled]
    types(["node", "edge"]).fit_transform(labelled[:2])  # compiled before anything is timed
    graphs = {method: converted if method == KERNEL else labelled for method in METHODS}
    found: dict[str, dict[str, Any]] = {method: {"accuracy": [], "seconds": []} for method in METHODS}
    for split in [[part.tolist() for part in split] for split in dataset.splits][:folds]:

        def run(method: str, split: Any = split) -> Any:
            make, values = METHODS[method]
            return made(make(values[len(values) // 2]), graphs[method], split)

        for method, seconds in race({method: partial(run, method) for method in METHODS}, budget=1.0).items():
            found[method]["seconds"].append(seconds)
            if learn:
                found[method]["accuracy"].append(one_fold(method, graphs[method], y, split))
    return found


def show(name: str, found: dict[str, dict[str, Any]]) -> None:
    rival = np.median(found[KERNEL]["seconds"])
    for method, figures in found.items():
        accuracy, seconds = 100 * np.array(figures["accuracy"] or [np.nan, np.nan]), np.median(figures["seconds"])
        ratio = f"  {rival / seconds:6.1f}x the kernel's speed" if method != KERNEL else ""
        score = f"{accuracy.mean():5.1f} ± {accuracy.std(ddof=1):4.1f}%"
        print(f"{name:12} {method:28} {score}  {seconds:8.3f} s{ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seconds", action="store_true", help="time the features only")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    figures = {}
    for name in arguments.datasets:
        figures[name] = measure(name, arguments.folds, not arguments.seconds)
        show(name, figures[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
