"""Hooks on saved tensors together with custom Functions, with recorded backwards, and with checkpoints."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import some

hooks = ja.autograd.graph.saved_tensors_hooks


def plain(value):
    """Tensors within lists and tuples as rounded lists of numbers."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "detach"):
        return np.round(np.asarray(value.detach().tolist()), 3).tolist()
    return value


class Log(list):
    """What hooks were called with."""

    def pair(self, name, factor):
        """A pair that can be seen in the gradient."""

        def pack(tensor):
            self.append((f"pack {name}", plain(tensor)))
            return tensor * factor

        def unpack(kept):
            self.append((f"unpack {name}", plain(kept)))
            return kept

        return pack, unpack


def functions(lib):
    """A Function that saves arguments, results and what is neither; one with a setup; one that writes; one that saves
    nothing; one whose backward calls another."""

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            e = x.exp()
            result = e * w
            ctx.save_for_backward(x, w, result, None, e)
            return result

        @staticmethod
        def backward(ctx, gradient):
            x, _, result, nothing, _ = ctx.saved_tensors
            assert nothing is None
            return gradient * result, gradient * x.exp()

    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3, x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output[1])

        @staticmethod
        def backward(ctx, first, second):
            x, twice = ctx.saved_tensors
            return first * 3 * x**2 + second * twice.cos()

    class SinInPlace(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.cos())
            ctx.mark_dirty(x)
            return x.sin_()

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.saved_tensors[0]

    class Negative(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return -x

        @staticmethod
        def backward(ctx, gradient):
            return -gradient

    class Nested(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, gradient):
            return Product.apply(ctx.saved_tensors[0].detach(), gradient)

    return Product, Cube, SinInPlace, Negative, Nested


def program(lib, x, w):
    product, cube, sin_in_place, negative, nested = functions(lib)
    y = product.apply(x * 1.5, w)
    first, second = cube.apply(y)
    z = sin_in_place.apply(first * 0.1)
    return (nested.apply(negative.apply(z) * w) + second * z.tanh()).sum()


def leaves(lib):
    return lib.tensor([0.3, -0.7], requires_grad=True), lib.tensor([1.3, 0.4], requires_grad=True)


def eager(lib, log):
    x, w = leaves(lib)
    with lib.autograd.graph.saved_tensors_hooks(*log.pair("outer", 2.0)):
        first = program(lib, x, w)
        with lib.autograd.graph.saved_tensors_hooks(*log.pair("inner", 0.5)):
            second = program(lib, w, x)
    first.backward(retain_graph=True)
    log.append("again")
    (first + second).backward()
    return x.grad, w.grad


def recorded(lib, log):
    """What a recorded backward saves is packed by the hooks that are around that backward."""
    x, w = leaves(lib)
    with lib.autograd.graph.saved_tensors_hooks(*log.pair("forward", 2.0)):
        value = program(lib, x, w)
    gradients = lib.autograd.grad(value, (x, w), create_graph=True)
    found = [gradients, lib.autograd.grad(sum(g.sin().sum() for g in gradients), (x, w))]
    value = program(lib, x, w)
    with lib.autograd.graph.saved_tensors_hooks(*log.pair("backward", 2.0)):
        gradients = lib.autograd.grad(value, (x, w), create_graph=True)
        total = sum(g.sin().sum() for g in gradients)
    return [*found, lib.autograd.grad(total, (x, w))]


def ops_recorded(lib, log):
    """Which values a recorded backward of an op saves is its own affair, so the pair around it changes none."""
    x, w = leaves(lib)
    with lib.autograd.graph.saved_tensors_hooks(*log.pair("forward", 2.0)):
        value = (x.exp() * w.sin()).sum()
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        gradients = lib.autograd.grad(value, (x, w), create_graph=True)
        total = sum((g * g).sum() for g in gradients)
    return gradients, lib.autograd.grad(total, (x, w))


def checkpoint(lib, fn, *args):
    if lib is ja:
        return ja.utils.checkpoint.checkpoint(fn, *args)
    from torch.utils.checkpoint import checkpoint

    return checkpoint(fn, *args, use_reentrant=False)


def around_a_checkpoint(lib, log):
    x, w = leaves(lib)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = checkpoint(lib, lambda x, w: program(lib, x, w), x, w)
    with lib.autograd.graph.saved_tensors_hooks(*log.pair("behind", 2.0)):
        z = y.sin()
    z.backward()
    return x.grad, w.grad


def arguments_of_a_checkpoint(lib, log):
    """Tensors passed by position are packed; what is in containers, passed by name or reached is not."""
    x, w = leaves(lib)
    c, z = lib.ones(2) * 3.0, (x * 2).unsqueeze(0).t()

    def fn(first, z, pair, *, by_name, number):
        z = z * 1.0
        z.mul_(first.exp().unsqueeze(1))
        return (z.squeeze(1) * pair[0] * by_name * c * w * number).sin().sum()

    def call(first, z, w):
        return fn(first, z, (w, 1), by_name=w, number=2)

    with lib.autograd.graph.saved_tensors_hooks(*log.pair("around", 1.5)):
        value = checkpoint(lib, call, x[:1], z, w)
    value.backward(retain_graph=True)
    value.backward()
    return x.grad, w.grad


def nested_checkpoints(lib, log):
    x, w = leaves(lib)

    def outer(x, w):
        y = checkpoint(lib, lambda a, w: a.sin() * w, x.exp(), w)
        return y.tanh() * x

    with lib.autograd.graph.saved_tensors_hooks(*log.pair("around", 1.5)):
        value = checkpoint(lib, outer, x, w).sum()
    value.backward()
    return x.grad, w.grad


def within_a_checkpoint(lib, log):
    """What is saved under hooks that the function sets up itself is kept, packed."""
    x, w = leaves(lib)

    def fn(x, w):
        y = x.exp()
        with lib.autograd.graph.saved_tensors_hooks(*log.pair("within", 2.0)):
            z = y.sin() * w
            z = functions(lib)[0].apply(z, w)
        return (z * y.tanh()).sum()

    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        value = checkpoint(lib, fn, x, w)
    value.backward(retain_graph=True)
    value.backward()
    return x.grad, w.grad


PROGRAMS = [eager, recorded, ops_recorded, around_a_checkpoint, arguments_of_a_checkpoint, nested_checkpoints,
            within_a_checkpoint]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_as_in_torch(fn):
    import torch

    logs, results = [], []
    for lib in (torch, ja):
        logs.append(Log())
        results.append(fn(lib, logs[-1]))
    for expected, got in zip(flat(results[0]), flat(results[1]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)
    assert packed(logs[1]) == packed(logs[0])


def test_a_packed_argument_of_a_checkpoint_is_not_kept_besides():
    x, _ = leaves(ja)
    with hooks(lambda t: t.numpy().copy(), ja.tensor):
        z = x * 2
        y = ja.utils.checkpoint.checkpoint(lambda z: (z.view(-1) * z).exp(), z)
    held = weakref.ref(z._storage.array)
    del z
    assert held() is None
    y.sum().backward()
    two = 2 * np.asarray(x.tolist())
    np.testing.assert_allclose(x.grad.numpy(), 4 * two * np.exp(two * two), rtol=1e-5)


def flat(value):
    return [x for item in value for x in flat(item)] if isinstance(value, (list, tuple)) else [value.detach().numpy()]


def packed(log):
    """What was packed, in any order: which of the arguments and results an op saves is its own affair."""
    return sorted({str(entry) for entry in log if entry[0].startswith("pack")})


# -- compiled ----------------------------------------------------------------------------------------------------------


def twice(t):
    return (t.to(ja.bfloat16), t - t.to(ja.bfloat16).to(ja.float32)) if t.dtype == ja.float32 else (t, None)


def once(kept):
    first, rest = kept
    return first if rest is None else first.to(ja.float32) + rest


def by_hand(t):
    return t.numpy().copy()  # asks for values, so no graph can do it


def in_half(t):
    return t.to(ja.bfloat16)


def from_half(kept):
    return kept.to(ja.float32)


EXACT = {"in the graphs": (twice, once), "between the graphs": (by_hand, ja.tensor)}
ROUTES = {
    "compiled": lambda fn: ja.compile(fn),
    "everything saved": lambda fn: ja.compile(fn, policy="save_all"),
    "region": lambda fn: ja.compile(lambda *args: ja.utils.checkpoint.checkpoint(fn, *args)),
    "checkpointed": lambda fn: lambda *args: ja.utils.checkpoint.checkpoint(ja.compile(fn), *args),
}


def small(x, w):
    product, cube, _, negative, _ = functions(ja)
    y = product.apply((x * 1.5).sin(), w)
    first, second = cube.apply(y.tanh())
    return (negative.apply(first) * w + second * y.cos()).sum()


@pytest.mark.slow
@pytest.mark.parametrize("route", some(ROUTES, 1))
@pytest.mark.parametrize("place", some(EXACT, 1))
def test_compiled_calls_give_the_gradients_of_both_orders(route, place):
    x, w = leaves(ja)

    def orders(fn):
        gradients = ja.autograd.grad(fn(x, w), (x, w), create_graph=True)
        return *gradients, *ja.autograd.grad(sum(g.sin().sum() for g in gradients), (x, w))

    expected = orders(small)
    fn = ROUTES[route](small)
    for is_around_backward in (False, True):
        with hooks(*EXACT[place], inputs=is_around_backward):
            value = fn(x, w)
            (gradient,) = ja.autograd.grad(value, x, retain_graph=True)
            np.testing.assert_allclose(gradient.numpy(), expected[0].detach().numpy(), rtol=1e-4, atol=1e-6)
            found = orders(fn) if is_around_backward else orders(lambda x, w: value)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_what_functions_save_is_packed_in_the_graphs():
    x, w = leaves(ja)
    joint = ja.trace(small, x, w).joint()
    with hooks(in_half, from_half):
        saved = joint.partition("save_all").saved
    assert len(saved) > 3 and {value.dtype for value in saved} == {"bfloat16"}

    def inside(x, w):
        y = (x * 1.5).sin()
        with hooks(in_half, from_half):
            y = functions(ja)[0].apply(y, w)
        return (y.tanh() * w).sum()

    saved = ja.trace(inside, x, w).joint().partition("save_all").saved
    assert {value.dtype for value in saved} == {"bfloat16", "float32"}
    (exact,) = ja.autograd.grad(inside(x, w), x)
    (rounded,) = ja.autograd.grad(ja.compile(inside, policy="save_all")(x, w), x)
    np.testing.assert_allclose(rounded.numpy(), exact.numpy(), rtol=0.02)


@pytest.mark.slow
def test_a_backward_inside_a_compiled_function_unpacks_what_it_packs():
    x, w = leaves(ja)

    def step(x, w):
        with hooks(twice, once):
            value = small(x, w)
        gradients = ja.autograd.grad(value, (x, w), create_graph=True)
        return *gradients, *ja.autograd.grad(sum(g.sin().sum() for g in gradients), (x, w))

    for a, b in zip(step(x, w), ja.compile(step)(x, w), strict=True):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_checkpoints_keep_what_their_own_hooks_pack_and_nothing_else():
    kept = []

    def keep(t):
        kept.append(t.numpy().copy())
        return len(kept) - 1

    def fn(x):
        y = x.exp()
        with hooks(keep, lambda i: ja.tensor(kept[i])):
            z = y.sin()
        return (z * y).sum()

    for _ in range(2):
        x = ja.tensor([0.5, 1.0], requires_grad=True)
        fn(x).backward()
        n = len(kept)
        checked = ja.tensor([0.5, 1.0], requires_grad=True)
        value = ja.utils.checkpoint.checkpoint(fn, checked)
        assert len(kept) == n + 1
        value.backward()
        np.testing.assert_allclose(checked.grad.numpy(), x.grad.numpy(), rtol=1e-6)
