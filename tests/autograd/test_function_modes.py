"""The `jvp` and `vmap` of custom Functions against PyTorch: dual tensors, `ja.func.jvp`, `jacfwd`, `vmap`."""

import contextlib
import re

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

X, T = [0.3, 1.2, -0.7], [1.0, 2.0, -3.0]


def functions(lib):
    """Returns Functions whose `jvp` and `backward` can be told apart: they are too large by 3 and by 2."""
    Function = lib.autograd.Function

    class Cube(Function):
        @staticmethod
        def forward(x, n):
            return x**3 * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2 * ctx.n, None

        @staticmethod
        def jvp(ctx, gx, _):
            (x,) = ctx.saved_tensors
            return gx * 3 * x**2 * ctx.n

        @staticmethod
        def vmap(info, in_dims, x, n):
            assert info.batch_size == (x.shape[in_dims[0]] if in_dims[0] is not None else n.shape[in_dims[1]])
            x = x.movedim(in_dims[0], -1)
            return Cube.apply(x, n), x.ndim - 1

    class Exp(Function):  # saves its result
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, gx):
            return gx * ctx.saved_tensors[0]

    class Marked(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y, x.sum(), (x > 0)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(inputs[1], inputs[0])
            ctx.mark_non_differentiable(output[2])

        @staticmethod
        def backward(ctx, g, h, _):
            x, y = ctx.saved_tensors
            return 2 * (g * y + h), 2 * g * x

        @staticmethod
        def jvp(ctx, gx, gy):
            y, x = ctx.saved_tensors
            return 3 * (gx * y + x * gy), 3 * gx.sum(), None

    class Writing(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, gx):
            return gx.mul_(2)

    class Viewing(Function):
        @staticmethod
        def forward(ctx, x):
            return x[1:]

        @staticmethod
        def backward(ctx, g):
            return g.new_zeros(3)

        @staticmethod
        def jvp(ctx, gx):
            return gx[1:]

    return Cube, Exp, Marked, Writing, Viewing


def through_a_backward(lib, fw, d, x, f):
    w = x.clone().requires_grad_()
    dual = fw.make_dual(w, lib.tensor(T))
    y = f[0].apply(dual, 2.0) + f[1].apply(dual * 2)
    (g,) = lib.autograd.grad((y**2).sum(), w, retain_graph=True)
    (h,) = lib.autograd.grad(fw.unpack_dual(y).tangent.sum(), w)
    return g, h.detach()


def written(lib, fw, d, x, f):
    y, z = d.clone(), d.clone()
    out = f[3].apply(y)
    view = f[4].apply(z)
    return y, out, y.sin(), view, view * 2


DUALS = {
    "saved arguments": lambda lib, fw, d, x, f: (f[0].apply(d, 2.0), f[0].apply(x, 2.0)),
    "saved results": lambda lib, fw, d, x, f: (f[1].apply(d), f[1].apply(f[1].apply(d.sin()))),
    "several": lambda lib, fw, d, x, f: (*f[2].apply(d, x), *f[2].apply(x, d), *f[2].apply(d[None], d)),
    "through a backward": through_a_backward,
    "written": written,
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", DUALS)
def test_duals_as_torch(name):
    torch = pytest.importorskip("torch")
    shown = []
    for lib in (ja, torch):
        fw = lib.autograd.forward_ad
        with fw.dual_level():
            d = fw.make_dual(lib.tensor(X), lib.tensor(T))
            pairs = [fw.unpack_dual(y) for y in DUALS[name](lib, fw, d, lib.tensor(X), functions(lib))]
            shown.append([(p.detach().numpy(), None if t is None else t.detach().numpy()) for p, t in pairs])
    for i, ((p, t), (q, u)) in enumerate(zip(*shown, strict=True)):
        assert (t is None) == (u is None), i
        np.testing.assert_allclose(p, q, rtol=1e-5)
        if u is not None:
            np.testing.assert_allclose(t, u, rtol=1e-5, err_msg=str(i))


def square(lib, f, x):
    return f[0].apply(x, 2.0) * f[1].apply(x)


def marked(lib, f, x):
    a, b, _ = f[2].apply(x, x.sin())
    return a * b


TRANSFORMED = {
    "jvp": lambda lib, f, g, x: lib.func.jvp(lambda x: g(lib, f, x), (x,), (lib.tensor(T),)),
    "jacfwd": lambda lib, f, g, x: lib.func.jacfwd(lambda x: g(lib, f, x))(x),
    "jacrev": lambda lib, f, g, x: lib.func.jacrev(lambda x: g(lib, f, x))(x),
    "grad": lambda lib, f, g, x: lib.func.grad(lambda x: g(lib, f, x).sum())(x),
    "grad of grad": lambda lib, f, g, x: lib.func.grad(
        lambda x: lib.func.grad(lambda x: g(lib, f, x).sum())(x).sin().sum()
    )(x),
    "jacfwd of grad": lambda lib, f, g, x: lib.func.jacfwd(lib.func.grad(lambda x: g(lib, f, x).sum()))(x),
    "grad of jvp": lambda lib, f, g, x: lib.func.grad(
        lambda x: lib.func.jvp(lambda x: g(lib, f, x), (x,), (lib.tensor(T),))[1].sum()
    )(x),
    "vmap": lambda lib, f, g, x: lib.func.vmap(lambda r: g(lib, f, r))(lib.stack([x, x * 2])),
    "vmap of columns": lambda lib, f, g, x: lib.func.vmap(lambda r: g(lib, f, r), in_dims=1)(lib.stack([x, x * 2])),
    "vmap of vmap": lambda lib, f, g, x: lib.func.vmap(lib.func.vmap(lambda r: g(lib, f, r[None])))(
        lib.stack([x, x * 2])
    ),
    "vmap of grad": lambda lib, f, g, x: lib.func.vmap(lib.func.grad(lambda r: g(lib, f, r).sum()))(
        lib.stack([x, x * 2])
    ),
    "grad of vmap": lambda lib, f, g, x: lib.func.grad(
        lambda x: lib.func.vmap(lambda r: g(lib, f, r))(lib.stack([x, x * 2])).sin().sum()
    )(x),
    "vmap of jvp": lambda lib, f, g, x: lib.func.vmap(
        lambda r: lib.func.jvp(lambda x: g(lib, f, x), (r,), (r.cos(),))[1]
    )(lib.stack([x, x * 2])),
}


@pytest.mark.oracle
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("fn", [square, marked])
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformed_as_torch(name, fn, is_compiled):
    torch = pytest.importorskip("torch")
    f = functions(ja)
    run = lambda x: TRANSFORMED[name](ja, f, fn, x)
    ours = (ja.compile(run) if is_compiled else run)(ja.tensor(X))
    theirs = TRANSFORMED[name](torch, functions(torch), fn, torch.tensor(X))
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (ours, theirs)), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def failing(lib, **methods):
    body = {
        "forward": staticmethod(lambda x, n: (x * n, x.sum())),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
        "backward": staticmethod(lambda ctx, g, h: (g, None)),
    }
    body |= {name: m if isinstance(m, bool) else staticmethod(m) for name, m in methods.items()}
    return type("Mine", (lib.autograd.Function,), body)


def old_style(lib, **methods):
    body = {"forward": staticmethod(lambda ctx, x, n: x * n), "backward": staticmethod(lambda ctx, g: (g, None))}
    return type("Mine", (lib.autograd.Function,), body)


def by_vmap(lib, fw, d, f):
    return lib.func.vmap(lambda r: f.apply(r, 2))(lib.ones(2, 3))


def by_dual(lib, fw, d, f):
    return f.apply(d, 2)


def by_jvp(lib, fw, d, f):
    return lib.func.jvp(lambda x: f.apply(x, 2), (lib.ones(3),), (lib.ones(3),))


WRONG = {
    "no jvp": (by_dual, {}),
    "no jvp under jvp": (by_jvp, {}),
    "few": (by_dual, {"jvp": lambda ctx, g, _: g}),
    "few under jvp": (by_jvp, {"jvp": lambda ctx, g, _: g}),
    "many": (by_dual, {"jvp": lambda ctx, g, _: (g, g.sum(), g)}),
    "a number": (by_dual, {"jvp": lambda ctx, g, _: (g, 3)}),
    "another size": (by_dual, {"jvp": lambda ctx, g, _: (g.sum(), g.sum())}),
    "no vmap": (by_vmap, {}),
    "both vmaps": (by_vmap, {"generate_vmap_rule": True, "vmap": lambda info, dims, x, n: (x * n, 0)}),
    "one return": (by_vmap, {"vmap": lambda info, dims, x, n: x * n}),
    "another structure": (by_vmap, {"vmap": lambda info, dims, x, n: ((x * n, x.sum(1)), (0,))}),
    "old style": (by_vmap, None),
    "vmap itself": (lambda lib, fw, d, f: f.vmap(None, None, d), {}),
    "jvp itself": (lambda lib, fw, d, f: f.jvp(None, d), {}),
}


@pytest.mark.oracle
@each("name", WRONG)
def test_errors_as_torch(name):
    torch = pytest.importorskip("torch")
    call, methods = WRONG[name]
    said = []
    for lib in (ja, torch):
        fw = lib.autograd.forward_ad
        fn = old_style(lib) if methods is None else failing(lib, **methods)
        with pytest.raises(RuntimeError) as caught, fw.dual_level() if call is by_dual else contextlib.nullcontext():
            d = fw.make_dual(lib.tensor(X), lib.tensor(T)) if call is by_dual else lib.tensor(X)
            call(lib, fw, d, fn)
        said.append(" ".join(str(caught.value).replace("jaxaot.facade.memory.tensor", "torch").split()))
    ours, theirs = said
    first = re.split(r"\. (?:For more|out_dims has|Please do)", theirs)[0].rstrip(".").split(" staticmethod. For")[0]
    assert ours.startswith(first), (ours, theirs)


def test_what_is_not_mapped_needs_no_rule():
    f = failing(ja)
    x = ja.ones(3)
    found = ja.func.vmap(lambda r: r + f.apply(x, 2)[0])(ja.ones(2, 3))
    assert found.tolist() == [[3.0] * 3] * 2


def test_results_that_are_the_same_for_all():
    class Mixed(ja.autograd.Function):
        seen = []

        @staticmethod
        def forward(x, y, n):
            return x * y * n, y + 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, gx, gy, _):
            return gx, gy

        @staticmethod
        def vmap(info, in_dims, x, y, n):
            Mixed.seen.append((info, in_dims, x.shape, y.shape, n))
            return (x.movedim(in_dims[0], 0) * y * n, y + 1), (0, None)

    a, b = ja.func.vmap(lambda x, y: Mixed.apply(x, y, 3), in_dims=(1, None))(ja.ones(3, 2), ja.ones(3))
    assert a.tolist() == [[3.0] * 3] * 2 and b.tolist() == [[2.0] * 3] * 2
    ((info, in_dims, *rest),) = Mixed.seen
    assert info == (2, "error") and in_dims == (1, None, None) and rest == [(3, 2), (3,), 3]


def test_a_jvp_alone_and_a_backward_alone():
    class Forward(ja.autograd.Function):
        @staticmethod
        def forward(x):
            return x.sin()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, gx):
            return ctx.saved_tensors[0].cos() * gx

    x = ja.tensor(X)
    np.testing.assert_allclose(
        ja.func.jvp(Forward.apply, (x,), (ja.tensor(T),))[1].numpy(), (x.cos() * ja.tensor(T)).numpy(), rtol=1e-5
    )
    np.testing.assert_allclose(ja.func.jacfwd(Forward.apply)(x).numpy(), x.cos().diag().numpy(), rtol=1e-5)
    for missing in (ja.func.grad(lambda x: Forward.apply(x).sum()), ja.compile(lambda x: Forward.apply(x * 1).sum())):
        with pytest.raises(RuntimeError, match="You must implement either the backward"):
            result = missing(x.requires_grad_())
            result.backward()
    with pytest.raises(RuntimeError, match="must implement the jvp function"):
        ja.func.jacfwd(lambda x: failing(ja).apply(x, 2)[0])(ja.ones(3))


@pytest.mark.slow
def test_forward_mode_twice():  # PyTorch loses a term: in a jvp, its nested levels see what was saved as constants
    f, plain = functions(ja), lambda x: 2 * x**3 * x.exp()
    for outer in (ja.func.jacfwd, lambda g: ja.compile(ja.func.jacfwd(g))):
        found = outer(ja.func.jacfwd(lambda x: square(ja, f, x)))(ja.tensor(X))
        expected = ja.func.jacfwd(ja.func.jacfwd(plain))(ja.tensor(X))
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


class BackwardAlone(ja.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2


def by_duals(fn):
    fw = ja.autograd.forward_ad

    def pushed(x):
        with fw.dual_level():
            return fw.unpack_dual(fn(fw.make_dual(x, x))).tangent

    return pushed


def in_a_loop(x):
    return ja.scan(lambda c, _: (BackwardAlone.apply(c), c), x, ja.ones(2))[0]


@pytest.mark.parametrize(
    "forward_mode",
    [
        by_duals(BackwardAlone.apply),
        by_duals(ja.compile(BackwardAlone.apply)),
        ja.compile(by_duals(BackwardAlone.apply)),
        ja.compile(lambda x: ja.func.jvp(BackwardAlone.apply, (x,), (x,))[1]),
        ja.compile(lambda x: ja.func.linearize(BackwardAlone.apply, x)[1](x)),
        ja.compile(lambda x: ja.func.jvp(in_a_loop, (x,), (x,))[1]),
    ],
)
def test_forward_mode_names_the_function_that_has_a_backward_alone(forward_mode):
    with pytest.raises(ja.errors.JaxaotError, match=r"jvp function.*`BackwardAlone` has none.*BackwardAlone.jvp\(ctx"):
        forward_mode(ja.ones(2))


def test_a_function_of_jax_that_has_a_backward_alone():
    import jax

    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (g,))
    fn = ja.compile(lambda x: ja.func.jvp(ja.autograd.jax_function(clipped), (x,), (x,))[1])
    with pytest.raises(ja.errors.JaxaotError, match=r"jax\.custom_jvp"):
        fn(ja.ones(2))
    unused = ja.compile(lambda x: ja.func.jvp(ja.autograd.jax_function(clipped), (x,), (x,))[0])
    assert unused(ja.ones(2)).tolist() == [1.0, 1.0]
