"""Hooks on saved tensors around compiled calls: inside the graphs where they can be traced, else between them."""

from __future__ import annotations

import gc
import random
import weakref

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.plan.saved import FromOutput, FromPrimal
from tests.seeds import seeds

hooks = ja.autograd.graph.saved_tensors_hooks
SAME = (lambda x: x, lambda x: x)


def to_float8_by_hand(x):
    return x.dtype, np.asarray(x.numpy()).astype(ja.float8_e4m3fn)


def from_float8_by_hand(packed):
    dtype, x = packed
    return ja.tensor(x.astype(np.float32)).to(dtype)


def to_float8(x):
    return x.dtype, x.to(ja.float8_e4m3fn)


def from_float8(packed):
    dtype, x = packed
    return x.to(dtype)


def halve(x):
    return x.to(ja.bfloat16)


def widen(x):
    return x.to(ja.float32)


def halve_by_hand(x):
    return x.numpy().astype(ja.bfloat16)  # asks for values, so no graph can do it


def widen_by_hand(x):
    return ja.tensor(x.astype(np.float32))


def weight():
    return (ja.randn(8, 8) * 0.3).requires_grad_()


def close(first, second, tolerance):
    """Whether arrays differ by no more than that share of the largest element."""
    return all(np.abs(a - b).max() <= tolerance * np.abs(a).max() for a, b in zip(first, second, strict=True))


def network(n=3, activation="tanh"):
    weights = [weight() for _ in range(n)]

    def run(x):
        for w in weights:
            x = getattr(x @ w, activation)()
        return x.sum()

    return run, weights


def gradients(fn, weights, *args):
    for w in weights:
        w.grad = None
    fn(*args).backward()
    return [w.grad.numpy().copy() for w in weights]


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


# -- in the graphs -----------------------------------------------------------------------------------------------------


def test_the_example_of_the_design():
    """The forward returns float8 in place of what was saved, and the backward begins by widening it."""

    def fn(x):
        return x.exp().view(-1)

    x = ja.rand(4, 6, requires_grad=True)
    joint = ja.trace(fn, x).joint()
    plain = joint.partition("save_all")
    with hooks(to_float8, from_float8):
        packed = joint.partition("save_all")
    assert [str(aval) for aval in packed.forward.out_avals] == ["float32[4,6]", "float8_e4m3fn[4,6]"]
    assert [str(aval) for aval in packed.backward.in_avals] == ["float8_e4m3fn[4,6]", "float32[4,6]"]
    assert "convert_element_type" in names(packed.backward)[:2]
    assert packed.saved_bytes * 4 == plain.saved_bytes == 96
    (value,) = packed.saved
    assert (value.dtype, value.bytes, value.packed_from) == ("float8_e4m3fn", 24, "f32[4,6]")
    assert "packed from f32[4,6]" in str(packed)
    with hooks(to_float8, from_float8):
        ja.compile(fn)(x).sum().backward()
    assert np.allclose(x.grad.numpy(), np.asarray(x.detach().exp().to(ja.float8_e4m3fn).to(ja.float32).numpy()))


@pytest.mark.slow
def test_each_residual_is_traced_with_its_own_type():
    seen = []

    def pack(x):
        seen.append((tuple(x.shape), str(x.dtype)))
        return x

    w, half = ja.rand(3, 5, requires_grad=True), ja.rand(3, 5, dtype=ja.bfloat16, requires_grad=True)
    fn = ja.compile(lambda x: (x @ w).exp().sum() + (x.to(ja.bfloat16) @ half @ half.T).sum(), policy="save_all")
    with hooks(pack, lambda x: x):
        fn(ja.rand(2, 3)).backward()
    assert ((2, 5), "float32") in seen and ((2, 5), "bfloat16") in seen
    n = len(seen)
    with hooks(pack, SAME[1]):
        assert len(seen) == n


@pytest.mark.slow
def test_control_flow_in_a_hook_is_decided_for_each_type():
    def pack(x):
        return (True, x.to(ja.bfloat16)) if x.dtype == ja.float32 and x.numel() > 50 else (False, x)

    def unpack(packed):
        is_small, x = packed
        return x.to(ja.float32) if is_small else x

    w, v = weight(), ja.rand(8, requires_grad=True)
    fn = lambda x: ((x @ w).exp().sum(0) * v.exp()).tanh().sum()
    x = ja.rand(8, 8)
    with hooks(pack, unpack):
        saved = ja.trace(fn, x).joint().partition("save_all").saved
    assert {(value.dtype, len(value.shape)) for value in saved} == {("bfloat16", 2), ("float32", 1)}
    plain = gradients(fn, [w, v], x)
    with hooks(pack, unpack):
        packed = gradients(ja.compile(fn, policy="save_all"), [w, v], x)
    assert close(plain, packed, 0.02)


def test_packing_comes_right_behind_the_last_use_and_unpacking_right_before_the_first():
    run, _ = network(4, "exp")  # which is its own derivative
    with hooks(halve, widen):
        partition = ja.trace(run, ja.rand(2, 8)).joint().partition()
    forward, eqns = names(partition.forward), partition.backward.jaxpr.eqns
    layer, end = ["dot_general", "convert_element_type", "exp"], ["reduce_sum", "convert_element_type"]
    assert forward == ["dot_general", "exp", *layer, *layer, *layer, *end]
    unpacks = [i for i, eqn in enumerate(eqns) if eqn.primitive.name == "convert_element_type"]
    assert len(unpacks) == 4 and all(eqns[i].outvars[0] in eqns[i + 1].invars for i in unpacks)


def test_the_forward_goes_on_when_something_large_was_packed():
    run, _ = network(3, "exp")
    with hooks(halve, widen):
        partition = ja.trace(run, ja.rand(256, 8)).joint().partition()
    forward = partition.forward.jaxpr.eqns
    barriers = [i for i, eqn in enumerate(forward) if eqn.primitive.name == "optimization_barrier"]
    assert len(barriers) == 2
    for i in barriers:
        assert forward[i - 1].primitive.name == "convert_element_type"
        assert forward[i - 1].outvars[0] is forward[i].invars[0] and forward[i].outvars[1] in forward[i + 1].invars
        assert forward[i].outvars[0] in partition.forward.jaxpr.outvars


def test_unpacking_is_held_back_until_its_cotangent_is_there():
    run, _ = network(6)
    with hooks(halve, widen):
        compiled = ja.trace(run, ja.rand(256, 8)).joint().partition().compile()
    assert compiled.backward.as_text().count("optimization_barrier") >= 5  # the last layer has its at once


@pytest.mark.slow
def test_peaks_are_lower_than_with_hooks_that_run_at_the_same_time():
    weights = [(ja.randn(64, 64) * 0.1).requires_grad_() for _ in range(8)]

    def run(x):
        for w in weights:
            x = (x @ w).tanh()
        return x.sum()

    joint = ja.trace(run, ja.rand(1024, 64)).joint()

    def peaks(pair):
        with hooks(*pair):
            partition = joint.partition("save_all")
        memory = partition.compile().memory_analysis()
        forward, backward = memory["forward"], memory["backward"]
        kept = partition.plan.extra_bytes
        return forward.temp_size_in_bytes + forward.output_size_in_bytes, backward.temp_size_in_bytes + kept, kept

    forward, backward, kept = peaks((to_float8, from_float8))
    plain_forward, plain_backward, plain_kept = peaks(SAME)
    assert kept * 4 == plain_kept
    assert forward < plain_forward / 2 and backward < plain_backward / 2
    # the same hooks between the graphs: all that is packed leaves the forward first
    by_hand_forward, by_hand_backward, by_hand_kept = peaks((to_float8_by_hand, from_float8_by_hand))
    assert by_hand_kept == plain_kept
    assert forward < by_hand_forward / 2 and backward < by_hand_backward / 2


@pytest.mark.slow
def test_numbers_are_those_of_hooks_that_run_eagerly():
    run, weights = network()
    x = ja.rand(4, 8)
    traced, between = ja.compile(run), ja.compile(run)
    with hooks(halve, widen):
        first = gradients(traced, weights, x)
    with hooks(halve_by_hand, widen_by_hand):
        second = gradients(between, weights, x)
        loss = between(x)
        partition = ja.trace(run, x).joint().partition()
    assert close(first, second, 1e-6)
    assert partition.plan.packed_between and "cannot be traced" in str(partition.plan)
    loss.backward(retain_graph=True)
    loss.backward()


def test_changing_the_hooks_compiles_once():
    run, _ = network(1)
    fn, x = ja.compile(run), ja.rand(2, 8)
    fn(x)
    for _ in range(3):
        with hooks(halve, widen):
            fn(x).backward()
        with hooks(to_float8, from_float8):
            fn(x).backward()
        fn(x).backward()
    assert fn.cache_info().misses == 3
    reasons = [str(record) for record in fn.explain_recompiles()]
    assert any("hooks on saved tensors are (halve, widen) instead of none" in reason for reason in reasons)
    with ja.no_grad():
        fn(x)
        with hooks(halve, widen):
            fn(x)
    assert fn.cache_info().misses == 4, "where nothing is saved the hooks do not matter"


def test_functions_with_one_hash_are_one_pair():
    def pair():
        pack, unpack = (lambda x: x.to(ja.bfloat16)), (lambda x: x.to(ja.float32))
        pack.user_cache_hash, unpack.user_cache_hash = "to half", "from half"
        return pack, unpack

    run, _ = network(1)
    fn, x = ja.compile(run), ja.rand(2, 8)
    for _ in range(3):
        with hooks(*pair()):
            fn(x).backward()
    assert fn.cache_info().misses == 1


def test_functions_without_a_hash_that_are_made_anew_are_counted_and_named():
    run, _ = network(1)
    fn, x = ja.compile(run), ja.rand(2, 8)
    for _ in range(3):
        with hooks(lambda t: t.to(ja.bfloat16), lambda t: t.to(ja.float32)):
            fn(x).backward()
    assert fn.cache_info()[:2] == (0, 3), "each pair has a program of its own, and none is taken for another's"
    reasons = [str(record) for record in fn.explain_recompiles()]
    assert len(reasons) == 2 and all("an equal `user_cache_hash` attribute" in reason for reason in reasons)


def test_inputs_are_packed_where_that_is_asked_for():
    run, _ = network(2)
    x = ja.rand(4, 8)
    joint = ja.trace(run, x).joint()
    with hooks(halve, widen):
        some = joint.partition()
    with hooks(halve, widen, inputs=True):
        all_ = joint.partition()
    assert any(isinstance(s, FromPrimal) for s in some.plan.residuals)
    assert not any(isinstance(s, FromPrimal) for s in all_.plan.residuals)
    assert {value.dtype for value in all_.saved} == {"bfloat16"}


def test_a_hook_that_changes_nothing_changes_nothing():
    def fn(x):
        return x.exp(), x

    joint = ja.trace(fn, ja.rand(3, requires_grad=True)).joint()
    plain = joint.partition()
    with hooks(*SAME, inputs=True):
        same = joint.partition()
    assert any(isinstance(source, FromOutput) for source in plain.plan.residuals)
    assert same.plan.residuals == plain.plan.residuals and names(same.forward) == names(plain.forward)


def test_a_hook_may_keep_several_arrays_or_views():
    def pack(x):
        scale = x.abs().max()
        return {"scale": scale, "values": (x / scale).to(ja.bfloat16).reshape(-1), "size": tuple(x.shape)}

    def unpack(kept):
        return kept["values"].reshape(kept["size"]).to(ja.float32) * kept["scale"]

    run, weights = network(2)
    x = ja.rand(4, 8)
    plain = gradients(run, weights, x)
    with hooks(pack, unpack):
        packed = gradients(ja.compile(run), weights, x)
        saved = ja.trace(run, x).joint().partition().saved
    assert close(plain, packed, 0.02)
    assert [value.shape for value in saved if value.name.endswith(".0")] == [()] * (len(saved) // 2)


def test_several_backwards_unpack_each_time():
    run, weights = network(2)
    x = ja.rand(4, 8)
    for pair in ((halve, widen), (halve_by_hand, widen_by_hand)):
        with hooks(*pair):
            loss = ja.compile(run)(x)
        for w in weights:
            w.grad = None
        loss.backward(retain_graph=True)
        once = [w.grad.numpy().copy() for w in weights]
        loss.backward()
        assert all(np.allclose(2 * a, w.grad.numpy()) for a, w in zip(once, weights, strict=True))
        with pytest.raises(errors.BackwardTwiceError):
            loss.backward()


# -- what cannot be in the graphs --------------------------------------------------------------------------------------


def test_a_hook_that_reads_another_tensor_sees_what_it_is_at_each_call():
    scale = ja.tensor(1.0)
    run, weights = network(1)
    fn, x = ja.compile(run), ja.rand(4, 8)
    with hooks(lambda t: t * scale, lambda t: t):
        once = gradients(fn, weights, x)
        scale.fill_(2.0)
        twice = gradients(fn, weights, x)
    with hooks(lambda t: t * 2.0, lambda t: t):
        expected = gradients(ja.compile(run), weights, x)
    assert not np.allclose(once[0], twice[0]) and np.allclose(twice[0], expected[0], rtol=1e-5)


def test_a_random_hook_draws_anew_at_each_call():
    run, weights = network(1)
    fn, x = ja.compile(run), ja.rand(4, 8)
    with hooks(lambda t: t + ja.rand_like(t), lambda t: t):
        assert not np.allclose(gradients(fn, weights, x)[0], gradients(fn, weights, x)[0])


def test_a_hook_that_keeps_its_tensors_elsewhere():
    store = {}

    def pack(x):
        store[len(store)] = x
        return len(store) - 1

    run, weights = network(2)
    x = ja.rand(4, 8)
    plain = gradients(run, weights, x)
    with hooks(pack, lambda key: store[key]):
        kept = gradients(ja.compile(run), weights, x)
    assert close(plain, kept, 1e-5)


def test_errors_of_hooks_are_those_of_eager_hooks():
    run, weights = network(1)
    x = ja.rand(4, 8)
    before = weights[0].detach().numpy().copy()
    fn = ja.compile(run)
    with hooks(lambda t: t.mul_(2), SAME[1]), pytest.raises(errors.PackHookWroteError, match="its input in place"):
        fn(x)
    assert fn.cache_info().currsize == 0 and np.array_equal(weights[0].detach().numpy(), before)
    for unpack, error in ((lambda t: t[:1], errors.ShapeMismatchError), (lambda t: 1, TypeError)):
        with hooks(lambda t: t, unpack):
            loss = fn(x)
        with pytest.raises(error, match="Output of saved tensor unpack_hook expected"):
            loss.backward()


# -- with everything else ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_inside_a_compiled_function_they_concern_what_is_computed_there():
    """The innermost pair counts, before one around the call; what cannot be traced runs between the graphs."""
    weights = [weight() for _ in range(5)]

    def run(x):
        x = (x @ weights[0]).tanh()
        with hooks(halve, widen):
            x = (x @ weights[1]).tanh()
            with hooks(halve_by_hand, widen_by_hand):
                x = (x @ weights[2]).tanh()
            x = (x @ weights[3]).tanh()
        return (x @ weights[4]).tanh().sum()

    x = ja.rand(32, 8)
    joint = ja.trace(run, x).joint()
    partition = joint.partition()
    assert [value.dtype for value in partition.saved] == ["float32", "bfloat16", "float32", "bfloat16", "float32"]
    assert len(partition.plan.packed_between) == 1
    with hooks(to_float8, from_float8):
        both = joint.partition()
    dtypes = [value.dtype for value in both.saved]
    assert dtypes == ["float8_e4m3fn", "bfloat16", "float32", "bfloat16", "float8_e4m3fn"]
    plain = gradients(run, weights, x)
    fn = ja.compile(run)
    inner = gradients(fn, weights, x)
    assert close(plain, inner, 0.02) and not np.array_equal(plain[0], inner[0])
    with hooks(to_float8, from_float8):
        outer = gradients(fn, weights, x)
        aot = gradients(ja.aot.aot_function(run, "interpret"), weights, x)
    assert close(plain, outer, 0.2) and not np.array_equal(inner[4], outer[4])
    assert close(plain, aot, 0.2)


def test_under_aot_function():
    w = weight()
    fn = ja.aot.aot_function(lambda x, w: (x @ w).tanh().sum(), "interpret")
    x = ja.rand(4, 8)
    plain = gradients(lambda: fn(x, w), [w])
    with hooks(to_float8, from_float8):
        packed = gradients(lambda: fn(x, w), [w])
    assert not np.array_equal(plain[0], packed[0]) and close(plain, packed, 0.1)


@pytest.mark.slow
def test_in_a_function_with_a_loop_and_writes():
    w = weight()

    def fn(x, cache):
        def iteration(carry, _):
            return (carry @ w).tanh(), carry.sum()

        x, sums = ja.scan(iteration, x, ja.zeros(5))
        cache.add_(x.detach())
        return (x * sums.sum()).sum()

    x = ja.rand(4, 8)
    for pair in ((halve, widen), (halve_by_hand, widen_by_hand)):
        eager, cache = ja.zeros(4, 8), ja.zeros(4, 8)
        plain = gradients(lambda fn=fn, c=eager: fn(x, c), [w])
        with hooks(*pair):
            packed = gradients(lambda c=cache: ja.compile(fn)(x, c), [w])
        assert close(plain, packed, 0.02)
        assert np.allclose(eager.numpy(), cache.numpy(), rtol=1e-5)


def test_with_segments():
    w = weight()

    def fn(x):
        h = (x @ w).tanh()
        return h.exp().sum() if h.sum() > 0 else h.sin().sum()

    x = ja.rand(4, 8)
    plain = gradients(lambda: fn(x), [w])
    compiled = ja.compile(fn)
    for pair in ((halve, widen), (halve_by_hand, widen_by_hand)):
        with hooks(*pair):
            packed = gradients(lambda: compiled(x), [w])
        assert close(plain, packed, 0.02)
    assert np.allclose(plain[0], gradients(lambda: compiled(x), [w])[0], rtol=1e-5)


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_random_networks(seed):
    """Traced hooks and hooks between the graphs give the same numbers, whatever the policy saves."""
    rng = random.Random(seed)
    weights = [ja.rand(6, 6, requires_grad=True) for _ in range(3)]
    kinds = ["exp", "tanh", "sin", "relu", "mul", "inplace", "view", "matmul"]
    steps = [(rng.choice(kinds), rng.randrange(3)) for _ in range(8)]

    def fn(x):
        pool = [x]
        for name, i in steps:
            h = pool[-1]
            match name:
                case "mul":
                    h = h * pool[i % len(pool)]
                case "inplace":
                    h = (h * 1.0).sin_()
                case "view":
                    h = h.t().contiguous().t()
                case "matmul":
                    h = h @ weights[i] * 0.1
                case _:
                    h = getattr(ja, name)(h * 0.3)
            pool.append(h)
        return (h @ weights[0] @ weights[1] @ weights[2]).sum(), pool[len(pool) // 2]

    x = ja.rand(6, 6)
    loss = lambda fn: lambda: fn(x)[0]
    policy = rng.choice(["min_cut", "save_all"])
    plain = gradients(loss(fn), weights)
    unchanged = []
    for pair in ((halve, widen), (halve_by_hand, widen_by_hand)):
        with hooks(*pair):
            unchanged.append(gradients(loss(ja.compile(fn, policy=policy)), weights))
    with hooks(*SAME, inputs=rng.random() < 0.5):
        same = gradients(loss(ja.compile(fn, policy=policy)), weights)
    for a, b, c, d in zip(plain, *unchanged, same, strict=True):
        assert np.allclose(a, d, rtol=1e-4, atol=1e-5)
        assert np.allclose(b, c, rtol=1e-4, atol=1e-5) and np.allclose(a, b, rtol=0.1, atol=0.1)


class Kept:
    """Hooks on saved tensors that are an object, which lives until nobody needs it."""

    def pack(self, x):
        return x.numpy() if not x._is_without_values else x + 1

    def unpack(self, packed):
        return ja.tensor(packed) if isinstance(packed, np.ndarray) else packed - 1


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("compiled", [False, True])
def test_the_hooks_of_a_call_are_gone_when_its_backward_is_done(compiled):
    w, held = ja.ones(3, requires_grad=True), Kept()
    fn = lambda x: ((x * w).sin() * w).sum()
    fn = ja.compile(fn) if compiled else fn
    alive = weakref.ref(held)
    with hooks(held.pack, held.unpack):
        out = fn(ja.ones(3))
    del held, fn
    out.backward(retain_graph=True)
    gc.collect()
    assert alive() is not None
    out.backward()
    gc.collect()
    assert alive() is None and out.grad_fn is not None
    with pytest.raises(RuntimeError, match="second time"):
        out.backward()


@pytest.mark.few(1)
@pytest.mark.parametrize("anomaly", [False, True])
def test_what_the_nodes_of_a_call_hold_is_gone_when_its_backward_is_done(anomaly):
    class Closed:
        factor = 2.0

    closed, w = Closed(), ja.ones(3, requires_grad=True)
    alive = weakref.ref(closed)
    with ja.autograd.set_detect_anomaly(anomaly):
        out = ja.compile(lambda x, closed=closed: (x * w * closed.factor).sum())(ja.ones(3))
        del closed
        out.backward()
    gc.collect()
    assert alive() is None and w.grad.tolist() == [2, 2, 2]
