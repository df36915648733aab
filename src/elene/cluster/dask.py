"""The same tasks on Dask: futures over files, never data; a worker keeps the store open, and may come and go."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import dask
from distributed import Client, KilledWorker, LocalCluster, as_completed

from elene.cluster.parts import Part, PartTask, encode_part

PATIENCE = 10.0  # seconds between looks for workers
NO_WORKERS = (
    "elene: the cluster has no workers, and the parts wait for some: start workers, or interrupt and make the same "
    "call later; finished parts are kept"
)

# Of clusters that are started here; one that is given stays as it is.
SETTINGS = {
    # A local cluster gives up a worker that is gone at some moment, and again at another this much later, though it
    # was started anew in between: with the usual 15 seconds one that is killed twice may never come back.
    "distributed.deploy.lost-worker-timeout": "1h",
    # Fifty times a second every server looks at itself, and a hundred times a worker at its stack: with two workers
    # a twentieth of two cores, on which they work.
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.profile.enabled": False,
    # None waits at a worker: parts take about a second, and in the end another worker would be free for it.
    "distributed.scheduler.worker-saturation": 1.0,
}

ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
# With it, which Dask sets for its workers, glibc gives back whatever is freed: each part would ask the system for all
# of its memory again, page by page, which takes a tenth of the time.
TRIMMING = "MALLOC_TRIM_THRESHOLD_"


@contextmanager
def local_client(workers: int) -> Iterator[Client]:
    """A cluster of processes on this machine, for as long as it is needed."""
    environment = {name: value for name, value in dask.config.get(ENVIRONMENT).items() if name != TRIMMING}
    # Mapped pages count as memory of a worker, and the system takes them back when it needs room: no limit.
    with (
        _as_before([*environment, "PYTHONHASHSEED"]),
        dask.config.set({**SETTINGS, ENVIRONMENT: environment}),
        LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _as_before(names: list[str]) -> Iterator[None]:
    """Dask sets variables of its workers in this process, too, and leaves them to whatever is started later."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def run_on(client: Client, threads: int) -> Callable[[list[PartTask]], Iterator[Part]]:
    """What runs tasks on a cluster, with so many threads each, and gives parts as they are done."""

    def run(tasks: list[PartTask]) -> Iterator[Part]:
        if not tasks:
            return
        spec = tasks[0].spec
        depths = ",".join(map(str, spec.depths))
        # Of each call its own: Dask takes a task with a known key for done, and its part may be gone since.
        call = uuid4().hex
        keys = [(f"encode {spec.level}s k={depths}-{call}", task.number) for task in tasks]
        futures = client.map(encode_part, tasks, threads=threads, key=keys, pure=False)
        try:
            with _telling_of_no_workers(client):
                yield from _results(futures, len(tasks))
        finally:
            client.cancel(futures)

    return run


@contextmanager
def _telling_of_no_workers(client: Client) -> Iterator[None]:
    """Say it, once, when a cluster is found without workers twice in a row: parts then wait, and nothing else shows."""
    over = threading.Event()

    def watch() -> None:
        before = False
        while not over.wait(PATIENCE):
            try:
                empty = not client.scheduler_info(n_workers=1)["workers"]
            except (OSError, RuntimeError, TimeoutError):  # a client that is gone tells of it itself
                return
            if before and empty:
                print(NO_WORKERS, file=sys.stderr, flush=True)
                return
            before = empty

    watcher = threading.Thread(target=watch, name="elene-workers", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()


def _results(futures: list[Any], total: int) -> Iterator[Part]:
    done = 0
    for future in as_completed(futures):
        if future.status == "finished":
            done += 1
            yield future.result()
            continue
        kept = f"{done} of {total} parts are done and kept: make the same call to go on"
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                raise RuntimeError(f"part {future.key[1]} brought down worker after worker ({error}); {kept}")
            raise error
        raise ConnectionError(f"the scheduler is gone, or gave up on part {future.key[1]}; {kept}")
