"""RPC, BREC's protocol for models that are trained (reliable paired comparison): does training tell two graphs apart?

For each pair a new network is trained to give both graphs embeddings that point away from each other, from relabelled
copies of them. Hotelling's T2 test then decides whether the embeddings of new copies differ; and the same test between
copies of one graph must find no difference, or the model is not reliable and the pair does not count.

Where this is stricter than BREC's own code, and where it has to be more careful:

- The test is on copies that the network was not trained on, so that numberings learned by heart do not count.
- A network that does not depend on numbering gives all copies of a graph one embedding. Its covariance is rounding, or
  zero, and so T2 is a quotient of rounding errors, or zero. Therefore embeddings are computed in double precision, and
  have a resolution: differences below it, relative to the embeddings' size, are none. Its square is added to the
  variances, in place of a pseudo-inverse, which takes two different constants for equal.
- In training, BatchNorm magnifies the rounding errors of graphs whose nodes all look alike, up to what a network can
  learn: a low loss is no evidence, the test is.
- T2 is the textbook's, with the factor q (32) that BREC's code leaves out; BREC's threshold of 72.34 is that of the
  textbook's statistic. For networks that do not depend on numbering this makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Data, InMemoryDataset

from elene.datasets import BrecPair
from elene.experiments.config.network import Settings
from elene.experiments.config.spec import ExperimentSpec, Training
from elene.experiments.data.batches import Stock, seed_of
from elene.experiments.data.preparation import Columns, Preparation, Shape
from elene.experiments.data.selection import relabelled
from elene.experiments.train.networks import build
from elene.graph import Graph
from elene.inmemory import restored
from elene.nn import Ego

COPIES = 32
DIM = 16
LEVEL = 0.95
ENOUGH = 0.2  # the loss at which training stops: the mean cosine between the embeddings of the two graphs
RESOLUTION = 1e-8  # copies of a graph were seen to differ by 1e-14, graphs that are told apart by 1e-3 and more


def threshold(copies: int = COPIES, dim: int = DIM, level: float = LEVEL) -> float:
    """What T2 stays below with probability ``level``, where normally distributed differences have mean zero.

    .. math:: (q-1) d / (q-d) \\; F_{d, q-d}^{-1}(level)

    Args:
        copies: q, the number of differences.
        dim: d, the length of an embedding.
        level: one minus the probability of a false alarm.

    Example:
        >>> round(threshold(), 2)  # as BREC has it
        72.34
    """
    from scipy.stats import f

    return float((copies - 1) * dim / (copies - dim) * f.ppf(level, dim, copies - dim))


def hotelling(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Hotelling's T2 of the differences between embeddings, which have a resolution relative to the largest number.

    .. math:: T^2 = q \\, \\bar{D}^T (S + \\epsilon^2 I)^{-1} \\bar{D}

    Shapes:
        a and b ``(copies, dim)``; a row of one belongs to the same row of the other.

    Example:
        >>> random = np.random.default_rng(0)
        >>> a, b = random.normal(size=(2, 32, 16))
        >>> hotelling(a, b) < threshold() < hotelling(a + 5, b)
        True
        >>> hotelling(np.ones((32, 16)), np.ones((32, 16)) + 1e-12) < threshold()
        True
    """
    size = max(np.abs(a).max(), np.abs(b).max())
    if size == 0:
        return 0.0
    differences = (a - b) / size
    mean = differences.mean(axis=0)
    # Singular values, since the squares of small ones would be lost in a covariance matrix beside those of large ones.
    _, spread, directions = np.linalg.svd(differences - mean, full_matrices=False)
    variances = spread**2 / (len(a) - 1) + RESOLUTION**2
    return float(len(a) * np.sum((directions @ mean) ** 2 / variances))


class PairResult(Settings):
    """What RPC says about a pair.

    Args:
        pair: its number in BREC.
        category: one of BREC's four.
        subcategory: the finer group.
        distinguished: whether the graphs are told apart: their T2 is above the threshold, and ``reliable``.
        reliable: whether the T2 of copies of one graph is below it.
        t2: between copies of the two graphs.
        t2_self: between copies of the first graph.
        loss: the mean cosine between embeddings in the last epoch of training, 0 if it is negative.
        epochs: how many there were.
        seconds: what it all took.
    """

    pair: int
    category: str
    subcategory: str
    distinguished: bool
    reliable: bool
    t2: float
    t2_self: float
    loss: float
    epochs: int
    seconds: float


def run_pair(pair: BrecPair, spec: ExperimentSpec, seed: int = 0) -> PairResult:
    """Train the model of a spec to tell a pair apart, and test whether it does.

    Args:
        pair: one of those that :func:`elene.datasets.read_brec` gives.
        spec: its model gets a head with 16 outputs; its training is for each pair, and stops early where that suffices.
        seed: of weights and relabellings.

    Example:
        >>> from elene.datasets import rook, shrikhande
        >>> from elene.experiments import config
        >>> pair = BrecPair(0, "Regular", "strongly_regular", rook(), shrikhande())
        >>> small = ["model.hidden=16", "model.layers=2"]
        >>> [run_pair(pair, config.load("brec", row, small)).distinguished for row in ("gin", "gin+elene-ed")]
        [False, True]
    """
    if spec.training.patience is not None:
        raise ValueError("training.patience is about validation graphs, which RPC has not: leave it out")
    started = perf_counter()
    trial = _Trial(pair, spec, seed)
    loss, epochs = trial.train()
    t2, t2_self = trial.test((pair.a, pair.b)), trial.test((pair.a, pair.a))
    return PairResult(
        pair=pair.index,
        category=pair.category,
        subcategory=pair.subcategory,
        distinguished=t2 > threshold() > t2_self,
        reliable=t2_self < threshold(),
        t2=_rounded(t2),
        t2_self=_rounded(t2_self),
        loss=_rounded(loss),
        epochs=epochs,
        seconds=round(perf_counter() - started, 2),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


class _Step(NamedTuple):
    """Relabelled copies of the two graphs in turn, and their ego-network lists."""

    batch: Data
    ego: Ego | None


class _Trial:
    """One pair, and the network that is to tell it apart."""

    def __init__(self, pair: BrecPair, spec: ExperimentSpec, seed: int) -> None:
        self.pair, self.training, self.seed = pair, spec.training, seed
        copies = self._copies((pair.a, pair.b), "train")
        self.preparation = Preparation.learn(spec.model, copies, torch.arange(len(copies)))
        self.steps = self._steps(copies)
        with torch.random.fork_rng():
            torch.manual_seed(self._seed("weights"))
            self.network = build(self.preparation, _shape(self.steps[0].batch))

    def _seed(self, purpose: str) -> int:
        return seed_of("rpc", purpose, self.seed, self.pair.index)

    def _copies(self, graphs: tuple[Graph, Graph], purpose: str) -> InMemoryDataset:
        data, slices = InMemoryDataset.collate([_data(graph) for graph in graphs * COPIES])
        return relabelled(restored(InMemoryDataset(), data, slices), self._seed(purpose))

    def _steps(self, copies: InMemoryDataset) -> list[_Step]:
        stock, both = Stock(self.preparation(copies)), 2 * max(self.training.batch_size // 2, 1)
        batches = [stock.gather(part) for part in torch.arange(2 * COPIES).split(both)]
        return [_Step(batch, Ego.of(batch) if "ego_shape" in batch else None) for batch in batches]

    def train(self) -> tuple[float, int]:
        """The loss of the last epoch, and how many epochs there were."""
        with torch.random.fork_rng():
            torch.manual_seed(self._seed("training"))
            return _train(self.network, self.steps, self.training)

    def test(self, graphs: tuple[Graph, Graph]) -> float:
        """T2 between new copies of two graphs."""
        self.network.double().eval()
        steps = self._steps(self._copies(graphs, "test" if graphs[0] is not graphs[1] else "reliability"))
        with torch.no_grad():
            found = torch.cat([_embed(self.network, step) for step in steps]).numpy()
        if not np.isfinite(found).all():
            raise ValueError(f"training went astray at pair {self.pair.index}: take a lower training.lr")
        return hotelling(found[0::2], found[1::2])


def _data(graph: Graph) -> Data:
    arcs = torch.from_numpy(np.hstack([graph.edges.T, graph.edges.T[::-1]]).astype(np.int64))
    return Data(x=torch.zeros(graph.num_nodes, 1, dtype=torch.long), edge_index=arcs)


def _shape(batch: Data) -> Shape:
    edges = Columns((), 0, batch.edge_attr.shape[1]) if "edge_attr" in batch else None
    return Shape(Columns((1,), 0, batch.x.shape[1] - 1), edges, DIM, "graph")


def _embed(network: nn.Module, step: _Step) -> Tensor:
    return network(step.batch) if step.ego is None else network(step.batch, step.ego)


def _train(network: nn.Module, steps: Sequence[_Step], training: Training) -> tuple[float, int]:
    optimizer = torch.optim.Adam(network.parameters())
    network.train()
    for epoch in range(training.epochs):
        for group in optimizer.param_groups:
            group["lr"] = training.rate(epoch)
        losses = []
        for step in steps:
            found = _embed(network, step)
            loss = F.cosine_embedding_loss(found[0::2], found[1::2], -found.new_ones(len(found) // 2))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        mean = sum(losses) / len(losses)
        if mean < ENOUGH:
            break
    return mean, epoch + 1
