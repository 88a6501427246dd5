"""Graphs print the same each time."""

import jax
import jax.numpy as jnp

from jaxaot.ir.rewrite import inline
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal, Residual
from jaxaot.ir.text import to_text

GOLDEN = """\
graph(x: f32[3,4], w: f32[4,2])
  %0: f32[3,2] = dot_general[dimension_numbers=(((1,),(0,)),((),())) preferred_element_type=float32] x w
  %1: f32[3,2] = mul %0 2.0
  %2: f32[] = reduce_sum[axes=(0,1)] %1
  return loss=%2, output1=%1"""


def graph():
    def fn(x, w):
        y = (x @ w) * 2.0
        return y.sum(), y

    return inline(jax.make_jaxpr(fn)(jnp.ones((3, 4)), jnp.ones((4, 2))))


def test_golden():
    assert to_text(graph(), [Primal(0, "x"), Primal(1, "w")], [Output(0, "loss"), Output(1)], source=False) == GOLDEN


def test_source_lines():
    lines = to_text(graph()).splitlines()
    assert lines[0] == "graph(in0: f32[3,4], in1: f32[4,2])"
    assert all("# test_text.py:" in line for line in lines[1:-1])


def test_roles_have_names():
    roles = [Primal(1), Primal(1, "w"), Cotangent(0), Output(2), Gradient(3), Residual(4), Residual(4, "tanh_1")]
    assert " ".join(map(str, roles)) == "primal1 w ct0 output2 grad3 residual4 tanh_1"


def test_inputs_of_the_same_name_are_told_apart():
    assert "graph(x: f32[3,4], x_1: f32[4,2])" in to_text(graph(), [Primal(0, "x"), Primal(1, "x")])


def test_constants_and_bodies_are_short():
    table = jnp.arange(1000.0)
    text = to_text(jax.make_jaxpr(lambda x: jax.lax.scan(lambda c, v: (c + v, v), x, table)[0])(1.0))
    assert "const0: f32[1000] is a constant of 3.91 KiB" in text
    assert "jaxpr={2 equations} length=1000" in text
    assert "0x" not in to_text(jax.make_jaxpr(jax.nn.relu)(1.0))
