"""BatchNorm: over the batch of all processes, on any device (torch's own needs CUDA); and statistics taken anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from elene.nn import Entries, PairNorm


class _Total(torch.autograd.Function):
    """The sum over all processes; so is its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        total = grads[0].clone()
        dist.all_reduce(total)
        return total


class SharedBatchNorm(nn.BatchNorm1d):
    """BatchNorm whose mean and variance in training are those of all processes' rows.

    In a process of its own it is ``nn.BatchNorm1d``.

    Shapes:
        ``(rows, channels)`` in and out.

    Example:
        >>> SharedBatchNorm(4)(torch.randn(3, 4)).shape
        torch.Size([3, 4])
    """

    def forward(self, x: Tensor) -> Tensor:
        """The normalised rows."""
        if not (self.training and dist.is_initialized()):
            return super().forward(x)
        sums = _Total.apply(torch.cat([x.sum(0), x.new_full((1,), len(x))]))
        count, mean = sums[-1].detach(), sums[:-1] / sums[-1].detach()
        centred = x - mean
        variance = _Total.apply(centred.square().sum(0)) / count
        self._remember(mean.detach(), variance.detach() * (count / (count - 1)))
        return centred * (variance + self.eps).rsqrt() * self.weight + self.bias

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        assert self.num_batches_tracked is not None
        assert self.running_mean is not None and self.running_var is not None
        self.num_batches_tracked += 1
        # Without a momentum, torch's running statistics are means of all batches.
        share = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean, share)
        self.running_var.lerp_(variance, share)


class SharedPairNorm(PairNorm):
    """PairNorm whose mean and variance in training are those of all processes' entries.

    In a process of its own it is :class:`elene.nn.PairNorm`.
    """

    def _moments(self, x: Tensor, y: Tensor, table: Tensor, entries: Entries) -> tuple[int, Tensor, Tensor]:
        mine, mean, variance = super()._moments(x, y, table, entries)
        if not dist.is_initialized():
            return mine, mean, variance
        sums = _Total.apply(torch.cat([mine * mean.double(), mean.new_full((1,), mine).double()]))
        count = int(sums[-1])
        overall = (sums[:-1] / max(count, 1)).to(mean.dtype)
        # Each process has squares around a mean of its own: how far that lies from the mean of all comes on top.
        squares = _Total.apply(mine * (variance + (mean - overall).square()))
        return count, overall, squares / max(count, 1)


def share_batch_norms(network: nn.Module) -> nn.Module:
    """Let every BatchNorm of a network share its statistics; gives the network itself.

    >>> share_batch_norms(nn.Sequential(nn.BatchNorm1d(4)))
    Sequential(
      (0): SharedBatchNorm(4, ...)
    )
    """
    shared = {nn.BatchNorm1d: SharedBatchNorm, PairNorm: SharedPairNorm}
    for module in network.modules():
        # It has the same parameters and buffers, and stands where it stood.
        module.__class__ = shared.get(type(module), type(module))
    return network


def reestimate(network: nn.Module, batches: Iterable[Any]) -> None:
    """Replace the running statistics of every BatchNorm by means over batches, with the weights as they are now.

    Running means follow the last few batches, and weights that have changed since: where graphs are few and unlike each
    other, what is evaluated with them jumps from epoch to epoch.

    >>> network = nn.BatchNorm1d(1)
    >>> reestimate(network, [torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])])
    >>> network.running_mean.tolist(), network.training
    ([4.0], True)
    """
    with torch.no_grad(), _only_statistics(network):
        for batch in batches:
            network(batch)


def freeze(network: nn.Module) -> None:
    """Let every BatchNorm keep its statistics in training, too; its weights go on learning.

    >>> network = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))
    >>> freeze(network)
    >>> [module.training for module in network]
    [True, False]
    """
    for norm in _norms(network):
        norm.eval()


def _norms(network: nn.Module) -> list[nn.modules.batchnorm._NormBase]:
    return [module for module in network.modules() if isinstance(module, nn.modules.batchnorm._NormBase)]


@contextmanager
def _only_statistics(network: nn.Module) -> Iterator[None]:
    """Evaluation but for the BatchNorms, which take plain means from scratch."""
    norms = _norms(network)
    modes = {module: module.training for module in network.modules()}
    momenta = [norm.momentum for norm in norms]
    network.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        for module, mode in modes.items():
            module.training = mode
