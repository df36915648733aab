from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import elene
from elene.engine import parallel
from elene.engine.parallel import count_threads, run_all, run_ranges
from tuning import tune


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("rows", [0, 1, 5, 1000])
def test_ranges_cover_every_row_once_and_in_order(rows, threads, monkeypatch):
    tune(monkeypatch, hand_out=0.001)
    work = np.random.default_rng(rows).integers(1, 100, rows)
    found = list(run_ranges(lambda start, stop, _: list(range(start, stop)), list, work, threads))
    assert [row for _, _, rows in found for row in rows] == list(range(rows))


def test_ranges_are_balanced_by_work(monkeypatch):
    tune(monkeypatch, hand_out=0.001)
    work = np.ones(1000, dtype=np.int64)
    work[3] = 10**6
    loads = [int(work[start:stop].sum()) for start, stop, _ in run_ranges(lambda a, b, _: None, list, work, 2)]
    assert max(loads) < 10**6 + 1000 and len(loads) > 1


def test_large_work_is_cut_for_one_thread_too(monkeypatch):
    tune(monkeypatch, piece=10)
    assert len(list(run_ranges(lambda a, b, _: None, list, np.full(20, 5), 1))) == 10


def test_errors_come_through(monkeypatch):
    tune(monkeypatch, hand_out=0.001)

    def fail(start, stop, scratch):
        raise RuntimeError(f"row {start}")

    with pytest.raises(RuntimeError, match=r"row \d+"):
        list(run_ranges(fail, list, np.ones(100, dtype=np.int64), 2))


def test_an_error_in_another_thread_comes_through_and_ends_the_rest():
    begun, caller = [], threading.current_thread()

    def task():
        begun.append(1)
        if threading.current_thread() is not caller:
            raise RuntimeError("elsewhere")
        time.sleep(0.01)

    with pytest.raises(RuntimeError, match="elsewhere"):
        run_all([task] * 1000, 2)
    assert len(begun) < 1000


def test_tasks_may_have_tasks_of_their_own():
    done = []
    run_all([lambda: run_all([lambda: done.append(1)] * 5, 2)] * 20, 2)
    assert len(done) == 100, "whoever waits for a thread that is itself waiting would wait forever"


def test_default_is_every_core():
    assert count_threads(None) >= 1


def test_every_thread_has_scratch_of_its_own(monkeypatch):
    tune(monkeypatch, hand_out=0.001)
    made = []

    def make():
        made.append([])
        return made[-1]

    list(run_ranges(lambda start, stop, scratch: scratch.append(start), make, np.ones(400, dtype=np.int64), 3))
    assert 1 <= len(made) <= 3 and sum(map(len, made)) == 48


# What the system does not give


@pytest.mark.parametrize("threads", [2**63 - 1, 10**30, 4097])
def test_more_threads_than_any_machine_has_are_refused(threads):
    with pytest.raises(ValueError, match=f"threads must be at most 4096, got {threads}"):
        elene.encode(elene.Graph.from_edges([(0, 1), (1, 2)]), 1, threads=threads)


@pytest.mark.parametrize("started", [0, 1, 2])
def test_threads_that_cannot_be_started(started, monkeypatch):
    start, count = threading.Thread.start, []

    def refuse(thread):
        if thread.name.startswith("elene"):
            count.append(thread)
            if len(count) > started:
                raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(parallel, "_pools", {})
    monkeypatch.setattr(threading.Thread, "start", refuse)
    slow = [lambda: time.sleep(0.05)] * 7
    with pytest.raises(OSError, match="starts no more threads: pass fewer than threads=7, or raise"):
        run_all(slow, 7)
    monkeypatch.setattr(threading.Thread, "start", start)
    done = []
    run_all([lambda: done.append(1)] * 7, 7)
    assert len(done) == 7, "the next call has a pool of its own"
