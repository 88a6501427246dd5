"""Each error has a section with a cause, an example that fails, and what to write instead; the examples are run."""

import ast
import copy
import importlib.util
import inspect
import pathlib
import pickle
import re
import traceback
import warnings

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.cases import each

ROOT = pathlib.Path(__file__).parents[1]

FAMILIES = {"JaxaotError", "TensorError", "AutogradError", "TraceError", "CompilerError"}
ELSEWHERE = {
    "WrongExecutableError": "a fault of XLA",
    "UnsoundGuardsError": "a fault of jaxaot",
    "UnprovedGuardsWarning": "takes longer than a test may",
    "MissingExtraError": "needs a Python without safetensors",
    "OffloadError": "needs a device that cannot keep values in the host's memory",
    "SettingsChangedError": "`ja.compile` makes another program",
    "UntriedVersionWarning": "comes at the import; tests/test_versions.py",
}
"""What its example does not raise here, and why; the example runs all the same."""


def page_tool():
    spec = importlib.util.spec_from_file_location("errors_page", ROOT / "tools" / "errors_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = page_tool()
CLASSES = PAGE.in_order()
SINGLE = [c for c in CLASSES if c.__name__ not in FAMILIES]


def example(cls):
    """Returns the code in a class's docstring."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.fenced(inspect.getdoc(cls)), re.DOTALL | re.MULTILINE)
    return code


@pytest.mark.few(11)
@pytest.mark.parametrize("cls", SINGLE, ids=lambda cls: cls.__name__)
def test_the_example_of_an_error_fails_where_it_says_so_and_nowhere_else(cls, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "example.py"
    path.write_text(example(cls))
    lines = path.read_text().splitlines()
    if "import torch" in path.read_text():
        pytest.importorskip("torch")
    scope = {"ja": ja, "jax": jax, "jnp": jnp, "__name__": "example"}
    n_failed = n_after = 0
    for node in ast.parse(path.read_text()).body:
        program = compile(ast.Module([node], []), str(path), "exec")
        is_to_fail = any(re.search(rf"# {cls.__name__}\b", line) for line in lines[node.lineno - 1 : node.end_lineno])
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            if is_to_fail and cls.__name__ not in ELSEWHERE and not issubclass(cls, Warning):
                with pytest.raises(cls) as caught, jax.enable_x64("torch" in scope):
                    exec(program, scope)
                assert caught.type is cls
            else:
                with jax.enable_x64("torch" in scope):
                    exec(program, scope)
        said = [warning for warning in warned if warning.category is cls]
        assert bool(said) is (is_to_fail and issubclass(cls, Warning) and cls.__name__ not in ELSEWHERE)
        n_failed += is_to_fail
        n_after += bool(n_failed) and not is_to_fail
    assert n_failed == 1 or cls.__name__ in ELSEWHERE
    assert n_after or cls.__name__ in {*ELSEWHERE, "DuplicateOpError", "SavedHooksError"}, "what is to be written?"


@each("cls", SINGLE)
def test_each_error_says_its_cause_in_a_sentence(cls):
    assert re.match(r"[A-Z`].{15,}\.$", inspect.getdoc(cls).partition("\n\n")[0].replace("\n", " ").strip())


def test_the_page_is_what_the_docstrings_say():
    assert PAGE.PAGE.read_text() == PAGE.render(), "run `python tools/errors_page.py`"


def test_the_page_has_a_section_for_each_class():
    assert re.findall(r"^## (\w+)$", PAGE.PAGE.read_text(), re.MULTILINE) == [cls.__name__ for cls in CLASSES]


def test_a_traceback_ends_with_the_section_of_the_page():
    try:
        ja.zeros(2, 3).t().view(-1)
    except errors.ViewError as error:
        said = traceback.format_exception(error)
    assert said[-1] == "Explained in docs/errors.md#viewerror, and by `help(ja.errors.ViewError)`.\n"


def test_an_error_that_is_copied_or_pickled_is_explained_once():
    error = errors.VolatileError("It reads a clock", "Pass the time")
    for made in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert made.__notes__ == error.__notes__ and str(made) == str(error) and len(made.__notes__) == 1


def test_an_error_of_ones_own_is_explained_by_the_class_that_it_comes_from():
    class Mine(errors.ViewError):
        pass

    assert "#viewerror" in Mine("words").__notes__[0]
