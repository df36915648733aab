"""What a model without a network is made of, as settings: scikit-learn estimators by name, and what is chosen among."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from elene.experiments.config.network import Count, Settings

PACKAGES = ("elene", "grakel", "sklearn")  # a result is a file, and must not say what else is imported


class Step(BaseModel):
    """One estimator or transformer, and its settings.

    Args:
        use: the class, with its module, such as ``"sklearn.svm.SVC"``; all other settings are its arguments, and may
            hold steps themselves, or name a function: ``{"function": "sklearn.metrics.pairwise.linear_kernel"}``.

    Example:
        >>> Step(use="sklearn.linear_model.LogisticRegression", max_iter=100).arguments
        {'max_iter': 100}
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    use: str

    @field_validator("use")
    @classmethod
    def _check_package(cls, use: str) -> str:
        module, _, name = use.rpartition(".")
        if module.partition(".")[0] not in PACKAGES or not name.isidentifier():
            raise ValueError(f"must be a class of {', '.join(PACKAGES)}, such as sklearn.svm.SVC")
        return use

    @property
    def arguments(self) -> dict[str, Any]:
        """What the class is called with."""
        return dict(self.model_extra or {})


class Classical(Settings):
    """Features of whole graphs, and an estimator of their classes on top of them.

    Args:
        features: steps from a list of graphs to a matrix with a row for each graph, or to a kernel matrix; fitted once
            on the training graphs.
        estimator: steps from that matrix to classes.
        grid: values to choose from by cross-validation among the training graphs, named as scikit-learn names the
            settings of a pipeline's steps: ``logisticregression__C``.
        folds: of that cross-validation.

    Example:
        >>> steps = {"features": [{"use": "elene.Encoder", "k": 1}], "estimator": [{"use": "sklearn.svm.SVC"}]}
        >>> Classical(**steps).folds
        5
    """

    features: tuple[Step, ...]
    estimator: tuple[Step, ...]
    grid: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    folds: Count = 5


def settings_of_pipeline(table: Any) -> Any:
    """A spec as it is now, made of one from when logistic regression was the only choice; any other is left as it is.

    >>> settings_of_pipeline({"classifier": "logistic", "k": 2, "row": "logistic"})["classical"]["folds"]
    5
    """
    if not isinstance(table, Mapping) or "classifier" not in table:
        return table
    others = {key: value for key, value in table.items() if key not in ("classifier", "k")}
    classical = {
        "features": [{"use": "elene.Encoder", "k": table["k"], "per": "graph", "log1p": True}],
        "estimator": [
            {"use": "sklearn.preprocessing.StandardScaler", "with_mean": False},
            {"use": "sklearn.linear_model.LogisticRegression", "max_iter": 10_000},
        ],
        "grid": {"logisticregression__C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
        "folds": 5,
    }
    return {**others, "classical": classical}
