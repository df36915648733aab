"""Specs, read from TOML and checked: which model is trained on what, and how.

>>> from elene.experiments import config
>>> config.load("counting.star", row="gin", changes=["training.epochs=5"]).training.epochs
5
"""

from elene.experiments.config.loading import check, compressed, labels, load, load_network, rows, rows_of_label
from elene.experiments.config.spec import AnySpec, ClassicalSpec, Dataset, ExperimentSpec, Training

__all__ = [
    "AnySpec",
    "ClassicalSpec",
    "Dataset",
    "ExperimentSpec",
    "Training",
    "check",
    "compressed",
    "labels",
    "load",
    "load_network",
    "rows",
    "rows_of_label",
]
