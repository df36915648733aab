"""The checks that everything shares: an error names the argument, the value and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def check_share(name: str, value: Any) -> float:
    """The value as a number from 0 to 1, or an error that names it.

    >>> check_share("dropout", 0.5)
    0.5
    """
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number from 0 to 1, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value}")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """An error that lists the choices, unless the value is one of them.

    >>> check_choice("level", "edge", ("node", "edge", "pair"))
    """
    if not isinstance(value, str | None) or value not in choices:
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


def brief(value: Any) -> str:
    """What an error says of a value of the wrong type.

    >>> brief(None), brief([1]), brief(7)
    ('None', 'a list', '7')
    """
    return repr(value) if value is None or isinstance(value, int | float | str) else f"a {type(value).__name__}"


def as_array(name: str, values: Any) -> NDArray[Any]:
    """The values as an array, or an error that names them.

    >>> as_array("square", [[0, 1], [1]])
    Traceback (most recent call last):
    ValueError: square must be an array, got rows of different lengths
    """
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array, got rows of different lengths") from None
    except (TypeError, NotImplementedError):  # some classes look like lists, and are none
        raise TypeError(f"{name} must be an array, got {brief(values)}") from None


def check_list(name: str, values: Any, of: str) -> Sequence[Any] | NDArray[Any]:
    """Several values in an order, as something with a length that can be read again and again; or an error.

    What looks like a list and is none gives wrong answers in silence: an iterator is empty when it is read again, text
    is a list of letters, a table one of column names, and a set has no order.

    Args:
        name: what an error calls them.
        values: a list, tuple, range, array, tensor, column of a table, or another collection that can be gone through.
        of: what there should be several of.

    Example:
        >>> check_list("roots", (2, 0), "nodes")
        (2, 0)
        >>> check_list("roots", {2, 0}, "nodes")
        Traceback (most recent call last):
        TypeError: roots must be a list of nodes, got a set, which has no order: pass sorted(roots)
    """
    what, kind = f"{name} must be a list of {of}, got", type(values).__name__
    if isinstance(values, str | bytes | bytearray | memoryview):
        raise TypeError(f"{what} {values!r}: put it in a list")
    if isinstance(values, set | frozenset):
        raise TypeError(f"{what} a {kind}, which has no order: pass sorted({name})")
    if isinstance(values, Iterator):
        raise TypeError(f"{what} a {kind}, which can be read only once: pass list({name})")
    if isinstance(values, dict):
        raise TypeError(f"{what} a {kind}: pass list({name}) for its keys, list({name}.values()) for its values")
    if hasattr(values, "columns") and hasattr(values, "to_numpy"):
        raise TypeError(f"{what} a {kind}: pass {name}.to_numpy(), or one of its columns")
    if isinstance(values, list | tuple | range):
        return values
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    if hasattr(values, "__array__"):
        array = as_array(name, values)
        if array.ndim > 0:
            return array
    elif isinstance(values, Iterable):
        with suppress(NotImplementedError):  # classes that have a length in name only
            return list(values)
    raise TypeError(f"{what} {brief(values)}")
