"""PairNorm: BatchNorm over the pairs inside phi, with no pair stored."""

from __future__ import annotations

from torch import Tensor, nn

from elene.nn.entries import Entries
from elene.nn.functional import entry_moments


class PairNorm(nn.BatchNorm1d):
    r"""BatchNorm of :math:`z(e) = x_i + y_j + \mathrm{table}_c` over the entries :math:`e` of a list.

    A norm is affine, so it goes into the parts: :math:`\mathrm{relu}(\mathrm{norm}(z(e)))` is what
    :func:`elene.nn.functional.ego_reduce` sums for the parts that come out. Numbers, settings, running statistics and
    evaluation are those of ``nn.BatchNorm1d`` applied to all entries, stacked; a list without entries changes nothing.

    Args:
        width: the width of x, y and table.
        eps: added to the variance.
        momentum: how much of the running statistics each batch replaces; None for the average over all batches.
        affine: whether to learn a scale and a shift.

    Shapes:
        x ``(rows, width)``, y ``(columns, width)``, table ``(codes, width)``; three tensors of these shapes come out.

    Example:
        >>> import torch
        >>> from elene.nn.functional import ego_reduce
        >>> entries = Entries(torch.tensor([2]), torch.tensor([0, 1]), torch.tensor([[0], [0]]), 2)
        >>> parts = PairNorm(1)(torch.zeros(1, 1), torch.tensor([[3.0], [-5.0]]), torch.ones(1, 1), entries)
        >>> ego_reduce(*parts, entries, pool="sum")[0].round(decimals=3).tolist()
        [[1.0]]
    """

    def __init__(self, width: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True) -> None:
        super().__init__(width, eps, momentum, affine)

    def forward(  # type: ignore[override]
        self, x: Tensor, y: Tensor, table: Tensor, entries: Entries
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The parts, scaled and shifted so that their sum over an entry is normalised."""
        mean, variance = self._statistics(x, y, table, entries)
        scale = (variance + self.eps).rsqrt()
        if self.weight is not None:
            scale = scale * self.weight
        shift = -mean * scale
        if self.bias is not None:
            shift = shift + self.bias
        scale, shift = scale.to(x.dtype), shift.to(x.dtype)
        return x * scale + shift, y * scale, table * scale

    def _statistics(self, x: Tensor, y: Tensor, table: Tensor, entries: Entries) -> tuple[Tensor, Tensor]:
        """Of the batch in training, where there is one; else those that were kept."""
        assert self.running_mean is not None and self.running_var is not None
        if self.training:
            count, mean, variance = self._moments(x, y, table, entries)
            if count == 1:
                raise ValueError("in training PairNorm needs more than one entry to take a variance of, got 1")
            if count > 1:
                self._remember(mean.detach(), variance.detach() * (count / (count - 1)))
                return mean, variance
        return self.running_mean, self.running_var

    def _moments(self, x: Tensor, y: Tensor, table: Tensor, entries: Entries) -> tuple[int, Tensor, Tensor]:
        """How many entries there are, their mean and their variance."""
        return len(entries.columns), *entry_moments(x, y, table, entries)

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        share = 1 / int(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), share)
        self.running_var.lerp_(variance.to(self.running_var.dtype), share)
