"""Tracebacks of errors show the user's frames, not jaxaot's between them."""

import os
import subprocess
import sys
import threading
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._frames import show_users_frames

ROOT = os.path.dirname(ja.__file__) + os.sep


def layer(x, n):
    return x.view(n, -1) if n % 2 else layer(x, n + 1)


def frames_of(call, *args):
    """Returns the functions in the traceback of what a call raises, and how many of them are jaxaot's."""
    with pytest.raises(Exception) as raised:  # each caller looks at what it was
        call(*args)
    frames = traceback.extract_tb(raised.tb)
    return [frame.name for frame in frames], sum(frame.filename.startswith(ROOT) for frame in frames), raised.value


@pytest.mark.parametrize("wrap", [ja.compile, lambda fn: ja.compile(fn)])
def test_a_compiled_function_shows_its_own_frames(wrap):
    names, n_ours, error = frames_of(wrap(lambda x: layer(x, 4)), ja.ones(4))
    assert isinstance(error, RuntimeError) and "size" in str(error)
    assert names.count("layer") == 2 and names[-1] == "layer" and "<lambda>" in names
    assert n_ours <= 2  # the call itself
    assert not any("JAX has removed" in note for note in getattr(error, "__notes__", []))


def test_a_traced_function_shows_its_own_frames():
    names, n_ours, _ = frames_of(ja.trace, lambda x: layer(x, 4), ja.ones(4))
    assert names[-1] == "layer" and n_ours <= 1


def test_layers_that_users_named_are_shown():
    model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.Linear(5, 6))
    names, n_ours, _ = frames_of(ja.compile(model), ja.ones(2, 3))
    assert "forward" in names and n_ours > 0


def test_all_frames_are_shown_if_that_is_asked_for():
    before = jax.config.jax_traceback_filtering
    try:
        jax.config.update("jax_traceback_filtering", "off")
        _, n_ours, _ = frames_of(ja.compile(lambda x: layer(x, 4)), ja.ones(4))
    finally:
        jax.config.update("jax_traceback_filtering", before)
    assert n_ours > 4


def broken(w, x):
    return (x @ w).sum()


ARRAYS = jnp.ones((2, 3)), jnp.ones((2, 3))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ja.jit(broken)(*ARRAYS),
        lambda: ja.jit(broken).lower(*ARRAYS),
        lambda: ja.jit(broken).explain(*ARRAYS),
        lambda: ja.jit(jax.grad(ja.remat(broken)))(*ARRAYS),
        lambda: ja.value_and_grad(broken)(*ARRAYS),
        lambda: ja.remat(broken).explain(*ARRAYS),
        lambda: ja.func.grad(broken)(*map(ja.interop.from_jax, ARRAYS)),
    ],
    ids=["jit", "lower", "explain", "remat in jit", "grad", "explain of remat", "func"],
)
def test_functions_of_arrays_show_their_own_frames(call):
    names, n_ours, error = frames_of(call)
    assert names[-1] == "broken" and n_ours <= 3
    assert not any("JAX has removed" in note for note in getattr(error, "__notes__", []))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x @ x,
        lambda x: x.detach() @ x.detach(),
        lambda x: ja.nn.functional.linear(x, ja.ones(2, 2)),
        lambda x: ja.cat([x, ja.ones(3, 2)]),
    ],
    ids=["recorded", "plain", "functional", "list"],
)
def test_eager_ops_show_where_they_were_called(call):
    _, n_ours, error = frames_of(call, ja.ones(2, 3, requires_grad=True))
    assert isinstance(error, ja.errors.ShapeMismatchError)
    assert n_ours <= 2  # the op, and what calls ops
    assert not any("JAX has removed" in note for note in error.__notes__)


def test_errors_of_jaxaot_alone_keep_their_frames():
    _, n_ours, error = frames_of(ja.trace, 3)
    assert n_ours >= 1 and isinstance(error, TypeError)


def test_causes_stay():
    def fails(x):
        try:
            return layer(x, 5)
        except RuntimeError as error:
            raise ValueError("a layer failed") from error

    _, _, error = frames_of(ja.compile(fails), ja.ones(4))
    assert isinstance(error, ValueError) and isinstance(error.__cause__, RuntimeError)


@pytest.mark.parametrize("wrap", [ja.jit, ja.remat, ja.grad])
def test_a_write_to_an_array_says_what_takes_writes(wrap):
    with pytest.raises(AttributeError) as raised:
        wrap(lambda x: x.add_(1).sum())(jnp.ones(3))
    (note,) = [note for note in raised.value.__notes__ if "JAX has removed" not in note]
    assert "`ja.compile(fn)(ja.interop.from_jax(x))`" in note and "`add_`" in note
    np.testing.assert_array_equal(ja.jit(ja.func.functionalize(lambda x: x.add_(1).sum()))(jnp.ones(3)), 6)


SCRIPT = """
import jax.numpy as jnp, jaxaot as ja
from IPython.core.interactiveshell import InteractiveShell

def widen(x):
    return x.add_(ja.zeros(2, 3))

CELLS = ["widen(ja.zeros(3))", "ja.jit(lambda x: x @ jnp.ones((3, 4)))(jnp.ones(2))", "ja.nn.Linear(2, 3)(ja.ones(4))"]
shell = InteractiveShell(colors="nocolor")
shell.push({"ja": ja, "jnp": jnp, "widen": widen})
for cell in CELLS:
    print("cell:")
    shell.run_cell(cell)
widen(ja.zeros(3))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Returns what IPython says of the errors of three cells, and Python of an error that nobody catches."""
    script = tmp_path_factory.mktemp("frames") / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=os.environ | {"HOME": str(script.parent)}
    )
    return run.stdout.split("cell:\n")[1:], run.stderr


def test_a_terminal_shows_the_users_line_and_then_the_message(said):
    lines = [line for line in said[1].splitlines() if set(line) - set(" ~^")]
    assert "in widen" in lines[-4] and lines[-3].strip() == "return x.add_(ja.zeros(2, 3))"
    assert lines[-2].startswith("jaxaot.errors.ShapeMismatchError: output with shape [3]")
    assert lines[-1].startswith("Explained in") and ROOT not in said[1]


def test_a_notebook_shows_no_frames_of_jaxaot(said):
    widened, of_jax, linear = said[0]
    assert ROOT not in widened + of_jax
    assert "return x.add_(" in widened and "Explained in" in widened
    assert "skipping hidden" in of_jax and "TypeError" in of_jax
    assert "linear.py" in linear and "module.py" not in linear and "dispatch.py" not in linear


def shown(capsys, call):
    """Returns what Python says of the error of a call if nobody catches it."""
    try:
        call()
    except Exception as error:
        n_frames = len(traceback.extract_tb(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        assert len(traceback.extract_tb(error.__traceback__)) == n_frames  # a debugger has them all
    return capsys.readouterr().err


def fails_within(error):
    def hook(gradient):
        raise error

    x = ja.ones(3, requires_grad=True)
    x.register_hook(hook)
    x.sum().backward()


def test_frames_between_those_of_the_user_are_hidden(capsys):
    text = shown(capsys, lambda: fails_within(KeyError("mine")))
    assert text.index("x.sum().backward()") < text.index("raise error") and ROOT not in text


def test_what_it_came_from_is_shown_in_the_same_way(capsys):
    def call():
        try:
            ja.exp("1")
        except TypeError as error:
            raise ValueError("a layer failed") from error

    text = shown(capsys, call)
    assert "ArgumentError" in text and "a layer failed" in text and ROOT not in text


def test_a_defect_shows_where_it_is(capsys, monkeypatch):
    monkeypatch.setattr("jaxaot.facade.view_ops.views.inferred_sizes", None)
    text = shown(capsys, lambda: ja.ones(6).view(2, 3))
    assert "views.py" in text and "'NoneType' object is not callable" in text


def test_the_environment_asks_for_all_frames(capsys, monkeypatch):
    monkeypatch.setenv("JAXAOT_TRACEBACK", "full")
    assert ROOT in shown(capsys, lambda: ja.exp("1"))


def test_an_error_of_a_thread_is_shown_in_the_same_way(capsys):
    before = threading.excepthook
    thread = threading.Thread(target=lambda: ja.exp("1"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(threading, "excepthook", threading.__excepthook__)
        patched.setattr(sys, "excepthook", sys.__excepthook__)
        show_users_frames()
        thread.start()
        thread.join()
    assert threading.excepthook is before
    text = capsys.readouterr().err
    assert "ArgumentError" in text and ROOT not in text
