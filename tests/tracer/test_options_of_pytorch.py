"""Options that users of PyTorch type for `compile` are taken, or answered with what to write instead."""

import pytest

import jaxaot as ja
from jaxaot.errors import CompilerError, UsageError


@pytest.mark.parametrize(
    "mode", [None, "default", "lite", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]
)
def test_modes_are_taken(mode):
    assert ja.compile(lambda x: x + 1, mode=mode, fullgraph=True, dynamic=False)(ja.ones(2)).tolist() == [2, 2]


def test_a_decorator_takes_them_too():
    @ja.compile(mode="default", dynamic=None, options=None)
    def fn(x):
        return x * 2

    assert fn(ja.ones(2)).tolist() == [2, 2]
    with pytest.raises(UsageError, match="`mode` is one of PyTorch's"):
        ja.compile(mode="fastest")(lambda x: x)


def test_a_function_may_ask_whether_it_is_traced():
    fn = lambda x: x * (2 if ja.compiler.is_compiling() else 1)
    assert (fn(ja.ones(1)).item(), ja.compile(fn)(ja.ones(1)).item()) == (1, 2)


def test_backends_have_pytorchs_names_too():
    n_runs, x = [], ja.ones(2)

    def fn(x):
        n_runs.append(1)
        return x * 2 if x.sum() < 0 else x + 1

    whole = lambda x: x * 2 + 1
    for backend in ("inductor", "cudagraphs", "aot_eager", "xla", "interpret"):
        compiled = ja.compile(whole, backend=backend, options={"triton.cudagraphs": True}, fullgraph=True)
        assert compiled(x).tolist() == [3, 3] and compiled.cache_info().currsize == 1
    eager = ja.compile(fn, backend="eager")
    assert (eager(x).tolist(), eager(-x).tolist(), len(n_runs)) == ([2, 2], [-2, -2], 2)
    assert ja.compile(ja.nn.ReLU(), backend="eager")(x).tolist() == [1, 1]


def test_what_is_disabled_is_the_function_itself():
    relu = ja.nn.ReLU()
    assert ja.compile(relu, disable=True) is relu and ja.compile(disable=True)(relu) is relu


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"mode": "fast"}, UsageError, "'reduce-overhead'"),
        ({"options": {"xla_cpu_use_onednn": True}}, UsageError, "'xla_cpu_use_onednn' would be XLA's"),
        ({"backend": "nobodys"}, CompilerError, "There is no backend 'nobodys'. The backends are"),
    ],
)
def test_others_are_answered(options, error, words):
    with pytest.raises(error, match=words):
        ja.compile(lambda x: x, **options)
