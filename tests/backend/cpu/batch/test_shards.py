"""A graph computed as shards of a batch is the graph."""

import concurrent.futures
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from benchmarks.random_models import model
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.batch import sharded
from jaxaot.backend.cpu.batch.sharded import plan_sharded
from jaxaot.backend.cpu.batch.shards import plan_shards
from jaxaot.backend.cpu.machine import Machine
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from jaxaot.passes.pipeline import lowered_passes
from tests.drawn import drawn
from tests.seeds import seeds, some

CPU = lowered_passes(None, "cpu")


@pytest.fixture(autouse=True)
def everything_is_shared(everything_is_large, using_machine):
    using_machine(min_shard_flops=0, max_handed_over=1e9, min_sharded_part=0.5, min_shard_products=1)


def graph_of(fn, *args):
    leaves, tree = jax.tree.flatten(args)
    flat = lambda *leaves: jax.tree.leaves(fn(*jax.tree.unflatten(tree, leaves)))
    return inline(jax.make_jaxpr(flat)(*leaves), also_custom=True), leaves


def run(plan, leaves):
    part, rest = (jax.jit(jaxpr_as_fun(graph)) for graph in (plan.part, plan.rest))
    made = [x for k in range(plan.n) for x in part(*(leaves[i] for i in plan.part_reads), np.int32(k))]
    return rest(*(leaves[i] for i in plan.rest_reads), *made)


def assert_agree(got, want, rtol=2e-5):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert x.dtype == y.dtype and x.weak_type == y.weak_type
        tolerance = rtol if x.dtype.itemsize >= 4 else 2e-2
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(0.1, np.nanmax(np.abs(y), initial=0)))


def planned(fn, *args, n=2, rtol=2e-5):
    """Returns the shards of a function, None if it has none; asserts that they compute what the whole does."""
    closed, leaves = graph_of(fn, *args)
    plan = plan_shards(closed, n)
    if plan is not None:
        for graph in (plan.part, plan.rest):
            check_graph(graph)
        assert_agree(run(plan, leaves), jax.jit(jaxpr_as_fun(closed))(*leaves), rtol)
    return plan


def names(closed):
    return {eqn.primitive.name for eqn in closed.jaxpr.eqns}


def normal(seed, *shape, scale=1.0):
    return jax.device_put(drawn(seed, *shape) * np.float32(scale))


B, D = 8, 16
X = normal(0, B, D)
LABELS = jax.device_put(np.int32([2, 0, 5, 3, 5, 15, 1, 5]))
W = [normal(i, D, D, scale=0.25) for i in range(1, 4)]


def layers(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x


def descent(loss):
    def step(ws, *data):
        value, gradients = jax.value_and_grad(loss)(ws, *data)
        return jax.tree.map(lambda w, g: w - 0.1 * g, ws, gradients), value

    return step


def of_rows(log_probabilities):
    return lambda ws, x, y: -log_probabilities(jax.nn.log_softmax(layers(ws, x)), y).mean()


def masked(ws, x, y):
    mask = (y != 5).astype(jnp.float32)
    losses = jnp.square(layers(ws, x)).sum(-1)
    return (losses * mask).sum() / mask.sum()


def embedded(ws, x, y):
    return jnp.square(layers(ws[1:], ws[0][y] + x)).mean()


def attention(ws, x, y):
    x = jnp.stack([x, x + 1.0, x * y[:, None]], 1)
    q, k, v = (x @ w for w in ws)
    return (jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)) @ v).mean()


def last_axis(ws, x, y):
    del y
    x = x.T
    for w in ws:
        x = jnp.sin(jnp.einsum("db,de->eb", x, w))
    return jnp.square(x).sum()


def convolved(ws, x, y):
    del y
    images = jnp.broadcast_to(x[:, :, None, None], (B, D, 4, 4)) * jnp.arange(4.0)
    kernel = ws[0].reshape(D, D, 1, 1) * jnp.ones((1, 1, 2, 2))
    return jnp.square(lax.conv_general_dilated(images, kernel, (1, 1), "SAME")).mean() + layers(ws, x).sum()


def tied(ws, x, y):
    logits = layers(ws, ws[0][y] + x) @ ws[0].T
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], -1).mean()


def with_weight_decay(ws, x, y):
    del y
    return jnp.square(layers(ws, x)).mean() + 0.1 * sum((w * w).sum() for w in ws)


def two_towers(ws, x, y):
    other = layers(ws[:2], x[::-1] * 0.5)
    return jnp.square(layers(ws, x) * other).sum() + y.sum()


def sorted_rows(ws, x, y):
    del y
    x = jnp.sort(layers(ws, x), -1) + jnp.cumsum(x, -1) + jax.lax.top_k(x @ ws[0], 1)[0]
    return (x * jnp.argmax(x, -1, keepdims=True)).mean()


def recurrent(ws, x, y):
    xs = jnp.stack([x, x * 0.5, jnp.sin(x), x * y[:, None]])

    def turn(state, x):
        h, n = state
        h = jnp.tanh(h @ ws[0] + x @ ws[1])
        return (h, n + 1), h.sum(-1)

    (h, n), sums = lax.scan(turn, (jnp.zeros_like(x), 0), xs)
    return jnp.square(h @ ws[2]).mean() + sums.sum() * n


def scanned(ws, x, y):
    def layer(x, w):
        x = jnp.where(jnp.tril(jnp.ones((D, D)))[0] > 0, jnp.tanh(x @ w), x)
        return x, x.mean()

    x, means = lax.scan(layer, x + ws[0][y], jnp.stack(ws), reverse=True)
    return jnp.square(x).mean() + means.sum()


def scanned_twice(ws, x, y):
    del y

    def outer(x, w):
        inner = lambda x, scale: (jnp.sin(x @ w) * scale, None)
        return lax.scan(inner, x, jnp.arange(1.0, 4.0))[0], None

    return jnp.abs(lax.scan(outer, x, jnp.stack(ws))[0]).sum()


def checkpointed(ws, x, y):
    layer = jax.checkpoint(lambda x, w: jnp.tanh(x @ w) * (w.sum() + 1.0))
    for w in ws:
        x = layer(x, w)
    return jnp.square(x).mean() + y.sum()


def held(ws, x, y):
    for w in ws:
        x, w, total = lax.optimization_barrier((jnp.tanh(x @ w), w, w.sum()))
        x = x * total + x @ w
    return jnp.square(x).mean() + y.sum()


PRODUCTS = {"dot_general", "scan", "checkpoint", "remat2"}

LOSSES = {
    "cross entropy": of_rows(lambda p, y: jnp.take_along_axis(p, y[:, None], -1)),
    "masked": masked,
    "attention": attention,
    "tied weights": tied,
    "recurrent": recurrent,
    "scanned": scanned,
    "embedded": embedded,
    "one-hot": of_rows(lambda p, y: (p * jax.nn.one_hot(y, D)).sum(-1)),
    "batch in the last axis": last_axis,
    "convolved": convolved,
    "weight decay": with_weight_decay,
    "two towers": two_towers,
    "sorted": sorted_rows,
    "scanned twice": scanned_twice,
    "checkpointed": checkpointed,
    "held": held,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("n", some([2, 4], 1))
@pytest.mark.parametrize("name", some(LOSSES, 3))
def test_a_step_is_computed_in_shares(name, n):
    plan = planned(descent(LOSSES[name]), W, X, LABELS, n=n)
    assert plan.n == n and not names(plan.rest) & PRODUCTS
    assert names(plan.part) & PRODUCTS
    assert len(plan.part.out_avals) <= 2 * len(W)


def test_what_is_returned_of_each_element_is_put_together():
    plan = planned(lambda ws, x: layers(ws, x), W, X)
    assert names(plan.rest) == {"concatenate"}


def test_sums_of_half_precision_are_rounded_once():
    ws, x = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (W, X))
    plan = planned(descent(lambda ws, x: jnp.square(layers(ws, x)).mean().astype(jnp.float32)), ws, x)
    gradients = [aval for aval in plan.part.out_avals if aval.shape == (D, D)]
    assert len(gradients) == len(W) and all(aval.dtype == jnp.float32 for aval in gradients)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(["scanned", "tied weights"], 1))
def test_half_precision(name):
    ws, x = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (W, X))
    loss = lambda ws, x, y: LOSSES[name](ws, x, y).astype(jnp.float32)
    planned(jax.value_and_grad(loss), ws, x, LABELS, rtol=2e-2)

    def mixed(ws, x, y):  # the weights are kept in single precision
        return loss(jax.tree.map(lambda w: w.astype(jnp.bfloat16), ws), x, y)

    assert planned(descent(mixed), W, x, LABELS, rtol=2e-2) is not None


def test_gradients_are_clipped_by_their_norm_after_the_shards():
    def step(ws, x):
        gradients = jax.grad(lambda ws: jnp.square(layers(ws, x)).sum())(ws)
        norm = jnp.sqrt(sum((g * g).sum() for g in gradients))
        return [w - g / jnp.maximum(norm, 1.0) for w, g in zip(ws, gradients, strict=True)]

    plan = planned(step, W, X)
    assert "sqrt" in names(plan.rest) and "sqrt" not in names(plan.part)


def normalized(ws, x):
    for w in ws:
        x = x @ w
        x = (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)
    return jnp.square(x * X).sum()


def contrasted(ws, x):
    made = layers(ws, x)
    return jax.nn.logsumexp(made @ made.T, -1).sum()


@pytest.mark.parametrize("loss", [normalized, contrasted, lambda ws, x: layers(ws, x).std()])
def test_what_needs_the_whole_batch_early_has_no_shards(loss):
    assert planned(descent(loss), W, X) is None


def test_a_batch_that_cores_do_not_divide_has_no_shards():
    assert planned(descent(LOSSES["one-hot"]), W, X, LABELS, n=3) is None


def test_small_graphs_have_no_shards(using_machine):
    using_machine(min_shard_flops=1_000_000)
    assert planned(descent(LOSSES["one-hot"]), W, X, LABELS) is None


def test_what_hands_over_much_has_no_shards(using_machine):
    using_machine(max_handed_over=0.25)
    assert planned(descent(LOSSES["one-hot"]), W, X, LABELS) is None


def test_nan_and_infinities_stay_where_they_were():
    bad = X.at[1, 2].set(jnp.nan).at[3, 0].set(jnp.inf)
    closed, leaves = graph_of(lambda ws, x: (x @ ws[0], jnp.exp(x @ ws[0]).sum(0)), W, bad)
    for got, want in zip(run(plan_shards(closed, 2), leaves), jaxpr_as_fun(closed)(*leaves), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


KINDS = {
    "dense": lambda ws, x, y: jnp.tanh(x @ ws[0]) + x,
    "gated": lambda ws, x, y: jax.nn.sigmoid(x @ ws[0]) * (x @ ws[1]),
    "norm": lambda ws, x, y: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),
    "embedding": lambda ws, x, y: x + ws[0][y],
    "attention": lambda ws, x, y: x + (jax.nn.softmax((x @ ws[0])[:, :, None] * x[:, None]) @ x[..., None])[..., 0],
    "heads": lambda ws, x, y: jnp.einsum("bhd,hde->bhe", x.reshape(B, 2, 8), ws[0].reshape(2, 8, 16)).sum(1),
    "split": lambda ws, x, y: jnp.concatenate(jnp.split(x @ ws[2], 4, -1)[::-1], -1),
    "sorted": lambda ws, x, y: jnp.sort(x, -1) @ ws[1],
    "cumulative": lambda ws, x, y: jnp.cumsum(x, 1) * 0.3,
    "chosen": lambda ws, x, y: x * jnp.take_along_axis(x, y[:, None], 1),
    "padded": lambda ws, x, y: jnp.pad(x, ((0, 0), (1, 0)))[:, :D] @ ws[0],
    "reversed": lambda ws, x, y: x[:, ::-1] + jnp.where(x > 0, x, 0.1 * x @ ws[2]),
    "recurrent": lambda ws, x, y: (
        lax.scan(lambda h, x: (jnp.tanh(h @ ws[0] + x[:, None]), h.sum(-1)), jnp.zeros((B, D)), x.T)[1].T
    ),
    "checkpointed": lambda ws, x, y: jax.checkpoint(lambda x, w: jnp.sin(x @ w) * x)(x, ws[1]),
    "layers": lambda ws, x, y: lax.scan(lambda x, w: (x @ w, None), x, jnp.stack(ws))[0],
    "backwards": lambda ws, x, y: (
        lax.scan(lambda c, row: (c + row, row * c), ws[0].sum(0) * jnp.ones((B, 1)), x.T[..., None], reverse=True)[1]
        .sum(-1)
        .T
    ),
    "of the mean row": lambda ws, x, y: x + 0.1 * x.mean(0),
    "of the batch reversed": lambda ws, x, y: x + 0.5 * x[::-1],
    "of a position": lambda ws, x, y: x * jnp.arange(B, dtype=x.dtype)[:, None],
    "best": lambda ws, x, y: x * (jnp.argmax(x, -1) == y)[:, None] + x @ ws[1],
}

ENDS = {
    "mean": lambda x, y: jnp.square(x).mean(),
    "cross entropy": lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], -1).mean(),
    "rows by number": lambda x, y: -jax.nn.log_softmax(x)[jnp.arange(B), y].sum(),
    "masked": lambda x, y: (jnp.where(y == 5, 0.0, jnp.abs(x).sum(-1))).sum() / jnp.maximum((y != 5).sum(), 1),
    "largest": lambda x, y: jnp.square(x).max(),
    "root": lambda x, y: jnp.sqrt(jnp.square(x).sum() + 1.0),
}


def random_program(seed):
    rng = np.random.default_rng(seed)
    kinds = [KINDS[name] for name in rng.choice(list(KINDS), rng.integers(1, 5))]
    end = ENDS[str(rng.choice(list(ENDS)))]

    def loss(ws, x, y):
        x = x @ ws[2]
        for kind in kinds:
            x = kind(ws, x, y)
        return end(x, y)

    def outputs(ws, x, y):
        for kind in kinds:
            x = kind(ws, x @ ws[0], y)
        return x, x.sum(0), x.mean()

    return [descent(loss), outputs, jax.value_and_grad(loss, argnums=(0, 1))][rng.integers(3)]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(150, 2))
def test_random_programs(seed):
    for n in (2, 4):
        plan = planned(random_program(seed), W, X, LABELS, n=n)
        assert plan is None or plan.n == n


def test_most_random_programs_have_shards():
    found = [plan_shards(graph_of(random_program(seed), W, X, LABELS)[0], 2) is not None for seed in range(24)]
    assert sum(found) > 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(24, 1))
def test_random_models(seed):
    _, gradients, arguments = model(seed)
    plan = planned(gradients, *arguments)
    assert plan is None or plan.n == 2


def test_a_call_runs_the_shards_and_donates_what_it_was_given():
    step = descent(LOSSES["one-hot"])
    run = ja.jit(step, donate_argnums=0)
    given = jax.tree.map(jnp.copy, W)
    want = jax.jit(step)(W, X, LABELS)
    assert_agree(run(given, X, LABELS), want)
    assert all(w.is_deleted() for w in given) and not X.is_deleted()
    for _ in range(3):
        assert_agree(run(jax.tree.map(jnp.copy, W), np.asarray(X), LABELS), want)
    assert "shards: 2 of a batch, one on each core" in str(run.explain(W, X, LABELS))


@pytest.mark.slow
def test_an_executable_runs_the_shards_too():
    closed, leaves = graph_of(descent(LOSSES["tied weights"]), W, X, LABELS)
    executable = Executable(closed)
    assert executable.sharded is not None
    assert_agree(executable(*leaves), jaxpr_as_fun(closed)(*leaves))
    assert executable.cost_analysis()["flops"] > 0


def test_a_function_of_tensors_runs_the_shards_too(monkeypatch):
    made = []
    monkeypatch.setattr(
        "jaxaot.backend.cpu.run.plan_sharded", lambda *args: made.append(plan_sharded(*args)) or made[-1]
    )
    weights = [ja.tensor(np.asarray(w), requires_grad=True) for w in W]
    x = ja.tensor(np.asarray(X))

    @ja.compile
    def step(x):
        for w in weights:
            x = (x @ w).tanh()
        loss = (x * x).mean()
        loss.backward()
        with ja.no_grad():
            for w in weights:
                w -= 0.1 * w.grad
                w.grad = None
        return loss

    want, loss = jax.jit(descent(lambda ws, x: jnp.square(layers(ws, x)).mean()))(W, X)
    np.testing.assert_allclose(step(x).detach().numpy(), loss, rtol=1e-5)
    for w, value in zip(weights, want, strict=True):
        np.testing.assert_allclose(w.detach().numpy(), value, rtol=1e-5, atol=1e-6)
    assert any(made)


@pytest.mark.slow
def test_calls_from_many_threads_and_under_other_settings():
    step = descent(LOSSES["cross entropy"])
    run, want = ja.jit(step), jax.jit(step)(W, X, LABELS)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: run(W, X, LABELS), range(12)):
            assert_agree(got, want)
    with jax.default_matmul_precision("float32"):
        assert_agree(run(W, X, LABELS), want)
    assert_agree(run(W, X[:2], LABELS[:2]), jax.jit(step)(W, X[:2], LABELS[:2]))
    assert sum(thread.name.startswith("jaxaot-shard") for thread in threading.enumerate()) <= 1


@pytest.mark.parametrize("why", ["flags", "nan", "switch", "effects", "cores"])
def test_where_there_are_no_shards(why, monkeypatch, using_machine):
    closed, _ = graph_of(descent(LOSSES["one-hot"]), W, X, LABELS)
    assert plan_sharded(closed, CPU) is not None
    passes = CPU
    if why == "flags":
        monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    elif why == "nan":
        monkeypatch.setattr(sharded, "jax", _WithDebugging())
    elif why == "switch":
        passes = tuple(name for name in CPU if name != "shards")
    elif why == "cores":
        using_machine(n_cores=1)
    else:

        def noisy(ws, x, y):
            jax.debug.callback(lambda value: None, x.sum())
            return LOSSES["one-hot"](ws, x, y)

        closed, _ = graph_of(descent(noisy), W, X, LABELS)
    assert plan_sharded(closed, passes) is None


class _WithDebugging:
    class config:
        jax_debug_nans, jax_debug_infs = True, False

    def __getattr__(self, name):
        return getattr(jax, name)


@pytest.mark.parametrize("n_rows, is_planned", [(8, False), (2048, True)])
def test_layers_that_read_more_weights_than_rows_are_no_shards(using_machine, n_rows, is_planned):
    using_machine(**{name: getattr(Machine(), name) for name in ("max_handed_over", "min_shard_flops")})
    ws, x = [jax.ShapeDtypeStruct((2048, 2048), "float32")] * 6, jax.ShapeDtypeStruct((n_rows, 2048), "float32")
    assert (plan_shards(inline(jax.make_jaxpr(layers)(ws, x)), 2) is not None) == is_planned


@pytest.mark.parametrize("n_rows, is_planned", [(1024, False), (8192, True)])
def test_sums_that_take_most_of_the_memory_are_not_held_by_each_core(using_machine, n_rows, is_planned):
    using_machine(partial_bytes=0)
    ws, x = [jax.ShapeDtypeStruct((1024, 1024), "float32")] * 4, jax.ShapeDtypeStruct((n_rows, 1024), "float32")
    gradients = inline(jax.make_jaxpr(jax.grad(lambda ws, x: (layers(ws, x) ** 2).sum()))(ws, x), also_custom=True)
    assert (plan_shards(gradients, 2) is not None) == is_planned
