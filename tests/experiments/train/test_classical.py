"""Logistic regression on ELENE vectors: the same folds, nothing learned from test graphs, the same record."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel

from elene.datasets import load, load_collection
from elene.encoding import encode
from elene.experiments import config
from elene.experiments.results.origin import origin_of
from elene.experiments.results.store import Result, Store
from elene.experiments.train.classical import _model, fit_classical
from elene.experiments.train.runner import run
from made_up import result

MUTAG = Path(os.environ.get("ELENE_DATA", "")) / "collections" / "tu-mutag.npz"
needs_data = pytest.mark.skipif(not MUTAG.is_file(), reason="ELENE_DATA does not name a folder with tu-mutag")


def slow_classify(name, k, fold):
    """The same by hand: vectors graph by graph, folds of the inner cross-validation in a loop."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    strengths = config.load(name, "logistic").classical.grid["logisticregression__C"]
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
    means = [np.mean([accuracy(train[a], train[b], strength) for a, b in inner]) for strength in strengths]
    return accuracy(train, test, strengths[int(np.argmax(means))])


def logistic(k=2, *changes):
    return config.load(
        "tu-mutag",
        "logistic",
        [f'classical.features=[{{use="elene.Encoder", k={k}, per="graph", log1p=true}}]', *changes],
    )


@needs_data
def test_it_is_what_it_is_by_hand(tmp_path):
    spec = logistic(k=1)
    found = fit_classical(spec, fold=3)
    assert found.best.test == pytest.approx(slow_classify("tu-mutag", 1, fold=3))
    assert found.cost.parameters > 1
    store = Store(tmp_path)
    store.add(found)
    assert store.get(spec, origin_of("tu-mutag"), seed=0, fold=3) == found
    assert list(store.find("tu-mutag", "logistic")) == [found]


@needs_data
def test_it_learns_something_on_every_fold():
    scores = [fit_classical(logistic(), fold).best.test for fold in range(10)]
    assert 0.8 < np.mean(scores) < 0.95  # two thirds are of one class


@needs_data
def test_estimators_are_data(tmp_path):
    """A row of a file with other estimators and nothing to choose runs as it is."""
    path = tmp_path / "svm.toml"
    path.write_text(
        'dataset.name = "tu-mutag"\n[classical]\nfeatures = [{ use = "elene.Encoder", k = [1, 2], per = "graph" }]\n'
        'estimator = [{ use = "sklearn.svm.SVC", kernel = "rbf" }]\n'
    )
    found = run(config.load(path), fold=1, folder=tmp_path)
    assert found.best.test > 0.5 and found.cost.parameters > 1


@needs_data
def test_steps_hold_steps():
    """Steps of features or of what is chosen among are made alike; a kernel that is a function is one."""
    graphs, specs = list(load("tu-mutag"))[:20], [config.load("tu-mutag", row) for row in ("types", "types+edges")]
    alone = _model(specs[0].classical)[0].fit_transform(graphs).toarray()
    search = _model(specs[1].classical)[-1]
    both = search.estimator[0].fit_transform(graphs).toarray()
    assert both.shape[1] > alone.shape[1] and (both[:, : alone.shape[1]] == alone).all()
    assert search.estimator[1].kernel is linear_kernel and len(search.param_grid["encoder__weights"]) == 3
    assert fit_classical(specs[1], fold=2).best.test > 0.6


def test_data_sets_without_folds_are_refused():
    other = logistic().model_copy(update={"dataset": config.Dataset(name="sr25")})
    with pytest.raises(ValueError, match="sr25 has no folds"):
        fit_classical(other)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('{use="os.system"}', "must be a class of elene, grakel, sklearn"),
        ('{use="sklearn.svm.SCV"}', "there is no sklearn.svm.SCV here"),
        ('{use="sklearn.svm.SVC", kernel={function="os.system"}}', "must be a class of elene, grakel, sklearn"),
        ('{use="sklearn.svm.SVC", strength=3}', "unexpected keyword argument 'strength': choose from "),
    ],
)
@needs_data
def test_what_is_not_an_estimator_is_refused(step, said):
    with pytest.raises(ValueError, match=said):
        fit_classical(logistic(2, f"classical.estimator=[{step}]"))


def test_settings_of_networks_are_nothing_to_it():
    assert logistic(2, "training.epochs=3", "model.layers=9") == logistic()
    with pytest.raises(
        ValueError, match=r"classical\.fold is not a setting: choose from features, estimator, grid, fo"
    ):
        logistic(2, "classical.fold=3")


def test_results_of_former_versions_can_be_read():
    former = {"dataset": {"name": "tu-mutag"}, "classifier": "logistic", "k": 2, "row": "logistic", "runs": 10}
    table = result(spec=logistic()).model_dump(mode="json")
    assert Result.model_validate({**table, "spec": former}).spec == logistic()
