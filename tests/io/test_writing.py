"""Chunked writing: the same as encoding at once, resumable, and whole or not at all."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import elene.io.parts
import elene.io.writing
from elene.encoding import Encoding, encode
from elene.encoding.encoding import encode_rows
from elene.encoding.spec import EncodingSpec
from elene.engine.plan import Rows
from elene.graph import Graph, GraphWarning
from elene.io.writing import check_output, default_chunk, parts_folder, write_encoding

# A triangle with tails, a separate edge and an isolated node.
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (1, 5), (6, 7)]
NAMED = Graph.from_edges(EDGES, num_nodes=9, names=["a", "bb", "c", "d", "e", "long name", "g", "h", "i"])
PLAIN = Graph.from_edges(EDGES, num_nodes=9)
SPECS = [
    EncodingSpec.of([2, 1], level, degrees, form)
    for level in ("node", "edge", "pair")
    for degrees in ("relative", "absolute")
    for form in ("marginal", "joint", "product")
    if (level, form) != ("node", "product")
]


def name(value):
    return "-".join([value.level, value.degrees, value.form]) if isinstance(value, EncodingSpec) else None


def at_once(graph, spec):
    return encode(
        graph,
        spec.depths,
        level=spec.level,
        degrees=spec.degrees,
        form=spec.form,
        max_degree=spec.max_degree,
        radius=spec.radius,
    )


def assert_same(found, expected):
    assert found.spec == expected.spec
    assert found.matrix.shape == expected.matrix.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found.matrix, part), getattr(expected.matrix, part))
    assert found.matrix.dtype == expected.matrix.dtype
    for part in ("table", "nodes", "edges", "distances"):
        one, other = getattr(found, part), getattr(expected, part)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


def tidy(encoding):
    """The rows that a Parquet file must have, from the named columns."""
    rows = []
    matrix = encoding.matrix.tocoo()
    for i, j, count in zip(matrix.row, matrix.col, matrix.data, strict=True):
        column = encoding.columns[j]
        if encoding.edges is None:
            row = {"node": encoding.nodes[i]}
        else:
            row = dict(zip(("source", "target"), encoding.edges[i], strict=True))
        if encoding.distances is not None:
            row["pair_distance"] = encoding.distances[i]
        row["depth"] = column.depth
        if encoding.spec.form != "joint":
            row |= {"distance": column.distance, "kind": column.kind, "value": column.value}
        else:
            fields = ("distance", "degree") if encoding.spec.absolute else ("distance", "closer", "degree", "farther")
            several = encoding.edges is not None
            for reading, numbers in enumerate(column.quadruplet if several else [column.quadruplet], start=1):
                row |= {f"{f}_{reading}" if several else f: n for f, n in zip(fields, numbers, strict=True)}
        rows.append({**row, "count": count})
    return rows


@pytest.mark.parametrize("chunk", [1, 4, 100])
@pytest.mark.parametrize("spec", SPECS, ids=name)
def test_npz_is_what_encoding_at_once_saves(spec, chunk, tmp_path):
    for graph in (NAMED, PLAIN):
        write_encoding(graph, spec, tmp_path / "chunked.npz", chunk=chunk)
        at_once(graph, spec).save(tmp_path / "once.npz")
        assert_same(Encoding.load(tmp_path / "chunked.npz"), Encoding.load(tmp_path / "once.npz"))
        with np.load(tmp_path / "chunked.npz") as chunked, np.load(tmp_path / "once.npz") as once:
            assert set(chunked) == set(once)
    assert {path.name for path in tmp_path.iterdir()} == {"chunked.npz", "once.npz"}


@pytest.mark.parametrize("spec", SPECS, ids=name)
def test_parquet_has_a_row_for_each_count(spec, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for graph in (NAMED, PLAIN):
        written = write_encoding(graph, spec, tmp_path / "out.parquet", chunk=4)
        expected = tidy(at_once(graph, spec))
        table = parquet.read_table(tmp_path / "out.parquet")
        assert table.to_pylist() == expected
        assert table.column_names == list(expected[0])
        assert written.counts == len(expected)
        ends = table.schema.field("node" if spec.level == "node" else "source")
        assert str(ends.type) == ("int64" if graph.names is None else "string")
        file = parquet.ParquetFile(tmp_path / "out.parquet")
        assert file.num_row_groups == -(-written.rows // 4)
        about = json.loads(file.schema_arrow.metadata[b"elene"])
        assert (about["level"], about["form"], about["depths"]) == (spec.level, spec.form, list(spec.depths))


@pytest.mark.parametrize("form", ["marginal", "joint"])
@pytest.mark.parametrize("max_degree", [None, 1, 20])
def test_the_largest_degree_is_that_of_the_whole_graph(form, max_degree, tmp_path):
    spec = EncodingSpec.of(1, form=form, max_degree=max_degree)
    write_encoding(PLAIN, spec, tmp_path / "out.npz", chunk=2)
    found = Encoding.load(tmp_path / "out.npz")
    assert_same(found, at_once(PLAIN, spec))
    assert found.spec.max_degree == max_degree


@pytest.mark.parametrize("ending", ["npz", "parquet"])
@pytest.mark.parametrize("spec", SPECS, ids=name)
def test_a_graph_without_nodes(spec, ending, tmp_path):
    path = tmp_path / f"out.{ending}"
    written = write_encoding(Graph.from_edges([]), spec, path)
    assert (written.rows, written.counts) == (0, 0)
    if ending == "npz":
        assert_same(Encoding.load(path), at_once(Graph.from_edges([]), spec))
    else:
        assert pytest.importorskip("pyarrow.parquet").read_table(path).num_rows == 0


def test_names_of_mixed_kinds_become_text(tmp_path):
    labels = np.empty(3, dtype=object)
    labels[:] = "a", 1, ("b", 2)
    graph = Graph.from_edges([(0, 1), (1, 2)], names=labels)
    write_encoding(graph, EncodingSpec.of(1), tmp_path / "out.npz", chunk=2)
    assert Encoding.load(tmp_path / "out.npz").nodes.tolist() == ["a", "1", "('b', 2)"]


def test_other_graph_types_are_taken(tmp_path):
    nx = pytest.importorskip("networkx")
    assert write_encoding(nx.path_graph(3), EncodingSpec.of(1), tmp_path / "out.npz").rows == 3


class Interrupting:
    """encode_rows that remembers how many rows it was asked for, and is interrupted at one of the calls."""

    def __init__(self, monkeypatch, at=None, error=KeyboardInterrupt):
        self.asked, self.at, self.error = [], at, error
        monkeypatch.setattr(elene.io.writing, "encode_rows", self)

    def __call__(self, graph, spec, rows, threads):
        if len(rows):
            if len(self.asked) == self.at:
                raise self.error
            self.asked.append(rows.first.tolist())
        return encode_rows(graph, spec, rows, threads)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_resuming_computes_only_what_is_missing(form, ending, tmp_path, monkeypatch):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    spec, path = EncodingSpec.of([1, 2], form=form), tmp_path / f"out.{ending}"
    write_encoding(NAMED, spec, path, chunk=2)
    whole = path.read_bytes()
    path.unlink()
    Interrupting(monkeypatch, at=3)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(NAMED, spec, path, chunk=2)
    assert not path.exists()
    assert sorted(p.name for p in parts_folder(path).iterdir()) == [
        "manifest.json",
        "part-000000.npz",
        "part-000001.npz",
        "part-000002.npz",
    ]
    rest, reports = Interrupting(monkeypatch), []
    write_encoding(NAMED, spec, path, chunk=2, resume=True, report=lambda *report: reports.append(report))
    assert rest.asked == [[6, 7], [8]]
    assert path.read_bytes() == whole
    assert not parts_folder(path).exists()
    assert reports[:3] == [("encoding", 6, 9), ("encoding", 8, 9), ("encoding", 9, 9)]
    assert reports[-1][0] == "writing" and reports[-1][1] == reports[-1][2]


def test_a_broken_part_is_computed_again(tmp_path, monkeypatch):
    spec, path = EncodingSpec.of(1), tmp_path / "out.npz"
    Interrupting(monkeypatch, at=3)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(PLAIN, spec, path, chunk=2)
    broken = parts_folder(path) / "part-000001.npz"
    broken.write_bytes(broken.read_bytes()[:50])
    rest = Interrupting(monkeypatch)
    with pytest.warns(GraphWarning, match=r"part-000001\.npz is damaged: computing it again"):
        write_encoding(PLAIN, spec, path, chunk=2, resume=True)
    assert rest.asked == [[2, 3], [6, 7], [8]]
    assert_same(Encoding.load(path), at_once(PLAIN, spec))


def test_without_resume_everything_is_computed_anew(tmp_path, monkeypatch):
    spec, path = EncodingSpec.of(1), tmp_path / "out.npz"
    Interrupting(monkeypatch, at=3)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(PLAIN, spec, path, chunk=2)
    again = Interrupting(monkeypatch)
    write_encoding(PLAIN, spec, path, chunk=2)
    assert sum(map(len, again.asked)) == 9


def test_a_folder_of_something_else_is_kept(tmp_path):
    path = tmp_path / "out.npz"
    parts_folder(path).mkdir()
    (parts_folder(path) / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="is in the way"):
        write_encoding(PLAIN, EncodingSpec.of(1), path)
    assert (parts_folder(path) / "thesis.txt").exists()


def test_resuming_nothing_starts_at_the_beginning(tmp_path):
    spec = EncodingSpec.of(1)
    write_encoding(PLAIN, spec, tmp_path / "out.npz", chunk=2, resume=True)
    assert_same(Encoding.load(tmp_path / "out.npz"), at_once(PLAIN, spec))


@pytest.mark.parametrize(
    ("graph", "spec", "chunk", "complaint"),
    [
        (PLAIN, EncodingSpec.of(2), 2, r"made with depths=\[1\], and now it is depths=\[2\]"),
        (PLAIN, EncodingSpec.of(1, "edge"), 2, r"level='node', rows=9, and now it is level='edge', rows=7"),
        (PLAIN, EncodingSpec.of(1, max_degree=3), 2, r"max_degree=None, and now it is max_degree=3"),
        (PLAIN, EncodingSpec.of(1), 3, r"chunk=2, and now it is chunk=3"),
        (NAMED, EncodingSpec.of(1), 2, r"graph='9 nodes, 7 edges, digest"),
        (Graph.from_edges(EDGES[1:], num_nodes=9), EncodingSpec.of(1), 2, r"now it is graph='9 nodes, 6 edges"),
    ],
)
def test_resuming_something_else_says_what_differs(graph, spec, chunk, complaint, tmp_path, monkeypatch):
    path = tmp_path / "out.npz"
    Interrupting(monkeypatch, at=1)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(PLAIN, EncodingSpec.of(1), path, chunk=2)
    with pytest.raises(ValueError, match=complaint):
        write_encoding(graph, spec, path, chunk=chunk, resume=True)
    assert (parts_folder(path) / "part-000000.npz").exists()


def test_resuming_parts_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "out.npz"
    Interrupting(monkeypatch, at=1)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(PLAIN, EncodingSpec.of(1), path, chunk=2)
    monkeypatch.setattr(elene.io.parts, "__version__", "999")
    with pytest.raises(ValueError, match="now it is elene='999'"):
        write_encoding(PLAIN, EncodingSpec.of(1), path, chunk=2, resume=True)


@pytest.mark.parametrize("text", [None, "", "{", "3"])
def test_resuming_without_a_readable_manifest_is_refused(text, tmp_path):
    path = tmp_path / "out.npz"
    parts_folder(path).mkdir()
    if text is not None:
        (parts_folder(path) / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match="no readable manifest"):
        write_encoding(PLAIN, EncodingSpec.of(1), path, resume=True)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_failure_while_writing_leaves_the_old_file_and_no_other(ending, tmp_path, monkeypatch):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    spec, path = EncodingSpec.of(1), tmp_path / f"out.{ending}"
    path.write_text("what was there before")

    def full(stage, done, total):
        if stage == "writing" and done == 1:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_encoding(PLAIN, spec, path, chunk=2, report=full)
    assert path.read_text() == "what was there before"
    assert {p.name for p in tmp_path.iterdir()} == {path.name, parts_folder(path).name}
    rest = Interrupting(monkeypatch)
    write_encoding(PLAIN, spec, path, chunk=2, resume=True)
    assert rest.asked == []
    assert {p.name for p in tmp_path.iterdir()} == {path.name}


def test_a_failure_while_encoding_leaves_whole_parts_only(tmp_path, monkeypatch):
    path = tmp_path / "out.npz"
    Interrupting(monkeypatch, at=1, error=MemoryError)
    with pytest.raises(MemoryError):
        write_encoding(PLAIN, EncodingSpec.of(1), path, chunk=2)
    assert {p.name for p in tmp_path.iterdir()} == {parts_folder(path).name}
    assert {p.name for p in parts_folder(path).iterdir()} == {"manifest.json", "part-000000.npz"}


def test_bad_outputs_are_refused_before_any_work(tmp_path, monkeypatch):
    nothing = Interrupting(monkeypatch)
    (tmp_path / "folder.npz").mkdir()
    for path, error, complaint in (
        ("out.txt", ValueError, r"must end in \.npz or \.parquet"),
        ("missing/out.npz", FileNotFoundError, "does not exist: create it first"),
        ("folder.npz", IsADirectoryError, "is a folder"),
    ):
        with pytest.raises(error, match=complaint):
            write_encoding(PLAIN, EncodingSpec.of(1), tmp_path / path)
    for chunk, kind in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(kind, match="chunk must be"):
            write_encoding(PLAIN, EncodingSpec.of(1), tmp_path / "out.npz", chunk=chunk)
    assert nothing.asked == []
    assert {p.name for p in tmp_path.iterdir()} == {"folder.npz"}


def test_parquet_without_pyarrow_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "elene\[io\]"'):
        check_output(tmp_path / "out.parquet")


def test_default_chunk_shrinks_with_the_work_of_a_row():
    star = Graph.from_edges([(0, i) for i in range(1, 3000)])
    everyone = Rows(np.arange(3000))
    by_depth = [default_chunk(star, EncodingSpec.of(k), everyone) for k in (1, 2, 3)]
    assert by_depth[0] == 100_000
    assert by_depth[0] > by_depth[1] >= by_depth[2] >= 1
    both = Rows(star.edges[:, 0].astype(np.int64), star.edges[:, 1].astype(np.int64))
    assert default_chunk(star, EncodingSpec.of(2, "edge"), both) <= by_depth[1]
    assert default_chunk(star, EncodingSpec.of(1), Rows(np.arange(0))) == 1
    assert default_chunk(Graph.from_edges([], num_nodes=3), EncodingSpec.of(3), Rows(np.arange(3))) == 100_000


@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_great_depths_on_a_network_of_hubs(form, tmp_path):
    hubs = Graph.from_edges([(i % 7, i) for i in range(7, 300)] + [(i, i + 1) for i in range(6)])
    rows = Rows(np.arange(hubs.num_nodes))
    assert default_chunk(hubs, EncodingSpec.of(300), rows) == default_chunk(hubs, EncodingSpec.of(3000), rows) >= 1
    written = write_encoding(hubs, EncodingSpec.of([300, 10], form=form), tmp_path / "out.npz")
    assert written.reach == 8
    assert_same(Encoding.load(tmp_path / "out.npz"), at_once(hubs, EncodingSpec.of([300, 10], form=form)))


def test_a_great_depth_in_the_joint_form_takes_no_memory_for_it(tmp_path):
    write_encoding(PLAIN, EncodingSpec.of([10**9, 1], form="joint"), tmp_path / "out.npz", chunk=4)
    assert_same(Encoding.load(tmp_path / "out.npz"), at_once(PLAIN, EncodingSpec.of([10**9, 1], form="joint")))
