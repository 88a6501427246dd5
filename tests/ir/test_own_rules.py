"""Graphs with functions that have a rule of their own for their derivative: which ones are alike."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import graph_content
from jaxaot.transforms import call_as_op
from tests.cases import each
from tests.seeds import some


def content(fn, *args):
    return graph_content(inline(jax.make_jaxpr(fn)(*args)).jaxpr)


def with_slope(slope):
    @jax.custom_jvp
    def fn(x):
        return jnp.sin(x)

    fn.defjvp(lambda primals, tangents: (fn(*primals), slope * tangents[0]))
    return fn


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def by_number(x, slope):
    return jnp.sin(x)


@by_number.defjvp
def _(slope, primals, tangents):
    return by_number(primals[0], slope), slope * tangents[0]


AROUND = [
    lambda fn: fn,
    lambda fn: lambda x: jax.jit(fn)(x) * 2,
    lambda fn: lambda x: jax.lax.scan(lambda c, _: (fn(c), None), x, None, 2)[0],
    lambda fn: lambda x: jax.jvp(fn, (x,), (x,)),
    lambda fn: lambda x: jax.vjp(fn, x)[1](x),
    lambda fn: jax.vmap(fn),
]


@each("around", AROUND, ids=str)
def test_rules_that_differ_are_told_apart(around):
    x = jnp.ones(3)
    one, other = with_slope(2.0), with_slope(3.0)
    assert content(around(one), x) == content(around(one), x) is not None
    assert around is AROUND[4] or content(around(one), x) != content(around(other), x)
    by = lambda slope: around(lambda x: by_number(x, slope))
    assert content(by(2.0), x) == content(by(2.0), x) is not None
    assert content(by(2.0), x) != content(by(2), x) and content(by(0.0), x) != content(by(-0.0), x)


def test_a_rule_for_reverse_mode_is_not_told():
    fn = jax.custom_vjp(jnp.sin)
    fn.defvjp(lambda x: (x, x), lambda x, ct: (ct,))
    assert content(fn, jnp.ones(3)) is None


F = ja.nn.functional


OWN = {
    "relu": F.relu,
    "loss": lambda y: F.cross_entropy(y, ja.tensor([1, 1])),
    "maximum": lambda y: y.amax(1),
    "softmax": lambda y: F.softmax(y, -1),
    "softplus": F.softplus,
    "product": lambda y: y.prod(),
    "division": lambda y: y / y.sum(),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", some(OWN, 3))
def test_a_call_like_one_before_is_the_same_op(name):
    fn = OWN[name]
    w, x = ja.randn(3, 4, requires_grad=True), ja.randn(4, 2, 4)
    call = lambda x: ja.func.grad(lambda w, x: fn(x @ w.t()).sum())(w, x)
    call(x[0])
    n = len(call_as_op._rows)
    found = [call(part) for part in x[1:]]
    assert len(call_as_op._rows) == n
    wanted = [ja.autograd.grad(fn(part @ w.t()).sum(), w)[0] for part in x[1:]]
    for got, right in zip(found, wanted, strict=True):
        assert got.detach().numpy() == pytest.approx(right.numpy(), rel=1e-4, abs=1e-5)
