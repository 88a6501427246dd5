"""`ja.func`: the finer rules of PyTorch, each case by PyTorch."""

from __future__ import annotations

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each
from tests.seeds import some

WAYS = ["eager", "compiled", pytest.param("torch", marks=pytest.mark.oracle)]
BOTH = ["eager", pytest.param("torch", marks=pytest.mark.oracle)]


def run(way, fn):
    """Returns what a program makes, as lists; it takes a library."""
    m = importlib.import_module("torch") if way == "torch" else ja
    made = (ja.compile(lambda: fn(ja)) if way == "compiled" else lambda: fn(m))()
    return [x.tolist() for x in made] if isinstance(made, tuple) else made.tolist()


@pytest.mark.few(2)
@pytest.mark.parametrize("way", WAYS)
def test_gradients_in_batches_of_a_graph_from_outside(way):
    def jacobian(m):
        x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 1
        y[:2].mul_(x[1:])
        y = y.max() * y
        return m.func.vmap(lambda v: m.autograd.grad(y, x, v, retain_graph=True)[0])(m.eye(3))

    # of y = (x0 x1, x1 x2, x2) times x1 x2
    assert run(way, jacobian) == [[12, 12, 4], [0, 36, 24], [0, 9, 12]]


def test_a_backward_from_outside_is_not_recorded_inside():
    x = ja.ones(3, requires_grad=True)
    y = x.sin()
    with pytest.raises(ja.errors.AutogradError, match="recorded before"):
        ja.func.vmap(lambda v: ja.autograd.grad(y, x, v, create_graph=True)[0])(ja.eye(3))


@pytest.mark.parametrize("way", WAYS)
def test_a_function_without_a_backward_is_transformed_until_a_gradient_is_asked_for(way):
    def doubled(m):
        class Doubled(m.autograd.Function):
            generate_vmap_rule = True
            forward = staticmethod(lambda x: x * 2)
            setup_context = staticmethod(lambda ctx, inputs, output: None)

        x = m.ones(2, requires_grad=True)
        y = m.func.vmap(Doubled.apply)(x)
        with pytest.raises((RuntimeError, NotImplementedError), match="backward"):
            y.sum().backward()
        return y.detach() + m.func.vmap(Doubled.apply)(m.ones(2))

    assert run(way, doubled) == [4, 4]


@pytest.mark.parametrize("way", WAYS)
def test_what_vjp_found_under_no_grad_is_recorded_later(way):
    def second(m):
        x = m.tensor([1.0, 2.0], requires_grad=True)
        with m.no_grad():
            value, pull = m.func.vjp(lambda t: t**3, x)
            assert not pull(m.ones(2))[0].requires_grad
        assert not value.requires_grad
        (slope,) = pull(m.ones(2))
        return m.autograd.grad(slope.sum(), x)[0]

    assert run(way, second) == [6, 12]


@pytest.mark.parametrize("way", WAYS)
def test_random_numbers_in_a_forward_jacobian_are_refused_unless_asked_for(way):
    noisy = lambda m, **options: m.func.jacfwd(lambda x: x * 2 + m.rand(2), **options)(m.ones(2))
    assert run(way, lambda m: noisy(m, randomness="same")) == [[2, 0], [0, 2]]
    for refused in (noisy, lambda m: m.func.hessian(lambda x: (x * m.rand(2)).sum())(m.ones(2))):
        with pytest.raises(RuntimeError, match="randomness error mode"):
            run(way, refused)


@pytest.mark.parametrize("way", WAYS)
def test_chunks_draw_the_same_random_numbers(way):
    drawn = lambda m: m.func.vmap(lambda t: t + m.rand(()), randomness="same", chunk_size=2)(m.zeros(5))
    found = run(way, drawn)
    assert found == [found[0]] * 5


def functions(m, seen):
    """Returns a Function of two arguments that notes what its ctx says."""

    class Product(m.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            x, y = ctx.saved_tensors
            return g * y, g * x

    return Product


WANTED = {
    "the first": (lambda m, f: m.func.grad(lambda x, y: f(x, y).sum()), (True, False)),
    "the second": (lambda m, f: m.func.grad(lambda x, y: f(x, y).sum(), argnums=1), (False, True)),
    "both": (lambda m, f: m.func.grad(lambda x, y: f(x, y).sum(), argnums=(0, 1)), (True, True)),
    "mapped": (lambda m, f: m.func.vmap(m.func.grad(f)), (True, False)),
    "around a map": (lambda m, f: m.func.grad(lambda x, y: m.func.vmap(f)(x, y).sum()), (True, False)),
    "twice": (
        lambda m, f: m.func.grad(lambda x, y: m.func.grad(lambda x, y: f(x, y).sum())(x, y).sum()),
        (True, False),
    ),
}


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("name", WANTED)
def test_a_ctx_knows_which_gradients_are_wanted(name, way):
    m, seen = importlib.import_module("torch") if way == "torch" else ja, []
    transform, wanted = WANTED[name]
    transform(m, functions(m, seen).apply)(m.ones(2), m.ones(2))
    assert wanted in seen


@pytest.mark.parametrize("way", BOTH)
def test_only_what_is_differentiated_requires_grad_inside(way):
    m, seen = importlib.import_module("torch") if way == "torch" else ja, []

    def noted(x, y):
        seen.append((x.requires_grad, y.requires_grad))
        a, _ = y.split(1)
        a.mul_(2)  # a view of several is written, which gradients would forbid
        return (x * y).sum()

    m.func.vmap(noted)(m.ones(2, 2), m.ones(2, 2))
    m.func.grad(noted)(m.ones(2), m.ones(2))
    assert seen == [(False, False), (True, False)]


def identity(m, seen):
    """Returns a Function that is mapped by its rule alone."""

    class Identity(m.autograd.Function):
        forward = staticmethod(lambda x, rest: 1 / 0)
        setup_context = staticmethod(lambda ctx, inputs, output: None)

        @staticmethod
        def vmap(info, in_dims, x, rest):
            seen.append((info.batch_size, info.randomness, in_dims))
            return x, in_dims[0]

    return Identity


@pytest.mark.parametrize("way", BOTH)
def test_a_rule_gets_dims_as_the_caller_said_them(way):
    m, seen = importlib.import_module("torch") if way == "torch" else ja, []
    x, y = m.arange(6.0).reshape(3, 2), m.ones(2)
    mapped = m.func.vmap(identity(m, seen).apply, in_dims=(1, [0, None]), out_dims=1, randomness="same")
    assert mapped(x, [y, y]).tolist() == x.tolist()
    assert seen == [(2, "same", (1, [0, None]))]


def returning(m):
    class Returning(m.autograd.Function):
        forward = staticmethod(lambda x: x)
        setup_context = staticmethod(lambda ctx, inputs, output: ctx.save_for_backward(output))
        backward = staticmethod(lambda ctx, g: g)

    return Returning


def hooked(m):
    with m.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        return m.func.grad(lambda x: x.sin().sum())(m.ones(2))


def hooked_inside(m):
    def fn(x):
        with m.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return x.sin().sum()

    return m.func.vjp(fn, m.ones(2))


def without_context(m):
    class Old(m.autograd.Function):
        forward, backward = staticmethod(lambda ctx, x: x * 2), staticmethod(lambda ctx, g: g * 2)

    return m.func.grad(lambda x: Old.apply(x).sum())(m.ones(2))


REFUSED = {
    "an argument that is returned and saved": (lambda m: returning(m).apply(m.ones(2)), "returned as-is"),
    "hooks around": (hooked, "support saved tensor hooks"),
    "hooks inside": (hooked_inside, "support saved tensor hooks"),
    "no setup_context": (without_context, "must override the setup_context"),
    "an aux that is no tensor": (
        lambda m: m.func.grad(lambda x: (x.sum(), [x, "a"]), has_aux=True)(m.ones(2)),
        "Expected tensors, got unsupported type",
    ),
    "argnums in a list": (lambda m: m.func.grad(lambda x: x.sum(), argnums=[0])(m.ones(2)), "int or Tuple"),
    "a complex result": (lambda m: m.func.jacrev(lambda x: x * 1j)(m.ones(2)), "Expected all outputs to be real"),
    "a complex argument": (
        lambda m: m.func.jacfwd(lambda x: x.conj())(m.ones(2) * 1j),
        "Expected all inputs to be real",
    ),
    "tangents in a list": (lambda m: m.func.jvp(m.sin, (m.ones(2),), [m.ones(2)]), "same python structure"),
    "a number as primal": (lambda m: m.func.jvp(m.sin, (1.0,), (m.ones(2),)), "only contain Tensors"),
}


@pytest.mark.parametrize("way", BOTH)
@each("name", REFUSED)
def test_refused_as_by_pytorch(name, way):
    m = importlib.import_module("torch") if way == "torch" else ja
    fn, words = REFUSED[name]
    with pytest.raises(RuntimeError, match=words):
        fn(m)


@pytest.mark.parametrize("way", BOTH)
def test_functionalize_of_tensors_gives_tensors_and_writes(way):
    m = importlib.import_module("torch") if way == "torch" else ja
    x = m.zeros(4, 2)

    def fn(x):
        first, _ = x.split(2)
        first.diagonal().add_(1)
        return x.sum(0)

    for _ in range(2):
        y = m.func.functionalize(fn, remove="mutations_and_views")(x)
    assert y.tolist() == [2, 2] and x.tolist() == [[2, 0], [0, 2], [0, 0], [0, 0]]
    mapped = m.func.vmap(m.func.functionalize(fn))(x.unsqueeze(0))
    assert mapped.tolist() == [[3, 3]] and x[0].tolist() == [3, 0]
    with pytest.raises(RuntimeError, match="invalid argument for remove"):
        m.func.functionalize(fn, remove="all")(x)


def two_results(m, seen):
    """Returns a Function that notes which gradients of its results there are."""

    class Two(m.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y, x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g is None, h is None))
            x, y = ctx.saved_tensors
            assert g is not None
            return g * y, g * x

    return Two


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("transform", ["grad", "vjp", "vmap of grad", "grad of grad"])
def test_results_without_gradients_get_none_where_that_is_asked_for(transform, way):
    m, seen = importlib.import_module("torch") if way == "torch" else ja, []

    two = two_results(m, seen)
    first = lambda x, y: two.apply(x, y)[0].sum()
    x, y = m.tensor([2.0, 3.0]), m.tensor([5.0, 7.0])
    found = {
        "grad": lambda: m.func.grad(first)(x, y),
        "vjp": lambda: m.func.vjp(lambda x: two.apply(x, y)[0], x)[1](m.ones(2))[0],
        "vmap of grad": lambda: m.func.vmap(m.func.grad(first))(x, y),
        "grad of grad": lambda: m.func.grad(lambda x: (m.func.grad(first)(x, y) * x).sum())(x),
    }[transform]()
    assert found.tolist() == [5, 7] and (False, True) in seen


def unrecorded_write(m):
    def written(x):
        with m.no_grad():
            x.add_(1)
        return (x * x).sum()

    return written


WRITES = {
    "of another argument": (lambda m, x, y: m.func.grad(lambda x, y: (y.add_(1) * x).sum())(x, y), 2, 1, 2),
    "of a product": (lambda m, x, y: m.func.grad(lambda x, y: (y.mul_(2).mul_(x) * x).sum())(x, y), 4, 1, 2),
    "without gradients": (lambda m, x, y: m.func.grad(unrecorded_write(m))(x), 4, 2, 1),
    "through what is detached": (lambda m, x, y: m.func.grad(lambda x: x.detach().mul_(2).sum() + x.sum())(x), 1, 2, 1),
    "of a Jacobian": (lambda m, x, y: m.func.jacfwd(lambda x, y: x.add_(y.add_(1)))(x, y).sum(0), 1, 3, 2),
    "of second derivatives": (
        lambda m, x, y: m.func.hessian(lambda x, y: (y.mul_(2) * x * x).sum())(x, y).sum(0),
        4,
        1,
        2,
    ),
    "with what comes besides": (
        lambda m, x, y: m.func.grad_and_value(lambda x, y: ((x * y.add_(1)).sum(), y), has_aux=True)(x, y)[1][1],
        2,
        1,
        2,
    ),
}


@pytest.mark.few(16)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRITES)
def test_writes_to_arguments_are_seen_outside(name, way):
    program, *expected = WRITES[name]

    def written(m):
        x, y = m.ones(2), m.ones(2)
        return program(m, x, y), x, y

    assert run(way, written) == [[e, e] for e in expected]


REFUSED_WRITES = {
    "grad": lambda m, x: m.func.grad(lambda x: x.add_(1).sum())(x),
    "of a view": lambda m, x: m.func.grad(lambda x: x[0].mul_(2))(x),
    "vjp": lambda m, x: m.func.vjp(lambda x: x.add_(1), x),
    "jacrev": lambda m, x: m.func.jacrev(lambda x: x.add_(1))(x),
    "hessian": lambda m, x: m.func.hessian(lambda x: x.mul_(2).sum())(x),
    "mapped inside": lambda m, x: m.func.grad(lambda x: m.func.vmap(lambda x: x.mul_(2))(x).sum())(x),
    "mapped outside": lambda m, x: m.func.vmap(m.func.grad(lambda x: x.mul_(2)))(x),
    "jvp inside": lambda m, x: m.func.grad(lambda x: m.func.jvp(lambda x: x.mul_(2), (x,), (x,))[0].sum())(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REFUSED_WRITES)
def test_what_is_differentiated_is_not_written(name, way):
    def refused(m):
        x = m.ones(2)
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an in-place"):
            REFUSED_WRITES[name](m, x)
        return x

    assert run(way, refused) == [1, 1]


@pytest.mark.parametrize("way", BOTH)
def test_what_was_not_passed_is_not_written(way):
    def refused(m):
        y = m.ones(2)
        with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
            m.func.vjp(lambda x: y.mul_(2) * x, m.ones(2))
        return y

    assert run(way, refused) == [1, 1]


@pytest.mark.few(3)
@pytest.mark.parametrize("of", ["grad", "jacrev", "jacfwd", "hessian"])
@pytest.mark.parametrize("way", BOTH)
def test_a_batch_norm_moves_statistics_that_were_not_passed(way, of):
    def moved(m):
        mean, var, x = m.zeros(2), m.ones(2), m.tensor([[0.0, 1.0], [2.0, 5.0]])
        norm = lambda x: m.nn.functional.batch_norm(x, mean, var, training=True)
        fn = norm if of.startswith("jac") else lambda x: (norm(x) ** 3).sum()
        getattr(m.func, of)(fn)(x)
        return m.cat([mean, var])

    assert run(way, moved) == pytest.approx([0.1, 0.3, 1.1, 1.7])


@pytest.mark.parametrize("momentum", [0.1, None])
def test_modules_count_batches_under_func(momentum):
    made, right = (ja.nn.BatchNorm1d(2, momentum=momentum) for _ in range(2))
    x = ja.tensor([[0.0, 1.0], [2.0, 5.0]])
    compiled = ja.compile(lambda x: ja.func.jacrev(made)(x))
    for run in (ja.func.jacrev(made), compiled, compiled):
        run(x)
        right(x)
        assert [b.tolist() for b in made.buffers()] == [b.tolist() for b in right.buffers()]
    with pytest.raises(ja.errors.TraceError, match="track_running_stats=False"):
        ja.func.vmap(made)(ja.stack([x, x]))


@pytest.mark.parametrize("way", ["eager", pytest.param("torch", marks=pytest.mark.oracle)])
def test_what_a_derivative_was_taken_at_is_there_afterwards(way):
    m = importlib.import_module("torch") if way == "torch" else ja
    kept = []

    def fn(x):
        kept.extend((x, x[1:] * 2, m.ones(2)))
        return (x**2).sum()

    x = m.tensor([1.0, 2.0])
    for call in (lambda: m.func.grad(fn)(x), lambda: m.func.vjp(fn, x), lambda: m.func.jvp(fn, (x,), (x,))):
        kept.clear()
        call()
        assert [(y + 1).tolist() for y in kept] == [[2, 3], [5], [2, 2]]
        if way == "eager":
            assert kept[1].add_(1).numpy().tolist() == [5]
            assert not any(y.requires_grad for y in kept)


def test_what_has_no_value_of_its_own_does_not_outlive_a_transformation():
    kept = []
    keep = lambda x: (kept.append(x * 2), x.sum())[1]
    recorded, mapped = ja.ones(2, requires_grad=True), ja.ones(2, 2)
    inner = lambda a: (ja.func.grad(keep)(ja.ones(2)), (kept[-1] * a).sum())[1]
    ja.func.grad(keep)(recorded)
    ja.func.vmap(keep)(mapped)
    for tensor in kept:
        with pytest.raises(ja.errors.LeakedTensorError):
            tensor + 1
    with pytest.raises(ja.errors.LeakedTensorError):
        ja.func.grad(inner)(ja.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("run", some([ja.compile, lambda fn: fn], 1))
@each("name", ["max_pool2d", "logcumsumexp", "max_unpool1d"])
def test_second_derivatives_of_what_has_the_slope_of_another_formula(name, run):
    x = ja.tensor([[[1.0, 3.0, -2.0, 0.5], [0.25, 2.0, 4.0, -1.0]]])
    places = ja.tensor([[[1, 2, 4, 6], [0, 3, 5, 7]]])
    fn, formula = {
        "max_pool2d": (lambda x: ja.nn.functional.max_pool2d(x, 2), lambda x: x.reshape(2, 2, 2).max((0, 2))),
        "logcumsumexp": (lambda x: ja.logcumsumexp(x, -1), lambda x: jnp.log(jnp.cumsum(jnp.exp(x), -1))),
        "max_unpool1d": (lambda x: ja.nn.functional.max_unpool1d(x, places, 2), lambda x: x),
    }[name]
    found = run(ja.func.hessian(lambda x: (fn(x) ** 3).sum()))(x)
    wanted = jax.jit(jax.hessian(lambda x: (formula(x) ** 3).sum()))(x.jax())
    assert found.numpy() == pytest.approx(np.asarray(wanted), rel=1e-4, abs=1e-4)


def test_the_tape_runs_inside_of_transformations():
    x = ja.tensor([0.5, 1.0, 2.0])

    def slope(x):
        x.requires_grad_()
        (g,) = ja.autograd.grad((x**3).sum(), x, create_graph=True)
        return g

    def kept(x):
        w = x.detach().requires_grad_()
        (w**3).sum().backward()
        return w.grad

    wanted = (3 * x**2).tolist()
    assert ja.func.vmap(slope)(x).tolist() == ja.func.vmap(kept)(x).tolist() == wanted
    assert ja.func.grad(lambda x: slope(x).sum())(x).tolist() == (6 * x).tolist()
    assert not x.requires_grad
