"""Tensor programs inside JAX's transformations: `ja.func.functionalize`, and compiled functions called with symbols."""

import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import is_tracer
from tests.seeds import some

X = jax.device_put(np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32))
W = jax.device_put(np.random.default_rng(1).normal(size=(3, 3)).astype(np.float32))


def program(x, w):
    """Writes in place, through a view and to a view of what was computed."""
    y = x @ w
    y[0].mul_(2)
    y.add_(x.sum())
    v = y.t()
    v[0] = y[0, 1]
    return (y.sin() ** 2).sum()


def formula(x, w):
    y = x @ w
    y = y.at[0].mul(2) + x.sum()
    y = y.at[:, 0].set(y[0, 1])
    return (jnp.sin(y) ** 2).sum()


def step(carry, x):
    carry.mul_(0.5)
    carry[0].add_(x.sum())
    return carry, carry.sum()


def step_formula(carry, x):
    carry = (carry * 0.5).at[0].add(x.sum())
    return carry, carry.sum()


TRANSFORMATIONS = {
    "call": lambda f: f(X, W),
    "jit": lambda f: jax.jit(f)(X, W),
    "grad": lambda f: jax.grad(f, (0, 1))(X, W),
    "jit of grad": lambda f: jax.jit(jax.grad(f, (0, 1)))(X, W),
    "value_and_grad": lambda f: jax.value_and_grad(f)(X, W),
    "vmap": lambda f: jax.vmap(f, (0, None))(jnp.stack([X, 2 * X]), W),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f), (0, None))(jnp.stack([X, 2 * X]), W),
    "jvp": lambda f: jax.jvp(f, (X, W), (W, X)),
    "vjp": lambda f: jax.vjp(f, X, W)[1](jnp.float32(1)),
    "linearize": lambda f: jax.linearize(f, X, W)[1](W, X),
    "hessian": lambda f: jax.hessian(f)(X, W),
    "jacfwd": lambda f: jax.jacfwd(f, 1)(X, W),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f))(X, W),
    "grad of grad": lambda f: jax.grad(lambda x: jax.grad(f)(x, W).sum())(X),
    "eval_shape": lambda f: np.zeros(jax.eval_shape(f, X, W).shape),
}


def assert_close(got, wanted):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-4), got, wanted)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", some(TRANSFORMATIONS, 2))
def test_a_functionalized_program_composes_with(name):
    transform = TRANSFORMATIONS[name]
    assert_close(transform(ja.func.functionalize(program)), transform(formula))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", some(TRANSFORMATIONS, 3))
def test_a_compiled_program_composes_with(name):
    transform = TRANSFORMATIONS[name]
    compiled = ja.compile(program)
    on_arrays = lambda x, w: compiled(ja.interop.from_jax(x), ja.interop.from_jax(w)).jax()
    assert_close(transform(on_arrays), transform(formula))
    assert_close(transform(ja.func.functionalize(compiled)), transform(formula))


@pytest.mark.slow
def test_bodies_of_control_flow():
    xs = jnp.arange(8.0).reshape(4, 2)
    pure = ja.func.functionalize(step)
    assert_close(jax.lax.scan(pure, X, xs), jax.lax.scan(step_formula, X, xs))
    total = lambda body: lambda x: jax.lax.scan(body, x, xs)[1].sum()
    assert_close(jax.grad(total(pure))(X), jax.grad(total(step_formula))(X))
    compiled = ja.compile(step)
    body = lambda c, x: tuple(t.jax() for t in compiled(ja.interop.from_jax(c), ja.interop.from_jax(x)))
    assert_close(jax.lax.scan(body, X, xs), jax.lax.scan(step_formula, X, xs))
    double, add = ja.func.functionalize(lambda x: x.mul_(2)), ja.func.functionalize(lambda x: x.add_(2))
    assert_close(jax.lax.cond(X[0, 0] > 9, double, add, X), X + 2)
    assert_close(jax.lax.while_loop(lambda x: x.sum() < 0, add, jnp.full(2, -3.0)), jnp.full(2, 1.0))
    assert_close(jax.lax.fori_loop(0, 3, lambda _, x: double(x), X), 8 * X)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, PartitionSpec as P
import jaxaot as ja
from jaxaot._jax import is_tracer

def local(x):
    y = x * 2
    y[0].add_(1)
    y.mul_(ja.interop.from_jax(jax.lax.psum(y.sum().jax(), "d")))
    return y

def formula(x):
    y = (x * 2).at[0].add(1)
    return y * jax.lax.psum(y.sum(), "d")

n = jax.device_count()
mesh = jax.make_mesh((n,), ("d",), axis_types=(AxisType.Auto,))
sharded = lambda f: jax.shard_map(f, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
x = jnp.arange(2.0 * n).reshape(2 * n, 1)
np.testing.assert_allclose(sharded(ja.func.functionalize(local))(x), sharded(formula)(x))
gradient = lambda f: jax.jit(jax.grad(lambda x: sharded(f)(x).sum()))(x)
np.testing.assert_allclose(gradient(ja.func.functionalize(local)), gradient(formula))
compiled = ja.compile(lambda x: x.mul_(2))
np.testing.assert_allclose(sharded(lambda x: compiled(ja.interop.from_jax(x)).jax())(x), 2 * x)
print("devices", n)
"""


@pytest.mark.slow
def test_shard_map_over_several_devices():
    root = str(pathlib.Path(__file__).parents[2])
    flags = "--xla_force_host_platform_device_count=4"
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", SHARDED], env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "devices 4", done.stderr


def test_shard_map_over_one_device():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("d")
    pure = ja.func.functionalize(lambda x: x.mul_(ja.interop.from_jax(jax.lax.psum(x.sum().jax(), "d"))))
    got = jax.shard_map(pure, mesh=mesh, in_specs=spec, out_specs=spec)(jnp.arange(3.0))
    assert got.tolist() == [0, 3, 6]


# -- arguments ---------------------------------------------------------------------------------------------------------


def test_arguments_of_every_kind():
    x = jnp.ones(3)
    assert ja.func.functionalize(lambda x: x.mul_(2))(np.ones(3, np.float32)).tolist() == [2, 2, 2]
    assert jax.jit(ja.func.functionalize(lambda i: i.add_(1)))(jnp.arange(3)).tolist() == [1, 2, 3]
    assert jax.jit(ja.func.functionalize(lambda x, s: x.mul_(s)))(x, 3.0).tolist() == [3, 3, 3]
    assert (
        ja.func.functionalize(lambda x, mode, n=None: x * 2 if mode == "a" and n is None else x)(x, "a").tolist()
        == [2] * 3
    )
    got = jax.jit(ja.func.functionalize(lambda d: {"a": d["x"].add_(1), "b": [d["x"]]}))({"x": x})
    assert got["a"].tolist() == got["b"][0].tolist() == [2, 2, 2]
    w = ja.tensor([1.0, 2.0, 3.0])
    assert ja.func.functionalize(lambda x: x * w)(ja.ones(3)).tolist() == [1, 2, 3]


def test_a_typed_key_is_an_argument_as_it_is():
    draw = ja.func.functionalize(lambda x, key: x * ja.interop.from_jax(jax.random.normal(key, (3,))))
    key = jax.random.key(0)
    np.testing.assert_allclose(jax.jit(draw)(jnp.ones(3), key), jax.random.normal(key, (3,)))


def test_an_array_passed_twice_is_two_tensors():
    x = jnp.ones(2)
    doubled, other = ja.func.functionalize(lambda x, y: (x.mul_(2), y))(x, x)
    assert doubled.tolist() == [2, 2] and other.tolist() == [1, 1] and x.tolist() == [1, 1]


# -- gradients are the tape's ------------------------------------------------------------------------------------------


def test_detach_and_no_grad_stop_jax_gradients():
    def hidden(x):
        with ja.no_grad():
            x.mul_(2)
        return (x * x).sum()

    x = jnp.full(3, 2.0)
    assert jax.grad(ja.func.functionalize(lambda x: (x.detach() * x).sum()))(x).tolist() == [2, 2, 2]
    assert jax.grad(ja.func.functionalize(hidden))(x).tolist() == [8, 8, 8]  # 2 · (2 · x), as the tape says


def test_backward_inside():
    def of_an_argument(x):
        return ja.autograd.grad((x**3).sum(), x)[0]

    def of_a_leaf(x):
        leaf = x.detach().requires_grad_()
        (leaf**3).sum().backward()
        return leaf.grad

    x = jnp.full(3, 2.0)
    for fn in (of_an_argument, of_a_leaf):
        assert jax.jit(ja.func.functionalize(fn))(x).tolist() == [12, 12, 12]


def test_a_backward_in_jit_leaves_nothing_behind():
    compiled = ja.compile(lambda x: (x * 2, x * 3))

    def eager(x):
        leaf = ja.interop.from_jax(x).requires_grad_()
        (leaf * leaf).sum().backward()
        return leaf.grad.jax()

    def of_compiled(x):
        leaf = ja.interop.from_jax(x).requires_grad_()
        compiled(leaf)[0].sum().backward()
        return leaf.grad.jax()

    for fn in (eager, of_compiled):
        assert jax.jit(fn)(jnp.ones(7)).tolist() == fn(jnp.ones(7)).tolist() == [2] * 7


def into_out(x):
    z = ja.empty(0)
    ja.mul(x, x, out=z)
    return z


def into_a_row_as_out(x):
    z = ja.zeros(2, 6)
    ja.mul(x, x, out=z[0])
    return z


def into_two_outs(x):
    values, places = ja.empty(0), ja.empty(0, dtype=ja.int32)
    ja.max(x.view(2, 3) ** 2, 1, out=(values, places))
    return values


def made_smaller_beside_a_view(x):
    y = x * x
    v = y.view(2, 3)
    y.resize_(2, 2)
    y.mul_(3)
    return v


def made_larger_beside_a_view(x):
    y = x * x
    v = y[:2]
    y.resize_(8)
    y[6:] = x[:2]
    y.mul_(2)
    return ja.cat([v, y])


def an_argument_made_smaller(x):
    return x.resize_(2, 2).mul_(x)


def parts_written(x):
    y = x * x
    a, b = y.split(3)
    a.mul_(x[:3])
    b.add_(1)
    c, d, _ = y.view(3, 2).unbind()
    c.mul_(d)
    return y


def parts_written_formula(x):
    y = (x * x).at[:3].mul(x[:3]).at[3:].add(1)
    return y.at[:2].mul(y[2:4])


UNRECORDED = {
    into_out: lambda x: x * x,
    into_a_row_as_out: lambda x: jnp.stack([x * x, 0 * x]),
    into_two_outs: lambda x: (x.reshape(2, 3) ** 2).max(1),
    made_smaller_beside_a_view: lambda x: (x * x).at[:4].mul(3).reshape(2, 3),
    made_larger_beside_a_view: lambda x: 2 * jnp.concatenate([(x * x)[:2], x * x, x[:2]]),
    an_argument_made_smaller: lambda x: (x[:4] ** 2).reshape(2, 2),
    parts_written: parts_written_formula,
}


@pytest.mark.few(1)
@pytest.mark.parametrize("fn", UNRECORDED, ids=lambda fn: fn.__name__)
def test_what_the_tape_could_not_record_has_its_values_and_gradients(fn):
    formula, x = UNRECORDED[fn], jnp.arange(1.0, 7.0)
    pure = ja.func.functionalize(fn)
    assert_close(pure(x), formula(x))
    assert_close(jax.jit(pure)(x), formula(x))
    gradient = lambda f: jax.grad(lambda x: (f(x) ** 2).sum())(x)
    assert_close(gradient(pure), gradient(formula))


def test_a_write_through_a_view_made_without_gradients_is_refused():
    def fn(x):
        y = x.clone()
        with ja.no_grad():
            v = y[:2]
        return v.mul_(3)

    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        ja.func.functionalize(fn)(jnp.ones(3))


@pytest.mark.few(1)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensors_come_back_with_their_strides(requires_grad):
    def fn(x):
        y = ja.empty_strided((2, 3), (5, 1))
        return y.copy_(x), (x * 2).t(), x * 1, x.sum().expand(2)

    x = ja.arange(6.0).view(2, 3).requires_grad_(requires_grad)
    for run in (fn, ja.func.functionalize(fn)):
        gapped, turned, plain, shown = run(x)
        assert [t.stride() for t in (gapped, turned, plain)] == [(5, 1), (1, 3), (3, 1)] and shown.tolist() == [15, 15]
        assert gapped.tolist() == plain.tolist() == x.tolist() and turned.tolist() == (x * 2).t().tolist()
        if requires_grad:
            (g,) = ja.autograd.grad(gapped.sum() + (turned * turned).sum(), x)
            np.testing.assert_allclose(g.numpy(), 1 + 8 * x.detach().numpy())


def test_a_view_is_not_made_larger():
    larger = lambda x: x.clone().view(2, 2).resize_(3, 3)
    with pytest.raises(ja.errors.AutogradError, match="Attempted to resize a view tensor to a larger size"):
        ja.func.functionalize(larger)(ja.ones(4))
    assert larger(ja.ones(4)).shape == (3, 3)


def test_a_write_to_memory_that_is_shown_twice_is_refused():
    write = lambda x: (x + x).unfold(0, 3, 2).abs_()
    with pytest.raises(ja.errors.OverlappingWriteError, match="a tensor being mutated that has internal overlap"):
        ja.func.functionalize(write)(ja.ones(5))
    with pytest.raises(ja.errors.OverlappingWriteError, match="unsupported operation: more than one element"):
        write(ja.ones(5))


# -- the outside -------------------------------------------------------------------------------------------------------


def test_what_lies_outside_is_constant():
    w = ja.tensor([1.0, 2.0, 3.0], requires_grad=True)
    pure = ja.func.functionalize(lambda x: (x * w).sum())
    assert jax.jit(jax.grad(pure))(jnp.ones(3)).tolist() == [1, 2, 3] and w.grad is None


@pytest.mark.parametrize(
    "change",
    [
        lambda t, x: t.add_(x),
        lambda t, x: t.t_(),
        lambda t, x: t.untyped_storage().resize_(0),
        lambda t, x: t.requires_grad_(),
        lambda t, x: setattr(t, "data", x),
        lambda t, x: setattr(t, "grad", x),
        lambda t, x: (t.detach().requires_grad_() * 0 + t.set_(x)).sum(),
    ],
)
def test_the_outside_cannot_be_changed(change):
    t = ja.ones(2, 3)
    with pytest.raises(ja.errors.TraceError, match=r"changed 1 tensor\(s\) that it was not passed"):
        jax.jit(ja.func.functionalize(lambda x: (change(t, x), x * 1)[1]))(jnp.ones((2, 3)))
    assert t.tolist() == [[1] * 3] * 2 and t._version == 0 and t.grad is None and not t.requires_grad


def test_gradients_of_the_outside_are_refused():
    w = ja.ones(3, requires_grad=True)

    def fn(x):
        (x * w).sum().backward()
        return x

    with pytest.raises(ja.errors.TraceError, match=r"gradients come from `jax.grad`"):
        ja.func.functionalize(fn)(jnp.ones(3))
    assert w.grad is None


def test_a_tensor_that_outlives_the_call_says_so():
    kept = []
    jax.jit(ja.func.functionalize(lambda x: kept.append(x)))(jnp.ones(3))
    with pytest.raises(ja.errors.LeakedTensorError, match="used outside of that trace"):
        kept[0] + 1


def test_an_error_inside_leaves_everything_as_it_was():
    t = ja.ones(3)

    def fn(x):
        t.add_(x)
        raise KeyError("inside")

    with pytest.raises(KeyError):
        ja.func.functionalize(fn)(jnp.ones(3))
    assert t.tolist() == [1, 1, 1] and ja.is_grad_enabled()
    assert ja.compile(lambda: t + 1)().tolist() == [2, 2, 2]


# -- one inside the other ----------------------------------------------------------------------------------------------


def test_a_tensor_wraps_a_symbol_of_jax_and_never_a_tensor():
    seen = []

    def inner(x):
        seen.append((type(x), is_tracer(x._storage.array)))
        x.mul_(x)
        return x.sum()

    outer = ja.func.functionalize(lambda x: ja.func.functionalize(inner)(x.jax()) * 2)
    for fn in (outer, ja.func.functionalize(inner)):
        seen.clear()
        got = jax.jit(jax.vmap(jax.grad(lambda x: fn(x).sum())))(jnp.ones((2, 3)))
        assert seen == [(ja.Tensor, True)]
        np.testing.assert_array_equal(got, np.full((2, 3), 4.0 if fn is outer else 2.0))


def test_functionalized_inside_functionalized():
    inner = ja.func.functionalize(lambda y: y.mul_(3))
    outer = ja.func.functionalize(lambda x: ja.interop.from_jax(inner(x.jax())) + x)
    assert jax.jit(outer)(jnp.ones(2)).tolist() == [4, 4]
    assert jax.grad(lambda x: outer(x).sum())(jnp.ones(2)).tolist() == [4, 4]


def test_functionalized_inside_compiled_bakes_nothing_in():
    w = ja.tensor([1.0, 2.0, 3.0])
    inner = ja.func.functionalize(lambda y: y * w)
    fn = ja.compile(lambda x: ja.interop.from_jax(inner(x.jax())) + 1)
    assert fn(ja.ones(3)).tolist() == [2, 3, 4]
    w.add_(10)
    assert fn(ja.ones(3)).tolist() == [12, 13, 14] and fn.cache_info().misses == 1


def test_functionalized_inside_compiled_draws_anew():
    inner = ja.func.functionalize(lambda y: ja.nn.functional.dropout(y))
    fn = ja.compile(lambda x: ja.interop.from_jax(inner(x.jax())))
    draws = {tuple(fn(ja.ones(32)).tolist()) for _ in range(3)}
    assert len(draws) == 3


def test_compiled_inside_jit_writes_its_arguments():
    inner = ja.compile(lambda x: x.mul_(2).sum())

    def fn(x):
        t = ja.interop.from_jax(x)
        total = inner(t)
        return t.jax(), total.jax()

    doubled, total = jax.jit(fn)(jnp.arange(3.0))
    assert doubled.tolist() == [0, 2, 4] and total == 6


def test_compiled_called_with_bare_symbols():
    fn = ja.compile(lambda x: jnp.sin(x) * 2)
    x = jnp.arange(3.0)
    assert_close(jax.jit(jax.grad(lambda x: fn(x).sum()))(x), 2 * jnp.cos(x))
    assert_close(jax.vmap(fn)(x), 2 * jnp.sin(x))


@pytest.mark.slow
def test_compiled_inside_compiled_is_one_graph():
    inner = ja.compile(lambda x, w: x.mul_(2) @ w)
    outer = ja.compile(lambda x, w: inner(x, w).tanh())
    x, w = ja.interop.from_jax(X), ja.interop.from_jax(W).requires_grad_()
    graph = outer.trace(x, w)
    assert [e.primitive.name for e in graph.jaxpr.eqns if "dot" in e.primitive.name] == ["dot_general"]
    outer(x, w).sum().backward()
    assert_close(w.grad.jax(), jax.grad(lambda w: jnp.tanh(2 * X @ w).sum())(W))
    assert_close(x.jax(), 2 * X) and inner.cache_info().misses == 0


@pytest.mark.slow
def test_a_compiled_write_that_is_read_again_composes_too():
    """Such a write is pinned by a barrier, and on CPU compiled with options of its own."""
    compiled = ja.compile(lambda cache, x: (cache[1].copy_(x), (cache * cache).sum())[1])

    def fn(x):
        cache = ja.interop.from_jax(jnp.ones((3, 3)) * x[0])
        return compiled(cache, ja.interop.from_jax(x)).jax()

    formula = lambda x: ((jnp.ones((3, 3)) * x[0]).at[1].set(x) ** 2).sum()
    x = jnp.arange(1.0, 4.0)
    for transform in (jax.jit, jax.grad, lambda f: jax.jit(jax.grad(f)), jax.hessian, lambda f: lambda x: f(x)):
        assert_close(transform(fn)(x), transform(formula)(x))
    assert_close(jax.vmap(fn)(jnp.stack([x, 2 * x])), jax.vmap(formula)(jnp.stack([x, 2 * x])))
