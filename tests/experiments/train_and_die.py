"""A training process that kills itself: ``python train_and_die.py FOLDER DEVICES PAUSE EPOCH``; never at epoch -1."""

from __future__ import annotations

import os
import signal
import sys

from elene.experiments import runner, spec
from elene.experiments.training import Learner

CHANGES = [
    "training.epochs=6",
    "training.batch_size=4",
    "training.step=2",
    "model.hidden=16",
    "model.dropout=0.5",
    "model.elene.omega=8",
]


def kill_at(epoch):
    step = Learner.training_step

    def deadly(self, batch, batch_idx):
        if self.current_epoch == epoch and batch_idx == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(self, batch, batch_idx)

    Learner.training_step = deadly


if __name__ == "__main__":
    folder, devices, pause, epoch = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    kill_at(epoch)
    runner.run(spec.load("sr25", "gin+elene-ed", CHANGES), seed=3, folder=folder, devices=devices, pause=pause)
