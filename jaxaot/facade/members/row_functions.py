"""What a row becomes: its function, its in-place form, and one function of several signatures.

Each has a signature of its own, generated from the schema, so that wrong arguments get Python's own errors and `help()`
shows PyTorch's parameters.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.errors import ArgumentError, TensorTypeError
from jaxaot.facade.dispatch.create import as_dtype
from jaxaot.facade.dispatch.dispatch import call, make
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.dispatch.keywords import choices, default_text, public, second_names, signature_of
from jaxaot.facade.dispatch.out import call_out
from jaxaot.facade.dispatch.signatures import overloads_of, same_as, with_parameters
from jaxaot.facade.members import conversions
from jaxaot.facade.members.help import help_in_place, help_of, parameters_of
from jaxaot.facade.members.lazy_methods import compiled
from jaxaot.facade.members.operators import TENSORS
from jaxaot.facade.memory.devices import is_meta
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.schema import REQUIRED, Parameter
from jaxaot.ops.table import OpSpec


def static_value(value: object) -> Any:
    """Returns a static argument in hashable form."""
    if isinstance(value, (list, tuple)):
        return tuple(static_value(v) for v in value)
    if isinstance(value, Tensor):
        if value.numel() != 1:
            raise TensorTypeError(
                f"a number, or a sequence of numbers, is expected here, and not a tensor of shape {list(value.shape)}. "
                "Write `x.tolist()`; or, if this is one of several tensors, put them in a list: `ja.cat([x, y])`."
            )
        return value.item()
    if isinstance(value, np.ndarray):
        return value.item() if value.ndim == 0 else static_value(value.tolist())
    return value


def number_value(value: object, name: str) -> Any:
    """Returns a static argument that is a number, or several, in hashable form.

    Raises:
      TensorTypeError: If it is text.
    """
    if type(value) is int or type(value) is float or value is None:
        return value
    if isinstance(value, str):
        raise TensorTypeError(f"argument '{name}' must be a number, and {value!r} was given")
    return static_value(value)


def _arguments(spec: OpSpec) -> tuple[str, str, str]:
    dynamic = "".join(f"{public(p)}, " for p in spec.schema.dynamic)
    static, generator = "", "None"
    for parameter in spec.schema.static:
        if parameter.type == "Generator":
            static += "None, "
            generator = parameter.name
        elif parameter.type == "Dtype":
            static += f"None if {parameter.name} is None else _dtype({parameter.name}), "
        elif parameter.type in ("bool", "str") and not parameter.is_list:
            static += f"{parameter.name}, "
        elif parameter.type in ("int", "float"):
            static += f"_number({parameter.name}, {parameter.name!r}), "
        else:
            static += f"_static({parameter.name}), "
    return f"({dynamic})", f"({static})", generator


def _compile(name: str, source: str, spec: OpSpec) -> Callable[..., Any]:
    same = {f"_same_{taken}": same_as(taken) for taken in second_names(spec).values()}
    fn = compiled(name, source, {
        "_call": call, "_make": make, "_call_inplace": call_inplace, "_call_out": call_out, "_spec": spec,
        "_static": static_value, "_number": number_value, "_dtype": as_dtype, "_finish": _finish_factory,
        "_varargs": _varargs, "_required": REQUIRED, **same,
    })  # fmt: skip
    fn.__module__ = "jaxaot"
    fn.forms = ((spec, fn),)
    return fn


def documented(fn: Any) -> Any:
    """Gives a form of rows its help, and returns it."""
    variants = tuple(spec for spec, _ in fn.forms)
    is_written = fn.__name__ == variants[0].inplace_name
    fn.__doc__ = (help_in_place if is_written else help_of)(variants, parameters_of(fn))
    return fn


def function_of(spec: OpSpec) -> Callable[..., Any]:
    """Returns the function form of a row, with `out=` where it has one."""
    dynamic, static, generator = _arguments(spec)
    if spec.is_factory or not any(p.type == "Tensor" for p in spec.schema.dynamic):
        return documented(_factory_of(spec, dynamic, static, generator))
    run = f"{choices(spec)}    return _call(_spec, {dynamic}, {static}, {generator})\n"
    if not spec.has_out:
        source = f"def {spec.name}({signature_of(spec, '')}):\n{run}"
    else:
        source = (
            f"def {spec.name}({signature_of(spec, 'out=None')}):\n{choices(spec)}"
            f"    if out is not None:\n"
            f"        return _call_out(_spec, {dynamic}, {static}, out, {generator})\n"
            f"    return _call(_spec, {dynamic}, {static}, {generator})\n"
        )
    return documented(_compile(spec.name, source, spec))


def _factory_of(spec: OpSpec, dynamic: str, static: str, generator: str) -> Callable[..., Any]:
    """Returns the function of a row that makes tensors: sizes as varargs, `device=`, `requires_grad=` and the like."""
    extra, order = "device=None, requires_grad=False, layout=None, pin_memory=False", ""
    if spec.name == "empty" or spec.name.endswith("_like"):
        extra, order = f"{extra}, memory_format=None", ", memory_format"
    run = f"_make(_spec, {dynamic}, {static}, {generator}, device)"
    body = f"    return _finish({run}, device, requires_grad{order})\n"
    if not any(p.type == "Tensor" for p in spec.schema.dynamic):
        extra += ", out=None"
        body = (
            f"    if out is not None:\n        return _call_out(_spec, {dynamic}, {static}, out, {generator})\n{body}"
        )
    positional = [public(p) for p in spec.schema.parameters if not p.is_keyword_only]
    if positional in (["size"], ["input", "size"]):
        rest = [p.name + default_text(p) for p in spec.schema.parameters if p.is_keyword_only]
        head = ", ".join([*positional[:-1], "*sizes", "size=None", *rest, extra])
        body = f"    size = _varargs(sizes) if size is None else size\n{body}"
    else:
        head = signature_of(spec, extra)
        body = choices(spec) + body
    return _compile(spec.name, f"def {spec.name}({head}):\n{body}", spec)


def _varargs(size: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return tuple(size[0])
    return size


def _finish_factory(made: Tensor, device: object, requires_grad: bool, memory_format: Any = None) -> Tensor:
    if device is not None and not (device == "cpu" and jax.default_backend() == "cpu") and not is_meta(device):
        made = conversions.to(made, device=device)
    if memory_format is not None:
        made = conversions.laid_out(made, memory_format)
    return made.requires_grad_(requires_grad) if requires_grad else made


def finished(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns a function that makes tensors with the options of one."""

    @functools.wraps(function)
    def made(
        *args: object, device: object = None, requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
        **kwargs: Any,
    ) -> Tensor:  # fmt: skip
        return _finish_factory(function(*args, **kwargs), device, requires_grad)

    return with_parameters(made, function, "device=None, requires_grad=False, layout=None, pin_memory=False")


def inplace_of(spec: OpSpec) -> Callable[..., Any]:
    """Returns the in-place form of a row."""
    dynamic, static, generator = _arguments(spec)
    name = str(spec.inplace_name)
    run = f"{choices(spec)}    return _call_inplace(_spec, {dynamic}, {static}, {generator})\n"
    source = f"def {name}({signature_of(spec, '')}):\n{run}"
    return documented(_compile(name, source, spec))


def first_that_fits(variants: Sequence[OpSpec], form: Callable[[OpSpec], Callable[..., Any]]) -> Callable[..., Any]:
    """Returns a function that takes the arguments of any of several signatures."""
    if len(variants) == 1:
        return form(variants[0])
    forms = [(spec, fn, inspect.signature(fn)) for spec, fn in ((spec, form(spec)) for spec in variants)]

    def fn(*args: object, **kwargs: Any) -> Any:
        for spec, variant, signature in forms:
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:
                continue
            for other, name in second_names(spec).items():
                if other in given:
                    given[name] = given[other]
            if all(
                _fits(parameter, given[public(parameter)])
                for parameter in spec.schema.parameters
                if public(parameter) in given
            ) and all(p.default is not REQUIRED or public(p) in given for p in spec.schema.parameters):
                return variant(*args, **kwargs)
        name = variants[0].name
        shown = "\n  ".join(str(spec.schema).replace(spec.name, name, 1) for spec in variants)
        types = [type(value).__name__ for value in args]
        types += [f"{key}={type(value).__name__}" for key, value in kwargs.items()]
        raise ArgumentError(f"{name}() takes none of these arguments: {', '.join(types)}. Write one of:\n  {shown}")

    fn.__name__ = fn.__qualname__ = forms[0][1].__name__
    fn.__module__ = "jaxaot"
    fn.__signature__ = overloads_of([signature for *_, signature in forms])  # type: ignore[attr-defined]
    fn.forms = tuple((spec, variant) for spec, variant, _ in forms)  # type: ignore[attr-defined]
    return documented(fn)


def _fits(parameter: Parameter, value: object) -> bool:
    if value is None:
        return parameter.is_optional or parameter.default is None
    if parameter.type == "Tensor" and not parameter.is_list:
        return isinstance(value, TENSORS)
    if parameter.type == "Tensor":
        return isinstance(value, (list, tuple)) and all(item is None or isinstance(item, TENSORS) for item in value)
    if parameter.type == "Scalar":
        return isinstance(value, (bool, int, float, complex)) or (isinstance(value, Tensor) and value.ndim == 0)
    if parameter.type == "int" and (not parameter.is_list or isinstance(value, bool)):
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    several = value if isinstance(value, (list, tuple)) else (value,)
    return not any(isinstance(item, Tensor) for item in several)
