"""Tensors that are made of inner tensors, in files: exported functions and saved states."""

from __future__ import annotations

import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.facade.subclass.subclass import SUBCLASSES
from jaxaot.subclasses import Float8Tensor, Int8Weight, SemiStructuredSparse, TwoTensor
from tests.subclasses.test_plain import Labelled
from tests.subclasses.test_protocol import Scaled, assert_same, pair


def written(x):
    x.mul_(2)
    return {"sum": x.a + x.b, "pair": x + 1}


CASES = {
    "pair": (lambda x, w: (x * w, x.a), lambda: (pair(3), ja.ones(3))),
    "write": (written, lambda: (pair(3),)),
    "nested": (lambda x: x * 2, lambda: (TwoTensor(pair(3), pair(3)),)),
    "context": (lambda x: x * 2, lambda: (Scaled(ja.ones(3), 3.0),)),
    "float8": (
        lambda x, w: ja.nn.functional.linear(x, w), lambda: (ja.randn(2, 8), Float8Tensor.quantize(ja.randn(4, 8)))
    ),
    "sparse": (lambda x, w: x @ w.t(), lambda: (ja.randn(2, 8), SemiStructuredSparse.prune(ja.randn(4, 8)))),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("name", CASES)
def test_an_exported_function_takes_and_returns_wrappers(name, tmp_path):
    fn, make = CASES[name]
    args = make()
    ja.export(fn, *args).save(tmp_path / "fn.jaot")
    loaded = ja.load(tmp_path / "fn.jaot")
    found, expected = loaded(*make_again(args)), fn(*make_again(args))
    found, expected = ({0: r} if not isinstance(r, (tuple, dict)) else r for r in (found, expected))
    keys = found.keys() if isinstance(found, dict) else range(len(found))
    for key in keys:
        assert type(found[key]) is type(expected[key])
        assert repr(found[key]) == repr(expected[key])


def make_again(args):
    return [arg.clone() if type(arg) is not SemiStructuredSparse else arg for arg in args]


def test_gradients_of_a_loaded_function(tmp_path):
    x = pair(3, requires_grad=True)
    ja.export(lambda x: x * x, x).save(tmp_path / "fn.jaot")
    loaded = ja.load(tmp_path / "fn.jaot")
    loaded(x).sum().backward()
    assert_same(x.grad.b, x.b * 2)
    with pytest.raises(errors.SignatureMismatchError):
        loaded(ja.ones(3))


def test_a_class_that_a_process_does_not_have(tmp_path):
    class Local(TwoTensor):
        pass

    with pytest.raises(errors.ExportError, match="defined inside of a function"):
        ja.export(lambda x: x * 2, Local(ja.ones(1), ja.ones(1)))
    with pytest.raises(errors.SavedFileError, match="defined inside of a function"):
        ja.save({"x": Local(ja.ones(1), ja.ones(1))}, tmp_path / "x.safetensors")
    ja.export(lambda x: x * 2, Scaled(ja.ones(1))).save(tmp_path / "fn.jaot")
    ja.save(Scaled(ja.ones(1)), tmp_path / "x.safetensors")
    SUBCLASSES.remove(Scaled)
    try:
        with pytest.raises(errors.ArchiveError, match=r"from tests\.subclasses\.test_protocol import Scaled"):
            ja.load(tmp_path / "fn.jaot")
        with pytest.raises(errors.SavedFileError, match=r"from tests\.subclasses\.test_protocol import Scaled"):
            ja.load(tmp_path / "x.safetensors")
    finally:
        SUBCLASSES.add(Scaled)


@pytest.mark.slow
def test_a_saved_state(tmp_path):
    layer = ja.nn.Linear(8, 8)
    layer.weight = ja.nn.Parameter(SemiStructuredSparse.prune(ja.randn(8, 8)))
    labelled = Labelled([1.0])
    labelled.label = "x"
    state = {
        "nested": TwoTensor(pair(2), pair(2)), "float8": Float8Tensor.quantize(ja.randn(3)),
        "layer": layer.state_dict(), "int8": Int8Weight.quantize(ja.randn(2, 3)), "labelled": labelled,
    }  # fmt: skip
    ja.save(state, tmp_path / "state.safetensors")
    loaded = ja.load(tmp_path / "state.safetensors")
    for name in ("nested", "float8", "int8", "labelled"):
        assert type(loaded[name]) is type(state[name])
        assert repr(loaded[name]) == repr(state[name])
    assert loaded["labelled"].label == "x"
    before = layer.weight.to_dense().tolist()
    with ja.no_grad():
        layer.weight.mul_(0)
    layer.load_state_dict(loaded["layer"])
    assert layer.weight.to_dense().tolist() == before
