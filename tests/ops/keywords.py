"""What PyTorch's functions and methods take, by keyword: from its stubs, its Python functions and its schemas."""

import ast
import collections
import dataclasses
import functools
import inspect
import pathlib
import types

import torch

ALIASES = {"dim": "axis", "keepdim": "keepdims"}
"""Parameter → NumPy's name for it, which PyTorch's parser takes too, where it reads the arguments."""


@dataclasses.dataclass(frozen=True)
class Signature:
    """One form of a function of PyTorch's.

    Attributes:
      needed: Names of the parameters without a default.
      others: Names of those with one.
      is_parsed: Whether PyTorch's parser reads it, which takes NumPy's names.
    """

    needed: tuple[str, ...]
    others: tuple[str, ...] = ()
    is_parsed: bool = True

    def calls(self):
        """Returns names of keywords with which it can be called: few, all, and NumPy's."""
        every = (*self.needed, *self.others)
        found = [self.needed, every]
        if self.is_parsed and set(every) & set(ALIASES):
            found.append(tuple(ALIASES.get(name, name) for name in every))
        return found


@functools.cache
def _stubs(name, cls=None):
    """Returns name → forms of the functions that a stub file of PyTorch's holds."""
    tree = ast.parse((pathlib.Path(torch.__file__).parent / name).read_text())
    if cls is not None:
        tree = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    found = collections.defaultdict(list)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.args.vararg is None:
            given = node.args
            ordinary = [a.arg for a in (*given.posonlyargs, *given.args)]
            n = len(ordinary) - len(given.defaults)
            by_keyword = list(zip((a.arg for a in given.kwonlyargs), given.kw_defaults, strict=True))
            kinds = {a.arg: ast.unparse(a.annotation) for a in (*given.args, *given.kwonlyargs) if a.annotation}
            # dims that have names, and orders of arguments that were before
            if not any("Ellipsis" in k or ("_str" in k and a == "dim") for a, k in kinds.items()) and (
                kinds.get("self") != "Tensor" and "names" not in kinds
            ):
                found[node.name].append(
                    Signature(
                        (*ordinary[:n], *(a for a, default in by_keyword if default is None)),
                        (*ordinary[n:], *(a for a, default in by_keyword if default is not None)),
                    )
                )
    return found


@functools.cache
def _schemas():
    found = collections.defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            found[schema.name.removeprefix("aten::")].append(schema)
    return found


def _of_python(fn):
    """Returns the form of a function that is written in Python, or None."""
    if not isinstance(fn, types.FunctionType):
        return None
    parameters = inspect.signature(fn).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    return Signature(
        tuple(p.name for p in parameters if p.default is p.empty),
        tuple(p.name for p in parameters if p.default is not p.empty and not p.name.startswith("_")),
        is_parsed=False,
    )


def signatures(space, name):
    """Returns the forms of a function of PyTorch's: of `torch.Tensor`, `torch`, `torch.linalg`, …"""
    owner = torch
    for part in space.split(".") if space else ():
        owner = getattr(owner, part)
    fn = getattr(owner, name)
    written = _of_python(fn)
    if written is not None:
        return [written]
    if space == "Tensor":
        return _stubs("_C/__init__.pyi", "TensorBase")[name]
    if space in ("", "nn.functional"):
        files = ("_C/_VariableFunctions.pyi",) if not space else ("nn/functional.pyi", "_C/_nn.pyi")
        found = [form for file in files[:1] for form in _stubs(file)[name]] or _stubs(files[-1])[name]
        return found or (_stubs("_C/_VariableFunctions.pyi")[name] if space else [])
    found = []
    for schema in _schemas()[f"{space}_{name}"]:
        names = {a.name: "input" if a.name == "self" else "out" if a.is_out else a.name for a in schema.arguments}
        needed = tuple(names[a.name] for a in schema.arguments if not a.has_default_value() and not a.is_out)
        others = tuple(dict.fromkeys(names[a.name] for a in schema.arguments if a.has_default_value() or a.is_out))
        found.append(Signature(needed, others))
    return found
