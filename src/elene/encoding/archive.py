"""What a saved encoding holds, checked: every array against the others, in time that is linear in their size."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.arrays import Arrays
from elene.encoding.spec import KINDS, EncodingSpec

NAMES = {"node": {"nodes"}, "edge": {"edges"}, "pair": {"edges", "distances"}}


def read_fields(file: Arrays) -> dict[str, Any]:
    """All that makes an :class:`elene.Encoding`, by the names of its fields."""
    spec, (rows, columns) = _spec(file), _shape(file)
    matrix = csr_array(_checked_rows(file, rows, columns), shape=(rows, columns))
    table = file["table"]
    _check_table(table, columns, spec)
    counts = {"matrix": matrix, "table": table, "spec": spec}
    return {**counts, **_names(file, spec.level, rows), "label_names": _label_names(file, spec, table)}


def _names(file: Arrays, level: str, rows: int) -> dict[str, NDArray[Any]]:
    """What the rows stand for."""
    names = {name: file[name] for name in ("nodes", "edges", "distances") if name in file}
    if set(names) != NAMES[level]:
        raise ValueError(f"at level={level!r} there must be {sorted(NAMES[level])}, got {sorted(names)}")
    for name, array in names.items():
        wanted = (rows, 2) if name == "edges" else (rows,)
        kinds = "iu" if name == "distances" else "iufbUS"
        if array.shape != wanted or array.dtype.kind not in kinds:
            raise ValueError(f"{name} has the shape {array.shape} of {array.dtype}, for {rows} rows")
    return names


def _label_names(file: Arrays, spec: EncodingSpec, table: NDArray[np.int64]) -> NDArray[Any] | None:
    """What the integers of labels stand for, if they stand for something else."""
    if "label_names" not in file:
        return None
    names = file["label_names"]
    if not spec.labelled or names.ndim != 1 or names.dtype.kind not in "iUb":
        raise ValueError(f"label_names must be one row of text or integers, got {names.dtype} of {names.shape}")
    last = table[:, spec.fields if spec.form == "joint" else 4] if spec.form != "type" else table[:, :0]
    if last.size and last.max() >= len(names):
        raise ValueError(f"table has the label {last.max()}, and label_names are {len(names)}")
    return names


def _shape(file: Arrays) -> tuple[int, int]:
    shape = file["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise ValueError(f"shape must be two integers, got {shape!r}")
    rows, columns = shape.tolist()
    return rows, columns


def _spec(file: Arrays) -> EncodingSpec:
    found = json.loads(file["spec"].item())
    if not isinstance(found, dict) or {"labelled", *found} != {field.name for field in fields(EncodingSpec)}:
        raise ValueError(f"spec must hold the parameters of an encoding, got {found!r}")
    labelled = found.pop("labelled", False)
    return replace(EncodingSpec.of(found.pop("depths"), **found), labelled=bool(labelled))


def _checked_rows(file: Arrays, rows: int, columns: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    data, indices, indptr = file["data"], file["indices"], file["indptr"]
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{name} must be one row of integers, got {array.dtype} of shape {array.shape}")
    if len(data) != len(indices):
        raise ValueError(f"there are {len(data)} counts in {len(indices)} places")
    if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indptr must rise from 0 to {len(indices)} in {rows} steps")
    if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
        raise ValueError(f"indices must be columns from 0 to {columns - 1}, got {indices.min()} to {indices.max()}")
    return data, indices, indptr


def _check_table(table: NDArray[Any], columns: int, spec: EncodingSpec) -> None:
    """An error unless the table names so many columns."""
    if table.shape != (columns, spec.width) or table.dtype.kind not in "iu":
        raise ValueError(f"table must be integers of shape {(columns, spec.width)}, got {table.dtype} {table.shape}")
    if not np.isin(table[:, 0], spec.depths).all():
        raise ValueError(f"table must have the depths {list(spec.depths)} in its first column")
    if spec.form == "type":
        return  # a colour may be any number
    least = -1 if spec.learned else 0
    if table.size and table.min() < least:
        raise ValueError(f"table must not hold numbers below {least}, got {table.min()}")
    if spec.form != "joint" and columns and (table[:, 2].max() >= len(KINDS) or (table[:, 1] > table[:, 0]).any()):
        raise ValueError("table must have a distance up to the depth and one of three kinds in each row")


def plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels that a file can hold without pickle: objects become their text, unless two of them have the same.

    >>> plain_labels(np.array([1, "b"], dtype=object)).tolist()
    ['1', 'b']
    """
    if labels.dtype != object:
        return labels
    texts = np.array([str(label) for label in labels.ravel()], dtype=str)
    owners: dict[str, Any] = {}
    for text, label in zip(texts.tolist(), labels.ravel(), strict=True):
        if owners.setdefault(text, label) != label:
            raise ValueError(
                f"nodes {owners[text]!r} and {label!r} would both be saved as {text!r}: rename one of them, "
                "or number them with networkx.convert_node_labels_to_integers"
            )
    return texts.reshape(labels.shape)
