"""One rewriter: what is kept, what takes the place of an equation, and whose place it takes."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.build import resized_var
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, source_line

X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args))


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def same_values(before, after, *args):
    for wanted, found in zip(jaxpr_as_fun(before)(*args), jaxpr_as_fun(after)(*args), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_graph_that_is_kept_is_the_same_text():
    closed = graph_of(lambda x: jnp.sin(x).sum() * 2, X)
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        rewriter.keep(eqn)
    assert str(rewriter.graph()) == str(closed) and not rewriter.has_replaced


def test_a_call_takes_the_place_of_an_equation():
    closed = graph_of(lambda x: lax.logistic(x) + 1, X)
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        if eqn.primitive is lax.logistic_p:
            rewriter.replace(
                eqn.outvars[0], rewriter.call(lambda x, scale: scale / (1 + jnp.exp(-x)), *eqn.invars, scale=1)
            )
        else:
            rewriter.keep(eqn)
    after = rewriter.graph()
    assert "logistic" not in names(after) and names(after)[-1] == "add"
    assert {source_line(eqn) for eqn in after.jaxpr.eqns} == {source_line(eqn) for eqn in closed.jaxpr.eqns}
    check_graph(after)
    same_values(closed, after, X)


def test_what_was_replaced_is_read_by_all_that_follows_and_returned():
    closed = graph_of(lambda x: (jnp.sin(x), jnp.sin(x) * x), X)
    first = closed.jaxpr.eqns[0].outvars[0]
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        rewriter.keep(eqn)
        if eqn.outvars[0] is first:
            rewriter.replace(first, rewriter.call(jnp.negative, first))
    after = jaxpr_as_fun(rewriter.graph())(X)
    np.testing.assert_allclose(after[0], -jnp.sin(X), rtol=1e-6)


def test_an_equation_stays_where_a_function_is_of_another_type_or_captures_arrays():
    closed = graph_of(jnp.sin, X)
    captured = np.arange(3, dtype=np.float32)
    for fn in (
        lambda x: jnp.sin(x)[:1],
        lambda x: jnp.sin(x).astype(jnp.float16),
        lambda x: x + jax.device_put(captured),
    ):
        rewriter = Rewriter(closed)
        for eqn in rewriter.equations():
            assert rewriter.instead(eqn, fn, *eqn.invars) is None
        assert names(rewriter.graph()) == ["sin"] and not rewriter.has_replaced


def test_further_results_of_a_function_come_back():
    closed = graph_of(lambda x: jnp.sin(x) * 2, X)
    rewriter = Rewriter(closed)
    further = []
    for eqn in rewriter.equations():
        if eqn.primitive is lax.sin_p:
            further += rewriter.instead(eqn, lambda x: (jnp.cos(x - jnp.pi / 2), jnp.cos(x)), *eqn.invars)
        else:
            rewriter.keep(eqn)
    assert Makers(rewriter.graph().jaxpr)[further[0]].primitive is lax.cos_p
    same_values(closed, rewriter.graph(), X)


def test_equations_like_another_and_of_a_primitive():
    closed = graph_of(lambda x: jnp.exp(x), X)
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        parts = []
        for row in range(2):
            params = {"start_indices": (row, 0), "limit_indices": (row + 1, 3), "strides": None}
            part = rewriter.add(lax.slice_p, params, eqn.invars, resized_var((1, 3), eqn.invars[0]))
            parts.append(rewriter.like(eqn, [part], resized_var((1, 3), eqn.outvars[0])))
        rewriter.add(lax.concatenate_p, {"dimension": 0}, parts, eqn.outvars[0])
    after = rewriter.graph()
    check_graph(after)
    assert names(after) == ["slice", "exp", "slice", "exp", "concatenate"]
    same_values(closed, after, X)


def test_equations_that_are_written_alone_are_taken_out():
    closed = graph_of(lambda x: jnp.sin(x) + jnp.cos(x), X)
    rewriter = Rewriter(closed)
    (eqn,) = rewriter.equations([1])
    rewriter.keep(eqn)
    assert [made.primitive.name for made in rewriter.take()] == ["cos"]
    assert rewriter.take() == []


def test_what_stands_for_a_variable_is_itself_replaced():
    def without_ones(closed):
        rewriter = Rewriter(closed)
        for eqn in rewriter.equations():
            if eqn.primitive.name == "mul" and getattr(eqn.invars[1], "val", None) == 1:
                rewriter.replace(eqn.outvars[0], eqn.invars[0])
            else:
                rewriter.keep(eqn)
        return rewriter.graph()

    found = without_ones(graph_of(lambda x: jnp.sin(x * 1.0 * 1.0), X))
    check_graph(found)
    assert [eqn.primitive.name for eqn in found.jaxpr.eqns] == ["sin"]
    np.testing.assert_array_equal(jaxpr_as_fun(found)(X)[0], jnp.sin(X))
