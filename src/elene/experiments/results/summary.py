"""Summary: what the store holds for each model and data set of a table, beside what was published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median, stdev
from typing import Any

from elene.datasets.registry import find as find_dataset
from elene.experiments import config
from elene.experiments.config.spec import AnySpec, ExperimentSpec
from elene.experiments.results.choices import Choice, Choices
from elene.experiments.results.origin import Origin
from elene.experiments.results.store import Result, Store
from elene.experiments.results.tables import Column, Line, PublishedValue, Table, tables, title_of


@dataclass(frozen=True)
class Entry:
    """A model on a data set: what was published, and what came out here.

    Args:
        column: the data set.
        line: the model.
        digits: how many to print after the point.
        results: runs of one and the same spec, code and data; none if it was not run.
        choice: what a search chose, if the results have it.

    Example:
        >>> from elene.experiments.results.tables import find
        >>> table = find("counting")
        >>> entry = Entry(table.columns[0], table.line("gin"), 3, ())
        >>> entry.paper, entry.ours, entry.versus_paper
        ('0.357', '', 'missing')
    """

    column: Column
    line: Line
    digits: int
    results: Sequence[Result]
    choice: Choice | None = None

    @property
    def published_value(self) -> PublishedValue | None:
        """The published number."""
        return self.line.published.get(self.column.dataset)

    @property
    def scores(self) -> list[float]:
        """What each run has on the test graphs at its best validation epoch, as it is printed."""
        return [self.column.scale * result.best.test for result in self.results]

    @property
    def difference(self) -> float | None:
        """Our mean less the published number; None unless there are both."""
        value = self.published_value
        return None if value is None or not self.results else round(mean(self.scores) - value.value, self.digits)

    @property
    def versus_paper(self) -> str:
        """How ours compares with the published number.

        ``"better"``, ``"equal"`` (in all printed digits), ``"worse"``, ``"new"`` (nothing is published),
        ``"missing"`` or ``"no spec"``.
        """
        if not self.results:
            return "missing" if self.line.row in config.rows_of_label(self.column.dataset) else "no spec"
        difference = self.difference
        if difference is None:
            return "new"
        return "equal" if difference == 0 else "better" if (difference < 0) == self.column.lower else "worse"

    @property
    def paper(self) -> str:
        """The published number in words; empty if there is none."""
        value = self.published_value
        return "" if value is None else str(value)

    @property
    def ours(self) -> str:
        """Our number in words; empty if there is none."""
        return say_mean(self.scores, self.digits) if self.results else ""

    @property
    def relabelled(self) -> str:
        """The same on relabelled copies of the graphs; empty if none were made."""
        copies = [result.best.relabelled for result in self.results if result.best.relabelled is not None]
        return f"{self.column.scale * mean(copies):.{self.digits}f}" if copies else ""

    @property
    def epochs(self) -> str:
        """How many epochs, and how many it is in the paper if that is another number."""
        if (spec := self._spec) is None:
            return ""
        epochs, wanted = spec.training.epochs, (self.published or spec).training.epochs
        return str(epochs) if epochs == wanted else f"{epochs} of {wanted}"

    @property
    def shortened(self) -> bool:
        """Whether there are fewer epochs than in the paper."""
        spec = self._spec
        return spec is not None and spec.training.epochs < (self.published or spec).training.epochs

    @property
    def changes(self) -> dict[str, Any]:
        """Settings that are not those of the paper's spec, epochs aside."""
        spec = self._spec
        return {} if spec is None else _changes(spec, self.published or spec)

    @property
    def seconds_per_epoch(self) -> float | None:
        """The median over runs; None if there are no epochs."""
        if self._spec is None:
            return None
        return median(result.cost.seconds_per_epoch for result in self.results)

    @property
    def _spec(self) -> ExperimentSpec | None:
        spec = self.results[0].spec if self.results else None
        return spec if isinstance(spec, ExperimentSpec) else None

    @property
    def published(self) -> ExperimentSpec | None:
        """The spec of a network that comes with the library."""
        spec = _published(self.column.dataset, self.line.row)
        return spec if isinstance(spec, ExperimentSpec) else None


def _published(dataset: str, row: str) -> AnySpec | None:
    return config.load(dataset, row) if row in config.rows_of_label(dataset) else None


def say_mean(scores: Sequence[float], digits: int) -> str:
    """The mean of some scores, with their standard deviation where there are several.

    >>> say_mean([0.5], 2), say_mean([0.5, 1.5], 2)
    ('0.50', '1.00 ± 0.71')
    """
    deviation = f" ± {stdev(scores):.{digits}f}" if len(scores) > 1 else ""
    return f"{mean(scores):.{digits}f}{deviation}"


def _changes(spec: AnySpec, expected: AnySpec) -> dict[str, Any]:
    """The settings of a spec, epochs aside, that are not the expected ones."""
    now, then = (one.model_dump(mode="json", exclude={"row", "runs"}) for one in (spec, expected))
    return {key: value for key, value in _differences(now, then) if key != "training.epochs"}


def _differences(now: Mapping[str, Any], then: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """What is different in tables within tables, with dotted names and the new values."""
    for key in {**then, **now}:
        new, old = now.get(key), then.get(key)
        if isinstance(new, Mapping) and isinstance(old, Mapping):
            yield from _differences(new, old, f"{prefix}{key}.")
        elif new != old:
            yield f"{prefix}{key}", "none" if new is None else new


def summarise(store: Store) -> list[tuple[Table, list[Entry]]]:
    """Every table with its entries, line by line, and a last one of what is in the store but in no table.

    Of the runs of a model on a data set, those of the newest code are taken; of these those with the settings that a
    search chose on validation graphs; of these those with the paper's spec, or else the fewest other settings, then the
    most epochs; and of these the spec and the data with the most runs: never by how good they are.

    Args:
        store: where results are.

    Example:
        >>> [table.name for table, entries in summarise(Store("nothing here"))][-2:]
        ['benchmarks', 'tu']
    """
    found: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in store.find():
        found[result.spec.dataset.label][result.spec.row].append(result)
    known = {column.dataset for table in tables() for column in table.columns}
    every = [_extended(table, found) for table in tables()]
    if others := [label for label in found if label not in known]:
        columns = tuple(_column(label, found[label]) for label in others)
        nothing = Table("other", "Other data sets", "not in the paper", columns, (), ())
        every.append(_extended(nothing, found))
    return [(table, _entries(table, found, Choices(store.root))) for table in every]


def _extended(table: Table, found: Mapping[str, Mapping[str, Any]]) -> Table:
    """With a line for each model in the store that it does not have."""
    rows = [row for column in table.columns for row in found.get(column.dataset, ()) if row not in table.rows]
    lines = tuple(Line(row, title_of(row), "", {}) for row in dict.fromkeys(rows))
    return replace(table, lines=table.lines + lines)


def _column(label: str, rows: Mapping[str, Sequence[Result]]) -> Column:
    [first, *_] = next(iter(rows.values()))
    title, metric = find_dataset(first.spec.dataset.name).title, first.metric
    target = first.spec.dataset.target
    return Column(label, f"{title}, {target}" if target else title, metric, metric.endswith(("accuracy", "auc")))


def _entries(table: Table, found: Mapping[str, Mapping[str, Sequence[Result]]], choices: Choices) -> list[Entry]:
    entries = []
    for line in table.lines:
        for column in table.columns:
            choice = choices.get(column.dataset, line.row) if line.row else None
            results = _shown(found.get(column.dataset, {}).get(line.row, ()), choice)
            used = choice if results and choice is not None and _has(results[0].spec, choice) else None
            entries.append(Entry(column, line, table.digits(column), results, used))
    return entries


def _others(spec: AnySpec, choice: Choice | None) -> set[str]:
    """The settings, epochs aside, that are not those of the paper's spec with what was chosen."""
    if not isinstance(spec, ExperimentSpec) or spec.row not in config.rows_of_label(spec.dataset.label):
        return set()
    expected = config.load(spec.dataset.label, spec.row, [] if choice is None else choice.changes)
    return set(_changes(spec, expected))


def _has(spec: AnySpec, choice: Choice | None) -> bool:
    """Whether a spec has the settings that were chosen; epochs and other settings may differ."""
    others = _others(spec, choice)
    return choice is not None and not any(_within(key, name) for name in choice.chosen for key in others)


def _within(key: str, name: str) -> bool:
    return key == name or key.startswith(f"{name}.") or name.startswith(f"{key}.")


def _shown(results: Sequence[Result], choice: Choice | None) -> Sequence[Result]:
    """The runs to show."""
    groups: dict[tuple[str, Origin], list[Result]] = defaultdict(list)
    for result in results:
        groups[result.spec.identity, result.origin].append(result)
    return max(groups.values(), key=lambda group: _merit(group, choice), default=())


def _merit(results: Sequence[Result], choice: Choice | None) -> tuple[Any, ...]:
    spec, code = results[0].spec, results[0].origin.code
    published = _published(spec.dataset.label, spec.row)
    as_published = published is not None and spec.identity == published.identity
    others = len(_others(spec, choice))
    return code.age, _has(spec, choice), as_published, -others, results[0].cost.epochs, len(results)
