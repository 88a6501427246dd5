"""The files of the package, each parsed once by a module of tests of what the source looks like."""

import ast
import functools
import pathlib

import jaxaot

ROOT = pathlib.Path(jaxaot.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
WRITTEN = [path for path in FILES if path.name != "_forms.py"]
"""Those that a person writes: `tools/forms.py` writes the other one."""


def place_of(path):
    """Returns the path of a file within the package, which names it in a message."""
    return str(path.relative_to(ROOT))


def tree_of(path):
    """Returns a file as a tree, which nobody changes."""
    return _parsed(path.read_text())


def nodes_of(path):
    """Returns every node of a file."""
    return _walked(path.read_text())


@functools.cache
def _parsed(text):
    return ast.parse(text)


@functools.cache
def _walked(text):
    return tuple(ast.walk(_parsed(text)))


def forget():
    """Lets the trees go, which take 200 MB."""
    _parsed.cache_clear()
    _walked.cache_clear()
