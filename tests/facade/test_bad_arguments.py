"""Arguments and results of functions of arrays that JAX cannot take are refused by name, and leave nothing behind."""

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot import errors


def cyclic():
    tree = [jnp.ones(2)]
    tree.append({"again": tree})
    return tree


def first(x):
    return x[0].sum()


TAKING = {
    "jit": ja.jit(first), "remat": ja.remat(first), "grad": ja.grad(first), "value_and_grad": ja.value_and_grad(first),
    "lower": ja.jit(first).lower, "trace": ja.jit(first).trace, "eval_shape": ja.jit(first).eval_shape,
    "explain": ja.jit(first).explain, "inside": lambda x: jax.jit(lambda y: ja.jit(first)(x) + y)(1.0),
    "compile": ja.compile(first), "partition": ja.remat(first).partition,
}  # fmt: skip


@pytest.mark.parametrize("name", TAKING)
def test_trees_without_an_end_are_refused_and_the_thread_goes_on(name):
    for _ in range(2):
        with pytest.raises(errors.ArgumentError, match=r"hold a (list|dict) that contains itself"):
            TAKING[name](cyclic())
    assert ja.jit(first)([jnp.ones(2)]) == 2 and len(jax.tree.leaves([[[[[[1]]]]]])) == 1


@pytest.mark.parametrize("wrap", [ja.jit, ja.remat, lambda fn: jax.jit(ja.remat(fn))])
def test_results_without_an_end_are_refused(wrap):
    with pytest.raises(errors.ArgumentError, match="The results hold a list that contains itself"):
        wrap(lambda x: [*cyclic(), x] and cyclic())(1.0)
    assert ja.jit(first)([jnp.ones(2)]) == 2


@pytest.mark.parametrize("name", ["jit", "remat", "grad", "value_and_grad"])
def test_arrays_that_were_deleted_are_named(name):
    def loss(weights, x):
        return (weights["w"] * x).sum()

    fn = getattr(ja, name)(loss)
    assert fn({"w": jnp.ones(3)}, jnp.ones(3)) is not None
    gone = jnp.ones(3)
    gone.delete()
    with pytest.raises(
        errors.DeletedArrayError, match=r"^`weights\['w'\]` was deleted before `loss` was called"
    ) as caught:
        fn({"w": gone}, jnp.ones(3))
    assert "deleted" in str(caught.value.__cause__), "JAX's own words come with it"
    with pytest.raises(errors.DeletedArrayError, match=r"^`x` was deleted"):
        fn({"w": jnp.ones(3)}, x=gone)


def test_a_deleted_array_that_is_not_passed():
    gone = jnp.ones(3)
    gone.delete()
    with pytest.raises(errors.DeletedArrayError, match="An array that `held` uses without being passed it"):

        @ja.jit
        def held(x):
            return x + gone

        held(1.0)


def test_other_errors_are_those_of_the_function():
    def fails(x):
        raise RuntimeError("Array has been deleted, says the user")

    with pytest.raises(RuntimeError, match="says the user"):
        ja.jit(fails)(1.0)


class Strange:
    def __index__(self):
        raise TypeError("I am no index today")


def test_what_the_method_of_an_index_says_is_kept():
    with pytest.raises(TypeError, match="I am no index today"):
        ja.ones(3)[Strange()]
