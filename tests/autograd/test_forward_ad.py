"""`ja.autograd.forward_ad` against `torch.autograd.forward_ad`."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.seeds import seeds

X, T = [0.3, 1.2, -0.7], [1.0, 2.0, -3.0]


def fill_parts(lib, fw, d, x):
    y = lib.zeros(3, 2)
    column, rest = y[:, 0], y[1:]
    column.copy_(d)
    rest.mul_(2.0)
    y[0] = d[1]
    return y, y.t(), rest, column[1:]


def through_no_grad(lib, fw, d, x):
    y = d.clone()
    with lib.no_grad():
        z = y[1:]
        z.mul_(x[1:]).sin_()
    return y, z, y * 2


def detached_memory(lib, fw, d, x):
    y = lib.zeros(3)
    z = y.detach()
    z.copy_(d)
    return y, z, d.detach(), d.data, z.detach() * d


def detached_in_place(lib, fw, d, x):
    y = d * 2
    y.detach_()
    return y, y * d


def overwritten(lib, fw, d, x):
    y, z, w = d.clone(), d.clone(), d.clone()
    y.fill_(3.0)
    z.copy_(x)
    w.zero_()
    return y, z, w


def indices(lib, fw, d, x):
    y = d.clone()
    y[lib.tensor([0, 2])] = d[:2] * 3
    z = x.clone()
    z[z > 0] = d[0]
    w = x.clone().index_add_(0, lib.tensor([1, 1]), d[1:])
    return y, z, w, d[lib.tensor([2, 2, 0])], d[d > 0], x.masked_fill(x > 0, 2.0), d.masked_fill(x > 0, 2.0)


def reversed_over_forward(lib, fw, d, x):
    w = x.clone().requires_grad_()
    dual = fw.make_dual(w, lib.tensor(T))
    y = (dual**3).sum() + (dual[1:] * dual[:2].exp()).sum()
    fw.unpack_dual(y).tangent.backward()
    return (w.grad,)


def forward_over_reverse(lib, fw, d, x):
    w = x.clone().requires_grad_()
    dual = fw.make_dual(w, lib.tensor(T))
    y = dual.clone()
    y[1:].mul_(dual[:2].sin())
    y = (y**3).sum() + (dual * d).prod()
    (g,) = lib.autograd.grad(y, w, retain_graph=True)
    (h,) = lib.autograd.grad(y, dual, create_graph=True)
    y.backward()
    return g, h, w.grad


def of_weights(lib, fw, d, x):
    w = lib.tensor([[0.1, 0.2, 0.3], [1.0, -1.0, 2.0]], requires_grad=True)
    y = lib.nn.functional.linear(d, w).tanh()
    value, tangent = fw.unpack_dual(y)
    value.sum().backward(retain_graph=True)
    first = w.grad.clone()
    tangent.sum().backward()
    return first, w.grad.detach()


def complex_parts(lib, fw, d, x):
    s = lib.tensor([1 + 2j, 3j, 0.5 - 1j])
    ds = fw.make_dual(s, s * 2j + 1)
    z = lib.zeros(3, dtype=lib.complex64)
    z.real.copy_(d)
    pairs = lib.zeros(3, 2)
    lib.view_as_complex(pairs).mul_(ds)
    lib.view_as_complex(pairs).add_(ds)
    return ds.real, ds.imag, ds.abs(), ds.conj(), ds.conj() * ds, z, z.imag, lib.view_as_real(ds)[:, 1], pairs


def views(lib, fw, d, x):
    m = (d[:, None] * d[None]).exp()
    a, b = lib.split(m, [1, 2], dim=1)
    return m.t(), m.diagonal(), m[1:, :2], m.reshape(9), m.unfold(0, 2, 1), a, b, m.expand(2, 3, 3), m.t()[1], m.flip(0)


def made_anew(lib, fw, d, x):
    primal, tangent = fw.unpack_dual(d.sin())
    again = fw.make_dual(primal, tangent * 2)
    return primal, again, again * d


def several(lib, fw, d, x):
    return (*d.sort(), *d.max(0), lib.stack([d, x]), lib.cat([x, d * 2]), *lib.var_mean(d, 0), *d.topk(2))


def numbers(lib, fw, d, x):
    return 2 * d, d + 1, 1 / d, d**2, 2.0**d, d > 0, d.round(), d.half().float(), lib.where(d > 0, d, x)


def foreach(lib, fw, d, x):
    y, z = d.clone(), x.clone()
    lib._foreach_mul_([y, z], [z + 0, y + 0])
    return y, z, *lib._foreach_exp([y, z])


def normalized(lib, fw, d, x):
    f = lib.nn.functional
    m = lib.stack([d, x, d * x])
    mean, var = lib.zeros(3), lib.ones(3)
    return f.batch_norm(m, mean, var, training=True), f.layer_norm(m, (3,)), f.softmax(m, 0), f.gelu(m), m @ m.t()


def made_of_duals(lib, fw, d, x):
    return lib.zeros_like(d), lib.ones_like(d), d.new_zeros(2)


def of_strides(lib, fw, d, x):
    m = lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    dual = fw.make_dual(m.t(), lib.ones(3, 2) * 2)
    part = fw.make_dual(m[:, 1], lib.tensor([5.0, 7.0]))
    part.mul_(3.0)
    return dual, dual[1], dual.sin(), part, part[1:], m, (dual * dual).t()


PROGRAMS = {
    fn.__name__: fn
    for fn in (
        fill_parts, through_no_grad, detached_memory, detached_in_place, overwritten, indices, reversed_over_forward,
        forward_over_reverse, of_weights, complex_parts, views, made_anew, several, numbers, foreach, normalized,
        made_of_duals, of_strides,
    )
}  # fmt: skip


def shown(lib, program):
    """Returns values and tangents of what a program of dual tensors returns."""
    fw = lib.autograd.forward_ad
    x, tangent = lib.tensor(X), lib.tensor(T)
    with fw.dual_level():
        found = program(lib, fw, fw.make_dual(lib.tensor(X), tangent), x)
        pairs = [fw.unpack_dual(y) for y in found]
        arrays = lambda y: None if y is None else y.detach().resolve_conj().numpy()
        return [(arrays(p), arrays(t)) for p, t in pairs]


def check(ours, theirs):
    assert len(ours) == len(theirs)
    for i, (pair, expected) in enumerate(zip(ours, theirs, strict=True)):
        assert (pair[1] is None) == (expected[1] is None), (i, pair, expected)
        for a, b in zip(pair, expected, strict=True):
            if b is not None:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=str(i))


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_as_torch(name):
    torch = pytest.importorskip("torch")
    check(shown(ja, PROGRAMS[name]), shown(torch, PROGRAMS[name]))


def random_program(seed):
    """Returns a program of random ops, views and writes, for both libraries."""
    steps = np.random.default_rng(seed).integers(0, 1000, (12, 3)).tolist()

    def program(lib, fw, d, x):
        kept = [d, x.clone(), lib.stack([d, x, d * x]), d.clone().reshape(3, 1)]
        for kind, i, j in steps:
            a, b = kept[i % len(kept)], kept[j % len(kept)]
            match kind % 16:
                case 0:
                    kept.append(a.sin() + b.sum())
                case 1:
                    kept.append((a * 0.5).exp())
                case 2:
                    kept.append(a[: 1 + j % 2])
                case 3:
                    kept.append(a.t() if a.ndim == 2 else a[None])
                case 4:
                    if i % len(kept):
                        a.mul_(b.mean())
                case 5:
                    if i % len(kept):
                        a[0] = b.sum()
                case 6:
                    if i % len(kept):
                        a.add_(b.detach().mean()).tanh_()
                case 7:
                    kept.append(a.sum(0) * b.mean())
                case 8:
                    kept.append(lib.cat([a.reshape(-1), b.reshape(-1)])[:4])
                case 9:
                    with lib.no_grad():
                        kept.append(a.reshape(-1)[-1:])
                case 10:
                    if i % len(kept):
                        a.fill_(0.25)
                case 11:
                    kept.append(a.cumsum(0))
                case 12:
                    kept.append(lib.where(a > 0, a, a * b.mean()))
                case 13:
                    kept.append(a.detach() * b.max())
                case 14:
                    if i % len(kept) and a.ndim:
                        a.unsqueeze(0).copy_(b.mean())
                case 15:
                    kept.append(a.as_strided((2,), (1,), a.storage_offset()) if a.numel() > 1 else a + 1)
            kept = [y for y in kept if y.ndim] or kept
        return kept

    return program


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(25, 8))
def test_random_programs_as_torch(seed):
    torch = pytest.importorskip("torch")
    check(shown(ja, random_program(seed)), shown(torch, random_program(seed)))


BAD = {
    "no level": lambda lib, fw, d, x: (fw.exit_dual_level(), fw.make_dual(x, x)),
    "no level to leave": lambda lib, fw, d, x: (fw.exit_dual_level(), fw.exit_dual_level()),
    "two levels": lambda lib, fw, d, x: fw.enter_dual_level(),
    "another level to leave": lambda lib, fw, d, x: fw.exit_dual_level(level=3),
    "another level": lambda lib, fw, d, x: fw.make_dual(x, x, level=3),
    "another level to look at": lambda lib, fw, d, x: fw.unpack_dual(d, level=3),
    "integers": lambda lib, fw, d, x: fw.make_dual(x.int(), x),
    "an integer tangent": lambda lib, fw, d, x: fw.make_dual(x, x.int()),
    "another size": lambda lib, fw, d, x: fw.make_dual(x, x[:2]),
    "dual already": lambda lib, fw, d, x: fw.make_dual(d, x),
    "a dual tangent": lambda lib, fw, d, x: fw.make_dual(x, d),
    "a view of a dual": lambda lib, fw, d, x: fw.make_dual(d[1:], x[1:]),
    "out=": lambda lib, fw, d, x: lib.sin(d, out=lib.empty(3)),
    "out= dual": lambda lib, fw, d, x: lib.sin(x, out=d),
    "a leaf written": lambda lib, fw, d, x: x.requires_grad_().mul_(d),
    "a result that is too large": lambda lib, fw, d, x: d[:1].add_(x),
    "overlapping": lambda lib, fw, d, x: fw.make_dual(x[:1].expand(3), x),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", BAD)
def test_errors_as_torch_that_change_nothing(name):
    torch = pytest.importorskip("torch")
    said = []
    for lib in (torch, ja):
        fw = lib.autograd.forward_ad
        x, tangent = lib.tensor(X), lib.tensor(T)
        fw.enter_dual_level()
        try:
            d = fw.make_dual(lib.tensor(X), tangent)
            with pytest.raises((RuntimeError, ValueError)) as caught:
                BAD[name](lib, fw, d, x)
        finally:
            if not name.startswith("no level"):
                fw.exit_dual_level()
        assert x.tolist() == lib.tensor(X).tolist() and tangent.tolist() == T
        said.append((caught.type, " ".join(str(caught.value).replace("level0", "level 0").split())))
    (theirs, words), (ours, own_words) = said
    assert issubclass(ours, RuntimeError if theirs is NotImplementedError else theirs)
    first = words.split(". ")[0].rstrip(".")
    for name, own in (("torch.int32", "int32"), ("_make_dual", "make_dual"), ("_fw_primal", "unpack_dual")):
        first = first.replace(name, own)
    assert own_words.startswith(first), (own_words, words)


def test_a_complex_tangent_of_a_real_tensor():
    with ja.autograd.forward_ad.dual_level(), pytest.raises(errors.DtypeError, match="pass its real part"):
        ja.autograd.forward_ad.make_dual(ja.ones(2), ja.ones(2, dtype=ja.complex64))


@pytest.mark.oracle
def test_what_ends_with_the_level_and_what_is_shared():
    torch = pytest.importorskip("torch")
    for lib in (torch, ja):
        fw = lib.autograd.forward_ad
        x, tangent = lib.tensor(X), lib.tensor(T)
        assert fw.unpack_dual(x) == (x, None) and fw.unpack_dual(x).primal is x
        with fw.dual_level() as level:
            assert level == 0
            d = fw.make_dual(x, tangent)
            assert fw.unpack_dual(d).tangent is tangent and d._base is x
            assert "tangent=tensor([ 1.,  2., -3.])" in repr(d)
            d.mul_(2.0)
            assert tangent.tolist() == [2.0, 4.0, -6.0] and x.tolist() == (lib.tensor(X) * 2).tolist()
            assert fw.unpack_dual(x).tangent is None
        assert fw.unpack_dual(d) == (d, None) and "tangent" not in repr(d)
        with fw.dual_level():
            assert fw.unpack_dual(d).tangent is None and fw.unpack_dual(d * 2).tangent is None
        decorated = fw.dual_level()(lambda lib=lib, fw=fw: fw.unpack_dual(fw.make_dual(lib.ones(2), lib.ones(2)).exp()))
        assert decorated().tangent is not None


@pytest.mark.slow
def test_random_numbers_are_drawn_once():
    fw, dropout = ja.autograd.forward_ad, ja.nn.functional.dropout
    with fw.dual_level():
        d = fw.make_dual(ja.ones(64), ja.ones(64) * 3)
        value, tangent = fw.unpack_dual(dropout(d, 0.5))
        assert (tangent == value * 3).all() and 0 < (value == 0).sum().item() < 64
        d.bernoulli_(0.5)
        assert fw.unpack_dual(d).tangent.tolist() == [0.0] * 64


@pytest.mark.slow
def test_in_a_compiled_function_and_around_one():
    fw = ja.autograd.forward_ad
    weight = ja.tensor([2.0, 3.0, 4.0])

    def run(x):
        y = x.sin() * weight
        y[1:].mul_(x[:2])
        return y

    def direction(x, t):
        with fw.dual_level():
            return tuple(fw.unpack_dual(run(fw.make_dual(x, t))))

    x, t = ja.tensor(X), ja.tensor(T)
    expected = [y.numpy() for y in ja.func.jvp(run, (x,), (t,))]
    inside, step = ja.compile(direction), ja.compile(run)
    for _ in range(2):
        np.testing.assert_allclose([y.numpy() for y in inside(x, t)], expected, rtol=1e-5)
        with fw.dual_level():
            np.testing.assert_allclose(step(x).numpy(), expected[0], rtol=1e-5)
            pair = fw.unpack_dual(step(fw.make_dual(x, t)))
            np.testing.assert_allclose([y.numpy() for y in pair], expected, rtol=1e-5)
    graph = ja.compile(lambda x, t: direction(x, t)[1].sum())
    (g,) = ja.autograd.grad(graph(x.requires_grad_(), t), x)
    (h,) = ja.autograd.grad(ja.func.jvp(run, (x,), (t,))[1].sum(), x)
    np.testing.assert_allclose(g.numpy(), h.numpy(), rtol=1e-4)


def test_transformed_functions_of_duals():
    fw = ja.autograd.forward_ad
    x, t = ja.tensor(X), ja.tensor(T)
    slope = ja.func.grad(lambda x: (x**3).sum())
    with fw.dual_level():
        tangent = fw.unpack_dual(slope(fw.make_dual(x, t))).tangent
        rows = fw.unpack_dual(ja.func.vmap(lambda r: r.sin())(fw.make_dual(x, t)))
    np.testing.assert_allclose(tangent.numpy(), (6 * x * t).numpy(), rtol=1e-5)
    np.testing.assert_allclose(rows.tangent.numpy(), (x.cos() * t).numpy(), rtol=1e-5)


@pytest.mark.slow
def test_under_autocast_and_in_a_checkpoint():
    fw = ja.autograd.forward_ad
    a, t = ja.tensor([[0.5, 1.0], [2.0, -1.0]]), ja.tensor([[1.0, 0.5], [0.25, 2.0]])
    with fw.dual_level(), ja.autocast("cpu"):
        value, tangent = fw.unpack_dual(fw.make_dual(a, t) @ a)
        assert value.dtype == tangent.dtype == ja.bfloat16
        np.testing.assert_allclose(tangent.float().numpy(), (t.jax() @ a.jax()), rtol=1e-2)
    w = a.clone().requires_grad_()
    with fw.dual_level():
        y = ja.utils.checkpoint.checkpoint(lambda w: (w.sin() * w).sum(), fw.make_dual(w, t))
        fw.unpack_dual(y).tangent.backward()
    expected = (2 * a.cos() - a * a.sin()) * t
    np.testing.assert_allclose(w.grad.numpy(), expected.numpy(), rtol=1e-4)


TRANSFORMED = {
    "grad": lambda f, x: ja.func.grad(f)(x),
    "vjp": lambda f, x: ja.func.vjp(f, x)[0],
    "jvp": lambda f, x: ja.func.jvp(f, (x,), (x,))[1],
    "linearize": lambda f, x: ja.func.linearize(f, x)[0],
    "jacrev": lambda f, x: ja.func.jacrev(f)(x),
    "jacfwd": lambda f, x: ja.func.jacfwd(f)(x),
    "hessian": lambda f, x: ja.func.hessian(f)(x),
    "vmap": lambda f, x: ja.func.vmap(f)(x),
    "grad of vmap": lambda f, x: ja.func.grad(lambda x: ja.func.vmap(f)(x).sum())(x),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_transformed_function_reaches_no_dual_tensor_that_it_was_not_passed(name):
    fw, run = ja.autograd.forward_ad, TRANSFORMED[name]
    x, plain = ja.tensor(X), ja.tensor(X)
    with fw.dual_level():
        d = fw.make_dual(plain, ja.tensor(T))
        for reach in (lambda x: (x * d[0]).sum(), lambda x: (x * d.sum()).sum(), lambda x: x.clone().mul_(d[1]).sum()):
            with pytest.raises(errors.DualTensorError, match=r"(?s)not passed.*ja.func.grad\(lambda x, d: f"):
                run(reach, x)
        primal = fw.unpack_dual(d).primal
        for other in (plain, primal):  # the same memory, without the tangent
            assert fw.unpack_dual(run(lambda x: (x * x * other[0]).sum(), x)).tangent is None
        assert fw.unpack_dual(d * 2).tangent.tolist() == [2.0, 4.0, -6.0]
    run(lambda x: (x * d[0]).sum(), x)


@pytest.mark.oracle
def test_a_gradient_of_a_dual_argument_has_a_tangent():
    torch = pytest.importorskip("torch")
    found = []
    for lib in (torch, ja):
        fw = lib.autograd.forward_ad
        with fw.dual_level():
            d = fw.make_dual(lib.tensor(X), lib.tensor(T))
            gradient = lib.func.grad(lambda x, d: (x * x * d).sum())(lib.tensor(X), d)
            found.append(fw.unpack_dual(gradient).tangent.numpy())
    np.testing.assert_allclose(*found, rtol=1e-5)


@pytest.mark.parametrize("name", ["vjp", "linearize"])
def test_duals_pass_through_both_halves_of_a_derivative(name):
    fw, x, ones = ja.autograd.forward_ad, ja.tensor([1.0, 2.0]), ja.ones(2)
    of = lambda found: found[0] if name == "vjp" else found
    tangent = lambda value: fw.unpack_dual(value).tangent
    with fw.dual_level():
        d = fw.make_dual(x, ja.tensor([1.0, 0.5]))
        value, derivative = getattr(ja.func, name)(lambda x: x**3, d)
        assert tangent(value).tolist() == [3, 6] and tangent(of(derivative(ones))).tolist() == [6, 6]
        value, derivative = getattr(ja.func, name)(lambda x: x**3, x)
        assert tangent(value) is None and tangent(of(derivative(d))).tolist() == [3, 6]
