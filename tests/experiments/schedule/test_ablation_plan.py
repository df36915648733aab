"""The ablation's runs: one setting at a time, equal schedules, every point once before any runs twice."""

from __future__ import annotations

import pytest

from elene.experiments import config
from elene.experiments.schedule.ablation import panels, plan_ablation, points


def by_change(row="gin+elene-nd"):
    return {point.change: point for point in points() if point.row == row}


def test_every_point_differs_from_the_default_in_one_setting():
    for point in points():
        for panel in filter(point.matters, panels()):
            wanted = config.load(
                panel.label, point.row, config.compressed(config.load(panel.label, point.row), panel.epochs)
            )
            told, base = (each.model_dump(mode="json") for each in (point.spec(panel), wanted))
            assert len(list(differences(told, base))) == bool(point.key), point


def differences(a, b):
    for key in a:
        if isinstance(a[key], dict) and isinstance(b[key], dict):
            yield from differences(a[key], b[key])
        elif a[key] != b[key]:
            yield key


def test_all_that_is_to_be_decided_is_there():
    assert {"frozen 0", "reestimate true"} <= set(by_change("gin"))
    network = {"head_norm layer", "head_norm none", "input_norm false", "edge_constant false"}
    assert network <= set(by_change("gin")) and network <= set(by_change())
    layer = {"phi 16", "phi 32", "phi 64", "skip elene", "joint false", "layers first", "layers half"}
    assert layer | {"update linear", "default"} <= set(by_change())
    assert not layer & set(by_change("gin"))


def test_a_value_is_left_out_where_it_is_the_default():
    """Defaults differ between data sets."""
    places = {
        change: {panel.label for panel in filter(point.matters, panels())} for change, point in by_change().items()
    }
    assert places["norm both"] == places["norm none"] - places["norm update"] == {"graph-properties.radius"}
    assert places["frozen 0.1"] == places["skip elene"] - places["frozen 0"] == {"zinc12k"}


def test_when_a_default_changes_the_old_one_takes_its_place(monkeypatch):
    """What is compared is always the default and all other values."""
    usual, before = config.load_network, [point.value for point in points() if point.name == "skip"]

    def other(source, row, changes=()):
        return usual(source, row, [f"model.skip={before[0]}", *changes])

    monkeypatch.setattr(config, "load_network", other)
    assert {point.value for point in points() if point.name == "skip"} == {"input", "elene"} - set(before)


def test_plans():
    jobs = plan_ablation()
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)
    assert {job.spec.dataset.label for job in jobs} == {panel.label for panel in panels() if not panel.asked}
    assert {job.spec.training.epochs for job in jobs if job.spec.dataset.name == "counting"} == {60}
    inputs = {job.spec.dataset.label for job in plan_ablation(["input_norm"])}
    assert inputs == {"graph-properties.radius"}
    zinc = plan_ablation(["skip", "default"], ["zinc12k"])
    assert [(job.spec.row, job.seed) for job in zinc] == [("gin", 0), ("gin+elene-nd", 0), ("gin+elene-nd", 0)]
    assert len(plan_ablation(["skip"], ["zinc12k"], seeds=3)) == 3
    with pytest.raises(ValueError, match="rows: 'skop' is not in this table: choose from default, head_norm"):
        plan_ablation(["skop"])
    with pytest.raises(ValueError, match="datasets: 'sr25' is not in this table"):
        plan_ablation(datasets=["sr25"])
