"""What there is to say about a data set, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Task = Literal["classification", "binary", "regression", "multilabel"]
Metric = Literal["accuracy", "mae", "log10_mse", "roc_auc", "ap"]
SplitKind = Literal["fixed", "folds", "all"]

GENERATED, STORED = "generated", "stored"


@dataclass(frozen=True)
class Edition:
    """One content that a data set can have, and how it is recognised.

    Args:
        origin: ``"generated"`` by this library, ``"stored"`` in the folder that ``ELENE_DATA`` names, or the address it
            is downloaded from.
        graphs: how many graphs there are.
        nodes: how many nodes all graphs have; None where that is not known beforehand.
        arcs: how many arcs (twice the edges) all graphs have; None where that is not known beforehand.
        sha256: the hash of the content (:func:`elene.datasets.canonical.digest`); None where not known beforehand.
        label: what to add to the title wherever results are reported, such as ``"substitute train"``.
        note: where it comes from, and what to know about it.

    Example:
        >>> Edition("generated", 2, 32, 192).known_by("0" * 64, (2, 32, 192))
        True
    """

    origin: str
    graphs: int
    nodes: int | None = None
    arcs: int | None = None
    sha256: str | None = None
    label: str = ""
    note: str = ""

    @property
    def is_download(self) -> bool:
        """Whether it comes from the network."""
        return self.origin not in (GENERATED, STORED)

    def known_by(self, sha256: str, counts: tuple[int, int, int]) -> bool:
        """Whether a content with this hash and these numbers of graphs, nodes and arcs is this edition."""
        if self.sha256 is not None:
            return self.sha256 == sha256
        expected = (self.graphs, self.nodes, self.arcs)
        return all(want is None or want == got for want, got in zip(expected, counts, strict=True))


@dataclass(frozen=True)
class DatasetInfo:
    """A row of the registry.

    Args:
        name: what :func:`elene.datasets.load` is called with.
        title: what to call it in a table of results.
        family: which chapter of the listing it stands in.
        task: ``"classification"`` (one class of several), ``"binary"`` (one logit), ``"regression"`` or
            ``"multilabel"`` (a logit for each label; NaN where a label is missing).
        metric: ``"accuracy"``, ``"mae"``, ``"log10_mse"`` (for each target), ``"roc_auc"`` or ``"ap"``.
        outputs: how many numbers a model puts out: classes, targets or labels.
        split: ``"fixed"``, ``"folds"`` (ten), or ``"all"``: every graph is train, validation and test.
        editions: what its content may be; the first one is what is looked for first.
        level: whether graphs or nodes are judged.
        targets: names of the columns of ``y``, where it has names.
        scaled: whether targets are divided by their standard deviation over all graphs, as published.
        paired: whether graphs come in pairs, which stay together in folds made here.
        validation: one of so many parts of what a test fold leaves is for validation.
        node_categories: how many values each column of ``x`` can have; None where they are continuous.
        edge_categories: the same for ``edge_attr``; None where they are continuous or absent.
        paper: nodes and arcs of a graph on average, as the paper's table of data sets says.
        credit: who made it, and under which licence.
        note: what to know before using it.

    Example:
        >>> from elene.datasets.registry import find
        >>> info = find("sr25")
        >>> info.task, info.metric, info.outputs, info.split
        ('classification', 'accuracy', 15, 'all')
    """

    name: str
    title: str
    family: str
    task: Task
    metric: Metric
    outputs: int
    split: SplitKind
    editions: tuple[Edition, ...]
    level: Literal["graph", "node"] = "graph"
    targets: tuple[str, ...] = ()
    scaled: bool = False
    paired: bool = False
    validation: int = 9
    node_categories: tuple[int, ...] | None = (1,)
    edge_categories: tuple[int, ...] | None = None
    paper: tuple[float, float] | None = None
    credit: str = ""
    note: str = ""

    @property
    def generated(self) -> bool:
        """Whether the library makes it by itself."""
        return any(edition.origin == GENERATED for edition in self.editions)

    @property
    def download(self) -> Edition | None:
        """The edition that comes from the network, if there is one."""
        return next((edition for edition in self.editions if edition.is_download), None)
