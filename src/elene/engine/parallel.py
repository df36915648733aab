"""Threads for the kernels: ranges of rows, cut by work and not by count, run on one pool that a process keeps.

A forked process starts a pool of its own: threads do not survive a fork.
"""

from __future__ import annotations

import errno
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from elene.engine import policy
from elene.progress import tell

Result = TypeVar("Result")
Scratch = TypeVar("Scratch")

MOST_THREADS = 4096  # no machine has more cores, and systems do not let a process have many more

_most: int | None = None


def use_threads(threads: int | None) -> None:
    """Let this process use so many threads wherever no number is given; None, every core it may run on.

    >>> use_threads(1)
    >>> count_threads(None), count_threads(2)
    (1, 2)
    >>> use_threads(None)
    """
    global _most
    _most = None if threads is None else count_threads(threads)


def most_threads() -> int | None:
    """What :func:`use_threads` was last called with.

    >>> most_threads() is None
    True
    """
    return _most


def count_threads(threads: int | None) -> int:
    """How many threads to use; None means every core this process may run on, or what :func:`use_threads` says.

    The environment's ``NUMBA_NUM_THREADS`` counts, too: by it joblib gives each of its processes a share of the cores.

    >>> count_threads(3)
    3
    """
    if threads is None and _most is not None:
        return _most
    if threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        share = os.environ.get("NUMBA_NUM_THREADS", "")
        return min(cores, max(int(share), 1)) if share.isdecimal() else cores
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool):
        raise TypeError(f"threads must be an integer or None, got {threads!r}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    if threads > MOST_THREADS:
        raise ValueError(
            f"threads must be at most {MOST_THREADS}, got {threads}: more than there are cores gain nothing"
        )
    return int(threads)


_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def shared_pool(workers: int) -> ThreadPoolExecutor:
    """This process's pool of so many threads."""
    key = (os.getpid(), workers)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(workers, thread_name_prefix="elene")
    return _pools[key]


def _submit(workers: int, calls: Sequence[Callable[[], Result]], threads: int) -> list[Future[Result]]:
    """Hand calls to the pool; an error that names how many threads were asked for where the system starts no more."""
    try:
        return [shared_pool(workers).submit(call) for call in calls]
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        _pools.pop((os.getpid(), workers)).shutdown(cancel_futures=True)
        advice = f"pass fewer than threads={threads}, or raise its limit (ulimit -u)"
        raise OSError(errno.EAGAIN, f"the system starts no more threads: {advice}") from error


def run_ranges(
    task: Callable[[int, int, Scratch], Result],
    make_scratch: Callable[[], Scratch],
    work: NDArray[np.int64],
    threads: int | None,
) -> list[tuple[int, int, Result]]:
    """Call ``task(start, stop, scratch)`` on ranges that cover all rows; gives (start, stop, result) in order.

    Args:
        task: something that releases the GIL, and leaves its scratch as it found it.
        make_scratch: called once for each thread.
        work: an estimate of each row's work.
        threads: see :func:`count_threads`.

    Example:
        >>> work = np.ones(5, dtype=np.int64)
        >>> run_ranges(lambda a, b, scratch: b - a + scratch, lambda: 10, work, 2)
        [(0, 5, 15)]
    """
    workers = count_threads(threads)
    pieces = _count_pieces(int(work.sum()), workers)
    if pieces == 1 and len(work):  # what handing it out takes would show in small graphs
        result = task(0, len(work), make_scratch())
        tell(1.0)
        return [(0, len(work), result)]
    ranges = cut_ranges(np.cumsum(work), pieces)
    found: dict[int, tuple[int, int, Result]] = {}
    mine = threading.local()

    def run(number: int) -> None:
        if not hasattr(mine, "scratch"):
            mine.scratch = make_scratch()
        start, stop = ranges[number]
        found[number] = start, stop, task(start, stop, mine.scratch)
        tell(len(found) / len(ranges))

    run_all([partial(run, number) for number in range(len(ranges))], workers)
    return [found[number] for number in range(len(ranges))]


def _count_pieces(work: int, workers: int) -> int:
    """More pieces take more time to hand out, fewer leave the others waiting longer for the last one.

    They are a multiple of the workers: one more than two take as long as four do.
    """
    each = int(math.sqrt(work / (4 * policy.POLICY.hand_out * workers))) if workers > 1 else 1
    return max(1, workers * min(16, each), work // policy.POLICY.piece)


def cut_ranges(reached: NDArray[np.int64], pieces: int) -> list[tuple[int, int]]:
    """Ranges of equal work; ``reached`` is that of each row and all before it.

    >>> cut_ranges(np.array([3, 4, 5, 6]), 2)
    [(0, 1), (1, 4)]
    """
    if pieces == 1 and len(reached):
        return [(0, len(reached))]
    goals = int(reached[-1]) * np.arange(1, pieces) / pieces if len(reached) else np.empty(0)
    return list(pairwise(sorted({0, *(np.searchsorted(reached, goals) + 1).tolist(), len(reached)})))


def run_all(tasks: Sequence[Callable[[], object]], threads: int | None) -> None:
    """Call every task, on several threads where there are several tasks; the tasks release the GIL.

    Whoever calls takes tasks, too, and never waits for a thread to wake: that takes as long as a small task.

    >>> done = []
    >>> run_all([lambda: done.append(1)] * 3, 2)
    >>> done
    [1, 1, 1]
    """
    workers = min(count_threads(threads), len(tasks))
    if workers <= 1:
        for task in tasks:
            task()
        return
    left = iter(tasks)  # one for all: who is done with a task takes the next

    def take() -> None:
        try:
            for task in left:
                task()
        finally:
            deque(left, maxlen=0)  # where one fails, nobody begins another

    helpers = _submit(workers - 1, [take] * (workers - 1), workers)
    try:
        take()
    finally:
        for helper in helpers:
            if not helper.cancel():  # it began
                helper.result()
