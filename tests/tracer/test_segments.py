"""`ja.compile(fn)`: Python asks for values, and what comes out is what eager gives."""

from __future__ import annotations

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
import jaxaot.runtime.segment_builder as segment_builder
from jaxaot.errors import ConcretizationError, RecompileWarning
from tests.seeds import some

F = ja.nn.functional


def compiled(fn, **options):
    return ja.compile(fn, **options)


def values(result):
    """Returns the values of a nest of tensors and numbers."""
    leaves = jax.tree.leaves(result, is_leaf=lambda x: isinstance(x, ja.Tensor))
    return [np.asarray(leaf.detach().numpy()) if isinstance(leaf, ja.Tensor) else leaf for leaf in leaves]


def same(fn, *args, run=None):
    """Checks that a compiled function gives what the function itself gives, on equal random numbers."""
    run = fn if run is None else run
    generator = ja.get_rng_state()
    expected = values(run.fn(*args))
    after = ja.get_rng_state()
    ja.set_rng_state(generator)
    actual = values(run(*args))
    assert ja.get_rng_state() == after
    assert len(expected) == len(actual)
    for e, a in zip(expected, actual, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
    return actual


def counted():
    """Returns an op whose every execution is noted, and the notes."""
    notes = []

    def note(x):
        notes.append(1)
        return x

    def op(x):
        array = x.jax()
        return ja.interop.from_jax(jax.pure_callback(note, jax.ShapeDtypeStruct(array.shape, array.dtype), array))

    return op, notes


# -- branches and loops ------------------------------------------------------------------------------------------------


def test_a_branch_both_ways():
    @compiled
    def fn(x):
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return (y - 1).sin() * y

    for sign in (1, -1, 1, -1):
        same(fn, ja.full((3,), float(sign)))
    assert fn.cache_info() == (2, 2, 2)
    assert "if y.sum() > 0: is False instead of True" in repr(fn.explain_recompiles())


def test_what_has_to_be_one_graph_is_an_error():
    with pytest.raises(ConcretizationError):
        ja.compile(lambda x: x if x.sum() > 0 else -x, fullgraph=True)(ja.ones(2))


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "ask",
    [
        lambda x: int(x.sum()),
        lambda x: float(x.max()),
        lambda x: x.sum().item(),
        lambda x: len(x.tolist()),
        lambda x: x.numpy()[0].item(),
        lambda x: np.asarray(x).sum().item(),
        lambda x: bool((x > 0).all()),
        lambda x: range(10)[x[0].int()],
        lambda x: 1 if 1.0 in x else 2,
        lambda x: int(ja.is_nonzero(x[1])),
    ],
)
def test_every_way_to_ask(ask):
    fn = compiled(lambda x: (x * ask(x)).cumsum(0))
    for _ in range(2):
        same(fn, ja.tensor([1.0, 2.0, 3.0]))
    assert fn.cache_info() == (1, 1, 1)


@pytest.mark.slow
def test_a_loop_until_convergence():
    @compiled
    def root(x):
        n = 0
        while ((x * x - 2).abs() > 1e-4).item():
            x = x - (x * x - 2) / (2 * x)
            n += 1
        return x, n

    steps = [same(root, ja.tensor(v))[1] for v in (1.0, 3.0, 50.0, 1.0, 50.0)]
    assert len(set(steps)) == 3 and root.cache_info() == (2, 3, 3)


def test_several_values_and_a_repeated_question():
    @compiled
    def fn(x):
        total = x.sum()
        n = int(total.int()) % 3
        y = x * n
        if total > 2 and total > 1:
            y = y + total
        k = int(y.argmax())
        return y[k:], total.item()

    for x in ([1.0, 2.0], [0.5, 0.5], [1.0, 2.0]):
        same(fn, ja.tensor(x))
    assert fn.cache_info() == (1, 2, 2)


def test_a_value_on_the_way_to_another_one_is_asked_for_later():
    @compiled
    def fn(x):
        total = x.sum()
        if total * 2 > 3 and total.item() > 1:
            return x * total, total.item()
        return x

    for v in (1.0, 0.1, 2.0, 1.0):
        same(fn, ja.full((2,), v))
    assert fn.cache_info() == (2, 2, 2)


@pytest.mark.parametrize(
    ("dtype", "limit"), [(ja.uint8, -1), (ja.int8, 200), (ja.int32, 2.5), (ja.float16, 1e6), (ja.float32, 0.1)]
)
def test_a_limit_that_the_dtype_lacks_is_compared_as_by_python(dtype, limit):
    def above(x):
        n = x.sum().to(dtype).item()
        return [n > limit, n >= limit, limit > n, limit >= n, n == limit].index(True)

    fn = compiled(above)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for value in (0.0, 1.0, 2.0, 3.0, 0.1):
            assert fn(ja.tensor([value])) == above(ja.tensor([value]))
    assert {one.category for one in said} <= {RecompileWarning}
    assert not any("ran eagerly" in str(one.message) for one in said)


def test_what_a_comparison_gave_is_compared_again():
    def both(x):
        is_more = x.sum().item() > 1
        return is_more == 1, is_more > 0, is_more >= 1, is_more != 0

    fn = compiled(both)
    for value in (0.0, 3.0):
        assert fn(ja.tensor([value])) == both(ja.tensor([value]))
    assert fn.cache_info().currsize == 1


def test_a_traced_float_and_a_constant_may_be_asked_for():
    @compiled
    def fn(x, rate):
        if rate > 0.5 and ja.zeros(2).sum() == 0:
            return x * rate
        return x

    for rate, wanted in ((0.7, 0.7), (0.2, 1.0), (ja.tensor(0.7), 0.7)):
        (actual,) = same(fn, ja.ones(2), rate)
        assert np.allclose(actual, wanted)


@pytest.mark.slow
def test_shapes_that_depend_on_values():
    @compiled
    def fn(x):
        places = x.nonzero()
        return places, x[x > 1], ja.masked_select(x, x > 0).sum(), x.unique().flip(0)

    for x in ([0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]):
        places, _, total, unique = same(fn, ja.tensor(x))
        assert len(places) == np.count_nonzero(x) and total == sum(x) and unique.tolist() == sorted(set(x))[::-1]


@pytest.mark.slow
def test_the_number_of_selected_elements_is_all_that_is_asked_for():
    fn = compiled(lambda x: (x.nonzero(), x[x > 1].reshape(-1, 1)))
    same(fn, ja.tensor([0.0, 1.0, 2.0]))
    same(fn, ja.tensor([3.0, 0.0, 1.0]))  # other places, equally many
    assert fn.cache_info() == (1, 1, 1)
    same(fn, ja.tensor([3.0, 2.0, 1.0]))
    assert fn.cache_info() == (1, 2, 2)


# -- writes ------------------------------------------------------------------------------------------------------------


def test_writes_before_and_after_a_break():
    def make():
        cache = ja.zeros(4)

        def fn(x):
            cache[1:].add_(x)
            x.mul_(2)
            if cache.sum() > 10:
                cache.zero_()
                x.t_() if x.ndim == 2 else x.unsqueeze_(0)
            cache[0] += 1
            return cache.view(2, 2), x

        return cache, fn

    (cache, eager), (held, body) = make(), make()
    fn = compiled(body)
    for n in range(8):
        x, y = ja.full((3,), float(n)), ja.full((3,), float(n))
        expected, actual = eager(x), fn(y)
        assert [v.tolist() for v in values(expected)] == [v.tolist() for v in values(actual)]
        assert cache.tolist() == held.tolist() and cache._version == held._version
        assert actual[1] is y and actual[0].untyped_storage() is held.untyped_storage()
        assert x.shape == y.shape and x._version == y._version
    assert fn.cache_info() == (6, 2, 2)


def test_what_was_done_before_python_raises_is_done_once():
    x, generator = ja.zeros(2), ja.Generator()

    @compiled
    def fn(x):
        x.add_(1)
        ja.rand(2, generator=generator)
        if x.sum() > 1:
            x.unsqueeze_(0)
            raise KeyError("stop")
        return x

    for _ in range(2):
        with pytest.raises(KeyError):
            fn(x)
    assert x.tolist() == [[[2, 2]]] and x._version == 4 and generator.offset == 2
    assert fn.cache_info() == (0, 0, 0)
    assert fn(ja.full((2,), -5.0)).tolist() == [-4, -4] and generator.offset == 3


def test_a_bare_except_around_a_break_changes_nothing():
    @compiled
    def fn(x):
        try:
            positive = bool(x.sum() > 0)
        except:  # noqa: E722
            positive = bool(x.max() > 5)
        return x * 2 if positive else x * 3

    for x, wanted in ((ja.ones(2), [2, 2]), (-ja.ones(2), [-3, -3])):
        (actual,) = same(fn, x)
        assert actual.tolist() == wanted


def test_a_written_buffer_is_reused_where_it_is_written_last():
    @compiled
    def fn(x, y):
        if y.sum() > 0:
            x.add_(y)

    x, y = ja.zeros(1024), ja.ones(1024)
    fn(x, y), fn(x, y)
    before = x.untyped_storage().array.unsafe_buffer_pointer()
    fn(x, y)
    assert x.untyped_storage().array.unsafe_buffer_pointer() == before and x[0].item() == 3


# -- gradients ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("policy", some(["min_cut", "save_all", "save_nothing"], 1))
def test_gradients_through_all_segments(policy):
    def body(x, w):
        h = (x @ w).tanh()
        if h.sum() > 0:
            h = h * w.sum(0)
        scale = float(h.abs().max())
        h = (h / scale).exp()
        h[0].mul_(2)
        while h.detach().sum() > 5:
            h = h * 0.5
        return h.sum(), (h * h).mean()

    fn = compiled(body, policy=policy)
    for seed in (0, 1, 0):
        gradients = []
        for run in (body, fn):
            ja.manual_seed(seed)
            x, w = ja.randn(3, 4), ja.randn(4, 5, requires_grad=True)
            first, second = run(x, w)
            (first * 2 + second).backward()
            gradients.append(w.grad.numpy())
        np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-4, atol=1e-5)
    assert fn.cache_info().hits >= 1


@pytest.mark.slow
def test_a_training_step_that_looks_at_its_loss():
    def make():
        ja.manual_seed(0)
        w, momentum = (ja.randn(3, 2) * 0.3).requires_grad_(), ja.zeros(3, 2)

        def step(x, y):
            w.grad = None
            loss = ((F.dropout(x @ w, 0.2, True) - y) ** 2).mean()
            loss.backward()
            if not w.grad.isfinite().all():
                return None
            with ja.no_grad():
                norm = w.grad.norm()
                if norm > 0.5:
                    w.grad.mul_(0.5 / norm)
                momentum.mul_(0.9).add_(w.grad)
                w.sub_(momentum, alpha=0.3)
            return loss

        return w, step

    (w, eager), (held, body) = make(), make()
    fn = compiled(body)
    ja.manual_seed(1)
    x, y = ja.randn(8, 3), ja.randn(8, 2)
    for n in range(6):
        ja.manual_seed(n)
        expected = eager(x, y).item()
        ja.manual_seed(n)
        assert fn(x, y).item() == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(held.detach().numpy(), w.detach().numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(held.grad.numpy(), w.grad.numpy(), rtol=1e-4, atol=1e-6)
    assert fn.cache_info().misses <= 3


# -- random numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_draws_are_those_of_eager():
    @compiled
    def fn(x):
        a = ja.rand(3)
        if a.sum() > 1.5:
            a = a + ja.randn(3)
        return F.dropout(x * a, 0.5) + ja.rand(1)

    ja.manual_seed(3)
    for _ in range(10):
        same(fn, ja.ones(3))
    assert fn.cache_info() == (8, 2, 2)


# -- what is computed, and how often -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_segment_runs_once_in_a_call_that_hits():
    before, n_before = counted()
    after, n_after = counted()

    @compiled
    def fn(x):
        y = before(x) * 2
        if y.sum() > 0:
            return after(y) + 1
        return after(y.sin()) * y

    for sign in (1, -1):
        fn(ja.full((2,), float(sign)))
    for sign in (1, 1, -1, 1, -1, -1):
        n_before.clear(), n_after.clear()
        fn(ja.full((2,), float(sign))).tolist()
        assert len(n_before) == len(n_after) == 1
    assert fn.cache_info() == (6, 2, 2)


def test_a_path_that_needs_more_of_a_shared_segment_computes_it_once():
    op, notes = counted()

    @compiled
    def fn(x):
        a, b = op(x).sin(), op(x * 2).cos()
        if (a.sum() + b.sum()) > 0:
            return a * 2
        if b.sum() > -1:
            return b * 3 + a
        return b.exp(), x + 1

    inputs = [ja.full((2,), v) for v in (1.0, -1.0, 4.0, -2.2, 1.5)]
    for x in inputs:
        same(fn, x)
    n = fn.cache_info().misses
    for x in inputs:
        notes.clear()
        fn(x)
        assert len(notes) == 2
    assert fn.cache_info().misses == n


def test_nested_compiled_functions_are_parts_of_the_graph():
    inner = ja.compile(lambda x: x * 2 if x.sum() > 0 else x * 3)
    asking = compiled(lambda x: x * 5 if x.sum() > 0 else x)

    fn = compiled(lambda x: inner(x) + asking(x))
    assert [fn(ja.full((1,), v)).item() for v in (1.0, -1.0, 2.0)] == [7, -4, 14]
    assert fn.cache_info() == (1, 2, 2) and inner.cache_info() == asking.cache_info() == (0, 0, 0)
    with pytest.raises(ConcretizationError):
        ja.compile(lambda x: asking(x), fullgraph=True)(ja.ones(2))


def test_a_question_inside_a_jax_loop_is_an_error():
    @compiled
    def fn(x):
        def body(carry, _):
            return (carry if ja.interop.from_jax(carry).sum() > 0 else -carry), None

        return ja.interop.from_jax(jax.lax.scan(body, x.jax(), None, length=2)[0])

    with pytest.raises(ConcretizationError):
        fn(ja.ones(2))
    assert fn.cache_info() == (0, 0, 0)


def test_other_shapes_and_other_tensors_on_the_way():
    class Model:
        def __init__(self):
            self.small, self.large = ja.ones(2), ja.ones(2) * 10

        def __call__(self, x):
            if x.sum() > 0:
                return x * self.large.sum()
            return x * self.small.sum()

    model = Model()
    fn = compiled(lambda x: model(x))
    same(fn, ja.ones(2)), same(fn, -ja.ones(2)), same(fn, ja.ones(3))
    assert fn.cache_info() == (0, 3, 3)
    model.small = ja.full((2,), 3.0)
    same(fn, ja.ones(2))  # the values of what this way does not read are no reason
    assert fn.cache_info() == (1, 3, 3)
    model.small = ja.ones(5)  # nor is its shape
    same(fn, ja.ones(2)), same(fn, -ja.ones(2))
    assert fn.cache_info() == (2, 4, 4)
    same(fn, ja.ones(2)), same(fn, -ja.ones(2))
    assert fn.cache_info() == (4, 4, 4)


# -- giving up ---------------------------------------------------------------------------------------------------------


def recompile_warnings(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(w.message) for w in caught if issubclass(w.category, RecompileWarning)]


@pytest.mark.slow
def test_a_value_that_is_always_another_has_python_run_the_function():
    seen = []

    @compiled
    def fn(x):
        y = x * x
        seen.append([int(y.sum().int())])
        y.add_(1)
        return y

    words = recompile_warnings(lambda: [same(fn, ja.full((2,), float(n))) for n in range(20)])
    assert len(words) == 1
    assert "seen.append([int(y.sum().int())])" in words[0] and "8 ones so far" in words[0]
    assert fn.cache_info().misses == 9 and seen[-1] == [722]


def test_very_many_values_in_one_call_have_python_run_it():
    @compiled
    def fn(x, n):
        while x.sum() < n:
            x = x + 1
        return x

    with ja.config(max_breaks=5):
        words = recompile_warnings(lambda: [same(fn, ja.zeros(1), 100) for _ in range(3)])
        assert len(words) == 1 and "while x.sum() < n" in words[0]
        same(fn, ja.zeros(1), 3)
        fn.clear_cache()
        assert fn.cache_info() == (0, 0, 0)


@pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
def test_compiled_functions_inside_of_one_that_gave_up():
    inner = ja.compile(lambda x: x * 2 if x.sum() > 0 else x * 3)
    fn = compiled(lambda x: inner(x) + float(x.sum()))
    with ja.config(max_values=2):
        assert [fn(ja.full((1,), float(n))).item() for n in range(-2, 4)] == [-8, -4, 0, 3, 6, 9]
    assert fn.cache_info().currsize < 6 and inner.cache_info() == (0, 0, 0)


N_CALLS = 0


def test_what_python_does_before_a_break_happens_once():
    class Counter:
        total = 0
        __slots__ = ("__dict__", "names")

        def __init__(self):
            self.names, self.n, self.seen = [], 0, {"a": 1}

    counter, members, numbers, array, n = Counter(), {1}, [0], np.zeros(2), 0
    prints = []

    class Stream:
        def __init__(self, n):
            self.position = n

    def fn(x, stream):
        global N_CALLS
        nonlocal n
        N_CALLS, n = N_CALLS + 1, n + 1
        counter.n += 1
        counter.names.append("n")
        counter.extra = counter.seen["b"] = n
        counter.names = [*counter.names, "m"]
        Counter.total += 1
        members.add(len(members) + 1)
        numbers[0] += 1
        array[:1] += 1
        stream.position += 1
        prints.append(1)
        if x.sum() > 0 and x.max().item() > 0.5:
            numbers.append(int(x.sum()))
        return x * n

    before, stream = N_CALLS, Stream(3)
    fn = compiled(fn)
    assert fn(ja.ones(2), stream).tolist() == [1, 1]
    assert (N_CALLS - before, n, counter.n, counter.extra, Counter.total, stream.position) == (1, 1, 1, 1, 1, 4)
    assert (counter.names, counter.seen, members, numbers) == (["n", "m"], {"a": 1, "b": 1}, {1, 2}, [1, 2])
    assert array.tolist() == [1, 0] and prints == [1]


def test_a_value_that_comes_out_differently_once_it_is_compiled(monkeypatch):
    seen, ask = [], segment_builder.ask

    @compiled
    def fn(x):
        seen.append(int(x.sum()))
        return x * seen[-1]

    monkeypatch.setattr(segment_builder, "ask", lambda *args: ask(*args) - 1)
    assert fn(ja.ones(3, dtype=ja.int32)).tolist() == [3, 3, 3] and seen == [3]


def test_a_tensor_that_is_kept_and_let_go_in_one_call():
    kept = {}

    @compiled
    def fn(x):
        if "y" not in kept:
            kept["y"] = x * 2
        y = kept["y"]
        if y.sum() > 0:
            y = y + 1
        del kept["y"]
        return y

    same(fn, ja.ones(2)), same(fn, -ja.ones(2)), same(fn, ja.ones(2))
    assert kept == {} and fn.cache_info() == (1, 2, 2)


def test_explain_shows_the_segments():
    w = ja.ones(3, requires_grad=True)

    @compiled
    def fn(x):
        y = x * w
        if y.sum() > 0:
            y = y + 1
        return y.sum()

    text = str(fn.explain(ja.ones(3)))
    assert "# segment 0: computes True for" in text and "if y.sum() > 0:" in text
    assert "# segment 1: computes the rest" in text and "# partition" in text
    assert fn.trace(ja.ones(3)).break_values[0].shown == "True"


def test_backends_and_threads():
    from tests.runtime.test_threads import together

    def body(x):
        return x * 2 + ja.rand(1) if x.sum() > 0 else x * 3

    for backend in ("xla", "interpret"):
        fn = compiled(body, backend=backend)
        together(*(lambda s=s: [fn(ja.full((2,), float(s))) for _ in range(20)] for s in (1, -1, 1)))
        assert fn.cache_info() == (58, 2, 2)


def test_arrays_and_numpy_arguments():
    fn = compiled(lambda a, b: a * 2 if (ja.interop.from_jax(a).sum() > 0).item() else a * b)
    assert fn(jnp.ones(2), np.ones(2, np.float32)).tolist() == [2, 2]
    assert fn(-jnp.ones(2), np.full(2, 5, np.float32)).tolist() == [-5, -5]
