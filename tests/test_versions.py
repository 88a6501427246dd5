"""Versions of Python and JAX that are too old or untried are named at import, in one line."""

import re
import subprocess
import sys
import tomllib
import warnings

import jax
import pytest

from jaxaot._versions import NEWEST_JAX, NEWEST_PYTHON, OLDEST_JAX, OLDEST_PYTHON, check_versions
from jaxaot.errors import UntriedVersionWarning
from tests.cases import each
from tests.test_messages import ROOT


@each("jax_version", ["0.10.2", "0.11.2", "0.12.0.1", "0.12.7", "0.12.0.dev20261101+abc"])
@each("python", [(3, 11, 7), (3, 12, 0), (3, 13, 9)])
def test_versions_between_are_taken_silently(jax_version, python):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_versions(jax_version, python)


@pytest.mark.parametrize("jax_version, python", [("0.10.1", (3, 12)), ("0.9.2", (3, 12)), ("0.12.0", (3, 10, 4))])
def test_versions_that_are_too_old(jax_version, python):
    with pytest.raises(ImportError, match=r"jaxaot needs (jax 0\.10\.2|Python 3\.11) or later, and this is") as caught:
        check_versions(jax_version, python)
    assert "\n" not in str(caught.value) and "Write `" in str(caught.value)


@pytest.mark.parametrize("jax_version, python", [("0.13.0", (3, 12)), ("1.0", (3, 12)), ("0.12.0", (3, 14, 0))])
def test_versions_that_nothing_was_tried_with(jax_version, python):
    with pytest.warns(UntriedVersionWarning, match="jaxaot was tried with") as caught:
        check_versions(jax_version, python)
    assert len(caught) == 1 and "\n" not in str(caught[0].message)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "version, words", [("0.9.0", "ImportError: jaxaot needs jax 0.10.2 or later"), ("9.0", "tried")]
)
def test_the_import_says_so(version, words):
    code = f"import jax; jax.__version__ = {version!r}; import jaxaot"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert words in result.stderr
    assert (result.returncode == 0) is (words == "tried")
    assert result.stderr.count("UntriedVersionWarning: ") == (words == "tried")


def test_what_is_said_of_versions_agrees():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"jax>={'.'.join(map(str, OLDEST_JAX))}" in project["dependencies"]
    assert project["requires-python"] == f">={'.'.join(map(str, OLDEST_PYTHON))}"
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"jax {'.'.join(map(str, OLDEST_JAX))} on Python {'.'.join(map(str, OLDEST_PYTHON))}" in readme
    newest = re.search(r"jax ([\d.]+) on Python ([\d.]+), and the oldest", readme).groups()
    assert newest[0].startswith(".".join(map(str, NEWEST_JAX))) and newest[1] == ".".join(map(str, NEWEST_PYTHON))
    assert jax.__version_info__[:2] <= NEWEST_JAX
