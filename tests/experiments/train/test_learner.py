from __future__ import annotations

import math

import pytest
import sklearn.metrics
import torch
from torch import nn

from elene.experiments.config.spec import Training
from elene.experiments.train.learner import Learner
from elene.experiments.train.objective import Objective


@pytest.fixture
def random():
    return torch.Generator().manual_seed(0)


def test_accuracies(random):
    output, y = torch.randn(60, 4, generator=random), torch.randint(0, 4, (60,), generator=random)
    best = output.argmax(1)
    assert Objective("classification", "accuracy", 4).measure(output, y) == pytest.approx(
        float((best == y).double().mean())
    )
    balanced = sklearn.metrics.balanced_accuracy_score(y, best)
    assert Objective("classification", "balanced_accuracy", 4).measure(output, y) == pytest.approx(balanced)
    logit, truth = output[:, :1], y % 2
    right = ((logit[:, 0] > 0).long() == truth).double().mean()
    assert Objective("binary", "accuracy", 1).measure(logit, truth) == pytest.approx(float(right))


def test_errors(random):
    output, y = torch.randn(60, 3, generator=random), torch.randn(60, 3, generator=random)
    assert Objective("regression", "mae", 3).measure(output, y) == pytest.approx(float((output - y).abs().mean()))
    expected = sum(math.log10(float((output[:, i] - y[:, i]).square().mean())) for i in range(3)) / 3
    assert Objective("regression", "log10_mse", 3).measure(output, y) == pytest.approx(expected)
    one = Objective("regression", "log10_mse", 1).measure(output[:, :1], y[:, :1])
    assert one == pytest.approx(math.log10(float((output[:, 0] - y[:, 0]).square().mean())))


def test_ranks(random):
    # Logits so large that single precision would make ties of them.
    output, y = 40 + 10 * torch.randn(200, 1, generator=random), torch.randint(0, 2, (200,), generator=random)
    expected = sklearn.metrics.roc_auc_score(y, output[:, 0].double())
    assert Objective("binary", "roc_auc", 1).measure(output[:100], y[:100]) == pytest.approx(
        sklearn.metrics.roc_auc_score(y[:100], output[:100, 0].double().sigmoid())
    )
    assert Objective("binary", "roc_auc", 1).measure(output - 40, y) == pytest.approx(expected)


def test_average_precision_leaves_out_labels_that_say_nothing(random):
    output = torch.randn(80, 4, generator=random)
    y = (torch.rand(80, 4, generator=random) < 0.3).float()
    y[torch.rand(80, 4, generator=random) < 0.2] = torch.nan
    y[:, 1] = torch.where(y[:, 1].isnan(), torch.nan, 0.0)
    y[:, 2] = torch.where(y[:, 2].isnan(), torch.nan, 1.0)
    parts = []
    for label in (0, 3):
        known = ~y[:, label].isnan()
        parts.append(sklearn.metrics.average_precision_score(y[known, label], output[known, label]))
    objective = Objective("multilabel", "ap", 4)
    assert objective.measure(output, y) == pytest.approx(sum(parts) / 2, abs=1e-6)
    assert math.isnan(objective.measure(output[:, 1:3], y[:, 1:3]))


def test_losses(random):
    output, y = torch.randn(30, 3, generator=random), torch.randint(0, 3, (30,), generator=random)
    expected = -output.log_softmax(1)[torch.arange(30), y].mean()
    assert Objective("classification", "accuracy", 3).loss(output, y) == pytest.approx(float(expected))
    weight = torch.tensor([float((y != label).double().mean()) for label in range(3)])
    weighted = -(output.log_softmax(1)[torch.arange(30), y] * weight[y]).sum() / weight[y].sum()
    assert float(Objective("classification", "balanced_accuracy", 3).loss(output, y)) == pytest.approx(float(weighted))
    truth = (y > 0).float()
    cross = -(truth * output[:, 0].sigmoid().log() + (1 - truth) * (-output[:, 0]).sigmoid().log()).mean()
    assert float(Objective("binary", "roc_auc", 1).loss(output[:, :1], y > 0)) == pytest.approx(float(cross))
    several = torch.stack([truth, torch.full((30,), torch.nan)], dim=1)
    assert float(Objective("multilabel", "ap", 2).loss(output[:, :2], several)) == pytest.approx(float(cross))
    target = torch.randn(30, 3, generator=random)
    assert float(Objective("regression", "mae", 3).loss(output, target)) == pytest.approx(
        float((output - target).abs().mean())
    )
    squared = float((output - target).square().mean())
    assert float(Objective("regression", "log10_mse", 3).loss(output, target)) == pytest.approx(squared)


@pytest.mark.parametrize(("metric", "better", "worse"), [("mae", 1, 2), ("log10_mse", -3, -2), ("accuracy", 1, 0)])
def test_better(metric, better, worse):
    objective = Objective("regression", metric, 1)
    assert objective.better(better, than=worse)
    assert not objective.better(worse, than=better) and not objective.better(worse, than=worse)


@pytest.mark.parametrize(
    ("task", "metric", "best", "nearly"),
    [
        ("regression", "mae", 0.0, 1e-30),
        ("regression", "log10_mse", -math.inf, -300.0),
        ("classification", "accuracy", 1.0, 0.999999),
        ("binary", "roc_auc", 1.0, 0.999999),
    ],
)
def test_perfect(task, metric, best, nearly):
    objective = Objective(task, metric, 1)
    assert objective.perfect(best) and not objective.perfect(nearly) and objective.better(best, than=nearly)


def test_what_a_checkpoint_holds_is_remembered():
    make = lambda: Learner(nn.Linear(2, 1), Objective("regression", "mae", 1), Training(epochs=3), seed=0)  # noqa: E731
    learner, other, checkpoint = make(), make(), {}
    learner.curve["loss"].append(0.5)
    learner.best_epoch, learner.best_state = 0, {"weight": torch.ones(1)}
    learner.on_save_checkpoint(checkpoint)
    other.on_load_checkpoint(checkpoint)
    assert (other.curve, other.best_epoch, other.best_state) == (learner.curve, 0, learner.best_state)
