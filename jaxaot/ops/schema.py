"""Schemas: the signature of an op, in the notation of PyTorch's `native_functions.yaml`.

    add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    batch_norm(Tensor input, …, Tensor(a!)? running_mean, …) -> Tensor

*Dynamic* parameters (`Tensor`, `Tensor?`, `Tensor[]`, `Scalar`) are operands of the compiled kernel; every other
parameter is *static*: a hashable Python value that the kernel is specialised on. `Tensor(a!)` marks a parameter that
the op writes; `Tensor(a)` one that the result may share memory with.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from jaxaot._immutable import immutable
from jaxaot.errors import SchemaError

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()
"""Default of a parameter that has none."""

DYNAMIC_TYPES = ("Tensor", "Scalar")
STATIC_TYPES = ("int", "float", "bool", "str", "Dtype", "Any", "Generator", "Size")

_SIGNATURE = re.compile(r"^\s*(\w+)\s*\((.*)\)\s*->\s*(.+?)\s*$", re.S)
_PARAMETER = re.compile(r"^(\w+)(\(\w+!?\))?(\?(?=\[))?(\[\d*\])?(\?)?\s+(\w+)(?:\s*=\s*(.+))?$", re.S)


@immutable
class Parameter:
    """One parameter of a schema.

    Attributes:
      name: As users write it.
      type: One of `DYNAMIC_TYPES` or `STATIC_TYPES`.
      is_list: Whether it is a sequence of that type.
      is_optional: Whether None is allowed.
      has_optional_items: Whether None is allowed within the sequence, `Tensor?[]`.
      is_written: Whether the op writes it, `Tensor(a!)`.
      default: The default, or `REQUIRED`.
      is_keyword_only: Whether it stands after `*`.
    """

    name: str
    type: str
    is_list: bool
    is_optional: bool
    is_written: bool
    default: Any
    is_keyword_only: bool
    has_optional_items: bool = False

    @property
    def is_dynamic(self) -> bool:
        return self.type in DYNAMIC_TYPES

    def __str__(self) -> str:
        text = self.type + ("(a!)" if self.is_written else "") + ("?" if self.has_optional_items else "")
        text += "[]" if self.is_list else ""
        text += ("?" if self.is_optional else "") + " " + self.name
        return text if self.default is REQUIRED else f"{text}={self.default!r}"


@immutable
class Schema:
    """The signature of an op.

    Attributes:
      name: The op.
      parameters: In order.
      n_results: How many tensors it returns; -1 for a list of them.
      result_names: Names of several results, `(Tensor values, Tensor indices)`; empty if they have none.
    """

    name: str
    parameters: tuple[Parameter, ...]
    n_results: int
    result_names: tuple[str, ...] = ()

    @functools.cached_property
    def dynamic(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.is_dynamic)

    @functools.cached_property
    def static(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.is_dynamic)

    @functools.cached_property
    def written(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.is_written)

    def __str__(self) -> str:
        parts, starred = [], False
        for parameter in self.parameters:
            if parameter.is_keyword_only and not starred:
                parts.append("*")
                starred = True
            parts.append(str(parameter))
        result = (
            "Tensor[]"
            if self.n_results < 0
            else ", ".join(f"Tensor {name}".strip() for name in self.result_names or [""] * self.n_results)
        )
        return f"{self.name}({', '.join(parts)}) -> {result if abs(self.n_results) == 1 else f'({result})'}"


def _split_commas(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        depth += char in "(["
        depth -= char in ")]"
        if char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _parse_default(text: str | None) -> Any:
    if text is None:
        return REQUIRED
    try:
        value = eval(text, {"__builtins__": {}, "inf": float("inf"), "None": None, "True": True, "False": False})
    except (NameError, SyntaxError):  # a bare word is a string
        value = text
    return tuple(value) if isinstance(value, list) else value


def name_of(text: str) -> str:
    """Returns the name of the op in the text of a schema, without reading the rest."""
    return text.partition("(")[0].strip()


def parse_schema(text: str) -> Schema:
    """Returns the schema that `text` spells.

    Raises:
      SchemaError: If it cannot be read.
    """
    match = _SIGNATURE.match(text)
    if match is None:
        raise SchemaError(f"`{text}` is not a schema. Write `name(Tensor self, int dim=0) -> Tensor`.")
    name, inside, result = match.groups()
    parameters, keyword_only = [], False
    for part in _split_commas(inside):
        if part == "*":
            keyword_only = True
            continue
        found = _PARAMETER.match(part)
        if found is None or found.group(1) not in DYNAMIC_TYPES + STATIC_TYPES:
            raise SchemaError(f"`{part}` in the schema of `{name}` is not `type name` or `type name=default`.")
        type_, alias, optional_items, brackets, optional, parameter_name, default = found.groups()
        parameters.append(
            Parameter(
                name=parameter_name,
                type=type_,
                is_list=brackets is not None,
                is_optional=optional is not None,
                is_written=alias is not None and "!" in alias,
                default=_parse_default(default),
                is_keyword_only=keyword_only,
                has_optional_items=optional_items is not None,
            )
        )
    if result.endswith("[]"):
        n_results = -1
    elif result in ("()", "None"):
        n_results = 0
    else:
        n_results = len(_split_commas(result[1:-1])) if result.startswith("(") else 1
    named = [part.split()[1:] for part in _split_commas(result[1:-1])] if result.startswith("(") else []
    result_names = tuple(part[0] for part in named) if named and all(named) else ()
    return Schema(name, tuple(parameters), n_results, result_names)
