from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from elene.experiments import config
from elene.experiments.results.store import Cost, Result, Score, Store
from made_up import ORIGIN, origin


def result(label="sr25", row="gin", seed=0, fold=0, test=0.5, origin=ORIGIN):
    return Result(
        spec=config.load(label, row),
        origin=origin,
        seed=seed,
        fold=fold,
        devices=1,
        title="SR25",
        data="made up",
        metric="accuracy",
        best=Score(epoch=3, validation=0.25, test=test),
        last=Score(epoch=4, validation=0.125, test=0.1, relabelled=1 / 15),
        cost=Cost(parameters=1, epochs=5, seconds=1.5, seconds_per_epoch=0.3, peak_memory=100.5, base_memory=90),
        curve={"loss": [1.0, 0.5], "validation": [0.25, 0.125]},
        versions={"elene": "0"},
        machine={"cores": 2},
        date="2024-01-01",
    )


def test_what_is_added_is_there(tmp_path):
    store = Store(tmp_path / "results")
    one = result()
    assert store.get(one.spec, ORIGIN, 0) is None and list(store.find()) == []
    path = store.add(one)
    assert path == tmp_path / "results/runs/sr25/gin" / f"{one.spec.identity}-c0ffee-da7ada7ada-seed0-fold0.json"
    assert store.get(one.spec, ORIGIN, 0) == one
    assert store.get(one.spec, ORIGIN, 1) is None and store.get(one.spec, ORIGIN, 0, fold=1) is None
    assert store.get(config.load("sr25", "gin", ["training.epochs=3"]), ORIGIN, 0) is None
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_find_by_data_set_and_row(tmp_path):
    store = Store(tmp_path)
    results = [result(), result(seed=1), result(row="gin-ak+"), result("counting.star"), result("proximity-3", fold=2)]
    for each in results:
        store.add(each)

    def names(**wanted):
        return [each.name for each in store.find(**wanted)]

    assert sorted(names()) == sorted(each.name for each in results)
    assert names(dataset="sr25", row="gin") == [results[0].name, results[1].name]
    assert names(row="gin-ak+") == [results[2].name]
    assert names(dataset="counting.star") == [results[3].name]
    assert names(dataset="counting") == []


def test_a_later_result_takes_the_place_of_an_earlier_one(tmp_path):
    store = Store(tmp_path)
    store.add(result(test=0.5))
    store.add(result(test=0.75))
    assert [each.best.test for each in store.find()] == [0.75]


def test_a_damaged_file_is_named(tmp_path):
    store = Store(tmp_path)
    path = store.add(result())
    path.write_text(path.read_text()[:100])
    with pytest.raises(ValueError, match=rf"{path.name} is no result of this version.*delete it"):
        list(store.find())


def test_other_code_and_other_data_have_results_of_their_own(tmp_path):
    store = Store(tmp_path)
    origins = [ORIGIN, origin("beef"), origin(changes="feed"), origin(data="f" * 64)]
    for number, each in enumerate(origins):
        store.add(result(test=number / 8, origin=each))
    found = [store.get(config.load("sr25", "gin"), each, 0).best.test for each in origins]
    assert found == [0, 1 / 8, 2 / 8, 3 / 8]


HOLD = """
import sys, time
from elene.experiments.results.store import Store
with Store(sys.argv[1]).claim("sr25/gin/one"):
    print("held", flush=True)
    time.sleep(100)
"""


def test_a_run_belongs_to_one_process_until_it_ends(tmp_path):
    store = Store(tmp_path)
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(BlockingIOError, match=f"is held by process {process.pid} on"), store.claim("sr25/gin/one"):
            pass
        with store.claim("sr25/gin/two"):
            pass
    finally:
        process.kill()
        process.communicate()
    assert (tmp_path / "runs/sr25/gin/one.lock").is_file()  # what a killed process leaves is no obstacle
    with store.claim("sr25/gin/one"):
        pass
    assert list((tmp_path / "runs/sr25/gin").iterdir()) == []
