"""The command line: one clear line and status 2 for what it cannot use."""

from __future__ import annotations

import json
import signal

import pytest

from jaxaot.cli import main


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
    assert "mine.py:4" in capsys.readouterr().out
    assert "cannot explain" in refused(capsys, "explain", "nowhere:fn")


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


def test_profile(capsys, mine):
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
