"""`repr` is PyTorch's, and notebooks get a table."""

import importlib
import re
import textwrap

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

RNG = np.random.default_rng(0)
KINDS = {
    "normal": lambda shape: RNG.normal(size=shape).astype(np.float32),
    "whole": lambda shape: RNG.integers(-9, 100, size=shape).astype(np.float32),
    "wide": lambda shape: (RNG.normal(size=shape) * 10.0 ** RNG.integers(-6, 9, size=shape)).astype(np.float32),
    "integers": lambda shape: RNG.integers(-1000, 5, size=shape).astype(np.int32),
    "bools": lambda shape: RNG.random(shape) < 0.5,
    "complex": lambda shape: (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(np.complex64),
    "not finite": lambda shape: RNG.choice(np.float32([np.nan, np.inf, -np.inf, 0.5, -3.25]), size=shape),
}
SHAPES = [(), (1,), (5,), (0,), (2, 0, 3), (3, 4), (40, 7), (2, 3, 4), (1200,), (40, 40), (3, 1200)]


@pytest.mark.oracle
@each("kind", KINDS)
@each("needs_grad", [False, True])
def test_repr_is_that_of_pytorch(kind, needs_grad):
    torch = pytest.importorskip("torch")
    for shape in SHAPES:
        values = np.asarray(KINDS[kind](shape))
        theirs, mine = torch.tensor(values), ja.tensor(values)
        if needs_grad and values.dtype.kind in "fc":
            theirs.requires_grad_()
            mine.requires_grad_()
        # int32 is what integers are here without x64, and is not said
        expected = re.sub(r",\s+dtype=torch.int32", "", repr(theirs)).replace("torch.", "ja.")
        assert re.sub(r",\s+dtype=ja.int32", "", repr(mine)) == expected


def test_what_is_not_the_default_is_said():
    assert repr(ja.tensor([1.0, 2.0])) == "tensor([1., 2.])"
    assert repr(ja.zeros(2, dtype=ja.bfloat16)) == "tensor([0., 0.], dtype=ja.bfloat16)"
    assert repr(ja.tensor(1.5, requires_grad=True) * 2) == "tensor(3., grad_fn=<MulBackward0>)"


NESTS = {
    "vmap": lambda f, fn: f.vmap(fn),
    "grad": lambda f, fn: f.grad(fn),
    "vmap in vmap": lambda f, fn: f.vmap(f.vmap(fn, in_dims=0), in_dims=1),
    "grad in vmap": lambda f, fn: f.vmap(f.grad(fn)),
    "vjp": lambda f, fn: lambda x: f.vjp(fn, x),
    "jvp": lambda f, fn: lambda x: f.jvp(fn, (x,), (x,)),
}


@pytest.mark.parametrize("way", ["ja", pytest.param("torch", marks=pytest.mark.oracle)])
@each("name", NESTS)
def test_inside_func_levels_and_values_are_shown(name, way):
    m = importlib.import_module("torch") if way == "torch" else ja
    values, seen = [[1.0, 2.0], [3.0, 4.5]], []

    def fn(x):
        seen.append(repr(x))
        return x.sum()

    NESTS[name](m.func, fn)(m.tensor(values))
    value = repr(m.tensor(values))
    layers = {
        "vmap": ["BatchedTensor(lvl=1, bdim=0, "],
        "vmap in vmap": ["BatchedTensor(lvl=1, bdim=1, ", "BatchedTensor(lvl=2, bdim=0, "],
        "grad in vmap": ["BatchedTensor(lvl=1, bdim=0, ", "GradTrackingTensor(lvl=2, "],
    }.get(name, ["GradTrackingTensor(lvl=1, "])
    for layer in layers:
        value = f"{layer}value=\n{textwrap.indent(value, '    ')}\n)"
    assert seen == [value]


def test_a_graph_has_no_values_to_show():
    seen = []
    ja.func.grad(lambda x: (seen.append(repr(ja.ones(2))), x.sum())[1])(ja.ones(2))
    assert seen.pop() == "tensor([1., 1.])"

    def fn(x):
        seen.append(repr(x))
        return x.sum()

    ja.func.grad(fn)(ja.ones(2, requires_grad=True))
    ja.compile(ja.func.grad(fn))(ja.ones(2))
    assert ["<traced float32[2]>" in text for text in seen] == [True, True]


def test_print_options():
    try:
        ja.set_printoptions(precision=2, sci_mode=False)
        assert repr(ja.tensor([1.234, 1e-5])) == "tensor([1.23, 0.00])"
        ja.set_printoptions(profile="short")
        assert repr(ja.arange(1200.0, 2400.0)) == "tensor([1200., 1201.,  ..., 2398., 2399.])"
        with pytest.raises(ValueError, match="there is no print profile `tiny`"):
            ja.set_printoptions(profile="tiny")
    finally:
        ja.set_printoptions(profile="default")


def test_a_notebook_shows_a_table():
    shown = ja.arange(600.0).reshape(20, 30)._repr_html_()
    assert "<b>(20, 30)</b>" in shown and shown.count("<tr>") == 13 and "…" in shown
    assert "strides (1, 3)" in ja.zeros(2, 3).t()._repr_html_()
    assert "<pre>tensor(" in ja.zeros(2, 2, 2)._repr_html_()
