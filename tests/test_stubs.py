"""The stubs of what is bound from the op table: current, complete, and what editors complete from."""

import ast
import importlib.util
import os
import pathlib
import subprocess
import sys

import jedi
import pytest

import jaxaot as ja

ROOT = pathlib.Path(__file__).parents[1]


def stubs():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.render()


RENDERED = stubs()


@pytest.mark.parametrize("path", RENDERED, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_stubs_are_current(path):
    assert path.read_text(encoding="utf-8") == RENDERED[path], "run `python tools/stubs.py`"


def defined(path):
    """Returns the names that a stub shows: definitions, constants, and imports that are exported."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname == alias.name or alias.asname}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@pytest.mark.parametrize("name", ["", "linalg", "fft", "special", "masked", "signal.windows", "nn.functional"])
def test_the_stub_of_a_module_has_all_its_names(name):
    module, path = ja, ROOT / "jaxaot" / "__init__.pyi"
    for part in filter(None, name.split(".")):
        module = getattr(module, part)
    if name:
        path = ROOT.joinpath("jaxaot", *name.split(".")).with_suffix(".pyi")
    assert not set(dir(module)) - defined(path)


def test_the_stub_of_the_methods_has_all_of_them():
    def members(file, name):
        tree = ast.parse((ROOT / "jaxaot" / "facade" / "memory" / file).read_text(encoding="utf-8"))
        (cls,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
        return {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}

    public = {name for name in vars(ja.Tensor) if not name.startswith("_")}
    assert not public - members("bound.pyi", "Bound") - members("tensor.py", "Tensor")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ja.mat", {"matmul", "matrix_exp", "matrix_power"}),
        ("x = ja.zeros(2)\nx.add", {"add", "add_", "addmm", "addmm_"}),
        ("x = ja.zeros(2)\n(x @ x).relu().max(0).val", {"values"}),
        ("ja.nn.functional.cross", {"cross_entropy"}),
        ("ja.linalg.inv", {"inv", "inv_ex"}),
        ("ja.autograd.graph.saved", {"saved_tensors_hooks"}),
        ("ja.compi", {"compile", "compiler"}),
        ("ja.estimate.", {"plan", "profile"}),
        ("ja.config.", {"get", "set"}),
    ],
)
def test_editors_complete(code, expected):
    code = f"import jaxaot as ja\n{code}"
    lines = code.splitlines()
    script = jedi.Script(code, project=jedi.Project(ROOT))
    found = {completion.name for completion in script.complete(len(lines), len(lines[-1]))}
    assert expected <= found


@pytest.mark.parametrize("module", ["ja.nn.functional.", "ja.linalg.", "ja.func.", "ja.estimate.", "ja.policies."])
def test_editors_complete_public_names_alone(module):
    code = f"import jaxaot as ja\n{module}"
    script = jedi.Script(code, project=jedi.Project(ROOT))
    found = {completion.name for completion in script.complete(2, len(module))}
    assert {name for name in found if not name.startswith("_")} <= set(dir(eval(module[:-1])))


def test_the_functions_of_the_op_table_are_current():
    """In a process of its own, as writing them binds the table again."""
    check = (
        "import forms; assert forms.PAGE.read_text(encoding='utf-8') == forms.render(), 'run `python tools/forms.py`'"
    )
    path = os.pathsep.join([str(ROOT / "tools"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run([sys.executable, "-c", check], env={**os.environ, "PYTHONPATH": path}, capture_output=True)
    assert not run.returncode, run.stderr.decode()[-500:]
