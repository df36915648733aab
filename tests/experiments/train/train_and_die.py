"""What the tests of the runner train; run as a script with a folder, a process that kills itself while it does."""

from __future__ import annotations

import os
import signal
import sys

from elene.experiments import config
from elene.experiments.train import runner
from elene.experiments.train.learner import Learner

EPOCH, STEP = 3, 2  # when it dies
SMALL = config.load(
    "sr25",
    "gin+elene-ed",
    [
        "training.epochs=6",
        "training.batch_size=4",
        "training.step=2",
        "model.hidden=16",
        "model.dropout=0.5",
        "model.elene.omega=8",
    ],
)


def make_deadly():
    usual = Learner.training_step

    def deadly(self, batch, batch_idx):
        if (self.current_epoch, batch_idx) == (EPOCH, STEP):
            os.kill(os.getpid(), signal.SIGKILL)
        return usual(self, batch, batch_idx)

    Learner.training_step = deadly


if __name__ == "__main__":
    make_deadly()
    runner.run(SMALL, seed=3, folder=sys.argv[1], pause=0)
