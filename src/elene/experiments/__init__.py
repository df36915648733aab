"""Experiments: specs of what to train, a runner that trains it, and a store of what came out.

    >>> from elene.experiments import config
    >>> config.load("sr25", row="gin+elene-ed").training.epochs
    305

:func:`elene.experiments.train.runner.run` trains a spec, :class:`elene.experiments.results.store.Store` keeps results;
on the command line ``elene train`` does both.
"""

from elene.extras import need

need("experiments", "elene.experiments", "pydantic", "torch", "torch_geometric", "pytorch_lightning", "torchmetrics")
