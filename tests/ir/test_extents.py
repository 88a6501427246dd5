"""Axes as digits: merging, splitting, joining, and which elements are valid."""

import functools
import itertools
import random

import numpy as np
import pytest

from jaxaot.ir.extents import ONE, Factor, extent_of, is_prefix, join, length, normal, regroup, size_of, valid
from tests.seeds import seeds

B, T = extent_of(3, 4), extent_of(5, 8)
D = extent_of(6, 6)
VALUES = {(3, 4): 2, (5, 8): 7, (15, 32): 14}


def nothing(one, other):
    raise AssertionError((one, other))


def which(extent):
    return np.flatnonzero(valid(extent, VALUES.__getitem__)).tolist()


def test_a_static_digit_merges_into_what_is_before_it():
    assert normal((*T, *D)) == (Factor(T[0].size.times(D[0].size)),)
    assert normal((*D, *T)) == (*D, *T)
    assert normal((*ONE, *T, *ONE)) == T
    assert is_prefix((*T, *D)) and not is_prefix((*D, *T))


def test_valid_elements_are_those_whose_digits_are_small():
    assert which(T) == list(range(7))
    assert which((*T, *D)) == list(range(42))
    assert which((*B, *T)) == [b * 8 + t for b in range(2) for t in range(7)]
    assert which((*D, *B)) == [d * 4 + b for d in range(6) for b in range(2)]


def test_merged_axes_split_back():
    sizes = [size_of(15, 32), size_of(6, 6)]
    equal = []
    merged = regroup([B, T, D], sizes, lambda one, other: equal.append((one, other)) if one != other else None)
    assert merged == [(*B, *T), D]
    assert equal == [(length((*B, *T)), size_of(15, 32))]  # which has to hold at each size
    assert regroup(merged, [size_of(3, 4), size_of(5, 8), size_of(6, 6)], lambda *_: None) == [B, T, D]


def test_rows_of_a_prefix_split_off_and_others_do_not():
    prefix = normal((*T, *D))
    assert regroup([prefix], [size_of(5, 8), size_of(2, 2), size_of(3, 3)], lambda *_: None) == [
        T,
        extent_of(2, 2),
        extent_of(3, 3),
    ]
    assert regroup([prefix], [size_of(6, 6), size_of(5, 8)], lambda *_: None) is None


def test_a_uniform_axis_goes_with_any_layout():
    uniform = extent_of(15, 32, is_uniform=True)
    told = []
    assert join([uniform, (*B, *T)], lambda *sizes: told.append(sizes)) == (*B, *T)
    assert told == [(length((*B, *T)), size_of(15, 32))]
    assert join([uniform, ONE], nothing) == uniform
    assert join([extent_of(15, 32), (*B, *T)], lambda *_: None) is None
    assert join([uniform, T], lambda *_: None) is None


@pytest.mark.parametrize("seed", seeds(20, 6))
def test_a_regrouped_array_has_its_valid_elements_where_they_belong(seed):
    draw = random.Random(seed)
    before = [draw.choice([B, T, D, extent_of(2, 2), ONE]) for _ in range(4)]
    cuts = sorted(draw.sample(range(5), 2))
    parts = [before[i:j] for i, j in itertools.pairwise([0, *cuts, 4])]
    sizes = [length([f for extent in part for f in extent]) for part in parts]
    after = regroup(before, sizes, lambda *_: None)
    assert after is not None

    def mask(extents):
        masks = [np.asarray(valid(extent, VALUES.__getitem__)) for extent in extents]
        return functools.reduce(np.multiply.outer, masks).reshape(-1)

    assert mask(before).tolist() == mask(after).tolist()
