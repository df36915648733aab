"""Search: which of several settings are best on the validation graphs; Optuna remembers what was tried."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import TrialState, create_trial

from elene.datasets.registry import find
from elene.experiments.choices import FOLDER, Choice, Trial
from elene.experiments.origin import origin_of
from elene.experiments.runner import obtain
from elene.experiments.spec import Spec, compressed, load
from elene.experiments.store import Store
from elene.experiments.training import Objective
from elene.forking import cached_property

STUDY = "search"
Values = tuple[str, ...]

SCHEDULE = ("training.epochs", "training.step")

# The paper's grids (its "Experimental Setup", and "Detailed Experimental Summary" in the appendix) and those of the
# scripts released with it: where ELENE-L stands, and how distance and degree are embedded, are in the latter alone.
OMEGAS = ("16", "32", "64")
PLACES = ("first", "half", "all")
ENCODING_DEPTHS = ("0", "1", "2")
ELENE_DEPTHS = ("1", "2", "3")
SPECIAL_DEPTHS = {
    "exp": ("1", "2"),
    "sr25": ("1", "2"),
    "counting": ("1", "2"),
    "proximity": ("3", "5"),
}


def paper_grid(spec: Spec) -> dict[str, tuple[str, ...]]:
    """The settings that the paper searches for a model on a data set, those that matter most first; empty if none.

    >>> list(paper_grid(load("zinc12k", "gin+elene-nd")))
    ['model.elene.k', 'model.elene.layers', 'model.elene.joint', 'model.elene.omega']
    >>> paper_grid(load("zinc12k", "gin"))
    {}
    """
    grid: dict[str, tuple[str, ...]] = {}
    if spec.model.encoding is not None:
        grid["model.encoding.k"] = ENCODING_DEPTHS
    if spec.model.elene is not None:
        family = spec.dataset.name.partition("-")[0]
        edges_of_properties = (family, spec.model.elene.level) == ("graph", "ed")
        grid["model.elene.k"] = ("1", "2") if edges_of_properties else SPECIAL_DEPTHS.get(family, ELENE_DEPTHS)
        grid["model.elene.layers"] = PLACES
        # Without degrees there is nothing to embed beside distances.
        if spec.model.elene.max_degree != 0:
            grid["model.elene.joint"] = ("true", "false")
        grid["model.elene.omega"] = OMEGAS
        # Only there did the paper try to do without degrees.
        if family == "pattern" and spec.model.elene.max_degree:
            grid["model.elene.max_degree"] = (str(spec.model.elene.max_degree), "0")
    return grid


@dataclass(frozen=True)
class Plan:
    """What to search.

    Args:
        source: a data set's label or a TOML file, as in :func:`elene.experiments.spec.load`.
        row: which of its models.
        grid: for each setting the values to try, as they stand in changes.
        changes: settings that are changed in all trials.
        seed: of all trials.
        fold: of all trials.

    Example:
        >>> plan = Plan("sr25", "gin+elene-nd", {"model.elene.k": ("0", "1"), "model.elene.layers": ("[0]", "[9]")})
        >>> plan.valid  # there is no layer 9
        [('0', '[0]'), ('1', '[0]')]
        >>> plan.spec(("1", "[0]")).model.elene.layers
        (0,)
    """

    source: str
    row: str | None
    grid: Mapping[str, tuple[str, ...]]
    changes: tuple[str, ...] = ()
    seed: int = 0
    fold: int = 0

    def changes_of(self, values: Values) -> list[str]:
        """All changes that make a trial."""
        return [*self.changes, *(f"{key}={value}" for key, value in zip(self.grid, values, strict=True))]

    def spec(self, values: Values) -> Spec:
        """The spec of a trial."""
        return load(self.source, self.row, self.changes_of(values))

    @cached_property
    def valid(self) -> list[Values]:
        """All combinations of values that give a spec: not every model can have every value."""
        found, reasons = [], []
        for values in product(*self.grid.values()):
            try:
                self.spec(values)
            except ValueError as error:
                reasons.append(error)
            else:
                found.append(values)
        if not found:
            raise reasons[0]
        return found

    @cached_property
    def start(self) -> Values:
        """The combination to begin with: the spec's own values where they are to be tried."""
        told = load(self.source, self.row, self.changes).model_dump(mode="json")
        wanted = tuple(_default(told, key, values) for key, values in self.grid.items())
        return wanted if wanted in self.valid else self.valid[0]

    def neighbours(self, values: Values, key: str) -> list[Values]:
        """All combinations that differ from one in a single setting, and that one itself."""
        place = list(self.grid).index(key)
        found = [(*values[:place], value, *values[place + 1 :]) for value in self.grid[key]]
        return [one for one in found if one in self.valid]

    @property
    def identity(self) -> str:
        """A short hash of all that decides what is found."""
        told = [load(self.source, self.row, self.changes).identity, dict(self.grid), self.seed, self.fold]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:10]


def _default(told: Mapping[str, Any], key: str, values: Values) -> str:
    """The value that a setting has, if it is one of these, or the first of them."""
    value: Any = told
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return said if said in values else values[0]


class Search:
    """Trials of a plan, in ``search/DATASET/ROW/PLAN-COMMIT-DATA.journal`` in the folder of results.

    Their runs are kept in a store of their own, ``search/runs``, since they are not results to report: many were made
    to find one.

    Args:
        plan: what to search.
        results: the folder of results.
        runs: where learning curves, checkpoints and trained models go.

    Example:
        >>> import tempfile
        >>> folder, small = tempfile.mkdtemp(), ("training.epochs=2", "model.hidden=8")
        >>> search = Search(Plan("sr25", "gin", {"training.lr": ("0.01", "0.001")}, small), folder, folder)
        >>> sorted(values for values, validation in search.run())
        [('0.001',), ('0.01',)]
        >>> list(search.run()), len(search.ranking)  # nothing is left to do
        ([], 2)
    """

    def __init__(
        self, plan: Plan, results: str | os.PathLike[str] = "results", runs: str | os.PathLike[str] = "runs"
    ) -> None:
        self.plan, self.folder = plan, Path(runs, FOLDER)
        self.store = Store(Path(results, FOLDER))
        spec = plan.spec(plan.valid[0])
        info = find(spec.dataset.name)
        self.metric = info.metric
        self.lower = Objective(info.task, info.metric, info.outputs).better(0.0, than=1.0)
        self.origin = origin_of(spec.dataset.name)
        name = f"{plan.identity}-{self.origin.name}.journal"
        self.path = Path(results, FOLDER, spec.dataset.label, spec.row, name)
        self._study = _open(self.path, plan.seed, self.lower)

    @property
    def known(self) -> dict[Values, float]:
        """The validation metric of each combination that was tried; NaN where there is none."""
        trials = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        known = {tuple(trial.params[key] for key in self.plan.grid): trial.value for trial in trials}
        valid = set(self.plan.valid)
        return {values: math.nan if value is None else value for values, value in known.items() if values in valid}

    @property
    def ranking(self) -> list[tuple[Values, float]]:
        """Combinations and their validation metric, the best one first."""
        sign = 1 if self.lower else -1
        return sorted(self.known.items(), key=lambda item: (math.isnan(item[1]), sign * item[1]))

    def goal(self, trials: int | None, in_turn: bool = False) -> int:
        """How many combinations there will be in the end, at most."""
        if in_turn:
            return 1 + sum(len(values) - 1 for values in self.plan.grid.values())
        return len(self.plan.valid) if trials is None else min(trials, len(self.plan.valid))

    def run_in_turn(self) -> Iterator[tuple[Values, float]]:
        """Try all values of one setting after the other, keeping the best so far, and give what :meth:`run` gives."""
        best = self.plan.start
        for key in self.plan.grid:
            near = self.plan.neighbours(best, key)
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
        self._forget_unfinished()
        goal = self.goal(trials)
        if goal == len(self.plan.valid):
            self._propose_unknown()
        while len(known := self.known) < goal:
            trial = self._ask()
            values = tuple(trial.params[key] for key in self.plan.grid)
            if values not in known and values in self.plan.valid:
                validation = self._validation(values)
                self._tell(trial, validation)
                yield values, validation
            else:
                # An estimator that likes what it knows is told so again, and then shown something else.
                self._tell(trial, known.get(values, math.nan))
            if goal == len(self.plan.valid) or values in known:
                self._propose_unknown()

    def choice(self, how: str) -> Choice:
        """What was found so far, to be kept; ``how`` says in words which combinations were tried."""
        plan, best = self.plan, self.ranking[0][0]
        spec = plan.spec(best)
        fixed = dict(change.split("=", 1) for change in plan.changes)
        return Choice(
            dataset=spec.dataset.label,
            row=spec.row,
            chosen={key: value for key, value in fixed.items() if key not in SCHEDULE} | self._named(best),
            metric=self.metric,
            how=how,
            grid={key: list(values) for key, values in plan.grid.items()},
            fixed=list(plan.changes),
            epochs=spec.training.epochs,
            seed=plan.seed,
            fold=plan.fold,
            tried=[
                Trial(settings=self._named(values), validation=None if math.isnan(found) else found)
                for values, found in self.ranking
            ],
            origin=self.origin,
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
        )

    def _named(self, values: Values) -> dict[str, str]:
        return dict(zip(self.plan.grid, values, strict=True))

    def _forget_unfinished(self) -> None:
        """What seems to run ran when the search was killed."""
        for unfinished in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self._study.tell(unfinished.number, state=TrialState.FAIL)

    def _ask(self) -> optuna.Trial:
        return self._study.ask(self._distributions)

    @property
    def _distributions(self) -> dict[str, BaseDistribution]:
        return {key: CategoricalDistribution(values) for key, values in self.plan.grid.items()}

    def _add(self, values: Values, validation: float) -> None:
        """A trial that nobody proposed."""
        failed = math.isnan(validation)
        state, value = (TrialState.PRUNED, None) if failed else (TrialState.COMPLETE, validation)
        params = self._named(values)
        self._study.add_trial(create_trial(state=state, value=value, params=params, distributions=self._distributions))

    def _propose_unknown(self) -> None:
        known = self.known
        unknown = [values for values in self.plan.valid if values not in known]
        if unknown:
            self._study.enqueue_trial(self._named(unknown[0]))

    def _tell(self, trial: optuna.Trial, validation: float) -> None:
        if math.isnan(validation):
            self._study.tell(trial, state=TrialState.PRUNED)
        else:
            self._study.tell(trial, validation)

    def _validation(self, values: Values) -> float:
        plan = self.plan
        result = obtain(plan.spec(values), plan.seed, plan.fold, store=self.store, folder=self.folder)
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


def split_values(text: str) -> tuple[str, ...]:
    """The values of ``"1,2,[0,1]"``: commas within brackets, braces and quotes belong to a value.

    >>> split_values("1,2,[0,1]")
    ('1', '2', '[0,1]')
    """
    values, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "," and depth == 0:
            values.append("")
            continue
        depth += (character in "[{") - (character in "]}") if not quote else 0
        values[-1] += character
    return tuple(value.strip() for value in values)


def plan_of(
    source: str, row: str | None, texts: Sequence[str], seed: int = 0, fold: int = 0, epochs: int | None = None
) -> Plan:
    """A plan from settings as they stand on the command line; with none that has several values, the paper's grid.

    Args:
        source: as in :class:`Plan`.
        row: as there.
        texts: settings, with one value or several.
        seed: as in :class:`Plan`.
        fold: as there.
        epochs: a shorter schedule for all trials, in which the learning rate is halved in the same places.

    Example:
        >>> plan_of("counting.star", "gin", ["model.layers=2,3", "training.epochs=5"]).grid
        {'model.layers': ('2', '3')}
        >>> plan_of("counting.star", "gin+elene", [], epochs=60).grid
        {'model.encoding.k': ('0', '1', '2')}
    """
    changes: list[str] = []
    grid: dict[str, Values] = {}
    for text in texts:
        key, _, listed = text.partition("=")
        values = split_values(listed)
        if len(values) == 1:
            changes.append(text)
        elif len(set(values)) < len(values) or "" in values:
            raise ValueError(f"{key} must have different values with commas between them, got {listed!r}")
        else:
            grid[key] = values
    if epochs is not None:
        changes += compressed(load(source, row, changes), epochs)
    if not grid:
        grid = paper_grid(load(source, row, changes))
        if not grid:
            raise ValueError(f"the paper has no grid for {row or source}: pass settings such as model.layers=2,3,4")
    return Plan(source, row, grid, tuple(changes), seed, fold)
