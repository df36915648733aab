"""Search: which of several settings are best on the validation graphs; Optuna remembers what was tried."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import TrialState, create_trial

from elene.datasets.registry import find
from elene.experiments.results.choices import FOLDER, Choice, Trial
from elene.experiments.results.origin import origin_of
from elene.experiments.results.store import Store, today
from elene.experiments.results.tables import LOWER_IS_BETTER
from elene.experiments.search.space import SearchSpace, Values
from elene.experiments.train.runner import run_unless_stored

STUDY = "search"
SCHEDULE = ("training.epochs", "training.step")


class Search:
    """Trials of a search space, in ``search/DATASET/ROW/SPACE-COMMIT-DATA.journal`` in the folder of results.

    Their runs are kept in a store of their own, ``search/runs``, since they are not results to report: many were made
    to find one.

    Args:
        space: what to search.
        results: the folder of results.
        runs: where learning curves, checkpoints and trained models go.

    Example:
        >>> import tempfile
        >>> folder, small = tempfile.mkdtemp(), ("training.epochs=2", "model.hidden=8")
        >>> search = Search(SearchSpace("sr25", "gin", {"training.lr": ("0.01", "0.001")}, small), folder, folder)
        >>> sorted(values for values, validation in search.run())
        [('0.001',), ('0.01',)]
        >>> list(search.run()), len(search.ranking)  # nothing is left to do
        ([], 2)
    """

    def __init__(
        self, space: SearchSpace, results: str | os.PathLike[str] = "results", runs: str | os.PathLike[str] = "runs"
    ) -> None:
        self.space, self.folder = space, Path(runs, FOLDER)
        self.store = Store(Path(results, FOLDER))
        spec = space.spec(space.valid[0])
        self.metric = find(spec.dataset.name).metric
        self.lower = self.metric in LOWER_IS_BETTER
        self.origin = origin_of(spec.dataset.name)
        name = f"{space.identity}-{self.origin.name}.journal"
        self.path = Path(results, FOLDER, spec.dataset.label, spec.row, name)
        self._study = _open(self.path, space.seed, self.lower)
        self._distributions: dict[str, BaseDistribution] = {
            key: CategoricalDistribution(values) for key, values in space.grid.items()
        }

    @property
    def known(self) -> dict[Values, float]:
        """The validation metric of each combination that was tried; NaN where there is none."""
        trials = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        known = {tuple(trial.params[key] for key in self.space.grid): trial.value for trial in trials}
        valid = set(self.space.valid)
        return {values: math.nan if value is None else value for values, value in known.items() if values in valid}

    @property
    def ranking(self) -> list[tuple[Values, float]]:
        """Combinations and their validation metric, the best one first."""
        sign = 1 if self.lower else -1
        return sorted(self.known.items(), key=lambda item: (math.isnan(item[1]), sign * item[1]))

    def goal(self, trials: int | None, in_turn: bool = False) -> int:
        """How many combinations there will be in the end, at most."""
        if in_turn:
            return 1 + sum(len(values) - 1 for values in self.space.grid.values())
        return len(self.space.valid) if trials is None else min(trials, len(self.space.valid))

    def run_in_turn(self) -> Iterator[tuple[Values, float]]:
        """Try all values of one setting after the other, keeping the best so far, and give what :meth:`run` gives."""
        best = self.space.start
        for key in self.space.grid:
            near = self.space.neighbours(best, key)
            for values in near:
                if values not in self.known:
                    validation = self._validation(values)
                    self._add(values, validation)
                    yield values, validation
            best = next(values for values, _ in self.ranking if values in near)

    def run(self, trials: int | None = None) -> Iterator[tuple[Values, float]]:
        """Try combinations until so many are known, and give each new one with its validation metric.

        All of them, one by one; or, if ``trials`` are fewer, those that Optuna's tree-structured Parzen estimator
        proposes. Optuna's sampler of grids would take a combination that was interrupted for one that was tried.
        """
        # What seems to run ran when the search was killed.
        for unfinished in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self._study.tell(unfinished.number, state=TrialState.FAIL)
        goal = self.goal(trials)
        if goal == len(self.space.valid):
            self._propose_unknown()
        while len(known := self.known) < goal:
            trial = self._study.ask(self._distributions)
            values = tuple(trial.params[key] for key in self.space.grid)
            if values not in known and values in self.space.valid:
                validation = self._validation(values)
                self._tell(trial, validation)
                yield values, validation
            else:
                # An estimator that likes what it knows is told so again, and then shown something else.
                self._tell(trial, known.get(values, math.nan))
            if goal == len(self.space.valid) or values in known:
                self._propose_unknown()

    def choice(self, how: str) -> Choice:
        """What was found so far, to be kept; ``how`` says in words which combinations were tried."""
        space, best = self.space, self.ranking[0][0]
        spec = space.spec(best)
        fixed = dict(change.split("=", 1) for change in space.changes)
        return Choice(
            dataset=spec.dataset.label,
            row=spec.row,
            chosen={key: value for key, value in fixed.items() if key not in SCHEDULE} | self._named(best),
            metric=self.metric,
            how=how,
            grid={key: list(values) for key, values in space.grid.items()},
            fixed=list(space.changes),
            epochs=spec.training.epochs,
            seed=space.seed,
            fold=space.fold,
            tried=[
                Trial(settings=self._named(values), validation=None if math.isnan(found) else found)
                for values, found in self.ranking
            ],
            origin=self.origin,
            date=today(),
        )

    def _named(self, values: Values) -> dict[str, str]:
        return dict(zip(self.space.grid, values, strict=True))

    def _add(self, values: Values, validation: float) -> None:
        """A trial that nobody proposed."""
        failed = math.isnan(validation)
        state, value = (TrialState.PRUNED, None) if failed else (TrialState.COMPLETE, validation)
        params = self._named(values)
        self._study.add_trial(create_trial(state=state, value=value, params=params, distributions=self._distributions))

    def _propose_unknown(self) -> None:
        known = self.known
        unknown = [values for values in self.space.valid if values not in known]
        if unknown:
            self._study.enqueue_trial(self._named(unknown[0]))

    def _tell(self, trial: optuna.Trial, validation: float) -> None:
        if math.isnan(validation):
            self._study.tell(trial, state=TrialState.PRUNED)
        else:
            self._study.tell(trial, validation)

    def _validation(self, values: Values) -> float:
        spec, seed, fold = self.space.spec(values), self.space.seed, self.space.fold
        result, _ = run_unless_stored(spec, seed, fold, store=self.store, folder=self.folder)
        return result.best.validation


def _open(path: Path, seed: int, lower: bool) -> optuna.Study:
    """The study in a file, or a new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        return optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(path), JournalFileOpenLock(str(path)))),
            sampler=optuna.samplers.TPESampler(seed=seed),
            study_name=STUDY,
            direction="minimize" if lower else "maximize",
            load_if_exists=True,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} cannot be read ({error}): delete it, and runs that were done are found again"
        ) from error
