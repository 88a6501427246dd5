"""The reproductions of docs/xla_faults.md: which versions of jaxlib have a fault, and what jaxaot does about it."""

import importlib.metadata
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.backend.cpu import tune
from jaxaot.lower import executable
from tests.archive.roundtrip import archived
from tests.seeds import some

PAGE = (pathlib.Path(__file__).parents[1] / "docs" / "xla_faults.md").read_text()
pytestmark = pytest.mark.usefixtures("optimized")

ROW = re.compile(r"^\| \[(?P<name>[^]]+)\]\(#[a-z0-9-]+\) \|(?P<cells>.*)\|$", re.MULTILINE)
BLOCK = re.compile(r"^### (?P<name>.+?)\n.*?```python\n(?P<code>.*?)```", re.MULTILINE | re.DOTALL)

ROWS = {m["name"]: [cell.strip() for cell in m["cells"].split("|")] for m in ROW.finditer(PAGE)}
CODE = {m["name"]: m["code"] for m in BLOCK.finditer(PAGE)}
AVOIDED = [name for name, cells in ROWS.items() if cells[-1].startswith("avoided")]
SIMPLIFIED = [name for name, cells in ROWS.items() if len(cells) == 3]


def version_of(text):
    return tuple(map(int, re.findall(r"\d+", text)[:4]))


INSTALLED = version_of(importlib.metadata.version("jaxlib"))


def versions(text):
    return [version_of(v) for v in text.split(",") if v.strip()]


def is_expected(name, installed=INSTALLED):
    """Returns whether the latest version that a row names, up to the installed one, has the fault."""
    wrong, right = map(versions, ROWS[name][1:3])
    known = [v for v in (*wrong, *right) if v <= installed] or [min(*wrong, *right)]
    return max(known) in wrong


def parts(name):
    """Returns the function, the operands and the right result of a reproduction."""
    scope = {"jax": jax, "jnp": jnp, "np": np, "lax": lax}
    exec(CODE[name], scope)
    return scope["f"], scope["args"], np.asarray(scope["right"])


def is_right(got, right):
    with np.errstate(invalid="ignore"):
        return np.allclose(np.asarray(got), right, rtol=1e-5, atol=0)


def test_each_row_has_a_reproduction():
    assert ROWS.keys() == CODE.keys() and len(ROWS) == len(AVOIDED) + len(SIMPLIFIED)


@pytest.mark.parametrize("name", ROWS)
def test_the_table_is_true_of_the_installed_jaxlib(name):
    f, args, right = parts(name)
    has_it = not is_right(jax.jit(f)(*args), right)
    if is_expected(name):
        assert has_it, (
            f"jaxlib {importlib.metadata.version('jaxlib')} no longer has the fault “{name}”. Add the version to the "
            "column “right in” of docs/xla_faults.md; what avoids the fault can go once older versions are dropped."
        )
    else:
        assert not has_it, f"The fault “{name}” is back: add this jaxlib to “wrong in” in docs/xla_faults.md."


def test_a_newer_jaxlib_is_expected_to_be_as_the_latest_one_known():
    assert is_expected("base dilation", (9, 9)) and not is_expected("squares of integers", (9, 9))
    assert is_expected("squares of integers", (0, 11)) and is_expected("squares of integers", (0, 1))


@pytest.mark.parametrize("passes", some([None, ()], 1))
@pytest.mark.parametrize("name", AVOIDED)
def test_known_faults_are_avoided(name, passes):
    f, args, right = parts(name)
    with ja.config(passes=passes):
        assert is_right(ja.jit(f)(*args), right)
        assert is_right(ja.compile(f)(*args), right)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", AVOIDED)
def test_known_faults_are_avoided_in_archives(name):
    f, args, right = parts(name)
    for platforms in (("cpu",), ("cpu", "tpu")):
        assert is_right(archived(f, *args, platforms=platforms)(*args), right), platforms


def test_known_faults_are_avoided_in_the_bodies_of_loops():
    def in_a_loop(x, i, j):
        f, _, _ = parts("nested dynamic slices")
        return lax.scan(lambda c, _: (c, f(x, i, j)), 0, None, length=3)[1]

    _, args, right = parts("nested dynamic slices")
    assert is_right(ja.jit(in_a_loop)(*args), np.stack([right] * 3))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if "extremes" in name else name  # has many equations
        for name in AVOIDED
        if "alone" not in ROWS[name][0]
    ],
)
def test_faults_that_nothing_avoids_are_found(name, monkeypatch):
    for module in (executable, tune):
        monkeypatch.setattr(module, "repaired", lambda closed, *_, **__: closed)
    f, args, right = parts(name)
    with ja.config(check_executables=True):
        if is_expected(name):
            with pytest.raises(ja.errors.WrongExecutableError, match="its result is"):
                ja.jit(f)(*args)
            with pytest.raises(ja.errors.WrongExecutableError):
                ja.compile(f)(*args)
        else:
            assert is_right(ja.jit(f)(*args), right)


@pytest.mark.parametrize("name", SIMPLIFIED)
def test_exact_rounding_keeps_what_is_simplified(name):
    f, args, right = parts(name)
    with ja.config(exact_rounding=True):
        assert is_right(ja.jit(f)(*args), right)
        assert is_right(ja.compile(f)(*args), right)
