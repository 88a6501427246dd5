"""Tensors that are made of inner tensors, compiled: as eagerly, and as the same program on plain tensors."""

from __future__ import annotations

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.subclasses import Int8Weight, SemiStructuredSparse, TwoTensor
from tests.runtime.sized import nans, rows, same
from tests.subclasses.test_protocol import Coercing, Scaled, pair

__all__ = ["nans"]


class Box:
    """Holds tensors by attribute."""


def values_of(value):
    """Returns the arrays in a result, in order."""
    if isinstance(value, TwoTensor):
        return [*values_of(value.a), *values_of(value.b)]
    if isinstance(value, ja.Tensor):
        return [np.asarray(value.detach().numpy())]
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in values_of(item)]
    return []


def kind_of(value):
    """Returns what a result is, but for values."""
    if isinstance(value, TwoTensor):
        return (type(value).__name__, value.shape, value.stride(), kind_of(value.a), kind_of(value.b))
    if isinstance(value, ja.Tensor):
        return (value.shape, value.dtype, value.requires_grad)
    return [kind_of(item) for item in value] if isinstance(value, (list, tuple)) else value


def again(value):
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, ja.Tensor) else value


def run(fn, args):
    """Returns all that a call does: results, arguments, gradients."""
    args = [again(arg) for arg in args]
    results = fn(*args)
    listed = results if isinstance(results, (list, tuple)) else [results]
    for result in listed:
        if isinstance(result, ja.Tensor) and result.requires_grad:
            result.backward(ja.ones_like(result.detach()), retain_graph=True)
    gradients = [arg.grad for arg in args if isinstance(arg, ja.Tensor) and arg.is_leaf]
    return [list(listed), args, gradients]


def check(fn, *args):
    """Compares eager with compiled calls, the second of which finds the program."""
    expected, compiled = run(fn, args), ja.compile(fn)
    for _ in range(2):
        found = run(compiled, args)
        assert kind_of(found) == kind_of(expected)
        for array, other in zip(values_of(found), values_of(expected), strict=True):
            np.testing.assert_allclose(array, other, rtol=2e-5, atol=1e-6)
    assert compiled.cache_info()[:2] == (1, 1)
    return compiled


def written(x):
    x.mul_(2)
    return x.sin()


def written_through_a_view(x):
    view = x[1:]
    view.add_(1)
    return view, x * 2


def changed_in_shape(x):
    x.t_()
    return x * 2


def changed_in_shape_and_value(x):
    x.unsqueeze_(0)
    x.mul_(3)
    return x + 1


def two_gradients(x):
    y = (x * x * x).sum()
    (gradient,) = ja.autograd.grad([y], [x], create_graph=True)
    return gradient * gradient


SCENARIOS = {
    "simple": (lambda a, b: a * 6 + b / 2, "grad", "plain"),
    "inference": (lambda a, b: a * 6 + b / 2, "pair", "pair"),
    "alias of an argument": (lambda a, b: (b.view(12), a * b), "pair", "grad"),
    "an argument": (lambda a: (a, a * 2), "grad"),
    "write": (written, "pair"),
    "write through a view": (written_through_a_view, "pair"),
    "shape": (changed_in_shape, "pair"),
    "shape and value": (changed_in_shape_and_value, "pair"),
    "nested": (lambda a: a.sin().cos(), "nested"),
    "nested and not": (lambda a, b: (a.a * b, a.sum().a), "nested", "grad"),
    "made inside": (lambda a, b: TwoTensor(a, b) * 2, "plain", "plain"),
    "an inner tensor": (lambda a, b: a.sum().a + (a.a + b.b).sum(), "grad", "pair"),
    "factories": (lambda a: a + ja.ones_like(a), "grad"),
    "no_grad": (lambda a: (ja.no_grad()(lambda t: t * 2)(a), a * 3), "grad"),
    "detached": (lambda a: a.detach() * a, "grad"),
    "checkpoint": (lambda a: ja.utils.checkpoint.checkpoint(lambda t: (t @ t.t()).sin(), a), "grad"),
    "cond": (lambda a: ja.cond(a.a.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (a,)), "grad"),
    "scan": (lambda a: ja.scan(lambda c, _: (c * 2, c.sum().a), a, None, length=3), "pair"),
    "two gradients": (two_gradients, "grad"),
    "func": (lambda a: ja.func.grad(lambda t: (t * t).sum().a + t.sin().sum().b)(a), "pair"),
    "vmap": (lambda a: ja.func.vmap(lambda t: t.sin() * 2)(a), "pair"),
}


def argument(kind):
    if kind == "plain":
        return ja.randn(3, 4, requires_grad=True)
    if kind == "nested":
        return TwoTensor(pair(3, 4), pair(3, 4)).requires_grad_()
    return pair(3, 4, requires_grad=kind == "grad")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SCENARIOS)
def test_compiled_is_eager(name):
    fn, *kinds = SCENARIOS[name]
    check(fn, *map(argument, kinds))


def test_saved_tensor_hooks():
    def fn(x):
        with ja.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
            return (x * x).sin()

    check(fn, argument("grad"))


def test_the_graph_knows_no_classes():
    x, plain = pair(3, requires_grad=True), ja.ones(3, requires_grad=True)
    traced = ja.trace(lambda a, b: a * 6 + b / 2, x, plain)
    assert len(traced.jaxpr.jaxpr.invars) == 3
    assert len(traced.jaxpr.jaxpr.outvars) == 2
    names = [eqn.primitive.name for eqn in traced.jaxpr.jaxpr.eqns]
    assert names.count("mul") == 2


def test_inner_tensors_share_memory_with_one_another_and_with_plain_arguments():
    def fn(x, y, plain):
        x.mul_(2)
        plain.add_(1)
        return x + y, y.a

    def call(run):
        base = ja.arange(8.0)
        x, y = TwoTensor(base[:3], base[2:5]), TwoTensor(base[1:4], base[4:7])
        results = run(x, y, base[3:])
        return [base, *results]

    compiled = ja.compile(fn)
    expected = values_of(call(fn))
    for _ in range(2):
        for array, other in zip(values_of(call(compiled)), expected, strict=True):
            np.testing.assert_array_equal(array, other)
    assert compiled.cache_info()[:2] == (1, 1)
    apart = [TwoTensor(ja.ones(3), ja.ones(3)) for _ in range(2)]
    compiled(*apart, ja.ones(5))
    assert compiled.cache_info().misses == 2  # other sharing, another program
    one = TwoTensor(ja.ones(3), ja.ones(3))
    result = compiled(one, one, ja.ones(5))[0]
    assert result.a.tolist() == [4.0] * 3


def test_an_argument_that_is_returned_is_itself():
    fn = ja.compile(lambda x: (x.mul_(2), x))
    x = pair(3)
    for _ in range(2):
        first, second = fn(x)
        assert first is second is x


def test_through_a_closure_and_an_attribute():
    box = Box()
    box.weight, box.cache = pair(4, 3), None
    outside = pair(3)

    def fn(x):
        y = x @ box.weight + outside
        box.weight.mul_(0.5)
        box.cache = y * 2
        return y

    compiled, plain = ja.compile(fn), [(box.weight.a.clone(), outside.a), (box.weight.b.clone(), outside.b)]
    x = pair(2, 4)
    for step in range(3):
        y = compiled(x)
        for (weight, bias), given, found, kept in zip(
            plain, values_of(x), values_of(y), values_of(box.cache), strict=True
        ):
            expected = given @ (np.asarray(weight.numpy()) * 0.5**step) + np.asarray(bias.numpy())
            np.testing.assert_allclose(found, expected, rtol=1e-5)
            np.testing.assert_allclose(kept, 2 * expected, rtol=1e-5)
    assert compiled.cache_info()[:2] == (2, 1)
    box.weight = TwoTensor(pair(4, 3), pair(4, 3))  # of another kind
    with pytest.raises(errors.SubclassError):
        compiled(TwoTensor(x, x))[0] + Scaled(ja.ones(3))
    assert compiled.cache_info().misses == 2


def test_an_inner_tensor_is_replaced():
    def fn(x):
        x.a = x.a * 2
        return x + 1

    check(fn, pair(3))


def test_the_context_is_guarded():
    fn = ja.compile(lambda x: (x * 2).sum())
    for factor in (2.0, 3.0, 2.0):
        assert fn(Scaled(ja.ones(3), factor)).item() == 6 * factor
    assert fn.cache_info()[:2] == (1, 2)
    held = Box()
    held.x = Scaled(ja.ones(3), 2.0)
    fn = ja.compile(lambda y: held.x.sum() + y)
    assert fn(ja.zeros(())).item() == 6
    held.x = Scaled(ja.ones(3), 4.0)
    assert fn(ja.zeros(())).item() == 12
    assert "held.x" in str(fn.explain_recompiles())


def test_a_training_step():
    def step(x, weight):
        loss = (x @ weight).sin().sum()
        loss.backward(ja.ones_like(loss.detach()))
        with ja.no_grad():
            weight.sub_(weight.grad * 0.1)
        kept, weight.grad = weight.grad, None
        return loss.detach(), kept

    x, weight = pair(2, 4), pair(4, 3, requires_grad=True)
    other, compiled = again(weight), ja.compile(step)
    for _ in range(3):
        expected, found = step(x, weight), compiled(x, other)
        for array, wanted in zip(values_of([*found, other]), values_of([*expected, weight]), strict=True):
            np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-6)
    assert compiled.cache_info()[:2] == (2, 1)


def test_a_backward_inside_leaves_a_gradient():
    def fn(x, weight):
        y = (x @ weight).sum()
        y.backward(ja.ones_like(y.detach()))

    x, weight, compiled = pair(2, 4), pair(4, 3, requires_grad=True), ja.compile(fn)
    for n in (1, 2, 3):
        compiled(x, weight)
        assert type(weight.grad) is TwoTensor
        np.testing.assert_allclose(values_of(weight.grad)[1][:, 0], n * values_of(x)[1].sum(0), rtol=1e-5)


def test_two_derivatives_of_a_compiled_function():
    fn = ja.compile(lambda x: x * x * x)
    x = pair(3, requires_grad=True)
    y = fn(x)
    (gradient,) = ja.autograd.grad(y, [x], ja.ones_like(y.detach()), create_graph=True)
    (second,) = ja.autograd.grad(gradient, [x], ja.ones_like(gradient.detach()))
    np.testing.assert_allclose(values_of(second)[1], 6 * values_of(x)[1], rtol=1e-5)


def test_a_gradient_of_another_kind_than_traced():
    x = pair(3, requires_grad=True)
    y = ja.compile(lambda t: t * 2)(x)
    with pytest.raises(errors.SubclassError, match="needs one of its own kind, and a plain tensor"):
        y.backward(ja.ones(3))
    y.backward(ja.ones_like(y.detach()))  # nothing was done before
    assert x.grad.a.tolist() == [2.0] * 3
    x = Coercing(ja.ones(3), ja.ones(3)).requires_grad_()
    ja.compile(lambda t: t * 2)(x).backward(ja.ones(3))
    assert x.grad.b.tolist() == [2.0] * 3


def test_segments():
    def fn(x):
        y = x * 2
        return y.sin() if y.a.sum() > 0 else y.cos()

    compiled = ja.compile(fn)
    for sign in (1.0, -1.0):
        x = TwoTensor(ja.full((3,), sign), ja.ones(3))
        for array, other in zip(values_of(compiled(x)), values_of(fn(x)), strict=True):
            np.testing.assert_allclose(array, other, rtol=1e-6)


def test_an_op_without_a_rule_does_nothing():
    x = Scaled(ja.ones(3))

    @ja.compile
    def fn(t):
        t.values.mul_(2)
        return t.exp()

    with pytest.raises(errors.SubclassError, match="`exp` was found for `Scaled`"):
        fn(x)
    assert x.values.tolist() == [2.0] * 3  # as eagerly: the write came before


# -- sizes that change -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sizes_of_subclasses_that_change_share_a_program(nans):
    weight = ja.tensor(rows(3, 3), requires_grad=True)

    def fn(x, matrix):
        y = (x @ weight).softmax(0) * x.shape[0]
        return y.cumsum(0), ja.nn.functional.linear(x.a[:, :3], matrix).sum(0)

    made = lambda n: (
        TwoTensor(*(ja.tensor(rows(n, 3) + i, requires_grad=True) for i in range(2))),
        Int8Weight.quantize(ja.tensor(rows(n + 1, 3)))
    )  # fmt: skip
    compiled, exact = ja.compile(fn, dynamic={"x": 0, "matrix": 0}), ja.compile(fn, dynamic=False)
    for n in (13, 15):
        found = []
        for call in (compiled, exact):
            weight.grad = None
            x, matrix = made(n)
            y, z = call(x, matrix)
            assert type(y) is TwoTensor and y.shape == (n, 3)
            ((y.a * y.a).sum() + y.b.sin().sum() + z.sum()).backward()
            found.append((y.a, y.b, z, x.a.grad, x.b.grad, weight.grad))
        same(*found, rtol=1e-4, atol=1e-5)
    assert compiled.n_programs == 1, compiled.explain().programs


@pytest.mark.slow
def test_a_size_that_no_inner_tensor_has_is_that_of_the_call():
    compiled = ja.compile(lambda x, y: x.to_dense() @ y, dynamic={"x": 0})
    for n in (12, 14):
        sparse = SemiStructuredSparse.prune(ja.tensor(np.tile([1.0, 0, 0, 2.0], (n, 2)).astype(np.float32)))
        same(compiled(sparse, ja.ones(8)), 6 * ja.ones(n))
    assert compiled.n_programs == 2
