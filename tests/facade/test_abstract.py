"""Tensors without values, on the device "meta": made, mixed, written, differentiated, traced, and read in vain."""

import functools

import jax
import numpy as np
import pytest
from flax import nnx

import jaxaot as ja
import jaxaot.nn.functional as F

HUGE = 10**10


def empty(*size, **options):
    return ja.empty(*size, device="meta", **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ja.empty(2, 3, device="meta"),
        lambda: ja.ones(2, 3, device=ja.device("meta")),
        lambda: ja.tensor(np.zeros((2, 3), np.float32), device="meta"),
        lambda: ja.interop.from_jax(jax.ShapeDtypeStruct((2, 3), np.float32)),
        lambda: ja.tensor(jax.ShapeDtypeStruct((2, 3), np.float32)),
        lambda: ja.ones(2, 3).to("meta"),
        lambda: ja.zeros_like(ja.ones(2, 3), device="meta"),
        lambda: ja.rand(2, 3, device="meta"),
        lambda: ja.empty_like(ja.empty(2, 3, device="meta")),
        lambda: ja.empty(5, device="meta").new_ones(2, 3),
    ],
)
def test_ways_to_make_one(make):
    made = make()
    assert made.is_meta and made.device == ja.device("meta") and not made.is_cpu
    assert (tuple(made.shape), made.dtype) == ((2, 3), np.float32)
    assert repr(made) == "tensor(..., device='meta', size=(2, 3))"


def test_a_context_says_where_tensors_are_made():
    with ja.device("meta"):
        assert ja.zeros(2).is_meta and ja.tensor([1.0]).is_meta and ja.arange(HUGE).shape == (HUGE,)
        with ja.device("cpu"):
            assert not ja.zeros(2).is_meta
        assert ja.zeros(2).is_meta and not ja.zeros(2, device="cpu").is_meta
    assert not ja.zeros(2).is_meta
    with pytest.raises(ja.errors.TensorTypeError, match=r"there is no device `moon`.*and `meta`"):
        ja.device("moon")


def test_sizes_beyond_all_integers_of_a_machine():
    x = empty(HUGE, HUGE, 3)
    y = x.transpose(0, 1)[5:, None] * 2
    assert y.shape == (HUGE - 5, 1, HUGE, 3) and y.nbytes == (HUGE - 5) * HUGE * 12 > 2**64
    assert x.reshape(-1).shape == (3 * HUGE * HUGE,) and x.storage_offset() == 0
    assert x[HUGE - 1].storage_offset() == (HUGE - 1) * HUGE * 3
    table = empty(100, 16, requires_grad=True)
    rows = F.embedding(empty(HUGE, 7, dtype=ja.int32), table)
    rows.sum().backward()
    assert rows.shape == (HUGE, 7, 16) and table.grad.shape == (100, 16)
    many = empty(HUGE, 4)
    assert many[empty(5, dtype=ja.int32)].shape == (5, 4)
    assert many.untyped_storage().resize_(4 * HUGE).nbytes() == 4 * HUGE


def test_a_layer_forward_and_backward():
    x, w, b = empty(HUGE, 3, 32, 32), empty(8, 3, 3, 3, requires_grad=True), empty(8, requires_grad=True)
    mean, var = empty(8), empty(8)
    seen = []
    h = F.conv2d(x, w, b, padding=1)
    h.register_hook(lambda g: seen.append(tuple(g.shape)))
    h = F.batch_norm(h, mean, var, training=True)
    h[:, 0].relu_()
    h.sum().backward()
    assert seen == [(HUGE, 8, 32, 32)] and w.grad.shape == w.shape and b.grad.is_meta
    assert mean._version == var._version == 1 and h._version == 1
    w.grad.zero_()
    (F.conv2d(x, w).sum()).backward()
    assert w.grad.shape == w.shape


def test_hooks_on_what_is_saved_and_second_derivatives():
    packed = []
    x = empty(4, 4, requires_grad=True)
    with ja.autograd.graph.saved_tensors_hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
        y = (x @ x).tanh()
    (g,) = ja.autograd.grad(y.sum(), x, create_graph=True)
    (g * g).sum().backward()
    assert packed and x.grad.shape == (4, 4) and x.grad.is_meta


def test_an_optimizer_step_in_place():
    w, m = empty(300, 300, requires_grad=True), empty(300, 300)
    ((w @ w) ** 2).mean().backward()
    with ja.no_grad():
        m.mul_(0.9).add_(w.grad)
        w -= 0.1 * m
    assert w._version == 1 and m._version == 2 and w.is_leaf and w.is_meta


def test_mixed_with_values_it_wins_and_is_not_written_into_them():
    real, abstract = ja.ones(3, requires_grad=True), empty(3)
    assert (real + abstract).is_meta and ja.cat([real, abstract]).is_meta
    (real * abstract).sum().backward()
    assert real.grad.is_meta
    abstract.copy_(ja.ones(3))
    target = ja.zeros(3)
    for write in (
        lambda: target.copy_(abstract),
        lambda: target.add_(abstract),
        lambda: target[1:].add_(abstract[1:]),
        lambda: target.__setitem__(0, abstract[0]),
        lambda: ja.add(abstract, 1, out=target),
    ):
        with pytest.raises(
            ja.errors.NoValueError, match=r"is written with what comes from a tensor on the device `meta`"
        ):
            write()
    assert target._version == 0 and target.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("read", "who"),
    [
        (lambda x: x.sum().item(), r"`\.item\(\)`"),
        (lambda x: x.numpy(), r"`\.numpy\(\)`"),
        (lambda x: x.jax(), r"`\.jax\(\)`"),
        (lambda x: x.tolist(), r"`\.tolist\(\)`"),
        (lambda x: bool(x.sum() > 0), "bool"),
        (lambda x: x[x > 0], "mask"),
        (lambda x: x.nonzero(), "nonzero"),
        (lambda x: x.to("cpu"), r"`\.to\('cpu'\)`"),
        (lambda x: ja.tensor(x, device="cpu"), "`cpu`"),
    ],
)
def test_a_value_is_not_there(read, who):
    text = rf"(?s){who}.*needs the value of a tensor on the device `meta`.*fill"
    with pytest.raises(ja.errors.NoValueError, match=text):
        read(empty(2, 2))


def test_memory_for_one_is_made_and_filled():
    x = empty(2, 3)
    made = ja.empty_like(x, device="cpu").fill_(2)
    assert made.tolist() == [[2, 2, 2], [2, 2, 2]] and not made.is_meta


def test_compiled_functions_run_as_they_are():
    @ja.compile
    def step(x, w):
        w.mul_(0.5)
        return (x @ w).sum()

    w = empty(4, 4, requires_grad=False)
    assert step(empty(HUGE, 4), w).is_meta and w._version == 1
    assert step.cache_info().currsize == 0
    assert step(ja.ones(2, 4), ja.ones(4, 4)).item() == 16
    held = {"w": empty(4, 4)}
    assert ja.compile(lambda x: x @ held["w"])(ja.ones(2, 4)).is_meta
    assert ja.compile(lambda x: (x @ held["w"]).relu())(ja.ones(2, 4)).is_meta


def test_a_graph_from_shapes_serves_tensors_with_values():
    fn = lambda x, w: (x.add_(1) @ w).sum()
    traced = ja.trace(fn, empty(2, 4), empty(4, 3, requires_grad=True))
    forward = traced.joint().partition().compile()
    assert "2,4" in str(traced) and forward is not None
    values = [ja.ones(2, 4), ja.ones(4, 3).requires_grad_()]
    same = ja.trace(fn, *values)
    assert traced.call == same.call and str(traced.jaxpr) == str(same.jaxpr)


def test_modules_of_flax_from_their_shapes():
    model = nnx.eval_shape(lambda: nnx.Linear(HUGE, 4, rngs=nnx.Rngs(0)))
    traced = ja.trace(lambda model, x: model(x).sum(), model, jax.ShapeDtypeStruct((2, HUGE), np.float32))
    assert traced.joint().partition().plan is not None


def test_around_a_function_that_no_graph_contains():
    keep = ja.compiler.disable(lambda x: x * 2)

    @functools.partial(ja.compile)
    def step(x, w):
        return keep(x @ w).add_(1).sum()

    w = empty(4, 4, requires_grad=True)
    step(empty(HUGE, 4), w).backward()
    assert w.grad.is_meta
    assert step(ja.ones(2, 4), ja.ones(4, 4)).item() == 72


def test_a_profile_is_that_of_tensors_with_values():
    def loss(w, x):
        return (x[1:] @ w).relu_().sum()

    rows = lambda w, x: [(r.op, r.flops, r.bytes, r.saved_bytes) for r in ja.estimate.profile(loss, w, x).rows]
    real = rows(ja.ones(4, 5, requires_grad=True), ja.ones(3, 4))
    assert rows(empty(4, 5, requires_grad=True), empty(3, 4)) == real and real


def test_modules_are_made_and_filled():
    with ja.device("meta"):
        model = ja.nn.Linear(3, 4)
    assert model(empty(HUGE, 3)).shape == (HUGE, 4) and model.weight.is_meta
    weights = ja.nn.Linear(3, 4).state_dict()
    with pytest.raises(ja.errors.NoValueError, match=r"device `meta`"):
        ja.zeros(4, 3).copy_(model.weight)
    model.load_state_dict(weights, assign=True)
    assert model(ja.ones(2, 3)).shape == (2, 4) and not model.weight.is_meta
    made = ja.nn.Linear(3, 4, device="meta").to_empty(device="cpu")
    assert not made.weight.is_meta and made.weight.requires_grad
