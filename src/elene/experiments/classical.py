"""Graphs classified by their ELENE vectors with scikit-learn: no neural network, but the same folds and records."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elene.datasets import GraphDataset, load
from elene.estimators import Encoder
from elene.experiments.machine import PeakMemory, machine, versions
from elene.experiments.origin import Origin, code
from elene.experiments.pipeline import Pipeline
from elene.experiments.store import Cost, Result, Score
from elene.inmemory import stored

STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # inverse strengths of regularisation to choose from
INNER_FOLDS = 5
ITERATIONS = 10_000  # more than ever needed


def classify(pipeline: Pipeline, fold: int = 0) -> Result:
    """Fit a pipeline on the training graphs of a fold, and test it.

    The largest degree and the strength of regularisation are learned from the training graphs alone, the latter by
    cross-validation among them. Validation graphs are scored, and decide nothing.

    Args:
        pipeline: what to fit.
        fold: which split of the data set to use.

    Example:
        >>> from elene.experiments.spec import Dataset
        >>> classify(Pipeline(dataset=Dataset(name="sr25")))
        Traceback (most recent call last):
        ...
        ValueError: sr25 has no folds: logistic regression needs classes of graphs in ten folds
    """
    dataset = load(pipeline.dataset.name)
    if dataset.info.split != "folds":
        raise ValueError(f"{dataset.info.name} has no folds: logistic regression needs classes of graphs in ten folds")
    memory, started = PeakMemory(), perf_counter()
    train, validation, test = (part.tolist() for part in dataset.splits[fold])
    graphs, y = list(dataset), stored(dataset)[0].y.numpy()
    model = _model(pipeline).fit([graphs[i] for i in train], y[train])
    seconds = perf_counter() - started
    scores = [model.score([graphs[i] for i in part], y[part]) for part in (validation, test)]
    score = Score(epoch=0, validation=scores[0], test=scores[1])
    cost = Cost(
        parameters=_parameters(model),
        epochs=1,
        seconds=round(seconds, 3),
        seconds_per_epoch=round(seconds, 4),
        peak_memory=round(memory.megabytes(), 1),
        base_memory=round(memory.base, 1),
    )
    return _result(pipeline, fold, dataset, score, cost)


def _model(pipeline: Pipeline) -> Any:
    search = GridSearchCV(
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=ITERATIONS)),
        {"logisticregression__C": list(STRENGTHS)},
        cv=INNER_FOLDS,
    )
    return make_pipeline(Encoder(k=pipeline.k, per="graph", log1p=True), search)


def _parameters(model: Any) -> int:
    fitted = model[-1].best_estimator_[-1]
    return int(fitted.coef_.size + fitted.intercept_.size)


def _result(pipeline: Pipeline, fold: int, dataset: GraphDataset, score: Score, cost: Cost) -> Result:
    return Result(
        spec=pipeline,
        origin=Origin(code=code(), data=dataset.edition.sha256),
        seed=0,
        fold=fold,
        devices=1,
        title=dataset.title,
        data=dataset.provenance,
        metric=dataset.info.metric,
        best=score,
        last=score,
        cost=cost,
        curve={},
        versions={**versions(), "scikit-learn": version("scikit-learn")},
        machine=machine(),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )
