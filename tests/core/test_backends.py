"""Encoder in the processes of joblib and of Dask: the same scores as in this one, and a share of the cores each."""

from __future__ import annotations

import joblib
import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from elene import Encoder
from elene.engine.parallel import count_threads, use_threads

GRAPHS = [nx.gnm_random_graph(12, 18, seed=seed) for seed in range(10)]
GRAPHS += [nx.random_regular_graph(3, 12, seed=seed) for seed in range(10)]
CLASSES = np.repeat([0, 1], 10)
MODEL = make_pipeline(Encoder(k=1, form="joint", per="mean", threads=1), LogisticRegression())

pytestmark = pytest.mark.jit


@pytest.fixture(scope="module")
def alone():
    return cross_val_score(MODEL, GRAPHS, CLASSES, cv=4)


def test_processes_of_joblib(alone):
    assert np.array_equal(cross_val_score(MODEL, GRAPHS, CLASSES, cv=4, n_jobs=2), alone)
    shares = joblib.Parallel(n_jobs=2)(joblib.delayed(count_threads)(None) for _ in range(2))
    assert shares == [max(joblib.cpu_count() // 2, 1)] * 2


def test_threads_of_joblib(alone):
    with joblib.parallel_config("threading", n_jobs=2):
        assert np.array_equal(cross_val_score(MODEL, GRAPHS, CLASSES, cv=4), alone)
        search = GridSearchCV(MODEL, {"encoder__k": [0, 1]}, cv=4).fit(GRAPHS, CLASSES)
    assert search.best_params_ == {"encoder__k": 1}


def test_workers_of_dask(alone):
    from dask.distributed import Client, LocalCluster

    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        with joblib.parallel_config("dask"):
            assert np.array_equal(cross_val_score(MODEL, GRAPHS, CLASSES, cv=4), alone)
        ran = client.run(lambda dask_worker: len(dask_worker.state.tasks) + dask_worker.state.executed_count)
        assert sum(ran.values()) > 0


@pytest.mark.parametrize("share, expected", [("1", 1), ("0", 1), ("100000", None), ("many", None), ("", None)])
def test_the_environment_gives_a_share(monkeypatch, share, expected):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    cores = count_threads(None)
    monkeypatch.setenv("NUMBA_NUM_THREADS", share)
    assert count_threads(None) == (expected or cores)
    assert count_threads(3) == 3
    use_threads(2)
    try:
        assert count_threads(None) == 2
    finally:
        use_threads(None)
