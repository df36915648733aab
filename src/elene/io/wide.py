"""Wide tables: a row for each node, edge or pair, with its name and a readable column for each count, as
:meth:`elene.Encoding.to_arrow` gives it; written in blocks that fit in memory, however many columns there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from elene.encoding.encoding import with_names
from elene.encoding.tables import name_columns
from elene.io.parts import Parts
from elene.io.tidy import arrow

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
    no_rows = csr_array((0, len(columns)), dtype=np.int32)
    nothing = replace(parts.empty, matrix=no_rows, table=parts.table[columns])
    with table_writer(path, nothing.to_arrow().schema) as writer:
        for number in range(len(parts)):
            tell("writing", number, len(parts))
            for table in _blocks(parts, number, columns):
                writer.write_table(table)
    tell("writing", len(parts), len(parts))
    return len(columns)


def verify_wide(parts: Parts, path: Path) -> int:
    """How many rows the file holds, once all of it is read again."""
    pa = arrow()
    if path.suffix == ".parquet":
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            return sum(file.read_row_group(number).num_rows for number in range(file.num_row_groups))
    name = next(iter(name_columns(parts.empty)))
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
    rows, matrix = parts.rows_of(number), parts.matrix(number)
    step = max(1, CELLS // max(1, len(columns)))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        counts, table = matrix[some][:, columns], parts.table[columns]
        yield with_names(parts.graph, parts.spec, rows.at(some), counts, table).to_arrow()


def table_writer(path: Path, schema: Any) -> Any:
    """What writes tables into a file one behind the other, as Parquet or CSV by its ending."""
    pa = arrow()
    if path.suffix == ".csv":
        return pa.csv.CSVWriter(path, schema)
    return pa.parquet.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True)
