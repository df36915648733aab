"""Logistic regression on ELENE vectors: the same folds, nothing learned from test graphs, the same record."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from elene.datasets import load, load_collection
from elene.encoding import encode
from elene.experiments.classical import STRENGTHS, classify
from elene.experiments.origin import origin_of
from elene.experiments.pipeline import Pipeline
from elene.experiments.spec import Dataset
from elene.experiments.store import Store

MUTAG = Path(os.environ.get("ELENE_DATA", "")) / "collections" / "tu-mutag.npz"
needs_data = pytest.mark.skipif(not MUTAG.is_file(), reason="ELENE_DATA does not name a folder with tu-mutag")


def slow_classify(name, k, fold):
    """The same by hand: vectors graph by graph, folds of the inner cross-validation in a loop."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    collection, dataset = load_collection(name), load(name)
    train, _, test = (part.numpy() for part in dataset.splits[fold])
    graphs = [collection.graph(i) for i in range(len(collection))]
    rho = max(graphs[i].max_degree for i in train)
    x = np.log1p([encode(graph, k, max_degree=rho).matrix.toarray().sum(axis=0) for graph in graphs])
    y = np.array([int(graph.y) for graph in dataset])

    def accuracy(fit, score, strength):
        scale = x[fit].std(axis=0)
        scaled = x / np.where(scale == 0, 1, scale)
        model = LogisticRegression(C=strength, max_iter=10_000).fit(scaled[fit], y[fit])
        return (model.predict(scaled[score]) == y[score]).mean()

    inner = list(StratifiedKFold(5).split(train, y[train]))
    means = [np.mean([accuracy(train[a], train[b], strength) for a, b in inner]) for strength in STRENGTHS]
    return accuracy(train, test, STRENGTHS[int(np.argmax(means))])


@needs_data
def test_it_is_what_it_is_by_hand(tmp_path):
    pipeline = Pipeline(dataset=Dataset(name="tu-mutag"), k=1)
    result = classify(pipeline, fold=3)
    assert result.best.test == pytest.approx(slow_classify("tu-mutag", 1, fold=3))
    assert result.cost.parameters > 1
    store = Store(tmp_path)
    store.add(result)
    assert store.get(pipeline, origin_of("tu-mutag"), seed=0, fold=3) == result
    assert list(store.find("tu-mutag", "logistic")) == [result]


@needs_data
def test_it_learns_something_on_every_fold():
    scores = [classify(Pipeline(dataset=Dataset(name="tu-mutag")), fold).best.test for fold in range(10)]
    assert 0.8 < np.mean(scores) < 0.95  # two thirds are of one class


def test_data_sets_without_folds_are_refused():
    with pytest.raises(ValueError, match="sr25 has no folds"):
        classify(Pipeline(dataset=Dataset(name="sr25")))
