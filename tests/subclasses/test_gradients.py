"""What autograd does with tensors that are made of inner tensors: hooks, custom Functions, forward mode, checks."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.autograd import forward_ad
from jaxaot.subclasses import SemiStructuredSparse, TwoTensor
from tests.subclasses.test_plain import Labelled
from tests.subclasses.test_protocol import assert_same, pair

RUNS = pytest.mark.parametrize("run", [lambda fn: fn, ja.compile], ids=["eager", "compiled"])


def ones(x):
    return ja.ones_like(x.detach())


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_a_hook_sees_the_gradients_of_all_inner_tensors_together():
    x = pair(3, requires_grad=True)
    y = x * 2
    z = y * 3  # before the hook is registered
    seen = []
    y.register_hook(lambda g: seen.append((type(g), g.a.tolist(), g.b.tolist())) or g * 2)
    (z + y).backward(ones(y))
    assert seen == [(TwoTensor, [4.0] * 3, [4.0] * 3)]
    assert x.grad.a.tolist() == x.grad.b.tolist() == [16.0] * 3


@pytest.mark.slow
def test_a_hook_sees_zeros_where_no_gradient_arrives():
    x = pair(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: (g.add_(1), None)[1])
    y.a.sum().backward()
    assert x.grad.a.tolist() == [4.0] * 3  # what a hook writes is the gradient
    assert x.grad.b.tolist() == [0.0] * 3  # no backward went there
    nested, seen = TwoTensor(pair(2), pair(2)).requires_grad_(), []
    nested.register_hook(lambda g: seen.append(g.a.b.tolist()))
    (nested * 2).sum().backward()
    assert seen == [[2.0, 2.0]]
    sparse = SemiStructuredSparse.prune(ja.randn(8, 8)).requires_grad_()
    sparse.register_hook(lambda g: g * 0)
    (ja.randn(2, 8) @ sparse.t()).sum().backward()
    assert sparse.grad.to_dense().abs().sum().item() == 0


def test_hooks_on_leaves():
    x, seen = pair(3, requires_grad=True), []
    x.register_hook(lambda g: g * 10)
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.b.tolist())))
    (x * 2).backward(ones(x))
    handle.remove()
    (x * 2).backward(ones(x))
    assert seen == [(True, [20.0] * 3)]
    assert x.grad.a.tolist() == [40.0] * 3
    (gradient,) = ja.autograd.grad((x * x).sum(), x, create_graph=True)
    assert_same(gradient.b, x.b * 20)
    (second,) = ja.autograd.grad(gradient.sum(), x)  # the hook is called in both
    assert second.a.tolist() == [200.0] * 3
    with pytest.raises(errors.AutogradError, match="cannot be registered on non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(errors.AutogradError, match="doesn't require gradient"):
        pair(3).register_hook(print)


def test_hooks_in_a_compiled_backward():
    def fn(x):
        y = x * 2
        handle = y.register_hook(lambda g: g + 1)
        (y * 3).sum().backward()
        handle.remove()

    expected, found = pair(3, requires_grad=True), pair(3, requires_grad=True)
    compiled = ja.compile(fn)
    for x, run in ((expected, fn), (found, compiled)):
        x.register_hook(lambda g: g * 10)
        run(x), run(x)
    assert_same(found.grad.a, expected.grad.a)
    assert found.grad.b.tolist() == [160.0] * 3

    def lasting(x):
        y = x * 2
        y.register_hook(print)
        return y

    with pytest.raises(errors.LastingHookError):
        ja.compile(lasting, fullgraph=True)(found)
    y = ja.compile(lambda t: t * 2)(expected)
    y.register_hook(lambda g: g * 0)
    y.sum().backward()
    assert expected.grad.a.tolist() == [160.0] * 3


def test_where_hooks_have_no_moment():
    a = ja.ones(3, requires_grad=True) * 2
    with pytest.raises(errors.SubclassError, match="one of its inner tensors is computed from another"):
        TwoTensor(a, a.sin()).register_hook(print)
    x = pair(3, requires_grad=True)
    x.register_hook(lambda g: ja.ones(3))
    with pytest.raises(errors.SubclassError, match="own kind"):
        (x * 2).sum().backward()


def test_hooks_on_several_tensors():
    x, w, seen = pair(3, requires_grad=True), ja.ones(3, requires_grad=True), []
    handle = ja.autograd.graph.register_multi_grad_hook([x, w], seen.append)
    (x * w).sum().backward()
    handle.remove()
    (gradients,) = seen
    assert type(gradients[0]) is TwoTensor
    assert_same(gradients[1], x.a + x.b)


# -- custom Functions --------------------------------------------------------------------------------------------------


class Cube(ja.autograd.Function):
    """`x³ · n`, by methods that see pairs."""

    @staticmethod
    def forward(ctx, x, n):
        assert ctx.needs_input_grad == (True, False)
        ctx.save_for_backward(x)
        ctx.n = n
        return x * x * x * n

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        assert type(x) is type(gradient) is TwoTensor
        return 3 * x * x * gradient * ctx.n, None


class Both(ja.autograd.Function):
    """A pair and a tensor."""

    @staticmethod
    def forward(x, w):
        return x * w, w * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, of_x, of_w):
        x, w = ctx.saved_tensors
        return of_x * w, (of_x * x).a + (of_x * x).b + 2 * of_w

    @staticmethod
    def jvp(ctx, of_x, of_w):
        x, w = ctx.saved_tensors
        return of_x * w + x * of_w, of_w * 2


class Doubled(ja.autograd.Function):
    """Writes its argument."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Joined(ja.autograd.Function):
    """Makes a pair of two tensors."""

    @staticmethod
    def forward(ctx, a, b):
        return TwoTensor(a, b)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.a * 3, gradient.b * 4


@pytest.mark.few(1)
@RUNS
def test_a_function_of_wrappers(run):
    x, w = pair(3, requires_grad=True), ja.ones(3, requires_grad=True)
    y = run(lambda x: Cube.apply(x, 2))(x)
    assert type(y) is TwoTensor
    (gradient,) = ja.autograd.grad(y.sum(), x, create_graph=True)
    assert_same(gradient.b, x.b * x.b * 6)
    (second,) = ja.autograd.grad(gradient.sum(), x)
    assert_same(second.a, x.a * 12)
    y, z = run(lambda x, w: Both.apply(x, w))(x, w)
    (y.sum().a + y.sum().b + z.sum()).backward()
    assert x.grad.a.tolist() == [1.0] * 3
    assert_same(w.grad, x.a + x.b + 2)
    x.grad, y = None, x * 1
    assert run(lambda y: Doubled.apply(y))(y) is y
    y.sum().backward()
    assert x.grad.b.tolist() == [2.0] * 3
    a, b = ja.ones(3, requires_grad=True), ja.ones(3, requires_grad=True)
    run(lambda a, b: Joined.apply(a, b))(a, b).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([3.0] * 3, [4.0] * 3)


@RUNS
def test_a_function_that_returns_gradients_of_another_kind(run):
    class Wrong(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return (gradient.a, None) if is_plain else gradient

    x = pair(3, requires_grad=True)
    is_plain = True
    with pytest.raises(errors.SubclassError, match="own kind"):
        run(lambda x: Wrong.apply(x, 2))(x).sum().backward()
    is_plain = False
    with pytest.raises(errors.FunctionResultError, match=r"expected 2, got 1"):
        run(lambda x: Wrong.apply(x, 3))(x).sum().backward()


class Masked(TwoTensor):
    """A tensor and a mask, which carries no gradients."""

    __tensor_gradients__ = ("a",)


class Swapped(ja.autograd.Function):
    """Its backward uses the mask of the gradient, and that of what was saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return Masked(gradient.a * gradient.b * x.b, x.b)


@pytest.mark.slow
def test_compiled_backwards_of_functions_and_hooks_of_wrappers():
    compiler = ja.autograd.TapeCompiler()

    def gradients(factor, backward):
        x = pair(3, requires_grad=True)
        m = Masked(ja.randn(3), ja.randn(3)).requires_grad_()
        y = Cube.apply(x * 2, 2)
        if factor:
            y.register_hook(lambda g: g * factor)
            x.register_hook(lambda g: g + factor)
            x.register_post_accumulate_grad_hook(lambda p: (p.grad.mul_(3), None)[1])
            m.register_hook(lambda g: g * g.b)
        backward(y.sum().a + y.sum().b + Swapped.apply(m * 1).a.sum())
        return x.grad.a, x.grad.b, m.grad.a

    def by_program(loss):
        with ja.compiler.compiled_autograd(compiler):
            loss.backward()

    for factor in (None, 2.0, 3.0, None, 2.0):
        found = []
        for backward in (by_program, lambda loss: loss.backward()):
            ja.manual_seed(0)
            found.append(gradients(factor, backward))
        for got, expected in zip(*found, strict=True):
            assert_same(got, expected)
    assert compiler.cache_info().hits


# -- forward mode and checks -------------------------------------------------------------------------------------------


def test_forward_mode():
    x, w = pair(3), ja.ones(3)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ja.ones_like(x))
        primal, tangent = forward_ad.unpack_dual(dual * dual)
        _, of_both = forward_ad.unpack_dual(Both.apply(dual, w)[0])
    assert_same(primal.a, x.a * x.a)
    assert_same(tangent.b, x.b * 2)
    assert of_both.a.tolist() == [1.0] * 3
    with forward_ad.dual_level(), pytest.raises(errors.SubclassError, match="own kind"):
        forward_ad.make_dual(x, ja.ones(3))


def test_gradients_are_checked():
    x = pair(3, requires_grad=True)
    assert ja.autograd.gradcheck(lambda t: t.sin(), (x,), check_forward_ad=True)
    assert ja.autograd.gradgradcheck(lambda t: t.sin(), (x,))
    with pytest.raises(errors.GradientMismatchError):
        ja.autograd.gradcheck(lambda a, b: Joined.apply(a, b), (x.a, x.b))


def test_several_gradients_at_once():
    x = pair(3, requires_grad=True)
    rows = TwoTensor(ja.eye(3), 2 * ja.eye(3))
    (found,) = ja.autograd.grad(x * 2, x, rows, is_grads_batched=True)
    assert_same(found.b, 4 * ja.eye(3))
    jacobian = ja.autograd.functional.jacobian(lambda t: t * t, x.detach())
    assert_same(jacobian.a, ja.diag(2 * x.a))


def test_func_of_a_wrapper_that_is_a_number():
    x = pair(3)
    gradient, value = ja.func.grad_and_value(lambda t: (t * t).sum())(x)
    assert_same(gradient.b, x.b * 2)
    assert_same(value.a, (x.a * x.a).sum())
    gradient, (total,) = ja.func.grad(lambda t: ((t * 3).sum(), [t.sum()]), has_aux=True)(x)
    assert gradient.a.tolist() == [3.0] * 3
    assert_same(total.b, x.b.sum())


@RUNS
def test_saved_tensors_are_packed_around_a_checkpoint(run):
    def fn(x):
        with ja.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
            return ja.utils.checkpoint.checkpoint(lambda t: t.sin().sin(), x) * x

    x = pair(3, requires_grad=True)
    plain = x.b.detach().requires_grad_()
    run(fn)(x).sum().backward()
    (plain.sin().sin() * plain).sum().backward()
    np.testing.assert_allclose(x.grad.b.numpy(), plain.grad.numpy(), rtol=1e-5)


# -- shapes inside of transformations ----------------------------------------------------------------------------------


class Sized(ja.Tensor):
    """Has the shape that it is told."""

    @staticmethod
    def __new__(cls, inner, size):
        return ja.Tensor._make_wrapper_subclass(cls, size, dtype=inner.dtype)

    def __init__(self, inner, size):
        self.inner = inner

    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Sized(inner["inner"], size)

    @classmethod
    def __tensor_dispatch__(cls, op, types, args, kwargs):
        opened = jax.tree.map(
            lambda x: x.inner if isinstance(x, Sized) else x, (args, kwargs), is_leaf=lambda x: isinstance(x, ja.Tensor)
        )
        result = op(*opened[0], **opened[1])
        return Sized(result, result.shape)


class Padded(Sized):
    """Its inner tensor has two more columns."""

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Padded(inner["inner"], size)

    @classmethod
    def __tensor_dispatch__(cls, op, types, args, kwargs):
        return Padded(op(args[0].inner, *args[1:]), args[0].shape) if op.name == "mul" else NotImplemented


@pytest.mark.slow
def test_a_class_that_uses_its_size_has_the_right_one_where_jax_maps_it():
    x, seen = Sized(ja.randn(3, 4), (3, 4)), []
    mapped = ja.func.vmap(lambda t: (seen.append((t.shape, t.inner.shape)), t * 2)[1])
    assert (mapped(x).shape, seen) == ((3, 4), [((4,), (4,))])
    carry, stacked = ja.scan(lambda c, t: (c + t, t * 2), Sized(ja.zeros(4), (4,)), x)
    assert (carry.shape, stacked.shape, stacked.inner.shape) == ((4,), (3, 4), (3, 4))
    assert ja.map(lambda t: t.sum(), x).shape == (3,)
    assert jax.tree.map(lambda t: t.sum(0), x).shape == (4,)
    padded = Padded(ja.randn(3, 6), (3, 4))
    seen.clear()
    mapped = ja.func.vmap(lambda t: (seen.append(t.shape), t * 2)[1])
    assert (mapped(padded).shape, seen) == ((3, 4), [(4,)])


def test_a_plain_subclass_does_the_same():
    x, seen = Labelled(ja.randn(3)).requires_grad_(), []
    x.register_hook(lambda g: seen.append(type(g)))
    Doubled.apply(x * 1).sum().backward()
    assert (seen, x.grad.tolist()) == ([ja.Tensor], [2.0] * 3)
    (x * 3).backward(ja.ones(3))
    assert x.grad.tolist() == [5.0] * 3
    assert ja.autograd.gradcheck(lambda t: t * t, (x.detach().requires_grad_(),))
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(forward_ad.make_dual(x.detach(), ja.ones(3)) * 2).tangent
    np.testing.assert_array_equal(tangent.numpy(), [2.0] * 3)
