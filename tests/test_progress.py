"""What takes long says on a terminal what is done; logs and notebooks stay silent."""

import io
import threading
import types

import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot import _progress


class Terminal(io.StringIO):
    """Takes what is written to stderr, and says when there was something."""

    def __init__(self, is_terminal=True):
        super().__init__()
        self.is_terminal, self.is_shown = is_terminal, threading.Event()

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.is_shown.set()
        return super().write(text)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(_progress, "_AFTER", 0.001)
    monkeypatch.setattr(_progress, "_EVERY", 0.0005)
    return put(Terminal(), monkeypatch)


def put(stream, monkeypatch):
    """Returns a stream that `_progress` has for stderr; pytest puts its own between a fixture and its test."""
    monkeypatch.setattr(_progress, "sys", types.SimpleNamespace(stderr=stream))
    return stream


def told(terminal, names):
    """Returns what a terminal shows of nested work, once it shows something."""
    with _progress.working(names[0]), _progress.working(names[1]):
        terminal.is_shown.wait(60)
    return terminal.getvalue()


def test_the_line_says_what_is_done_and_is_cleared(terminal):
    text = told(terminal, ["fitting `f`", "program 2"])
    assert "jaxaot, 0 s: fitting `f`, program 2\r" in text
    assert text.endswith("\x1b[2K") and not _progress._steps.names


def test_the_line_is_no_wider_than_the_terminal(terminal):
    shown = told(terminal, ["long " * 30, "more"]).split("\r")[0]
    assert len(shown.removeprefix("\x1b[2K")) == 59


def test_what_is_done_soon_says_nothing(terminal, monkeypatch):
    monkeypatch.setattr(_progress, "_AFTER", 600)
    with _progress.working("a moment"):
        pass
    assert terminal.getvalue() == "" and "jaxaot progress" not in {t.name for t in threading.enumerate()}


def test_an_error_clears_the_line_too(terminal):
    with pytest.raises(ZeroDivisionError), _progress.working("a division"):
        terminal.is_shown.wait(60)
        1 / 0  # noqa: B018
    assert terminal.getvalue().endswith("\x1b[2K") and not _progress._steps.names


@pytest.mark.parametrize("how", ["no terminal", "dumb", "setting", "closed", "none"])
def test_it_is_silent(how, terminal, monkeypatch):
    put({"no terminal": Terminal(False), "none": None}.get(how, terminal), monkeypatch)
    if how == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if how == "closed":
        terminal.close()
    with ja.config(progress=how != "setting"), _progress.working("work"):
        assert "jaxaot progress" not in {t.name for t in threading.enumerate()}


def loss(w, x):
    return jnp.sin(x @ w).sum()


ARRAYS = jnp.ones((3, 3)), jnp.ones((2, 3))

WORK = {
    "compile": (lambda: ja.compile(ja.sin)(ja.ones(3)), {"a new program of `sin`", "tracing `sin`"}),
    "jit": (lambda: ja.jit(loss)(*ARRAYS), {"the first call of `loss`"}),
    "fit": (
        lambda: ja.jit(ja.grad(loss, memory_budget="fit:1MiB"))(*ARRAYS),
        {"fitting `loss`", "program 1 that may fit"},
    ),
    "pareto": (lambda: ja.estimate.pareto(loss, *ARRAYS, n=2), {"bytes against time", "budget 1 of"}),
    "largest batch": (
        lambda: ja.estimate.largest_batch(loss, *ARRAYS, memory="1MiB", batch={1: 0}),
        {"the largest batch", "`loss` at a batch of"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("work", WORK)
def test_what_may_take_long_says_what_it_does(work, terminal, monkeypatch):
    said, call = [], WORK[work][0]

    class Names(list):
        def append(self, name):
            said.append(name)
            super().append(name)

    monkeypatch.setattr(_progress._steps, "names", Names())
    call()
    assert all(any(name.startswith(part) for name in said) for part in WORK[work][1]), said
