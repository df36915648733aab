"""Splits are disjoint and complete, balanced, keep pairs together, and never change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elene.datasets.registry import find
from elene.datasets.splits import deal, find_units, make_splits
from naive_datasets import toy_collection


@settings(deadline=None)
@given(
    classes=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    parts=st.integers(1, 12),
    seed=st.integers(0, 9),
)
def test_dealing_is_balanced_in_all_and_in_each_class(classes, parts, seed):
    classes = np.array(classes)
    dealt = deal(classes, np.arange(len(classes)), parts, seed)
    for chosen in (classes == classes, *(classes == one for one in np.unique(classes))):
        counts = [int((dealt[chosen] == part).sum()) for part in range(parts)]
        assert max(counts) - min(counts) <= 1


def test_dealing_is_shuffled_by_the_seed_and_the_same_for_ever():
    classes, units = np.zeros(12, dtype=int), np.arange(12)
    assert deal(classes, units, 3, seed=0).tolist() == [2, 0, 1, 1, 2, 0, 1, 1, 2, 0, 0, 2]
    assert deal(classes, units, 3, seed=1).tolist() == [2, 0, 1, 0, 0, 2, 1, 1, 2, 1, 0, 2]


@given(order=st.permutations(range(8)))
def test_units_stay_together(order):
    units = np.array([i // 2 for i in order])
    dealt = deal(np.array([i % 2 for i in order]), units, 2, seed=0)
    assert all(len(set(dealt[units == unit])) == 1 for unit in range(4))


@pytest.mark.parametrize("folds", [None, np.arange(60) // 2 % 10])
@pytest.mark.parametrize("paired", [False, True])
def test_folds_are_disjoint_and_complete(folds, paired):
    info = replace(find("tu-mutag"), paired=paired)
    collection = toy_collection(60, **({} if folds is None else {"fold": folds}))
    splits = make_splits(info, collection)
    assert len(splits) == 10
    assert sorted(np.concatenate([test for *_, test in splits])) == list(range(60))
    for fold, (train, validation, test) in enumerate(splits):
        assert sorted([*train, *validation, *test]) == list(range(60))
        assert (len(train), len(validation), len(test)) == (48, 6, 6)
        assert collection.y[validation].sum() == 3
        assert folds is None or test.tolist() == np.flatnonzero(folds == fold).tolist()
        if paired:
            pairs = [set(part // 2) for part in (train, validation)]
            assert not pairs[0] & pairs[1]


def test_validation_differs_from_fold_to_fold():
    splits = make_splits(find("tu-mutag"), toy_collection(60))
    assert len({tuple(validation) for _, validation, _ in splits}) == 10


def test_a_fixed_split_is_that_of_the_file():
    split = np.array([2, 0, 1, 0, 2, 1])
    [parts] = make_splits(find("zinc12k"), toy_collection(6, split=split))
    assert [part.tolist() for part in parts] == [[1, 3], [2, 5], [0, 4]]


def test_pairs_are_those_of_the_file_or_neighbours():
    assert find_units(find("exp"), toy_collection(4)).tolist() == [0, 0, 1, 1]
    assert find_units(find("exp"), toy_collection(4, pair=np.array([5, 7, 7, 5]))).tolist() == [5, 7, 7, 5]
    assert find_units(find("csl"), toy_collection(3)).tolist() == [0, 1, 2]
