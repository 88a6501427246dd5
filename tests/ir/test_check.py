"""A malformed graph is found, and shown in its place."""

import jax
import jax.numpy as jnp
import pytest

from jaxaot._jax import close_jaxpr, make_jaxpr_object, make_var
from jaxaot.errors import GraphCheckError
from jaxaot.ir.check import check_graph


@pytest.fixture
def closed():
    return jax.make_jaxpr(lambda x: jnp.exp(jnp.cos(jnp.sin(x) * 2.0)))(1.0)


def changed(closed, eqns=None, outvars=None, effects=None, invars=None):
    jaxpr = closed.jaxpr
    return close_jaxpr(
        make_jaxpr_object(
            jaxpr.invars if invars is None else invars,
            jaxpr.outvars if outvars is None else outvars,
            jaxpr.eqns if eqns is None else eqns,
            effects=effects,
        )
    )


def test_a_good_graph(closed):
    check_graph(closed)


def test_used_before_defined(closed):
    eqns = list(closed.jaxpr.eqns)
    eqns[1], eqns[2] = eqns[2], eqns[1]
    with pytest.raises(GraphCheckError) as info:
        check_graph(changed(closed, eqns))
    message = str(info.value)
    assert "Equation 1 of the graph (`cos`), written at " in message
    assert "test_check.py:" in message
    assert "operand 0, a f32[], is read before it is defined" in message
    shown = [line for line in message.splitlines() if " = " in line]
    assert [line.startswith("-->") for line in shown] == [False, True, False, False]


def test_defined_twice(closed):
    eqns = [*closed.jaxpr.eqns, closed.jaxpr.eqns[0]]
    with pytest.raises(GraphCheckError, match=r"result 0, a f32\[\], was defined before by equation 0"):
        check_graph(changed(closed, eqns))


def test_wrong_type(closed):
    eqn = closed.jaxpr.eqns[0]
    wrong = make_var(jax.make_jaxpr(lambda: jnp.ones(3))().out_avals[0])
    with pytest.raises(GraphCheckError, match=r"(?s)Equation 0 of the graph \(`sin`\).*inconsistently typed"):
        check_graph(changed(closed, [eqn.replace(outvars=[wrong])], [wrong]))


def test_undefined_output(closed):
    with pytest.raises(GraphCheckError, match=r"Output 0 of the graph, a f32\[\], is never defined"):
        check_graph(changed(closed, outvars=[make_var(closed.out_avals[0])]))


def test_an_input_twice(closed):
    with pytest.raises(GraphCheckError, match="occurs twice among its inputs"):
        check_graph(changed(closed, invars=closed.jaxpr.invars * 2))


def test_undeclared_effects():
    closed = jax.make_jaxpr(lambda x: jax.debug.print("{}", x))(1.0)
    with pytest.raises(GraphCheckError, match="does not declare the effects"):
        check_graph(changed(closed, effects=set()))
