"""What is written to a part of a value is computed before any of that value is overwritten, and costs the part."""

import functools
import random
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.repair.separate_writes import separate_writes
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from tests.seeds import one_in, seeds, some


def rows_down(x):
    y = x.reshape(4, -1)
    return lax.dynamic_update_slice(y, y[:3], (1, 0))


def rows_down_at_once(x):
    y = jnp.cumsum(x)
    return y.at[1:].set(y[:-1])


def behind_elementwise(x):
    y = jnp.negative(-x.reshape(8, -1))
    return lax.dynamic_update_slice(y, -y[:7] + 1, (1, 0))


def read_through_another_shape(x):
    y = jnp.cumsum(x)
    part = lax.dynamic_slice(y.reshape(4, -1) + 1, (0, 0), (3, x.size // 4)).reshape(-1)
    return lax.dynamic_update_slice(y, part, (1,))


def rows_by_number(x):
    y = x.reshape(4, -1)
    return y.at[jnp.array([1, 2, 3])].set(y[jnp.array([0, 1, 2])])


def one_row_added(x):
    y = jnp.cumsum(x).reshape(4, -1)
    return y.at[jnp.array([2])].add(y[jnp.array([1])][:, ::-1])


def a_queue(x):
    y = x.reshape(4, -1)
    y = lax.dynamic_update_slice(y, y[:-1], (1, 0))
    return lax.dynamic_update_slice(y, jnp.ones_like(y[:1]), (0, 0)).reshape(-1)


PROGRAMS = (
    rows_down,
    rows_down_at_once,
    behind_elementwise,
    read_through_another_shape,
    rows_by_number,
    one_row_added,
    a_queue,
)


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def in_order(fn, *args):
    """Returns what a function gives that runs one equation after the other."""
    with jax.disable_jit():
        return np.asarray(fn(*args))


def as_itself(fn):
    return fn


def in_a_branch(fn):
    return lambda x: lax.cond(x[1] > 0, fn, lambda x: fn(x) * 2, x)


def in_a_loop(fn):
    return lambda x: lax.fori_loop(0, 3, lambda _, c: fn(c).reshape(x.shape), x)


def in_a_scan(fn):
    return lambda x: lax.scan(lambda c, _: (fn(c).reshape(x.shape), fn(c).sum()), x, None, length=3)[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("place", some([in_a_scan, as_itself, in_a_branch, in_a_loop], 1))
@pytest.mark.parametrize("fn", PROGRAMS)
def test_writes_within_one_value_by_jit(fn, place):
    for n in (8, 4096) if fn is behind_elementwise else (4, 4096):
        x = jnp.arange(float(n))
        np.testing.assert_array_equal(ja.jit(place(fn))(x), in_order(place(fn), x))


@pytest.mark.few(1)
@pytest.mark.parametrize("fn", one_in(2, PROGRAMS))
def test_writes_within_one_value_without_passes_on_a_device_and_in_other_programs(fn):
    x = jnp.arange(16.0)
    want = in_order(fn, x)
    with ja.config(passes=()):
        np.testing.assert_array_equal(ja.jit(lambda x: fn(x))(x), want)
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    np.testing.assert_array_equal(ja.jit(lambda x: fn(x), in_shardings=here)(x), want)
    np.testing.assert_array_equal(ja.jit(lambda x: fn(x)).lower(x).compile()(x), want)
    executable = Executable(graph_of(fn, x))
    np.testing.assert_array_equal(executable.call(x)[0], want)
    np.testing.assert_array_equal(jax.jit(lambda x: executable.call(x)[0])(x), want)


def shifted(x):
    b = x + 1
    b[1:] = b[:-1].clone()
    return b.view(1, 8, 16)


def pushed(x):
    v = x.view(8, 16)
    v[1:] = v[:-1].clone()
    v[0] = -1.0
    return v.sum(0)


def summed_within(x):
    v = (x * 1).view(16, 8)
    v[4:12].cumsum_(0)
    v[1:9] += v[4:12].flip(0)
    return v


@pytest.mark.few(2)
@pytest.mark.parametrize("fn", [shifted, pushed, summed_within])
@pytest.mark.parametrize("dtype", some(["float32", "int32", "float16"], 1))
def test_tensors_shifted_within_themselves_are_as_eagerly(fn, dtype):
    one, other = (ja.arange(128, dtype=np.dtype(dtype)).reshape(8, 16) for _ in range(2))
    want = fn(one)
    for compiled in (ja.compile(fn), ja.compile(fn)):
        np.testing.assert_array_equal(compiled(other.clone()).numpy(), want.numpy())
    ja.compile(fn)(other)
    np.testing.assert_array_equal(other.numpy(), one.numpy())


def test_a_window_that_is_read_as_it_is_written_stays_in_place_in_loops():
    def add_one(x):
        return lax.fori_loop(0, 3, lambda i, c: c.at[i].add(1.0), x)

    def from_the_one_before(x):
        return lax.fori_loop(
            1, 4, lambda i, c: lax.dynamic_update_slice(c, lax.dynamic_slice(c, (i - 1,), (1,)), (i,)), x
        )

    for fn in (add_one, from_the_one_before):
        closed = graph_of(fn, jnp.ones(8))
        assert separate_writes(closed) is closed


def test_graphs_without_conflicts_are_left_alone():
    def new_row(cache, x):
        return lax.dynamic_update_slice(cache, x @ x, (3, 0)), cache.sum()

    for fn, args in ((new_row, (jnp.ones((9, 4)), jnp.ones((4, 4)))), (lambda x: x * 2, (jnp.ones(3),))):
        closed = graph_of(fn, *args)
        assert separate_writes(closed) is closed


INPLACE = {
    "add_": lambda v: v.add_(1),
    "mul_": lambda v: v.mul_(2),
    "copy_": lambda v: v.copy_(v.flip(0)),
    "cumsum_": lambda v: v.cumsum_(0),
    "clamp_": lambda v: v.clamp_(0, 1),
    "item": lambda v: v.__setitem__(slice(1, 4), v[2:5] * 2),
}


@pytest.mark.parametrize("name", INPLACE)
def test_a_small_write_goes_through_no_more_than_the_view(name):
    n = 1 << 20

    @ja.compile
    def write(base):
        INPLACE[name](base[100:110])

    base = ja.zeros(n)
    write(base)
    (program,) = write.programs
    executable = program.executables["forward_donated"]
    text = executable.as_text(optimized=True)
    made = [line for line in text.splitlines() if re.search(rf"= f32\[{n}\]", line)]
    in_place = re.compile(r"parameter\(|dynamic-update-slice|scatter|bitcast|opt-barrier|get-tuple-element")
    fused = [line for line in made if not in_place.search(line)]
    assert not fused, fused
    assert executable.memory_analysis().temp_size_in_bytes < n


def test_a_view_that_is_written_with_itself_is_no_write():
    def write(x):
        x[2:4] += 1
        x[1] *= 2
        x[0:1] = x[0:1]
        x.copy_(x)

    names = [eqn.primitive.name for eqn in ja.trace(write, ja.zeros(8)).jaxpr.jaxpr.eqns]
    assert names.count("dynamic_update_slice") == 2
    one, other = ja.ones(8), ja.ones(8)
    write(one)
    ja.compile(write)(other)
    assert one._version == other._version == 6  # as in PyTorch
    assert one.tolist() == other.tolist() == [1, 2, 2, 2, 1, 1, 1, 1]


@pytest.mark.slow
def test_gradients_through_views_that_are_written_with_themselves():
    def loss(a, w):
        x = a * 2
        x[2:4] *= w
        x[0] += a[3]
        x[5:6] = x.detach()[5:6]
        return (x * x).sum()

    for run in (loss, ja.compile(loss)):
        a, w = ja.ones(8, requires_grad=True), ja.tensor([3.0, 4.0], requires_grad=True)
        run(a, w).backward()
        assert a.grad.tolist() == [12, 8, 72, 134, 8, 0, 8, 8] and w.grad.tolist() == [24, 32]


def random_program(seed):
    """Returns a function that shifts parts of what it makes of an array about, and the array."""
    n = random.Random(seed).choice([4, 6, 16, 24, 64, 256])
    dtype = random.Random(seed).choice([jnp.float32, jnp.float32, jnp.int32, jnp.float16, jnp.int8])

    def fn(x):
        rng = random.Random(seed)
        ways = [lambda y: y, lambda y: y + 1, lambda y: -y, jnp.cumsum, lambda y: y[::-1]]
        y = rng.choice(ways)(x)
        for _ in range(rng.randint(1, 3)):
            rows = rng.choice([d for d in range(1, n + 1) if n % d == 0 and d > 1])
            y = y.reshape(rows, -1)
            source = rng.choice([lambda y: y, lambda y: y, lambda y: -y])(y)
            k = rng.randint(1, rows)
            start, target = rng.randint(0, rows - k), rng.randint(0, rows - k)
            part = rng.choice([lambda p: p, lambda p: -p, lambda p: p[::-1], lambda p: p + 1])(
                source[start : start + k]
            )
            if rng.random() < 0.3:
                y = y.at[jnp.arange(k) + target].set(part)
            else:
                y = lax.dynamic_update_slice(y, part, (target, 0))
            y = y.reshape(-1)
        return y

    return fn, (jnp.arange(n) % 7).astype(dtype)


@functools.cache
def places():
    return as_itself, in_a_branch, in_a_loop


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(60, 2))
def test_random_shifts(seed):
    fn, x = random_program(seed)
    for place in places():
        np.testing.assert_array_equal(ja.jit(place(fn))(x), in_order(place(fn), x))
    part = separate_writes(graph_of(fn, x), keeps_barriers=False)
    np.testing.assert_array_equal(jax.jit(jaxpr_as_fun(part))(x)[0], in_order(fn, x))
