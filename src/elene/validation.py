"""The checks that everything shares: an error names the argument, the value and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MAX_DEPTH = 2**31 - 1  # no path is longer, for no graph has more nodes


def check_integer(name: str, value: Any, least: int = 0) -> int:
    """The value as an int, or an error that names it.

    >>> check_integer("k", 2)
    2
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """An error that lists the choices, unless the value is one of them.

    >>> check_choice("level", "edge", ("node", "edge", "pair"))
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_depths(k: Any) -> tuple[int, ...]:
    """One or several depths as a tuple of distinct integers, in the order given.

    >>> check_depths([1, 2])
    (1, 2)
    """
    text = isinstance(k, str | bytes | bytearray | memoryview)
    several = (isinstance(k, Sequence) and not text) or (isinstance(k, np.ndarray) and k.ndim > 0)
    depths = tuple(check_integer("k", depth) for depth in (k if several else [k]))
    if not depths:
        raise ValueError("k must name at least one depth, got an empty list")
    if len(set(depths)) < len(depths):
        raise ValueError(f"k must name each depth once, got {list(depths)}")
    if max(depths) > MAX_DEPTH:
        raise ValueError(f"k must be at most {MAX_DEPTH}, got {max(depths)}")
    return depths
