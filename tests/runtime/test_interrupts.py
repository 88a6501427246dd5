"""An interrupt loses nothing: whatever the instant, values are as before or as after, and versions never behind.

Nor does it leave a lock behind, which would stop every other thread.
"""

import itertools
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.trace_state import RUNNING, TRACING
from jaxaot.tape.modes import state
from jaxaot.tape.threads import threads
from tests.interrupts import Injector, Watchdog, count_instants
from tests.seeds import one_in, seeds

pytestmark = pytest.mark.usefixtures("interruptible")


class Scene:
    """Something that is done again and again, and the tensors that it writes all together.

    Attributes:
      act: What is done.
      groups: Lists of tensors; those of a list are written by one call, or not at all.
    """

    def __init__(self, act, *groups):
        self.act = act
        self.groups = groups
        self.counts_versions = True

    def values(self):
        return [[np.asarray(t.detach().numpy()) for t in group] for group in self.groups]

    def versions(self):
        return [[t._version for t in group] for group in self.groups]


def step_of_one():
    x = ja.ones(3)

    @ja.compile
    def step():
        x.add_(1.0)

    return Scene(step, [x])


def step_of_several():
    xs = [ja.ones(3) for _ in range(3)]

    @ja.compile
    def step():
        for i, x in enumerate(xs):
            x.mul_(0.5).add_(float(i))
        return xs[0].sum()

    return Scene(step, xs)


def step_through_a_view():
    x = ja.ones(4, 4)
    row = x[1]

    @ja.compile
    def step(row):
        row.add_(1.0)
        return row * 2

    return Scene(lambda: step(row), [x])


def step_with_gradients():
    w = ja.ones(3, requires_grad=True)

    @ja.compile
    def step():
        w.grad = None
        (w * w).sum().backward()
        with ja.no_grad():
            w.sub_(w.grad * 0.1)

    return Scene(step, [w])


def step_with_random_numbers():
    x = ja.ones(3)

    @ja.compile
    def step():
        x.add_(ja.rand(3) + 1)

    return Scene(step, [x])


def recorded_write():
    w = ja.ones(3, requires_grad=True)
    kept = {"y": w * 1}

    @ja.compile
    def step(y):
        y.add_(2.0)

    return Scene(lambda: step(kept["y"]), [kept["y"]])


def eager_add():
    x, y = ja.ones(3), ja.ones(3)
    return Scene(lambda: x.add_(y), [x])


def eager_view():
    x = ja.ones(4, 4)
    return Scene(lambda: x[1].add_(2.0), [x])


def eager_assignment():
    x = ja.ones(4)

    def act():
        x[1:3] = x[0:2] + 1

    return Scene(act, [x])


def eager_backward():
    w = ja.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    return Scene(lambda: (w * 2).sum().backward(), [w.grad])


def eager_optimizer():
    ws = [ja.ones(3) for _ in range(3)]
    return Scene(lambda: ja._foreach_add_(ws, 1.0), *([w] for w in ws))


def step_of_segments():
    x, flag = ja.ones(3), ja.ones(1)

    @ja.compile()
    def step():
        if flag.item() > 0:
            x.add_(1.0)

    return Scene(step, [x])


def step_of_nnx():
    from flax import nnx

    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))

    @ja.compile
    def step(model):
        for variable in (model.kernel, model.bias):
            variable.value = variable.value + 1

    class Shown:
        """A Variable, with the interface that the law needs."""

        _version = 0

        def __init__(self, variable):
            self.variable = variable

        def numpy(self):
            return self.variable.value

        def detach(self):
            return self

        def copy_(self, value):
            self.variable.value = value.jax()

    scene = Scene(lambda: step(model), [Shown(model.kernel), Shown(model.bias)])
    scene.counts_versions = False
    return scene


def step_as_attributes():
    """Bare arrays in attributes of an object."""

    class Model:
        pass

    model = Model()
    model.n = jnp.zeros(3)
    x = ja.ones(3)

    @ja.compile
    def step(model):
        x.add_(1.0)
        model.n = model.n + 1

    return Scene(lambda: step(model), [x])


SCENES = [
    step_of_one, step_of_several, step_through_a_view, step_with_gradients, step_with_random_numbers, recorded_write,
    step_of_segments, step_of_nnx, step_as_attributes, eager_add, eager_view, eager_assignment, eager_backward,
    eager_optimizer,
]  # fmt: skip


def look(scene, place, before, versions, now, counts, after):
    """Asserts the law."""
    for was, value, new, old, count in zip(before, now, after, versions, counts, strict=True):
        is_old = all(np.array_equal(a, b) for a, b in zip(was, value, strict=True))
        is_new = all(np.array_equal(a, b) for a, b in zip(new, value, strict=True))
        assert is_old or is_new, f"half of a call was done after an interrupt at {place}"
        if not is_old and scene.counts_versions:
            assert all(n > m for n, m in zip(count, old, strict=True)), f"a version is behind after one at {place}"


OTHER_THREAD = ThreadPoolExecutor(1)


def is_locked(scene):
    """Returns whether another thread would have to wait for a lock of what is written, or to compile something."""
    storages = [t._storage for group in scene.groups for t in group if isinstance(t, ja.Tensor)]
    locks = [TRACING, *(storage.lock for storage in storages if threads.are_several)]

    def look():
        taken = [lock for lock in locks if lock.acquire(timeout=0)]
        for lock in taken:
            lock.release()
        return len(taken) < len(locks)

    return OTHER_THREAD.submit(look).result()


def interrupt(scene, places):
    """Interrupts an act at each of some instants; returns how many interrupts arrived."""
    n_raised = 0
    for place in places:
        ja.manual_seed(0)
        before, versions = scene.values(), scene.versions()
        injector = Injector(place)
        has_raised = injector.run(scene.act) is not None
        assert has_raised == (injector.place is not None), f"an interrupt at {injector.place} was swallowed"
        n_raised += has_raised
        assert not RUNNING and state.trace is None, f"a trace runs after an interrupt at {injector.place}"
        assert not is_locked(scene), f"a lock is held after an interrupt at {injector.place}"
        now, counts = scene.values(), scene.versions()
        with ja.no_grad():
            for group, values in zip(scene.groups, before, strict=True):
                for tensor, value in zip(group, values, strict=True):
                    tensor.detach().copy_(ja.tensor(value))
        ja.manual_seed(0)
        scene.act()
        look(scene, injector.place, before, versions, now, counts, scene.values())
    return n_raised


def warm(make):
    """Returns a scene that has come to its usual way of running."""
    scene = make()
    for _ in range(4):
        scene.act()
    return scene


@pytest.mark.few(3)
@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_an_interrupt_where_several_threads_use_tensors(make):
    OTHER_THREAD.submit(lambda: ja.ones(1).add_(1)).result()
    assert threads.are_several
    scene = warm(make)
    n = count_instants(scene.act)
    assert interrupt(scene, range(n) if n < 100 else random.Random(0).sample(range(n), 60)) > 0


def watchdog(*_):
    raise Watchdog


@pytest.mark.few(2)
@pytest.mark.parametrize("make", one_in(2, SCENES), ids=lambda make: make.__name__)
def test_an_interrupt_at_any_instant(make):
    scene = warm(make)
    n = count_instants(scene.act)
    places = range(n) if n < 200 else random.Random(0).sample(range(n), 100)
    assert n > 3 and interrupt(scene, places) > 0.7 * len(places)  # a call may have fewer instants than the one before


@pytest.mark.few(2)
@pytest.mark.parametrize("make", [step_of_several, step_with_random_numbers, eager_add], ids=lambda make: make.__name__)
def test_a_handler_that_raises_what_is_no_interrupt(make, monkeypatch):
    """It reaches the caller, and nothing is done twice."""
    before = signal.signal(signal.SIGINT, watchdog)
    try:
        scene = warm(make)
        n = count_instants(scene.act)
        assert n > 3 and interrupt(scene, range(n)) == n
    finally:
        signal.signal(signal.SIGINT, before)


def first_calls(make, seeds):
    for seed in seeds:
        n = count_instants(make().act)
        for place in random.Random(seed).sample(range(n), 3):
            interrupt(make(), [place])


_BEGIN_OR_END = ("begin", "_begin_monitoring", "end", "_end_monitoring")


class InWatch(Injector):
    """Raises the signal where a trace begins or ends to watch the calls of the user's code."""

    def _look(self, code, offset):
        if code.co_filename.endswith("calls.py") and code.co_name in _BEGIN_OR_END:
            super()._look(code, offset)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no monitoring")
def test_an_interrupted_trace_gives_its_number_for_monitoring_back():
    for place in itertools.count():
        injector = InWatch(place)
        injector.run(step_of_one().act)
        assert "jaxaot" not in map(sys.monitoring.get_tool, range(6)), f"one is kept after {injector.place}"
        if injector.place is None:
            break
    assert place > 5


FIRST = [step_of_several, step_with_gradients, step_of_segments, step_through_a_view, recorded_write]


@pytest.mark.few(1)
@pytest.mark.parametrize("make", FIRST, ids=lambda make: make.__name__)
def test_an_interrupt_while_a_function_is_compiled(make):
    first_calls(make, range(1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(30, 10))
@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_interrupts_while_a_function_is_compiled(make, seed):
    first_calls(make, [seed])


def test_an_interrupt_between_subprograms(everything_is_large, everything_is_cut):
    x = ja.ones(8, 8)

    @ja.compile
    def step():
        x.copy_(ja.softmax(x @ x, 0) @ x + 1)

    scene = warm(lambda: Scene(step, [x]))
    n = count_instants(scene.act)
    assert interrupt(scene, range(n)) == n


REAL = """
import os, signal, threading, time
import jaxaot as ja

w = [ja.ones(64, requires_grad=True) for _ in range(4)]
m = [ja.zeros(64) for _ in range(4)]
x = ja.ones(8, 64)

@ja.compile
def step(x):
    loss = sum(((x * p) ** 2).mean() for p in w)
    loss.backward()
    with ja.no_grad():
        for p, b in zip(w, m):
            b.mul_(0.9).add_(p.grad)
            p.sub_(0.001 * b)
            p.grad = None

def eager():
    loss = sum(((x * p) ** 2).mean() for p in w)
    loss.backward()
    with ja.no_grad():
        for p, b in zip(w, m):
            b.mul_(0.9).add_(p.grad)
            p.sub_(0.001 * b)
            p.grad = None

n = 0

def shoot(k, seconds):
    time.sleep(seconds)
    while n == k:  # JAX drops an interrupt that comes in its callback of the garbage collector
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1.0)

for act in (step, eager):
    run = (lambda: act(x)) if act is step else act
    for _ in range(4):
        run()
    end = n + {n}
    while n < end:
        try:
            threading.Thread(target=shoot, args=(n, 0.003 + 0.004 * (n % 7) / 7), daemon=True).start()
            while True:
                run()
        except (KeyboardInterrupt, RuntimeError) as error:  # MLIR makes one of the other, while JAX compiles
            assert "KeyboardInterrupt" in repr(error) + str(error), error
            n += 1
        lost = [t for t in (*w, *m) if t.untyped_storage().array.is_deleted()]
        assert not lost, f"{{len(lost)}} tensors were lost"
        assert all(abs(t.detach().numpy()).max() < 10 for t in (*w, *m))
print("nothing lost")
"""


@pytest.mark.slow
def test_a_thousand_times_ctrl_c():
    """Half of them in a compiled step, half in an eager one."""
    done = subprocess.run([sys.executable, "-c", REAL.format(n=500)], capture_output=True, text=True)
    assert done.stdout == "nothing lost\n", done.stderr
