"""Execution: the runs of a table that are not in the store yet, one after the other, within a budget of time."""

from __future__ import annotations

import _thread
import csv
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Timer
from time import monotonic

from elene.experiments.results.store import Result, Store
from elene.experiments.schedule.planning import PlannedRun
from elene.files import Held

BESIDE = 1.5  # a run takes up to so many times the seconds of its training: data, validation and test come with it


class Clock:
    """Estimates how long a job will take: from its own epochs if it was begun, else from runs of the same kind.

    Args:
        store: where earlier results are.
        folder: where runs that were begun are.

    Example:
        >>> from elene.experiments import config
        >>> clock = Clock(Store("nothing here"), "nor here")
        >>> clock.estimate(PlannedRun(config.load("sr25", "gin"), 0, 0)) is None
        True
    """

    def __init__(self, store: Store, folder: str | os.PathLike[str]) -> None:
        self.store, self.folder = store, Path(folder)

    def estimate(self, job: PlannedRun) -> float | None:
        """Seconds, roughly; None if nothing is known."""
        epochs = 1 if job.spec.training is None else job.spec.training.epochs
        begun = self._begun(job)
        if begun:
            return BESIDE * median(begun) * max(epochs - len(begun), 0)
        known = [result.cost.seconds_per_epoch for result in self.store.find(*job.kind)]
        return BESIDE * median(known) * epochs if known else None

    def _begun(self, job: PlannedRun) -> list[float]:
        """Seconds of each epoch so far."""
        for path in self.folder.glob(f"{job.pattern}/metrics.csv"):
            with path.open(encoding="utf-8") as file:
                return [float(line["seconds"]) for line in csv.DictReader(file) if line["seconds"]]
        return []


@dataclass(frozen=True)
class Event:
    """What happened to a planned run.

    Args:
        job: which one.
        state: ``"starts"``, ``"done"``, ``"failed"`` (its data is not at hand, or too large), ``"stopped"`` (time is
            up; it will go on next time), ``"too long"`` (for what is left of the budget, so that it was not started),
            ``"taken"`` (another process is at it) or ``"known"`` (another process has done it meanwhile).
        seconds: how long it took or, before that, will take; None if that is not known.
        result: what came out, if it is done.
        error: why it failed, if it did, or who is at it.
    """

    job: PlannedRun
    state: str
    seconds: float | None = None
    result: Result | None = None
    error: Exception | None = None


def execute(
    jobs: Sequence[PlannedRun],
    store: Store,
    run: Callable[[PlannedRun], Result],
    estimate: Callable[[PlannedRun], float | None],
    tell: Callable[[Event], None],
    budget: float | None = None,
) -> None:
    """Run what the store does not have, one after the other; several processes may do so at a time.

    Args:
        jobs: what is :func:`missing` of a plan.
        store: where results are and go to.
        run: what runs a job: :func:`perform` in some folder.
        estimate: how many seconds a job will take, or None: :meth:`Clock.estimate`.
        tell: called with what happens, as it happens.
        budget: seconds; then no job is started any more, and the running one is interrupted, to go on another time.
    """
    deadline = None if budget is None else monotonic() + budget
    absent: set[str] = set()
    for job in jobs:
        if job.spec.dataset.name in absent:
            continue
        left, expected = None if deadline is None else deadline - monotonic(), estimate(job)
        if left is not None and (left <= 0 or (expected or 0) > left):
            tell(Event(job, "too long", expected))
            continue

        def make(job: PlannedRun = job, left: float | None = left, expected: float | None = expected) -> Result:
            tell(Event(job, "starts", expected))
            with _interrupted_after(left):
                return run(job)

        event = _attempt(job, store, make, deadline)
        tell(event)
        # A process that died, of too much memory perhaps, says nothing about the data.
        if event.state == "failed" and isinstance(event.error, OSError):
            absent |= set() if isinstance(event.error, ChildProcessError) else {job.spec.dataset.name}


def _attempt(job: PlannedRun, store: Store, make: Callable[[], Result], deadline: float | None) -> Event:
    started = monotonic()
    try:
        result, made = store.obtain(job.spec, job.origin, job.seed, job.fold, make)
    except Held as error:
        return Event(job, "taken", error=error)
    except KeyboardInterrupt:
        if deadline is None or monotonic() < deadline:
            raise
        return Event(job, "stopped", monotonic() - started)
    except (OSError, MemoryError) as error:
        return Event(job, "failed", monotonic() - started, error=error)
    return Event(job, "done", monotonic() - started, result) if made else Event(job, "known")


@contextmanager
def _interrupted_after(seconds: float | None) -> Iterator[None]:
    """Interrupt the block, as Ctrl-C does, when so many seconds have passed."""
    if seconds is None:
        yield
        return
    timer = Timer(seconds, _thread.interrupt_main)
    timer.daemon = True
    # What a shell starts in the background ignores interrupts, and would never stop.
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
