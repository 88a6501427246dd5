"""Small facts about the source that keep it readable."""

import ast
import pathlib
import re

import pytest

import jaxaot

ROOT = pathlib.Path(jaxaot.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MAX_LINES = 650

BY_PATH = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))

NUMBERED = re.compile(r"(?:^|_)(?:new|old|v\d+|orig|tmp|final)(?:_|$)|[a-z]{3,}_?\d$")
NUMBERS_OF_THE_FIELD = re.compile(
    r"conv|pool|relu6|dropout|batch_norm|instance_norm|adaptive|unfold|fold|log|exp|atan|float|int|uint|bfloat|complex"
    r"|dim\d|axis\d|mat\d|input\d|tensor\d|batch\d|vec\d|[01]$"
)
EMPTY_WORDS = {"utils", "manager", "misc", "common", "stuff", "meta", "info"}


@BY_PATH
def test_a_file_can_be_read_over_coffee(path):
    n_lines = len(path.read_text().splitlines())
    assert n_lines <= MAX_LINES, f"{path} has {n_lines} lines: which two ideas does it hold?"


@BY_PATH
def test_a_module_opens_by_saying_what_it_is(path):
    text = path.read_text()
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"


def is_numbered(name):
    if name.startswith(("__", "new_", "_new_")):  # `__new__`, PyTorch's `Tensor.new_zeros`
        return False
    return NUMBERED.search(name.strip("_")) and not NUMBERS_OF_THE_FIELD.search(name)


@BY_PATH
def test_nothing_is_numbered(path):
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    numbered = {node.name for node in nodes if is_numbered(node.name)}
    assert not numbered, f"{path}: replace, do not number"


@BY_PATH
def test_names_of_files_say_something(path):
    assert not EMPTY_WORDS & set(path.stem.strip("_").split("_")) or path.stem == "_util"


def test_plans_hold_no_arrays_or_functions():
    """Every class of `plan` but the stages is frozen, and its fields are plain values."""
    for path in sorted((ROOT / "plan").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ClassDef):
                continue
            text = ast.unparse(node)
            if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
                assert "frozen=True" in text.split("class ")[0], f"{path}: {node.name} is not frozen"
            if path.stem != "stages":
                fields = [ast.unparse(item.annotation) for item in node.body if isinstance(item, ast.AnnAssign)]
                bad = [field for field in fields if re.search(r"\b(Array|Callable|Tracer|list|dict)\b", field)]
                assert not bad, f"{path}: {node.name} holds {bad}"


def test_the_compiler_half_never_sees_a_tensor():
    """Joint graph, passes, partition and lowering work on jaxprs alone."""
    for unit in ("ir", "joint.py", "passes", "partition", "backend", "lower", "plan"):
        target = ROOT / unit
        for path in [target] if target.is_file() else sorted(target.rglob("*.py")):
            tree = ast.parse(path.read_text())
            modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            assert not [m for m in modules if m.startswith(("jaxaot.facade", "jaxaot.tape", "jaxaot.ops"))], path


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "py.typed").exists()


def test_the_tests_that_the_coverage_page_names_exist():
    root = pathlib.Path(__file__).parents[1]
    page = (root / "docs" / "coverage.md").read_text().replace("scenarios::", "tests/test_scenarios.py::")
    missing = []
    for file, name in re.findall(r"`((?:tests|benchmarks|notebooks)/[\w/.]*)(?:::(\w+))?`", page):
        path = root / file
        if not path.exists() or (name and f"def {name}(" not in path.read_text()):
            missing.append(f"{file}::{name}")
    assert not missing


def test_the_coverage_page_has_every_row():
    page = (pathlib.Path(__file__).parents[1] / "docs" / "coverage.md").read_text()
    shown = set()
    for letter, first, last in re.findall(r"^\| ([SP])(\d+)(?:–[SP](\d+))? \|", page, re.MULTILINE):
        shown |= {f"{letter}{i}" for i in range(int(first), int(last or first) + 1)}
    assert shown == {f"S{i}" for i in range(1, 85)} | {f"P{i}" for i in range(1, 31)}
    statuses = {"done", "partly", "planned", "not needed"}
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| [SP]\d", line)]
    assert all(row[2] in statuses for row in rows)
