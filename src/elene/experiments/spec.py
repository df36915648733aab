"""Spec: what is trained on what and how, read from TOML; the paper's specs come with the library.

A spec file has the tables ``[dataset]``, ``[model]`` and ``[training]``. It may hold several models: a table
``[rows.NAME]`` says what is different in one of them, as in a row of a table of results.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from elene.experiments.complaints import complaint

Count = Annotated[int, Field(ge=1)]
Depth = Annotated[int, Field(ge=0)]
Pool = Literal["mean", "sum"]
Table = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _absent(value: Any) -> Any:
    # TOML has no null, and an override must be able to take away what a file has.
    return None if value == "none" else value


class Dataset(_Part):
    """Which data set, and which of its targets.

    Args:
        name: a name that :func:`elene.datasets.load` knows.
        target: the one target to learn, where the data set has several; None learns all of them.

    Example:
        >>> Dataset(name="counting", target="star").label
        'counting.star'
    """

    name: str
    target: Annotated[str | None, BeforeValidator(_absent)] = None

    @property
    def label(self) -> str:
        """The name, with the target behind a dot."""
        return self.name if self.target is None else f"{self.name}.{self.target}"


class Plain(_Part):
    """A conv that has no options: ``gin`` (GINE), ``gcn``, ``gat``, ``pna``, or ``none``: ELENE-L alone.

    >>> Plain(name="gin").name
    'gin'
    """

    name: Literal["gin", "gcn", "gat", "pna", "none"]


class Kernels(_Part):
    """A network on every k-hop subgraph in every layer, GIN inside: ``gin-ak`` or ``gin-ak+``.

    Args:
        name: which of them.
        k: depth of the subgraphs.
        pool: how the nodes of a subgraph are pooled.
        inner: how many GIN convs run on the subgraphs in a layer.
        subgraph: whether the pooled subgraph of a node is read beside its centroid.
        fuse: whether what is read is put side by side and mapped, ``"concat"``, or added up, ``"add"``.

    Example:
        >>> Kernels(name="gin-ak+", k=3).inner
        1
    """

    name: Literal["gin-ak", "gin-ak+"]
    k: Depth
    pool: Pool = "sum"
    inner: Count = 1
    subgraph: bool = True
    fuse: Literal["concat", "add"] = "concat"


class Nested(_Part):
    """One network of all layers on every k-hop subgraph, GIN inside: ``ngnn``.

    >>> Nested(name="ngnn", k=3).pool
    'mean'
    """

    name: Literal["ngnn"]
    k: Depth
    pool: Pool = "mean"


class Distances(_Part):
    """A layer that reads all nodes up to distance k: ``spnn`` or ``graphormer``.

    >>> Distances(name="spnn", k=5).k
    5
    """

    name: Literal["spnn", "graphormer"]
    k: Count


class Products(_Part):
    """Matrix products of features of all pairs of nodes: ``ppgn``.

    >>> Products(name="ppgn").name
    'ppgn'
    """

    name: Literal["ppgn"]


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


Conv = Annotated[Plain | Kernels | Nested | Distances | Products, Field(discriminator="name"), BeforeValidator(_named)]


class Encoding(_Part):
    """Counts of ego-networks as features: ELENE or IGEL vectors beside those of nodes and, if wanted, of edges.

    Args:
        name: ``"elene"`` or ``"igel"``.
        k: depth of the ego-networks.
        edges: what edges get: ``"none"``, the ``"product"`` of their ends' vectors, or their own ``"exact"`` encoding.
        max_degree: larger degrees count as this one; None takes the largest degree of the training graphs.
        log1p: take log(1 + count) instead of counts, which the published runs did not.

    Example:
        >>> Encoding(name="elene", k=2).edges
        'none'
    """

    name: Literal["elene", "igel"]
    k: Depth
    edges: Literal["none", "product", "exact"] = "none"
    max_degree: Depth | None = None
    log1p: bool = False


class Elene(_Part):
    """ELENE-L before convs: :class:`elene.nn.ELENE`.

    Args:
        level: ``"nd"``, node-centric, or ``"ed"``, edge-centric.
        k: depth of the ego-networks.
        max_degree: rho, the largest degree with an embedding of its own; 0 ignores degrees; None takes the largest
            degree of the training graphs.
        omega: length of the embeddings.
        pool: how an ego-network is pooled.
        share: whether all layers have the same embeddings.
        layers: which layers have it: ``"all"``, the ``"first"``, the first ``"half"``, or their numbers from 0.
        hidden: the width of phi; none takes that of the model.
        joint: whether distance and degree are embedded jointly.
        norm: whether the update (Phi) has a BatchNorm: ``"batch"`` or ``"none"``.
        pair_norm: whether phi has a BatchNorm over pairs.
        update: whether Phi ends in a relu, ``"nonlinear"``, or is ``"linear"``.

    Example:
        >>> Elene(level="nd", k=2, omega=16, layers="half").places(5)
        [0, 1, 2]
    """

    level: Literal["nd", "ed"]
    k: Depth
    max_degree: Depth | None = None
    omega: Count = 32
    pool: Pool = "mean"
    share: bool = False
    layers: Literal["all", "first", "half"] | tuple[Depth, ...] = "all"
    hidden: Annotated[Count | None, BeforeValidator(_absent)] = None
    joint: bool = True
    norm: Literal["batch", "none"] = "batch"
    pair_norm: bool = False
    update: Literal["nonlinear", "linear"] = "nonlinear"

    @model_validator(mode="after")
    def _check_norms(self) -> Self:
        if self.pair_norm and self.norm == "none":
            raise ValueError("elene.pair_norm needs elene.norm = batch: ELENE-L has both BatchNorms, or none in phi")
        return self

    def places(self, layers: int) -> list[int]:
        """The numbers of the layers that have it, of so many."""
        named = {"all": layers, "first": 1, "half": (layers + 1) // 2}
        return list(range(named[self.layers])) if isinstance(self.layers, str) else list(self.layers)


class Model(_Part):
    """The network.

    Args:
        conv: the kind of layer; a name, or a table with ``name`` and options.
        layers: how many of them.
        hidden: width of node features between layers.
        pool: how the nodes of a graph are pooled; ``"none"`` in node tasks.
        dropout: probability of dropping a feature after each layer.
        encoding: counts as additional features, or none.
        elene: ELENE-L before the convs, or none.
        virtual_node: whether all nodes of a graph talk to a virtual one.
        head_norm: the norm in the head: ``"batch"``, ``"layer"`` or ``"none"``.
        input_norm: whether a BatchNorm and a relu follow the projection of real-valued inputs.
        edge_constant: whether edges without features have a learned constant, which makes GINE of GIN.
        skip: what is added to a layer's output: its ``"input"``, or what ``"elene"`` made of that.

    The defaults of the last four are what the published runs had.

    Example:
        >>> Model(conv="gin", layers=3).conv
        Plain(name='gin')
    """

    conv: Conv
    layers: Count
    hidden: Count = 128
    pool: Literal["sum", "mean", "none"] = "sum"
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    encoding: Annotated[Encoding | None, BeforeValidator(_absent)] = None
    elene: Annotated[Elene | None, BeforeValidator(_absent)] = None
    virtual_node: bool = False
    head_norm: Literal["batch", "layer", "none"] = "batch"
    input_norm: bool = True
    edge_constant: bool = True
    skip: Literal["input", "elene"] = "input"

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        conv, elene = self.conv, self.elene
        if isinstance(conv, Products):
            kept = {"elene": elene, "dropout": self.dropout, "virtual_node": self.virtual_node, "pool": self.pool}
            changed = [name for name, value in kept.items() if value != type(self).model_fields[name].default]
            if changed:
                raise ValueError(f"conv ppgn has no place for {', '.join(changed)}: leave out what it cannot use")
        if elene is None and conv.name == "none":
            raise ValueError("conv none has nothing to learn from without elene: set model.elene")
        if elene is not None:
            if isinstance(conv, Nested):
                raise ValueError("conv ngnn and elene cannot be combined: choose one of them")
            if elene.level == "ed" and isinstance(conv, Kernels | Distances) and conv.k > elene.k:
                raise ValueError(f"conv.k ({conv.k}) must be at most elene.k ({elene.k}), which edges are encoded at")
            if not set(elene.places(self.layers)) <= set(range(self.layers)):
                raise ValueError(f"elene.layers must be numbers from 0 to {self.layers - 1}, got {list(elene.layers)}")
        return self

    @property
    def depth(self) -> int | None:
        """How deep the ego-networks are that the model reads; None if it reads none."""
        depths = [] if self.elene is None else [self.elene.k]
        if isinstance(self.conv, Kernels | Nested | Distances):
            depths.append(self.conv.k)
        return max(depths, default=None)


class Training(_Part):
    """How it is trained: Adam, the learning rate halved every so many epochs, the best validation epoch selected.

    Args:
        epochs: how often all training graphs are seen.
        step: after how many epochs the learning rate is halved, again and again; None never halves it.
        lr: the learning rate at the start.
        batch_size: graphs in a step, over all devices.
        patience: stop when validation has not improved for so many epochs; None goes on to the end.
        reestimate: whether the statistics of all BatchNorms are taken anew, over all training graphs, before each
            evaluation; else they are running means of the last batches.

    Example:
        >>> Training(epochs=100, step=50).rate(epoch=50)
        0.0005
    """

    epochs: Count
    step: Annotated[Count | None, BeforeValidator(_absent)] = None
    lr: Annotated[float, Field(gt=0)] = 1e-3
    batch_size: Count = 128
    patience: Annotated[Count | None, BeforeValidator(_absent)] = None
    reestimate: bool = True

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch."""
        return self.lr if self.step is None else float(self.lr * 0.5 ** (epoch // self.step))


class Spec(_Part):
    """What is trained on what and how.

    Args:
        dataset: see :class:`Dataset`.
        model: see :class:`Model`.
        training: see :class:`Training`.
        row: the name of the model in tables of results.
        runs: how many seeds, or folds, the paper takes the mean of.

    Example:
        >>> spec = load("zinc12k", row="gin+elene-nd")
        >>> spec.model.elene.k, spec.training.epochs, spec.runs
        (3, 310, 3)
        >>> load("zinc12k", row="gin", changes=["training.epochs=5"]).training.epochs
        5
    """

    dataset: Dataset
    model: Model
    training: Training
    row: str = "model"
    runs: Count = 1

    @field_validator("row")
    @classmethod
    def _check_row(cls, row: str) -> str:
        if not row or set(row) & set("/\\") or row.startswith("."):
            raise ValueError("must be a name that a folder can have")
        return row

    @property
    def identity(self) -> str:
        """A short hash of what decides the result: everything but the name of the row and the number of runs.

        Settings with their default values do not count, so that settings that are added later change no identity.
        """
        told = self.model_dump(mode="json", exclude={"row", "runs"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:10]


def load(source: str | os.PathLike[str], row: str | None = None, changes: Sequence[str] = ()) -> Spec:
    """The spec of a row of the paper, or of a file.

    Args:
        source: the label of a data set (see :func:`labels`) or the path of a TOML file.
        row: which of its models (see :func:`rows`); to be left out for files with only one.
        changes: settings to be changed, such as ``"training.epochs=5"``; values as in TOML, with or without quotes.

    Example:
        >>> load("sr25", row="gin+elene-ed").model.elene.level
        'ed'
        >>> load("sr25", row="gin", changes=["model.layer=3"])
        Traceback (most recent call last):
        ValueError: model.layer is not a setting: choose from conv, layers, hidden, pool, dropout, ...
    """
    table = _table(source)
    known = table.pop("rows", {})
    if row is None and known:
        raise ValueError(f"{source} has several models: choose a row of {', '.join(known)}")
    if row is not None:
        if row not in known:
            choices = f"choose from {', '.join(known)}" if known else "it has no rows, leave it out"
            raise ValueError(f"row {row!r} is not in {source}: {choices}")
        table = _merged(table, {"row": row, **known[row]})
    for change in changes:
        table = _merged(table, _parsed(change))
    return check(table)


def compressed(spec: Spec, epochs: int) -> list[str]:
    """The changes that make the schedule of a spec shorter, the learning rate halved in proportion.

    >>> compressed(load("zinc12k", row="gin"), epochs=31)
    ['training.epochs=31', 'training.step=5']
    """
    step = spec.training.step
    if step is None:
        return [f"training.epochs={epochs}"]
    return [f"training.epochs={epochs}", f"training.step={max(round(step * epochs / spec.training.epochs), 1)}"]


def check(table: Mapping[str, Any]) -> Spec:
    """A spec from plain tables, with errors that name the setting, the value and the choices.

    >>> check({"dataset": {"name": "sr25"}, "model": {"conv": "gin", "layers": 0}, "training": {"epochs": 1}})
    Traceback (most recent call last):
    ValueError: model.layers must be greater than or equal to 1, got 0
    """
    try:
        return Spec.model_validate(table)
    except ValidationError as error:
        raise ValueError(complaint(error, Spec)) from None


def labels() -> list[str]:
    """The data sets that the paper's specs are for, each with its target where one is to be chosen.

    >>> "counting.triangle" in labels(), "proximity-3" in labels()
    (True, True)
    """
    return [label for table in _shipped().values() for label in table["datasets"]]


def rows(source: str | os.PathLike[str]) -> list[str]:
    """The models that a data set of the paper, or a file, has specs for.

    >>> rows("sr25")[:2]
    ['gin', 'gin+elene']
    """
    return list(_table(source).get("rows", {}))


def _table(source: str | os.PathLike[str]) -> Table:
    """The tables of a file, or those that come with the library for a data set, as one."""
    for table in _shipped().values():
        if source in table["datasets"]:
            return _for_label(table, str(source))
    path = Path(source)
    if path.suffix == ".toml":
        return _read(path)
    close = get_close_matches(str(source), labels(), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(f"{str(source)!r} has no spec; {hint}choose from {', '.join(labels())}, or pass a .toml file")


def _for_label(table: Table, label: str) -> Table:
    name, _, target = label.partition(".")
    dataset = {"name": name, "target": target} if target else {"name": name}
    only = table.get("only", {}).get(label, {})
    shared = {key: value for key, value in table.items() if key not in ("datasets", "only")}
    return _merged(_merged(shared, {"dataset": dataset}), only)


def _read(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from error


@cache
def _shipped() -> dict[str, Table]:
    folder = files("elene.experiments") / "specs"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name: tomllib.loads(file.read_text(encoding="utf-8")) for file in found}


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    """Tables within tables, the new ones' values in place of the old ones'."""
    result = dict(old)
    for key, value in new.items():
        before = _named(result.get(key)) if key == "conv" else result.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return result


def _parsed(change: str) -> Table:
    """``"model.layers=3"`` as tables within tables."""
    key, sign, text = change.partition("=")
    if not sign or not all(part.isidentifier() for part in key.split(".")):
        raise ValueError(f"a change must look like training.epochs=5, got {change!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    for part in reversed(key.split(".")):
        value = {part: value}
    return dict(value)
