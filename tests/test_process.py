"""What only shows in whole processes: what an import loads, and forks after the threads ran."""

from __future__ import annotations

import subprocess
import sys

import pytest

import elene


def run_python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout.strip()


def test_import_is_light():
    heavy = {"numba", "torch", "scipy", "sklearn", "pyarrow", "numpy"}
    code = f"import sys, elene; print(sorted({heavy} & set(sys.modules)))"
    assert run_python(code) == "[]"


def test_a_graph_needs_no_kernels():
    code = "import sys, elene; elene.Graph.from_edges([(0, 1)]); print('numba' in sys.modules, 'torch' in sys.modules)"
    assert run_python(code) == "False False"


def test_everything_public_is_there():
    for name in elene.__all__:
        assert getattr(elene, name) is not None
    assert set(dir(elene)) == set(elene.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        elene.nothing  # noqa: B018


FORKED = """
import multiprocessing, warnings
import networkx as nx
import elene

warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
GRAPH = nx.barabasi_albert_graph(3000, 5, seed=0)

def checksum(k):
    encoding = elene.encode(GRAPH, k, threads=2)
    return int((encoding.matrix.data.astype(int) * (1 + encoding.matrix.indices)).sum())

here = [checksum(k) for k in (1, 2)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(checksum, [1, 2, 1, 2]) == here * 2)
"""


def test_encode_works_in_forked_workers_after_it_ran_here():
    # In a process of its own: the threads of a test runner may hold locks when it forks.
    assert run_python(FORKED) == "True"
