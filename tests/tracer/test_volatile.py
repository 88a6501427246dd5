"""What is another thing at each call is never part of a program: the function runs eagerly, after one warning."""

import datetime
import gc
import importlib
import itertools
import logging
import os
import random
import time
import uuid
import warnings
import weakref

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import RecompileWarning, TracedPrintWarning, VolatileError
from jaxaot.tracer.observe import calls

pytestmark = pytest.mark.usefixtures("interpreted")


def runs_eagerly(fn, *args, match):
    """Returns the results of three calls, of which the first gives the only warning."""
    with pytest.warns(RecompileWarning, match=match):
        found = [fn(*args).item()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found += [fn(*args).item() for _ in range(2)]
    assert fn.cache_info().currsize == 0
    return found


def _shuffled(x):
    order = [1, 2, 3, 4]
    random.shuffle(order)
    return x * order[0] + 10 * order[1]


DRAWS = {
    "random": lambda x: x * random.random(),
    "choice": lambda x: x * 2 if random.choice((True, False)) else x,
    "shuffle": _shuffled,
    "NumPy": lambda x: x * float(np.random.rand()),
}


@pytest.mark.parametrize("name", DRAWS)
def test_global_random_numbers(name):
    random.seed(3), np.random.seed(3)
    expected = [DRAWS[name](ja.ones(())).item() for _ in range(3)]
    random.seed(3), np.random.seed(3)
    fn = ja.compile(DRAWS[name])
    assert runs_eagerly(fn, ja.ones(()), match="global `.*random`, and would draw the same") == expected


@pytest.mark.parametrize("make", [random.Random, np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("is_argument", [False, True])
def test_a_generator_of_random_numbers(make, is_argument):
    draw = lambda g: float(g.uniform(0, 1))
    expected_from = make(3)
    expected = [np.float32(draw(expected_from)) for _ in range(3)]
    generator = make(3)
    fn = ja.compile((lambda g, x: x * draw(g)) if is_argument else (lambda x: x * draw(generator)))
    args = (generator, ja.ones(())) if is_argument else (ja.ones(()),)
    np.testing.assert_allclose(runs_eagerly(fn, *args, match="draws from `"), expected)


def test_what_the_function_did_to_lists_before_it_drew_is_done_once():
    seen, rng = [], random.Random(1)

    def body(x):
        seen.append(1)
        return x * rng.random()

    runs_eagerly(ja.compile(body), ja.ones(()), match="draws from `rng`")
    assert seen == [1, 1, 1]


def test_a_function_that_has_a_generator_and_does_not_draw_is_compiled():
    rng = random.Random(1)
    training = False
    fn = ja.compile(lambda x: x * rng.random() if training else x * 2)
    assert [fn(ja.ones(())).item() for _ in range(2)] == [2, 2]
    assert fn.cache_info() == (1, 1, 1)


ITERATORS = {
    "generator": lambda: (i for i in range(9)),
    "list": lambda: iter([0, 1, 2, 3]),
    "count": itertools.count,
    "map": lambda: map(int, range(9)),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_an_iterator_of_the_closure(name):
    items = ITERATORS[name]()
    fn = ja.compile(lambda x: x * next(items))
    assert runs_eagerly(fn, ja.ones(()), match="reads `items`, an? .* that holds another item") == [0, 1, 2]


def import_installed(tmp_path, monkeypatch, name, source):
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(package)
    return importlib.import_module(name)


def test_a_package_may_number_its_own_objects(tmp_path, monkeypatch):
    source = """
import itertools
numbers = itertools.count()

class Named:
    made = itertools.count()

    def __init__(self):
        self.number = next(numbers), next(self.made)

def twice(x):
    Named()
    return x * 2
"""
    package = import_installed(tmp_path, monkeypatch, "counting_package", source)

    fn = ja.compile(lambda x: package.twice(x))
    assert [fn(ja.ones(())).item() for _ in range(2)] == [2, 2] and fn.cache_info() == (1, 1, 1)


def test_a_step_that_was_installed_finds_the_model_of_its_module(tmp_path, monkeypatch):
    source = """
import jaxaot as ja

net = ja.nn.Linear(2, 2)
optimizers = [ja.optim.SGD(net.parameters(), lr=0.5)]
n_steps = 0

def step(x):
    global n_steps
    n_steps += 1
    optimizers[0].zero_grad()
    loss = net(x).sum() * n_steps
    loss.backward()
    optimizers[0].step()
    return loss
"""
    package = import_installed(tmp_path, monkeypatch, "trained_package", source)
    before = {name: value.clone() for name, value in package.net.state_dict().items()}
    expected = [package.step(ja.ones(2)).item() for _ in range(3)]
    package.net.load_state_dict(before)
    package.n_steps = 0
    fn = ja.compile(package.step)
    np.testing.assert_allclose([fn(ja.ones(2)).item() for _ in range(3)], expected, rtol=1e-5)
    assert package.n_steps == 3


def test_an_iterator_that_nobody_reads():
    class Trainer:
        def __init__(self):
            self.batches, self.k = iter([1, 2]), 2

        def step(self, x):
            return x * self.k

    fn = ja.compile(Trainer().step)
    assert fn(ja.ones(())).item() == 2 and fn.cache_info().currsize == 1


def _length_of_a_file():
    with open(__file__) as file:
        return len(file.read())


CALLS = {
    "time.time": lambda: time.time(),
    "time.perf_counter": lambda: time.perf_counter(),
    "datetime.now": lambda: datetime.datetime.now().microsecond,
    "posix.urandom": lambda: len(os.urandom(3)),
    "uuid.uuid4": lambda: uuid.uuid4().int % 7,
    "open": lambda: _length_of_a_file(),
    "SystemRandom.random": lambda: random.SystemRandom().random(),
}


@pytest.mark.parametrize("name", CALLS)
def test_clocks_and_files(name):
    fn = ja.compile(lambda x: x + CALLS[name]())
    runs_eagerly(fn, ja.ones(()), match=rf"calls `{name}`, at\n\n    .*test_volatile.py:\d+, in ")


def test_tracing_says_so_by_an_error():
    with pytest.raises(VolatileError, match=r"calls `time\.time`"):
        ja.trace(lambda x: x * time.time(), ja.ones(()))


def test_what_python_calls_by_itself_is_no_reason():
    class Timed:
        def __del__(self):
            time.time()

    times = []

    def note(phase, info):
        times.append(time.perf_counter())

    def body(x):
        Timed()
        cell = [Timed()]
        weakref.finalize(cell[0], time.time)
        cell.append(cell)
        del cell
        gc.collect()
        return x * 2

    fn = ja.compile(body)
    gc.callbacks.append(note)
    try:
        fn(ja.ones(()))
    finally:
        gc.callbacks.remove(note)
    assert times and fn.cache_info().currsize == 1


def test_what_a_library_calls_is_no_reason():
    fn = ja.compile(lambda x: x * 2)
    fn(ja.ones(()))
    assert fn.cache_info().currsize == 1


@pytest.mark.parametrize("call", [print, logging.getLogger("jaxaot.tests").warning, logging.warning])
def test_what_is_printed_when_it_is_traced_is_said_once(call, capsys, monkeypatch):
    monkeypatch.setattr(calls, "_warned", set())

    def logs(x, k):
        call("traced %d", k)
        return x * k

    def prints(x, k):
        print("traced", k)
        return x * k

    fn = ja.compile(prints if call is print else logs, fullgraph=True)
    with pytest.warns(TracedPrintWarning, match=r"calls `(print|logging)`, at\n\n    .*\n\n.*`ja.print`"):
        fn(ja.ones(()), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [fn(ja.ones(()), k).item() for k in (1, 2)] == [1, 2]
    assert capsys.readouterr().out == ("traced 1\ntraced 2\n" if call is print else "")
