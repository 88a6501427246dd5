"""ja.compile: what a caller sees after a compiled call is what eager would have shown."""

from __future__ import annotations

import copy
import cProfile
import gc
import inspect
import logging
import pstats

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import some

F = ja.nn.functional


def scaled(x):
    return x * 2.0


def values(t):
    return np.asarray(t.detach().numpy())


def test_input_mutation_and_view_output():
    @ja.compile
    def fn(x):
        x[1:].add_(1)
        return x.view(-1), x

    x = ja.zeros(3, 2)
    flat, same = fn(x)
    assert same is x and flat.untyped_storage() is x.untyped_storage() and x._version == 1
    np.testing.assert_array_equal(values(x), [[0, 0], [1, 1], [1, 1]])
    flat[0] = 7
    assert x[0, 0].item() == 7


def test_second_call_hits_the_cache_and_sees_new_values():
    fn = ja.compile(lambda x: x.mul_(2))
    for n in (1.0, 3.0):
        assert values(fn(ja.full((2,), n))).tolist() == [2 * n] * 2
    assert fn.cache_info() == (1, 1, 1)


@pytest.mark.parametrize(
    "other",
    [
        lambda: (ja.zeros(5), 2),  # another shape
        lambda: (ja.zeros(4, dtype=ja.int32), 2),  # another dtype
        lambda: (ja.zeros(4), 3),  # another static number
        lambda: (ja.zeros(4, requires_grad=True) * 1, 2),  # requires grad
        lambda: (ja.zeros(4, 2)[:, 0], 2),  # another layout
    ],
)
def test_what_matters_compiles_again(other):
    fn = ja.compile(lambda x, n: x + n)
    fn(ja.zeros(4), 2)
    fn(*other())
    assert fn.cache_info().misses == 2
    fn(ja.ones(4), 2)
    assert fn.cache_info().misses == 2


def test_grad_mode_and_config_are_part_of_the_key():
    fn = ja.compile(lambda x: x * 2)
    x = ja.ones(3, requires_grad=True)
    assert fn(x).requires_grad
    with ja.no_grad():
        assert not fn(x).requires_grad
    with ja.config(policy="save_all"):
        fn(x)
    assert fn.cache_info().misses == 3


def test_floats_are_traced():
    fn = ja.compile(lambda x, s: x * s)
    assert [fn(ja.ones(1), s).item() for s in (2.0, 3.0)] == [2, 3]
    assert fn.cache_info().misses == 1


def test_alias_pattern_is_part_of_the_key():
    def fn(x, y):
        x.add_(1)
        return y * 2

    compiled = ja.compile(fn)
    a, b = ja.zeros(2), ja.zeros(2)
    assert values(compiled(a, b)).tolist() == [0, 0]
    assert values(compiled(a, a)).tolist() == [4, 4]  # y sees the write through x
    base = ja.zeros(4)
    assert values(compiled(base[:2], base[1:3])).tolist() == [2, 0]
    assert values(base).tolist() == [1, 1, 0, 0]
    assert compiled.cache_info().misses == 3


def test_graph_has_one_input_per_storage():
    base = ja.zeros(6)
    traced = ja.trace(lambda x, y: x.add_(y), base[:3], base[3:])
    assert len(traced.jaxpr.in_avals) == 1 and len(traced.signature.storages) == 1


class Model:
    def __init__(self):
        self.w = ja.tensor([1.0, 2.0, 3.0], requires_grad=True)
        self.calls = ja.zeros(())

    def __call__(self, x):
        self.calls.add_(1)
        return (x * self.w).sum()


def test_closed_over_tensors_are_inputs_found_by_path():
    model = Model()
    fn = ja.compile(lambda x: model(x))
    x = ja.ones(3)
    fn(x).backward()
    assert values(model.w.grad).tolist() == [1, 1, 1] and model.calls.item() == 1
    names = [s.name for s in fn.trace(x).signature.storages]
    assert names == ["model.calls", "model.w", "args[0]"]
    with ja.no_grad():
        model.w.mul_(10)
    assert fn(x).item() == 60
    model.w = ja.tensor([5.0, 5.0, 5.0], requires_grad=True)  # another tensor at the same path
    assert fn(x).item() == 15
    assert fn.cache_info().misses == 1


def test_unreachable_tensor_is_an_error():
    holder = logging.Filter()  # objects of such a library are not followed
    holder.w = ja.ones(2)
    fn = ja.compile(lambda x: holder.w + x, fullgraph=True)
    with pytest.raises(ja.errors.UnreachableTensorError, match="neither arguments nor reachable"):
        fn(ja.ones(2))


def test_a_tensor_is_kept_in_an_attribute():
    class Holder:
        last = None

    holder = Holder()

    def fn(x):
        holder.last = x * 2
        return x + 1

    compiled = ja.compile(fn)
    for n in (1, 2, 3):
        assert compiled(ja.ones(2) * n).tolist() == [n + 1, n + 1] and holder.last.tolist() == [2 * n, 2 * n]
    assert compiled.cache_info().misses <= 2


def test_an_error_inside_leaves_what_the_function_did():
    x = ja.zeros(2)

    def fn(x):
        x.add_(1)
        x.unsqueeze_(0)
        raise KeyError("stop")

    compiled = ja.compile(fn)
    with pytest.raises(KeyError):
        compiled(x)
    assert values(x).tolist() == [[1, 1]] and x._version == 2 and tuple(x.shape) == (1, 2)
    assert compiled.cache_info().currsize == 0


def test_branch_on_a_traced_value_names_the_line():
    def fn(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(ja.errors.ConcretizationError, match=r"if x.sum\(\) > 0"):
        ja.compile(fn, fullgraph=True)(ja.ones(2))


def test_metadata_mutations_never_reach_the_graph():
    def fn(x):
        x.t_()
        x.unsqueeze_(0)
        return None

    x = ja.zeros(2, 3)
    traced = ja.trace(fn, x)
    assert not traced.jaxpr.eqns
    assert ja.compile(fn)(x) is None
    assert tuple(x.shape) == (1, 3, 2) and x.stride() == (3, 1, 3)


def test_outputs_that_alias_each_other():
    def fn(x):
        y = x * 2
        return y, y.view(-1), y.detach()

    y, flat, cut = ja.compile(fn)(ja.ones(2, 2, requires_grad=True))
    assert y.untyped_storage() is flat.untyped_storage() is cut.untyped_storage()
    assert y.requires_grad and flat.requires_grad and not cut.requires_grad
    with ja.no_grad():
        flat.zero_()
    assert values(y).sum() == 0 and values(cut).sum() == 0


def test_writes_hidden_from_autograd_do_not_change_gradients():
    def fn(x):
        x.detach().mul_(2)
        with ja.no_grad():
            x.mul_(3)
        return (x * 5).sum()

    for run in (fn, ja.compile(fn)):
        leaf = ja.ones(2, requires_grad=True)
        x = leaf * 1
        out = run(x)
        assert out.item() == 60
        out.backward()
        assert values(leaf.grad).tolist() == [5, 5]


def test_donation_updates_in_place_and_spares_what_others_hold():
    fn = ja.compile(lambda x: x.add_(1))
    x = ja.zeros(1024)
    fn(x)
    mine = x.jax()
    fn(x)
    assert mine[0] == 1 and x[0].item() == 2  # an exported array is never deleted
    del mine
    before = x.untyped_storage().array.unsafe_buffer_pointer()
    fn(x)
    assert x.untyped_storage().array.unsafe_buffer_pointer() == before


def test_a_write_through_a_view_costs_the_view():
    def fn(cache, new):
        cache[:, 3:5].copy_(new)

    traced = ja.trace(fn, ja.zeros(8, 64, 16), ja.ones(8, 2, 16))
    (write,) = [e for e in traced.jaxpr.eqns if e.primitive.name in ("dynamic_update_slice", "scatter")]
    assert write.invars[1].aval.shape == (8, 2, 16)
    assert all(e.outvars[0].aval.size <= 8 * 2 * 16 for e in traced.jaxpr.eqns if e is not write)


def test_storage_resize_up_fill_use_and_down():
    def gather_use_free(param, shard):
        param.untyped_storage().resize_(16)
        param.copy_(shard)
        out = param * 2
        param.untyped_storage().resize_(0)
        return out

    param, shard = ja.zeros(4), ja.ones(4)
    param.untyped_storage().resize_(0)
    traced = ja.trace(gather_use_free, param, shard)
    assert not traced.alias.writes  # up and down again: nothing happened to it
    assert values(ja.compile(gather_use_free)(param, shard)).tolist() == [2] * 4
    assert param.untyped_storage().nbytes() == 0


def test_storage_resize_down_and_up_across_calls():
    down = ja.compile(lambda p: p.untyped_storage().resize_(0).nbytes())
    up = ja.compile(lambda p, s: (p.untyped_storage().resize_(16), p.copy_(s))[1])
    p = ja.ones(4)
    for _ in range(2):
        down(p)
        assert p.untyped_storage().nbytes() == 0 and p.untyped_storage().array is None
        with pytest.raises(ja.errors.StorageSizeError):
            p + 1
        up(p, ja.full((4,), 3.0))
        assert values(p).tolist() == [3] * 4
    assert down.cache_info().misses == up.cache_info().misses == 1


def test_random_numbers_are_those_of_eager():
    fn = lambda x: F.dropout(x, 0.5) + ja.rand(4)
    x = ja.ones(4)
    ja.manual_seed(3)
    eager = [values(fn(x)) for _ in range(3)]
    compiled_fn = ja.compile(fn)
    ja.manual_seed(3)
    compiled = [values(compiled_fn(x)) for _ in range(3)]
    np.testing.assert_array_equal(eager, compiled)
    traced = ja.trace(fn, x)
    assert traced.input_names[-2:] == ("seed 0", "offset 0")


def test_a_whole_training_step():
    def make():
        ja.manual_seed(0)
        params = [(ja.randn(4, 8) * 0.3).requires_grad_(), ja.zeros(8, requires_grad=True)]
        momentum = [ja.zeros_like(p) for p in params]

        def step(x, y, lr):
            for p in params:
                p.grad = None
            loss = ((F.dropout(x @ params[0] + params[1], 0.1, True) - y) ** 2).mean()
            loss.backward()
            with ja.no_grad():
                ja._foreach_mul_(momentum, 0.9)
                ja._foreach_add_(momentum, [p.grad for p in params])
                for p, m in zip(params, momentum, strict=True):
                    p.add_(m, alpha=-lr)
            return loss

        return params, step

    eager_params, eager = make()
    params, step = make()
    compiled = ja.compile(step)
    x, y = ja.randn(16, 4), ja.randn(16, 8)
    ja.manual_seed(1)
    expected = [eager(x, y, 0.1).item() for _ in range(4)]
    ja.manual_seed(1)
    actual = [compiled(x, y, 0.1).item() for _ in range(4)]
    np.testing.assert_allclose(actual, expected, rtol=1e-5)
    for p, e in zip(params, eager_params, strict=True):
        np.testing.assert_allclose(values(p), values(e), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(values(p.grad), values(e.grad), rtol=1e-4, atol=1e-6)
        assert p.is_leaf and p.requires_grad
    assert compiled.cache_info() == (3, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("policy", some(["min_cut", "save_nothing", "save_all", "save_matmuls"], 2))
def test_policies_agree_on_gradients(policy):
    def fn(x, w):
        h = F.gelu(x @ w)
        h[0].mul_(2)
        return F.dropout(h.softmax(-1), 0.3).sum() + h.tanh().sum()

    grads = []
    for run in (fn, ja.compile(fn, policy=policy)):
        ja.manual_seed(0)
        x, w = ja.randn(3, 4), ja.randn(4, 5, requires_grad=True)
        run(x, w).backward()
        grads.append(values(w.grad))
    np.testing.assert_allclose(grads[1], grads[0], rtol=1e-4, atol=1e-6)


def test_stages_chain():
    w = ja.randn(4, 4, requires_grad=True)
    traced = ja.trace(lambda x: (x @ w).tanh().sum(), ja.randn(2, 4))
    partition = traced.joint().partition()
    assert partition.saved and all(s.bytes > 0 and s.why for s in partition.saved)
    compiled = partition.compile()
    (out,) = compiled(*[ja.randn(*aval.shape).jax() for aval in traced.jaxpr.in_avals])
    assert out.shape == ()
    with pytest.raises(ja.errors.SignatureMismatchError, match="was traced for"):
        compiled(ja.ones(3).jax())
    assert compiled.memory_analysis()["forward"] is not None


def test_stages_of_a_plain_jax_function():
    import jax
    import jax.numpy as jnp

    traced = ja.trace(lambda w, x: jnp.tanh(x @ w).sum(), jnp.ones((4, 3)), jax.ShapeDtypeStruct((2, 4), jnp.float32))
    joint = traced.joint()
    assert joint.n_gradients == 1
    with pytest.raises(ja.errors.NotDifferentiableError):
        ja.trace(lambda n: n * 2, jnp.ones(3, jnp.int32)).joint()


def test_explain_shows_every_stage():
    w = ja.ones(3, requires_grad=True)
    text = str(ja.compile(lambda x: (x * w).sum()).explain(ja.ones(3)))
    assert all(f"# {stage}" in text for stage in ("signature", "traced", "joint", "partition"))
    assert "memory of partition" in text


def test_backward_twice_and_retain_graph():
    w = ja.ones(3, requires_grad=True)
    out = ja.compile(lambda x: (x * w).sin().sum())(ja.ones(3))
    out.backward(retain_graph=True)
    out.backward()
    np.testing.assert_allclose(values(w.grad), 2 * np.cos(np.ones(3)), rtol=1e-6)
    with pytest.raises(ja.errors.BackwardTwiceError, match="second time"):
        out.backward()


def test_compiled_inside_compiled_is_inlined():
    inner = ja.compile(lambda x: x.mul_(2))
    outer = ja.compile(lambda x: inner(x) + 1)
    x = ja.ones(2)
    assert values(outer(x)).tolist() == [3, 3] and values(x).tolist() == [2, 2]


def test_decorated_method():
    class Counter:
        def __init__(self):
            self.n = ja.zeros(())

        @ja.compile
        def bump(self, by):
            self.n.add_(by)
            return self.n * 1

    first, second = Counter(), Counter()
    assert [first.bump(2.0).item(), first.bump(2.0).item(), second.bump(1.0).item()] == [2, 4, 1]


@pytest.mark.slow
def test_functionalize_composes_with_jax():
    import jax
    import jax.numpy as jnp

    def fn(x):
        y = x * 2
        y[0].mul_(y[1])
        return y.sum()

    pure = ja.func.functionalize(fn)
    x = jnp.array([1.0, 2.0, 3.0])
    expected = jax.grad(lambda x: 4 * x[0] * x[1] + 2 * x[1] + 2 * x[2])(x)
    np.testing.assert_allclose(jax.jit(jax.grad(pure))(x), expected)
    np.testing.assert_allclose(jax.vmap(pure)(jnp.stack([x, x])), [18, 18])
    np.testing.assert_allclose(jax.hessian(pure)(x)[0], [0, 4, 0])


def test_a_leaf_without_bytes_is_filled_used_and_freed():
    def step(p, shard, x):
        with ja.no_grad():
            p.untyped_storage().resize_(16)
            p.copy_(shard)
        out = ((x @ p.view(2, 2)) ** 2).sum()
        p.untyped_storage().resize_(0)
        return out

    shard, x = ja.tensor([1.0, 2.0, 3.0, 4.0]), ja.tensor([[1.0, -1.0]])
    grads = []
    for run in (step, ja.compile(step)):
        p = ja.zeros(4, requires_grad=True)
        p.untyped_storage().resize_(0)

        def refill(grad, p=p):
            with ja.no_grad():
                p.untyped_storage().resize_(16)
                p.copy_(shard)

        for _ in range(2):
            out = run(p, shard, x)
            out.register_hook(refill)
            assert p.untyped_storage().nbytes() == 0
            out.backward()
            p.untyped_storage().resize_(0)
        grads.append(values(p.grad))
    np.testing.assert_allclose(grads[0], 2 * np.array([-4, -4, 4, 4]))
    np.testing.assert_allclose(grads[1], grads[0])


def test_copy_adds_no_equation():
    traced = ja.trace(lambda p, x: p.copy_(x) * 2, ja.zeros(4, 4), ja.ones(4, 4))
    assert [eqn.primitive.name for eqn in traced.jaxpr.eqns] == ["mul"]


def test_a_mask_may_be_assigned_to_in_a_trace():
    def fn(x, v):
        x[x > 1] = 0
        x[x[:, 0] < 0] = v
        return x

    rows, v = [[2.0, 0.5], [-1.0, 3.0]], [7.0, 8.0]
    assert (
        values(ja.compile(fn)(ja.tensor(rows), ja.tensor(v))).tolist()
        == values(fn(ja.tensor(rows), ja.tensor(v))).tolist()
    )


def test_a_number_before_a_traced_float():
    fn = ja.compile(lambda x, rate: x * (1 - rate))
    assert fn(ja.ones(1), 0.25).item() == 0.75


@pytest.mark.slow
def test_compiled_calls_free_what_they_made():
    fn = ja.compile(lambda x, w: (x @ w).relu().sum())
    x, w = ja.ones(4, 4), ja.ones(4, 4, requires_grad=True)
    fn(x, w).backward()
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(200):
            w.grad = None
            fn(x, w).backward()
        assert len(gc.get_objects()) - before < 50
    finally:
        gc.enable()


def test_plain_values_that_the_function_may_have_read_are_guarded():
    class Layer:
        def __init__(self):
            self.w = ja.ones(2, requires_grad=True)
            self.training = True

        def __call__(self, x):
            return x * self.w * (10 if self.training else 1)

    layer, scale = Layer(), 1
    fn = ja.compile(lambda x: layer(x) * scale)
    x = ja.ones(2)
    assert fn(x).tolist() == [10, 10]
    layer.training = False
    assert fn(x).tolist() == [1, 1]
    scale = 3
    assert fn(x).tolist() == [3, 3]
    layer.training, scale = True, 1
    assert fn(x).tolist() == [10, 10] and fn.cache_info().misses == 3


def test_a_python_counter_does_not_recompile():
    class Counting:
        def __init__(self):
            self.w, self.n = ja.ones(2), 0

        def __call__(self, x):
            self.n += 1
            return x * self.w

    model = Counting()
    fn = ja.compile(lambda x: model(x))
    for _ in range(3):
        fn(ja.ones(2))
    assert fn.cache_info().misses == 1


def test_a_pure_function_within_a_compiled_one_bakes_nothing_in():
    w = ja.ones(2)
    inner = ja.func.functionalize(lambda a: a * w + ja.rand(2))
    fn = ja.compile(lambda x: inner(x.jax()) + (ja.rand(2) * w).jax())

    def seen(call):
        ja.manual_seed(3)
        return np.asarray(call(ja.ones(2))).tolist(), ja.default_generator.offset

    eager = lambda x: inner(x.jax()) + (ja.rand(2) * w).jax()
    assert seen(fn) == seen(eager) and seen(fn)[1] == 2
    w.mul_(5)
    assert seen(fn) == seen(eager)
    assert fn.cache_info().misses == 1


def test_the_signature_is_that_of_the_function():
    def multiplied(x, *, n=2):
        return x * n

    assert inspect.getfullargspec(ja.compile(multiplied)) == inspect.getfullargspec(multiplied)
    assert inspect.signature(ja.compile(multiplied), follow_wrapped=False) == inspect.signature(multiplied)


def test_a_deep_copy_of_an_object_with_a_compiled_method():
    class Counter:
        def __init__(self):
            self.count = ja.zeros(2)
            self.step = ja.compile(self.add)
            self.scaled = ja.compile(scaled)

        def add(self, k):
            self.count.add_(k)
            return self.count.sum()

    counter = Counter()
    assert counter.step(1).item() == 2.0 and counter.scaled(counter.count).tolist() == [2.0, 2.0]
    other = copy.deepcopy(counter)
    assert other.step(2).item() == 6.0 and other.scaled(other.count).tolist() == [6.0, 6.0]
    assert counter.count.tolist() == [1.0, 1.0] and copy.copy(counter.step)(1).item() == 4.0
    assert other.step.cache_info().misses == 1 and other.scaled.cache_info().misses == 1


@pytest.mark.slow
def test_an_index_that_the_function_reaches():
    table, index = ja.arange(12.0).reshape(4, 3), ja.tensor([2, 0])
    fn = ja.compile(lambda: table[index])
    assert fn().tolist() == table[index].tolist()
    index.add_(1)
    assert fn().tolist() == table[index].tolist()


def test_a_function_is_traced_under_a_profiler_of_c():
    profiler, compiled = cProfile.Profile(), ja.compile(lambda x: x * 2)
    with profiler:
        assert compiled(ja.ones(2)).tolist() == [2, 2]
        sorted([2, 1])
    assert any("sorted" in name for _, _, name in pstats.Stats(profiler).stats)
