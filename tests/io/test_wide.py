"""Wide tables are what Encoding.to_arrow gives, whatever the chunks and blocks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from elene import encode
from elene.encoding.spec import EncodingSpec
from elene.io import wide, writing
from elene.io.writing import write_encoding

GRAPH = nx.relabel_nodes(nx.barbell_graph(4, 2), lambda node: f'the "{node}",\nof all')


@pytest.mark.parametrize("level", ["node", "edge", "pair"])
@pytest.mark.parametrize("form", ["marginal", "joint"])
@pytest.mark.parametrize(
    "ending, layout", [("csv", None), ("csv", "compact"), ("parquet", "wide"), ("parquet", "compact")]
)
def test_files_hold_the_table(tmp_path, monkeypatch, level, form, ending, layout):
    monkeypatch.setattr(wide, "CELLS", 100)
    path = tmp_path / f"out.{ending}"
    written = write_encoding(GRAPH, EncodingSpec.of([1, 2], level, form=form), path, chunk=3, layout=layout)
    expected = encode(GRAPH, [1, 2], level=level, form=form, compact=layout == "compact")
    read = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    table = expected.to_arrow().to_pandas()
    assert read.columns.tolist() == table.columns.tolist() and written[:2] == expected.shape
    assert (read.to_numpy() == table.to_numpy()).all()


def test_no_rows(tmp_path):
    write_encoding(nx.empty_graph(0), EncodingSpec.of(1), tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv").columns.tolist()[:2] == ["node", "k1.distance0.closer0"]
    write_encoding(nx.empty_graph(0), EncodingSpec.of(1), tmp_path / "out.parquet", layout="compact")
    assert pd.read_parquet(tmp_path / "out.parquet").columns.tolist() == ["node"]


def test_numbers_stay_numbers(tmp_path):
    write_encoding(nx.path_graph(3), EncodingSpec.of(1), tmp_path / "out.csv")
    assert (pd.read_csv(tmp_path / "out.csv").dtypes == np.int64).all()


def test_a_file_that_is_cut_is_not_kept(tmp_path, monkeypatch):
    def cut_short(parts, path, tell, compact):
        wide.write_wide(parts, path, tell, compact)
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))

    monkeypatch.setattr(writing, "_WIDE", (cut_short, writing._verify_wide))
    monkeypatch.setattr(writing, "write_wide", cut_short)
    with pytest.raises(OSError, match="it has 2 rows, for 3"):
        write_encoding(nx.path_graph(3), EncodingSpec.of(1), tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_layout_that_does_not_fit(tmp_path):
    with pytest.raises(ValueError, match=r"layout='wide' \(--wide\) is for .parquet and .csv"):
        write_encoding(nx.path_graph(3), EncodingSpec.of(1), tmp_path / "out.npz", layout="wide")
    with pytest.raises(ValueError, match="layout must be one of None, 'wide', 'compact'"):
        write_encoding(nx.path_graph(3), EncodingSpec.of(1), tmp_path / "out.csv", layout="long")
