"""Labels: a class for each node, given as integers, text, one-hot rows or by name; and the same across graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.graph.edges import uniform
from elene.validation import as_array, check_list


class Labels(NamedTuple):
    """An integer for each node (or edge) and, where the classes are called otherwise, what each integer stands for."""

    codes: NDArray[np.int64]
    names: NDArray[Any] | None = None

    @property
    def values(self) -> NDArray[Any]:
        """The labels as they were given."""
        return self.codes if self.names is None else self.names[self.codes]

    @property
    def colors(self) -> NDArray[np.uint64]:
        """A number of 64 bits for each label, the same in every graph: integers as they are, text hashed."""
        if self.names is None or self.names.dtype.kind == "i":
            return self.values.view(np.uint64)
        hashes = [hashlib.blake2b(str(name).encode(), digest_size=8).digest() for name in self.names.tolist()]
        return np.frombuffer(b"".join(hashes), np.uint64)[self.codes]


def checked_labels(labels: Any, nodes: NDArray[Any], name: str = "labels", of: str = "nodes") -> Labels:
    """Labels of these nodes: one each in their order, or by the nodes' names in a dict or a pandas Series.

    Integers from 0 on stay as they are; others, text and booleans are numbered in ascending order. A column of shape
    ``(n, 1)`` is one row, and rows with a single 1 in them, else 0, are the places of that 1.

    >>> labels = checked_labels(["N", "C", "C"], np.arange(3))
    >>> labels.codes.tolist(), labels.names.tolist()
    ([1, 0, 0], ['C', 'N'])
    """
    if isinstance(labels, Mapping) or (hasattr(labels, "to_dict") and hasattr(labels, "index")):
        labels = _by_name(labels, nodes, name)
    values = _flat(_array(labels, name), name)
    if len(values) != len(nodes):
        raise ValueError(f"{name} must be one for each of the {len(nodes)} {of}, got {len(values)}")
    return numbered(values, name)


def checked_classes(labels: Any, label_names: Any, nodes: NDArray[Any]) -> Labels | tuple[None, None]:
    """The labels that a constructor was given, which may be what another graph's fields hold."""
    if labels is None:
        if label_names is not None:
            raise ValueError("label_names are given without labels, whose integers they are the names of")
        return None, None
    found = checked_labels(labels, nodes)
    if label_names is None:
        return found
    called = checked_labels(label_names, nodes=np.arange(len(label_names)), name="label_names").values
    if found.names is not None or (len(nodes) and not 0 <= found.codes.min() <= found.codes.max() < len(called)):
        raise ValueError(f"labels must be integers from 0 to {len(called) - 1}, places among the label_names")
    return checked_labels(called[found.codes], nodes)


def numbered(values: NDArray[Any], name: str = "labels") -> Labels:
    """Integers from 0 on as they are, all else by its place among the distinct ones.

    >>> numbered(np.array([7, 7, 1])).codes.tolist()
    [7, 7, 1]
    """
    if len(values) == 0:
        return Labels(np.empty(0, np.int64))
    if values.dtype.kind == "u" and values.max() >= 2**63:
        raise ValueError(f"{name}: {values.max()} does not fit 64 bits: pass it as text")
    values = values.astype(np.int64) if values.dtype.kind in "iu" else values
    if values.dtype.kind == "i" and values.min() >= 0:
        return Labels(values)
    if values.dtype.kind not in "iUb":
        bad = next((value for value in values.tolist() if not isinstance(value, str)), values[0])
        raise TypeError(f"{name} must all be integers or all be text, got {values.dtype} (such as {bad!r:.80})")
    names, codes = np.unique(values, return_inverse=True)
    return Labels(codes.astype(np.int64), names)


def joined(codes: Sequence[NDArray[np.int64]], names: Sequence[NDArray[Any] | None]) -> Labels:
    """The labels of several graphs, at least one, one behind the other, where equal ones have equal numbers.

    >>> joined([np.array([0]), np.array([1, 0])], [np.array(["C"]), np.array(["C", "N"])]).codes.tolist()
    [0, 1, 0]
    """
    if all(called is None for called in names):
        return Labels(np.concatenate(codes))
    values = [Labels(*part).values for part in zip(codes, names, strict=True) if len(part[0])]
    if len({part.dtype.kind for part in values}) > 1:
        raise ValueError("labels of some graphs are integers and of others text: they must be of one kind")
    return numbered(np.concatenate(values)) if values else Labels(np.empty(0, np.int64))


def _by_name(labels: Any, nodes: NDArray[Any], name: str) -> list[Any]:
    if hasattr(labels, "columns"):
        raise TypeError(f"{name} must be one column, got a {type(labels).__name__}: pass one of its columns")
    if not isinstance(labels, Mapping):
        if not labels.index.is_unique:
            raise ValueError(f"{name}: nodes repeat in the index, so a node has several labels: keep one of each")
        labels = labels.to_dict()
    missing = [node for node in nodes.tolist() if node not in labels]
    if missing:
        raise ValueError(
            f"{name} go by the names of nodes, and node {missing[0]!r} has none (such as {list(labels)[:3]!r:.80} have)"
        )
    return [labels[node] for node in nodes.tolist()]


def _array(labels: Any, name: str) -> NDArray[Any]:
    values = as_array(name, check_list(name, labels, "labels"))
    if values.dtype.kind == "U" and not hasattr(labels, "dtype"):
        values = np.asarray(labels, dtype=object)  # numpy makes text of what stands beside text
    return uniform(values)


def _flat(values: NDArray[Any], name: str) -> NDArray[Any]:
    """One label a node, of the shapes that columns of features have."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    elif _is_one_hot(values):
        values = values.argmax(axis=1)
    if values.ndim != 1:
        raise ValueError(
            f"{name} must be one for each node, a column of them or one-hot rows, got an array of shape {values.shape}"
        )
    return _whole(values)


def _is_one_hot(values: NDArray[Any]) -> bool:
    if values.ndim != 2 or values.dtype.kind not in "iufb" or not ((values == 0) | (values == 1)).all():
        return False
    return bool((values.sum(axis=1) == 1).all())


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Floats as integers where they are: features of PyG are floats."""
    if values.dtype.kind != "f" or not (np.abs(values) < 2**53).all() or (values != np.floor(values)).any():
        return values
    return values.astype(np.int64)
