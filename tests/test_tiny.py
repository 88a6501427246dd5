"""Small facts about the source that keep it readable."""

import ast
import pathlib
import re

from tests.cases import each
from tests.source import ROOT, nodes_of, place_of, tree_of
from tests.source import WRITTEN as FILES

MAX_LINES = 650

BY_PATH = each("path", FILES, ids=place_of)

NUMBERED = re.compile(r"(?:^|_)(?:new|old|v\d+|orig|tmp|final)(?:_|$)|[a-z]{3,}_?\d$")
NUMBERS_OF_THE_FIELD = re.compile(
    r"orig_mod|conv|pool|relu6|dropout|batch_norm|instance_norm|adaptive|unfold|fold|log|exp|atan|float|int|uint|bfloat|complex"
    r"|dim\d|axis\d|mat\d|input\d|tensor\d|batch\d|vec\d|[01]$"
)
EMPTY_WORDS = {"utils", "manager", "misc", "common", "stuff", "meta", "info"}


@BY_PATH
def test_a_file_can_be_read_over_coffee(path):
    n_lines = len(path.read_text().splitlines())
    assert n_lines <= MAX_LINES, f"{path} has {n_lines} lines: which two ideas does it hold?"


@BY_PATH
def test_a_module_opens_by_saying_what_it_is(path):
    if tree_of(path).body:
        assert ast.get_docstring(tree_of(path)), f"{path} has no docstring"


def is_numbered(name):
    if name.startswith(("__", "new_", "_new_")):  # `__new__`, PyTorch's `Tensor.new_zeros`
        return False
    return NUMBERED.search(name.strip("_")) and not NUMBERS_OF_THE_FIELD.search(name)


@BY_PATH
def test_nothing_is_numbered(path):
    nodes = [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    numbered = {node.name for node in nodes if is_numbered(node.name)}
    assert not numbered, f"{path}: replace, do not number"


@BY_PATH
def test_names_of_files_say_something(path):
    assert not EMPTY_WORDS & set(path.stem.strip("_").split("_")) or path.stem == "_util"


def test_plans_hold_no_arrays_or_functions():
    """Every class of `plan` but the stages is frozen, and its fields are plain values."""
    for path in sorted((ROOT / "plan").glob("*.py")):
        for node in nodes_of(path):
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
            modules = [node.module or "" for node in nodes_of(path) if isinstance(node, ast.ImportFrom)]
            assert not [m for m in modules if m.startswith(("jaxaot.facade", "jaxaot.tape", "jaxaot.ops"))], path


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "py.typed").exists()


def test_nothing_is_called_by_a_private_number():
    """A feature has a name: tests do not number them."""
    root = pathlib.Path(__file__).parents[1]
    tests = [
        f"{path.name}: {name}"
        for path in (root / "tests").rglob("*.py")
        for name in re.findall(r"def (test_[a-z]\d+_\w+)", path.read_text())
    ]
    assert not tests


MAX_ANY = 0.12
"""The part of the annotated parameters that are `Any`: lower it, never raise it."""


def annotations_of_parameters(path):
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = node.args
            for arg in (*own.posonlyargs, *own.args, *own.kwonlyargs, own.vararg, own.kwarg):
                if arg is not None and arg.annotation is not None:
                    yield ast.unparse(arg.annotation)


def test_few_parameters_are_any():
    """Graphs, equations, tensors and arrays have types; `object` is what may be anything and is passed on."""
    files = [path for path in FILES if "bridge" not in path.parts]  # types of PyTorch, which may not be there
    annotations = [text for path in files for text in annotations_of_parameters(path)]
    part = annotations.count("Any") / len(annotations)
    assert part <= MAX_ANY, f"{annotations.count('Any')} of {len(annotations)} parameters are `Any`"


def named_tests(page, folder):
    """Returns for each module that a page names in a line with tests: the paths of these tests."""
    found = {}
    items = re.findall(r"^- (`[\w/]+\.py`.*(?:\n  .*)*)", page, re.MULTILINE)
    for files, tests in (item.split(":", 1) for item in items):
        for name in re.findall(r"`([\w/]+\.py)`", files):
            found.setdefault(name, []).extend(re.findall(r"`(tests/[\w/.]+)`", tests))
    return {folder / name: paths for name, paths in found.items()}


def leading_tests(path):
    """Returns the paths of tests that are found from a module: one of its name, or those that a page names."""
    root = pathlib.Path(__file__).parents[1]
    place = path.relative_to(ROOT)
    for folder in (place.parent, place.parent.parent):  # the tests of a floor of rooms may lie together
        mirrored = root / "tests" / folder / f"test_{path.stem.strip('_')}.py"
        if mirrored.exists():
            return [str(mirrored.relative_to(root))]
    pages = [folder / "README.md" for folder in path.parents if ROOT in folder.parents]
    found = [
        test
        for page in pages
        if page.exists()
        for file, tests in named_tests(page.read_text(), pathlib.Path()).items()
        if path.name == file.name
        for test in tests
    ]
    outside = named_tests((root / "tests" / "README.md").read_text(), pathlib.Path())
    return found + outside.get(place, [])


@BY_PATH
def test_a_module_leads_to_its_tests(path):
    if path.stem in ("__init__", "__main__"):
        return
    found = leading_tests(path)
    assert found, f"{path}: name its tests in a list item under `## Tests` of its room's README, or in tests/README.md"
    missing = [test for test in found if not (pathlib.Path(__file__).parents[1] / test).exists()]
    assert not missing


def test_the_pages_name_no_module_that_is_gone():
    root = pathlib.Path(__file__).parents[1]
    for page in [*ROOT.rglob("README.md"), root / "tests" / "README.md"]:
        folder = ROOT if page.parent.name == "tests" else page.parent
        there = {path.name for path in folder.rglob("*.py")} | {str(path.relative_to(ROOT)) for path in FILES}
        gone = [str(file) for file in named_tests(page.read_text(), pathlib.Path()) if str(file) not in there]
        assert not gone, f"{page}: {gone}"


def test_lines_with_tests_are_read_over_several_lines():
    page = "- `a.py`, `b.py`: `tests/x.py`,\n  `tests/y.py`.\n- `c.py`: `tests/z.py`.\n- a sentence: `tests/w.py`.\n"
    assert named_tests(page, pathlib.Path("room")) == {
        pathlib.Path("room/a.py"): ["tests/x.py", "tests/y.py"],
        pathlib.Path("room/b.py"): ["tests/x.py", "tests/y.py"],
        pathlib.Path("room/c.py"): ["tests/z.py"],
    }
