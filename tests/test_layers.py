"""Imports only point down the picture in docs/architecture.md, and JAX's private parts are named in one file."""

import ast
import pathlib
import re

import pytest

from tests.cases import each
from tests.source import FILES, ROOT, nodes_of, place_of

LAYERS = [
    ("_immutable",),
    (
        "errors",
        "settings",
        "_typing",
        "_util",
        "_signals",
        "_logs",
        "_frames",
        "_progress",
        "_jax",
        "_scopes",
        "_placement",
        "_manual_axes",
        "_trees",
        "_versions",
    ),
    ("_callables", "_unpicklable"),
    ("views",),
    ("ir", "ops"),
    ("plan", "tape"),
    ("joint", "passes", "partition", "buckets"),
    ("report",),
    ("backend",),
    ("lower",),
    ("facade",),
    ("validate",),
    ("tracer", "runtime", "rematerialize"),
    ("transforms",),
    ("flow",),
    ("pipeline",),
    ("api", "saving", "tensor_types"),
    ("archive",),
    ("autograd", "func", "nn", "amp", "aot", "policies", "random", "profiling", "freezing", "profiler", "version"),
    ("cuda", "defaults"),
    (
        "accelerator",
        "backends",
        "mps",
        "xpu",
        "_inductor",
        "linalg",
        "fft",
        "special",
        "masked",
        "signal",
        "jitted",
        "compiler",
        "optim",
        "subclasses",
        "distributed",
        "distributions",
        "doctor",
        "estimate",
        "sizes",
        "stages",
        "interop",
        "testing",
        "utils",
    ),
    ("bridge",),
    ("demo", "_dynamo", "torch"),
    ("cli",),
    ("__init__", "__main__"),
]
"""From the floor up. Units of one row do not import one another, but for the pairs below."""

RANK = {unit: rank for rank, row in enumerate(LAYERS) for unit in row}

WITHIN_A_ROW = {
    ("_typing", "_jax"),  # types of graphs
    ("_scopes", "_jax"),  # types of equations
    ("_placement", "_jax"),  # what asks XLA for one is a primitive
    ("_manual_axes", "_jax"),  # types of values
    ("_manual_axes", "_typing"),
    ("_progress", "settings"),  # it can be turned off
    ("errors", "_frames"),  # what IPython shows of one
    ("_util", "errors"),  # so is a name that is not there
    ("settings", "errors"),  # an unknown setting is an error
    ("_versions", "errors"),  # an untried version is a warning
    ("_logs", "errors"),  # an unknown name is an error
    ("rematerialize", "tracer"),  # hooks on saved tensors are traced
}

PRIVATE = re.compile(r"jax\._src|jax\.interpreters|jax\.core|jax\.extend")

RENAMED = {"num_consts", "num_carry"}
"""Parameters of `scan` until JAX 0.10."""


def unit_of(path, root=ROOT):
    return path.relative_to(root).with_suffix("").parts[0]


def imported(path, root=ROOT):
    """Yields the full name of every module of jaxaot that `path` imports, inside functions too."""
    inside = (root.name, *path.relative_to(root).with_suffix("").parts)
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            # `from jaxaot import ops` imports jaxaot.ops as much as `from jaxaot.ops import table` does
            names = [f"{module}.{alias.name}" for alias in node.names] if module == root.name else [module]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == root.name)


def problems(path, root=ROOT):
    """Returns what is wrong with the imports of one file."""
    unit, found = unit_of(path, root), []
    if unit not in RANK:
        return [f"{path}: `{unit}` has no place in LAYERS"]
    for name in imported(path, root):
        parts = name.split(".")
        if len(parts) == 1 or parts[1] not in RANK:
            found.append(f"{path} imports `{name}`: name the unit, not the package")
            continue
        other = parts[1]
        if other == unit or (unit, other) in WITHIN_A_ROW:
            continue
        if RANK[other] >= RANK[unit]:
            where = "above it" if RANK[other] > RANK[unit] else "beside it"
            found.append(f"{path} ({unit}) imports {name}, which is {where}")
    return found


LOCAL = {
    ("archive/files.py", "jaxaot.archive.loaded"),  # files of tensors are read without what carries calls out
    ("cli.py", "jaxaot.demo.bench"),
    ("cli.py", "jaxaot.demo.report"),  # the demo is imported when it runs, not by other commands
    ("cli.py", "jaxaot.demo.train"),
    ("__init__.py", "jaxaot.facade.members.foreach"),
    ("__init__.py", "jaxaot.facade.members.methods"),
    ("jitted.py", "jaxaot.api"),  # to jit functions of arrays, neither tensors nor their compiler are loaded
    ("jitted.py", "jaxaot.facade.marks.bad_arguments"),
    ("jitted.py", "jaxaot.facade.cells.cells"),
    ("jitted.py", "jaxaot.lower.jit_report"),
    ("jitted.py", "jaxaot.lower.sized"),
    ("jitted.py", "jaxaot.plan.alias"),
    ("jitted.py", "jaxaot.report.build"),
    ("lower/jit.py", "jaxaot.lower.jit_report"),
    ("nn/modules/module.py", "jaxaot.api"),  # modules are made without what compiles them
    ("pipeline.py", "jaxaot.validate.prove"),  # a solver that few ask for
    ("facade/kernels/growing.py", "jaxaot.lower.sized"),  # so that a first tensor is there soon
    ("facade/kernels/growing.py", "jaxaot.lower.version"),
    ("facade/members/help.py", "jaxaot.ops.sentences"),  # an op has its help and its function when it is first used
    ("facade/members/lazy_methods.py", "jaxaot.facade.members._forms"),
}
"""Imports inside functions, each with a reason; a circle is no reason."""


def import_graph(files, root=ROOT):
    """Returns for each module the modules of the package that it imports, inside functions too; not for types alone."""
    names = {".".join((root.name, *path.relative_to(root).with_suffix("").parts)): path for path in files}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    graph = {}
    for name, path in names.items():
        found, nodes = set(), nodes_of(path)
        unrun = {
            inner
            for node in nodes
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in nodes:
            if node in unrun:
                continue
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        graph[name] = (found & names.keys()) - {name, root.name}
    return graph


def circle(graph):
    """Returns modules each of which imports the next, and the last one the first; None if there are none."""
    done = set()

    def visit(name, trail):
        if name in trail:
            return trail[trail.index(name) :]
        if name in done:
            return None
        for other in sorted(graph[name]):
            found = visit(other, [*trail, name])
            if found:
                return found
        done.add(name)
        return None

    return next(filter(None, (visit(name, []) for name in sorted(graph))), None)


def local_imports(path):
    """Returns the modules of jaxaot that functions of a file import."""
    found = []
    if not any(isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset for node in nodes_of(path)):
        return set()  # as in nearly all files
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import):
                    found += [alias.name for alias in inner.names]
                elif isinstance(inner, ast.ImportFrom):
                    found.append("." * inner.level + (inner.module or ""))
    return {name for name in found if name.startswith((".", "jaxaot"))}


def dotted(node):
    """Returns the text of attributes of a name, `jax.core.Tracer`; nothing of those of another expression."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def private_names(path):
    """Returns the uses of JAX's private parts in the code of one file, comments and docstrings left out.

    Parameters of primitives that not all versions of JAX have count as private.
    """
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [dotted(node)]
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in RENAMED:
            found.append(ast.unparse(node))
            continue
        else:
            continue
        found += [name for name in names if PRIVATE.match(name)]
    return sorted(set(found))


@each("path", FILES, ids=place_of)
def test_imports_point_down(path):
    found = problems(path)
    assert not found, "\n".join(found)


@each("path", FILES, ids=place_of)
def test_one_file_names_private_parts_of_jax(path):
    if path.name != "_jax.py":
        assert not private_names(path), f"{path} reaches into JAX; let `_jax.py` name it"


def test_no_modules_import_one_another_in_a_circle():
    assert circle(import_graph(FILES)) is None


@each("path", FILES, ids=place_of)
def test_functions_import_nothing(path):
    there = {(str(path.relative_to(ROOT)), name) for name in local_imports(path)}
    assert there <= LOCAL, "import at the top of the file; if that closes a circle, open the circle"


def test_the_picture_shows_every_unit():
    picture = (pathlib.Path(__file__).parents[1] / "docs" / "architecture.md").read_text()
    missing = {unit_of(path) for path in FILES} - {"__init__", "__main__"} - set(re.findall(r"\w+", picture))
    assert not missing


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("views/chain.py", "from jaxaot.facade.memory.tensor import Tensor", "above it"),
        ("views/chain.py", "def f():\n    from jaxaot.ops import table", "above it"),
        ("views/chain.py", "from ..ops import table", "above it"),
        ("ops/table.py", "import jaxaot.ir.walk", "beside it"),
        ("tracer/call.py", "from jaxaot.runtime.call import flatten", "beside it"),
        ("facade/memory/tensor.py", "import jaxaot", "name the unit"),
        ("facade/memory/tensor.py", "from jaxaot import tracer", "above it"),
        ("surprise/x.py", "", "no place"),
    ],
)
def test_the_check_fails_on_a_planted_import(tmp_path, file, line, words):
    root = tmp_path / "jaxaot"
    path = root / file
    path.parent.mkdir(parents=True)
    path.write_text("from jaxaot.errors import ViewError\n" + line)
    assert words in "".join(problems(path, root))


def test_the_check_passes_imports_that_point_down(tmp_path):
    root = tmp_path / "jaxaot"
    (root / "facade").mkdir(parents=True)
    path = root / "facade" / "x.py"
    path.write_text("import jax\nfrom jaxaot.ops import table\nfrom .tensor import Tensor\nfrom ..views import chain\n")
    assert problems(path, root) == []


@pytest.mark.parametrize(
    "line",
    [
        "import jax._src.core",
        "from jax.interpreters import ad",
        "x = jax.core.Tracer",
        "from jax import core",
        'n = eqn.params["num_carry"]',
    ],
)
def test_the_check_finds_private_parts(tmp_path, line):
    path = tmp_path / "x.py"
    path.write_text(f'"""Not in a docstring: jax._src."""\n{line}\n')
    assert private_names(path)


def test_the_check_finds_a_circle_through_a_function(tmp_path):
    root = tmp_path / "jaxaot"
    (root / "facade").mkdir(parents=True)
    one, two = root / "facade" / "one.py", root / "facade" / "two.py"
    one.write_text("from jaxaot.facade.two import x")
    two.write_text("x = 1")
    assert circle(import_graph([one, two], root)) is None
    two.write_text("def f():\n    from jaxaot.facade import one")
    assert circle(import_graph([one, two], root)) == ["jaxaot.facade.one", "jaxaot.facade.two"]
    assert local_imports(two) == {"jaxaot.facade"} and local_imports(one) == set()
