"""The op table on pairs of tensors: as on each tensor alone, and as PyTorch's `TwoTensor` has them.

Every operand of PyTorch's samples is a pair on both sides. Values are compared with those of the plain op, and which
results are pairs with what PyTorch returns.
"""

from __future__ import annotations

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.subclasses import TwoTensor

torch = pytest.importorskip("torch")
from torch.testing._internal.two_tensor import TwoTensor as TorchTwoTensor  # noqa: E402

from tests.ops import opdb  # noqa: E402

pytestmark = pytest.mark.oracle

PAIRS = (TwoTensor, TorchTwoTensor)
N_PARTS = 40

DIFFERENT = {
    "resize_": "a wrapper's size is that of its inner tensors",
    "tensor_split": "PyTorch refuses as well: the places to split at are a pair",
    "nn.functional.one_hot": "PyTorch refuses as well: the number of classes is a pair",
    "linalg.norm": "PyTorch's sample calls it with an op that it has in Python alone, and gets a plain tensor",
    "linalg.matrix_rank": "the same",
    "narrow": "the start is a tensor",
}
"""Ops of which a sample does something else, and why."""


def half_of(value, name):
    """Returns a result with one half of each pair."""
    if isinstance(value, PAIRS):
        return getattr(value, name)
    if isinstance(value, (list, tuple)) and not isinstance(value, (torch.Size, ja.Size)):
        return [half_of(item, name) for item in value]
    return {key: half_of(item, name) for key, item in value.items()} if isinstance(value, dict) else value


def paired(value, other):
    """Returns arguments whose tensors are pairs of those of two equal ones, each with memory of its own."""
    if isinstance(value, ja.Tensor):
        return TwoTensor(value, other)
    if type(value) in (list, tuple):
        return type(value)(map(paired, value, other))
    return {key: paired(value[key], other[key]) for key in value} if isinstance(value, dict) else value


def torch_paired(value):
    is_one = isinstance(value, torch.Tensor) and value.layout is torch.strided
    return TorchTwoTensor(value.detach().clone(), value.detach().clone()) if is_one else value


def problem_of(op, fn, sample):
    """Returns what is wrong about an op of pairs, or None."""
    arguments = lambda: (opdb.convert((sample.input, *sample.args)), opdb.convert(sample.kwargs))
    try:
        ja.manual_seed(0)
        args, kwargs = arguments()
        plain = fn(*args, **kwargs)
    except Exception:
        return None  # `tests/ops` compares what plain ops do
    args, kwargs = paired(arguments(), arguments())
    found = fn(*args, **kwargs)
    for half in "ab":
        pairs = zip(opdb.flat_outputs(plain), opdb.flat_outputs(half_of(found, half)), strict=True)
        for number, (expected, got) in enumerate(pairs):
            if not isinstance(expected, ja.Tensor):
                continue
            if (expected.shape, expected.dtype) != (got.shape, got.dtype):
                return f"result {number}.{half}: {got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
            if not opdb.is_drawn(op, sample):
                np.testing.assert_allclose(got.detach().jax(), expected.detach().jax(), 1e-4, 1e-5, err_msg=f"{number}")
    try:
        theirs = op.op(
            *opdb.pytree.tree_map(torch_paired, (sample.input, *sample.args)),
            **opdb.pytree.tree_map(torch_paired, sample.kwargs),
        )
    except Exception:  # PyTorch has no answer for pairs
        return None
    are_pairs = [[isinstance(x, PAIRS) for x in opdb.flat_outputs(value)] for value in (found, theirs)]
    return None if are_pairs[0] == are_pairs[1] else f"pairs {are_pairs[0]} where PyTorch has {are_pairs[1]}"


def check(part):
    problems = []
    for op in opdb.in_scope()[part::N_PARTS]:
        fn = opdb.find(op)
        if fn is None or op.name in DIFFERENT:
            continue
        for sample in opdb.samples_of(op, False, 2):
            try:
                problem = problem_of(op, fn, sample)
            except Exception as error:
                problem = opdb.error_text(error)
            if problem:
                problems.append(f"{opdb.full_name(op)}{opdb.shown(sample)}: {problem}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("part", range(2))
def test_ops_of_pairs(part):
    check(part)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2, N_PARTS))
def test_more_ops_of_pairs(part):
    check(part)
