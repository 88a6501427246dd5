"""`jaxaot doctor` finds what does not fit together, and says what to do."""

import copy
import json

import pytest

from jaxaot import doctor
from jaxaot.cli import main


@pytest.fixture(scope="module")
def found():
    return doctor.examine()


def test_what_is_found_here_is_well(found):
    assert found["works"] == "works" and not found["problems"]
    assert found["versions"]["jax"] and found["devices"][0]["memories"]
    assert json.loads(json.dumps(found)) == found
    lines = list(doctor.lines_of(found))
    assert lines[0].startswith("jaxaot ") and lines[-1] == "no problems found"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f["versions"].update(jaxlib="0.11.0", jax="0.12.0"), "not of one release"),
        (lambda f: f["versions"].update(jax="0.99.0", jaxlib="0.99.0"), "not tried with jax 0.99.0"),
        (lambda f: f["versions"].update(flax="0.10.4"), "pip install --upgrade flax"),
        (lambda f: f.update(works="raises RuntimeError: no"), "raises RuntimeError"),
        (lambda f: f.update(works="raises XlaRuntimeError: RESOURCE_EXHAUSTED: no"), "PREALLOCATE=false"),
        (lambda f: f.update(has_ctypes=False), "without ctypes"),
        (lambda f: f.update(jax_at="/home/me/jax"), "finds /home/me/jax"),
        (lambda f: f.update(caches_at_fault=["the cache /c cannot be written"]), "cannot be written"),
    ],
)
def test_what_is_bad_is_a_problem(found, change, words):
    bad = copy.deepcopy(found)
    change(bad)
    assert any(words in problem for problem in doctor._problems(bad))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f["versions"].update(jax="0.10.2"), "xla_faults.md"),
        (lambda f: f.update(devices=2 * f["devices"]), "several CPU devices"),
        (lambda f: f.update(ignores_interrupts=True), "SIGINT is ignored"),
        (lambda f: f.update(threads=1, cores=8), "one of 8 cores"),
        (lambda f: f["environment"].update(XLA_FLAGS="--xla_cpu_multi_thread_eigen=false"), "one thread"),
    ],
)
def test_what_is_slow_is_a_note(found, change, words):
    slow = copy.deepcopy(found)
    slow["devices"] = [device | {"kind": "cpu"} for device in slow["devices"]]
    change(slow)
    assert any(words in note for note in doctor._notes(slow))


def test_a_plugin_without_a_device_is_a_problem(found, monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: "0.12" if name == "jax-cuda13-plugin" else None)
    lonely = copy.deepcopy(found) | {"environment": {}}
    lonely["devices"] = [device | {"kind": "cpu"} for device in lonely["devices"]]
    assert any("jax-cuda13-plugin is installed" in problem for problem in doctor._problems(lonely))


def test_the_exit_status_says_whether_there_is_a_problem(found, monkeypatch, capsys):
    for problems, status in (([], 0), (["the sky falls"], 1)):
        monkeypatch.setattr("jaxaot.cli.examine", lambda problems=problems: found | {"problems": problems})
        assert main(["doctor"]) == status
        assert ("problem: the sky falls" in capsys.readouterr().out) is bool(problems)
        assert main(["doctor", "--json"]) == status
        assert json.loads(capsys.readouterr().out)["problems"] == problems
        assert main(["doctor", "--quiet"]) == status
        assert capsys.readouterr().out == ""


def test_a_gpu_without_a_wheel_is_a_problem(found, monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    bare = copy.deepcopy(found) | {"has_gpu": True}
    bare["devices"] = [device | {"kind": "cpu"} for device in bare["devices"]]
    assert any("jax[cuda13]" in problem for problem in doctor._problems(bare))


def test_a_cache_that_cannot_be_written_or_is_of_another_user_is_at_fault(tmp_path, monkeypatch):
    assert list(doctor._faults_of_cache(str(tmp_path))) == list(doctor._faults_of_cache(str(tmp_path / "later"))) == []
    with monkeypatch.context() as patched:
        patched.setattr(doctor.os, "access", lambda path, mode: False)
        (fault,) = doctor._faults_of_cache(str(tmp_path))
        assert "cannot be written" in fault
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(doctor.os, "getuid", lambda: owner + 1, raising=False)
    (fault,) = doctor._faults_of_cache(str(tmp_path))
    assert "another user" in fault


def test_a_missing_extra_and_64_bit_types_come_with_what_to_write(found):
    poor = copy.deepcopy(found) | {"extras": {"viz": False}, "x64": False}
    text = "\n".join(doctor.lines_of(poor))
    assert "pip install 'jaxaot[viz]'" in text and "jax_enable_x64" in text
