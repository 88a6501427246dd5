"""The small tools: having Python's collector wait."""

import functools
import gc
import threading

import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot._util import _Wait, collector


def test_the_collector_waits_until_the_last_has_ended():
    assert gc.isenabled()
    inside, may_end = threading.Event(), threading.Event()

    def other():
        with collector.waits():
            inside.set()
            may_end.wait()

    thread = threading.Thread(target=other)
    with collector.waits(), collector.waits():
        thread.start()
        inside.wait()
        assert not gc.isenabled()
    assert not gc.isenabled()
    may_end.set()
    thread.join()
    assert gc.isenabled()


def test_the_collector_goes_on_after_an_error_and_stays_off_if_it_was():
    with pytest.raises(KeyError), collector.waits():
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with collector.waits():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_wait_that_was_cut_off_is_over():
    wait = _Wait()
    collector._waits.add(wait)
    collector._was_on = True
    gc.disable()
    del wait  # as an interrupt leaves it: nothing put the collector on again
    with collector.waits():
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.parametrize("way", ["jit", "compile"])
def test_it_waits_while_a_graph_is_made_and_not_while_it_runs(way):
    seen, is_on = [], functools.partial(gc.isenabled)  # asked for by itself, a function runs eagerly

    def fn(x):
        if x.shape[0] == 128:
            seen.append(is_on())
        return x @ x

    wrapped, x = (ja.jit(fn), jnp.ones((256, 256))) if way == "jit" else (ja.compile(fn), ja.ones(256, 256))
    assert wrapped(x).shape == (256, 256) and gc.isenabled()
    wrapped(x[:128, :128])
    assert seen == [False] and gc.isenabled()
