"""Search spaces: which settings, and which values of each; the paper's are data here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from elene.experiments.config import compressed, load_network
from elene.experiments.config.spec import ExperimentSpec
from elene.forking import cached_property

Values = tuple[str, ...]

# The paper's grids (its "Experimental Setup", and "Detailed Experimental Summary" in the appendix) and those of the
# scripts released with it: where ELENE-L stands, and how distance and degree are embedded, are in the latter alone.
DEPTHS = {"exp": ("1", "2"), "sr25": ("1", "2"), "counting": ("1", "2"), "proximity": ("3", "5")}  # else 1, 2 and 3


def paper_grid(spec: ExperimentSpec) -> dict[str, tuple[str, ...]]:
    """The settings that the paper searches for a model on a data set, those that matter most first; empty if none.

    >>> list(paper_grid(load_network("zinc12k", "gin+elene-nd")))
    ['model.elene.k', 'model.elene.layers', 'model.elene.joint', 'model.elene.omega']
    >>> paper_grid(load_network("zinc12k", "gin"))
    {}
    """
    grid: dict[str, tuple[str, ...]] = {}
    if spec.model.encoding is not None:
        grid["model.encoding.k"] = ("0", "1", "2")
    if spec.model.elene is not None:
        family = spec.dataset.name.partition("-")[0]
        edges_of_properties = (family, spec.model.elene.level) == ("graph", "ed")
        grid["model.elene.k"] = ("1", "2") if edges_of_properties else DEPTHS.get(family, ("1", "2", "3"))
        grid["model.elene.layers"] = ("first", "half", "all")
        # Without degrees there is nothing to embed beside distances.
        if spec.model.elene.max_degree != 0:
            grid["model.elene.joint"] = ("true", "false")
        grid["model.elene.omega"] = ("16", "32", "64")
        # Only there did the paper try to do without degrees.
        if family == "pattern" and spec.model.elene.max_degree:
            grid["model.elene.max_degree"] = (str(spec.model.elene.max_degree), "0")
    return grid


@dataclass(frozen=True)
class SearchSpace:
    """What to search.

    Args:
        source: a data set's label or a TOML file, as in :func:`elene.experiments.config.load`.
        row: which of its models.
        grid: for each setting the values to try, as they stand in changes.
        changes: settings that are changed in all trials.
        seed: of all trials.
        fold: of all trials.

    Example:
        >>> grid = {"model.elene.k": ("0", "1"), "model.elene.layers": ("[0]", "[9]")}
        >>> space = SearchSpace("sr25", "gin+elene-nd", grid)
        >>> space.valid  # there is no layer 9
        [('0', '[0]'), ('1', '[0]')]
        >>> space.spec(("1", "[0]")).model.elene.layers
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

    def spec(self, values: Values) -> ExperimentSpec:
        """The spec of a trial."""
        return load_network(self.source, self.row, self.changes_of(values))

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
        told = load_network(self.source, self.row, self.changes).model_dump(mode="json")
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
        told = [load_network(self.source, self.row, self.changes).identity, dict(self.grid), self.seed, self.fold]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:10]


def _default(told: Mapping[str, Any], key: str, values: Values) -> str:
    """The value that a setting has, if it is one of these, or the first of them."""
    value: Any = told
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return said if said in values else values[0]


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


def search_space(
    source: str, row: str | None, texts: Sequence[str], seed: int = 0, fold: int = 0, epochs: int | None = None
) -> SearchSpace:
    """Settings as they stand on the command line; where none has several values, what they leave of the paper's grid.

    The other arguments are those of :class:`SearchSpace`.

    Args:
        texts: settings, with one value or several.
        epochs: a shorter schedule for all trials, in which the learning rate is halved in the same places.

    Example:
        >>> search_space("counting.star", "gin", ["model.layers=2,3", "training.epochs=5"]).grid
        {'model.layers': ('2', '3')}
        >>> search_space("counting.star", "gin+elene", [], epochs=60).grid
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
        changes += compressed(load_network(source, row, changes), epochs)
    if not grid:
        told = {text.partition("=")[0] for text in changes}
        whole = paper_grid(load_network(source, row, changes))
        grid = {key: values for key, values in whole.items() if key not in told}
        if not grid:
            why = "the settings leave nothing of the paper's grid open" if whole else "the paper has no grid"
            raise ValueError(f"{why} for {row or source}: pass settings such as model.layers=2,3,4")
    return SearchSpace(source, row, grid, tuple(changes), seed, fold)
