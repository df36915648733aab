"""The graph on disk: the same graph as in memory, whatever files it came from; damage is named; nothing half-built."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import elene
import elene.cluster.build
from elene import Graph, GraphStore
from elene.cluster.store import Manifest, content_digest
from elene.encoding.encoding import find_rows, rows_between
from elene.encoding.spec import EncodingSpec
from graphs import SHAPES

pytestmark = [pytest.mark.jit, pytest.mark.filterwarnings("ignore::elene.GraphWarning")]


def table_of(graph, name=lambda node: node, seed=0):
    """Rows in a random order and direction, some twice, and a loop."""
    rng = np.random.default_rng(seed)
    rows = [(name(u), name(v)) if rng.random() < 0.5 else (name(v), name(u)) for u, v in graph.edges]
    rows += rows[: len(rows) // 3] + [(v, u) for u, v in rows[:2]] + [rows[0][:1] * 2] * bool(rows)
    return pd.DataFrame([rows[i] for i in rng.permutation(len(rows))], columns=["source", "target"])


@pytest.fixture
def network():
    return nx.disjoint_union(nx.powerlaw_cluster_graph(60, 3, 0.6, seed=1), nx.star_graph(9))


def written(table, folder, ending):
    path = folder / f"edges{ending}"
    if ending == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    return path


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz", ".tsv"])
@pytest.mark.parametrize(
    "name",
    [lambda node: node, lambda node: 7 * node - 30, lambda node: f"né {node:03d}", lambda node: f"{node:03d}"],
    ids=["plain", "gaps", "texts", "padded"],
)
def test_a_store_is_the_graph_that_is_read_from_the_same_file(ending, name, network, tmp_path):
    path = written(table_of(network, name), tmp_path, ending)
    header = None if ending == ".parquet" else True  # zeros in front make of names what a header might be
    graph = Graph.read(path, undirected=True, header=header)
    store = GraphStore.build(path, tmp_path / "graph.elene", memory="200MB", header=header)
    assert store == graph and isinstance(store, Graph)
    assert (store.names is None) == (graph.names is None)
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(store.ranked, graph.ranked, strict=True))
    told = store.manifest
    assert (told.nodes, told.edges, told.max_degree) == (graph.num_nodes, graph.num_edges, graph.max_degree)
    assert told.loops == 1 and told.rows == told.edges + told.loops + told.repeated
    assert store.positions(graph.nodes).tolist() == list(range(graph.num_nodes))
    with pytest.raises(ValueError, match=r"node 10001 is not in the graph"):
        store.positions([10001])


def test_several_files_make_one_store(network, tmp_path):
    table = table_of(network)
    files = [written(part, folder, ending) for part, folder, ending in (
        (table[:50], tmp_path, ".parquet"), (table[50:90], tmp_path, ".csv"), (table[90:], tmp_path, ".tsv"),
    )]  # fmt: skip
    store = GraphStore.build(files, tmp_path / "graph.elene")
    table.to_parquet(tmp_path / "all.parquet")
    assert store == Graph.read(tmp_path / "all.parquet")


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("level", ["node", "edge"])
@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_a_store_is_taken_wherever_a_graph_is(k, level, form, network, tmp_path):
    path = written(table_of(network), tmp_path, ".parquet")
    graph, store = Graph.read(path, undirected=True), GraphStore.build(path, tmp_path / "graph.elene")
    ours, theirs = (elene.encode(one, k, level=level, form=form) for one in (store, graph))
    for a, b in ((ours.matrix.data, theirs.matrix.data), (ours.matrix.indices, theirs.matrix.indices)):
        assert a.tobytes() == b.tobytes()
    assert np.array_equal(ours.table, theirs.table)
    assert elene.fingerprint(store, k) == elene.fingerprint(graph, k)
    assert not elene.compare(store, graph).distinguished
    assert elene.quadruplets(store, 3, k) == elene.quadruplets(graph, 3, k)
    assert Graph.read(tmp_path / "graph.elene") == graph
    assert isinstance(pickle.loads(pickle.dumps(store)), GraphStore)


@pytest.mark.parametrize("shape", list(SHAPES))
def test_shapes(shape, tmp_path):
    graph = SHAPES[shape]
    pd.DataFrame(list(graph.edges), columns=["source", "target"], dtype="int64").to_parquet(tmp_path / "e.parquet")
    pd.DataFrame({"node": list(graph.nodes)}, dtype="int64").to_parquet(tmp_path / "n.parquet")
    store = GraphStore.build(tmp_path / "e.parquet", tmp_path / "s.elene", nodes=tmp_path / "n.parquet")
    assert store == Graph.from_networkx(graph)
    assert store.manifest.loops == store.manifest.repeated == 0
    assert repr(elene.encode(store, 1)) == repr(elene.encode(graph, 1))


@pytest.mark.parametrize("level", ["node", "edge", "pair"])
def test_rows_of_ranges_are_all_rows(level, network):
    graph, spec = Graph.from_networkx(network), EncodingSpec.of(2, level, radius=2 if level == "pair" else None)
    whole = find_rows(graph, spec, None)
    cuts = [0, 0, 13, 40, graph.num_nodes]
    parts = [rows_between(graph, spec, a, b) for a, b in pairwise(cuts)]
    for field in ("first", "second", "distance"):
        found, wanted = [getattr(part, field) for part in parts], getattr(whole, field)
        assert (wanted is None and found == [None] * 4) or np.array_equal(np.concatenate(found), wanted)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "classes", [[4, 1, 4, 0], [4, -1, 4, 0], ["red", "green", "red", "blue"]], ids=["integers", "below 0", "texts"]
)
def test_labels_and_isolated_nodes_come_from_a_table_of_nodes(ending, classes, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nb,a\na,c\n")
    table = pd.DataFrame({"colour": classes, "node": ["c", "alone", "a", "b"]})
    nodes = tmp_path / f"nodes{ending}"
    table.to_csv(nodes, index=False) if ending == ".csv" else table.to_parquet(nodes)
    store = GraphStore.build(tmp_path / "edges.csv", tmp_path / "s.elene", nodes=nodes, label="colour")
    assert store.nodes.tolist() == ["a", "alone", "b", "c"] and store.edges.tolist() == [[0, 2], [0, 3]]
    graph = Graph.from_edges(store.edges, names=store.nodes, labels=dict(zip(table["node"], classes, strict=True)))
    assert store == graph and store.label_values.tolist() == graph.label_values.tolist()
    assert (store.label_names is None) == (graph.label_names is None)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ['the "node"', "node's", "node\\id"])
def test_columns_of_nodes_may_have_any_name(ending, name, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nb,a\na,c\n")
    table, nodes = pd.DataFrame({name: ["c", "b", "a"], f"{name}: class": [1, 0, 1]}), tmp_path / f"nodes{ending}"
    table.to_csv(nodes, index=False) if ending == ".csv" else table.to_parquet(nodes)
    store = GraphStore.build(tmp_path / "edges.csv", tmp_path / "s.elene", nodes=nodes, label=f"{name}: class")
    assert store.nodes.tolist() == ["a", "b", "c"] and store.labels.tolist() == [1, 0, 1]


def test_a_store_is_known_by_the_name_it_was_opened_with(tmp_path, monkeypatch):
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n")
    GraphStore.build(tmp_path / "edges.csv", tmp_path / "here.elene")
    (tmp_path / "everywhere.elene").symlink_to(tmp_path / "here.elene")
    monkeypatch.chdir(tmp_path)
    assert GraphStore.open("everywhere.elene").folder == tmp_path / "everywhere.elene"


def test_labels_that_do_not_fit_are_named(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n2,3\n")
    build = lambda text, **options: (  # noqa: E731
        (tmp_path / "nodes.csv").write_text(text),
        GraphStore.build(tmp_path / "edges.csv", tmp_path / "s.elene", nodes=tmp_path / "nodes.csv", **options),
    )
    with pytest.raises(ValueError, match="3 has no label"):
        build("node,c\n1,0\n2,1\n", label="c")
    with pytest.raises(ValueError, match="2 has several rows"):
        build("node,c\n1,0\n2,1\n2,0\n3,1\n", label="c")
    with pytest.raises(ValueError, match="label='d' is not a column"):
        build("node,c\n1,0\n", label="d")
    with pytest.raises(ValueError, match="label='c' is a column of the table of nodes: pass nodes="):
        GraphStore.build(tmp_path / "edges.csv", tmp_path / "s.elene", label="c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]


def test_a_truncated_or_changed_store_is_refused_by_name_of_the_array(network, tmp_path):
    path, folder = written(table_of(network, "n{}".format), tmp_path, ".csv"), tmp_path / "graph.elene"
    arrays = list(GraphStore.build(path, folder).manifest.arrays)
    assert {"indptr", "indices", "names", "pointers", "ranked", "split"} == set(arrays)
    for name in arrays:
        file = folder / f"{name}.npy"
        whole = file.read_bytes()
        for damaged in (whole[:-4], whole[:-1] + bytes([whole[-1] ^ 1]), whole.replace(b"<", b">", 1), b""):
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match=re.escape(f"the array {name!r} is not as it was written")):
                GraphStore.open(folder)
        file.unlink()
        with pytest.raises(ValueError, match=f"lacks the array {name!r}"):
            GraphStore.open(folder)
        file.write_bytes(whole)
    GraphStore.open(folder, verify=True).verify()
    text = (folder / "manifest.json").read_text()
    for damaged in (text[: len(text) // 2], "[]", "{}", text.replace('"blake2b": "', '"blake2b": "0')):
        (folder / "manifest.json").write_text(damaged)
        with pytest.raises(ValueError, match=r"manifest\.json"):
            GraphStore.open(folder)


def test_large_arrays_are_compared_with_their_digests_when_asked(network, tmp_path, monkeypatch):
    monkeypatch.setattr("elene.cluster.store.SMALL", 0)
    folder = tmp_path / "graph.elene"
    store = GraphStore.build(written(table_of(network), tmp_path, ".csv"), folder)
    content = (folder / "ranked.npy").read_bytes()
    (folder / "ranked.npy").write_bytes(content[:-1] + b"\1")
    GraphStore.open(folder)
    for look in (store.verify, lambda: GraphStore.open(folder, verify=True)):
        with pytest.raises(ValueError, match="the array 'ranked' is not as it was written"):
            look()


@pytest.mark.parametrize("step", ["_read", "_name", "_sort", "_rank"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_build_that_is_stopped_leaves_nothing(step, error, network, tmp_path, monkeypatch):
    path = written(table_of(network), tmp_path, ".csv")
    usual = getattr(elene.cluster.build._Build, step)

    def stopped(self, *arguments):
        usual(self, *arguments)
        raise error("stopped")

    monkeypatch.setattr(elene.cluster.build._Build, step, stopped)
    with pytest.raises(error):
        GraphStore.build(path, tmp_path / "graph.elene")
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]


def test_what_a_killed_build_left_is_no_obstacle(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(1000)))
    script = (
        "import elene, elene.cluster.build as b, time\n"
        "b._Build._rank = lambda *_: (print('here', flush=True), time.sleep(60))\n"
        f"elene.GraphStore.build({str(path)!r}, {str(tmp_path / 'graph.elene')!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout.readline()
    with pytest.raises(BlockingIOError, match=f"is being built by process {process.pid}"):
        GraphStore.build(path, tmp_path / "graph.elene")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (tmp_path / ".graph.elene.part").exists()
    GraphStore.build(path, tmp_path / "graph.elene")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "graph.elene"]
    with pytest.raises(FileExistsError, match="is there already"):
        GraphStore.build(path, tmp_path / "graph.elene")


@pytest.mark.parametrize(
    ("content", "options", "complaint"),
    [
        ("source,target\n1,2\n3,\n", {}, "1 rows of the files miss an end"),
        ("a,b\nc,d\n", {}, "it does not show whether the first line .* is a header or an edge"),
        ("source,target\n1,2\n1,2,3\n", {}, "line|Expected|column"),
        ("1  2\n2  3\n", {}, "several spaces"),
        ("source,target\n1,2\n", {"memory": "much"}, 'memory must be a text such as "2GB"'),
        ("source,target\n1,2\n", {"memory": "1MB"}, "memory must be at least 100MB"),
        ("source,target\n1,2\n", {"source": "who"}, "pass both source= and target="),
    ],
)
def test_bad_files_are_named(content, options, complaint, tmp_path):
    (tmp_path / "edges.csv").write_text(content)
    with pytest.raises(ValueError, match=complaint):
        GraphStore.build(tmp_path / "edges.csv", tmp_path / "s.elene", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]


def test_texts_beside_integers_are_refused(tmp_path):
    pd.DataFrame({"source": [1], "target": [2]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"source": ["x"], "target": ["y"]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="names are integers in some files, and in others texts such as 'x'"):
        GraphStore.build([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "s.elene")
    with pytest.raises(FileNotFoundError, match="no such file"):
        GraphStore.build(tmp_path / "c.parquet", tmp_path / "s.elene")
    with pytest.raises(ValueError, match="at least one file"):
        GraphStore.build([], tmp_path / "s.elene")


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("level", ["node", "edge"])
def test_pointers_of_64_bits_count_the_same(k, level, network, tmp_path, monkeypatch):
    path = written(table_of(network), tmp_path, ".parquet")
    narrow = GraphStore.build(path, tmp_path / "narrow.elene")
    monkeypatch.setattr(elene.cluster.build, "WIDE", 0)
    wide = GraphStore.build(path, tmp_path / "wide.elene")
    assert (narrow.ranked.pointers.dtype, wide.ranked.pointers.dtype) == (np.uint32, np.uint64)
    ours, theirs = elene.encode(wide, k, level=level), elene.encode(narrow, k, level=level)
    assert (ours.matrix != theirs.matrix).nnz == 0


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("level", ["node", "edge"])
def test_lists_beyond_four_billion_arcs(k, level, network, tmp_path):
    """In front of a small graph stands a node whose list of 2^32 entries is a hole in the file, which nobody reads."""
    small, hole = Graph.from_networkx(network), 2**32 + 7
    pointers = np.concatenate([[0], hole + small.indptr])
    arrays = {
        "indptr": pointers,
        "pointers": pointers.astype(np.uint64),
        "split": np.concatenate([[hole], hole + small.ranked.split.astype(np.uint64)]).astype(np.uint64),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    for name, array in (("indices", small.indices), ("ranked", small.ranked.neighbours)):
        room = np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", array.dtype, (hole + len(array),))
        room[hole:] = array + 1
    for name in ("indices", "ranked"):
        assert os.stat(tmp_path / f"{name}.npy").st_blocks * 512 < 10**6 < os.stat(tmp_path / f"{name}.npy").st_size
    about = {}
    for path in tmp_path.glob("*.npy"):
        array, digest = np.load(path, mmap_mode="r"), ""
        if path.stat().st_size < 2**24:
            digest = elene.cluster.store.digest_of(path)
        about[path.stem] = {
            "dtype": array.dtype.str, "length": len(array), "bytes": path.stat().st_size, "blake2b": digest,
        }  # fmt: skip
    n, m = small.num_nodes + 1, (hole + len(small.indices)) // 2
    Manifest(n, m, small.max_degree, m, 0, 0, None, about, content_digest(about)).write(tmp_path)
    store = GraphStore.open(tmp_path)
    assert store.num_edges > 2**31
    roots = small.edges[:60] if level == "edge" else np.arange(small.num_nodes)
    theirs = elene.encode(small, k, level=level, roots=roots)
    ours = elene.encode(store, k, level=level, roots=roots + 1)
    for a, b in ((ours.matrix.data, theirs.matrix.data), (ours.matrix.indices, theirs.matrix.indices)):
        assert a.tobytes() == b.tobytes()


def test_opening_allocates_nothing(network, tmp_path):
    """Arrays of a store are mapped, all of them, also those that kernels scan."""
    store = GraphStore.build(written(table_of(network, "n{}".format), tmp_path, ".csv"), tmp_path / "graph.elene")
    maps = (line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines())
    mapped = {os.path.basename(name) for name in maps if str(tmp_path) in name}
    assert mapped == {f"{name}.npy" for name in store.manifest.arrays}
    for array in (store.indptr, store.indices, store.names, *store.ranked, *store.scanned):
        assert not array.flags.owndata and not array.flags.writeable


def test_comments_in_front_of_a_packed_text(tmp_path):
    """A packed text with comments in front, as many networks are handed out."""
    with gzip.open(tmp_path / "net.txt.gz", "wt") as file:
        file.write("# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n10\t20\n20\t30\n")
    store = GraphStore.build(tmp_path / "net.txt.gz", tmp_path / "s.elene")
    assert store.nodes.tolist() == [10, 20, 30] and store.num_edges == 2
    assert json.loads((tmp_path / "s.elene" / "manifest.json").read_text())["rows"] == 2
