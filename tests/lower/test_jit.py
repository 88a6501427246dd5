"""`ja.jit` is `jax.jit`, with the options that XLA needs."""

import contextlib
import copy
import functools
import gc
import inspect
import operator
import pickle
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import some

X = jnp.arange(3.0)


def held(x):
    return jax.lax.optimization_barrier(x * 2.0) * 3.0


class Scaled:
    def __call__(self, x):
        return self.run(x)

    def run(self, x):
        return x * 2.0


def test_barriers_are_kept():
    assert "opt-barrier(" in ja.jit(held).lower(X).compile().as_text()
    assert "opt-barrier(" in ja.jit(held).trace(X).lower().compile().as_text()
    assert "opt-barrier(" not in jax.jit(held).lower(X).compile().as_text()
    np.testing.assert_array_equal(ja.jit(held)(X), 6.0 * X)


def test_options_of_the_user_are_kept():
    step = ja.jit(held, compiler_options={"xla_disable_hlo_passes": "dce", "xla_embed_ir_in_executable": True})
    assert "opt-barrier(" in step.lower(X).compile().as_text()
    off = ja.jit(held, compiler_options={"xla_disable_hlo_passes": ""})
    assert "opt-barrier(" not in off.lower(X).compile().as_text()
    with pytest.raises(Exception, match="no_such_option"):
        ja.jit(held, compiler_options={"no_such_option": True})(X)


def test_arguments_of_jax_jit():
    @ja.jit(static_argnames="n", donate_argnums=0)
    def scaled(x, n):
        return x * n

    x = jnp.arange(4.0)
    np.testing.assert_array_equal(scaled(x, n=3), [0.0, 3.0, 6.0, 9.0])
    assert x.is_deleted()
    assert scaled.__name__ == "scaled"
    assert scaled.eval_shape(X, n=2).shape == (3,)
    scaled.clear_cache()


def test_inside_other_transformations_it_is_jax_jit():
    wrapped = ja.jit(held)
    np.testing.assert_array_equal(jax.jit(lambda x: wrapped(x) + 1.0)(X), 6.0 * X + 1.0)
    np.testing.assert_array_equal(ja.jit(lambda x: wrapped(x) + 1.0)(X), 6.0 * X + 1.0)
    assert float(jax.grad(wrapped)(1.0)) == 6.0
    np.testing.assert_array_equal(jax.vmap(wrapped)(X), 6.0 * X)
    assert jax.make_jaxpr(wrapped)(X).eqns[0].params["name"] == "held"


def test_a_call_is_traced_once():
    calls = []

    @ja.jit
    def traced(x):
        calls.append(x)
        return x + 1.0

    for _ in range(3):
        traced(X)
    assert len(calls) == 1
    traced.clear_cache()
    traced(X)
    assert len(calls) == 2


def test_what_is_made_anew_in_a_loop_is_compiled_once():
    calls = []

    def traced(x, n):
        calls.append(n)
        return x + n

    for _ in range(3):
        for n in (1, 2):
            np.testing.assert_array_equal(ja.jit(traced, static_argnames=["n"])(X, n=n), X + n)
        np.testing.assert_array_equal(ja.jit(traced)(X, 3.0), X + 3.0)
    assert calls[:2] == [1, 2] and len(calls) == 3
    with ja.config(passes=()):
        ja.jit(traced)(X, 3.0)
    ja.jit(traced).clear_cache()
    ja.jit(traced)(X, 3.0)
    assert len(calls) == 5


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("n_rows", some([2048, 8], 1), ids=["shards", "one program"])
def test_what_was_compiled_goes_with_the_function(n_rows):
    def make(scale):
        def step(w, x):
            return w - scale * jax.grad(lambda w: jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w) ** 2))(w)

        return step

    step, w, x = make(0.1), jnp.eye(512), jnp.ones((n_rows, 512))
    expected = jax.jit(step)(w, x)
    for _ in range(2):
        np.testing.assert_allclose(ja.jit(step)(w, x), expected, rtol=1e-5, atol=1e-5)
    kept = weakref.ref(step)
    del step
    gc.collect()
    assert kept() is None


def test_equal_methods_do_not_depend_on_each_other():
    scaled = Scaled()
    first, second = ja.jit(scaled.run), ja.jit(scaled.run)
    np.testing.assert_array_equal(first(X), 2.0 * X)
    del first
    gc.collect()
    np.testing.assert_array_equal(second(X), 2.0 * X)
    np.testing.assert_array_equal(second(X[:2]), 2.0 * X[:2])


def test_a_deep_copy_of_an_object_with_a_jitted_method():
    class Model:
        def __init__(self):
            self.weight = jnp.ones(3)
            self.run = ja.jit(self.multiplied)

        def multiplied(self, x):
            return x * self.weight

    model = Model()
    np.testing.assert_array_equal(model.run(X), X)
    other = copy.deepcopy(model)
    other.weight = jnp.full(3, 2.0)
    np.testing.assert_array_equal(other.run(X), 2.0 * X)
    np.testing.assert_array_equal(copy.copy(model.run)(X), X)


def test_messages_name_the_arguments_of_the_user():
    def branches(x, scale):
        return x if x.sum() > 0 else x * scale

    messages = []
    for jit in (jax.jit, ja.jit):
        with pytest.raises(jax.errors.TracerBoolConversionError) as raised:
            jit(branches)(X, scale=2.0)
        messages.append(str(raised.value))
    assert messages[0] == messages[1] and "function branches at" in messages[1] and "argument x" in messages[1]


def test_the_signature_is_that_of_the_function():
    def scaled(x, *, n=2):
        return x * n

    assert inspect.getfullargspec(ja.jit(scaled)) == inspect.getfullargspec(scaled)
    assert inspect.signature(ja.jit(scaled), follow_wrapped=False) == inspect.signature(scaled)
    np.testing.assert_array_equal(ja.jit(sum)([X, X]), 2.0 * X)  # a built-in function


def test_programs_have_the_name_of_the_function():
    for fn in (held, functools.partial(held), jax.vmap(held), Scaled(), Scaled().run):
        names = [jit(fn).lower(X).as_text().split()[1] for jit in (jax.jit, ja.jit)]
        assert names[0] == names[1]


def test_methods():
    class Model:
        scale = 3.0

        @functools.partial(ja.jit, static_argnums=0)
        def run(self, x):
            return x * self.scale

    np.testing.assert_array_equal(Model().run(X), 3.0 * X)
    assert "Model.run" in repr(Model.run)


def which_are_static(jit, options, args, kwargs):
    seen = []

    def fn(x, y, *, z=3):
        seen.append([not isinstance(value, jax.core.Tracer) for value in (x, y, z)])
        return x + 1

    with contextlib.suppress(ValueError):
        jit(fn, **options)(*args, **kwargs)
    return seen[:1]


@pytest.mark.parametrize("numbers", some([None, 1, (0, 1), (), 0], 3))
@pytest.mark.parametrize("names", some([None, "y", "z", (), ("x", "y")], 3))
def test_static_arguments_are_those_of_jax_jit(numbers, names):
    given = {"static_argnums": numbers, "static_argnames": names}
    options = {name: value for name, value in given.items() if value is not None}
    for args, kwargs in (((1, 2), {}), ((1,), {"y": 2}), ((), {"x": 1, "y": 2}), ((1, 2), {"z": 4})):
        want = which_are_static(jax.jit, options, args, kwargs)
        assert which_are_static(ja.jit, options, args, kwargs) == want


def test_static_positions_from_the_end_do_not_depend_on_how_arguments_are_passed():
    jitted = ja.jit(lambda x, y: x * 2 if y else x, static_argnums=-1, static_argnames="y")
    assert jitted(1.0, True) == jitted(1.0, y=True) == jitted(x=1.0, y=True) == 2.0


@pytest.mark.parametrize("later", [lambda x, kept: x * kept, lambda x, kept: jax.vmap(lambda t: t + kept)(x)])
def test_a_tracer_that_leaked_is_named(later):
    kept = []
    ja.jit(lambda x: kept.append(x * 2) or x)(X)
    with pytest.raises(jax.errors.UnexpectedTracerError, match="side effect"):
        ja.jit(lambda x: later(x, kept[0]))(X)


class Slotted:
    __slots__ = ()

    def __call__(self, x):
        return x * 2


@pytest.mark.parametrize("fn", [Slotted(), operator.methodcaller("sum"), abs])
def test_functions_that_nothing_can_refer_to_weakly(fn):
    for _ in range(3):
        np.testing.assert_allclose(ja.jit(fn)(X), fn(X))
        np.testing.assert_allclose(jax.vmap(ja.jit(fn))(X), jax.vmap(fn)(X))
        np.testing.assert_allclose(pickle.loads(pickle.dumps(ja.jit(fn)))(X), fn(X))


def test_functions_of_numpy_are_refused_each_time():
    for jitted in (ja.jit(np.sin), ja.jit(np.sin), pickle.loads(pickle.dumps(ja.jit(np.sin)))):
        with pytest.raises(jax.errors.TracerArrayConversionError):
            jitted(X)


def test_the_text_of_a_function_whose_own_fails():
    class Shy:
        def __repr__(self):
            raise RuntimeError("no")

        def __call__(self, x):
            return x.sum()

    jitted = ja.jit(Shy())
    assert repr(jitted).startswith("<ja.jit of <")
    large = jnp.ones((400, 500))
    assert jitted(large) == jitted.lower(large).compile()(large) == 200_000


@pytest.mark.few(6)
@pytest.mark.parametrize("name", ["self", "cls", "fn", "args", "kwargs", "class", "a b", "ﬁ", "fi"])
def test_any_name_of_an_argument(name):
    given, tensors = {name: X, "other": X}, {name: ja.ones(3), "other": ja.ones(3)}
    fn = lambda **named: named[name] * 2 + named["other"]
    for call in (ja.jit(fn), ja.remat(fn)):
        np.testing.assert_array_equal(call(**given), 3 * X)
    assert ja.jit(fn).eval_shape(**given).shape == X.shape
    ja.jit(fn).lower(**given), ja.jit(fn).trace(**given)
    ja.jit(fn).explain(**given)
    for call in (
        ja.compile(fn),
        ja.compile(fn),
        functools.partial(ja.utils.checkpoint.checkpoint, fn),
        ja.no_grad()(fn),
    ):
        assert call(**tensors).tolist() == [3.0] * 3
    ja.trace(fn, **tensors)
    ja.estimate.pareto(lambda **named: fn(**named).sum(), **{key: ja.ones(3, requires_grad=True) for key in tensors})


def test_the_backward_of_a_function_under_remat_goes_through_the_passes():
    x = jnp.ones((256, 256))
    loss = lambda x, w: jnp.sum(jnp.tanh(x @ w) ** 2)
    text = ja.jit(jax.grad(ja.remat(loss))).lower(x, x).as_text()
    assert "linear_map" not in text  # as a function of its own, which no pass looks into


@pytest.mark.slow
def test_a_long_row_of_cheap_equations_is_cut():
    def product(x, ws):
        for w in ws:
            x = x * w
        return x.sum()

    ws = [jnp.full(1000, 1.0 + i / 1000) for i in range(60)]
    for fn in (product, ja.remat(product)):
        jitted = ja.jit(jax.grad(fn, argnums=1))
        assert jitted.lower(ws[0], ws).as_text().count("optimization_barrier") >= 3
    total = np.prod(ws, 0) * ws[0]
    for got, w in zip(jitted(ws[0], ws), ws, strict=True):
        np.testing.assert_allclose(got, total / w, rtol=1e-4)
