"""The command line: one clear line and status 2 for what it cannot use."""

from __future__ import annotations

import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest
from rich.console import Console

from jaxaot.cli import main
from jaxaot.demo.bench import Size, Timing, run_bench


def refused(capsys, *argv: str) -> str:
    assert main(list(argv)) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and captured.err.startswith("jaxaot: ")
    return captured.err


def test_bad_text(capsys, tmp_path):
    empty, short, binary = tmp_path / "empty.txt", tmp_path / "short.txt", tmp_path / "binary"
    empty.write_text("")
    short.write_text("too short")
    binary.write_bytes(b"\xff\xfe\x00" * 1000)
    assert "No such file" in refused(capsys, "demo", "--text", str(tmp_path / "none.txt"))
    assert "empty" in refused(capsys, "demo", "--text", str(empty))
    assert "only 9 characters" in refused(capsys, "demo", "--text", str(short))
    assert "UTF-8" in refused(capsys, "demo", "--text", str(binary))
    assert "cannot read" in refused(capsys, "demo", "--text", str(tmp_path))


@pytest.mark.parametrize("budget", ["-1", "nan", "lots", "12 parsecs"])
def test_bad_budget(capsys, budget):
    assert "budget" in refused(capsys, "demo", f"--budget={budget}")


def test_bad_device(capsys):
    assert "no device `mars`" in refused(capsys, "demo", "--device", "mars")


@pytest.mark.parametrize(
    "argv", [(), ("demo", "--steps", "0"), ("demo", "--steps", "x"), ("train",), ("demo", "--nope")]
)
def test_bad_arguments(capsys, argv):
    refused(capsys, *argv)


def test_explain(capsys, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import jaxaot as ja\nw = ja.ones(3, requires_grad=True)\n"
        "def fn(x):\n    return (x * w).sum()\ndef example_args():\n    return (ja.ones(3),)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "mine:fn"]) == 0
    shown = capsys.readouterr().out
    assert "mine.py:4" in shown and shown.startswith("fn, by ja.compile on ")
    assert main(["explain", "mine:fn", "--html", "fn.html", "--policy", "save_nothing", "--budget", "0.5"]) == 0
    assert capsys.readouterr().out == "Report: fn.html\n" and "<!doctype html>" in (tmp_path / "fn.html").read_text()
    assert main(["explain", "mine:fn", "--json", "--html", "fn.html"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "fn"
    assert main(["explain", "mine:fn", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert "cannot explain" in refused(capsys, "explain", "nowhere:fn")
    assert "cannot write" in refused(capsys, "explain", "mine:fn", "--html", "nowhere/fn.html")


FN = "def fn(x):\n    return x\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def fn(x):\n    return x\n", "has no `example_args()`"),
        (
            "def fn(x):\n    return x\ndef example_args():\n    return 1.0, 2.0\n",
            "returns 2 arguments, which do not fit",
        ),
    ],
)
def test_arguments_that_do_not_fit(capsys, tmp_path, monkeypatch, text, words):
    name = f"unfit{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    assert words in refused(capsys, "explain", f"{name}:fn")


def test_one_argument_needs_no_tuple(capsys, tmp_path, monkeypatch):
    (tmp_path / "alone.py").write_text("import jaxaot as ja\n" + FN + "def example_args():\n    return ja.ones(3, 2)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    assert main(["explain", "alone:fn"]) == 0
    assert "f32[3,2]" in capsys.readouterr().out


def test_functions_that_are_compiled_already_are_explained(capsys, tmp_path, monkeypatch):
    (tmp_path / "made.py").write_text(
        "import jax.numpy as jnp, jaxaot as ja\n"
        "def loss(w, x):\n    return jnp.tanh(x @ w).sum()\n"
        "saved = ja.remat(loss)\njitted = ja.jit(loss)\n"
        "def example_args():\n    return jnp.ones((3, 5)), jnp.ones((7, 3))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    for name, kind in (("saved", "ja.remat"), ("jitted", "ja.jit"), ("loss", "ja.compile")):
        assert main(["explain", f"made:{name}"]) == 0
        assert f"by {kind} on" in capsys.readouterr().out


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("jaxaot.cli.load_text", lambda *_: signal.raise_signal(signal.SIGINT))
    assert main(["demo", "--steps", "1"]) == 130
    assert capsys.readouterr().err == "jaxaot: interrupted\n"


def test_the_version_is_that_of_the_package(capsys):
    import jaxaot as ja

    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert not stopped.value.code
    assert capsys.readouterr().out.startswith(f"jaxaot {ja.__version__} with jax ")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "shaped.py").write_text(
        "import jax.numpy as jnp\n"
        "def loss(w, x):\n    return jnp.tanh(x @ w).sum()\n"
        "def asks(x):\n    return x if x.sum() > 0 else -x\n"
    )
    (tmp_path / "exemplary.py").write_text(
        "import jax, jax.numpy as jnp\n"
        "def loss(w, x):\n    return jnp.tanh(x @ w).sum()\n"
        "def example_args():\n"
        "    return jax.ShapeDtypeStruct((3, 5), jnp.float32), jax.ShapeDtypeStruct((7, 3), 'f4')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    return tmp_path


SHAPES = ("--shape", "w=f32[3,5]", "--shape", "x=f32[10000000000,3]")


def test_profile(capsys, mine, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")  # in fewer, names of operations are broken
    assert main(["profile", "shaped:loss", *SHAPES, "--target", "h100", "--budget", "0.5", "--trace", "t.json"]) == 0
    shown = capsys.readouterr().out
    assert "dot_general" in shown and "shaped.py:3" in shown and "on h100" in shown and "budget 0.5" in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert json.loads((mine / "t.json").read_text())["traceEvents"]
    assert main(["profile", "exemplary:loss", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parameter_bytes"] == 60 and found["rows"][0]["op"] == "dot_general"
    assert main(["profile", "exemplary:loss", "--json", "--forward", "--shape", "x=bf16[9,3]"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["backward_flops"] == 0 and found["rows"][0]["flops"] == 2 * 9 * 15


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("nowhere:loss",), "cannot profile nowhere:loss"),
        (("shaped:gain",), "has no attribute 'gain'"),
        (("shaped:loss", "--shape", "w=f32[3,5]"), "--shape x=f32"),
        (("shaped:loss", *SHAPES, "--shape", "y=f32[3]"), "has no argument y; it has w, x"),
        (("shaped:loss", "--shape", "w=f32[3.5]"), "whole numbers"),
        (("shaped:loss", "--shape", "w=f32[-3]"), "whole numbers"),
        (("shaped:loss", "--shape", "w=f33[3]"), "no dtype f33"),
        (("shaped:loss", "--shape", "w:f32"), "NAME=TYPE"),
        (("shaped:loss", *SHAPES, "--target", "h1000"), "no target 'h1000'"),
        (("shaped:loss", *SHAPES, "--budget", "lots"), "budget"),
        (("shaped:loss", *SHAPES, "--trace", "nowhere/t.json"), "cannot write --trace"),
        (("shaped:asks", "--shape", "x=f32[3]"), "asks for a value at shaped.py:5"),
    ],
)
def test_what_cannot_be_profiled(capsys, mine, argv, words):
    assert words in refused(capsys, "profile", *argv)


def test_wrong_usage_says_where_help_is(capsys):
    assert "`jaxaot --help`" in refused(capsys)
    assert "`jaxaot demo --help`" in refused(capsys, "demo", "--steps", "x")


ROOT = str(pathlib.Path(__file__).parents[1])


def run_apart(*argv, script=None, **environment):
    """Runs the command line in a process of its own, its output in pipes."""
    command = [sys.executable, "-c", script] if script else [sys.executable, "-m", "jaxaot", *argv]
    given = os.environ | {"PYTHONPATH": ROOT, "JAX_PLATFORMS": "cpu"} | environment
    return subprocess.run(command, capture_output=True, text=True, env=given, check=False)


@pytest.mark.slow
def test_sixty_columns_without_colours_in_a_pipe():
    done = run_apart("doctor", COLUMNS="60", NO_COLOR="1", FORCE_COLOR="1")
    assert done.returncode in (0, 1) and done.stderr == ""
    lines = re.sub(r"\x1b\[[01]?m", "", done.stdout).splitlines()  # bold is no colour
    assert max(map(len, lines)) <= 60 and "\x1b" not in "".join(lines)


@pytest.mark.slow
def test_nobody_reads_the_output_any_more(tmp_path):
    (tmp_path / "long.py").write_text(
        "import jaxaot as ja\ndef fn(x):\n    for _ in range(400): x = x.sin()\n    return x\n"
        "def example_args():\n    return (ja.ones(3),)\n"
    )
    command = f"{sys.executable} -m jaxaot explain long:fn | true; echo ${{PIPESTATUS[0]}}"
    given = os.environ | {"PYTHONPATH": ROOT, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=given, check=False)
    assert done.stderr == "" and done.stdout == "141\n"  # `true` has gone before anything is written


def said(monkeypatch, stdout, *argv):
    """Returns the exit status, and what is said on stderr, where the output goes to a file or nowhere."""
    errors = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stdout)
    monkeypatch.setattr("sys.stderr", errors)
    try:
        status = main(list(argv))
    except SystemExit as stopped:
        status = stopped.code or 0
    monkeypatch.undo()
    errors.seek(0)
    return status, errors.read()


def test_output_that_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "small.py").write_text("import jaxaot as ja\n" + FN + "def example_args():\n    return ja.ones(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    calls = [
        ("explain", "small:fn"), ("explain", "small:fn", "--json"), ("profile", "small:fn", "--forward"), ("doctor",),
        ("--help",), ("--version",),
    ]  # fmt: skip
    (tmp_path / "small").mkdir()
    tmp_path.chmod(0o700)
    for argv in calls:
        with pytest.MonkeyPatch.context() as patch:
            assert said(patch, None, *argv) == (2, "jaxaot: cannot write the output: stdout is closed\n"), argv
        if os.path.exists("/dev/full"):
            with pytest.MonkeyPatch.context() as patch, open("/dev/full", "w", encoding="ascii") as full:
                assert said(patch, full, *argv) == (2, "jaxaot: cannot write the output: No space left on device\n"), (
                    argv
                )
    with pytest.MonkeyPatch.context() as patch:
        assert said(patch, None, "explain", "small:fn", "--quiet") == (0, "")


def test_output_that_takes_ascii_alone(tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(
        "import jaxaot as ja\ndef größe(x):\n    return x.sin().sum()\n"
        "def example_args():\n    return ja.ones(3, requires_grad=True)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    for argv in (("explain", "plain:größe"), ("profile", "plain:größe"), ("explain", "--help"), ("doctor",)):
        with pytest.MonkeyPatch.context() as patch:
            out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
            assert said(patch, out, *argv) == (0, "") and out.errors == "strict"
        text = out.buffer.getvalue().decode("ascii")
        assert "gr\\xf6\\xdfe" in text or "plain:größe" not in argv
        assert "\\u" not in text
    with pytest.MonkeyPatch.context() as patch:
        status, line = said(patch, io.TextIOWrapper(io.BytesIO(), encoding="ascii"), "explain", "plain:weiß")
        assert status == 2 and "no attribute 'wei\\xdf'" in line


OF_TENSORS = (
    "import jaxaot as ja\nlayer = ja.nn.Linear(3, 2)\n"
    "def loss(x): return x.tanh().sum()\n"
    "def rows(x): return layer(x).sum(dim=1).softmax(-1).sum()\n"
    "def wrong(x): return x.nothing()\n"
    "def raises(x): raise ValueError('two\\nlines')\n"
)


def test_functions_of_tensors_are_profiled(capsys, tmp_path, monkeypatch):
    (tmp_path / "tensors.py").write_text(OF_TENSORS)
    (tmp_path / "raising.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    for name in ("loss", "rows"):
        assert main(["profile", f"tensors:{name}", "--shape", "x=f32[2,3]", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["backward_flops"] > 0
    assert "no attribute 'nothing'" in refused(capsys, "profile", "tensors:wrong", "--shape", "x=f32[2,3]")
    for way in ("profile", "explain"):
        assert "raises ZeroDivisionError at raising.py:1" in refused(capsys, way, "raising:fn")
    said = refused(capsys, "profile", "tensors:raises", "--shape", "x=f32[2,3]")
    assert "cannot profile tensors:raises: ValueError at tensors.py:6: two lines" in said


@pytest.mark.slow  # eight programs are compiled
def test_bench_times_four_ways():
    timings = run_bench(0.01, Console(quiet=True), Size(n_layers=1, width=8, n_heads=2, length=4, batch=2))
    assert [timing.way.split(",")[0] for timing in timings] == ["jax.jit", "jax.jit", "ja.jit", "ja.jit"]
    assert all(0 < timing.step_seconds < timing.first_seconds for timing in timings)
    assert all(timing.temporary_bytes is not None for timing in timings)


def test_bench_shows_times(monkeypatch, capsys):
    timings = [Timing("jax.jit", 1.0, 0.5, 2**20), Timing("ja.jit", 2.0, 0.25, None)]
    monkeypatch.setattr("jaxaot.demo.bench.run_bench", lambda seconds, console: timings)
    assert main(["bench"]) == 0
    shown = capsys.readouterr().out
    assert "of jax.jit" in shown and "0.50" in shown and "1.00 MiB" in shown
    assert main(["bench", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["first_seconds"] == 2.0
    assert "--seconds must be more than 0" in refused(capsys, "bench", "--seconds", "0")


def test_what_is_shown_fits_narrow_consoles_and_loses_no_word(monkeypatch, capsys, tmp_path):
    (tmp_path / "narrow.py").write_text(
        "import jaxaot as ja\ndef fn(x):\n    return (x @ x).sin().sum()\n"
        "def example_args():\n    return (ja.ones(4, 4, requires_grad=True),)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["profile", "narrow:fn"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 60 and "modules" in shown and "…" not in shown
    long = "ja.jit, ja.remat(memory_budget=0.3) of all of the layers"
    monkeypatch.setattr("jaxaot.demo.bench.run_bench", lambda *_: [Timing(long, 1.0, 0.5, 2**20)])
    assert main(["bench"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 60 and "…" not in shown


def test_a_module_that_is_no_python_is_named(monkeypatch, capsys, tmp_path):
    (tmp_path / "unfinished.py").write_text("import jaxaot\ndef fn(x:\n")
    monkeypatch.chdir(tmp_path)
    assert "unfinished.py:2 is no Python, '(' was never closed: def fn(x:" in refused(
        capsys, "explain", "unfinished:fn"
    )
