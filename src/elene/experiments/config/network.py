"""What a network is made of, as settings: convs, encodings as features, ELENE-L."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Count = Annotated[int, Field(ge=1)]
Depth = Annotated[int, Field(ge=0)]
Pool = Literal["mean", "sum"]


class Settings(BaseModel):
    """Settings that are checked, do not change, and have no unknown names among them."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def absent(value: Any) -> Any:
    """None for ``"none"``: TOML has no null, and an override must be able to take away what a file has.

    >>> absent("none") is None
    True
    """
    return None if value == "none" else value


class PlainConv(Settings):
    """A conv that has no options.

    That is ``gin`` (GINE), ``gcn``, ``gat``, ``pna``, ``ppgn``, which multiplies matrices of features of all pairs of
    nodes, or ``none``: ELENE-L alone.

    >>> PlainConv(name="gin").name
    'gin'
    """

    name: Literal["gin", "gcn", "gat", "pna", "ppgn", "none"]


class GNNAKConv(Settings):
    """A network on every k-hop subgraph in every layer, GIN inside: ``gin-ak`` or ``gin-ak+``.

    Args:
        name: which of them.
        k: depth of the subgraphs.
        pool: how the nodes of a subgraph are pooled.
        inner: how many GIN convs run on the subgraphs in a layer.
        subgraph: whether the pooled subgraph of a node is read beside its centroid.
        fuse: whether what is read is put side by side and mapped, ``"concat"``, or added up, ``"add"``.

    Example:
        >>> GNNAKConv(name="gin-ak+", k=3).inner
        1
    """

    name: Literal["gin-ak", "gin-ak+"]
    k: Depth
    pool: Pool = "sum"
    inner: Count = 1
    subgraph: bool = True
    fuse: Literal["concat", "add"] = "concat"


class NGNNConv(Settings):
    """One network of all layers on every k-hop subgraph, GIN inside: ``ngnn``.

    >>> NGNNConv(name="ngnn", k=3).pool
    'mean'
    """

    name: Literal["ngnn"]
    k: Depth
    pool: Pool = "mean"


class DistanceConv(Settings):
    """A layer that reads all nodes up to distance k: ``spnn`` or ``graphormer``.

    >>> DistanceConv(name="spnn", k=5).k
    5
    """

    name: Literal["spnn", "graphormer"]
    k: Count


def named(value: Any) -> Any:
    """A table with a name, where there is only that.

    >>> named("gin")
    {'name': 'gin'}
    """
    return {"name": value} if isinstance(value, str) else value


Conv = Annotated[PlainConv | GNNAKConv | NGNNConv | DistanceConv, Field(discriminator="name"), BeforeValidator(named)]


class EncodingSettings(Settings):
    """Counts of ego-networks as features: ELENE or IGEL vectors beside those of nodes and, if wanted, of edges.

    Args:
        name: ``"elene"`` or ``"igel"``.
        k: depth of the ego-networks.
        edges: what edges get: ``"none"``, the ``"product"`` of their ends' vectors, or their own ``"exact"`` encoding.
        max_degree: larger degrees count as this one; None takes the largest degree of the training graphs.
        log1p: take log(1 + count) instead of counts.
        shares: divide each vector by its sum. The published runs had both, shares of logarithms.

    Example:
        >>> EncodingSettings(name="elene", k=2).edges
        'none'
    """

    name: Literal["elene", "igel"]
    k: Depth
    edges: Literal["none", "product", "exact"] = "none"
    max_degree: Depth | None = None
    log1p: bool = False
    shares: bool = False


class EleneSettings(Settings):
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
        norm: where there is a BatchNorm: in ``"both"`` the update (Phi) and phi, over pairs, as in the published runs;
            in the ``"update"`` alone; or ``"none"``.
        update: whether Phi ends in a relu, ``"nonlinear"``, or is ``"linear"``.

    Example:
        >>> EleneSettings(level="nd", k=2, omega=16, layers="half").places(5)
        [0, 1, 2]
    """

    level: Literal["nd", "ed"]
    k: Depth
    max_degree: Depth | None = None
    omega: Count = 32
    pool: Pool = "mean"
    share: bool = False
    layers: Literal["all", "first", "half"] | tuple[Depth, ...] = "all"
    hidden: Annotated[Count | None, BeforeValidator(absent)] = None
    joint: bool = True
    norm: Literal["both", "update", "none"] = "both"
    update: Literal["nonlinear", "linear"] = "nonlinear"

    def places(self, layers: int) -> list[int]:
        """The numbers of the layers that have it, of so many."""
        named = {"all": layers, "first": 1, "half": (layers + 1) // 2}
        return list(range(named[self.layers])) if isinstance(self.layers, str) else list(self.layers)


class Model(Settings):
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
        PlainConv(name='gin')
    """

    conv: Conv
    layers: Count
    hidden: Count = 128
    pool: Literal["sum", "mean", "none"] = "sum"
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    encoding: Annotated[EncodingSettings | None, BeforeValidator(absent)] = None
    elene: Annotated[EleneSettings | None, BeforeValidator(absent)] = None
    virtual_node: bool = False
    head_norm: Literal["batch", "layer", "none"] = "batch"
    input_norm: bool = True
    edge_constant: bool = True
    skip: Literal["input", "elene"] = "input"

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        conv, elene = self.conv, self.elene
        if conv.name == "ppgn":
            kept = {"elene": elene, "dropout": self.dropout, "virtual_node": self.virtual_node, "pool": self.pool}
            changed = [name for name, value in kept.items() if value != type(self).model_fields[name].default]
            if changed:
                raise ValueError(f"conv ppgn has no place for {', '.join(changed)}: leave out what it cannot use")
        if elene is None and conv.name == "none":
            raise ValueError("conv none has nothing to learn from without elene: set model.elene")
        if elene is not None:
            if isinstance(conv, NGNNConv):
                raise ValueError("conv ngnn and elene cannot be combined: choose one of them")
            if elene.level == "ed" and isinstance(conv, GNNAKConv | DistanceConv) and conv.k > elene.k:
                raise ValueError(f"conv.k ({conv.k}) must be at most elene.k ({elene.k}), which edges are encoded at")
            if not set(elene.places(self.layers)) <= set(range(self.layers)):
                raise ValueError(f"elene.layers must be numbers from 0 to {self.layers - 1}, got {list(elene.layers)}")
        return self

    @property
    def depth(self) -> int | None:
        """How deep the ego-networks are that the model reads; None if it reads none."""
        depths = [] if self.elene is None else [self.elene.k]
        if isinstance(self.conv, GNNAKConv | NGNNConv | DistanceConv):
            depths.append(self.conv.k)
        return max(depths, default=None)
