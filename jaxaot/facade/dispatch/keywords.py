"""By which names arguments may be given: those of schemas, and the other ones that PyTorch takes for them."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from jaxaot.facade.dispatch.signatures import same_as
from jaxaot.ops.schema import REQUIRED, Parameter
from jaxaot.ops.table import OpSpec

_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's name → parameter. PyTorch takes these wherever its own parser reads the arguments."""

_SELF = {"self": "input"}
_TRAIN = {"train": "training"}
_MATRIX, _INPUT = {"A": "input"}, {"input": "A"}
_SPLIT = {"split_size": "split_size_or_sections"}

OTHER_NAMES: dict[str, Mapping[str, str]] = {
    **dict.fromkeys(
        ("pow", "float_power", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
         "bitwise_right_shift", "xlogy", "bucketize", "where"), _SELF,
    ),
    **dict.fromkeys(("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"), _TRAIN),
    **dict.fromkeys(("det", "linalg_det", "slogdet", "linalg_slogdet"), _MATRIX),
    **dict.fromkeys(
        ("linalg_cholesky", "cholesky_ex", "eig", "eigh", "eigvals", "eigvalsh", "householder_product", "matrix_norm",
         "linalg_norm"), _INPUT,
    ),
    "vector_norm": {"input": "x"},
    **dict.fromkeys(("unsafe_split", "split_copy"), _SPLIT),
    "split": {"tensor": "input", **_SPLIT},
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"},
    "swapaxes_": {"axis0": "dim0", "axis1": "dim1"},
    "searchsorted": {"input": "values", "self": "values"},
    "isin": {"element": "elements", "test_element": "test_elements"},
    "tensor_split": {"tensor_indices_or_sections": "indices_or_sections"},
    "as_strided_": {"input": "self"},
    "detach_": {"input": "self"},
}  # fmt: skip
"""Function, by its row if it has one → another name → the parameter that it names."""


def public(parameter: Parameter) -> str:
    """Returns the public name of a parameter: `self` of a schema is `input`, as in PyTorch's functions."""
    return "input" if parameter.name == "self" else parameter.name


@functools.cache
def second_names(spec: OpSpec) -> Mapping[str, str]:
    """Returns the further names of the parameters of a row: name → public name of the parameter."""
    return _names_among(spec.name, [public(p) for p in spec.schema.parameters])


def _names_among(function: str, parameters: list[str]) -> dict[str, str]:
    known = {**_NUMPY_NAMES, **OTHER_NAMES.get(function, {})}
    return {other: name for other, name in known.items() if name in parameters and other not in parameters}


def default_text(parameter: Parameter) -> str:
    """Returns the default of a parameter as it is written in a `def`."""
    return "" if parameter.default is REQUIRED else f"={parameter.default!r}".replace("=inf", "=float('inf')")


def signature_of(spec: OpSpec, extra: str) -> str:
    """Returns the parameters of a row as they are written in a `def`, `extra` after them, and their second names."""
    ordinary = [(public(p), default_text(p)) for p in spec.schema.parameters if not p.is_keyword_only]
    named = [(public(p), default_text(p)) for p in spec.schema.parameters if p.is_keyword_only]
    return _written(ordinary, named, extra, second_names(spec))


def _written(ordinary: list[Any], named: list[Any], extra: str, second: Mapping[str, str]) -> str:
    twice, is_open, parts = set(second.values()), False, []
    for name, default in ordinary:
        is_open = is_open or name in twice  # whatever follows a parameter that may be left out has a default
        parts.append(name + (default or ("=_required" if is_open else "")))
    parts += ["*"] if named or extra or second else []
    parts += [name + (default or ("=_required" if name in twice else "")) for name, default in named]
    parts += [extra] if extra else []
    parts += [f"{other}=_same_{name}" for other, name in second.items()]
    return ", ".join(parts)


def choices(spec: OpSpec) -> str:
    """Returns the lines of a function of a row that take the second names of parameters."""
    needed = [(public(p), p.default is REQUIRED, p.is_keyword_only) for p in spec.schema.parameters]
    return _chosen(spec.overload_of or spec.name, needed, second_names(spec))


def _chosen(function: str, parameters: list[tuple[str, bool, bool]], second: Mapping[str, str]) -> str:
    """Returns such lines; of each parameter it is said whether it is required, and whether it is a keyword only."""
    lines, is_open = "", False
    for name, is_required, is_named in parameters:
        others = [other for other, taken in second.items() if taken == name]
        for i, other in enumerate(others):
            lines += f"    {'el' * bool(i)}if {other} is not _same_{name}:\n        {name} = {other}\n"
        is_open = is_open or bool(others)
        if is_required and (others or (is_open and not is_named)):
            message = f"{function}() missing 1 required positional argument: '{name}'"
            lines += f"    {'el' * bool(others)}if {name} is _required:\n        raise TypeError({message!r})\n"
    return lines


def with_second_names(name: str, fn: Callable[..., Any], compiled: Callable[[str, str, dict[str, Any]], Any]) -> Any:
    """Returns a function that is no row with the further names of its parameters; itself if there are none.

    Args:
      name: Its public name.
      fn: The function.
      compiled: Makes a function of its name, its text and what the text uses.
    """
    parameters = list(inspect.signature(fn).parameters.values())
    second = _names_among(name, [p.name for p in parameters])
    if not second or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return fn
    told = lambda keyword_only: [
        (p.name, "" if p.default is p.empty else "=None")
        for p in parameters
        if (p.kind is p.KEYWORD_ONLY) is keyword_only
    ]
    needed = [(p.name, p.default is p.empty, p.kind is p.KEYWORD_ONLY) for p in parameters]
    passed = ", ".join(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name for p in parameters)
    head = _written(told(False), told(True), "", second)
    source = f"def {name}({head}):\n{_chosen(name, needed, second)}    return _fn({passed})\n"
    same = {f"_same_{taken}": same_as(taken) for taken in second.values()}
    made = compiled(name, source, {"_fn": fn, "_required": REQUIRED, **same})
    given = {p.name: p.default for p in parameters if p.default is not p.empty}
    code: types.CodeType = made.__code__
    names = code.co_varnames[: code.co_argcount]
    first = code.co_argcount - len(made.__defaults__ or ())
    made.__defaults__ = tuple(given.get(n, d) for n, d in zip(names[first:], made.__defaults__ or (), strict=True))
    made.__kwdefaults__ = {n: given.get(n, d) for n, d in (made.__kwdefaults__ or {}).items()}
    made.__doc__, made.__module__, made.__qualname__ = fn.__doc__, fn.__module__, name
    made.__annotations__ = _annotations(parameters, second, inspect.signature(fn).return_annotation)
    return made


def _annotations(parameters: list[inspect.Parameter], second: Mapping[str, str], returned: object) -> dict[str, Any]:
    found = {p.name: p.annotation for p in parameters if p.annotation is not p.empty}
    found |= {other: found[name] for other, name in second.items() if name in found}
    return found if returned is inspect.Signature.empty else {**found, "return": returned}
