"""Ways out of compilation: functions that run eagerly or must be one graph, and objects that are vouched for."""

import gc
import random
import warnings
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import RecompileWarning, TensorTypeError, VolatileError
from tests.cases import each

pytestmark = pytest.mark.usefixtures("interpreted")


class Bag:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def test_a_disabled_function_runs_eagerly_at_each_call():
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fn(x).item() == 5
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


@pytest.mark.parametrize("is_argument", [False, True])
def test_what_is_assumed_to_be_constant_is_not_looked_at(is_argument):
    held = ja.compiler.assume_constant(Bag(k=2, rows=[1, 2], w=ja.ones(1)))
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
    items = ja.compiler.assume_constant(list(range(200_000)))
    fn = ja.compile(lambda x: x * items[5])
    assert fn(ja.ones(1)).item() == 5
    items = [1] * 6
    assert fn(ja.ones(1)).item() == 1


def test_what_is_assumed_to_be_constant_is_not_kept_alive():
    bag = ja.compiler.assume_constant(Bag(k=2))
    reference = weakref.ref(bag)
    del bag
    gc.collect()
    assert reference() is None
    with pytest.raises(TensorTypeError, match="was given 3"):
        ja.compiler.assume_constant(3)


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


ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
OF_NUMPY = {
    "from_numpy": lambda a: ja.from_numpy(a),
    "as_tensor": lambda a: ja.as_tensor(a),
    "tensor": lambda a: ja.tensor(a, requires_grad=True),
    "asarray": lambda a: ja.asarray(a),
    "dlpack": lambda a: ja.from_dlpack(a),
    "new_tensor": lambda a: ja.ones(1).new_tensor(a),
    "parts": lambda a: ja.stack([ja.from_numpy(row) for row in a]),
    "scalars": lambda a: ja.tensor([a[0, 0], a[1, 1]]),
    "in NumPy's words": lambda a: ja.from_numpy(a.astype(np.float32).T.reshape(2, 3)),
}


@pytest.mark.slow
@each("name", OF_NUMPY)
def test_tensors_are_made_of_numpy_arguments_in_one_graph(name):
    fn = ja.compile(lambda a: OF_NUMPY[name](a) * 2, fullgraph=True)
    for a in (ROWS, ROWS + 1):
        assert fn(a).tolist() == (OF_NUMPY[name](a) * 2).tolist()
    assert fn.n_programs == 1


def test_numbers_of_numpy_that_32_bits_do_not_hold_are_refused_at_each_call():
    fn = ja.compile(lambda a: ja.from_numpy(a) + 1, fullgraph=True)
    assert fn(np.array([1, 2])).tolist() == [2, 3]
    for a in (np.array([2**40, 1]), np.array([1e300, 1.0])):
        with pytest.raises(ja.errors.TensorValueError):
            fn(a)


def only_a_trace_raises(x, a):
    calls.append(1)
    a[0, 0] += 1  # no symbol of JAX is written so
    return x * 2 + ja.from_numpy(a)


calls = []


def test_a_number_of_numpy_that_is_asked_for_its_value_runs_eagerly():
    for fn in (lambda x, a: x * float(a), lambda x, a: x if a > 1 else -x, lambda x, a: x + len(range(a))):
        with pytest.warns(RecompileWarning, match="ran eagerly"):
            assert ja.compile(fn)(ja.ones(2), np.int32(2)).tolist() == fn(ja.ones(2), 2).tolist()
        with pytest.raises(jax.errors.JAXTypeError):
            ja.compile(fn, fullgraph=True)(ja.ones(2), np.int32(2))


def test_a_run_that_only_a_trace_refuses_is_eager_and_says_so_once(monkeypatch):
    fn = ja.compile(only_a_trace_raises)
    n_traces, build = [], fn._build
    monkeypatch.setattr(fn, "_build", lambda *args, **kwargs: (n_traces.append(1), build(*args, **kwargs))[1])
    a = ROWS.copy()
    calls.clear()
    with pytest.warns(RecompileWarning, match=r"only_a_trace_raises` ran eagerly(?s:.*)item assignment(?s:.*)\+= 1"):
        assert fn(ja.ones(()), a)[0, 0].item() == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(2, 16):
            assert fn(ja.ones(()), a)[0, 0].item() == 2 + n
        assert len(n_traces) == 2 and len(calls) == 15, "the second call is tried as well"
        fn(ja.ones(()), a)
        fn(ja.ones(2, 3), a)
    assert len(n_traces) == 4, "after a while it is tried again, and at once for another kind"


def test_a_layer_that_the_first_call_makes_is_part_of_the_program_of_the_second():
    class Lazy(ja.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = None

        def forward(self, x):
            if self.layer is None:
                self.layer = ja.nn.Linear(x.shape[-1], 2)
            return self.layer(x)

    net = ja.compile(Lazy())
    with pytest.warns(RecompileWarning, match="put a Linear into"):
        first = net(ja.ones(3))
    for _ in range(3):
        np.testing.assert_allclose(net(ja.ones(3)).detach(), first.detach(), rtol=1e-6)
    assert net.cache_info().misses == 1 and net.cache_info().hits >= 2


def test_what_has_to_be_one_graph_raises_what_the_trace_raised():
    a, x = ROWS.copy(), ja.ones(())
    calls.clear()
    with pytest.raises(TypeError, match="item assignment"):
        ja.compile(only_a_trace_raises, fullgraph=True)(x, a)
    assert not calls and a[0, 0] == 0, "nothing has changed"


def test_what_the_function_raises_itself_is_no_news():
    @ja.compile
    def fn(x):
        calls.append(1)
        raise KeyError("mine")

    calls.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(KeyError, match="mine"):
                fn(ja.ones(1))
    assert calls == [1, 1]


def test_a_function_of_tensors_with_and_without_values_runs_eagerly_and_says_so():
    held, without = ja.ones(2), ja.ones(2).to("meta")
    both = lambda x: (x * 2, held + 1)
    with pytest.warns(RecompileWarning, match="on the device `meta`"):
        assert ja.compile(both)(without)[1].tolist() == [2, 2]
    with pytest.raises(ja.errors.TraceError, match="on the device `meta`"):
        ja.compile(both, fullgraph=True)(without)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ja.compile(lambda x: x * 2, fullgraph=True)(without).is_meta
