"""Faults for the workers of a Dask cluster: what happens to the first parts that they make."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

from distributed import WorkerPlugin

PATIENCE = 60  # seconds


def claim(folder, times):
    """Whether this call is one of the first so many, in whatever process."""
    for number in range(times):
        try:
            os.close(os.open(Path(folder) / f"fault-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return True
    return False


class Killed(WorkerPlugin):
    """Two workers are killed in mid-task: one before it writes its part, one before its part gets its name."""

    name = "killed"

    def __init__(self, folder):
        self.folder = Path(folder)

    def setup(self, worker):
        from elene.cluster import parts

        usual_table, usual_os = parts.tidy_table, os

        def table(encoding):
            if claim(self.folder / "table", 1):
                os.kill(os.getpid(), signal.SIGKILL)
            return usual_table(encoding)

        def replace(temporary, path):
            if claim(self.folder / "replace", 1):
                os.kill(os.getpid(), signal.SIGKILL)
            usual_os.replace(temporary, path)

        self.usual = usual_table
        parts.tidy_table, parts.os = table, SimpleNamespace(replace=replace)

    def teardown(self, worker):
        from elene.cluster import parts

        parts.tidy_table, parts.os = self.usual, os


class FullDisk(WorkerPlugin):
    """Temporary files have names that a test knows, so that it can lay a full device under them."""

    name = "full"

    def setup(self, worker):
        from elene.cluster import parts

        parts.uuid4 = lambda: SimpleNamespace(hex="full")

    def teardown(self, worker):
        from elene.cluster import parts

        parts.uuid4 = uuid4


class Logged(WorkerPlugin):
    """Parts take a while, and leave a note of the process that made them; the first ones wait for so many processes."""

    name = "logged"

    def __init__(self, folder, seconds=0.0, processes=1):
        self.folder, self.seconds, self.processes = Path(folder), seconds, processes

    def setup(self, worker):
        from elene.cluster import parts

        self.usual = usual = parts.tidy_table

        def table(encoding):
            (self.folder / f"process-{os.getpid()}").touch()
            patience = time.monotonic() + PATIENCE
            while len(list(self.folder.iterdir())) < self.processes and time.monotonic() < patience:
                time.sleep(0.02)
            time.sleep(self.seconds)
            return usual(encoding)

        parts.tidy_table = table

    def teardown(self, worker):
        from elene.cluster import parts

        parts.tidy_table = self.usual
