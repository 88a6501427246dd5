"""The record of the machine: looked up once, replaced for a block, in other threads too."""

import dataclasses
import os
import threading

import pytest

from jaxaot.backend.cpu import machine as module
from jaxaot.backend.cpu.machine import Machine, machine, using


def test_it_is_looked_up_once():
    assert machine() is machine() and machine().n_cores == len(os.sched_getaffinity(0))


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        machine().n_cores = 1


def test_facts_are_replaced_for_a_block_in_all_threads():
    before, seen = machine(), []
    with using(n_cores=3):
        with using(max_taps=1) as inner:
            assert (inner.n_cores, inner.max_taps) == (3, 1)
            thread = threading.Thread(target=lambda: seen.append(machine()))
            thread.start()
            thread.join()
        assert machine().max_taps == before.max_taps
    assert machine() is before and seen == [inner]


def test_an_unknown_fact_is_an_error():
    with pytest.raises(TypeError, match="n_coers"), using(n_coers=3):
        pass


def test_an_error_ends_the_block():
    with pytest.raises(ZeroDivisionError), using(n_cores=3):
        raise ZeroDivisionError
    assert module._replaced == []


@pytest.mark.parametrize(("glibc", "large"), [((2, 36), True), ((2, 35), False), (None, False)])
def test_what_the_allocator_keeps(glibc, large):
    known = Machine(glibc=glibc)
    assert known.takes_large_blocks is large and known.kept_bytes == 63 << 19
