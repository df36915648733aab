"""One run in several processes: starts them, and is what each of them runs."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from elene.engine import parallel
from elene.experiments.config.loading import check
from elene.experiments.config.spec import ExperimentSpec
from elene.experiments.results.machine import use_threads
from elene.experiments.results.store import Result, read_result

POLL = 0.2  # seconds


def launch(spec: ExperimentSpec, seed: int, fold: int, folder: Path, devices: int, pause: float) -> Result:
    """Train with so many processes on this machine, and give back what the first of them found.

    The arguments are those of :func:`elene.experiments.train.runner.run`.
    """
    job = {"spec": spec.model_dump(mode="json"), "seed": seed, "fold": fold, "folder": str(folder), "pause": pause}
    job["threads"] = parallel.most_threads()
    command = [sys.executable, "-m", "elene.experiments.train.launch", json.dumps(job)]
    shared = _environment(devices)
    workers = [subprocess.Popen(command, env={**shared, "LOCAL_RANK": str(rank)}) for rank in range(devices)]
    try:
        while any(worker.poll() is None for worker in workers):
            # One that fails leaves the others waiting for it.
            if any(worker.returncode for worker in workers):
                break
            time.sleep(POLL)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    if failed := [rank for rank, worker in enumerate(workers) if worker.returncode]:
        raise ChildProcessError(f"process {failed[0]} of {devices} failed: see above for what it said")
    return read_result(folder / "result.json")


def _environment(devices: int) -> dict[str, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    defaults = {"OMP_NUM_THREADS": str(max((os.cpu_count() or 1) // devices, 1))}
    if sys.platform == "linux":
        defaults["GLOO_SOCKET_IFNAME"] = "lo"  # a machine's own name need not resolve
    return {
        **defaults,
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "NODE_RANK": "0",
        "WORLD_SIZE": str(devices),
    }


def _work(text: str) -> None:
    """Do one process's part of a run."""
    from elene.experiments.train.runner import train

    job = json.loads(text)
    use_threads(job["threads"])
    rank, world = (int(os.environ[name]) for name in ("LOCAL_RANK", "WORLD_SIZE"))
    train(check(job["spec"]), job["seed"], job["fold"], Path(job["folder"]), rank, world, job["pause"])
    gc.collect()  # torch can wait for ever at the end where a wrapped network outlives its process group


if __name__ == "__main__":
    _work(sys.argv[1])
