"""Reproduce: which runs in which order, what fits into a budget, and what interrupts leave behind."""

from __future__ import annotations

import signal
import time
from collections import Counter

import pytest
import torch
from typer.testing import CliRunner

from elene.cli import app
from elene.engine import parallel
from elene.experiments import config
from elene.experiments.results.choices import Choices
from elene.experiments.results.store import Store, run_name
from elene.experiments.results.tables import find, tables
from elene.experiments.schedule import planning
from elene.experiments.schedule.execution import BESIDE, Clock, execute
from elene.experiments.schedule.planning import PlannedRun, missing, plan_table
from made_up import ORIGIN, choice, origin, result


def fake(job):
    return result(spec=job.spec, seed=job.seed, fold=job.fold)


def unknown(job):
    return None


@pytest.fixture(autouse=True)
def present(request, monkeypatch):
    """The code and the data are what made-up results have, except in tests of the command."""
    if "command" not in request.node.name:
        use(monkeypatch, ORIGIN)


def use(monkeypatch, present):
    monkeypatch.setattr(planning, "origin_of", lambda dataset: present)
    monkeypatch.setattr(planning, "code", lambda: present.code)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


@pytest.fixture
def jobs():
    return plan_table(find("counting"), rows=["gin", "gin+elene"], datasets=["counting.star", "counting.cycle4"])


def states(steps):
    return [(step.state, step.job.spec.row, step.job.seed) for step in steps]


# The plan


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_every_row_runs_once_before_any_runs_twice(table):
    planned = plan_table(table)
    numbers = [job.seed + job.fold for job in planned]
    assert numbers == sorted(numbers)
    assert len({run_name(job.spec, ORIGIN, job.seed, job.fold) for job in planned}) == len(planned)


def test_runs_differ_in_the_fold_where_there_are_folds_and_else_in_the_seed():
    folds = plan_table(find("proximity"), rows=["gin"], datasets=["proximity-3"])
    assert [(job.seed, job.fold) for job in folds] == [(0, fold) for fold in range(10)]
    seeds = plan_table(find("benchmarks"), rows=["gin"], datasets=["molhiv"])
    assert [(job.seed, job.fold) for job in seeds] == [(seed, 0) for seed in range(5)]


def test_fewer_seeds_and_changed_settings_are_for_all_rows():
    planned = plan_table(find("counting"), seeds=1, changes=["training.epochs=7"])
    assert len(planned) == len({job.kind for job in planned}) == 4 * len(find("counting").rows)
    assert {job.spec.training.epochs for job in planned} == {7}


def test_rows_that_are_not_in_the_paper_run_when_asked_for():
    assert not any(job.spec.row == "gin+elene-ed" for job in plan_table(find("benchmarks")))
    assert plan_table(find("benchmarks"), rows=["gin+elene-ed"], seeds=1)[0].spec.row == "gin+elene-ed"


def test_rows_that_were_searched_have_what_was_chosen(tmp_path):
    choices = Choices(tmp_path)
    choices.add(choice("counting.star", "gin+elene-nd", {"model.elene.k": "1"}))
    planned = plan_table(
        find("counting"), ["gin", "gin+elene-nd"], ["counting.star"], 1, ["training.epochs=7"], choices
    )
    assert [job.spec.row for job in planned] == ["gin", "gin+elene-nd"]
    assert planned[1].spec == config.load("counting.star", "gin+elene-nd", ["model.elene.k=1", "training.epochs=7"])
    assert planned[0].spec == config.load("counting.star", "gin", ["training.epochs=7"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": ["gim"]}, "rows: 'gim' is not in this table: choose from gin"),
        ({"datasets": ["zinc12k"]}, "datasets: 'zinc12k' is not in this table: choose from counting.triangle"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"changes": ["training.epoch=3"]}, "counting.triangle gin: training.epoch is not a setting"),
    ],
)
def test_bad_plans(options, words):
    with pytest.raises(ValueError, match=words):
        plan_table(find("counting"), **options)


# The work


def steps_of(*arguments, **options):
    found = []
    execute(*arguments, tell=found.append, **options)
    return found


def test_all_are_run_and_kept_and_none_is_run_again(store, jobs):
    found = states(steps_of(missing(jobs, store), store, fake, unknown))
    assert [state for state, _, _ in found] == ["starts", "done"] * 8
    assert len(list(store.find())) == 8
    assert missing(jobs, store) == []


def test_what_is_missing_is_known_by_its_settings(store, jobs):
    store.add(fake(jobs[0]))
    assert missing(jobs, store) == jobs[1:]
    changed = plan_table(
        find("counting"), ["gin", "gin+elene"], ["counting.star", "counting.cycle4"], None, ["training.lr=0.1"]
    )
    assert missing(changed, store) == changed


@pytest.mark.parametrize("other", [origin("beef"), origin(changes="feed"), origin(data="f" * 64)])
def test_what_other_code_or_data_made_is_missing(store, jobs, monkeypatch, other):
    for job in jobs:
        store.add(fake(job))
    assert missing(jobs, store) == []
    use(monkeypatch, other)
    assert missing(jobs, store) == jobs


def test_no_data_is_loaded_where_there_is_no_result(store, jobs, monkeypatch):
    monkeypatch.setattr(planning, "origin_of", None)
    assert missing(jobs, store) == jobs


def test_what_another_process_is_at_is_left_to_it(store, jobs):
    with store.claim(jobs[1].name):
        steps = list(steps_of(jobs[:3], store, fake, unknown))
    assert states(steps) == [
        (state, job.spec.row, 0)
        for job, state in zip(
            [jobs[0], jobs[0], jobs[1], jobs[2], jobs[2]], ["starts", "done", "taken", "starts", "done"], strict=True
        )
    ]
    assert "is held by process" in str(steps[2].error)
    assert missing(jobs[:3], store) == [jobs[1]]


def test_what_another_process_did_meanwhile_is_not_done_again(store, jobs):
    def alone(job):
        store.add(fake(jobs[1]))  # by the other one
        return fake(job)

    assert [step.state for step in steps_of(jobs[:2], store, alone, unknown)] == ["starts", "done", "known"]


def test_while_a_job_runs_no_other_process_may_take_it(store, jobs):
    def run(job):
        with pytest.raises(BlockingIOError), store.claim(job.name):
            pass
        return fake(job)

    assert [step.state for step in steps_of(jobs[:1], store, run, unknown)] == ["starts", "done"]
    with store.claim(jobs[0].name):
        pass


def test_what_would_take_too_long_is_left_and_shorter_jobs_run(store, jobs):
    seconds = {"gin": 1.0, "gin+elene": 1e6}
    found = states(steps_of(jobs, store, fake, lambda job: seconds[job.spec.row], budget=600))
    assert {row for state, row, _ in found if state == "too long"} == {"gin+elene"}
    assert {row for state, row, _ in found if state == "done"} == {"gin"}


def test_nothing_starts_without_time(store, jobs):
    found = states(steps_of(jobs, store, fake, unknown, budget=0))
    assert {state for state, _, _ in found} == {"too long"}


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_a_running_job_stops_when_time_is_up(store, jobs, handler):
    """Also in the background, where interrupts are ignored."""

    def slow(job):
        for _ in range(1000):
            time.sleep(0.01)
        raise AssertionError("it was not interrupted")

    before = signal.signal(signal.SIGINT, handler)
    try:
        found = states(steps_of(jobs, store, slow, unknown, budget=2))
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert [state for state, _, _ in found] == ["starts", "stopped", *["too long"] * 7]
    assert list(store.find()) == []


def test_an_interrupt_before_that_is_one(store, jobs):
    def interrupted(job):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(steps_of(jobs, store, interrupted, unknown, budget=600))


def test_a_data_set_that_is_not_at_hand_is_passed_over(store):
    def absent(job):
        if job.spec.dataset.name == "molpcba":
            raise FileNotFoundError("molpcba is not at hand")
        return fake(job)

    jobs = plan_table(find("benchmarks"), rows=["gin", "gin+elene"], datasets=["molpcba", "zinc12k"], seeds=1)
    steps = list(steps_of(jobs, store, absent, unknown))
    assert [str(step.error) for step in steps if step.state == "failed"] == ["molpcba is not at hand"]
    assert [step.job.kind for step in steps if step.state == "done"] == [("zinc12k", "gin"), ("zinc12k", "gin+elene")]


def test_a_process_that_died_does_not_speak_for_others(store, jobs):
    def died(job):
        raise ChildProcessError("process 0 of 1 failed")

    assert [step.state for step in steps_of(jobs[:2], store, died, unknown)] == ["starts", "failed"] * 2


def test_a_model_that_is_too_large_is_passed_over(store, jobs):
    def large(job):
        if job.spec.row == "gin":
            raise MemoryError
        return fake(job)

    found = states(steps_of(jobs, store, large, unknown))
    assert Counter(state for state, _, _ in found) == {"starts": 8, "failed": 4, "done": 4}


# Estimates


def test_estimates_come_from_runs_of_the_same_row_with_any_number_of_epochs(store, tmp_path):
    job = PlannedRun(config.load("sr25", "gin", ["training.epochs=10"]), seed=1, fold=0)
    clock = Clock(store, tmp_path / "runs")
    assert clock.estimate(job) is None
    store.add(result(seconds_per_epoch=3.0))
    assert clock.estimate(job) == pytest.approx(BESIDE * 30)


def test_estimates_of_a_run_that_was_begun_come_from_its_own_epochs(store, tmp_path):
    job = PlannedRun(config.load("sr25", "gin", ["training.epochs=10"]), seed=1, fold=0)
    folder = tmp_path / "runs" / run_name(job.spec, ORIGIN, 1, 0)
    folder.mkdir(parents=True)
    lines = ["epoch,lr,loss,validation,seconds", "0,0.1,1,0.5,4", "1,0.1,1,0.5,2", "2,0.1,1,0.5,4", "3,0.1,1"]
    (folder / "metrics.csv").write_text("\n".join(lines))
    store.add(result(seconds_per_epoch=3.0))
    assert Clock(store, tmp_path / "runs").estimate(job) == pytest.approx(BESIDE * 4 * 7)


# The command


def run(*arguments, code=0):
    found = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "120"})
    assert found.exit_code == code, (found.output, found.exception)
    return found


SMALL = ("expressivity", "--datasets", "sr25", "--rows", "gin", "training.epochs=2", "model.hidden=8")


def test_the_command_runs_what_is_missing(tmp_path):
    folders = ("--results", tmp_path / "results", "--runs", tmp_path / "runs")
    first = run("reproduce", *SMALL, *folders)
    assert "1 run, 1 of them to be done" in first.stderr
    assert "sr25 gin, seed 0" in first.stderr
    assert "6.67" in first.stdout
    [found] = Store(tmp_path / "results").find()
    assert found.cost.epochs == 2
    assert "0 of them to be done" in run("reproduce", *SMALL, *folders).stderr


def test_the_command_leaves_to_others_what_they_are_at(tmp_path):
    store = Store(tmp_path / "results")
    [job] = plan_table(find("expressivity"), ["gin"], ["sr25"], None, SMALL[-2:])
    with store.claim(job.name):
        said = run("reproduce", *SMALL, "--results", tmp_path / "results", "--runs", tmp_path / "runs").stderr
    assert "sr25 gin, seed 0 is left out" in said and "is held by process" in said
    assert list(store.find()) == []


def test_the_command_uses_so_many_threads(tmp_path):
    folders = ("--results", tmp_path / "results", "--runs", tmp_path / "runs")
    before = torch.get_num_threads()
    try:
        run("reproduce", *SMALL, *folders, "--threads", "1")
        assert parallel.count_threads(None) == torch.get_num_threads() == 1
    finally:
        parallel.use_threads(None)
        torch.set_num_threads(before)
    [found] = Store(tmp_path / "results").find()
    assert found.machine["threads"] == 1


def test_the_command_takes_what_was_chosen(tmp_path):
    folders = ("--results", tmp_path / "results", "--runs", tmp_path / "runs")
    Choices(tmp_path / "results").add(choice("sr25", "gin", {"model.layers": "1"}))
    said = run("reproduce", *SMALL, *folders, "--chosen").stdout
    [found] = Store(tmp_path / "results").find()
    assert found.spec.model.layers == 1 and "6.67" in said
    assert "0 of them to be done" in run("reproduce", *SMALL, *folders, "--chosen").stderr


def test_the_command_says_how_to_go_on(tmp_path):
    folders = ("--results", tmp_path / "results", "--runs", tmp_path / "runs")
    found = run("reproduce", *SMALL, *folders, "--budget", "0")
    assert "The budget is used up: 1 too long." in found.stderr
    assert "elene reproduce expressivity --datasets sr25" in found.stderr


def test_an_interrupted_command_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(job, folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(planning, "perform", interrupted)
    found = run("reproduce", *SMALL, "--results", tmp_path, "--runs", tmp_path, code=130)
    assert "To go on:" in found.stderr


def test_the_command_fails_when_the_data_is_not_at_hand(tmp_path, monkeypatch):
    def absent(job, folder):
        raise FileNotFoundError("sr25 is not at hand")

    monkeypatch.setattr(planning, "perform", absent)
    assert "sr25 is not at hand" in run("reproduce", *SMALL, "--results", tmp_path, code=1).stderr


@pytest.mark.parametrize(
    "arguments", [("molecules",), ("counting", "--rows", "gim"), ("counting", "training.epochs=0")]
)
def test_bad_input_gets_one_line(arguments):
    found = run("reproduce", *arguments, code=2)
    assert found.stderr.count("error:") == 1
    assert "Traceback" not in found.output


def test_an_unknown_table_is_told_of_every_table():
    words = run("reproduce", "molecules", code=2).stderr
    assert all(
        f"'{name}'" in " ".join(words.split()) for name in [*(table.name for table in tables()), "cost", "ablation"]
    )
