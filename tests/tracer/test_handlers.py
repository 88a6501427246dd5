"""What runs in the middle of a traced function without being part of it: handlers of signals, and `__del__`."""

import signal

import pytest

import jaxaot as ja

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="signals of Unix")


def handled(handler, fn, *args):
    """Returns what a call gives while a handler is set."""
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        result = fn(*args)
        assert signal.getsignal(signal.SIGUSR1) is handler
        return result
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_handler_that_writes_a_tensor_is_no_part_of_the_graph():
    count, x = ja.zeros(2), ja.ones(2)

    def fn(x):
        y = x * 2
        signal.raise_signal(signal.SIGUSR1)
        return y + 1

    compiled = ja.compile(fn)
    traced = handled(lambda *_: count.add_(1), ja.trace, fn, x)
    assert [s.name for s in traced.signature.storages] == ["args[0]"] and count.tolist() == [1, 1]
    assert handled(lambda *_: count.add_(1), compiled, x).tolist() == [3, 3]
    assert count.tolist() == [2, 2] and count._version == 2
    assert compiled(x).tolist() == [3, 3] and count.tolist() == [2, 2]


def test_a_handler_that_calls_the_function_that_is_being_traced():
    seen, other = [], ja.full((2,), 5.0)

    @ja.compile
    def fn(x):
        y = x * 2
        if not seen:
            seen.append(None)
            signal.raise_signal(signal.SIGUSR1)
        return y + 1

    assert handled(lambda *_: seen.append(fn(other).tolist()), fn, ja.ones(2)).tolist() == [3, 3]
    assert seen[1:] == [[11, 11]]


def test_a_handler_that_uses_what_is_being_traced_is_refused():
    x, said = ja.ones(2), []

    def handler(*_):
        with pytest.raises(ja.errors.LeakedTensorError) as caught:
            x.add_(1)
        said.append(str(caught.value))

    def fn(x):
        y = x.mul_(2)
        signal.raise_signal(signal.SIGUSR1)
        return y

    assert handled(handler, ja.compile(fn), x).tolist() == [2, 2]
    assert "A handler of a signal uses a tensor" in said[0] and x.tolist() == [2, 2]


def test_the_error_of_a_handler_ends_the_trace_and_reaches_the_caller():
    x = ja.ones(2)

    def handler(*_):
        raise TimeoutError("late")

    def fn(x):
        x.add_(1)
        signal.raise_signal(signal.SIGUSR1)
        return x

    with pytest.raises(TimeoutError, match="late"):
        handled(handler, ja.compile(fn), x)
    assert x.tolist() == [1, 1] and x._version == 0


def test_a_finalizer_that_uses_tensors_is_refused(monkeypatch):
    import sys

    said, count = [], ja.zeros(2)
    monkeypatch.setattr(sys, "unraisablehook", lambda args: said.append(str(args.exc_value)))

    class Freed:
        def __del__(self):
            count.add_(1)

    def fn(x):
        freed = Freed()
        del freed
        return x * 2

    assert ja.compile(fn)(ja.ones(2)).tolist() == [2, 2]
    assert "A `__del__` method uses a tensor while a function is being traced" in said[0] and count.tolist() == [0, 0]
    Freed()
    assert count.tolist() == [1, 1]
