"""Several threads on one storage: rows of their own are not lost, reads beside a writer succeed and show one moment."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
import threading

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.dispatch import in_place
from jaxaot.tape.threads import threads
from tests.runtime.test_threads import together


@pytest.fixture(autouse=True)
def threads_that_change_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(2e-5)
    yield
    sys.setswitchinterval(before)


N = 16
MASK = ja.arange(N) % 2 == 0
_compiled, _jitted = ja.compile(lambda x: x * 1), jax.jit(lambda x: x + 0)

READS = {
    "numpy": lambda x: x.numpy(),
    "asarray": lambda x: np.asarray(x),
    "array": lambda x: np.array(x, copy=True),
    "jax": lambda x: x.jax(),
    "jit": lambda x: _jitted(x.jax()),
    "dlpack": lambda x: np.from_dlpack(x),
    "item": lambda x: x[3].item(),
    "tolist": lambda x: x.tolist(),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "bool": lambda x: bool(x[0] >= 0),
    "str": lambda x: [float(word) for word in str(x)[len("tensor([") : -len("])")].split(",")],
    "repr": lambda x: [float(word) for word in repr(x)[len("tensor([") : -len("])")].split(",")],
    "format": lambda x: float(f"{x[1]:.1f}"),
    "iteration": lambda x: [float(part) for part in x[14:]][:1],
    "clone": lambda x: x.clone(),
    "deepcopy": lambda x: copy.deepcopy(x),
    "copy": lambda x: copy.copy(x) + 0,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "add": lambda x: x + 0,
    "sum": lambda x: x.sum() / N,
    "comparison": lambda x: (x >= 0).all(),
    "allclose": lambda x: ja.allclose(x, x.clone(), rtol=1e9),
    "slice": lambda x: x[2:5],
    "mask": lambda x: x[MASK],
    "index": lambda x: x[ja.tensor([0, 3])],
    "transposed": lambda x: x.view(4, 4).t().contiguous(),
    "to": lambda x: x.to(ja.int32),
    "cat": lambda x: ja.cat([x.detach()[:2], ja.zeros(0)]),
    "data": lambda x: x.data + 0,
    "copy_": lambda x: ja.zeros(N).copy_(x),
    "out": lambda x: ja.add(x, 0, out=ja.zeros(N)),
    "storage": lambda x: x.untyped_storage().flat(),
    "compiled": lambda x: _compiled(x),
}
"""Ways to read a tensor of which all elements are equal; each returns what shows that."""


ROW_PROGRAMS = pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
"""Each row begins elsewhere, which is another program."""


def _eager():
    return lambda x: x.add_(1)


def _foreach():
    return lambda x: ja._foreach_add_([x], 1)


def _own():
    @ja.compile(dynamic=False)  # what is padded is written to a copy
    def add(x):
        x.add_(1)

    return add


_common = _own()
WRITERS = {
    "eager": _eager, "foreach": _foreach, "compiled, one function each": _own,
    "compiled, one function": lambda: _common,
}  # fmt: skip
"""Ways to add 1, each as what makes the function of a thread."""


def _read_beside(write, names, n_tries):
    """Reads beside a thread that writes, and checks that each read shows one moment."""
    x = ja.zeros(N)
    for name in names:
        READS[name](x)
    write(x)
    is_done = threading.Event()

    def writes():
        while not is_done.is_set():
            write(x)

    def reads():
        try:
            for name in names:
                last = -1.0
                for _ in range(n_tries):
                    found = READS[name](x)
                    values = np.asarray(found, np.float64)
                    assert (values == values.flat[0]).all(), (name, values)
                    assert values.flat[0] >= last or values.dtype == bool, (name, values, last)
                    last = values.flat[0]
        finally:
            is_done.set()

    together(writes, reads, timeout=300)
    assert x[0].item() == x._version


@pytest.mark.few(1)
@pytest.mark.parametrize("writer", WRITERS)
def test_reads_beside_a_writer(writer, capfd):
    _read_beside(WRITERS[writer](), READS, 25)
    assert capfd.readouterr().err == ""  # XLA says so if it is given a deleted array


@pytest.mark.slow
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_million_reads_beside_writers(writer, read, capfd):
    _read_beside(WRITERS[writer](), [read], 10_000)
    assert capfd.readouterr().err == ""


def _add_to_rows(make, n_times, n_threads=8):
    """Has each thread add to a row of its own."""
    base = ja.zeros(n_threads, N)

    def body(row):
        write = make()
        for _ in range(n_times):
            write(row)

    together(*(lambda row=base[i]: body(row) for i in range(n_threads)), timeout=300)
    assert base.tolist() == [[n_times] * N] * n_threads
    assert base._version == n_times * n_threads


@pytest.mark.few(1)
@ROW_PROGRAMS
@pytest.mark.parametrize("writer", WRITERS)
def test_rows_of_their_own(writer, capfd):
    _add_to_rows(WRITERS[writer], 60)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
@ROW_PROGRAMS
@pytest.mark.parametrize("writer", WRITERS)
def test_many_writes_to_rows_of_their_own(writer, capfd):
    _add_to_rows(WRITERS[writer], 10_000)
    assert capfd.readouterr().err == ""


def test_storages_that_are_written_and_read_crosswise():
    x, y = ja.zeros(4), ja.zeros(4)

    @ja.compile
    def both(a, b):
        a.add_(b * 0 + 1)
        b.add_(a * 0 + 1)

    def bodies():
        yield lambda: x.add_(y * 0 + 1)
        yield lambda: y.add_(x, alpha=0).add_(1)
        yield lambda: both(x, y)
        yield lambda: both(y, x)

    n = 60
    together(*(lambda body=body: [body() for _ in range(n)] for body in bodies()))
    assert x.tolist() == [3 * n] * 4
    assert y.tolist() == [3 * n] * 4


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("writer", WRITERS)
def test_functions_that_are_traced_beside_writers(writer):
    base = ja.zeros(3, N)
    is_done = threading.Event()
    counts = [0, 0]

    def traces():
        try:
            for n in range(1, 9):
                assert ja.compile(lambda x: x.sum(1) + base[2])(ja.zeros(N, n)).tolist() == [0] * N
        finally:
            is_done.set()

    def writes(i, write):
        while not is_done.is_set():
            write(base[i])
            counts[i] += 1

    together(traces, *(lambda i=i: writes(i, WRITERS[writer]()) for i in range(2)))
    assert base[:, 0].tolist() == [*counts, 0]


BESIDE_TRACES = {
    "an op of a view": lambda base: base[2] + 1,
    "an op of a view of another shape": lambda base: base.view(-1)[3:9].sum().item(),
    "an op of the base": lambda base: base + 1,
    "a copy": copy.deepcopy,
    "pickling": pickle.dumps,
    "a write": lambda base: base[1].add_(1),
    "a write of another tensor": lambda base: ja._foreach_add_([base[2] * 1], 1),
    "values": lambda base: base.tolist(),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("use", BESIDE_TRACES)
def test_uses_beside_functions_that_are_traced(use):
    base = ja.zeros(3, N)
    is_done = threading.Event()

    def traces():
        try:
            for n in range(10):
                ja.trace(lambda x: x.sum(1) + base[2] + base[0] * 0, ja.zeros(N, 1 + n % 3))
        finally:
            is_done.set()

    def uses():
        while not is_done.is_set():
            BESIDE_TRACES[use](base)

    together(traces, uses, uses)
    assert base[2].tolist() == [0] * N  # which nothing writes


@pytest.mark.few(3)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_thread_that_begins_beside_a_write(writer, monkeypatch):
    x, write = ja.zeros(N), WRITERS[writer]()
    write(x)
    x.numpy()
    n_written = 1
    for _ in range(60):
        monkeypatch.setattr(threads, "_n", 1)
        monkeypatch.setattr(threads, "are_several", False)
        is_done = threading.Event()

        def reads(is_done=is_done):
            try:
                assert len(set(x.tolist())) == 1
                write(x)
            finally:
                is_done.set()

        def writes(is_done=is_done):
            nonlocal n_written
            while not is_done.is_set():
                write(x)
                n_written += 1

        thread = threading.Thread(target=reads)
        thread.start()
        writes()
        thread.join(60)
        assert threads.are_several
        n_written += 1
    assert x.tolist() == [n_written] * N


@pytest.mark.slow
def test_one_thread_that_uses_tensors_locks_nothing():
    code = """
        import threading
        import jaxaot as ja
        from jaxaot.tape.threads import threads

        is_done = threading.Event()
        for _ in range(3):  # as in a notebook
            threading.Thread(target=is_done.wait, daemon=True).start()
        x = ja.zeros(4)
        add = ja.compile(lambda x: x.add_(1))
        for _ in range(3):
            x.add_(1), add(x), x[:2].add_(1)
        assert x.tolist() == [9, 9, 6, 6]
        assert not threads.are_several and not hasattr(x.untyped_storage(), "lock")

        thread = threading.Thread(target=lambda: x.add_(1))
        thread.start(), thread.join()
        assert threads.are_several and hasattr(x.untyped_storage(), "lock")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=120)


@pytest.fixture
def several(monkeypatch):
    together(lambda: ja.zeros(1) + 0)
    assert threads.are_several


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_write_of_one_of_several_threads_reuses_the_buffer(writer):
    x, write = ja.zeros(1000) + 0, WRITERS[writer]()
    write(x)
    pointer = x._storage.array.unsafe_buffer_pointer()
    for _ in range(3):
        write(x)
    assert x._storage.array.unsafe_buffer_pointer() == pointer
    held = x.numpy()
    write(x)
    assert held.tolist() == [4] * 1000 and x.tolist() == [5] * 1000


@pytest.mark.usefixtures("several")
def test_a_write_that_fails_leaves_the_value(monkeypatch):
    x = ja.ones(4)

    def fails(*_):
        raise KeyError("stop")

    with monkeypatch.context() as patched, pytest.raises(KeyError):
        patched.setattr(in_place, "run_into", fails)
        x.add_(1)
    assert x.tolist() == [1] * 4 and x._version == 0
    together(lambda: x.add_(1))
    assert x.tolist() == [2] * 4


@pytest.mark.usefixtures("several")
def test_a_handler_of_signals_reads_what_its_own_thread_is_about_to_write(monkeypatch):
    x, seen, run_into = ja.ones(4), [], in_place.run_into

    def runs(*args):
        seen.append(x.tolist())
        return run_into(*args)

    monkeypatch.setattr(in_place, "run_into", runs)
    x.add_(1)
    assert seen == [[1] * 4] and x.tolist() == [2] * 4


def test_weights_that_several_threads_train():
    w, n = ja.zeros(2, N), 40

    def body(i):
        inputs = ja.ones(N) * (i + 1)

        @ja.compile
        def step(x):
            loss = ((w[i].detach().requires_grad_() * 0 + x).sum()).detach()
            w[i].sub_(x, alpha=-1)
            return loss

        for _ in range(n):
            assert step(inputs).item() == N * (i + 1)

    together(lambda: body(0), lambda: body(1))
    assert w.tolist() == [[n] * N, [2 * n] * N]
