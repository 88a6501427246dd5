"""Options that users of PyTorch type for `compile` are taken, or answered with what to write instead."""

import pytest

import jaxaot as ja
from jaxaot.errors import CompilerError, UsageError


@pytest.mark.parametrize("mode", [None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"])
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


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"mode": "fast"}, UsageError, "'reduce-overhead'"),
        ({"options": {"triton.cudagraphs": True}}, UsageError, "XLA has none of 'triton.cudagraphs'"),
        ({"backend": "inductor"}, CompilerError, "XLA compiles: drop `backend`"),
        ({"backend": "aot_eager"}, CompilerError, "backend='interpret'"),
        ({"backend": "nobodys"}, CompilerError, "There is no backend 'nobodys'. The backends are"),
    ],
)
def test_others_are_answered(options, error, words):
    with pytest.raises(error, match=words):
        ja.compile(lambda x: x, **options)
