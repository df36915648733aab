"""Short runs that measure cost: every number of the paper's table, each in a process of its own."""

from __future__ import annotations

import pytest

from elene.experiments import config
from elene.experiments.report.cost import published
from elene.experiments.schedule import cost
from elene.experiments.schedule.planning import PlannedRun


def test_every_number_of_the_paper_can_be_run():
    planned = {job.kind for job in cost.plan_cost()}
    assert {(label, row) for row, costs in published().items() for label in costs} <= planned
    assert {job.spec.training.epochs for job in cost.plan_cost()} == {cost.EPOCHS}
    with pytest.raises(ValueError, match="rows: 'ngnn' is not in this table"):
        cost.plan_cost(["ngnn"])


def test_a_run_has_a_process_of_its_own(tmp_path):
    job = PlannedRun(config.load("sr25", "gin", ["training.epochs=2", "model.hidden=8"]), 0, 0)
    found = cost.perform(job, tmp_path)
    assert found.spec == job.spec and found.name == job.name and found.cost.epochs == 2
