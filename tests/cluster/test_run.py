"""The same bytes, whoever makes the parts and whatever happens to them: here, on one worker, on two, after every fault.

Faults that kill processes or start clusters of their own run with ``ELENE_FAULTS=some``; with ``all`` (that is ``make
faults``), on every network, depth and level.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

import elene
from elene import Graph, GraphStore
from elene.cluster.dask import SETTINGS, local_client
from elene.cluster.parts import cut_parts, encode_part
from elene.encoding.spec import EncodingSpec
from elene.io.tidy import tidy_table
from elene.io.writing import write_encoding
from faults import FullDisk, Killed, Logged

pytestmark = pytest.mark.jit

NETWORKS = ("hep-th", "PGPgiantcompo", "musae_lastfm")
WAYS = list(product((1, 2), ("node", "edge")))
PARTS = 6
SHORT = {"distributed.comm.timeouts.connect": "2s", "distributed.comm.retry.count": 0}
ALONE = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0", "silence_logs": 60}


SOME = [("generated", 2, "node"), ("hep-th", 1, "edge"), ("PGPgiantcompo", 2, "node"), ("musae_lastfm", 2, "edge")]
ALL = list(product(("generated", *NETWORKS), (1, 2), ("node", "edge")))
FAULTS = ALL if os.environ.get("ELENE_FAULTS") == "all" else SOME
by_hand = pytest.mark.skipif(
    "ELENE_FAULTS" not in os.environ, reason="starts clusters of its own: set ELENE_FAULTS=some"
)


def small_world(n, seed=0):
    """Edges near by, some far away, and a hub."""
    rng = np.random.default_rng(seed)
    near = [(u, (u + step) % n) for u in range(n) for step in (1, 2, 3) if rng.random() < 0.8]
    return [*near, *rng.integers(0, n, (n, 2)).tolist(), *((0, v) for v in range(1, n, 7))]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A generated graph and, where the data is, three real networks: graphs in memory, and their stores."""
    folder, found = tmp_path_factory.mktemp("stores"), {}
    edges = {"generated": np.array(small_world(400))}
    data = Path(os.environ.get("ELENE_DATA", ""), "networks")
    for name in NETWORKS if os.environ.get("ELENE_DATA") else ():
        edges[name] = Graph.read(data / f"{name}.npz").edges
    for name, pairs in edges.items():
        pd.DataFrame(pairs, columns=["source", "target"]).to_parquet(folder / f"{name}.parquet")
        with pytest.warns() if name == "generated" else _nothing():
            graph = Graph.read(folder / f"{name}.parquet")
        found[name] = (graph, GraphStore.build(folder / f"{name}.parquet", folder / f"{name}.elene"))
    return found


class _nothing:
    def __enter__(self): ...
    def __exit__(self, *_): ...


@pytest.fixture(scope="module")
def expected(stores, tmp_path_factory):
    """For every graph, depth and level, the bytes of all parts: as this process makes them, and as encode() says."""
    folder, found = tmp_path_factory.mktemp("expected"), {}
    for (name, (graph, store)), (k, level) in product(stores.items(), WAYS):
        out = folder / f"{name}-{k}-{level}"
        assert elene.cluster.encode(store, k, out, workers=0, parts=PARTS, level=level).made == PARTS
        said, tables = tidy_table(elene.encode(graph, k, level=level)), [pq.read_table(path) for path in _files(out)]
        made = pa.concat_tables(tables).combine_chunks().replace_schema_metadata()
        assert made.schema == said.schema
        for column in said.column_names:
            ours, theirs = (table[column].combine_chunks() for table in (made, said))
            if column == "kind":
                ours, theirs = ours.indices, theirs.indices
            assert ours.to_numpy().tobytes() == theirs.to_numpy().tobytes()
        found[name, k, level] = _bytes(out)
    return found


@pytest.fixture(scope="module")
def cluster():
    with dask.config.set(SETTINGS), LocalCluster(n_workers=2, **ALONE) as two:
        yield two


@pytest.fixture
def client(cluster):
    with Client(cluster) as one:
        one.wait_for_workers(2, timeout=60)
        yield one


def _files(folder):
    return sorted(folder.glob("part-*.parquet"))


def _bytes(folder):
    return {path.name: path.read_bytes() for path in _files(folder)}


def _ends_well(store, k, level, out, expected, client=None, **options):
    """Made again, a folder holds what it should, all of it, and nothing besides."""
    where = {"workers": 0} if client is None else {"client": client}
    found = elene.cluster.encode(store, k, out, level=level, **where, **options)
    assert _bytes(out) == expected
    assert {path.name for path in out.iterdir()} == {*expected, "_manifest.json", "_parts.json", "_seals"}
    assert [part["name"] for part in json.loads((out / "_parts.json").read_text())] == sorted(expected)
    return found


@pytest.mark.parametrize("workers", [2, 1])
def test_one_worker_and_two(workers, stores, expected, client, tmp_path):
    with ExitStack() as stack:
        if workers == 1:
            client = stack.enter_context(Client(stack.enter_context(LocalCluster(n_workers=1, **ALONE))))
        for (name, (_, store)), (k, level) in product(stores.items(), WAYS):
            out = tmp_path / f"{name}-{k}-{level}"
            found = _ends_well(store, k, level, out, expected[name, k, level], client, parts=PARTS)
            assert found.made == PARTS and found.rows == (store.num_nodes if level == "node" else store.num_edges)
        assert len(client.scheduler_info()["workers"]) == workers


def _present(name, stores):
    if name not in stores:
        pytest.skip("ELENE_DATA is not set")
    return stores[name][1]


@by_hand
@pytest.mark.parametrize(("name", "k", "level"), FAULTS)
def test_two_workers_killed_in_mid_task(name, k, level, stores, expected, client, tmp_path):
    store, notes = _present(name, stores), tmp_path / "notes"
    for place in ("table", "replace"):
        (notes / place).mkdir(parents=True)
    before = set(client.run(os.getpid).values())
    client.register_plugin(Killed(notes))
    _ends_well(store, k, level, tmp_path / "out", expected[name, k, level], client, parts=PARTS)
    client.unregister_worker_plugin("killed")
    assert all((notes / place / "fault-0").exists() for place in ("table", "replace"))
    client.wait_for_workers(2, timeout=60)
    assert len(before & set(client.run(os.getpid).values())) < 2


@pytest.mark.parametrize(("k", "level"), WAYS)
def test_parts_truncated_changed_and_deleted(k, level, stores, expected, client, tmp_path):
    for name, (_, store) in stores.items():
        out, wanted = tmp_path / name, expected[name, k, level]
        _ends_well(store, k, level, out, wanted, client, parts=PARTS)
        files = _files(out)
        whole = files[0].read_bytes()
        files[0].write_bytes(whole[: len(whole) // 2])
        files[1].unlink()
        content = bytearray(files[2].read_bytes())
        content[len(content) // 3] ^= 1
        files[2].write_bytes(content)
        files[3].write_bytes(files[4].read_bytes())
        files[5].write_bytes(b"")
        assert _ends_well(store, k, level, out, wanted, client).made == 5
        assert _ends_well(store, k, level, out, wanted, client).made == 0


@pytest.mark.parametrize(("k", "level"), WAYS)
def test_a_disk_that_is_full_in_a_part(k, level, stores, expected, client, tmp_path):
    client.register_plugin(FullDisk())
    for name, (_, store) in stores.items():
        out = tmp_path / name
        elene.cluster.encode(store, k, out, client, level=level, parts=PARTS)
        for path in _files(out)[2:4]:
            path.unlink()
        (out / ".part-00002.full.parquet").symlink_to("/dev/full")
        with pytest.raises(OSError, match=r"the disk is full: .* keeps the \d of 6 parts that are done: make room"):
            elene.cluster.encode(store, k, out, client, level=level)
        assert "part-00002.parquet" not in _bytes(out)
        _ends_well(store, k, level, out, expected[name, k, level], client)
    client.unregister_worker_plugin("full")


@by_hand
@pytest.mark.parametrize(("name", "k", "level"), FAULTS)
def test_a_worker_that_joins_late_takes_part(name, k, level, stores, expected, tmp_path):
    """The parts under way wait until another process makes one."""
    store, notes = _present(name, stores), tmp_path / "notes"
    notes.mkdir()
    with LocalCluster(n_workers=1, **ALONE) as cluster, Client(cluster) as client:
        client.register_plugin(Logged(notes, processes=2))
        late = threading.Timer(0.3, cluster.scale, [2])
        late.start()
        _ends_well(store, k, level, tmp_path / "out", expected[name, k, level], client, parts=PARTS)
        late.join()
    assert len(list(notes.iterdir())) == 2


def test_a_cluster_without_workers_is_told_of(stores, expected, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("elene.cluster.dask.PATIENCE", 0.05)
    with LocalCluster(n_workers=0, **ALONE) as cluster, Client(cluster) as client:
        late = threading.Timer(1.0, cluster.scale, [1])
        late.start()
        _ends_well(
            stores["generated"][1], 1, "node", tmp_path / "out", expected["generated", 1, "node"], client, parts=PARTS
        )
        late.join()
    assert capfd.readouterr().err.count("the cluster has no workers, and the parts wait for some: start workers") == 1


CLIENT = """
import sys, dask
import elene.cluster
from distributed import Client, LocalCluster
from faults import Logged
if __name__ == "__main__":
    store, k, level, out, notes = sys.argv[1:]
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            client.register_plugin(Logged(notes, seconds=0.3))
            elene.cluster.encode(store, int(k), out, client, level=level, parts=6)
"""


def _wait_for_parts(out, count, process):
    while len(_files(out)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@by_hand
@pytest.mark.parametrize(("name", "k", "level"), FAULTS)
def test_the_client_killed(name, k, level, stores, expected, tmp_path):
    store = _present(name, stores)
    script, out, notes = tmp_path / "client.py", tmp_path / "out", tmp_path / "notes"
    script.write_text(CLIENT)
    notes.mkdir()
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, script, store.folder, str(k), level, out, notes],
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE,
    )
    _wait_for_parts(out, 2, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (out / "_parts.json").exists() and len(_files(out)) < PARTS
    while _alive(notes):  # a worker whose client is gone may be at work for a moment
        time.sleep(0.05)
    found = _ends_well(store, k, level, out, expected[name, k, level])
    assert 0 < found.made <= PARTS - 2


def _alive(notes):
    return [note for note in notes.iterdir() if Path("/proc", note.name.removeprefix("process-")).exists()]


@by_hand
@pytest.mark.parametrize(("name", "k", "level"), FAULTS)
def test_the_scheduler_killed(name, k, level, stores, expected, tmp_path):
    store = _present(name, stores)
    out, notes, address = tmp_path / "out", tmp_path / "notes", tmp_path / "scheduler.json"
    notes.mkdir()
    dask_command = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    scheduler = subprocess.Popen(
        [*dask_command, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", address], **quiet
    )
    worker = subprocess.Popen(
        [*dask_command, "worker", "--scheduler-file", address, "--nthreads", "1", "--memory-limit", "0", "--no-nanny",
         "--no-dashboard", "--death-timeout", "5"], env={**os.environ, "PYTHONPATH": paths}, **quiet,
    )  # fmt: skip
    try:
        with dask.config.set(SHORT):
            client = Client(scheduler_file=str(address), timeout=30)
            client.register_plugin(Logged(notes, seconds=0.1))

            def kill(done, total, rows):
                if done == 2:
                    scheduler.send_signal(signal.SIGKILL)

            with pytest.raises(ConnectionError, match=r"the scheduler is gone.* parts are done and kept"):
                elene.cluster.encode(store, k, out, client, level=level, parts=PARTS, report=kill)
            client.close(timeout=1)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert 2 <= len(_files(out)) < PARTS
    found = _ends_well(store, k, level, out, expected[name, k, level])
    assert 0 < found.made <= PARTS - 2


def test_a_cluster_is_started_where_there_is_none(stores, expected, tmp_path):
    store = stores["generated"][1]
    found = elene.cluster.encode(str(store.folder), 1, tmp_path / "out", workers=1, parts=PARTS)
    assert found.made == PARTS and _bytes(tmp_path / "out") == expected["generated", 1, "node"]


def test_a_cluster_of_ours_keeps_freed_memory_and_leaves_nothing_in_the_environment(monkeypatch):
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    for name in ("MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED"):
        monkeypatch.delenv(name, raising=False)
    before = dict(os.environ)
    with local_client(1) as client:
        [found] = client.run(lambda: dict(os.environ)).values()
    assert "MALLOC_TRIM_THRESHOLD_" not in found
    assert (found["OMP_NUM_THREADS"], found["MKL_NUM_THREADS"]) == ("1", "3")
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    "options", [{"form": "joint"}, {"level": "pair", "radius": 2}, {"level": "edge", "form": "product"}]
)
def test_every_form_is_what_one_file_holds(options, stores, tmp_path):
    graph, store = stores["generated"]
    elene.cluster.encode(store, [1, 2], tmp_path / "out", workers=0, parts=5, **options)
    write_encoding(graph, EncodingSpec.of([1, 2], **options), tmp_path / "one.parquet")
    assert pd.read_parquet(tmp_path / "out").equals(pd.read_parquet(tmp_path / "one.parquet"))


def test_other_tools_read_the_folder(stores, tmp_path):
    import duckdb
    import polars

    graph, store = stores["generated"]
    out = tmp_path / "out"
    found = elene.cluster.encode(store, 1, out, workers=0, parts=4)
    counts = len(pd.read_parquet(out))
    assert counts == found.counts == elene.encode(graph, 1).matrix.nnz
    assert polars.scan_parquet(out / "*.parquet").select(polars.len()).collect().item() == counts
    assert duckdb.sql(f"SELECT count(*) FROM '{out}/*.parquet'").fetchall() == [(counts,)]


@pytest.mark.parametrize("spec", [EncodingSpec.of(1), EncodingSpec.of(2), EncodingSpec.of(2, "edge")])
@pytest.mark.parametrize("parts", [None, 1, 2, 7, 10**6])
def test_parts_cover_all_roots_with_about_equal_work(spec, parts, stores, monkeypatch):
    monkeypatch.setattr("elene.cluster.parts.BLOCK", 64)
    store = stores["generated"][1]
    cuts = cut_parts(store, spec, parts)
    assert cuts[0] == 0 and cuts[-1] == store.num_nodes and cuts == sorted(set(cuts))
    assert parts is None or len(cuts) - 1 <= min(parts, store.num_nodes)
    if parts == 7:
        from elene.engine.plan import two_hop_paths

        work = np.add.reduceat(two_hop_paths(store), cuts[:-1])
        assert len(cuts) == 8 and work.max() < 2.5 * work.mean() + two_hop_paths(store).max()


def test_a_folder_of_another_run_is_refused(stores, tmp_path):
    store, out = stores["generated"][1], tmp_path / "out"
    elene.cluster.encode(store, 1, out, workers=0, parts=3)
    with pytest.raises(ValueError, match=r"was begun with depths=\[1\], and now it is depths=\[2\]"):
        elene.cluster.encode(store, 2, out, workers=0)
    with pytest.raises(ValueError, match=r"was begun with parts=3, and now it is parts=4"):
        elene.cluster.encode(store, 1, out, workers=0, parts=4)
    (out / "_manifest.json").write_text("{")
    with pytest.raises(ValueError, match=r"_manifest\.json cannot be read"):
        elene.cluster.encode(store, 1, out, workers=0)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(FileExistsError, match=r"holds 'thesis\.txt' and no _manifest\.json"):
        elene.cluster.encode(store, 1, tmp_path / "mine", workers=0)
    with pytest.raises(TypeError, match="client must be a dask"):
        elene.cluster.encode(store, 1, tmp_path / "a", client=3)
    with pytest.raises(ValueError, match="workers=1 is for a cluster of its own"):
        elene.cluster.encode(store, 1, tmp_path / "b", client=3, workers=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        elene.cluster.encode(store, 1, tmp_path / "c", depth=3)


def test_a_run_that_was_stopped_while_it_was_planned_goes_on(stores, expected, tmp_path, monkeypatch):
    store, out = stores["generated"][1], tmp_path / "out"

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("elene.cluster.run.cut_parts", stopped)
        elene.cluster.encode(store, 1, out, workers=0)
    for left in ("._manifest.part.json", "_lock", "_seals/.part-00000.left.json"):  # of a process that was killed
        (out / left).touch()
    _ends_well(store, 1, "node", out, expected["generated", 1, "node"], parts=PARTS)
    assert not list((out / "_seals").glob(".*"))


def test_a_store_that_is_another_one_on_a_worker_is_refused(stores, tmp_path):
    from dataclasses import replace

    from elene.cluster.run import _prepared

    store = stores["generated"][1]
    (tmp_path / "_seals").mkdir()
    task = _prepared(store, EncodingSpec.of(1), tmp_path, 2)[0]
    with pytest.raises(ValueError, match="holds another graph here"):
        encode_part(replace(task, graph="0" * 32))
