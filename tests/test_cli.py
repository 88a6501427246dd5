"""The command line: one clear line and status 2 for what it cannot use."""

from __future__ import annotations

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
