"""Results that no one has computed, to schedule and to report."""

from __future__ import annotations

from elene.experiments import config
from elene.experiments.results.choices import Choice, Trial
from elene.experiments.results.origin import Code, Origin
from elene.experiments.results.store import Cost, Result, Score


def origin(commit="c0ffee", *, committed="2026-01-01T00:00:00Z", changes="", data="da7a" * 16):
    return Origin(code=Code(commit=commit, changes=changes, committed=committed), data=data)


ORIGIN = origin()


def choice(dataset, row, chosen, **others):
    settings = {"metric": "mae", "how": "all combinations", "fixed": [], "epochs": 5, "seed": 0, "fold": 0}
    tried = [Trial(settings=chosen, validation=0.5)]
    grid = {key: [value] for key, value in chosen.items()}
    told = {**settings, "grid": grid, "tried": tried, "origin": ORIGIN, "date": "2026-01-01", **others}
    return Choice(dataset=dataset, row=row, chosen=chosen, **told)


def result(label="sr25", row="gin", test=0.5, *, seed=0, fold=0, spec=None, changes=(), title="SR25", **others):
    spec = spec or config.load(label, row, changes)
    score = Score(epoch=1, validation=test, test=test, relabelled=others.pop("relabelled", None))
    epochs = 1 if spec.training is None else spec.training.epochs
    cost = Cost(
        parameters=1234,
        epochs=epochs,
        seconds=epochs * 2.0,
        seconds_per_epoch=others.pop("seconds_per_epoch", 2.0),
        peak_memory=100.0,
        base_memory=50.0,
    )
    settings = {
        "origin": ORIGIN,
        "devices": 1,
        "title": title,
        "data": "made up",
        "metric": "accuracy",
        "curve": {"loss": [1.0, 0.5], "validation": [test / 2, test]},
        "versions": {"elene": "0"},
        "machine": {"processor": "<abacus>", "cores": 1},
        "date": "2026-01-01",
    }
    return Result(spec=spec, seed=seed, fold=fold, best=score, last=score, cost=cost, **{**settings, **others})
