"""Specs read from TOML; those of the paper's rows come with the library.

A spec file has the tables ``[dataset]``, ``[model]`` and ``[training]``, or ``[classical]`` in place of the last two.
It may hold several models: a table ``[rows.NAME]`` says what is different in one of them, as in a row of a table of
results.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from elene.experiments.config.errors import explain_errors
from elene.experiments.config.network import named
from elene.experiments.config.spec import AnySpec, ClassicalSpec, ExperimentSpec

Table = dict[str, Any]


def load(source: str | os.PathLike[str], row: str | None = None, changes: Sequence[str] = ()) -> AnySpec:
    """The spec of a row of the paper, or of a file.

    Args:
        source: the label of a data set (see :func:`labels`) or the path of a TOML file.
        row: which of its models (see :func:`rows`); to be left out for files with only one.
        changes: settings to be changed, such as ``"training.epochs=5"``; values as in TOML, with or without quotes.

    Example:
        >>> load("sr25", row="gin+elene-ed").model.elene.level
        'ed'
        >>> load("sr25", row="gin", changes=["model.layer=3"])
        Traceback (most recent call last):
        ValueError: model.layer is not a setting: choose from conv, layers, hidden, pool, dropout, ...
    """
    table = _table(source)
    known = table.pop("rows", {})
    if row is None and known:
        raise ValueError(f"{source} has several models: choose a row of {', '.join(known)}")
    if row is not None:
        if row not in known:
            choices = f"choose from {', '.join(known)}" if known else "it has no rows, leave it out"
            raise ValueError(f"row {row!r} is not in {source}: {choices}")
        table = _merged(table, {"row": row, **known[row]})
    # What networks share is nothing to a row that has none.
    apart = ("model", "training") if "classical" in table else ("classical",)
    for change in changes:
        table = _merged(table, _parsed(change))
    return check({key: value for key, value in table.items() if key not in apart})


def load_network(source: str | os.PathLike[str], row: str | None = None, changes: Sequence[str] = ()) -> ExperimentSpec:
    """The same for what can only be done with a network.

    >>> load_network("tu-mutag", "logistic")
    Traceback (most recent call last):
    ValueError: row 'logistic' of tu-mutag has no network: choose from gin, gin+elene, gin+elene-nd
    """
    spec = load(source, row, changes)
    if isinstance(spec, ExperimentSpec):
        return spec
    networks = [name for name in rows(source) if isinstance(load(source, name), ExperimentSpec)]
    choices = f"choose from {', '.join(networks)}" if networks else "take another data set or file"
    raise ValueError(f"row {spec.row!r} of {source} has no network: {choices}")


def compressed(spec: ExperimentSpec, epochs: int) -> list[str]:
    """The changes that make the schedule of a spec shorter, the learning rate halved in proportion.

    >>> compressed(load("zinc12k", row="gin"), epochs=31)
    ['training.epochs=31', 'training.step=5']
    """
    step = spec.training.step
    if step is None:
        return [f"training.epochs={epochs}"]
    return [f"training.epochs={epochs}", f"training.step={max(round(step * epochs / spec.training.epochs), 1)}"]


def check(table: Mapping[str, Any]) -> AnySpec:
    """A spec from plain tables, with errors that name the setting, the value and the choices.

    >>> check({"dataset": {"name": "sr25"}, "model": {"conv": "gin", "layers": 0}, "training": {"epochs": 1}})
    Traceback (most recent call last):
    ValueError: model.layers must be greater than or equal to 1, got 0
    """
    kind = ClassicalSpec if "classical" in table else ExperimentSpec
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise ValueError(explain_errors(error, kind)) from None


def labels() -> list[str]:
    """The data sets that the paper's specs are for, each with its target where one is to be chosen.

    >>> "counting.triangle" in labels(), "proximity-3" in labels()
    (True, True)
    """
    return [label for table in _shipped() for label in table["datasets"]]


def rows(source: str | os.PathLike[str]) -> list[str]:
    """The models that a data set of the paper, or a file, has specs for.

    >>> rows("sr25")[:2]
    ['gin', 'gin+elene']
    """
    return list(_table(source).get("rows", {}))


def rows_of_label(label: str) -> list[str]:
    """The same for a data set that may have no specs.

    >>> rows_of_label("tu-mutag")[-1], rows_of_label("no specs yet")
    ('logistic', [])
    """
    return rows(label) if label in labels() else []


def _table(source: str | os.PathLike[str]) -> Table:
    """The tables of a file, or those that come with the library for a data set, as one."""
    for table in _shipped():
        if source in table["datasets"]:
            return _for_label(table, str(source))
    path = Path(source)
    if path.suffix == ".toml":
        return _read(path)
    close = get_close_matches(str(source), labels(), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(f"{str(source)!r} has no spec; {hint}choose from {', '.join(labels())}, or pass a .toml file")


def _for_label(table: Table, label: str) -> Table:
    name, _, target = label.partition(".")
    dataset = {"name": name, "target": target} if target else {"name": name}
    only = table.get("only", {}).get(label, {})
    shared = {key: value for key, value in table.items() if key not in ("datasets", "only")}
    return _merged(_merged(shared, {"dataset": dataset}), only)


def _read(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from error


@cache
def _shipped() -> list[Table]:
    """The files that come with the library, in the order of their names."""
    folder = files("elene.experiments.config") / "specs"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return [tomllib.loads(file.read_text(encoding="utf-8")) for file in found]


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    """Tables within tables, the new ones' values in place of the old ones'."""
    result = dict(old)
    for key, value in new.items():
        before = named(result.get(key)) if key == "conv" else result.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return result


def _parsed(change: str) -> Table:
    """``"model.layers=3"`` as tables within tables."""
    key, sign, text = change.partition("=")
    if not sign or not all(part.isidentifier() for part in key.split(".")):
        raise ValueError(f"a change must look like training.epochs=5, got {change!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    for part in reversed(key.split(".")):
        value = {part: value}
    return dict(value)
