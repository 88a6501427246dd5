"""Write-back is a swap: compiled calls update buffers in place, copy none, and never delete anybody else's array."""

import re

import jax
import numpy as np
import pytest

import jaxaot as ja

CACHE_BYTES = 256 * 2**20


def only_program(step):
    (program,) = step.programs
    return program


def copies_of_at_least(executable, n_bytes):
    """Returns the lines of the optimized HLO that copy a buffer of at least some bytes."""
    found = []
    for line in executable.as_text(optimized=True).splitlines():
        match = re.search(r"= (\w+?)(\d+)\[([\d,]*)\]\S* copy(-start)?\(", line)
        if match and np.prod([int(n) for n in match[3].split(",") if n]) * int(match[2]) // 8 >= n_bytes:
            found.append(line.strip())
    return found


def test_a_write_to_a_big_cache_copies_nothing():
    cache, key = ja.zeros(1, 16, 32768, 128), ja.ones(1, 16, 1, 128)
    assert cache.nbytes == CACHE_BYTES

    @ja.compile
    def write(cache, key):
        cache[:, :, 5:6].copy_(key)
        return cache[:, :, :8].sum()

    assert write(cache, key).item() == 16 * 128
    buffer = cache.jax().unsafe_buffer_pointer()
    write(cache, key)
    executable = only_program(write).executables["forward_donated"]
    memory = executable.memory_analysis()
    assert memory.alias_size_in_bytes >= CACHE_BYTES and memory.temp_size_in_bytes < 2**20
    assert copies_of_at_least(executable, 2**20) == []
    assert cache.jax().unsafe_buffer_pointer() == buffer


def test_an_optimizer_step_copies_nothing():
    parameters = [ja.randn(64, 64) for _ in range(4)]
    moments = [[ja.zeros(64, 64) for _ in range(4)] for _ in range(2)]
    gradients = [ja.randn(64, 64) for _ in range(4)]

    @ja.compile
    def adam(parameters, means, squares, gradients):
        for p, m, v, g in zip(parameters, means, squares, gradients, strict=True):
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.99).addcmul_(g, g, value=0.01)
            p.addcdiv_(m, v.sqrt().add_(1e-8), value=-1e-3)

    before = [p.clone() for p in parameters]
    adam(parameters, *moments, gradients)
    executable = only_program(adam).executables["forward_donated"]
    assert executable.memory_analysis().alias_size_in_bytes >= 12 * 64 * 64 * 4
    assert copies_of_at_least(executable, 64 * 64 * 4) == []
    for p, was, g in zip(parameters, before, gradients, strict=True):
        np.testing.assert_allclose(p.numpy(), (was - 1e-3 * g.sign()).numpy(), rtol=1e-3, atol=1e-3)


def holds_jax(x):
    return x.jax()


def holds_numpy(x):
    return x.numpy()


def holds_dlpack(x):
    return jax.dlpack.from_dlpack(x)


def holds_jax_of_a_view(x):
    return x.view(2, 4)[0].jax()


def holds_clone(x):
    return x.clone().jax()


@pytest.mark.parametrize("hold", [holds_jax, holds_numpy, holds_dlpack, holds_jax_of_a_view, holds_clone])
def test_what_somebody_else_holds_is_not_donated(hold):
    x = ja.arange(8).float()
    held = hold(x)
    values = np.array(held)
    step = ja.compile(lambda x: x.add_(1))
    for _ in range(3):
        step(x)
    assert np.array_equal(np.asarray(held), values) and x.tolist() == [float(i + 3) for i in range(8)]


def test_what_the_tape_saved_is_not_donated():
    w, x = ja.ones(4, requires_grad=True), ja.full((4,), 3.0)
    loss = (w * x).sum()
    ja.compile(lambda x: x.zero_())(x)
    loss.backward()
    assert w.grad.tolist() == [3] * 4


def test_what_a_compiled_call_saved_is_not_donated():
    w, x = ja.ones(4, requires_grad=True), ja.full((4,), 3.0)
    step, clear = ja.compile(lambda w, x: (w * x).sum()), ja.compile(lambda x: x.zero_())
    loss = step(w, x)
    clear(x)
    loss.backward()
    assert w.grad.tolist() == [3] * 4


def test_an_array_that_was_passed_in_is_not_donated():
    array = jax.numpy.ones(4)
    x = ja.interop.from_jax(array)
    ja.compile(lambda x: x.mul_(5))(x)
    assert array.tolist() == [1] * 4 and x.tolist() == [5] * 4


def test_two_outputs_of_one_value_do_not_share_a_donated_buffer():
    x, y = ja.ones(4), ja.zeros(4)

    @ja.compile
    def fn(x, y):
        x.add_(1)
        y.copy_(x)

    for _ in range(3):
        fn(x, y)
        x.jax().block_until_ready()
    assert x.tolist() == [4] * 4 and y.tolist() == [4] * 4
    y.add_(1)
    assert x.tolist() == [4] * 4


def test_an_error_when_the_program_runs_leaves_every_storage():
    def refuse(value):
        raise ValueError("not today")

    def fn(x, y):
        x.add_(1)
        y.copy_(ja.interop.from_jax(jax.pure_callback(refuse, jax.ShapeDtypeStruct((4,), np.float32), y.jax())))

    x, y = ja.ones(4), ja.zeros(4)
    with ja.config(donate=False), pytest.raises(Exception, match="not today"):
        ja.compile(fn)(x, y)
        x.jax().block_until_ready()


def test_an_error_of_the_function_leaves_what_it_did():
    x, y, w = ja.ones(4), ja.zeros(2, 2), ja.ones(3, requires_grad=True)
    views = x[1:], y.t()

    def fn(x, y, w):
        x.add_(1)
        y.t_().unsqueeze_(0)
        (w * 2).sum().backward()
        raise KeyError("stop")

    step = ja.compile(fn)
    with pytest.raises(KeyError, match="stop"):
        step(x, y, w)
    assert x.tolist() == [2] * 4 and tuple(y.shape) == (1, 2, 2) and w.grad.tolist() == [2] * 3
    assert views[0].tolist() == [2] * 3 and views[0].untyped_storage() is x.untyped_storage()
    assert (x._version, w._version) == (1, 0) and step.cache_info().currsize == 0
    x.add_(1)
    assert views[0].tolist() == [3] * 3
