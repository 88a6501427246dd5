"""Derivatives of any order: `create_graph=True` eagerly, through compiled calls and checkpoints, and inside traces."""

import functools
import gc
import random
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.tape.node import Node
from tests.seeds import seeds, some

X, W = [0.3, 1.2, -0.7], [1.3, 0.2, -0.4]


def program(x, w):
    """Ops whose backward needs arguments, results and values in between; views and writes through them."""
    y = (x.sin() * w.exp()).tanh()
    z = x * w
    z[1:].mul_(y[:-1])
    z[0].sigmoid_()
    u = z.view(1, 3).softmax(1).squeeze(0)
    return y.sum() + (u**3 * z.relu()).sum() * x[0].cos()


def pure_program(x, w):
    """The same without writes."""
    y = jnp.tanh(jnp.sin(x) * jnp.exp(w))
    z = x * w
    z = z.at[1:].multiply(y[:-1])
    z = z.at[0].set(jax.nn.sigmoid(z[0]))
    u = jax.nn.softmax(z)
    return y.sum() + (u**3 * jax.nn.relu(z)).sum() * jnp.cos(x[0])


def next_order(pure):
    """Returns the function that sums sines of all gradients of another one."""
    return lambda x, w: sum(jnp.sin(g).sum() for g in jax.grad(pure, (0, 1))(x, w))


ROUTES = {
    "eager": lambda fn: fn,
    "compiled": ja.compile,
    "recomputed": lambda fn: ja.compile(fn, policy="save_nothing"),
    "checkpointed": lambda fn: lambda *args: ja.utils.checkpoint.checkpoint(fn, *args),
    "compiled region": lambda fn: ja.compile(lambda *args: ja.utils.checkpoint.checkpoint(fn, *args)),
    "checkpointed compiled": lambda fn: lambda *args: ja.utils.checkpoint.checkpoint(ja.compile(fn), *args),
    "interpreted": lambda fn: ja.compile(fn, backend="interpret"),
}


@functools.cache
def orders():
    """Returns what the first four orders come to with JAX."""
    pures = [pure_program]
    for _ in range(4):
        pures.append(next_order(pures[-1]))
    return jax.jit(lambda x, w: [pure(x, w) for pure in pures])(jnp.array(X), jnp.array(W))


@pytest.mark.parametrize("route", some(ROUTES, 0))
def test_orders_one_to_four_are_those_of_jax(route):
    x, w = ja.tensor(X, requires_grad=True), ja.tensor(W, requires_grad=True)
    value = ROUTES[route](program)(x, w)
    for n, expected in enumerate(orders()[: 5 if route == "eager" else 4]):
        if n:
            gradients = ja.autograd.grad(value, (x, w), create_graph=True)
            value = sum(g.sin().sum() for g in gradients)
        np.testing.assert_allclose(value.item(), expected, rtol=2e-4)


@pytest.mark.slow
def test_inside_a_compiled_function_and_a_functionalized_one():
    x, w = ja.tensor(X, requires_grad=True), ja.tensor(W, requires_grad=True)

    def second(x, w):
        value = program(x, w)
        for _ in range(2):
            value = sum(g.sin().sum() for g in ja.autograd.grad(value, (x, w), create_graph=True))
        return value

    third = orders()[3]
    gradients = ja.autograd.grad(ja.compile(second)(x, w), (x, w))
    np.testing.assert_allclose(sum(g.sin().sum() for g in gradients).item(), third, rtol=1e-4)
    gradients = jax.jit(jax.grad(ja.func.functionalize(second), (0, 1)))(x.jax(), w.jax())
    np.testing.assert_allclose(sum(jnp.sin(g).sum() for g in gradients), third, rtol=1e-4)


@pytest.mark.slow
def test_second_derivatives_through_loops_and_branches():
    def looped(x):
        body = lambda c, s: ((c.sin() * s).exp(), c.cos())
        last, seen = ja.scan(body, x, x.detach().reshape(3, 1) * 0.5)
        return ja.cond(last.sum() > 0, lambda: (last * seen).sum(), lambda: last.sum())

    def pure(x):
        last, seen = jax.lax.scan(lambda c, s: (jnp.exp(jnp.sin(c) * s), jnp.cos(c)), x, start.reshape(3, 1) * 0.5)
        return (last * seen).sum()

    start = jnp.array([0.3, 1.2, -0.7])
    hessian = jax.grad(lambda x: jax.grad(pure)(x).sum())(start)

    def second(x):
        (g,) = ja.autograd.grad(looped(x), x, create_graph=True)
        return ja.autograd.grad(g.sum(), x)[0]

    x = ja.interop.from_jax(start).requires_grad_()
    np.testing.assert_allclose(second(x).numpy(), hessian, rtol=1e-4)
    np.testing.assert_allclose(ja.compile(second)(x).numpy(), hessian, rtol=1e-4)
    first = ja.compile(lambda x: ja.autograd.grad(looped(x), x, create_graph=True)[0].sum())
    np.testing.assert_allclose(ja.autograd.grad(first(x), x)[0].numpy(), hessian, rtol=1e-4)


def test_gradients_of_a_leaf_made_inside_end_there():
    def fn(x, has_graph):
        leaf = x.detach().requires_grad_()
        return ja.autograd.grad((leaf**3).sum(), leaf, create_graph=has_graph)[0] + 2 * x

    x = ja.tensor([1.0, 2.0], requires_grad=True)
    for has_graph in (False, True):
        for call in (fn, ja.compile(fn)):
            x.grad = None
            call(x, has_graph).sum().backward()
            assert x.grad.tolist() == [2.0, 2.0]
    lost = ja.compile(lambda x: x.detach().requires_grad_() * 2)(x)
    assert lost.requires_grad
    x.grad = None
    lost.sum().backward()
    assert x.grad is None


def test_backward_twice_adds_recorded_gradients():
    x = ja.tensor([2.0, 3.0], requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    (x**2).sum().backward(create_graph=True)
    np.testing.assert_allclose(x.grad.detach().numpy(), [16, 33])
    (second,) = ja.autograd.grad(x.grad.sum(), x)
    np.testing.assert_allclose(second.numpy(), [14, 20])


def test_two_leaves_do_not_share_a_recorded_gradient():
    x, y = ja.zeros(2, requires_grad=True), ja.zeros(2, requires_grad=True)
    seed = ja.ones(2)
    (x + y).backward(seed, create_graph=True)
    with ja.no_grad():
        x.grad.zero_()
    assert y.grad.tolist() == seed.tolist() == [1, 1]


def test_gradients_flow_to_grad_outputs():
    x, v = ja.tensor([0.3, 1.2], requires_grad=True), ja.tensor([0.5, 2.0], requires_grad=True)
    (g,) = ja.autograd.grad(x.sin(), x, v, create_graph=True)
    dx, dv = ja.autograd.grad(g.sum(), (x, v))
    np.testing.assert_allclose(dx.numpy(), -np.sin(x.detach().numpy()) * v.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(dv.numpy(), np.cos(x.detach().numpy()), rtol=1e-6)


@pytest.mark.oracle
def test_hooks_and_retained_gradients_are_recorded():
    torch = pytest.importorskip("torch")

    def second(library):
        x = library.tensor([0.3, 1.2], requires_grad=True)
        y = x.sin()
        y.retain_grad()
        y.register_hook(lambda g: g * x)
        (g,) = library.autograd.grad((y**2).sum(), x, create_graph=True)
        kept = y.grad
        (h,) = library.autograd.grad(g.sum() + kept.sum(), x)
        return h.numpy(), kept.detach().numpy(), y.grad.numpy()

    for ours, theirs in zip(second(ja), second(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_the_graph_is_freed_if_it_is_not_to_be_retained():
    x = ja.tensor(2.0, requires_grad=True)
    y = x.exp() * x
    (g,) = ja.autograd.grad(y, x, create_graph=True, retain_graph=False)
    np.testing.assert_allclose(g.item(), 3 * np.exp(2), rtol=1e-6)
    with pytest.raises(ja.errors.BackwardTwiceError):
        ja.autograd.grad(y, x)


def test_values_are_those_of_the_forward_whatever_is_written_later():
    x = ja.tensor([0.3, 1.2], requires_grad=True)
    h = x * 2
    y = h.sin()
    (g,) = ja.autograd.grad(y.sum(), x, create_graph=True)
    with ja.no_grad():
        h.zero_()
        y.fill_(7.0)
    (second,) = ja.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(second.numpy(), -4 * np.sin([0.6, 2.4]), rtol=1e-5)


def test_a_compiled_call_that_writes_its_argument():
    @ja.compile
    def write(cache, x):
        cache.sin_()
        cache[1:].mul_(x[1:].exp())
        return (cache * x).sum()

    x = ja.tensor([0.3, 1.2, -0.7], requires_grad=True)
    for _ in range(2):
        cache = x * 2
        (g,) = ja.autograd.grad(write(cache, x) + cache.sum(), x, create_graph=True)
        (second,) = ja.autograd.grad(g.sum(), x)

        def pure(x):
            c = jnp.sin(x * 2)
            c = c.at[1:].multiply(jnp.exp(x[1:]))
            return (c * x).sum() + c.sum()

        np.testing.assert_allclose(
            second.numpy(), jax.jit(jax.grad(lambda x: jax.grad(pure)(x).sum()))(x.jax()), rtol=1e-4
        )


def test_a_compiled_call_that_draws_gives_the_same_mask_again():
    x = ja.ones(64, requires_grad=True)
    dropped = ja.compile(lambda x: ja.nn.functional.dropout(x, 0.5) ** 3)
    y = dropped(x)
    (g,) = ja.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = ja.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(second.numpy(), 6 * y.detach().numpy(), rtol=1e-6)


def test_the_second_derivative_of_a_compiled_call_compiles_once():
    x = ja.tensor([0.3, 1.2], requires_grad=True)
    fn = ja.compile(lambda x: (x.sin() * x.exp()).sum())

    def second():
        (g,) = ja.autograd.grad(fn(x), x, create_graph=True)
        return ja.autograd.grad(g.sum(), x)

    second()
    with jax.log_compiles(False), _counting_compiles() as n:
        second()
    assert n() == 0


class _counting_compiles:
    def __enter__(self):
        self._n = 0

        def count(name, *_, **__):
            self._n += "backend_compile" in name

        self._count = count
        jax.monitoring.register_event_duration_secs_listener(count)
        return lambda: self._n

    def __exit__(self, *_):
        jax.monitoring.unregister_event_duration_listener(self._count)


def test_tensors_that_share_memory_in_a_compiled_call():
    fn = ja.compile(lambda a, b: (a.sin() * b.reshape(-1)[:4].exp()).sum())
    x = ja.tensor(np.linspace(0.1, 0.8, 6), dtype=ja.float32, requires_grad=True)
    base = x * 1.5
    (g,) = ja.autograd.grad(fn(base[1:5], base.view(2, 3).t()), x, create_graph=True)
    (second,) = ja.autograd.grad(g.sum(), x)

    def pure(x):
        base = x * 1.5
        return (jnp.sin(base[1:5]) * jnp.exp(base.reshape(2, 3).T.reshape(-1)[:4])).sum()

    np.testing.assert_allclose(second.numpy(), jax.jit(jax.grad(lambda x: jax.grad(pure)(x).sum()))(x.jax()), rtol=1e-4)


def test_inputs_that_are_not_used():
    x, y = ja.tensor(2.0, requires_grad=True), ja.tensor(3.0, requires_grad=True)
    g, none = ja.autograd.grad(x**2, (x, y), create_graph=True, allow_unused=True)
    assert none is None and g.requires_grad
    _, zero = ja.autograd.grad(x**2, (x, y), create_graph=True, materialize_grads=True)
    assert zero.item() == 0


@pytest.mark.slow
def test_nothing_is_left_behind():
    x = ja.tensor([0.3, 1.2], requires_grad=True)
    fn = ja.compile(program)
    w = ja.tensor([1.0, 2.0, 3.0])

    def third():
        value = fn(ja.cat([x, x[:1]]), w)
        for _ in range(2):
            (value,) = ja.autograd.grad(value.sum(), x, create_graph=True)
        ja.autograd.grad(value.sum(), x)

    def n_nodes():
        gc.collect()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(isinstance(o, Node) for o in gc.get_objects())

    third()
    before = n_nodes()
    third()
    assert n_nodes() == before


# -- against PyTorch ---------------------------------------------------------------------------------------------------

UNARY = ("sin", "cos", "exp", "tanh", "sigmoid", "relu", "square", "abs", "neg", "atan", "expm1", "sinh", "erf")
BINARY = ("add", "sub", "mul", "maximum", "atan2", "div")
KINDS = (
    "unary", "unary", "binary", "binary", "matmul", "softmax", "norm", "write", "write", "view_write", "assign",
    "index", "sum", "cumsum",
)  # fmt: skip


def grow(rng, n_statements):
    """Returns the statements of a random program on 3 × 4 tensors."""
    statements, n = [], 2
    for _ in range(n_statements):
        kind = rng.choice(KINDS)
        places = rng.randrange(n), rng.randrange(n), rng.randrange(3)
        statements.append((kind, rng.choice(UNARY), rng.choice(BINARY), *places))
        n += kind not in ("write", "view_write", "assign")
    return statements


def carry_out(library, statements, leaves):
    """Returns a number computed by a program with either library."""
    values = [leaves[0] * 1.0, leaves[1] * 0.5]
    for kind, unary, binary, i, j, k in statements:
        a, b = values[i], values[j]
        match kind:
            case "unary":
                values.append(getattr(a * 0.3, unary)())
            case "binary":
                values.append(getattr(a, binary)(b.exp() if binary == "div" else b * 0.7))
            case "matmul":
                values.append((a @ b.t()).tanh() @ b)
            case "softmax":
                values.append(a.softmax(k % 2) + b.log_softmax(1) * 0.1)
            case "norm":
                values.append(a / (1 + (a - b).square().sum(1, keepdim=True)).sqrt())
            case "write":
                a.mul_(b[k].sin())
            case "view_write":
                getattr(a.t()[1:3, k], f"{unary}_" if unary not in ("relu", "abs") else "tanh_")()
            case "assign":
                a[k] = (b[(k + 1) % 3] * b[k]).sin()
            case "index":
                values.append(a[[k, 0, 2]] * b.flip(0))
            case "sum":
                values.append(a.mean(0, keepdim=True) * b.var(1, keepdim=True))
            case "cumsum":
                values.append(a.cumsum(k % 2).tanh() + b.logsumexp(0))
    return sum((value * (n + 1)).sin().mean() for n, value in enumerate(values))


def derivatives(library, statements, arrays, order, route=lambda fn: fn):
    """Returns the gradients of each order, each that of a number made of those before."""
    tensors = [library.tensor(a, requires_grad=True) for a in arrays]
    fn = route(lambda *leaves: carry_out(library, statements, leaves))
    value, found = fn(*tensors), []
    for n in range(order):
        gradients = library.autograd.grad(value, tensors, create_graph=n + 1 < order, allow_unused=True)
        found += [None if g is None else g.detach().numpy() for g in gradients]
        live = [g for g in gradients if g is not None and g.requires_grad]
        if not live:
            break
        value = sum((g * 0.5).sin().sum() for g in live)
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(12, 2))
def test_random_programs_against_torch(seed):
    torch = pytest.importorskip("torch")
    rng = random.Random(seed)
    draw = np.random.default_rng(seed)
    arrays = [draw.normal(size=(3, 4)).astype(np.float32) for _ in range(2)]
    statements = grow(rng, rng.randrange(3, 9))
    while True:  # PyTorch refuses where what it saved was written: take the last write away
        try:
            rough = derivatives(torch, statements, arrays, 3)
            exact = derivatives(torch, statements, [a.astype(np.float64) for a in arrays], 3)
            break
        except RuntimeError:
            last = max(n for n, s in enumerate(statements) if s[0] in ("write", "view_write", "assign"))
            statements = statements[:last] + statements[last + 1 :]
    route = ROUTES[["eager", "compiled", "checkpointed"][seed % 3]]
    ours = derivatives(ja, statements, arrays, 3, route)
    for mine, theirs, near in zip(ours, exact, rough, strict=False):
        if mine is None or theirs is None:
            assert not np.any(mine) and not np.any(theirs)
            continue
        scale = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-3 * scale + 30 * np.abs(theirs - near).max())


@pytest.mark.oracle
def test_complex_second_derivatives():
    torch = pytest.importorskip("torch")
    value = np.array([0.3 + 0.2j, -0.5 + 0.7j], np.complex64)

    def second(library):
        z = library.tensor(value, requires_grad=True)
        y = (z.exp() * z.conj() * z).abs().sum()
        (g,) = library.autograd.grad(y, z, create_graph=True)
        (h,) = library.autograd.grad((g * g.conj()).real.sum() + g.imag.sin().sum(), z)
        return h.numpy()

    np.testing.assert_allclose(second(ja), second(torch), rtol=1e-3)


@pytest.mark.oracle
def test_a_batch_of_cotangents():
    torch = pytest.importorskip("torch")

    def run(library, create_graph):
        x = library.tensor([0.3, 1.2, -0.7], requires_grad=True)
        y, rows = x.sin() * x, library.tensor(np.eye(3, dtype=np.float32)[:2])
        (g,) = library.autograd.grad(y, x, rows, create_graph=create_graph, is_grads_batched=True)
        return g.detach().numpy(), library.autograd.grad(g.sum(), x)[0].numpy() if create_graph else g.numpy()

    for create_graph in (False, True):
        for ours, theirs in zip(run(ja, create_graph), run(torch, create_graph), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    x = ja.ones(3, requires_grad=True)
    with pytest.raises(ja.errors.ShapeMismatchError, match="counts the backwards"):
        ja.autograd.grad(x * 2, x, None, is_grads_batched=True)


@pytest.mark.oracle
def test_a_gradient_penalty_trains_as_with_torch():
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(0)
    start = [draw.normal(size=(4, 8)).astype(np.float32) * 0.3, draw.normal(size=(8, 1)).astype(np.float32) * 0.3]
    batch = draw.normal(size=(5, 4)).astype(np.float32)

    def train(library, wrap=lambda fn: fn):
        a, b = (library.tensor(w, requires_grad=True) for w in start)
        net = wrap(lambda x: ((x @ a).tanh() @ b).sum())
        for _ in range(4):
            x = library.tensor(batch, requires_grad=True)
            (g,) = library.autograd.grad(net(x), x, create_graph=True)
            ((g.square().sum(1).sqrt() - 1).square().mean()).backward()
            with library.no_grad():
                for w in (a, b):
                    w.sub_(w.grad * 0.1)
                    w.grad = None
        return a.detach().numpy(), b.detach().numpy()

    for wrap in (lambda fn: fn, ja.compile):
        for ours, theirs in zip(train(ja, wrap), train(torch), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("source", some(([0.0, 3.0, 4.0], [2.0, 3.0, 4.0], [0.0, 0.0, 4.0]), 1))
@pytest.mark.parametrize("include_self", some((True, False), 1))
def test_scattered_products_have_derivatives_of_any_order_at_zeros_too(source, include_self):
    def factors(x, s):
        own = (x[0], x[1]) if include_self else (1, 1)
        return jnp.stack([own[0] * s[0] * s[1], own[1] * s[2], x[2]])

    pure = lambda x, s: jnp.sum(factors(x, s))
    x, s = ja.tensor([1.5, 2.5, 3.5], requires_grad=True), ja.tensor(source, requires_grad=True)
    of_rows = ja.index_reduce(x, 0, ja.tensor([0, 0, 1]), s, "prod", include_self=include_self)
    of_cells = ja.scatter_reduce(x, 0, ja.tensor([0, 0, 1]), s, "prod", include_self=include_self)
    grads = lambda value: [
        g for g in ja.autograd.grad(value, (x, s), create_graph=True, allow_unused=True) if g is not None
    ]
    for value in (of_rows.sum(), of_cells.sum()):
        ours, theirs = value, pure
        for _ in range(3):
            ours = sum(g.sum() for g in grads(ours))
            theirs = lambda x, s, f=theirs: sum(g.sum() for g in jax.grad(f, (0, 1))(x, s))
            np.testing.assert_allclose(ours.item(), theirs(jnp.array([1.5, 2.5, 3.5]), jnp.array(source)), rtol=1e-5)
