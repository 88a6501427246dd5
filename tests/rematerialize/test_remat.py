"""A function under `ja.remat` is that function under every transformation of JAX."""

import functools
import gc
import weakref

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import jaxaot as ja
from jaxaot.partition.policies import policy_names
from jaxaot.rematerialize.remat import _graphs
from tests.cases import each
from tests.partition.programs import random_arguments, random_program
from tests.seeds import one_in, seeds, some

X = jnp.linspace(0.0, 1.0, 16).reshape(4, 4)
W = X.T + 0.1
XS = jnp.stack([X, W, 0.5 * X])


def block(w, x):
    return jnp.tanh(jnp.sin(x @ w) @ w)


def loss(w, x):
    return (block(w, x) ** 2).sum()


def assert_same(make, **how):
    """Compares what `make` returns of functions under `ja.remat` with what it returns of the functions themselves."""
    how = how or {"memory_budget": 0.3}
    got, want = make(lambda fn: ja.remat(fn, **how)), make(lambda fn: fn)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert jnp.asarray(a).dtype == jnp.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=3e-5, atol=1e-5)


FIRST = {
    "call": lambda f: f(W, X),
    "jit": lambda f: jax.jit(f)(W, X),
    "grad": lambda f: jax.grad(f, (0, 1))(W, X),
    "jit of grad": lambda f: jax.jit(jax.value_and_grad(f, (0, 1)))(W, X),
    "ja.jit of grad": lambda f: ja.jit(jax.value_and_grad(f, (0, 1)))(W, X),
    "grad of jit": lambda f: jax.grad(jax.jit(f))(W, X),
    "vjp": lambda f: jax.vjp(f, W, X)[1](jnp.float32(2.0)),
    "jvp": lambda f: jax.jvp(f, (W, X), (X, W)),
    "jvp of one": lambda f: jax.jvp(lambda w: f(w, X), (W,), (X,)),
    "linearize": lambda f: jax.linearize(f, W, X)[1](X, W),
    "linearize and transpose": lambda f: jax.linear_transpose(jax.linearize(f, W, X)[1], W, X)(jnp.float32(2.0)),
    "jacfwd": lambda f: jax.jit(jax.jacfwd(f))(W, X),
    "vmap": lambda f: jax.vmap(f, (None, 0))(W, XS),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, (0, 1)), (None, 0))(W, XS),
    "vmap of grad, inner axis": lambda f: jax.vmap(jax.grad(f, (0, 1)), (2, None))(XS.transpose(1, 2, 0), X),
    "grad of vmap": lambda f: jax.grad(lambda w, xs: jax.vmap(f, (None, 0))(w, xs).sum(), (0, 1))(W, XS),
    "jvp of vmap": lambda f: jax.jvp(lambda w, xs: jax.vmap(f, (None, 0))(w, xs), (W, XS), (X, XS)),
    "vmap of jvp": lambda f: jax.vmap(lambda x: jax.jvp(f, (W, x), (X, x)))(XS),
    "checkpoint outside": lambda f: jax.jit(jax.grad(jax.checkpoint(f), (0, 1)))(W, X),
    "checkpoint of dots outside": lambda f: jax.grad(
        jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable), (0, 1)
    )(W, X),
}

SECOND = {
    "hessian": lambda f: jax.hessian(f, (0, 1))(W, X),
    "jit of hessian": lambda f: jax.jit(jax.hessian(f, (0, 1)))(W, X),
    "reverse over reverse": lambda f: jax.jacrev(jax.grad(f, (0, 1)), (0, 1))(W, X),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f, (0, 1)), (0, 1))(W, X),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f))(W, X),
    "hessian times vector": lambda f: jax.jvp(jax.grad(f), (W, X), (X, W)),
    "vmap of hessian": lambda f: jax.vmap(jax.hessian(f), (None, 0))(W, XS[:2]),
    "hessian of vmap": lambda f: jax.hessian(lambda w: jax.vmap(f, (None, 0))(w, XS).sum())(W),
    "grad of vmap of jvp": lambda f: jax.grad(
        lambda w: (jax.vmap(lambda x: jax.jvp(lambda w: f(w, x), (w,), (X,))[1])(XS) ** 2).sum()
    )(W),
    "third": lambda f: jax.jit(jax.jacrev(jax.jacrev(jax.jacrev(lambda s: f(s * W, X)))))(0.7),
    "third, mixed": lambda f: jax.jacfwd(jax.jacrev(jax.jacfwd(lambda s: f(s * W, X))))(0.7),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [*one_in(2, FIRST), *some(SECOND, 0)])
def test_under_a_transformation(name):
    make = (FIRST | SECOND)[name]
    assert_same(lambda wrap: make(wrap(loss)))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "how", [*({"policy": p} for p in policy_names()), *({"memory_budget": b} for b in (0, 0.1, 0.6))]
)
def test_every_policy_and_budget(how):
    assert_same(lambda wrap: [FIRST[name](wrap(loss)) for name in ("grad", "jit of grad", "jvp")], **how)
    assert_same(lambda wrap: jax.hessian(wrap(loss))(W, X), **how)


def test_gradients_are_the_same_bits_where_the_operations_are_the_same():
    for how in ({"policy": "save_nothing"}, {"memory_budget": 0.2}, {}):
        got, want = jax.grad(ja.remat(loss, **how), (0, 1))(W, X), jax.grad(loss, (0, 1))(W, X)
        np.testing.assert_array_equal(got, want)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, 1))
def test_random_programs(seed):
    program, args = random_program(seed), random_arguments(seed)

    def gradients(wrap):
        def total(x, w):
            scalar, matrix, _ = wrap(program)(x, w, *args[2:])
            return scalar + (matrix * jnp.cos(X)).sum()

        first = jax.value_and_grad(total, (0, 1))
        return first(*args[:2]), jax.jit(first)(*args[:2]), program(*args)

    for how in ({}, {"policy": "save_nothing"}, {"memory_budget": 0.2}):
        got, want = gradients(lambda fn: ja.remat(fn, **how)), gradients(lambda fn: fn)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


def test_scan_over_blocks():
    def run(wrap):
        def total(ws, x):
            return jax.lax.scan(lambda c, w: (wrap(block)(w, c), c.sum()), x, ws)[0].sum()

        return jax.jit(jax.grad(total, (0, 1)))(XS, X), jax.jit(jax.hessian(total, 1))(XS, X)

    assert_same(run)


@pytest.mark.slow
def test_scan_inside():
    def total(ws, x):
        return jax.lax.scan(lambda c, w: (block(w, c), c.sum()), x, ws)[0].sum()

    assert_same(lambda wrap: (jax.grad(wrap(total), (0, 1))(XS, X), jax.jvp(wrap(total), (XS, X), (XS, X))))


def test_nested():
    def run(wrap):
        def total(w, x):
            return wrap(block)(w, wrap(block)(w, x)).sum()

        return jax.grad(wrap(total), (0, 1))(W, X), jax.hessian(wrap(total))(W, X)

    assert_same(run)


def test_checkpoint_inside():
    assert_same(lambda wrap: jax.grad(wrap(lambda w, x: jax.checkpoint(block)(w, x).sum()), (0, 1))(W, X))


@pytest.mark.slow
def test_mapped_axes_with_names():
    def summed(x):
        return jax.lax.psum(jnp.sin(x), "i") * x

    def placed(x):
        return jax.lax.axis_index("i") * x * jnp.sin(x)

    def run(wrap):
        mapped = functools.partial(jax.vmap, axis_name="i")
        return (
            mapped(wrap(summed))(X),
            jax.grad(lambda x: mapped(wrap(summed))(x).sum())(X),
            mapped(jax.grad(lambda x: wrap(summed)(x).sum()))(X),
            mapped(lambda x: jax.jvp(wrap(summed), (x,), (x,)))(X),
            mapped(lambda x: jax.grad(wrap(placed))(1.5) * x)(X),
        )

    assert_same(run)


def test_the_size_of_a_mapped_axis_is_not_remembered():
    wrapped = ja.remat(lambda x: x * jax.lax.psum(1, "i"))
    for n in (2, 3):
        np.testing.assert_array_equal(jax.vmap(wrapped, axis_name="i")(jnp.ones(n)), n * np.ones(n))


def test_spmd_axis_name():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
    with jax.set_mesh(mesh):
        assert_same(lambda wrap: jax.jit(jax.vmap(jax.grad(wrap(loss)), (None, 0), spmd_axis_name="d"))(W, XS))


@pytest.mark.slow
@pytest.mark.parametrize("check_vma", some([True, False], 1))
def test_shard_map(check_vma):
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
    mapped = functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("d")), check_vma=check_vma)

    def run(wrap):
        total = mapped(lambda w, x: jax.lax.psum(wrap(loss)(w, x), "d"), out_specs=P())
        return (
            jax.jit(jax.grad(total, (0, 1)))(W, X),
            jax.grad(total)(W, X),
            jax.jit(jax.hessian(total))(W, X),
            jax.jit(jax.grad(wrap(total), (0, 1)))(W, X),
        )

    assert_same(run)


def test_grad_inside_shard_map_with_collectives():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))

    def run(wrap):
        def body(w, x):
            return jax.grad(wrap(lambda w, x: (jax.lax.psum(block(w, x), "d") ** 2).sum()), (0, 1))(w, x)

        return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(P(), P("d")), out_specs=(P(), P("d"))))(W, X)

    assert_same(run)


def test_the_backward_gathers_again_if_the_settings_say_so():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))

    def layers(w, x):
        for _ in range(2):
            x = jnp.sin(x @ jax.lax.all_gather(w, "d", tiled=True))
        return x.sum()

    def gathers(**settings):
        def total(w, x):
            with ja.config(**settings):
                return jax.lax.psum(ja.remat(layers, policy="min_cut")(w, x), "d")

        fn = jax.shard_map(total, mesh=mesh, in_specs=(P("d"), P("d")), out_specs=P(), check_vma=False)
        return jax.jit(jax.grad(fn)).lower(W, X).as_text().count("stablehlo.all_gather")

    assert (gathers(), gathers(recompute_collectives=True)) == (1, 2)


@pytest.mark.slow
def test_explicit_shardings():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = jax.device_put(X, P("d"))
        assert_same(lambda wrap: (jax.jit(jax.grad(wrap(loss), (0, 1)))(W, x), jax.jit(jax.hessian(wrap(loss)))(W, x)))
        gradient = jax.jit(jax.grad(ja.remat(loss), 1))(W, x)
        assert jax.typeof(gradient).sharding.spec[0] == "d"


def test_has_aux():
    def fn(w, x):
        y = block(w, x)
        return y.sum(), {"y": y, "n": jnp.argmax(y), "z": x * 2.0}

    assert_same(lambda wrap: jax.value_and_grad(wrap(fn), has_aux=True)(W, X))
    assert_same(lambda wrap: jax.jit(jax.value_and_grad(wrap(fn), has_aux=True))(W, X))


def test_what_has_no_cotangent_is_not_computed():
    def fn(w, x):
        return jnp.sin(w).sum(), (x @ w, jnp.exp(w))

    jaxpr = str(jax.jit(jax.grad(ja.remat(fn), has_aux=True)).lower(W, X).as_text())
    assert jaxpr.count("dot_general") == 1  # that of the forward


@pytest.mark.slow
def test_dropout_by_key_and_integers():
    key, index = jax.random.key(3), jnp.array([1, 2])

    def fn(x, key, index):
        mask = jax.random.bernoulli(key, 0.5, x.shape)
        return jnp.where(mask, x * jnp.sin(x), 0.0)[index].sum()

    zeros = np.zeros((), jax.dtypes.float0), np.zeros((2,), jax.dtypes.float0)
    for how in ({"policy": "save_nothing"}, {"memory_budget": 0.1}, {}):
        assert_same(lambda wrap: jax.grad(wrap(fn))(X, key, index), **how)
        assert_same(lambda wrap: jax.jit(jax.hessian(wrap(fn)))(X, key, index), **how)
        assert_same(
            lambda wrap: jax.vmap(jax.grad(wrap(fn)), (None, 0, None))(X, jax.random.split(key, 3), index), **how
        )
        assert_same(lambda wrap: jax.grad(wrap(fn), (0, 2), allow_int=True)(X, key, index)[0], **how)
        assert_same(lambda wrap: jax.jvp(wrap(fn), (X, key, index), (X, *zeros))[1], **how)


@pytest.mark.slow
def test_closed_over_arrays_have_gradients():
    def run(wrap):
        def fn(w):
            return wrap(lambda x: block(w, x))(X).sum()

        return jax.grad(fn)(W), jax.jit(jax.grad(fn))(W), jax.hessian(fn)(W), jax.vmap(jax.grad(fn))(XS)

    assert_same(run)


def test_a_closed_over_array_may_be_another_one_the_next_time():
    held = {"w": X}
    fn = ja.remat(lambda x: (x @ held["w"]).sum())
    first = fn(X)
    held["w"] = W
    assert fn(X) != first

    def total(w):
        held["w"] = w
        return fn(X)

    np.testing.assert_allclose(jax.grad(total)(W), jax.grad(lambda w: (X @ w).sum())(W), rtol=1e-6)


def test_static_arguments_and_pytrees():
    def fn(tree, n, mode, flag=True, act=jnp.sin, none=None):
        assert (mode, flag, none) == ("a", True, None)
        x = tree["x"]
        return (act(x) * tree["scale"] * n).sum()

    assert_same(lambda wrap: jax.grad(wrap(fn))({"x": X, "scale": 0.5}, 3, "a", flag=True, act=jnp.cos))


def test_weak_types_and_outputs_that_are_inputs_or_constants():
    def run(wrap):
        kept = []

        def fn(s):
            y = wrap(lambda s: s * 2.0)(s) * jnp.ones(3, jnp.bfloat16)
            kept.append(y.dtype == jnp.bfloat16)
            return y.astype(jnp.float32).sum()

        pulled = jax.vjp(wrap(lambda x, w: (x, w, x, 3.0)), X, W)[1]((X, W, W, jnp.float32(1.0)))
        return jax.grad(fn)(1.0), kept, pulled

    assert_same(run)


@pytest.mark.slow
def test_complex_numbers():
    z = X + 1j * W
    assert_same(lambda wrap: jax.grad(wrap(lambda z: (jnp.abs(jnp.sin(z) * z) ** 2).sum()))(z))
    assert_same(lambda wrap: jax.grad(wrap(lambda z: (jnp.sin(z) ** 2).sum()), holomorphic=True)(z))
    assert_same(lambda wrap: jax.jvp(wrap(lambda z: jnp.sin(z) * z), (z,), (1j * z,)))


def test_functions_without_floats_and_without_arguments():
    assert ja.remat(lambda i: i + 1)(2) == 3
    np.testing.assert_array_equal(ja.remat(lambda i: i + 1)(jnp.arange(3)), [1, 2, 3])
    assert int(ja.remat(jnp.argmax)(X)) == 15
    np.testing.assert_array_equal(jax.jit(ja.remat(lambda: 3.0 * jnp.ones(2)))(), [3.0, 3.0])


@pytest.mark.parametrize("policy", ["save_nothing", "min_cut"])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_effects_happen_once(policy, wrap):
    seen = []

    def fn(x):
        jax.debug.callback(lambda v: seen.append(float(v)), x[0, 1])
        return jnp.sin(x).sum()

    wrap(jax.grad(ja.remat(fn, policy=policy)))(X)
    jax.effects_barrier()
    assert len(seen) == 1
    wrap(ja.remat(fn, policy=policy))(X)
    jax.effects_barrier()
    assert len(seen) == 2


def test_donated_arguments():
    def step(wrap):
        return jax.jit(lambda w: w - jax.grad(wrap(loss))(w, X), donate_argnums=0)(jnp.array(W))

    assert_same(step)


def test_loops_without_bound_work_in_forward_mode():
    def fn(x):
        return jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2.0, x)

    assert_same(lambda wrap: jax.jvp(wrap(fn), (X,), (X,)))
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jax.grad(lambda x: ja.remat(fn)(x).sum())(X)


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -0.1, 0.1),))


@pytest.mark.slow
def test_a_custom_backward_that_is_not_linear():
    def fn(x):
        return (jnp.sin(clipped(jnp.sin(x) * x)) ** 2).sum()

    assert_same(lambda wrap: (jax.grad(wrap(fn))(X), jax.jacrev(jax.grad(wrap(fn)))(X)))
    with pytest.raises(ja.errors.ForwardModeError, match=r"`jax.custom_vjp` whose backward is not"):
        jax.jvp(ja.remat(fn), (X,), (X,))


def test_grad_and_value_and_grad():
    def fn(w, x, n=1):
        return block(w, x).sum() * n, {"x": x}

    for a, b in ((ja.value_and_grad, jax.value_and_grad), (ja.grad, jax.grad)):
        got, want = (of(fn, (0, 1), has_aux=True)(W, X, n=2) for of in (a, b))
        for left, right in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-6)
    assert float(ja.grad(jnp.sin)(1.0)) == float(jnp.cos(1.0))
    assert ja.grad(jnp.sin).__name__ == jax.grad(jnp.sin).__name__


def test_functions_of_tensors_are_refused_with_what_to_write():
    def fn(x):
        return (x * x).sum()

    for call in (ja.remat(fn), ja.grad(fn), ja.value_and_grad(fn)):
        with pytest.raises(ja.errors.ArgumentError, match=r"`ja.remat\(ja.func.functionalize\(fn\)\)\(\*arrays\)`"):
            call(ja.ones(3))
    np.testing.assert_array_equal(ja.grad(ja.func.functionalize(fn))(jnp.ones(3)), 2 * np.ones(3))


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match=r"Write `ja\.remat\(f\)` with the function itself"):
        ja.remat(jnp.ones(3))


def test_bad_policies_and_budgets_are_refused_where_they_are_written():
    for of in (ja.remat, ja.grad, ja.value_and_grad):
        with pytest.raises(ja.errors.PolicyError, match="There is no partition policy 'cheap'"):
            of(loss, policy="cheap")
        with pytest.raises(ja.errors.BudgetError, match="cannot be read"):
            of(loss, memory_budget="much")
    with pytest.raises(ja.errors.PolicyError, match="returned 1"):
        jax.grad(ja.remat(loss, policy=lambda eqn: 1))(W, X)


def test_settings_are_those_in_force_at_the_call():
    wrapped, size = ja.remat(loss), {}
    for policy in ("save_all", "save_nothing"):
        with ja.config(policy=policy):
            size[policy] = len(jax.make_jaxpr(lambda w: jax.vjp(lambda w: wrapped(w, X), w))(W).jaxpr.outvars)
    assert size["save_nothing"] < size["save_all"]


def test_it_is_a_decorator_with_the_name_of_the_function():
    @ja.remat(memory_budget="1MiB")
    def named(x):
        """Says so."""
        return jnp.sin(x).sum()

    assert (named.__name__, named.__doc__) == ("named", "Says so.")
    np.testing.assert_array_equal(jax.grad(named)(X), jnp.cos(X))


@pytest.mark.slow
def test_graphs_are_kept_bounded_and_not_for_longer_than_the_function():
    calls = []

    def fn(x, n):
        calls.append(n)
        return jnp.sin(x).sum() * n

    wrapped = ja.remat(fn, static_argnums=1)
    for _ in range(3):
        jax.grad(wrapped)(X, 1)
    assert calls == [1]
    for n in range(100):
        wrapped(X, n)
    assert len(_graphs.of(fn)) <= 64
    alive = weakref.ref(fn)
    del fn, wrapped
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.vmap])
def test_linear_functions_are_transposed(wrap):
    def fn(x, y):
        return {"a": 3 * x + jnp.sin(2.0) * y["b"], "unused": x * 2}

    x, y = jnp.ones((2, 3)), {"b": jnp.ones((2, 3))}
    cotangent = {"a": jnp.arange(6.0).reshape(2, 3), "unused": jnp.ones((2, 3))}
    for args, transposed in (((x, y), fn), ((x,), lambda x: fn(x, y)["unused"])):
        of = lambda how: wrap(how(transposed))
        given = cotangent if len(args) == 2 else cotangent["unused"]
        want = jax.linear_transpose(of(jax.checkpoint), *args)(given)
        got = jax.linear_transpose(of(ja.remat), *args)(given)
        jax.tree.map(np.testing.assert_allclose, got, want)


def test_results_that_are_not_used_and_integers_are_transposed():
    fn = lambda x, n: (x * n, jnp.sum(x), n)
    pulled = jax.linear_transpose(lambda x: ja.remat(fn)(x, jnp.arange(3))[0], jnp.ones(3))(jnp.ones(3))
    np.testing.assert_array_equal(pulled[0], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("value", [1.0, np.float32(1.0), np.ones(()), jnp.float32(1.0)])
def test_tangents_may_be_numbers(value):
    want = jax.jvp(jnp.sin, (value,), (value,))
    np.testing.assert_allclose(jax.jvp(ja.remat(jnp.sin), (value,), (value,)), want)
    second = lambda f: jax.jvp(lambda x: jax.jvp(f, (x,), (value,))[1], (value,), (value,))
    np.testing.assert_allclose(second(ja.remat(jnp.sin)), second(jnp.sin), rtol=1e-6)
    np.testing.assert_allclose(jax.jvp(jax.grad(ja.remat(jnp.sin)), (value,), (value,)), second(jnp.sin), rtol=1e-6)


def test_regions_that_jax_lowers_itself(monkeypatch):
    with jax.enable_x64(False):
        jax.config.update("jax_remat3", True)
        try:
            x = jnp.linspace(0.0, 1.0, 200_000).reshape(400, 500)
            fn = lambda x: jax.checkpoint(lambda x: jnp.sin(x) * x)(x).sum()
            for run in (ja.jit(fn), ja.jit(jax.grad(fn)), ja.jit(ja.grad(fn)), ja.jit(lambda x: jax.vmap(fn)(x[None]))):
                assert np.isfinite(run(x)).all()
            np.testing.assert_allclose(ja.jit(jax.grad(fn))(x), jnp.cos(x) * x + jnp.sin(x), rtol=1e-5)
        finally:
            jax.config.update("jax_remat3", False)


def values_and_tangents(x, y, dx, dy):
    return x * jnp.sin(y), dx * jnp.sin(y) + x * jnp.cos(y) * dy


RULES = {
    "values and tangents": lambda p, t: ja.remat(values_and_tangents)(*p, *t),
    "tangents alone": lambda p, t: (p[0] * jnp.sin(p[1]), ja.remat(lambda *a: values_and_tangents(*a)[1])(*p, *t)),
    "in a jit": lambda p, t: jax.jit(ja.remat(values_and_tangents))(*p, *t),
    "a derivative": lambda p, t: jax.jvp(ja.remat(lambda x, y: x * jnp.sin(y)), p, t),
}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", RULES)
def test_in_the_rule_of_a_custom_jvp_values_are_known_before_tangents(name):
    @jax.custom_jvp
    def fn(x, y):
        return x * jnp.sin(y)

    fn.defjvp(RULES[name])
    plain = lambda x, y: x * jnp.sin(y)
    derivatives = {
        "grad": lambda f: jax.grad(f, (0, 1))(1.0, 2.0),
        "jit": lambda f: jax.jit(jax.grad(f, (0, 1)))(1.0, 2.0),
        "linearize": lambda f: jax.linearize(f, 1.0, 2.0)[1](3.0, 4.0),
        "vmap": lambda f: jax.vmap(jax.grad(f), (0, None))(jnp.arange(3.0), 2.0),
        "hessian": lambda f: jax.hessian(f, (0, 1))(1.0, 2.0),
        "under remat": lambda f: jax.grad(ja.remat(f), (0, 1))(1.0, 2.0),
        "scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, y: (f(c, y), None), x, jnp.ones(3))[0])(1.0),
    }
    for way, take in derivatives.items():
        for got, want in zip(jax.tree.leaves(take(fn)), jax.tree.leaves(take(plain)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=way)


def test_arguments_of_a_partition_may_be_described():
    block = ja.remat(lambda w, x: jnp.tanh(x @ w).sum(), memory_budget=0.5)
    arrays = jnp.ones((8, 8)), jnp.ones((4, 8))
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    assert str(block.partition(*types)) == str(block.partition(*arrays))
    assert "saves" in str(block.explain(*types))


CALLBACKS = {
    "debug": lambda note, x: jax.debug.callback(note, x),
    "ordered": lambda note, x: jax.debug.callback(note, x, ordered=True),
    "io": lambda note, x: jax.experimental.io_callback(note, None, jax.lax.stop_gradient(x)),
    "io, ordered": lambda note, x: jax.experimental.io_callback(note, None, jax.lax.stop_gradient(x), ordered=True),
}


@pytest.mark.slow
@each("name", CALLBACKS)
def test_callbacks_run_once(name):
    seen = []

    def loss(x):
        y = jnp.sin(x)
        CALLBACKS[name](lambda value: seen.append(np.asarray(value).shape), y)
        return jnp.sin(jnp.sin(y)).sum()

    x, ways = np.ones(3, np.float32), [jax.grad(ja.remat(loss)), ja.value_and_grad(loss)]
    for run in (*ways, *map(jax.jit, ways), *map(ja.jit, ways)):
        seen.clear()
        jax.block_until_ready(run(x))
        jax.effects_barrier()
        assert seen == [(3,)]
