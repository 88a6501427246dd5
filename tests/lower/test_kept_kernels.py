"""Eager kernels in the user's folder of caches: what is kept and read again, and that all works without it."""

from __future__ import annotations

import os
import pathlib
import random
import subprocess
import sys
import warnings

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import settings
from jaxaot.doctor import examine, lines_of
from jaxaot.facade.dispatch.operands import clear_kernels
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.lower.warm import kernels
from jaxaot.lower.warm.entry import decode, encode
from tests.seeds import seeds

ROOT = pathlib.Path(ja.__file__).parents[1]
X = jax.device_put(np.arange(6, dtype=np.float32))
SETTINGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")


@pytest.fixture
def folder(tmp_path):
    """An empty directory of kernels; JAX's own cache, which would have them, is off."""
    before = {name: getattr(jax.config, name) for name in SETTINGS}
    jax.config.update("jax_compilation_cache_dir", None)
    yield tmp_path / "kernels"
    for name, value in before.items():
        jax.config.update(name, value)


def computed(number, x=X):
    """What a new kernel gives, as in a new process."""

    def plus(x):
        return x + np.float32(number)

    jax.clear_caches()
    return np.asarray(EagerKernel(plus)(x)).tolist()


def files(folder):
    return sorted(folder.glob("*.kernel")) if folder.exists() else []


def test_a_kept_kernel_is_read_and_not_compiled(folder):
    with ja.config(kernels_dir=folder):
        one = computed(1)
        (file,) = files(folder)
        key, program = decode(file.read_bytes()).manifest["key"], decode(file.read_bytes()).blobs
        computed(2)
        (other,) = set(files(folder)) - {file}
        assert computed(1) == one and len(files(folder)) == 2
        other.write_bytes(encode({"key": decode(other.read_bytes()).manifest["key"]}, program))
        assert computed(2) == one, "the program of the file runs"
        file.write_bytes(encode({"key": key + "."}, decode(other.read_bytes()).blobs))
        assert computed(1) == one and decode(file.read_bytes()).manifest["key"] == key


def test_programs_of_the_user_are_not_kept(folder):
    with ja.config(kernels_dir=folder):
        jax.jit(lambda x: x * 3)(X)
        ja.jit(lambda x: x * 4)(X)
        ja.compile(lambda x: x * 5)(ja.interop.from_jax(X))
        assert not files(folder)
        computed(3)
        jax.jit(lambda x: x * 6)(X)
    assert len(files(folder)) == 1


@pytest.mark.parametrize("damage", [b"", b"jaxaotw1", None])
def test_damaged_files_are_made_anew(folder, damage):
    with ja.config(kernels_dir=folder):
        right = computed(1)
        (file,) = files(folder)
        content = file.read_bytes()
        for worse in (damage, encode({"key": decode(content).manifest["key"]}, [b"no program"])):
            file.write_bytes(content[:-1] if worse is None else worse)
            assert computed(1) == right
            assert decode(file.read_bytes()).manifest["key"] == decode(content).manifest["key"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of Unix")
def test_a_folder_that_cannot_be_used_is_done_without(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    os.chmod(folder, 0o770)
    with ja.config(kernels_dir=folder):
        with pytest.warns(UserWarning, match=r"`kernels_dir` is refused: others may write to it"):
            assert computed(1) == [1, 2, 3, 4, 5, 6]
        with warnings.catch_warnings(action="error"):
            assert computed(1) == [1, 2, 3, 4, 5, 6], "it is said once"
    assert not files(folder)
    monkeypatch.setattr(settings, "USERS_KERNELS", "/proc/nowhere/kernels")
    with ja.config(kernels_dir="/proc/nowhere/kernels"), warnings.catch_warnings(action="error"):
        assert computed(1) == [1, 2, 3, 4, 5, 6], "nobody named it, so nothing is said"


def test_a_cache_of_jax_that_keeps_everything_has_them(folder, tmp_path):
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "jax"))
    with ja.config(kernels_dir=folder):
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        computed(1)
        assert not files(folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0)
        right = computed(1)
        assert len(files(folder)) == 1
        assert computed(1) == right, "JAX has it, and what is read from its cache cannot be written again"


def test_what_was_used_least_recently_goes(folder, monkeypatch):
    monkeypatch.setattr(kernels, "WRITES_TO_TRIM", 1)
    with ja.config(kernels_dir=folder):
        computed(1)
        (file,) = files(folder)
        os.utime(file, (1000, 1000))
        with ja.config(cache_bytes=file.stat().st_size * 3 // 2):
            computed(2)
    assert file not in files(folder) and len(files(folder)) == 1


def test_where_they_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert settings._users_kernels() == str(tmp_path / ".cache" / "jaxaot" / "kernels")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert settings._users_kernels() == str(tmp_path / "caches" / "jaxaot" / "kernels")
    assert ja.config.get().kernels_dir is None, "tests write nothing into a home"


def test_the_doctor_says_where(folder):
    with ja.config(kernels_dir=folder):
        assert f"kernels of eager ops on disk: {folder}" in list(lines_of(examine()))
    assert "kernels of eager ops on disk: none, `kernels_dir` is None" in list(lines_of(examine()))


PROCESS = """
import jaxaot as ja
from jaxaot.lower.warm import kernels
n, make = [], kernels.compile_module
kernels.compile_module = lambda *args: n.append(args) or make(*args)
x = ja.interop.from_jax(__import__("numpy").ones((3, 4), "float32")).requires_grad_()
(x.exp() * x).sum().backward()
print(x.grad.sum().item(), len(n))
"""


def test_processes_that_start_at_once(folder):
    environment = {**os.environ, "JAXAOT_KERNELS_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)

    def ended(process):
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out.split()

    start = lambda: subprocess.Popen([sys.executable, "-c", PROCESS], env=environment, stdout=-1, stderr=-1, text=True)
    (value, n_first), (other, n_other) = [ended(process) for process in [start() for _ in range(2)]]
    assert int(n_first) + int(n_other) >= len(files(folder)) > 4
    assert ended(start()) == [value, "0"] and value == other
    assert not list(folder.glob(".writing*"))


OPS = ("exp", "tanh", "softmax", "cumsum", "sum", "mul", "matmul", "add_", "index", "sort", "normal")


@pytest.mark.parametrize("seed", seeds(40, 2))
def test_random_programs_give_the_same_from_kept_kernels(seed, folder):
    def results():
        choice = random.Random(seed)
        ja.manual_seed(seed)
        a = ja.randn(choice.randint(1, 5), choice.randint(1, 5), requires_grad=True)
        x = a * 1
        for _ in range(5):
            match choice.choice(OPS):
                case "softmax" | "cumsum" as op:
                    x = getattr(x, op)(0)
                case "sum":
                    x = x + x.sum(0, keepdim=True)
                case "mul":
                    x = x * choice.random()
                case "matmul":
                    x = x @ (x.t() @ x)
                case "add_":
                    x = x.clone().add_(x)
                case "index":
                    x = x[choice.randrange(x.shape[0]) :]
                case "sort":
                    x = x.sort(-1).values
                case "normal":
                    x = x + ja.randn(*x.shape)
                case op:
                    x = getattr(x, op)()
        x.sum().backward()
        return [x.detach().numpy().tolist(), a.grad.numpy().tolist()]

    with ja.config(kernels_dir=folder):
        clear_kernels()
        first, n = results(), len(files(folder))
        clear_kernels()
        jax.clear_caches()
        assert results() == first and len(files(folder)) == n > 0
