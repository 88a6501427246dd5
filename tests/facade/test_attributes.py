"""Attributes of users' own on tensors, as optimizers and schedules of groups use them."""

import copy
import pickle

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import RecompileWarning


def marked(value=2.0):
    p = ja.nn.Parameter(ja.ones(2))
    p.lr_scale, p.groups = value, ["a"]
    return p


def test_a_tensor_holds_them_and_copies_of_it_do():
    p = marked()
    assert [p.lr_scale, hasattr(p, "_no_weight_decay")] == [2.0, False]
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert [other.lr_scale, other.groups, other.groups is p.groups] == [2.0, ["a"], False]
    assert copy.copy(p).groups is p.groups
    assert not hasattr(p.detach(), "lr_scale") and not hasattr(p * 1, "lr_scale")
    del p.lr_scale
    with pytest.raises(AttributeError, match="lr_scale"):
        p.lr_scale  # noqa: B018


@pytest.mark.slow
def test_a_compiled_function_reads_what_they_are_now():
    p, q = marked(), ja.ones(1)
    fn = ja.compile(lambda x: x * p.lr_scale + getattr(q, "more", 0) + hasattr(p, "_no_weight_decay"))
    right = lambda x: x * p.lr_scale + getattr(q, "more", 0) + hasattr(p, "_no_weight_decay")
    changes = [lambda: None, lambda: setattr(p, "lr_scale", 3.0), lambda: setattr(q, "more", 5),
               lambda: setattr(p, "_no_weight_decay", True), lambda: delattr(q, "more")]  # fmt: skip
    for change in changes:
        change()
        assert fn(q).tolist() == right(q).tolist()


def test_a_compiled_function_reads_and_writes_tensors_there():
    ps = [ja.ones(2), ja.ones(2) * 2]
    for p in ps:
        p.average = p.clone()

    def update(x):
        for p in ps:
            p.average.mul_(0.5).add_(p, alpha=0.5)
            p.last = p.average + x
            p.count = getattr(p, "count", 0) + 1

    compiled = ja.compile(update)
    for i in range(3):
        before = [(p.average.clone(), getattr(p, "count", 0)) for p in ps]
        compiled(ja.tensor(float(i)))
        for p, (average, count) in zip(ps, before, strict=True):
            np.testing.assert_allclose(p.average.tolist(), (average * 0.5 + p * 0.5).tolist())
            np.testing.assert_allclose(p.last.tolist(), (p.average + i).tolist())
            assert p.count == count + 1


def test_arguments_have_them_and_results_are_made_eagerly():
    x, y = ja.ones(1), ja.ones(1)
    x.scale, y.scale = 2, 5
    fn = ja.compile(lambda x: x * x.scale)
    assert [fn(x).item(), fn(y).item()] == [2, 5]

    def made(x):
        result = x * 2
        result.tag = "new"
        return result

    with pytest.warns(RecompileWarning, match="has the attribute `tag`"):
        assert ja.compile(made)(x).tag == "new"
