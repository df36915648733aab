"""Tidy tables: a row for each count that is not zero, with what is encoded, what is counted, and the count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elene.encoding import Encoding
from elene.encoding.archive import plain_labels
from elene.encoding.spec import KINDS, EncodingSpec, Quadruplet
from elene.encoding.tables import name_columns
from elene.extras import needing


def arrow() -> Any:
    """Arrow, with all that tables are written by."""
    with needing("io", "writing tables"):
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    return pyarrow


def tidy_table(encoding: Encoding) -> Any:
    """An Arrow table of all counts of an encoding, row by row.

    >>> import networkx as nx
    >>> from elene import encode
    >>> tidy_table(encode(nx.path_graph(2), k=1)).slice(0, 2).to_pylist()[1]["kind"]
    'degree'
    """
    pa = arrow()
    matrix = encoding.matrix
    per_row = np.diff(matrix.indptr)
    fields = {name: _repeated(plain_labels(names), per_row) for name, names in name_columns(encoding).items()}
    if "pair_distance" in fields:
        fields["pair_distance"] = fields["pair_distance"].cast("int32")
    for name, values in zip(column_fields(encoding.spec), encoding.table.T, strict=True):
        fields[name] = pa.array(_called(name, values, encoding)[matrix.indices])
    if "kind" in fields:
        fields["kind"] = pa.DictionaryArray.from_arrays(fields["kind"].cast("int8"), KINDS)
    fields.pop("known", None)
    return pa.table({**fields, "count": pa.array(matrix.data)})


def _called(name: str, values: NDArray[np.int64], encoding: Encoding) -> NDArray[Any]:
    """What a table shows of a field of all columns."""
    if name == "type":
        return np.array([f"{color:016x}" for color in values.view(np.uint64).tolist()], dtype="U16")
    if name.startswith("label"):
        return values if encoding.label_names is None else encoding.label_names[values]
    return values.astype(np.int32)


def _repeated(names: NDArray[Any], times: NDArray[Any]) -> Any:
    pa = arrow()
    if names.dtype.kind in "iu":
        return pa.array(np.repeat(names, times))
    return pa.array(names).take(pa.array(np.repeat(np.arange(len(names)), times)))


def column_fields(spec: EncodingSpec) -> list[str]:
    """The names of the columns that say what is counted.

    >>> column_fields(EncodingSpec.of(1))
    ['depth', 'distance', 'kind', 'value']
    """
    if spec.form == "type":
        return ["depth", "known", "type"]
    label = ["label"] * spec.labelled
    if spec.form != "joint":
        return ["depth", "distance", "kind", "value", *label]
    fields = [*(["distance", "degree"] if spec.absolute else Quadruplet._fields), *label]
    if spec.level == "node":
        return ["depth", *fields]
    return ["depth", *(f"{name}_{reading}" for reading in (1, 2) for name in fields)]
