"""Compiled functions called from several threads."""

from __future__ import annotations

import os
import random
import threading
import time

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.trace_state import RUNNING, TRACING


def together(*bodies, timeout=120):
    """Runs functions in threads that start at once, and raises what one of them raised."""
    barrier, failures = threading.Barrier(len(bodies)), []

    def run(body):
        barrier.wait()
        try:
            body()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(body,), daemon=True) for body in bodies]
    for thread in threads:
        thread.start()
    end = time.monotonic() + timeout
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if failures:
        raise failures[0]


def test_one_shape_is_compiled_once():
    fn = ja.compile(lambda x: (x * 2).sum())
    results = []
    together(*[lambda: [results.append(fn(ja.ones(4)).item()) for _ in range(50)]] * 6)
    assert results == [8.0] * 300
    assert fn.cache_info() == (299, 1, 1)


@pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
def test_many_shapes_at_once():
    fn = ja.compile(lambda x: x * 2, max_programs=3)

    def body(seed):
        rng = random.Random(seed)
        for _ in range(40):
            n = rng.randint(1, 5)
            assert fn(ja.ones(n)).tolist() == [2.0] * n

    together(*(lambda seed=seed: body(seed) for seed in range(4)))
    info = fn.cache_info()
    assert info.hits + info.misses == 160 and info.currsize <= 3


def test_gradients_in_each_thread():
    w = ja.ones(3, requires_grad=True)
    fn = ja.compile(lambda x: (x * w).sum())

    def body(n):
        for _ in range(30):
            assert ja.autograd.grad(fn(ja.full((3,), float(n))), w)[0].tolist() == [n] * 3

    together(*(lambda n=n: body(n) for n in range(4)))
    assert fn.cache_info().misses == 1


def test_writes_of_one_function_are_not_lost():
    total, weight = ja.zeros(2), ja.ones(2)
    add = ja.compile(lambda x: total.add_(x * weight))
    together(*[lambda: [add(ja.ones(2)) for _ in range(100)]] * 4)
    assert total.tolist() == [400, 400] and total._version == 400


def test_random_numbers_are_drawn_once():
    ja.manual_seed(0)
    fn = ja.compile(lambda: ja.rand(2))
    drawn = []
    together(*[lambda: [drawn.append(tuple(fn().tolist())) for _ in range(50)]] * 4)
    ja.manual_seed(0)
    assert sorted(drawn) == sorted(tuple(ja.rand(2).tolist()) for _ in range(200))


@pytest.mark.slow
def test_tracing_while_another_thread_calls():
    weights, fixed = ja.full((4,), 3.0), ja.ones(4)
    buffer = ja.zeros(4)

    def slow(x):
        y = x * weights * fixed
        time.sleep(0.05)  # other threads run while the storage of the weights holds a symbol
        buffer.add_(y.sum())
        return y.t_() if y.ndim == 2 else y

    serve, write = ja.compile(lambda x: x * weights), ja.compile(lambda: weights.mul_(1.0))
    serve(ja.ones(4)), write()
    stop = threading.Event()

    def body():
        while not stop.is_set():
            assert serve(ja.ones(4)).tolist() == [3.0] * 4
            write()

    def read():
        while not stop.is_set():
            assert (fixed + 1).tolist() == [2.0] * 4

    def trace():
        try:
            for n in range(1, 6):
                assert ja.compile(slow)(ja.ones(n, 4)).shape == (4, n)
        finally:
            stop.set()

    together(trace, body, body, read)
    assert serve.cache_info().misses == write.cache_info().misses == 1
    assert weights.tolist() == [3.0] * 4 and buffer.tolist() == [12.0 * 15] * 4


@pytest.mark.slow
def test_traces_in_several_threads():
    shared = ja.ones(3)
    together(
        *(
            lambda n=n: [ja.compile(lambda x: shared.add_(0) * x.sum() + n)(ja.ones(k + 1)) for k in range(5)]
            for n in range(4)
        )
    )
    assert shared.tolist() == [1.0] * 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
def test_clear_cache_while_calling():
    fn = ja.compile(lambda x: x + 1)
    stop = threading.Event()

    def clear():
        for _ in range(20):
            fn.clear_cache()
            fn.cache_info()
            time.sleep(0.002)
        stop.set()

    def body():
        while not stop.is_set():
            for n in (1, 2):
                assert fn(ja.ones(n)).tolist() == [2.0] * n

    together(clear, body, body)
    fn.clear_cache()
    assert fn.cache_info() == (0, 0, 0)


def test_a_trace_that_raises_holds_no_lock():
    def fails(x):
        x.add_(1)
        raise KeyError("stop")

    fn = ja.compile(fails)
    x = ja.zeros(2)
    with pytest.raises(KeyError):
        fn(x)
    assert not RUNNING and x.tolist() == [1, 1]  # as the function itself leaves it

    def body():
        assert TRACING.acquire(timeout=5)
        TRACING.release()
        assert ja.compile(lambda x: x + 1)(ja.zeros(2)).tolist() == [1, 1]
        with pytest.raises(KeyError):
            fn(x)

    together(body, body)
    assert x.tolist() == [3, 3]
    assert fn.cache_info() == (0, 0, 0)


def test_grad_mode_is_that_of_the_thread():
    w = ja.ones(2, requires_grad=True)
    fn = ja.compile(lambda: w * 2)

    def without():
        with ja.no_grad():
            for _ in range(50):
                assert not fn().requires_grad

    together(lambda: [fn() for _ in range(50)], without)
    assert fn().requires_grad and fn.cache_info().misses == 2


@pytest.mark.slow
def test_kernels_are_found_by_all_threads():
    x = ja.tensor(np.arange(6.0))

    def body(seed):
        rng = random.Random(seed)
        for _ in range(60):
            n = rng.randint(1, 6)
            y = x[:n].clone().mul_(2)
            assert y.sum().item() == n * (n - 1)

    together(*(lambda seed=seed: body(seed) for seed in range(4)))


def test_a_tensor_of_a_trace_that_runs_in_another_thread():
    leaked, seen = [], []
    is_made, is_used = threading.Event(), threading.Event()

    def leaks(x):
        leaked.append(x * 2)
        is_made.set()
        is_used.wait(1)
        leaked.clear()
        return x + 1

    def uses():
        is_made.wait()
        (inner,) = leaked
        is_used.set()
        with pytest.raises(ja.errors.LeakedTensorError):
            ja.compile(lambda t: t + 1)(inner)
        with pytest.raises(ja.errors.LeakedTensorError):
            inner + 1
        seen.append(True)

    together(lambda: ja.compile(leaks)(ja.ones(2)), uses)
    assert seen


def test_an_array_that_another_call_overwrites_is_waited_for():
    x = ja.zeros(64)
    add, read = ja.compile(lambda: x.add_(1)), ja.compile(lambda: x.sum())
    add(), read()
    together(
        lambda: [add() for _ in range(300)],
        lambda: [read() for _ in range(300)],
    )
    assert x[0].item() == 301


def counted(read, body):
    """Returns a function that notes each time its Python runs in a way that no trace undoes, and how often it did."""

    def fn(x):
        os.write(read[1], b"x")
        for _ in range(60):
            x = x + 0  # long enough for others to come
        return body(x)

    return fn, lambda: len(os.read(read[0], 100))


@pytest.mark.parametrize("make", [ja.compile, ja.jit, ja.remat, lambda f: ja.value_and_grad(lambda x: f(x).sum())])
def test_a_function_that_all_threads_call_first_is_traced_once(make):
    once, together_ = os.pipe(), os.pipe()
    x = ja.ones(3) if make is ja.compile else np.ones(3, np.float32)
    if make is ja.compile:  # what writes runs in parts else
        make = ja.compile(fullgraph=True)
    fn, n_runs = counted(once, lambda x: x * 2)
    make(fn)(x)
    expected = n_runs()
    fn, n_runs = counted(together_, lambda x: x * 2)
    fn, results = make(fn), []
    together(*[lambda: results.append(fn(x))] * 8)
    assert len(results) == 8 and n_runs() == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
def test_what_cannot_be_compiled_is_tried_once_by_all_threads():
    fn, n_runs = counted(os.pipe(), lambda x: x * random.random())
    fn = ja.compile(fn)
    together(*[lambda: fn(ja.ones(3))] * 8)
    assert n_runs() == 8, "eight eager runs"


@pytest.mark.parametrize("make", [ja.compile, ja.remat])
def test_a_traced_function_may_wait_for_a_thread_of_its_own(make):
    inner, ones = make(lambda x: x * 2), ja.ones(2) if make is ja.compile else np.ones(2, np.float32)

    def run(x):
        got = []
        thread = threading.Thread(target=lambda: got.append(float(inner(ones)[0])))
        thread.start()
        thread.join()
        return x + got[0]

    outer, results = make(run), []
    together(lambda: results.append(outer(ones + 0)), timeout=20)
    assert float(results[0][0]) == 3


def test_a_thread_that_needs_what_is_traced_is_told_so():
    w = ja.ones(2)

    def run(x):
        failed = []

        def use():
            try:
                (w * 2).tolist()
            except ja.errors.LeakedTensorError as error:
                failed.append(str(error))

        w.add_(x)
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        return x * len(failed)

    results = []
    together(lambda: results.append(ja.compile(run)(ja.ones(2))), timeout=20)
    assert results[0].tolist() == [1, 1]
