"""Builds the documentation as a site that needs no network: `python tools/docs_site.py FOLDER`.

The sources are the pages of the repository as they stand, at their own paths, so links between them work here and on
any host of the repository. What is made on the way: pages of the notebooks and examples, and the reference from
docstrings. A warning of Sphinx is an error.
"""

from __future__ import annotations

import fnmatch
import inspect
import itertools
import json
import operator
import os
import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]

NAVIGATION = {
    "Start": [
        "docs/getting_started.md", "docs/coming_from_pytorch.md", "docs/from_torch_compile.md",
        "docs/coming_from_jax.md", "docs/pytorch_models.md", "examples/README.md",
    ],
    "How to": [
        "docs/fit_into_memory.md", "docs/long_sequences.md", "docs/speed.md", "docs/sizes.md", "docs/debugging.md",
        "docs/many_devices.md", "docs/subclasses.md", "docs/shipping.md",
    ],
    "Concepts": ["docs/python.md", "docs/architecture.md", "docs/glossary.md"],
    "Notebooks": ["notebooks/*"],
    "Reference": [
        "api/jaxaot.md", "api/*", "docs/errors.md", "docs/differences.md", "docs/xla_faults.md", "CHANGELOG.md",
    ],
    "Measured": ["docs/benchmarks.md", "benchmarks/README.md"],
    "More": ["docs/*"],
    "Contribute": ["CONTRIBUTING.md", "SECURITY.md", "tests/README.md", "jaxaot/*"],
}  # fmt: skip
"""Heading → pages, in the order of the site; a pattern stands for those that it matches and that no other line names.

A new page of `docs/` comes under *More* until it is named here.
"""

PACKAGES = (
    "accelerator", "amp", "aot", "autograd", "autograd.forward_ad", "autograd.function", "autograd.functional",
    "autograd.graph", "compiler", "cuda", "cuda.amp", "distributed", "distributions", "distributions.constraints",
    "estimate", "func", "interop", "nn", "nn.attention", "nn.init", "nn.parallel", "nn.utils",
    "nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.rnn", "optim", "optim.lr_scheduler",
    "optim.optimizer", "optim.swa_utils", "policies", "profiler", "random", "sizes", "stages", "subclasses", "testing",
    "utils", "utils.checkpoint", "utils.data",
)  # fmt: skip
"""Packages with a page of their own; those of the op table share one."""
OP_PACKAGES = ("fft", "linalg", "masked", "nn.functional", "signal.windows", "special")

SETTINGS: dict[str, Any] = {
    "project": "jaxaot",
    "html_title": "jaxaot",
    "extensions": ["myst_parser", "sphinx_copybutton"],
    "root_doc": "index",
    "html_theme": "furo",
    "html_show_sphinx": False,
    "html_copy_source": False,
    "html_static_path": [],
    "html_theme_options": {"navigation_with_keys": True, "top_of_page_buttons": []},
    "myst_heading_anchors": 4,
    "myst_links_external_new_tab": False,
    "suppress_warnings": ["myst.header"],  # notebooks and READMEs may skip a level
    "copybutton_prompt_text": r"^\$ ",
    "copybutton_prompt_is_regexp": True,
    "highlight_language": "text",
}


# -- the pages of the repository ---------------------------------------------------------------------------------------


def written_pages() -> list[pathlib.Path]:
    """Returns the pages that are staged as they stand."""
    folders = [ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"), (ROOT / "jaxaot").rglob("README.md")]
    others = [ROOT / name / "README.md" for name in ("benchmarks", "examples", "tests")]
    return sorted({*itertools.chain(*folders), *others})


def notebook_page(path: pathlib.Path) -> str:
    """Returns a notebook as a page: its text, its code, and the outputs that are stored in it."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            text = "".join(output.get("text") or shown.get("text/plain", ""))
            html = "".join(shown.get("text/html", ""))
            parts.append(f"```{{raw}} html\n{html}\n```" if html else f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def example_page(path: pathlib.Path) -> str:
    """Returns a script as a page."""
    return f"---\norphan: true\n---\n\n# {path.name}\n\n```python\n{path.read_text()}```\n"


def _links_within(text: str) -> str:
    """Returns the text of a page with links to what is a page of the site only: notebooks, examples, README."""
    text = re.sub(r"\]\(((?:[\w./-]*/)?[\w-]+)\.ipynb\)", r"](\1.md)", text)
    text = re.sub(r"\]\(((?:\.\./)*(?:examples/)?[\w-]+)\.py\)", r"](\1.md)", text)
    return re.sub(r"\]\(((?:\.\./)+)README\.md", r"](\1index.md", text)


def stage(folder: pathlib.Path) -> None:
    """Writes all sources of the site to a folder."""
    pages = {path.relative_to(ROOT): path.read_text() for path in written_pages()}
    index = pages.pop(pathlib.Path("README.md"))
    for made, folder_of in (
        (notebook_page, ROOT.glob("notebooks/*.ipynb")),
        (example_page, ROOT.glob("examples/*.py")),
    ):
        pages |= {path.relative_to(ROOT).with_suffix(".md"): made(path) for path in folder_of}
    pages |= {pathlib.Path("api", name): text for name, text in reference_pages().items()}
    pages[pathlib.Path("index.md")] = index + "\n" + contents([str(path) for path in pages])
    for name, text in pages.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = _links_within(text)
        target.write_text(text)
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            linked = (ROOT / name).parent / link
            if linked.is_file() and linked.suffix != ".md":  # pictures, and files to download
                copy = (target.parent / link).resolve()
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, copy)


def contents(pages: Iterable[str]) -> str:
    """Returns the lists of pages in the order of the site, as directives.

    Raises:
      FileNotFoundError: If the navigation names a page that there is not.
    """
    named = {entry for entries in NAVIGATION.values() for entry in entries if "*" not in entry}
    if missing := named - set(pages):
        raise FileNotFoundError(f"NAVIGATION in {__file__} names {', '.join(sorted(missing))}.")
    directives = []
    for caption, entries in NAVIGATION.items():
        listed = []
        for entry in entries:
            matching = sorted(page for page in pages if fnmatch.fnmatch(page, entry) and page not in named)
            listed += [entry] if entry in named else matching
        if listed:
            lines = [f":caption: {caption}", ":hidden:", "", *(page.removesuffix(".md") for page in listed)]
            directives.append("```{toctree}\n" + "\n".join(lines) + "\n```")
    return "\n\n".join(directives) + "\n"


# -- the reference, from docstrings ------------------------------------------------------------------------------------

_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Yields):(.*)$")
_ITEM = re.compile(r"^  ([*\w.,` ]+?)(?: \([^)]*\))?:( .*|)$")


def doc_as_markdown(doc: str) -> str:
    """Returns a docstring in Google's form as Markdown: its sections become lists."""
    lines, is_section = [], False
    for line in inspect.cleandoc(doc).splitlines():
        if found := _SECTION.match(line):
            is_section = True
            lines += ["", f"**{found[1]}:**{found[2]}", ""]
        elif is_section and (found := _ITEM.match(line)):
            lines.append(f"- `{found[1].strip('`')}`:{found[2]}")
        else:
            is_section = is_section and (not line or line.startswith("  "))
            lines.append(line)
    return "\n".join(lines).strip()


def _sentence(doc: str | None) -> str:
    """Returns the first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(doc or "").partition("\n\n")[0].split())


def signature_of(value: object) -> str:
    """Returns a signature without addresses of objects, and annotations without quotes; nothing where there is none."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature))
    return re.sub(r"<(?:function|class|object)? ?'?([\w.]+)[^>]*>", r"\1", text)


def wrapped(call: str) -> str:
    """Returns a call with a parameter on each line where one line is too short for all."""
    if len(call) <= MOST_COLUMNS:
        return call
    depth, lines, start = 0, [], call.index("(") + 1
    for at in range(start, len(call)):
        depth += (call[at] in "([{") - (call[at] in ")]}")
        if depth < 0 or (call[at] == "," and depth == 0):
            lines.append(f"    {call[start:at].strip()},")
            start = at + 1
        if depth < 0:
            return "\n".join([call[: call.index("(") + 1], *lines, call[at:]])
    return call


MOST_COLUMNS = 90


def _members(cls: type) -> Iterator[tuple[str, object]]:
    """Yields the public members of a class that have a docstring and are its own."""
    for name, member in vars(cls).items():
        plain = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if not name.startswith("_") and (callable(plain) or isinstance(plain, property)) and plain.__doc__:
            yield name, plain


def section(name: str, value: object) -> str:
    """Returns the section of a function or class: signature, docstring, and one line for each member."""
    title = name.rpartition(".")[2]
    parts = [
        f"## {title}",
        f"```python\n{wrapped(name + signature_of(value))}\n```",
        doc_as_markdown(value.__doc__ or ""),
    ]
    if isinstance(value, type) and name != "ja.Tensor":
        members = [f"- `{member}{signature_of(fn)}`: {_sentence(fn.__doc__)}" for member, fn in _members(value)]
        parts += ["**Members:**", "\n".join(members)] if members else []
    return "\n\n".join(parts)


def public(module: ModuleType | type, prefix: str) -> Iterator[tuple[str, object]]:
    """Yields what a package shows: functions and classes that have a docstring."""
    for name in sorted(dir(module), key=str.lower):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and value.__doc__ and not isinstance(value, ModuleType):
            yield f"{prefix}.{name}", value


def _table(rows: Iterable[tuple[str, object]]) -> str:
    lines = []
    for name, value in rows:
        text = f"`{name}{signature_of(value)}`".replace("|", "\\|")
        lines.append(f"| {text} | {_sentence(value.__doc__)} |".replace("\n", " "))
    return "\n".join(["| call | |", "| --- | --- |", *lines])


def reference_pages() -> dict[str, str]:
    """Returns the pages of the reference, by file name."""
    import jaxaot as ja
    from jaxaot.facade.members.foreach import FOREACH
    from jaxaot.facade.members.methods import FUNCTIONS

    shown = dict(public(ja, "ja"))
    ops = {name: value for name, value in shown.items() if name[3:] in {**FUNCTIONS[""], **FOREACH}}
    flow = [(n, v) for n, v in shown.items() if n not in ops and getattr(v, "__module__", "").startswith("jaxaot")]
    pages = {
        "jaxaot.md": [
            "# ja",
            "Write `import jaxaot as ja`. Tensors have pages of their own: [functions](ops.md), [methods](tensor.md).",
        ]
    }
    flow += [("ja.config.get", ja.config.get), ("ja.config.set", ja.config.set), ("Config", type(ja.config.get()))]
    pages["jaxaot.md"] += [section(*pair) for pair in flow]
    for package in PACKAGES:
        module = operator.attrgetter(package)(ja)
        pages[f"{package}.md"] = [f"# ja.{package}", doc_as_markdown(module.__doc__ or "")]
        pages[f"{package}.md"] += [section(*pair) for pair in public(module, f"ja.{package}")]
    pages["ops.md"] = ["# Functions of tensors", OPS, "## ja", _table(ops.items())]
    for package in OP_PACKAGES:
        pages["ops.md"] += [f"## {package}", _table(public(operator.attrgetter(package)(ja), f"ja.{package}"))]
    pages["tensor.md"] = ["# Methods of tensors", METHODS, _table(public(ja.Tensor, "x"))]
    return {name: "\n\n".join(parts) + "\n" for name, parts in pages.items()}


FLOW = "Write `import jaxaot as ja`. Tensors have pages of their own: [functions](ops.md), [methods](tensor.md)."
OPS = "They have PyTorch's names, arguments and results; `help(ja.matmul)` says more of each. Most are methods as well."
METHODS = "`x` is a `ja.Tensor`. A name that ends in `_` writes in place."


# -- the build ---------------------------------------------------------------------------------------------------------


def build(target: pathlib.Path) -> int:
    """Builds the site, and returns the exit status: 1 if Sphinx warned of anything."""
    from sphinx.application import Sphinx  # pyright: ignore[reportMissingImports]

    with tempfile.TemporaryDirectory() as staged:
        source = pathlib.Path(staged) / "source"
        stage(source)
        app = Sphinx(
            source, None, target, pathlib.Path(staged) / "doctrees", "html", SETTINGS, status=None,
            warningiserror=True, parallel=os.cpu_count() or 1,
        )  # fmt: skip
        app.build()
        return app.statuscode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    sys.exit(build(pathlib.Path(sys.argv[1]).resolve()))
