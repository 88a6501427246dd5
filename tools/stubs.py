"""Writes the stubs of what is bound from the op table, `jaxaot/**/*.pyi`: `python tools/stubs.py`.

Type checkers and editors do not run `globals().update(…)` and `setattr(Tensor, …)`: they read these files. Signatures
are those at run time; types come from the schemas, and where a schema says `Any` from the name of the parameter.
"""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import jaxaot as ja
from jaxaot.facade.dispatch.signatures import SameAs
from jaxaot.facade.members.foreach import FOREACH
from jaxaot.facade.members.lazy_methods import Method
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.ops.schema import Parameter, Schema
from jaxaot.ops.table import OpSpec, rows

ROOT = pathlib.Path(ja.__file__).parent
WIDTH = 120

HEADER = '''"""{doc}"""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.dispatch.operands import (
    Device,
    DTypeLike,
    Floats,
    Ints,
    Operand,
    TensorLike,
    _bool,
    _complex,
    _float,
    _int,
    _str,
)
'''

DOCS = {
    "linalg": "Linear algebra (`torch.linalg`).",
    "special": "Special functions (`torch.special`).",
    "fft": "Fourier transforms (`torch.fft`).",
    "masked": "Reductions that leave out masked elements (`torch.masked`).",
    "signal.windows": "Windows for spectra (`torch.signal.windows`).",
    "nn.functional": "The functions of networks (`torch.nn.functional`).",
}

BY_NAME = {
    "dim": "Ints", "dims": "Ints", "kernel_size": "Ints", "stride": "Ints", "dilation": "Ints", "size": "Ints",
    "output_padding": "Ints", "padding": "Ints | _str", "output_size": "Ints", "output_ratio": "Floats",
    "scale_factor": "Floats", "sizes": "Ints", "shape": "Ints", "shapes": "Ints", "source": "Ints",
    "destination": "Ints", "bins": "Ints", "split_size_or_sections": "Ints", "indices_or_sections": "Ints | Tensor",
    "indices": "Ints | Tensor", "sections": "_int", "p": "_float | _str | Tensor", "ord": "_float | _str",
    "size_average": "_bool", "reduce": "_bool", "correction": "_float", "start": "Operand", "end": "Operand",
    "step": "Operand", "min": "_float", "max": "_float", "range": "Floats", "low": "_int", "high": "_int",
    "to": "_int", "dtype": "DTypeLike", "device": "Device", "layout": "Any", "requires_grad": "_bool",
    "pin_memory": "_bool", "inplace": "_bool", "memory_format": "MemoryFormat", "keepdims": "_bool",
    "other": "Operand", "alpha": "Operand", "repeats": "Ints | Tensor", "compute_mode": "_str", "spacing": "Floats",
    "tensors": "TensorLike | Sequence[TensorLike]", "operands": "TensorLike | Sequence[TensorLike]",
    "type1": "DTypeLike", "type2": "DTypeLike", "from_": "DTypeLike", "tensor1": "Operand", "tensor2": "Operand",
    "gradient": "TensorLike", "retain_graph": "_bool", "out": "Tensor", "inputs": "Tensor | Sequence[Tensor]",
    "scalars": "Sequence[Operand] | Tensor", "values": "Operand",
}  # fmt: skip
"""Parameter → its type where schema and annotation are loose. `None` is added where it is the default."""

_LOOSE = {"Any", "object", "Sizes", "Array"}
"""Annotations that say less, or of a converted value, than what a user may pass."""

EACH = dict.fromkeys(("self", "tensors1", "mat2", "src"), "Sequence[Tensor]") | dict.fromkeys(
    ("other", "tensor1", "tensor2", "value", "weight", "weights"), "Operand | Sequence[Operand]"
)
"""The same for functions of lists of tensors."""

_SPLITS = (
    "hsplit", "vsplit", "dsplit", "unbind_copy", "split_copy", "split_with_sizes_copy", "unsafe_split", "unsafe_chunk",
    "unsafe_split_with_sizes",
)  # fmt: skip
RETURNS = dict.fromkeys(_SPLITS, "tuple[Tensor, ...]") | {
    "histogramdd": "tuple[Tensor, tuple[Tensor, ...]]", "__getitem__": "Tensor", "__int__": "_int",
    "multi_head_attention_forward": "tuple[Tensor, Tensor | None]", "__float__": "_float", "__complex__": "_complex",
    "__iter__": "Iterator[Tensor]", "_repr_html_": "_str",
}  # fmt: skip
"""What functions return that do not say it themselves."""

_PLAIN = {"int": "_int", "float": "_float", "bool": "_bool", "str": "_str", "Dtype": "DTypeLike"}
_KINDS = inspect.Parameter


def _optional(text: str, is_optional: bool) -> str:
    return f"{text} | None" if is_optional and text != "Any" and not text.endswith("| None") else text


def _type_of(parameter: Parameter) -> str:
    """Returns the type of a parameter of a row."""
    if parameter.type == "Tensor" and parameter.is_list:
        text = "Sequence[TensorLike | None]" if parameter.has_optional_items else "Sequence[TensorLike]"
    elif parameter.type in ("Tensor", "Scalar"):
        text = "Operand"
    elif parameter.type == "Generator":
        text = "Generator"
    elif parameter.type in _PLAIN:
        plain = _PLAIN[parameter.type]
        text = {"_int": "Ints", "_float": "Floats"}[plain] if parameter.is_list else plain
    else:
        text = BY_NAME.get(parameter.name, "Any")
    return _optional(text, parameter.is_optional or parameter.default is None)


def result_class(spec: OpSpec) -> str:
    """Returns what the stubs call the named tuple that a row returns."""
    return "".join(part.capitalize() for part in spec.name.split("_")) + "Result"


def _returned(spec: OpSpec) -> str:
    schema = spec.schema
    if schema.result_names:
        return result_class(spec)
    if schema.n_results < 0:
        return "tuple[Tensor, ...]"
    if schema.n_results == 1:
        return "Tensor"
    return f"tuple[{', '.join(['Tensor'] * schema.n_results)}]" if schema.n_results else "None"


_ANNOTATED = re.compile(r"\b(int|float|bool|str|complex)\b")


def _annotation(value: Any, name: str, default: Any) -> str:
    """Returns an annotation as the stub writes it; by the parameter's name where there is none."""
    text = (
        "Any"
        if value is inspect.Parameter.empty
        else value
        if isinstance(value, str)
        else getattr(value, "__name__", "Any")
    )
    if text.removesuffix(" | None") in _LOOSE and (name in BY_NAME or text == "Any"):
        return _optional(BY_NAME.get(name, "Any"), default is None or text.endswith("None"))
    text = re.sub(r"\bDtype\b", "dtype", _ANNOTATED.sub(lambda found: f"_{found[1]}", text))
    return re.sub(r"\bArray\b", "jax.Array", re.sub(r"\bnp\.", "_np.", text))


def _default(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and np.isfinite(value)):
        return repr(value)
    return "..."


class Writer:
    """Writes definitions.

    Args:
      indent: How deep they stand.
      is_class: Whether they are methods, whose first parameter is `self`.
    """

    def __init__(self, is_class: bool = False):
        self.is_class = is_class
        self.indent = "    " if is_class else ""

    def define(self, name: str, parameters: list[str], returns: str, doc: str, decorators: tuple[str, ...] = ()) -> str:
        """Returns one `def`."""
        head = "".join(f"{self.indent}@{decorator}\n" for decorator in decorators)
        line = f"{self.indent}def {name}({', '.join(parameters)}) -> {returns}:"
        if len(line) > WIDTH - 4:
            inside = "".join(f"{self.indent}    {parameter},\n" for parameter in parameters)
            line = f"{self.indent}def {name}(\n{inside}{self.indent}) -> {returns}:"
        if not doc:
            return f"{head}{line} ...\n"
        deeper = self.indent + "    "
        text = inspect.cleandoc(doc).replace("\n", f"\n{deeper}")
        text = re.sub(r"[ ]+$", "", text, flags=re.MULTILINE)
        quote = 'r"""' if "\\" in text else '"""'
        end = f"\n{deeper}" if "\n" in text else ""
        return f'{head}{line}\n{deeper}{quote}{text}{end}"""\n'

    def parameters(self, signature: inspect.Signature, types: Callable[[inspect.Parameter], str]) -> list[str]:
        """Returns the parameters of a signature as text; of a method without their first, which is `self`."""
        parts: list[str] = ["self"] if self.is_class else []
        starred = False
        for parameter in list(signature.parameters.values())[self.is_class :]:
            if self.is_class and parameter.name == "self":  # another name of a first operand
                continue
            if parameter.kind is _KINDS.VAR_POSITIONAL:
                parts.append(f"*{parameter.name}: {types(parameter)}")
                starred = True
                continue
            if parameter.kind is _KINDS.VAR_KEYWORD:
                parts.append(f"**{parameter.name}: {types(parameter)}")
                continue
            if parameter.kind is _KINDS.KEYWORD_ONLY and not starred:
                parts.append("*")
                starred = True
            text = f"{parameter.name}: {types(parameter)}"
            is_given = parameter.default is not _KINDS.empty
            parts.append(f"{text} = {_default(parameter.default)}" if is_given else text)
        return parts

    def row(self, name: str, spec: OpSpec, fn: Any, doc: str, decorators: tuple[str, ...] = ()) -> str:
        """Returns the form of one row."""
        returns = RETURNS.get(name, _returned(spec))
        types = lambda parameter: _type_in_row(parameter, spec.schema, returns)
        return self.define(name, self.parameters(inspect.signature(fn), types), returns, doc, decorators)

    def by_hand(self, name: str, fn: Any, doc: str) -> str:
        """Returns a function that is no row."""
        signature = inspect.signature(fn)
        returned = _annotation(signature.return_annotation, "", None)
        returns = RETURNS.get(name, returned)
        types = lambda parameter: _annotation(parameter.annotation, _meant(parameter), parameter.default)
        return self.define(name, self.parameters(signature, types), returns, doc)

    def each(self, name: str, fn: Any, doc: str) -> str:
        """Returns a function of lists of tensors."""
        returns = "None" if name.endswith("_") else "tuple[Tensor, ...]"
        types = lambda p: _optional(EACH.get(p.name) or _annotation(p.annotation, p.name, p.default), p.default is None)
        return self.define(name, self.parameters(inspect.signature(fn), types), returns, doc)

    def function(self, name: str, fn: Any, doc: str) -> str:
        """Returns a function in all its forms."""
        forms = getattr(fn, "forms", ())
        if not forms:
            return self.by_hand(name, fn, doc)
        if len(forms) > 1:
            told = _told_apart(forms)
            decorators = ("overload",) if len(told) > 1 else ()
            return "".join(
                self.row(name, spec, form, "" if i else doc, decorators) for i, (spec, form) in enumerate(told)
            )
        ((spec, form),) = forms
        if "return_indices" in inspect.signature(fn).parameters and spec.schema.n_results == 1:
            return self._pool(name, spec, fn, form, doc)
        return self.row(name, spec, form if name == "multi_head_attention_forward" else fn, doc)

    def _pool(self, name: str, spec: OpSpec, fn: Any, form: Any, doc: str) -> str:
        """Returns a pooling function, which returns indices too if it is asked."""
        flag = {"False": "Literal[False]", "True": "Literal[True]"}
        types = lambda parameter: (
            flag["False"] if parameter.name == "return_indices" else _type_in_row(parameter, spec.schema, "Tensor")
        )
        plain = self.define(name, self.parameters(inspect.signature(fn), types), "Tensor", doc, ("overload",))
        parameters = [p for p in inspect.signature(form).parameters.values() if p.name != "out"]
        asked = _KINDS("return_indices", _KINDS.KEYWORD_ONLY, annotation=flag["True"])
        types = lambda p: p.annotation if p is asked else _type_in_row(p, spec.schema, "Tensor")
        signature = inspect.Signature([*parameters, asked])
        # the flag has to be given, so a bare star stands in front of it
        both = self.define(name, self.parameters(signature, types), "tuple[Tensor, Tensor]", "", ("overload",))
        return plain + both


def _meant(parameter: inspect.Parameter) -> str:
    """Returns the name of a parameter, or of the one of which it is another name."""
    return parameter.default.name if isinstance(parameter.default, SameAs) else parameter.name


def _told_apart(forms: Any) -> list[Any]:
    """Returns the forms of a function without those that take less than one before with the same parameters."""
    kept: dict[str, Any] = {}
    for spec, form in forms:
        shown = str(inspect.signature(form))
        types = {_type_of(p) for p in spec.schema.parameters if not p.is_keyword_only}
        if shown not in kept or not types <= {"Operand", "_float", "_int"}:
            kept[shown if shown not in kept else f"{shown} {spec.name}"] = spec, form
    return list(kept.values())


def _type_in_row(parameter: inspect.Parameter, schema: Schema, returns: str) -> str:
    if isinstance(parameter.default, SameAs):
        return _type_in_row(_KINDS(parameter.default.name, _KINDS.KEYWORD_ONLY), schema, returns)
    known = {("input" if p.name == "self" else p.name): p for p in schema.parameters}
    found = known.get(parameter.name)
    if found is not None and parameter.kind is not _KINDS.VAR_POSITIONAL:
        return _optional(_type_of(found), parameter.default is None)
    if parameter.name == "out":
        return "Tensor | None" if returns == "Tensor" else "Sequence[Tensor] | None"
    return _optional(BY_NAME.get(parameter.name, "Any"), parameter.default is None)


# -- modules -----------------------------------------------------------------------------------------------------------


def _functions(namespace: str) -> Iterator[str]:
    """Yields the functions of a namespace of the op table."""
    module = ja
    for part in filter(None, namespace.split(".")):
        module = getattr(module, part)
    writer = Writer()
    for name in sorted(FUNCTIONS[namespace]):
        fn = getattr(module, name, None)
        if fn is not None and name not in ("trace", "compile"):
            yield "\n" + writer.function(name, fn, fn.__doc__ or "")


def _named_results() -> str:
    """Returns the classes of named tuples."""
    parts = []
    for spec in rows():
        if spec.schema.result_names:
            fields = "".join(f"    {name}: Tensor\n" for name in spec.schema.result_names)
            parts.append(f"\nclass {result_class(spec)}(NamedTuple):\n{fields}")
    return "".join(parts)


def _results_in(text: str) -> str:
    """Returns the import of the named tuples that a stub mentions."""
    names = sorted(set(re.findall(r"\b\w+Result\b", text)))
    return "".join(f"from jaxaot.facade.memory.bound import {name}\n" for name in names)


def _imports(text: str) -> str:
    known = {
        "Generator": "from jaxaot.facade.memory.generator import Generator\n",
        "Storage": "from jaxaot.facade.memory.storage import Storage\n",
        "Size": "from jaxaot.facade.memory.tensor import Size\n",
        "Tensor": "from jaxaot.facade.memory.tensor import Tensor\n",
        "TypedStorage": "from jaxaot.facade.members.typed_storage import TypedStorage\n",
        "RemovableHandle": "from jaxaot.tape.hooks import RemovableHandle\n",
        "MemoryFormat": "from jaxaot.views.memory_format import MemoryFormat\n",
        "MemoryLayout": "from jaxaot.views.memory_format import MemoryLayout\n",
        "Mesh": "from jax.sharding import Mesh\n",
        "Placement": "from jaxaot.facade.members.placements import Placement\n",
    }
    return "".join(line for name, line in known.items() if re.search(rf"\b{name}\b", text))


def _namespace(namespace: str) -> str:
    by_hand = ""
    if namespace == "linalg":
        by_hand = "from jaxaot.errors import SingularMatrixError as LinAlgError\n"
    if namespace == "nn.functional":
        names = ("one_hot", "triplet_margin_with_distance_loss")
        by_hand = "".join(f"from jaxaot.nn.by_hand import {name} as {name}\n" for name in names)
    functions = "".join(_functions(namespace))
    if namespace == "nn.functional":
        functions = re.sub(r"\ndef one_hot\(.*?(?=\n\ndef |\n\n@)", "", functions, flags=re.DOTALL)
    return HEADER.format(doc=DOCS[namespace]) + _results_in(functions) + _imports(functions) + by_hand + functions


def _package() -> str:
    """Returns the stub of `jaxaot` itself: the imports of `__init__.py`, its constants, and the functions."""
    source = (ROOT / "__init__.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    constants: list[str] = []
    found = {name: module for module, names in ja._LATER.items() for name in names}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("jaxaot."):
            found |= {alias.name: node.module for alias in node.names if not (alias.asname or "_").startswith("_")}
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                constants += [name.id for name in names if isinstance(name, ast.Name) and not name.id.startswith("_")]
    found.pop("MemoryFormat"), found.pop("MemoryLayout")
    lines = [f"from jaxaot import {name} as {name}\n" for name in ja._PACKAGES]
    lines += [
        f"from {module} import {name} as {name}\n" for name, module in sorted(found.items(), key=lambda x: x[::-1])
    ]
    lines.append("from jaxaot.views.memory_format import MemoryFormat as memory_format\n")
    lines.append("from jaxaot.views.memory_format import MemoryLayout as layout\n")
    lines += [f"from jaxaot.settings import {old} as _{old}\n" for old in SETTINGS.values()]
    values = "".join(f"{new} = _{old}\n" for new, old in SETTINGS.items())
    values += "".join(_constant(name) for name in constants if name not in SETTINGS)
    functions = "".join(_functions(""))
    writer = Writer()
    each = "".join("\n" + writer.each(name, fn, fn.__doc__ or "") for name, fn in sorted(FOREACH.items()))
    doc = inspect.cleandoc(ja.__doc__ or "")
    more = _results_in(functions) + "from jaxaot.tape.hooks import RemovableHandle\n" * ("RemovableHandle" in functions)
    alias = "from jaxaot.views.memory_format import MemoryFormat, MemoryLayout\n"
    return (
        HEADER.format(doc=doc) + more + alias + "".join(lines) + "\n__version__: _str\n\n" + values + functions + each
    )


SETTINGS = {"config": "scoped", "get_config": "get", "set_config": "set_globally"}


def _constant(name: str) -> str:
    """Returns the declaration of a constant of `jaxaot`."""
    value = getattr(ja, name)
    if isinstance(value, ja.memory_format):
        return f"{name}: MemoryFormat\n"
    if isinstance(value, ja.layout):
        return f"{name}: MemoryLayout\n"
    if isinstance(value, ja.dtype):
        return f"{name}: dtype\n"
    if isinstance(value, float):
        return f"{name}: _float\n"
    return f"{name}: None\n" if value is None else f"{name}: Any\n"


# -- methods -----------------------------------------------------------------------------------------------------------

_COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__format__"}


def _bound() -> str:
    """Returns the stub of what is bound to `Tensor`."""
    tree = ast.parse((ROOT / "facade" / "memory" / "tensor.py").read_text(encoding="utf-8"))
    (cls,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor"]
    written = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)} | {"_restore"}
    writer = Writer(is_class=True)
    methods, properties = [], []
    for name, found in sorted(vars(ja.Tensor).items()):
        value = getattr(ja.Tensor, name) if isinstance(found, Method) else found
        if name in written or (name.startswith("__") and not _is_operator(name)):
            continue
        if isinstance(value, property):
            properties.append("\n" + _property(name, value))
        elif callable(value) and not name.startswith("_") and not isinstance(value, type):
            summary = inspect.cleandoc(value.__doc__ or "").partition("\n\n")[0]
            methods.append("\n" + writer.function(name, value, summary))
        elif callable(value) and not isinstance(value, type):
            methods.append("\n" + _operator(name, value, writer))
    body = "".join(properties + methods)
    text = (
        _named_results()
        + '\nclass Bound:\n    """The methods of `Tensor` that are bound from the op table."""\n'
        + body
    )
    doc = "What is bound to `Tensor` from the op table, and the named tuples that ops return."
    return HEADER.format(doc=doc) + _imports(text) + text


def _is_operator(name: str) -> bool:
    return name in _COMPARISONS or (name not in dir(object) and name not in _NOT_OPERATORS)


_NOT_OPERATORS = {
    "__slots__", "__weakref__", "__annotations__", "__firstlineno__", "__static_attributes__", "__array_priority__",
    "__deepcopy__", "__dict__", "__module__", "__annotate__", "__annotate_func__", "__annotations_cache__",
}  # fmt: skip


def _operator(name: str, value: Any, writer: Writer) -> str:
    names = list(inspect.signature(value).parameters)
    if (
        name in ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__format__")
        or name in RETURNS
        or name in _CONVERSIONS
    ):
        return writer.by_hand(name, value, "")
    if len(names) == 1 or name in ("__neg__", "__abs__", "__invert__", "__pos__"):
        return writer.define(name, ["self"], "Tensor", "")
    if name in ("__eq__", "__ne__"):
        return f"    def {name}(self, other: object) -> Tensor: ...  # type: ignore[override]\n"
    return writer.define(name, ["self", "other: Operand"], "Tensor", "")


_CONVERSIONS = ("__bool__", "__int__", "__float__", "__complex__", "__index__", "__iter__")


_PROPERTIES = {
    "layout": "MemoryLayout",
    "device_mesh": "Mesh",
    "placements": "tuple[Placement, ...]",
    "_backward_hooks": "Any",
    "_grad_fn": "Any",
    "volatile": "_bool",
}
"""Properties that are neither tensors nor flags, and what they are."""


def _property(name: str, value: property) -> str:
    is_flag = name.startswith(("is_", "retains_"))
    returned = "_bool" if is_flag else _PROPERTIES.get(name, "Tensor")
    taken = _PROPERTIES.get(name, "TensorLike")
    doc = inspect.cleandoc(value.__doc__ or "").partition("\n\n")[0]
    body = f'\n        """{doc}"""\n' if doc else " ...\n"
    text = f"    @property\n    def {name}(self) -> {returned}:{body}"
    if value.fset is not None:
        text += f"    @{name}.setter\n    def {name}(self, value: {taken}) -> None: ...\n"
    return text


def render() -> dict[pathlib.Path, str]:
    """Returns the stubs, by file."""
    found = {ROOT / "__init__.pyi": _package(), ROOT / "facade" / "memory" / "bound.pyi": _bound()}
    for namespace in DOCS:
        found[ROOT.joinpath(*namespace.split(".")).with_suffix(".pyi")] = _namespace(namespace)
    return found


if __name__ == "__main__":
    for path, text in render().items():
        path.write_text(text, encoding="utf-8")
