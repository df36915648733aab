"""Wide tables: a row for each node, edge or pair, with its name and a readable column for each count, as
:meth:`elene.Encoding.to_arrow` gives it; written in blocks that fit in memory, however many columns there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.encoding.encoding import Encoding
from elene.engine.plan import Rows
from elene.extras import needing
from elene.io.parts import Parts, cut, file_labels

CELLS = 2**24  # of a block: 64 MB of counts
Report = Callable[[str, int, int], None]


def write_wide(parts: Parts, path: Path, tell: Report, compact: bool) -> int:
    """Write all parts as one table, Parquet or CSV; gives the number of columns that hold counts.

    Args:
        parts: the finished parts.
        path: the file; its ending decides the format.
        tell: called with the stage, the parts that are written, and all.
        compact: leave out the columns that are zero everywhere.
    """
    columns = _used(parts) if compact else np.arange(len(parts.table))
    schema = _block(parts, cut(parts.rows, 0, 0), csr_array((0, len(columns)), dtype=np.int32), columns).schema
    with _writer(path, schema) as writer:
        for number in range(len(parts)):
            tell("writing", number, len(parts))
            for table in _blocks(parts, number, columns):
                writer.write_table(table)
    tell("writing", len(parts), len(parts))
    return len(columns)


def verify_wide(parts: Parts, path: Path) -> int:
    """How many rows the file holds, once all of it is read again."""
    pa = _pyarrow()
    if path.suffix == ".parquet":
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            return sum(file.read_row_group(number).num_rows for number in range(file.num_row_groups))
    name = _block(parts, cut(parts.rows, 0, 0), csr_array((0, 0), dtype=np.int32), np.empty(0, np.int64)).column_names[
        0
    ]
    options = {
        "parse_options": pa.csv.ParseOptions(newlines_in_values=True),
        "convert_options": pa.csv.ConvertOptions(include_columns=[name], column_types={name: pa.string()}),
    }
    with pa.csv.open_csv(path, **options) as reader:
        return sum(batch.num_rows for batch in reader)


def _used(parts: Parts) -> NDArray[np.int64]:
    used = np.zeros(len(parts.table), bool)
    for number in range(len(parts)):
        used[parts.columns(number)] = True
    return np.flatnonzero(used)


def _blocks(parts: Parts, number: int, columns: NDArray[np.int64]) -> Iterator[Any]:
    """The rows of a part, some at a time."""
    rows = parts.rows_of(number)
    counts = (parts.load(number, "data"), parts.columns(number), parts.load(number, "indptr"))
    matrix = csr_array(counts, shape=(len(rows), len(parts.table)))
    step = max(1, CELLS // max(1, len(columns)))
    for start in range(0, len(rows), step):
        yield _block(parts, cut(rows, start, start + step), matrix[start : start + step][:, columns], columns)


def _block(parts: Parts, rows: Rows, matrix: csr_array, columns: NDArray[np.int64]) -> Any:
    labels, table = file_labels(parts.graph), parts.table[columns]
    if rows.second is None:
        named: dict[str, Any] = {"nodes": labels[rows.first]}
    else:
        ends = np.stack([labels[rows.first], labels[rows.second]], axis=1)
        named = {"edges": ends, "distances": rows.distance}
    return Encoding(matrix, table, parts.spec, **named, label_names=parts.graph.label_names).to_arrow()


def _writer(path: Path, schema: Any) -> Any:
    pa = _pyarrow()
    if path.suffix == ".csv":
        return pa.csv.CSVWriter(path, schema)
    return pa.parquet.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True)


def _pyarrow() -> Any:
    with needing("io", "writing tables"):
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    return pyarrow
