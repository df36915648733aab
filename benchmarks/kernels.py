"""Bags of ego-network types with a linear model, beside GraKeL's Weisfeiler-Lehman subtree kernel with an SVM.

    python benchmarks/kernels.py [--datasets tu-mutag ...] [--folds 10] [--json FILE]

Both see the same labelled graphs in the same folds, in one run, with an SVM on top; its penalty, and how many rounds
the kernel runs, are chosen by cross-validation among the training graphs. The recipe of the types is that of the rows
``types`` and ``types+edges`` of ``elene reproduce tu``. Seconds are those from graphs to features or to the kernel
matrices: fit on the training graphs, transform the test graphs; graphs are converted to each library's own beforehand.
The kernel's are those of three rounds, which see as far as the types do. With ``--seconds`` nothing is learned.
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
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion
from sklearn.svm import SVC

from elene import Encoder
from elene.datasets import load
from elene.graph import Graph
from elene.inmemory import stored

DATASETS = ("tu-mutag", "tu-nci1", "tu-proteins")
ROUNDS = (1, 2, 3, 4, 5)
KERNEL = "WL subtree kernel"


def types(level: str, depths: tuple[int, ...]) -> Encoder:
    return Encoder(k=depths, level=level, form="type", per="graph", log1p=True)


def types_of_both() -> FeatureUnion:
    parts = [("nodes", types("node", (0, 1, 2, 3))), ("edges", types("edge", (1,)))]
    return FeatureUnion(parts, transformer_weights={"edges": 0.5})


def kernel(rounds: int) -> WeisfeilerLehman:
    return WeisfeilerLehman(n_iter=rounds, base_graph_kernel=VertexHistogram, normalize=True)


OURS = {"types of nodes": lambda: types("node", (0, 1, 2, 3)), "types of nodes and edges": types_of_both}


def classifier(ours: bool) -> GridSearchCV:
    """A linear SVM on counts, or an SVM on a kernel matrix; its penalty is chosen by cross-validation."""
    if ours:
        return GridSearchCV(SVC(kernel=linear_kernel), {"C": (0.003, 0.01, 0.03, 0.1, 0.3)}, cv=5)
    return GridSearchCV(SVC(kernel="precomputed"), {"C": (0.1, 1.0, 10.0, 100.0, 1000.0)}, cv=5)


def for_grakel(graph: Graph) -> KernelGraph:
    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]]).tolist()
    return KernelGraph([tuple(arc) for arc in arcs], node_labels=dict(enumerate(graph.labels.tolist())))


def made(features: Any, graphs: list[Any], split: Any) -> tuple[Any, Any, float]:
    """What a model learns from and is tested on, and how many seconds it took to make."""
    train, _, test = split
    begun = perf_counter()
    of_train = features.fit_transform([graphs[i] for i in train])
    of_test = features.transform([graphs[i] for i in test])
    return of_train, of_test, perf_counter() - begun


def one_fold(ours: bool, choices: list[Any], graphs: list[Any], y: Any, split: Any) -> float:
    """Accuracy on the test graphs of a fold, by the features that do best among the training graphs."""
    train, _, test = split
    found = []
    for features in choices:
        of_train, of_test, _ = made(features, graphs, split)
        model = classifier(ours).fit(of_train, y[train])
        found.append((model.best_score_, float(model.score(of_test, y[test]))))
    return max(found, key=lambda scores: scores[0])[1]


def measure(name: str, folds: int, learn: bool) -> dict[str, dict[str, Any]]:
    dataset = load(name)
    y, labelled = stored(dataset)[0].y.numpy(), [Graph.from_pyg(data, labels="x") for data in dataset]
    converted = [for_grakel(graph) for graph in labelled]
    for features in OURS.values():  # compiled before anything is timed
        features().fit_transform(labelled[:2])
    found: dict[str, dict[str, Any]] = {method: {"accuracy": [], "seconds": []} for method in (*OURS, KERNEL)}
    for split in [[part.tolist() for part in split] for split in dataset.splits][:folds]:
        for method in found:
            ours = method in OURS
            graphs = labelled if ours else converted
            found[method]["seconds"].append(made(OURS[method]() if ours else kernel(3), graphs, split)[2])
            if learn:
                choices = [OURS[method]()] if ours else [kernel(rounds) for rounds in ROUNDS]
                found[method]["accuracy"].append(one_fold(ours, choices, graphs, y, split))
    return found


def show(name: str, found: dict[str, dict[str, Any]]) -> None:
    rival = np.median(found[KERNEL]["seconds"])
    for method, figures in found.items():
        accuracy, seconds = 100 * np.array(figures["accuracy"] or [np.nan]), np.median(figures["seconds"])
        ratio = f"  {rival / seconds:6.1f}x the kernel's speed" if method in OURS else ""
        score = f"{accuracy.mean():5.1f} ± {accuracy.std():4.1f}%"
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
