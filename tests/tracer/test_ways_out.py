"""Ways out of compilation: functions that run eagerly or must be one graph, and objects that are vouched for."""

import gc
import random
import warnings
import weakref

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import RecompileWarning, TensorTypeError, UsageError, VolatileError


class Bag:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def test_a_disabled_function_runs_eagerly_and_so_does_what_calls_it():
    seen = []

    @ja.compiler.disable(reason="it keeps a log")
    def note(x):
        seen.append(x.item())
        return x * 2

    done = []

    @ja.compile
    def fn(x):
        done.append(1)
        return note(x + 1) + 1

    x = ja.tensor(1.0, requires_grad=True)
    with pytest.warns(RecompileWarning, match=r"note` is called, which `ja.compiler.disable` .*: it keeps a log"):
        assert fn(x).item() == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn(x).backward()
    assert seen == [2, 2] and done == [1, 1] and x.grad.item() == 2
    assert note(ja.ones(())).item() == 2 and note.__name__ == "note"


def test_what_has_to_be_one_graph_is_refused():
    fn = ja.compile(lambda x: x * random.random(), fullgraph=True)
    with pytest.raises(VolatileError, match="global `random`"):
        fn(ja.ones(1))
    assert ja.compile(lambda x: x * 2, fullgraph=True)(ja.ones(1)).item() == 2
    disabled = ja.compiler.disable(lambda x: x)
    with pytest.raises(VolatileError, match="disable"):
        ja.compile(fullgraph=True)(lambda x: disabled(x))(ja.ones(1))
    with pytest.raises(UsageError, match="segments=True"):
        ja.compile(lambda x: x, segments=True, fullgraph=True)


@pytest.mark.parametrize("is_argument", [False, True])
def test_what_is_assumed_to_be_constant_is_not_looked_at(is_argument):
    held = ja.assume_constant(Bag(k=2, rows=[1, 2], w=ja.ones(1)))
    body = lambda held, x: x * held.k * len(held.rows) * held.w
    fn = ja.compile(body if is_argument else lambda x: body(held, x))
    args = (held, ja.ones(1)) if is_argument else (ja.ones(1),)
    assert fn(*args).item() == 4
    held.k = 3
    held.rows.append(3)
    held.w.mul_(2)  # tensors are found anew
    assert fn(*args).item() == 8 and fn.cache_info().misses == 1
    if is_argument:
        assert fn(Bag(k=5, rows=[1], w=ja.ones(1)), ja.ones(1)).item() == 5
    else:
        held = Bag(k=5, rows=[1], w=ja.ones(1))
        assert fn(*args).item() == 5


def test_a_large_list_that_is_assumed_to_be_constant():
    items = ja.assume_constant(list(range(200_000)))
    fn = ja.compile(lambda x: x * items[5])
    assert fn(ja.ones(1)).item() == 5
    items = [1] * 6
    assert fn(ja.ones(1)).item() == 1


def test_what_is_assumed_to_be_constant_is_not_kept_alive():
    bag = ja.assume_constant(Bag(k=2))
    reference = weakref.ref(bag)
    del bag
    gc.collect()
    assert reference() is None
    with pytest.raises(TensorTypeError, match="was given 3"):
        ja.assume_constant(3)


@pytest.mark.parametrize("compiler", [ja.compile, jax.jit, lambda fn: fn])
def test_print_prints_at_each_call(compiler, capsys):
    def fn(x):
        y = x * 2
        ja.print("y is", {"y": y}, 3, sep="|")
        return y

    fn = compiler(fn)
    for value in (1.0, 2.0):
        fn(jnp.full(2, value) if compiler is jax.jit else ja.full((2,), value))
    jax.effects_barrier()
    out = capsys.readouterr().out.replace("Array(", "tensor(").replace(", dtype=float32", "")
    assert out == "y is|{'y': tensor([2., 2.])}|3\ny is|{'y': tensor([4., 4.])}|3\n"
