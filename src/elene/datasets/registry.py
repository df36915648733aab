"""The table of data sets, read from ``registry.toml``: task, metric, split, sizes, hashes and sources are data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from elene.datasets.info import DatasetInfo, Edition


def _read() -> tuple[DatasetInfo, ...]:
    table = tomllib.loads((files("elene.datasets") / "registry.toml").read_text(encoding="utf-8"))
    return tuple(_info(name, table["families"][said["family"]] | said) for name, said in table["datasets"].items())


def _info(name: str, said: Mapping[str, Any]) -> DatasetInfo:
    fixed = {key: _value(value) for key, value in said.items() if key != "editions"}
    return DatasetInfo(name=name, editions=tuple(Edition(**edition) for edition in said["editions"]), **fixed)


def _value(value: Any) -> Any:
    """What cannot change, and None, which TOML cannot say."""
    return tuple(value) if isinstance(value, list) else None if value == "none" else value


DATASETS = _read()
_BY_NAME = {info.name: info for info in DATASETS}


def find(name: str) -> DatasetInfo:
    """The row of a data set.

    >>> find("zinc12k").metric
    'mae'
    >>> find("zink12k")
    Traceback (most recent call last):
    ...
    ValueError: name 'zink12k' is not a data set; did you mean 'zinc12k'? `elene datasets` lists all of them
    """
    if not isinstance(name, str) or name not in _BY_NAME:
        close = get_close_matches(str(name), _BY_NAME, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"name {name!r} is not a data set; {hint}`elene datasets` lists all of them")
    return _BY_NAME[name]
