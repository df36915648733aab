from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys

import pytest
import torch
from train_and_die import EPOCH, SMALL

from elene.datasets import load
from elene.experiments import config
from elene.experiments.results.origin import origin_of
from elene.experiments.results.store import Store, read_result
from elene.experiments.train import launch, runner
from elene.experiments.train.learner import Learner

QUICK = config.load("sr25", "gin", ["training.epochs=3", "model.hidden=8"])


@pytest.fixture
def final(monkeypatch):
    """The weights and the optimizer's state at the end of each training in this test."""
    found = []

    def keep(self):
        optimizer = self.trainer.optimizers[0].state_dict()["state"]
        found.append([*self.network.state_dict().values(), *(each["exp_avg_sq"] for each in optimizer.values())])

    monkeypatch.setattr(Learner, "on_train_end", keep)
    return found


def outcome(result):
    return result.best, result.last, result.curve


def equal(states):
    first, *others = states
    return all(len(first) == len(other) and all(map(torch.equal, first, other)) for other in others)


def test_a_killed_run_ends_as_if_it_had_not_been_killed(tmp_path, final):
    whole = runner.run(SMALL, seed=3, folder=tmp_path / "whole")
    script = os.path.join(os.path.dirname(__file__), "train_and_die.py")
    killed = subprocess.run([sys.executable, script, str(tmp_path / "killed")], timeout=240, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "killed" / "last.ckpt").exists() and not (tmp_path / "killed" / "result.json").exists()
    state = torch.load(tmp_path / "killed" / "last.ckpt", weights_only=True)
    assert len(state["learner"]["curve"]["validation"]) == EPOCH
    resumed = runner.run(SMALL, seed=3, folder=tmp_path / "killed")
    assert outcome(resumed) == outcome(whole)
    assert len(final) == 2 and equal(final)
    best = [torch.load(tmp_path / name / "model.pt", weights_only=True) for name in ("whole", "killed")]
    assert equal([list(state.values()) for state in best])
    assert resumed.cost.epochs == whole.cost.epochs == 6
    assert not (tmp_path / "killed" / "last.ckpt").exists()


def test_checkpoints_that_are_epochs_old_do_as_well(tmp_path, final, monkeypatch):
    """A run that loses epochs does them again, in the same way."""

    class Stop(Exception):
        pass

    whole = runner.run(SMALL, folder=tmp_path / "whole")
    usual, saved = Learner.on_train_epoch_start, []

    def stop(self):
        if self.current_epoch == 5 and not saved:
            saved.append(True)
            raise Stop
        # After the first epoch no checkpoint is due any more.
        [keeper] = [callback for callback in self.trainer.callbacks if hasattr(callback, "pause")]
        keeper.pause = 0 if self.current_epoch < 1 else 1e9
        usual(self)

    monkeypatch.setattr(Learner, "on_train_epoch_start", stop)
    with pytest.raises(Stop):
        runner.run(SMALL, folder=tmp_path / "stopped")
    state = torch.load(tmp_path / "stopped" / "last.ckpt", weights_only=True)
    assert len(state["learner"]["curve"]["validation"]) == 1
    assert outcome(runner.run(SMALL, folder=tmp_path / "stopped")) == outcome(whole)
    assert equal(final)


def test_seeds_decide_everything(tmp_path, final):
    torch.manual_seed(1)
    first = runner.run(SMALL, seed=0, folder=tmp_path / "0")
    state = torch.random.get_rng_state()
    torch.manual_seed(2)
    again = runner.run(SMALL, seed=0, folder=tmp_path / "again")
    other = runner.run(SMALL, seed=1, folder=tmp_path / "1")
    assert outcome(first) == outcome(again) and equal(final[:2])
    assert outcome(other) != outcome(first) and not equal(final[1:])
    torch.manual_seed(1)
    assert torch.equal(state, torch.random.get_rng_state())  # the caller's own random numbers are left alone


def test_patience(tmp_path, monkeypatch):
    """GIN tells no two graphs apart: no epoch is better than the first."""
    patient = config.load("sr25", "gin", ["training.epochs=50", "model.hidden=8", "training.patience=2"])
    result = runner.run(patient, folder=tmp_path / "whole")
    assert (result.cost.epochs, result.best.epoch, result.last.epoch) == (3, 0, 2)

    class Stop(Exception):
        pass

    def stop(self, batch, batch_idx):
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "test_step", stop)
        with pytest.raises(Stop):
            runner.run(patient, folder=tmp_path / "stopped", pause=0)
    assert outcome(runner.run(patient, folder=tmp_path / "stopped")) == outcome(result)


def test_a_run_ends_where_no_epoch_could_be_better(tmp_path, monkeypatch):
    usual = Learner.on_validation_epoch_end

    def pretend(self):
        monkeypatch.setattr(Learner, "_measure", lambda self: (0.5, 0.25, 1.0, 1.0)[self.current_epoch])
        usual(self)

    monkeypatch.setattr(Learner, "on_validation_epoch_end", pretend)
    result = runner.run(config.load("sr25", "gin", ["training.epochs=9", "model.hidden=8"]), folder=tmp_path)
    assert result.curve["validation"] == [0.5, 0.25, 1.0]
    assert (result.cost.epochs, result.best.epoch, result.last.epoch) == (3, 2, 2)


def test_what_a_result_tells(tmp_path):
    result = runner.run(QUICK, seed=4, folder=tmp_path)
    assert (result.spec, result.seed, result.fold, result.devices, result.metric) == (QUICK, 4, 0, 1, "accuracy")
    assert result.last.epoch == 2 and result.best.epoch <= 2
    assert result.best.test == result.best.validation == max(result.best.validation, result.last.validation)
    assert result.best.relabelled == pytest.approx(1 / 15)  # what GIN cannot do
    assert len(result.curve["loss"]) == len(result.curve["validation"]) == result.cost.epochs == 3
    assert result.cost.parameters == sum(p.numel() for p in runner.Experiment(QUICK).network().parameters())
    assert result.cost.peak_memory >= result.cost.base_memory > 10
    assert result.cost.seconds >= result.cost.seconds_per_epoch > 0
    assert {"elene", "torch", "torch-geometric", "python"} <= set(result.versions)
    assert {"processor", "cores"} <= set(result.machine)
    assert "SR25" in result.title and result.data == load("sr25").provenance
    assert read_result(tmp_path / "result.json") == result


def test_logs(tmp_path):
    result = runner.run(QUICK, folder=tmp_path)
    with open(tmp_path / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["0", "1", "2"]
    assert [float(row["loss"]) for row in rows] == pytest.approx(result.curve["loss"], rel=1e-4)
    assert [float(row["lr"]) for row in rows] == [0.002] * 3
    assert len(list(tmp_path.glob("events.out.tfevents*"))) == 1


def test_evaluating_less_often_changes_nothing_but_what_is_looked_at(tmp_path):
    rare = with_training(SMALL, evaluate_every=3)
    always, now_and_then = runner.run(SMALL, folder=tmp_path / "always"), runner.run(rare, folder=tmp_path / "rare")
    values = always.curve["validation"]
    assert now_and_then.curve == {
        "loss": always.curve["loss"],
        "validation": [None, None, values[2], None, None, values[5]],
    }
    assert now_and_then.last == always.last and now_and_then.best.epoch in (2, 5)
    assert read_result(tmp_path / "rare" / "result.json") == now_and_then
    with open(tmp_path / "rare" / "metrics.csv") as file:
        assert [bool(row["validation"]) for row in csv.DictReader(file)] == [False, False, True, False, False, True]
    with pytest.raises(ValueError, match="evaluate_every must divide epochs, 6"):
        config.load("sr25", "gin", ["training.epochs=6", "training.evaluate_every=4"])


def with_training(spec, **changes):
    return spec.model_copy(update={"training": spec.training.model_copy(update=changes)})


def test_the_last_epochs_are_trained_with_the_statistics_of_the_first_of_them(tmp_path, monkeypatch):
    usual, seen = Learner.training_step, []

    def watch(self, batch, batch_idx):
        loss = usual(self, batch, batch_idx)
        [rate] = {group["lr"] for group in self.trainer.optimizers[0].param_groups}
        norms = [module for module in self.network.modules() if hasattr(module, "running_mean")]
        seen.append((self.current_epoch, rate, [norm.running_mean.clone() for norm in norms]))
        return loss

    monkeypatch.setattr(Learner, "training_step", watch)
    plain = runner.run(SMALL, folder=tmp_path / "plain")
    seen.clear()
    frozen = runner.run(with_training(SMALL, frozen=0.5, frozen_lr=3e-4), folder=tmp_path / "frozen")
    assert frozen.curve["loss"][:3] == plain.curve["loss"][:3] and frozen.curve["loss"][3:] != plain.curve["loss"][3:]
    means = {epoch: [means for at, _, means in seen if at == epoch] for epoch in range(6)}
    first = means[3][0]
    assert all(all(map(torch.equal, first, later)) for epoch in (3, 4, 5) for later in means[epoch])
    assert len(first) > 4 and not any(map(torch.equal, first, means[2][-1]))
    assert [rate for epoch, rate, _ in seen if epoch >= 3] == pytest.approx(
        [rate for rate in (3e-4, 2e-4, 1e-4) for _ in means[3]]
    )
    assert frozen.best.validation >= frozen.last.validation


def test_a_run_stopped_among_the_last_epochs_ends_as_if_it_had_not_been(tmp_path, final, monkeypatch):
    class Stop(Exception):
        pass

    spec = with_training(SMALL, frozen=0.5, frozen_lr=3e-4)
    whole = runner.run(spec, folder=tmp_path / "whole")
    usual, stopped = Learner.on_train_epoch_start, []

    def stop(self):
        if self.current_epoch == 4 and not stopped:
            stopped.append(True)
            raise Stop
        usual(self)

    monkeypatch.setattr(Learner, "on_train_epoch_start", stop)
    with pytest.raises(Stop):
        runner.run(spec, folder=tmp_path / "stopped", pause=0)
    assert outcome(runner.run(spec, folder=tmp_path / "stopped", pause=0)) == outcome(whole) and equal(final)


def test_what_is_in_the_store_is_not_run_again(tmp_path, monkeypatch):
    store = Store(tmp_path / "results")
    first, made = runner.run_unless_stored(QUICK, store=store, folder=tmp_path / "runs")
    assert made and store.get(QUICK, origin_of("sr25"), 0) == first
    assert first.origin == origin_of("sr25") and first.origin.data == load("sr25").edition.sha256
    monkeypatch.setattr(runner, "run", None)
    assert runner.run_unless_stored(QUICK, store=store, folder=tmp_path / "runs") == (first, False)


def test_the_best_epoch_is_tested_with_its_own_weights(tmp_path):
    changes = ["training.epochs=4", "model.hidden=8", "training.lr=0.5", "dataset.target=star"]
    result = runner.run(config.load("counting.star", "gin", changes), folder=tmp_path)
    values = result.curve["validation"]
    assert result.best.epoch == values.index(min(values)) and result.best.relabelled is None
    experiment = runner.Experiment(result.spec)
    network = experiment.network()
    network.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    network.eval()
    with torch.no_grad():
        errors = [(network(batch) - batch.y).abs() for batch in experiment.loader("test")]
    assert result.best.test == pytest.approx(float(torch.cat(errors).mean()), rel=1e-5)


def test_two_processes_give_the_result_of_one(tmp_path):
    # Nodes must differ by their features: where all are alike, norms take away what some weights do, and Adam makes
    # steps of the rounding errors that their gradients are.
    changes = ["training.epochs=2", "model.layers=2", "model.hidden=16", "model.elene.omega=8"]
    found = config.load("graph-properties.radius", "gin+elene-nd", [*changes, "training.batch_size=1000"])
    one, two = (runner.run(found, folder=tmp_path / str(devices), devices=devices) for devices in (1, 2))
    assert two.devices == 2
    assert two.curve["loss"] == pytest.approx(one.curve["loss"], rel=1e-3)
    assert two.curve["validation"] == pytest.approx(one.curve["validation"], rel=1e-3)
    assert two.best.test == pytest.approx(one.best.test, rel=1e-3)


def test_a_process_that_fails_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(launch.sys, "executable", shutil.which("false"))
    with pytest.raises(ChildProcessError, match=r"process 0 of 2 failed"):
        runner.run(QUICK, folder=tmp_path, devices=2)


@pytest.mark.parametrize(
    ("settings", "message"), [({"devices": 0}, "devices must be at least 1"), ({"fold": 1}, "fold")]
)
def test_bad_input(tmp_path, settings, message):
    for devices in (1, 2):
        with pytest.raises(ValueError, match=message):
            runner.run(QUICK, folder=tmp_path, **{"devices": devices, **settings})
