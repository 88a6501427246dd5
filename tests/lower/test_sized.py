"""`ja.jit(dynamic=...)`: values of the exact program, few programs, and reasons where there are more."""

import concurrent.futures
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax import lax

import jaxaot as ja
from jaxaot.buckets.rules import RULES
from jaxaot.errors import UsageError
from tests.buckets import models
from tests.buckets.exact import QUICK
from tests.seeds import some

X = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)


def assert_same(got, right, rtol=2e-5, atol=2e-6):
    assert jax.tree.structure(got) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(right), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol, atol)


def explained(step, *args):
    return "\n".join(step.explain(*args).programs)


def softmax_of_gram(x):
    return jax.nn.softmax(x @ x.T) @ x, x.mean(0)


# models


@pytest.mark.slow
@pytest.mark.parametrize("with_dropout", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_gpt_trains_at_any_batch_and_length(with_dropout):
    params, key = models.GPT.params(), jax.random.key(0) if with_dropout else None
    step = ja.jit(models.GPT.step, dynamic={"ids": (0, 1)}, compiler_options=QUICK)
    exact = jax.jit(models.GPT.step, compiler_options=QUICK)
    state = models.zero_state(params)
    for b, t in [(8, 16), (5, 13)]:  # 16 places are all that there are
        ids = models.GPT.ids(b, t)
        got = step(params, state, ids, key)
    assert_same(got, exact(params, state, ids, key), 2e-4, 2e-5)
    assert step.n_programs == 1


@pytest.mark.slow
def test_a_cnn_has_the_statistics_of_the_exact_batch():
    params, running = models.cnn_params(), (jnp.zeros(8), jnp.ones(8))
    step = ja.jit(models.cnn_step, dynamic={"images": 0, "labels": 0}, compiler_options=QUICK)
    exact = jax.jit(models.cnn_step, compiler_options=QUICK)
    for b in (16, 13):
        images, labels = models.images(b)
        got = step(params, running, images, labels)
    assert_same(got, exact(params, running, images, labels), 1e-4, 1e-5)
    assert step.n_programs == 1


@pytest.mark.slow
def test_an_lstm_runs_as_many_turns_as_there_are_rows():
    params = models.lstm_params()
    step = ja.jit(models.lstm_step, dynamic={"xs": (0, 1)}, compiler_options=QUICK)
    exact = jax.jit(models.lstm_step, compiler_options=QUICK)
    for t, b in [(16, 8), (13, 7)]:
        xs = models.rows_of_time(t, b)
        got = step(params, xs)
    assert_same(got, exact(params, xs), 1e-4, 1e-5)
    assert step.n_programs == 1


def test_a_cache_is_written_by_prompts_of_any_length():
    w, cache = models.weights(6, 6), models.weights(32, 6)
    step, exact = ja.jit(models.prefill, dynamic={"xs": 0}), jax.jit(models.prefill)
    for t in (24, 17, 20):
        xs = models.weights(t, 6)
        assert_same(step(cache, w, xs), exact(cache, w, xs))
    assert step.n_programs == 1
    assert "dynamic_update_slice" in explained(step)


@pytest.mark.slow
def test_a_cache_of_any_capacity_is_read_and_one_that_grows():
    w, x = models.weights(6, 6), models.weights(6)
    step, exact = ja.jit(models.decode, dynamic={"cache": 0}), jax.jit(models.decode)
    grow = ja.jit(models.grow, dynamic={"cache": 0})
    for n in (24, 17, 20):
        cache = models.weights(n, 6)
        for at in (0, n - 1, n + 5):
            assert_same(step(cache, w, x, jnp.int32(at)), exact(cache, w, x, jnp.int32(at)))
        assert_same(grow(cache, x), jax.jit(models.grow)(cache, x))
    assert step.n_programs == grow.n_programs == 1


@pytest.mark.slow
def test_two_hundred_steps_of_random_lengths_take_few_programs():
    step = ja.jit(softmax_of_gram, dynamic={"x": 0})
    lengths = np.random.default_rng(1).integers(1, 25, 200)
    for n in lengths:
        got = step(X[:n])
        assert got[0].shape == (n, 4)
    assert step.n_programs <= 5  # 8, 12, 16 and 24; one of length 1
    for n in (1, 5):
        assert_same(step(X[:n]), jax.jit(softmax_of_gram)(X[:n]))


# sizes at borders


@pytest.mark.few(6)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 12])
def test_sizes_at_borders(n):
    table = X[:12]

    def fn(x):
        places = jnp.asarray(table)[: x.shape[0]]  # where x has 12 rows, JAX leaves the slice out
        return (x + places)[:, None] * jnp.ones((1, 2, 1)), x[1:], x[: x.shape[0] // 2 * 2].sum()

    step = ja.jit(fn, dynamic={"x": 0}, buckets=[8, 12])
    assert_same(step(X[:n]), jax.jit(fn)(X[:n]))
    assert_same(step(X[1 : n + 1]), jax.jit(fn)(X[1 : n + 1]))


def test_no_elements_are_a_program_of_their_own():
    step = ja.jit(lambda x: x.sum(0), dynamic={"x": 0})
    assert_same(step(X[:0]), jnp.zeros(4))
    assert "an axis has no elements" in explained(step)


def test_the_size_of_the_bucket_is_bitwise_the_exact_program():
    step = ja.jit(softmax_of_gram, dynamic={"x": 0})
    step(X[:13])
    assert_same(step(X[:16]), jax.jit(softmax_of_gram)(X[:16]), 0, 0)
    assert step.n_programs == 1


def test_sizes_that_are_equal_once_and_part_later():
    fn = lambda x, y: (x.sum(0) * y.mean(), x @ y.T)
    step = ja.jit(fn, dynamic=True)
    for n, m in [(10, 10), (11, 11), (9, 11), (11, 9), (12, 12)]:
        assert_same(step(X[:n], X[:m]), jax.jit(fn)(X[:n], X[:m]))
    assert step.n_programs <= 3


# which dims change


def test_the_first_size_is_exact_and_what_changes_is_found():
    step = ja.jit(softmax_of_gram, dynamic=True)
    step(X[:20])
    assert "no size of it has changed so far" in explained(step)
    assert_same(step(X[:21]), jax.jit(softmax_of_gram)(X[:21]))
    assert_same(step(X[:22]), jax.jit(softmax_of_gram)(X[:22]))
    assert_same(step(X[:20]), jax.jit(softmax_of_gram)(X[:20]), 0, 0)
    assert step.n_programs == 2


def test_dims_have_buckets_of_their_own():
    fn = lambda x: x @ x.T
    step = ja.jit(fn, dynamic={"x": {0: [20, 40], -1: 4}})
    for n in (3, 18, 20, 33):
        assert_same(step(X[:n, :3]), jax.jit(fn)(X[:n, :3]))
    assert step.n_programs == 2
    assert_same(step(X[:50, :3]), jax.jit(fn)(X[:50, :3]))  # more than the largest


def test_other_static_sizes_are_other_programs():
    fn = lambda w, x: x @ w
    step = ja.jit(fn, dynamic={"x": 0})
    for width in (2, 3):
        for n in (5, 6):
            w = X[:4, :width]
            assert_same(step(w, X[:n]), jax.jit(fn)(w, X[:n]))
    assert step.n_programs == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dynamic": {"y": 0}}, "names `y`, and"),
        ({"dynamic": {"x": ()}}, "says no dims"),
        ({"dynamic": {"x": "0"}}, "says no dims"),
        ({"dynamic": 3}, "says no dims"),
        ({"dynamic": True, "buckets": "all"}, "says no sizes"),
        ({"dynamic": True, "buckets": [0]}, "says no sizes"),
        ({"dynamic": True, "max_programs": 0}, "keeps no program"),
        ({"dynamic": True, "out_shardings": 3}, "out_shardings"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, words):
    with pytest.raises(UsageError, match=words):
        ja.jit(lambda x: x, **options)


def test_a_dim_that_an_argument_does_not_have():
    with pytest.raises(UsageError, match="dim 2 of `x` changes, and an array of it has 2 dims"):
        ja.jit(lambda x: x, dynamic={"x": 2})(X)


# reasons


def test_a_program_of_its_own_says_why():
    def fn(x):
        return x * 2 if x.shape[0] > 12 else x * 3

    step = ja.jit(fn, dynamic={"x": 0})
    for n in (16, 14, 13, 11):
        assert_same(step(X[:n]), jax.jit(fn)(X[:n]))
    text = explained(step)
    assert "bucket (16, 4): 3 sizes" in text
    assert "(14, 4): computes 1.14 times the elements" in text


def test_what_has_no_rule_says_where():
    step = ja.jit(lambda x: jnp.abs(jnp.fft.fft(x, axis=0)), dynamic={"x": 0})
    step(X[:9])
    text = explained(step, X[:10])
    assert "`fft` at test_sized.py" in text and "fft_lengths depends on a size" in text
    assert step.n_programs == 2


def test_a_function_that_does_not_take_the_bucket():
    def fn(x):
        if x.shape[0] > 10:
            raise ValueError("too long")
        return x.sum(0)

    step = ja.jit(fn, dynamic={"x": 0})
    assert_same(step(X[:9]), jax.jit(fn)(X[:9]))
    assert "at the bucket 12 it raises ValueError: too long" in explained(step)
    with pytest.raises(ValueError, match="too long"):
        step(X[:11])


def test_a_rule_that_fails_is_a_reason_and_an_error_where_that_is_asked_for(monkeypatch, failed_passes):
    monkeypatch.setitem(RULES, "sin", lambda w, e, values: values[0].nothing)
    step = ja.jit(lambda x: jnp.sin(x), dynamic={"x": 0})
    assert_same(step(X[:9]), jnp.sin(X[:9]), 1e-6)
    assert "cannot be written" in explained(step)
    assert "a rule of sizes failed with AttributeError" in failed_passes.pop()
    with ja.config(check_graphs=True), pytest.raises(AttributeError):
        ja.jit(lambda x: jnp.sin(x), dynamic={"x": 0})(X[:9])


# what is kept


def test_a_size_that_was_seen_is_not_traced_again():
    traced = []

    def fn(x):
        traced.append(x.shape)
        return x.sum(0)

    step = ja.jit(fn, dynamic={"x": 0})
    for n in (9, 10):
        step(X[:n])
    n_traced = len(traced)
    for n in (9, 10, 9):
        step(X[1 : n + 1])
    assert len(traced) == n_traced == 3  # at both sizes and at the bucket; 9 is also what is laid beside it


def test_no_more_programs_are_kept_than_are_asked_for():
    step = ja.jit(lambda x: x.sum(0), dynamic={"x": 0}, max_programs=2)
    for n in (5, 12, 16, 6, 24):
        assert_same(step(X[:n]), X[:n].sum(0), 1e-5, 1e-5)
    assert step.n_programs == 2 and step.n_programs_made == 5
    assert_same(step(X[:6]), X[:6].sum(0), 1e-5, 1e-5)  # the one used last but one
    assert step.n_programs_made == 5
    step.clear_cache()
    assert step.n_programs == 0
    assert_same(step(X[:5]), X[:5].sum(0), 1e-5, 1e-5)


def test_all_buckets_are_compiled_ahead():
    step = ja.jit(softmax_of_gram, dynamic={"x": 0}, buckets=[8, 16, 24])
    assert step.warm_up(X[:24]) == 3
    for n in (3, 16, 20):
        step(X[:n])
    assert step.n_programs_made == 3
    with pytest.raises(UsageError, match="no dim is known to change"):
        ja.jit(softmax_of_gram, dynamic=True).warm_up(X)


def test_threads_share_programs():
    step = ja.jit(softmax_of_gram, dynamic={"x": 0})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda n: step(X[:n]), [9, 10, 11, 12] * 3))
    assert_same(got[1], jax.jit(softmax_of_gram)(X[:10]))
    assert step.n_programs == 1


# what `ja.jit` does besides


def test_static_arguments_keywords_and_donation():
    @functools.partial(ja.jit, dynamic={"x": 0}, static_argnames="power", donate_argnames="state")
    def step(state, x, *, power):
        return state + (x**power).sum(0), x * 2

    state = jnp.zeros(4)
    for n in (9, 12):
        old = state
        state, doubled = step(state, x=X[:n], power=2)
        assert_same(doubled, jnp.asarray(X[:n] * 2))
        assert old.is_deleted()
    assert_same(state, jnp.asarray((X[:9] ** 2).sum(0) + (X[:12] ** 2).sum(0)), 1e-5)
    with pytest.raises(RuntimeError, match="deleted"):
        step(old, x=X[:9], power=2)
    assert_same(step(jnp.zeros(4), x=X[:9], power=3)[0], jnp.asarray((X[:9] ** 3).sum(0)), 1e-4, 1e-5)


def test_methods_and_transformations():
    class Model:
        @functools.partial(ja.jit, dynamic={"x": 0}, static_argnums=0)
        def loss(self, x):
            return (x**2).sum()

    model = Model()
    assert_same(model.loss(X[:9]), jnp.asarray((X[:9] ** 2).sum()), 1e-5)
    step = ja.jit(lambda x: (x**2).sum(), dynamic={"x": 0})
    assert_same(jax.grad(step)(X[:9]), jnp.asarray(2 * X[:9]))
    assert_same(jax.jit(step)(X[:9]), step(X[:9]), 1e-5)
    assert step.eval_shape(X[:9]).shape == ()
    assert step.lower(X[:9]).compile()(X[:9]).shape == ()
    assert "for sizes that change" in repr(step)


def test_nans_are_looked_for_in_exact_programs():
    fn = lambda x: jnp.log(x).sum()
    step = ja.jit(fn, dynamic={"x": 0})
    with jax.debug_nans(True):
        assert np.isfinite(step(np.abs(X[:9]) + 0.1))
        with pytest.raises(FloatingPointError):
            step(-np.abs(X[:9]))
    assert step.n_programs == 0


def test_pytrees_weak_types_and_results_that_are_arguments():
    def fn(batch, scale):
        return {"same": batch["x"], "scaled": batch["x"] * scale, "n": jnp.float32(batch["x"].shape[0]), "none": None}

    step = ja.jit(fn, dynamic={"batch": 0})
    for n in (9, 12, 10):
        batch = {"x": jnp.asarray(X[:n]), "y": jnp.asarray(X[:n, 0])}
        assert_same(step(batch, 2.0), jax.jit(fn)(batch, 2.0))
    assert step.n_programs == 1


def test_random_keys_that_change_their_size_are_exact():
    draw = ja.jit(lambda keys: jax.vmap(jax.random.bits)(keys), dynamic={"keys": 0})
    keys = jax.random.split(jax.random.key(0), 5)
    assert_same(draw(keys), jax.vmap(jax.random.bits)(keys))
    assert "random keys changes" in explained(draw)


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", some([True, {"x": 0}], 1), ids=["seen", "said"])
def test_objects_of_nnx_are_written_by_one_program(dynamic):
    def train(model, x):
        loss, grads = nnx.value_and_grad(lambda model: ((model(x) - x.mean(0)) ** 2).mean())(model)
        model.kernel[...] -= 0.1 * grads.kernel[...]
        return loss

    models = [nnx.Linear(4, 4, rngs=nnx.Rngs(0)) for _ in range(2)]
    step, exact = ja.jit(train, dynamic=dynamic), nnx.jit(train)
    for n in (15, 13, 14, 13):
        assert_same(step(models[0], x=X[:n]), exact(models[1], X[:n]))
        assert_same(models[0].kernel[...], models[1].kernel[...])
    assert step.n_programs == step.n_programs_made == (1 if dynamic is not True else 2)
    assert "bucket (16, 4)" in explained(step)
    assert step.warm_up(models[0], x=X[:12]) > 2
    assert_same(models[0].kernel[...], models[1].kernel[...])
    step.clear_cache()
    assert step.n_programs == 0


@pytest.mark.slow
def test_models_that_halve_sizes_share_programs():
    def net(x):
        y = lax.reduce_window(x, -jnp.inf, lax.max, (2, 1), (2, 1), "VALID")
        z = lax.reduce_window(y, -jnp.inf, lax.max, (2, 1), (2, 1), "VALID")
        y = jnp.concatenate([jnp.repeat(z, 2, 0), y], 1)
        return jnp.concatenate([jnp.repeat(y, 2, 0), x], 1)

    fn = jax.value_and_grad(lambda x: (net(x) ** 2).mean())
    step, exact = ja.jit(fn, dynamic={"x": 0}, compiler_options=QUICK), jax.jit(fn, compiler_options=QUICK)
    for n in (20, 24, 12):
        assert_same(step(X[:n]), exact(X[:n]))
    assert step.n_programs == 2, explained(step)  # 12 and 24


def test_a_reason_says_what_differs():
    step = ja.jit(lambda x: jnp.matmul(x, X[:4], precision="highest" if x.shape[0] == 12 else None), dynamic={"x": 0})
    step(X[:9])
    assert "at 5 and at 12 it does not do the same: `dot_general` at test_sized.py" in explained(step)
    assert "has precision None at one size, (Precision.HIGHEST, Precision.HIGHEST) at another" in explained(step)


def test_an_axis_that_depends_on_a_size_is_no_size():
    fn = lambda x: x.sum(0 if x.shape[0] == 16 else 1)
    step = ja.jit(fn, dynamic={"x": (0, 1)})
    for n in (16, 13):
        square = np.arange(n * n, dtype=np.float32).reshape(n, n)
        assert_same(step(square), fn(square))
    assert "`reduce_sum` at test_sized.py" in explained(step) and "axes depends on a size" in explained(step)


def test_without_dynamic_it_is_what_it_was():
    assert type(ja.jit(lambda x: x)) is type(ja.jit(lambda x: x, dynamic=False))
    assert type(ja.jit(lambda x: x)).__name__ == "Jitted"


@pytest.mark.parametrize(("rows", "n_programs"), [(48, 5), (64, 5)])  # exact, 8, 16, 32, and 48 or 64
def test_buckets_of_a_size_that_grows_double(rows, n_programs):
    step = ja.jit(fn := lambda x: jnp.cumsum(x, 0) * X[:rows][: x.shape[0]], dynamic=True)
    for n in [*range(1, 10), *range(13, 18), *range(29, 40)]:
        assert_same(step(X[:n]), fn(X[:n]))
    assert step.n_programs == n_programs
    assert f"bucket ({rows}, 4)" in explained(step)
