"""`autocast`: what is cast, when, how often, and that a backward follows its forward (ops: `test_autocast_ops.py`)."""

import gc
import threading
import weakref

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.ops.autocast_lists import FLOAT32, LOWER, WIDEST, casting_of
from jaxaot.tape.modes import state

F = ja.nn.functional


def dtypes(*tensors):
    return [t.dtype.name for t in tensors]


@pytest.fixture
def x():
    return ja.randn(2, 3)


@pytest.fixture
def w():
    return ja.randn(3, 3, requires_grad=True)


@pytest.fixture(autouse=True)
def _nothing_stays_set():
    yield
    assert state.autocast is None and not state.autocast_before and not state.casts


# -- what is set -------------------------------------------------------------------------------------------------------


def test_nested_contexts_are_restored(x, w):
    assert not ja.is_autocast_enabled() and ja.get_autocast_dtype("cpu") == ja.bfloat16
    with ja.autocast("cpu", dtype=ja.float16):
        assert ja.is_autocast_enabled() and ja.get_autocast_dtype() == ja.float16
        with ja.autocast(enabled=False):
            assert not ja.is_autocast_enabled() and ja.get_autocast_dtype() == ja.float16
            assert dtypes(x @ w) == ["float32"]
            with ja.autocast(dtype=ja.bfloat16, cache_enabled=False):
                assert dtypes(x @ w) == ["bfloat16"] and not ja.is_autocast_cache_enabled()
        assert dtypes(x @ w) == ["float16"] and ja.is_autocast_cache_enabled()
    assert dtypes(x @ w) == ["float32"]


def test_a_decorator_and_an_exception(x, w):
    @ja.autocast(dtype=ja.bfloat16)
    def f(depth):
        return x @ w if depth == 0 else f(depth - 1)

    assert dtypes(f(3)) == ["bfloat16"]
    with pytest.raises(ZeroDivisionError), ja.autocast():
        raise ZeroDivisionError
    assert dtypes(x @ w) == ["float32"]


def test_what_is_set_belongs_to_the_thread(x, w):
    found = []
    with ja.autocast():
        thread = threading.Thread(target=lambda: found.extend(dtypes(x @ w)))
        thread.start()
        thread.join()
    assert found == ["float32"]


def test_another_kind_of_device_is_another_matter(x, w):
    with ja.autocast("cuda"):
        assert ja.is_autocast_enabled("cuda") and ja.get_autocast_dtype("cuda") == ja.float16
        assert not ja.is_autocast_enabled("cpu") and dtypes(x @ w) == ["float32"]
    assert ja.amp.is_autocast_available("cpu") and not ja.amp.is_autocast_available("moon")
    with pytest.raises(errors.DeviceTypeError, match="unsupported autocast device_type 'moon'"):
        ja.autocast("moon")
    with pytest.raises(errors.ArgumentError, match="Expected `device_type` of type `str`"):
        ja.autocast(3)


def test_a_dtype_that_is_not_lower(x, w):
    with pytest.warns(UserWarning, match="Disabling autocast"), ja.autocast(dtype=ja.float32):
        assert not ja.is_autocast_enabled() and dtypes(x @ w) == ["float32"]


def test_a_decorated_thing_that_is_no_function():
    with pytest.raises(errors.ArgumentError, match="Write `with ja"):
        ja.autocast()(3)


def test_lists_of_accelerators():
    assert casting_of("exp", "gpu", {}) == FLOAT32 and casting_of("exp", "cpu", {}) is None
    assert casting_of("softmax", "gpu", {"dtype": None}) == FLOAT32
    assert casting_of("softmax", "gpu", {"dtype": np.dtype(np.float16)}) is None
    assert casting_of("mm", "tpu", {}) == LOWER and casting_of("dot", "gpu", {}) == WIDEST
    with pytest.raises(errors.DtypeError, match="unsafe to autocast"):
        casting_of("binary_cross_entropy", "gpu", {})


# -- which ops ---------------------------------------------------------------------------------------------------------


def test_products_go_down_and_losses_up(x, w):
    with ja.autocast():
        y = F.linear(x, w)
        z = y + x
        loss = F.mse_loss(y, y * 2)
    assert dtypes(y, z, y * 2, loss) == ["bfloat16", "float32", "bfloat16", "float32"]


def test_writes_in_place_and_out_are_left_alone(x, w):
    with ja.autocast(), ja.no_grad():
        y = ja.zeros(2, 3).addmm_(x, w)
        out = ja.mm(x, w, out=ja.empty(2, 3))
        with pytest.raises(errors.JaxaotError):
            ja.zeros(2, 3).addmm_(x, w.bfloat16())
    np.testing.assert_array_equal(y.numpy(), (x @ w).detach().numpy())
    np.testing.assert_array_equal(out.numpy(), (x @ w).detach().numpy())
    with ja.autocast():
        recorded = (x * 1).addmm_(x, w)
    assert dtypes(recorded) == ["float32"] and recorded.requires_grad


def test_operators_methods_and_arrays(x, w):
    with ja.autocast():
        assert dtypes(x @ w, x.matmul(w), ja.einsum("ij,jk->ik", x, w), w.T.mm(w)) == ["bfloat16"] * 4
        assert dtypes(ja.matmul(x, jax.numpy.ones((3, 3)))) == ["bfloat16"]
        assert dtypes(ja.einsum("ij,ij->ij", w, w), ja.einsum("ii->i", w), ja.dot(x[0], x[1])) == ["float32"] * 3
        assert dtypes(ja.ones(2, 2, dtype=ja.int32) @ ja.ones(2, 2, dtype=ja.int32)) == ["int32"]


def test_cat_takes_the_widest(x):
    low = x.bfloat16()
    with ja.autocast():
        assert dtypes(ja.cat([low, low]), ja.cat([low, x]), ja.stack([x, low])) == ["bfloat16", "float32", "float32"]
        with pytest.raises(errors.DtypeError, match="float16"):
            ja.cat([x.half(), low])


def test_unequal_dtypes_that_meet_in_a_product(x, w):
    with pytest.raises(errors.JaxaotError):
        x.bfloat16() @ w
    with ja.autocast():
        assert dtypes(x.bfloat16() @ w) == ["bfloat16"]
        assert dtypes(ja.view_as_complex(ja.ones(3, 2, dtype=ja.bfloat16))) == ["complex64"]


# -- the cache of weights ----------------------------------------------------------------------------------------------


def test_a_weight_is_cast_once(x, w):
    with ja.autocast():
        y = x @ w + x @ w
        assert len(state.casts) == 1
        with ja.autocast(enabled=False):
            pass
        assert len(state.casts) == 1
        ja.clear_autocast_cache()
        assert not state.casts
    y.sum().backward()
    assert dtypes(w.grad) == ["float32"]


def test_no_more_than_leaves_that_require_grad_is_kept(x, w):
    with ja.autocast():
        x @ (w * 1)
        x @ w.detach()
        x @ w[:]
        with ja.inference_mode():
            x @ w
        assert not state.casts
    with ja.autocast(cache_enabled=False):
        x @ w
        assert not state.casts


def test_a_cast_of_values_that_are_gone_is_not_used(x, w):
    with ja.autocast():
        before = x @ w
        with ja.no_grad():
            w.mul_(2)
        w.data.mul_(2)
        after = x @ w
    np.testing.assert_allclose(after.float().detach().numpy(), 4 * before.float().detach().numpy())


def test_a_cast_without_gradients_is_not_used_where_they_are_wanted(x, w):
    with ja.autocast():
        with ja.no_grad():
            x @ w
        (x @ w).sum().backward()
    assert w.grad is not None


def test_a_weight_that_dies_is_not_mistaken_for_another(x):
    with ja.autocast():
        for _ in range(5):
            w = ja.randn(3, 3, requires_grad=True)
            got = (x @ w).float().detach().numpy()
            np.testing.assert_allclose(got, x.numpy() @ w.detach().numpy(), rtol=5e-2, atol=5e-2)
            del w
        held = weakref.ref(x @ ja.randn(3, 3, requires_grad=True))
    gc.collect()
    assert held() is None


# -- the backward follows the forward ----------------------------------------------------------------------------------


def gradients(w, run, backward):
    w.grad = None
    loss = run()
    backward(loss)
    return w.grad.numpy()


@pytest.mark.parametrize("is_compiled", [False, True])
def test_the_backward_follows_what_the_forward_did(x, w, is_compiled):
    def plain():
        return F.mse_loss((x @ w).relu() @ w, ja.ones(2, 3))

    def under():
        with ja.autocast():
            return plain()

    def backward_under(loss):
        with ja.autocast(dtype=ja.float16):
            loss.backward()

    if is_compiled:
        plain, under = ja.compile(plain), ja.compile(under)
    low = gradients(w, under, lambda loss: loss.backward())
    full = gradients(w, plain, lambda loss: loss.backward())
    assert (low != full).any()
    np.testing.assert_array_equal(gradients(w, under, backward_under), low)
    np.testing.assert_array_equal(gradients(w, plain, backward_under), full)


@pytest.mark.slow
def test_second_derivatives_follow_what_the_forward_did(x, w):
    def orders(forward, backward):
        with forward:
            loss = F.mse_loss((x @ w).tanh() @ w, ja.ones(2, 3))
        with backward:
            (first,) = ja.autograd.grad(loss, [w], create_graph=True)
            (second,) = ja.autograd.grad((first * first).sum(), [w])
        return first.detach().numpy(), second.numpy()

    for mode in (ja.autocast(enabled=False), ja.autocast()):
        expected, got = orders(mode, ja.autocast(enabled=False)), orders(mode, ja.autocast(dtype=ja.float16))
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_compiled_gradient_is_that_of_the_tape(x, w):
    def f(x):
        with ja.autocast():
            y = (x @ w).tanh() @ w
        return F.mse_loss(y.float(), ja.ones(2, 3))

    tape = gradients(w, lambda: f(x), lambda loss: loss.backward())
    compiled = gradients(w, lambda: ja.compile(f)(x), lambda loss: loss.backward())
    np.testing.assert_allclose(compiled, tape, rtol=2e-2, atol=1e-3)  # XLA drops roundings between ops


# -- compiled ----------------------------------------------------------------------------------------------------------


def test_the_mode_is_part_of_the_key(x, w):
    f = ja.compile(lambda x: x @ w)
    with ja.autocast():
        assert dtypes(f(x), f(x)) == ["bfloat16"] * 2
        with ja.autocast(enabled=False):
            assert dtypes(f(x)) == ["float32"]
        with ja.autocast(dtype=ja.float16):
            assert dtypes(f(x)) == ["float16"]
        assert not state.casts
    assert dtypes(f(x)) == ["float32"]
    with ja.autocast(enabled=False), ja.autocast("cpu"):
        assert dtypes(f(x)) == ["bfloat16"]
    assert f.cache_info().misses == 3
    assert "autocast is cpu in float16 instead of" in str(f.explain_recompiles())


def test_contexts_that_are_entered_and_left_in_a_compiled_function(x, w):
    @ja.compile
    def f(x):
        context = ja.autocast()
        context.__enter__()
        y = x @ w
        with ja.autocast(enabled=False):
            z = x @ w
        return y, z

    assert dtypes(*f(x)) == ["bfloat16", "float32"]
    assert not ja.is_autocast_enabled()

    @ja.compile
    def g(x):
        with ja.autocast():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        g(x)
    assert not ja.is_autocast_enabled() and not g.programs


def test_a_weight_is_cast_once_in_a_graph(x, w):
    def f(x):
        with ja.autocast():
            return x @ w + x.exp() @ w + x.sin() @ w

    graph = ja.trace(f, x).jaxpr
    weight = graph.jaxpr.invars[1]
    casts = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == "convert_element_type"]
    assert sum(eqn.invars[0] is weight for eqn in casts) == 1


def test_a_compiled_function_in_a_compiled_one_takes_its_mode(x, w):
    inner = ja.compile(lambda x: x @ w)

    @ja.compile
    def outer(x):
        with ja.autocast():
            return inner(x), x @ w

    assert dtypes(*outer(x), inner(x)) == ["bfloat16", "bfloat16", "float32"]


@pytest.mark.slow
@pytest.mark.parametrize("is_compiled", [False, True])
def test_branches_loops_and_checkpoints(x, w, is_compiled):
    def f(x):
        with ja.autocast():
            a = ja.cond(x.sum() > 0, lambda: x @ w, lambda: (x * 2) @ w)

            def iteration(carry, row):
                y = carry @ w
                with ja.autocast(enabled=False):
                    z = row @ w
                return (y + z).float(), y

            carry, ys = ja.scan(iteration, x, x[None].expand(3, 2, 3))
            b = ja.utils.checkpoint.checkpoint(lambda x: (x @ w).tanh() @ w)(x)
        return a, carry, ys, b

    run = ja.compile(f) if is_compiled else f
    results = run(x)
    assert dtypes(*results) == ["bfloat16", "float32", "bfloat16", "bfloat16"]
    w.grad = None
    sum(r.float().sum() for r in results).backward()
    got = w.grad.numpy()

    w.grad = None
    sum(r.float().sum() for r in f(x)).backward()
    np.testing.assert_allclose(got, w.grad.numpy(), rtol=3e-2, atol=0.1)


def test_a_checkpointed_function_runs_again_in_the_mode_of_its_forward(x, w):
    seen = []

    def block(x):
        seen.append((ja.is_autocast_enabled(), ja.get_autocast_dtype().name))
        return (x @ w).tanh() @ w

    with ja.autocast(dtype=ja.float16):
        x @ w  # its cast of the weight is not that of the block
        y = ja.utils.checkpoint.checkpoint(block)(x)
    y.sum().backward()
    first = w.grad.numpy()
    w.grad = None
    with ja.autocast(dtype=ja.float16):
        y = block(x)
        with ja.autocast(dtype=ja.bfloat16):
            y.sum().backward()
    np.testing.assert_allclose(first, w.grad.numpy(), rtol=1e-2, atol=1e-3)
    assert seen == [(True, "float16")] * 3
    assert not ja.is_autocast_enabled()


def test_functionalized(x, w):
    def f(x, w):
        with ja.autocast():
            return (x @ w).sum()

    value, grads = jax.value_and_grad(ja.func.functionalize(f), 1)(x.jax(), w.detach().jax())
    assert value.dtype == ja.bfloat16 and grads.dtype == np.float32


def test_segments_and_aot(x, w):
    @ja.compile()
    def f(x):
        with ja.autocast():
            y = x @ w
            return y @ w if y.sum().item() > 0 else y

    assert dtypes(f(x), f(-x)) == ["bfloat16"] * 2
    function = ja.aot.aot_function(lambda x: x @ w, fw_compiler="interpret")
    assert dtypes(function(x)) == ["float32"]
    with ja.autocast():
        assert dtypes(function(x)) == ["bfloat16"]


# -- custom Functions --------------------------------------------------------------------------------------------------


class Product(ja.autograd.Function):
    """A product that says under which autocast its halves ran."""

    ran: list = []

    @staticmethod
    @ja.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    @ja.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        grads = grad @ w.T, x.T @ grad
        Product.ran.append((ja.is_autocast_enabled(), *dtypes(*grads)))
        return tuple(g.to(t.dtype) for g, t in zip(grads, (x, w), strict=True))


class ProductInFloat32(Product):
    """As the other, but never under autocast."""

    @staticmethod
    @ja.amp.custom_fwd(cast_inputs=ja.float32)
    def forward(ctx, x, w, more=()):
        assert dtypes(x, w, *more) == ["float32"] * (2 + len(more)) and not ja.is_autocast_enabled()
        ctx.save_for_backward(x, w)
        return x @ w


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("product", [Product, ProductInFloat32])
def test_a_custom_backward_runs_under_the_autocast_of_its_forward(x, w, product, is_compiled):
    def f(x):
        with ja.autocast():
            return product.apply(x.bfloat16(), w)

    run, dtype = ja.compile(f) if is_compiled else f, "bfloat16" if product is Product else "float32"
    for mode in (ja.autocast(enabled=False), ja.autocast(dtype=ja.float16)):
        Product.ran.clear()
        y = run(x)
        assert dtypes(y) == [dtype]
        with mode:
            y.sum().backward()
        assert set(Product.ran) <= {(product is Product, dtype, dtype)} and dtypes(w.grad) == ["float32"]
    Product.ran.clear()
    product.apply(x, w).sum().backward()
    assert Product.ran == [(False, "float32", "float32")]


def test_inputs_in_containers_are_cast(x):
    @ja.amp.custom_fwd(cast_inputs=ja.float32)
    def forward(ctx, values, name, more=None):
        return dtypes(values[0], more["k"]), values[1], name

    class Ctx:
        pass

    low = x.bfloat16()
    with ja.autocast():
        assert forward(Ctx(), [low, 1], "n", more={"k": low}) == (["float32", "float32"], 1, "n")
    assert forward(Ctx(), (low, 1), "n", more={"k": low}) == (["bfloat16", "bfloat16"], 1, "n")
