"""`ja.func` against `torch.func`, with functions that write inside."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import ConcretizationError
from tests.seeds import some

X, W = [[0.3, 1.2, -0.7], [0.9, -0.4, 0.5]], [1.3, 0.2, -0.4]


def scalar(x, w):
    y = x.sin()
    y[0].mul_(w)
    y.t()[1].add_(x[:, 0])
    return (y * w.exp()).sum()


def vector(x, w):
    y = x * w
    y[:, 1:].exp_()
    return y.sum(1)


def row(x, w):
    y = x.clone()
    y.mul_(w)
    y[0] = y[1:].sum()
    return y


CASES = {
    "grad": lambda f, x, w: f.grad(scalar)(x, w),
    "grad of several": lambda f, x, w: f.grad(scalar, argnums=(0, 1))(x, w),
    "grad_and_value": lambda f, x, w: f.grad_and_value(lambda x, w: (scalar(x, w), x * 2), has_aux=True)(x, w),
    "grad of grad": lambda f, x, w: f.grad(lambda x: f.grad(scalar)(x, w).sin().sum())(x),
    "vjp": lambda f, x, w: (lambda out, pull: (out, *pull(out.cos())))(*f.vjp(vector, x, w)),
    "vjp of one": lambda f, x, w: (lambda out, pull: (out, *pull(out.cos())))(*f.vjp(lambda x: vector(x, w), x)),
    "jvp": lambda f, x, w: f.jvp(vector, (x, w), (x.cos(), w * 2)),
    "jacrev": lambda f, x, w: f.jacrev(vector, argnums=(0, 1))(x, w),
    "jacfwd": lambda f, x, w: f.jacfwd(vector)(x, w),
    "hessian": lambda f, x, w: f.hessian(scalar)(x, w),
    "linearize": lambda f, x, w: (lambda out, push: (out, push(x.cos(), w)))(*f.linearize(vector, x, w)),
    "vmap": lambda f, x, w: f.vmap(row, in_dims=(0, None))(x, w),
    "vmap of columns": lambda f, x, w: f.vmap(lambda c: c.cumsum(0), in_dims=1, out_dims=1)(x),
    "vmap of grad": lambda f, x, w: f.vmap(f.grad(lambda r, w: (row(r, w) ** 2).sum()), in_dims=(0, None))(x, w),
    "grad of vmap": lambda f, x, w: f.grad(lambda w: f.vmap(row, in_dims=(0, None))(x, w).sin().sum())(w),
}


@pytest.mark.oracle
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, is_compiled):
    torch = pytest.importorskip("torch")
    run = lambda x, w: CASES[name](ja.func, x, w)
    before = ja.tensor(X), ja.tensor(W)
    ours = jax.tree.leaves((ja.compile(run) if is_compiled else run)(*before))
    theirs = torch.utils._pytree.tree_leaves(CASES[name](torch.func, torch.tensor(X), torch.tensor(W)))
    assert len(ours) == len(theirs) and all(isinstance(x, ja.Tensor) for x in ours)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)
    assert before[0].tolist() == ja.tensor(X).tolist() and before[1].tolist() == ja.tensor(W).tolist()


@pytest.mark.slow
def test_the_tape_outside_sees_a_transformed_function():
    x, w = ja.tensor(X, requires_grad=True), ja.tensor(W, requires_grad=True)
    value = ja.func.grad(scalar)(x, w).sin().sum()
    tape = ja.autograd.grad(scalar(x * 1, w), x, create_graph=True)[0].sin().sum()
    for ours, expected in zip(ja.autograd.grad(value, (x, w)), ja.autograd.grad(tape, (x, w)), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_what_is_reached_is_read_anew_and_never_written():
    scale = ja.tensor(2.0)
    slope = ja.func.grad(lambda x: (x * scale).sum())
    assert slope(ja.ones(2)).tolist() == [2, 2]
    scale.fill_(3.0)
    assert slope(ja.ones(2)).tolist() == [3, 3]
    with pytest.raises(ja.errors.TraceError, match="that it was not passed"):
        ja.func.grad(lambda x: (x * scale.add_(1)).sum())(ja.ones(2))
    assert scale.item() == 3


def test_custom_functions_keep_their_backward():
    class Tripled(ja.autograd.Function):
        forward, backward = staticmethod(lambda x: x * 1), staticmethod(lambda ctx, g: g * 3)
        setup_context = staticmethod(lambda ctx, inputs, output: None)
        generate_vmap_rule = True

    assert ja.func.grad(lambda x: Tripled.apply(x).sum())(ja.ones(2)).tolist() == [3, 3]
    assert ja.func.vmap(ja.func.grad(lambda x: Tripled.apply(x).sum()))(ja.ones(2, 2)).tolist() == [[3, 3]] * 2


AROUND = {  # of x * y * y with respect to y at 3, which x sees
    "grad": lambda lib, f, y: lib.func.grad(f)(y),
    "vjp": lambda lib, f, y: lib.func.vjp(f, y)[1](lib.tensor(1.0))[0],
    "jvp": lambda lib, f, y: lib.func.jvp(f, (y,), (lib.tensor(1.0),))[1],
    "linearize": lambda lib, f, y: lib.func.linearize(f, y)[1](lib.tensor(1.0)),
    "jacrev": lambda lib, f, y: lib.func.jacrev(f)(y),
    "jacfwd": lambda lib, f, y: lib.func.jacfwd(f)(y),
    "vmap": lambda lib, f, y: lib.func.vmap(f)(y.expand(2) + 0).sum() / y,
}


@pytest.mark.few(7)
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("inner", AROUND)
@pytest.mark.parametrize("outer", some(["grad", "leaf", "jvp"], 2))
def test_a_function_reads_arguments_of_the_one_around_it(outer, inner, is_compiled):
    y = ja.tensor(3.0)
    slope = lambda x: AROUND[inner](ja, lambda y: x * y * y, y)
    run = slope if outer == "leaf" else lambda x: AROUND[outer](ja, slope, x)
    x = ja.tensor(2.0, requires_grad=outer == "leaf")
    result = (ja.compile(run) if is_compiled else run)(x)
    if outer == "leaf":
        assert result.item() == 12
        result.backward()
    assert (x.grad if outer == "leaf" else result).item() == 6


@pytest.mark.few(1)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_gradients_flow_to_what_a_function_reads(is_compiled):
    w, x = ja.tensor([2.0, 3.0], requires_grad=True), ja.tensor([1.0, 5.0])
    for read, expected in (
        (lambda: w, [2, 10]), (lambda: w[0], [12, 0]), (lambda: w * 2, [4, 20]), (lambda: (w * 2)[1], [0, 24]),
    ):  # fmt: skip
        read, w.grad = read(), None
        run = lambda x, read=read: ja.func.grad(lambda x: (read * x * x).sum())(x)
        (ja.compile(run) if is_compiled else run)(x).sum().backward()
        assert w.grad.tolist() == expected
    for read in (w.detach(), w.detach()[:1]):
        assert not ja.func.grad(lambda x, read=read: (read * x * x).sum())(x).requires_grad
    with ja.no_grad():
        slope = ja.func.grad(lambda x: (w * x * x).sum())(x)
    assert slope.tolist() == [4, 30] and not slope.requires_grad


@pytest.mark.parametrize("first", ["detached", "itself"])
def test_a_detached_tensor_is_a_constant_beside_what_it_was_detached_from(first):
    w, x = ja.tensor([0.5, 1.5], requires_grad=True), ja.ones(2)
    product = (lambda u: w.detach() * u * w) if first == "detached" else (lambda u: w * u * w.detach())
    (ja.func.jacfwd(product)(x) @ x).sum().backward()
    assert w.grad.tolist() == [0.5, 1.5]


def test_tangents_under_no_grad_are_not_recorded():
    def quiet(x):
        with ja.no_grad():
            return x * 2

    t = ja.ones(2, requires_grad=True)
    tangent = ja.func.jvp(lambda x: quiet(x) + x, (ja.ones(2),), (t,))[1]
    tangent.sum().backward()
    assert tangent.tolist() == [3, 3] and t.grad.tolist() == [1, 1]


@pytest.mark.oracle
def test_no_grad_is_for_reverse_mode_and_for_functions_outside():
    torch = pytest.importorskip("torch")
    shown = []
    for lib in (torch, ja):
        x, y = lib.tensor([2.0]), lib.tensor([3.0])

        def inner(x, kind, lib=lib, y=y):
            with lib.no_grad():
                return getattr(lib.func, kind)(lambda y: x * y * y)(y).sum()

        pairs = [(outer, kind) for outer in ("jacrev", "jacfwd") for kind in ("jacrev", "jacfwd")]
        shown.append([getattr(lib.func, outer)(lambda x, kind=kind: inner(x, kind))(x).item() for outer, kind in pairs])
    assert shown[0] == shown[1] == [0, 0, 6, 6]


@pytest.mark.slow
def test_what_a_recorded_function_draws_is_what_it_would_have_drawn():
    w = ja.ones(4, requires_grad=True)
    noisy = lambda x, w: (x * w * ja.rand(4)).sum()
    ja.manual_seed(0)
    expected = [ja.func.grad(lambda x: noisy(x, ja.ones(4)))(ja.ones(4)).tolist(), ja.rand(2).tolist()]
    ja.manual_seed(0)
    assert [ja.func.grad(lambda x: noisy(x, w))(ja.ones(4)).tolist(), ja.rand(2).tolist()] == expected
    ja.manual_seed(0)
    assert ja.compile(lambda x: ja.func.grad(lambda x: noisy(x, w))(x))(ja.ones(4)).tolist() == expected[0]


def test_functions_that_are_alike_are_compiled_once():
    w = ja.ones(3, requires_grad=True)
    slopes = [ja.func.grad(lambda x, k=k: (x * w).sin().sum() * k)(ja.ones(3)) for k in (2.0, 2.0, 3.0)]
    kernels = [slope.grad_fn.kernel for slope in slopes]
    assert kernels[0] is kernels[1] and kernels[1] is not kernels[2]


def test_functions_that_are_alike_but_for_an_array_inside_are_not_one():
    w = ja.ones(3, requires_grad=True)
    for scale in (2.0, 5.0):
        array = np.full(3, scale, np.float32)
        scaled = ja.autograd.jax_function(jax.jit(lambda x, array=array: x * array))
        assert ja.func.vmap(lambda x, scaled=scaled: scaled(x) * w)(ja.ones(1, 3)).tolist() == [[scale] * 3]


READS = {
    "vjp": lambda f, x: f.vjp(lambda x: x * x.sum().item(), x)[1](x),
    "grad": lambda f, x: f.grad(lambda x: (x.sum() if x[0].item() > 0 else -x.sum()) * float(x[1]))(x),
    "jvp": lambda f, x: f.jvp(lambda x: x * int(x[1]), (x,), (x,)),
    "jacfwd": lambda f, x: f.jacfwd(lambda x: x * x[0].item())(x),
    "jacrev": lambda f, x: f.jacrev(lambda x: x * x.tolist()[0])(x),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", READS)
def test_python_reads_the_values_at_which_a_derivative_is_taken(name):
    torch = pytest.importorskip("torch")
    if name in ("jacfwd", "jacrev"):  # which PyTorch maps: the value is the same for all rows
        theirs = [torch.eye(2) * 2]
    else:
        theirs = torch.utils._pytree.tree_leaves(READS[name](torch.func, torch.tensor([2.0, 3.0])))
    ours = jax.tree.leaves(READS[name](ja.func, ja.tensor([2.0, 3.0])))
    assert [x.tolist() for x in ours] == [x.tolist() for x in theirs]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: ja.func.vmap(lambda x: x * x.item())(x),
        lambda x: ja.func.vmap(ja.func.grad(lambda x: x * x.item()))(x),
        lambda x: ja.trace(lambda x: ja.func.grad(lambda x: x.sum() * x[0].item())(x), x),
        lambda x: jax.jit(ja.func.functionalize(lambda x: x * x[0].item()))(x.jax()),
    ],
)
def test_python_reads_no_value_of_what_is_mapped_or_compiled(fn):
    with pytest.raises(ConcretizationError):
        fn(ja.ones(2))


def results_of_two_kinds(x, w):
    y = (x * w).sin()
    return {"sums": y.sum(0), "one": y[0, 0] * w}, x[1] * 3


@pytest.mark.slow
@pytest.mark.parametrize("chunk_size", some([2, 100, 1, 3], 1))
@pytest.mark.parametrize("argnums", some([0, (1, 0), (0,), -1], 2))
@pytest.mark.parametrize("is_compiled", some([True, False], 1))
def test_a_jacobian_by_chunks_of_rows_is_that_of_all_rows(chunk_size, argnums, is_compiled):
    def jacobian(x, w, chunk_size=None):
        return ja.func.jacrev(results_of_two_kinds, argnums, chunk_size=chunk_size)(x, w)

    x, w = ja.tensor(X), ja.tensor(W)
    by_chunks = lambda x, w: jacobian(x, w, chunk_size)
    ours, tree = jax.tree.flatten((ja.compile(by_chunks) if is_compiled else by_chunks)(x, w))
    wanted, wanted_tree = jax.tree.flatten(jacobian(x, w))
    assert tree == wanted_tree
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


@pytest.mark.slow
def test_a_jacobian_by_chunks_has_aux_and_may_have_no_rows():
    jacobian, aux = ja.func.jacrev(lambda x: (x * x, x.sum()), has_aux=True, chunk_size=1)(ja.ones(2))
    assert jacobian.tolist() == [[2, 0], [0, 2]] and aux.tolist() == 2
    assert ja.func.jacrev(lambda x: x[:0], chunk_size=1)(ja.ones(2)).shape == (0, 2)
