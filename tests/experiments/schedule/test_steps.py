"""Times of training steps: all of what is asked for, once, and nothing else disturbed."""

from __future__ import annotations

from math import isfinite

import pytest
import torch

from elene.experiments import config
from elene.experiments.schedule import steps
from elene.experiments.schedule.ablation import Point, panels
from elene.experiments.schedule.steps import StepTimes, read_steps, time_points, time_steps
from made_up import origin

PANEL = next(panel for panel in panels() if panel.label == "counting.triangle")


def test_each_model_takes_some_time():
    specs = {row: config.load_network("sr25", row) for row in ("gin", "gin+elene-nd")}
    before = torch.random.get_rng_state()
    found = time_steps(specs, rounds=2)
    assert list(found.seconds) == ["gin", "gin+elene-nd"]
    assert all(seconds > 0 and isfinite(seconds) for seconds in found.seconds.values())
    assert found.machine["threads"] == torch.get_num_threads()
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.fixture
def asked(monkeypatch):
    """What was timed, call by call."""
    calls = []

    def fake(specs):
        calls.append(list(specs))
        return StepTimes(seconds=dict.fromkeys(specs, 1.0), code=origin().code, machine={})

    monkeypatch.setattr(steps, "time_steps", fake)
    return calls


def test_points_are_timed_side_by_side_or_not_at_all(tmp_path, asked):
    layer, phi = Point("gin", "model.head_norm", "layer"), Point("gin+elene-nd", "model.elene.hidden", "16")
    assert read_steps(tmp_path, PANEL) is None
    time_points(tmp_path, PANEL, [layer])
    time_points(tmp_path, PANEL, [layer])
    assert asked == [["GIN, default", "GIN, head_norm layer"]]
    time_points(tmp_path, PANEL, [layer, phi])
    assert asked[1:] == [["GIN, default", "GIN, head_norm layer", "GIN+ELENE-L (ND), phi 16"]]
    assert read_steps(tmp_path, PANEL).seconds == dict.fromkeys(asked[1], 1.0)
