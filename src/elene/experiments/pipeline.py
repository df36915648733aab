"""Pipeline: what a model without a neural network is, beside the specs of those that have one."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from elene.experiments.spec import Dataset

ROW = "logistic"


class Pipeline(BaseModel):
    """Logistic regression on the ELENE vectors of whole graphs.

    Args:
        dataset: which data set; its task must be to tell classes of graphs apart.
        classifier: there is one choice.
        k: depth of the ego-networks.
        row: the name of the model in tables of results.
        runs: how many folds to take the mean of.

    Example:
        >>> pipeline = Pipeline(dataset=Dataset(name="tu-mutag"))
        >>> pipeline.row, pipeline.identity == Pipeline(dataset=Dataset(name="tu-mutag"), k=1).identity
        ('logistic', False)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: Dataset
    classifier: Literal["logistic"] = "logistic"
    k: Annotated[int, Field(ge=0)] = 2
    row: str = ROW
    runs: int = 10

    @property
    def identity(self) -> str:
        """A short hash of what decides the result."""
        told = self.model_dump(mode="json", exclude={"row", "runs"})
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:10]
