"""Graphs classified by scikit-learn's estimators: no network, but the same folds and records."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from time import perf_counter
from typing import Any

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

from elene.datasets import load
from elene.experiments.config.classical import Classical, Step
from elene.experiments.config.spec import ClassicalSpec
from elene.experiments.results.machine import PeakMemory
from elene.experiments.results.store import Cost, Result, Score, make_result
from elene.inmemory import stored


def fit_classical(spec: ClassicalSpec, fold: int = 0) -> Result:
    """Fit the estimators of a spec on the training graphs of a fold, and test them.

    All is learned from the training graphs alone; what the spec gives several values is chosen by cross-validation
    among them. Validation graphs are scored, and decide nothing.

    Args:
        spec: what to fit.
        fold: which split of the data set to use.

    Example:
        >>> from elene.experiments import config
        >>> row = config.load("tu-mutag", "logistic")
        >>> fit_classical(row.model_copy(update={"dataset": config.Dataset(name="sr25")}))
        Traceback (most recent call last):
        ...
        ValueError: sr25 has no folds: a row without a network needs classes of graphs in ten folds
    """
    dataset = load(spec.dataset.name)
    if dataset.info.split != "folds":
        raise ValueError(
            f"{dataset.info.name} has no folds: a row without a network needs classes of graphs in ten folds"
        )
    memory, started = PeakMemory(), perf_counter()
    train, validation, test = (part.tolist() for part in dataset.splits[fold])
    graphs, y = list(dataset), stored(dataset)[0].y.numpy()
    model = _model(spec.classical).fit([graphs[i] for i in train], y[train])
    seconds = perf_counter() - started
    scores = [model.score([graphs[i] for i in part], y[part]) for part in (validation, test)]
    score = Score(epoch=0, validation=scores[0], test=scores[1])
    cost = Cost.of(memory, [seconds], _parameters(model))
    result = make_result(spec, dataset, fold=fold, best=score, last=score, cost=cost)
    return result.model_copy(update={"versions": {**result.versions, "scikit-learn": version("scikit-learn")}})


def _model(classical: Classical) -> Pipeline:
    estimator = make_pipeline(*map(_make, classical.estimator))
    grid = {name: list(values) for name, values in classical.grid.items()}
    chosen = GridSearchCV(estimator, grid, cv=classical.folds) if grid else estimator
    return make_pipeline(*map(_make, classical.features), chosen)


def _make(step: Step) -> Any:
    """The estimator that a step names."""
    kind = _named(step)
    try:
        inspect.signature(kind).bind(**step.arguments)
    except TypeError as error:
        choices = ", ".join(inspect.signature(kind).parameters)
        raise ValueError(f"{step.use}: {error}: choose from {choices}") from None
    return kind(**{name: _built(value) for name, value in step.arguments.items()})


def _named(step: Step) -> Any:
    """The class or function of a step, not called."""
    module, _, name = step.use.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ValueError(f"use: there is no {step.use} here ({error}): install it, or name another class") from None


def _built(value: Any) -> Any:
    """An argument; tables that name a class are steps of their own, as those that a FeatureUnion takes.

    A table that names a function stands for that function.
    """
    if isinstance(value, Mapping) and "use" in value:
        return _make(Step.model_validate(value))
    if isinstance(value, Mapping) and "function" in value:
        return _named(Step(use=value["function"]))
    return [_built(one) for one in value] if isinstance(value, list | tuple) else value


def _parameters(model: Pipeline) -> int:
    """How many numbers the last estimator learned: its weights, or else those of its support vectors."""
    fitted: Any = getattr(model[-1], "best_estimator_", model[-1])[-1]
    names: Sequence[str] = ("coef_", "intercept_") if hasattr(fitted, "coef_") else ("dual_coef_", "intercept_")
    return sum(getattr(fitted, name).size for name in names if hasattr(fitted, name))
