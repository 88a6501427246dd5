"""Memory that programs with large temporaries, or of several subprograms, free stays with the process."""

import functools
import os
import platform
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.backend.cpu.memory import allocator, sequential
from jaxaot.backend.cpu.memory.allocator import is_told_otherwise, keep_freed_memory
from jaxaot.backend.cpu.pipeline import KEEP_FREED_MEMORY
from tests.declared import BY_DEFAULT

FAULTS = """
import ctypes, resource, sys, threading

sizes = [20 << 20] * 5 if "many" in sys.argv else [60 << 20]

def calls():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        blocks = [libc.malloc(size) for size in sizes]
        for block, size in zip(blocks, sizes):
            ctypes.memset(block, 1, size)
        for block in blocks:
            libc.free(block)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

if "keep" in sys.argv:
    from jaxaot.backend.cpu.memory.allocator import keep_freed_memory
    assert keep_freed_memory()
thread = threading.Thread(target=calls)
thread.start()
thread.join()
"""


def faults(*argv):
    """Returns how many pages the fifth of five calls in a thread got, each of which takes and frees memory."""
    environment = {name: value for name, value in os.environ.items() if not is_told_otherwise({name: value})}
    command = [sys.executable, "-c", FAULTS, *argv]
    return int(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="keep_freed_memory leaves other allocators alone")
def test_what_a_thread_frees_is_there_at_its_next_call():
    assert faults("many") > 20_000 > 1_000 > faults("many", "keep")


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="keep_freed_memory leaves other allocators alone")
def test_a_block_of_nearly_a_heap_is_kept_where_glibc_can():
    version = tuple(map(int, platform.libc_ver()[1].split(".")))
    assert faults() > 10_000
    assert (faults("keep") < 1_000) == (version >= (2, 36))


def test_how_much_is_kept(monkeypatch, using_machine):
    for name in [name for name in os.environ if is_told_otherwise({name: os.environ[name]})]:
        monkeypatch.delenv(name)
    for version, expected, given_back in [
        ((2, 36), 60 << 20, 62 << 20), ((2, 35), 63 << 19, 63 << 19), (None, 63 << 19, 63 << 19),
    ]:  # fmt: skip
        using_machine(glibc=version)
        assert allocator.most_kept_bytes() == expected
        assert allocator.given_back_bytes() == given_back
    using_machine(glibc=(2, 40))
    monkeypatch.setenv("MALLOC_TOP_PAD_", "0")
    assert allocator.most_kept_bytes() == 63 << 19


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"MALLOC_ARENA_MAX": "1"}, False),
        ({"MALLOC_TOP_PAD_": "0"}, True),
        ({"GLIBC_TUNABLES": "glibc.malloc.top_pad=0"}, True),
        ({"GLIBC_TUNABLES": "glibc.cpu.x86_ibt=off"}, False),
    ],
)
def test_what_the_environment_says_stays(monkeypatch, environment, expected):
    assert is_told_otherwise(environment) is expected
    calls = []
    monkeypatch.setattr(allocator, "_set_parameters", lambda *_: not calls.append(None))
    monkeypatch.setattr(allocator, "_is_keeping", False)
    for name in [name for name in os.environ if is_told_otherwise({name: os.environ[name]})]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert keep_freed_memory() is not expected and len(calls) == (not expected)


KEPT = """
import ctypes, sys, threading
import jaxaot as ja
from jaxaot.backend.cpu.memory import allocator

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20

def work():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    blocks = [libc.malloc(20 << 20) for _ in range(40)]
    for block in blocks:
        ctypes.memset(block, 1, 20 << 20)
    for block in blocks:
        libc.free(block)

def run():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return resident() - before

assert allocator.keep_freed_memory()
before = resident()
print(run())
allocator.keep_freed_memory()  # as another program is prepared
print(resident() - before)
run()
with ja.config(keep_heaps=False):
    print(resident() - before)
    assert not allocator.keep_freed_memory()
    print(run())
assert allocator.keep_freed_memory()
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="keep_freed_memory leaves other allocators alone")
def test_kept_memory_is_bounded_and_given_back_when_asked():
    environment = {name: value for name, value in os.environ.items() if not is_told_otherwise({name: value})}
    command = [sys.executable, "-c", KEPT]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    kept, at_next_program, undone, later = map(int, found.split())
    assert kept > 600
    assert max(at_next_program, undone, later) < 200


def deep(tanh, weights, x):
    for w in weights:
        x = x + tanh(x @ w)
    return (x * x).mean()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("rows", "passes", "expected"),
    [
        (8192, (*BY_DEFAULT, "subprograms", KEEP_FREED_MEMORY), 1),
        (8192, (*BY_DEFAULT, "subprograms"), 0),
        (64, (*BY_DEFAULT, "subprograms", KEEP_FREED_MEMORY), 0),
    ],
    ids=["large", "switched off", "small"],
)
def test_freed_memory_is_kept_for_graphs_with_large_temporaries(monkeypatch, rows, passes, expected):
    asked = []
    monkeypatch.setattr(sequential, "keep_freed_memory", lambda: asked.append(None))
    weights = [jnp.full((128, 128), 0.01)] * 12
    with ja.config(passes=passes):
        ja.jit(jax.grad(functools.partial(deep, jnp.tanh)))(weights, jnp.ones((rows, 128)))
        assert len(asked) == expected
        parameters = [ja.interop.from_jax(w).requires_grad_() for w in weights]
        ja.compile(lambda x: ja.autograd.grad(deep(ja.tanh, parameters, x), parameters))(ja.ones((rows, 128)))
        assert len(asked) == 2 * expected
