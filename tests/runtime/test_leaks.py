"""Thousands of calls leave nothing behind."""

from __future__ import annotations

import gc
import resource

import pytest

import jaxaot as ja
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.tape.node import Node
from tests.seeds import some

N_CALLS = 4_000


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def alive():
    return sum(isinstance(o, (ja.Tensor, Storage, History, Node)) for o in gc.get_objects())


def grown_bytes(call):
    before = resident_bytes()
    for _ in range(N_CALLS // 2):
        call()
    return resident_bytes() - before


def forward():
    fn, x = ja.compile(lambda x: x * 2 + 1), ja.ones(16)
    return lambda: fn(x)


def in_place():
    fn, x = ja.compile(lambda x: x.mul_(0.5)), ja.ones(16)
    return lambda: fn(x)


def backward():
    w, x = ja.ones(16, requires_grad=True), ja.ones(16)
    fn = ja.compile(lambda x: (x * w).exp().sum())

    def call():
        w.grad = None
        fn(x).backward()

    return call


def views():
    fn, x = ja.compile(lambda x: (x.view(4, 4), x[2:])), ja.ones(16)
    return lambda: fn(x)


def never_differentiated():
    w = ja.ones(16, requires_grad=True)
    fn = ja.compile(lambda x: (x * w).exp())
    return lambda: fn(ja.ones(16))


@pytest.mark.parametrize("make", some([backward, views, forward, in_place, never_differentiated], 1))
def test_calls_leave_nothing_behind(make):
    call = make()
    for _ in range(200):
        call()
    gc.collect()
    gc.disable()
    try:
        objects = alive()
        # A leak grows in each round; the heap of a worker that ran thousands of tests may grow in one.
        assert min(grown_bytes(call) for _ in range(3)) < 2 << 20, "memory grows"
        assert alive() - objects <= 8
        before = alive()
        gc.collect()
        assert alive() == before, "tensors were held by cycles"
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
def test_compiling_again_and_again_frees_what_was_dropped():
    fn = ja.compile(lambda x: x * 2, max_programs=2)
    for n in range(1, 4):
        fn(ja.ones(n))
    gc.collect()
    objects = len(gc.get_objects())
    for n in range(1, 30):
        fn(ja.ones(n))
    gc.collect()
    assert fn.cache_info().currsize == 2
    assert len(gc.get_objects()) - objects < 30_000
