from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from elene.nn import Entries, PairNorm
from elene.nn.functional import ego_reduce
from entries import example, stacked

WIDTH = 3


def pair(seed=0, **options):
    """PairNorm and the BatchNorm that it stands for, with the same drawn weights."""
    torch.manual_seed(seed)
    mine, usual = PairNorm(WIDTH, **options).double(), nn.BatchNorm1d(WIDTH, **options).double()
    if mine.affine:
        for parameter in (mine.weight, mine.bias):
            nn.init.normal_(parameter)
        usual.load_state_dict(mine.state_dict())
    return mine, usual


def assert_same_state(mine, usual):
    for name, value in usual.state_dict().items():
        assert torch.allclose(mine.state_dict()[name], value), name


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    codes=st.integers(1, 2),
    momentum=st.sampled_from([0.1, 0.7, None]),
    affine=st.booleans(),
)
def test_is_batch_norm_of_all_entries_stacked(seed, codes, momentum, affine):
    mine, usual = pair(seed, momentum=momentum, affine=affine)
    for step in range(3):
        tensors, entries = example(seed + step, codes=codes)
        if len(entries.columns) < 2:
            continue
        expected = usual(stacked(tensors, entries))
        found = stacked(mine(*tensors, entries), entries)
        assert torch.allclose(found, expected, atol=1e-10)
        inputs = [*tensors, *mine.parameters()], [*tensors, *usual.parameters()]
        grads = [
            torch.autograd.grad(out.sin().sum(), given, allow_unused=True)
            for out, given in zip((found, expected), inputs, strict=True)
        ]
        for a, b in zip(*grads, strict=True):
            assert torch.allclose(a, torch.zeros_like(a) if b is None else b, atol=1e-8)
        assert_same_state(mine, usual)
    mine.eval(), usual.eval()
    tensors, entries = example(seed + 9, rows=1, codes=codes)
    z = stacked(tensors, entries)
    assert torch.allclose(stacked(mine(*tensors, entries), entries), usual(z) if len(z) else z, atol=1e-10)
    assert_same_state(mine, usual)


@pytest.mark.parametrize("codes", [1, 2])
def test_gradcheck_through_the_sum(codes):
    tensors, entries = example(3, codes=codes)
    norm, _ = pair()
    assert torch.autograd.gradcheck(lambda *t: ego_reduce(*norm(*t, entries), entries, by_column=True), tensors)


def test_no_entries_change_nothing_and_one_is_refused():
    norm, _ = pair()
    before = copy.deepcopy(norm.state_dict())
    none = torch.empty(0, dtype=torch.int32)
    parts = norm(
        *(torch.ones(n, WIDTH).double() for n in (2, 2, 0)), Entries(none.new_zeros(2), none, none[:, None], 2)
    )
    assert [part.shape for part in parts] == [(2, WIDTH), (2, WIDTH), (0, WIDTH)] and parts[0].isfinite().all()
    assert all(torch.equal(value, before[name]) for name, value in norm.state_dict().items())
    one = Entries(torch.tensor([1]), torch.tensor([0]), torch.tensor([[0]]), 1)
    given = [torch.ones(1, WIDTH).double()] * 3
    with pytest.raises(ValueError, match=r"more than one entry.*got 1"):
        norm(*given, one)
    norm.eval()(*given, one)


def test_reset_and_low_precision():
    norm, _ = pair()
    tensors, entries = example(1)
    norm(*tensors, entries)
    norm.reset_parameters()
    assert_same_state(norm, nn.BatchNorm1d(WIDTH).double())
    half = PairNorm(WIDTH).bfloat16()(*(tensor.bfloat16() for tensor in tensors), entries)
    assert all(part.dtype == torch.bfloat16 for part in half)
    expected = stacked(norm(*tensors, entries), entries)
    assert torch.allclose(stacked(half, entries).double(), expected, atol=0.1)
