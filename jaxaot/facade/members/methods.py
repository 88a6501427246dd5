"""Derives from the op table what users call: functions, methods, `name_`, `out=` and operators.

Every form has a signature of its own, generated from the schema, so that wrong arguments get Python's own errors and
`help()` shows PyTorch's parameters. It is made when it is first used.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import jaxaot.facade.wrappers.wrapper
import jaxaot.ops.register_rows  # noqa: F401  fills the table
from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import ArgumentError, TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_dtype, tensor
from jaxaot.facade.dispatch.dispatch import call, make
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.dispatch.keywords import choices, default_text, public, second_names, signature_of
from jaxaot.facade.dispatch.out import call_out
from jaxaot.facade.dispatch.signatures import overloads_of, same_as, with_parameters
from jaxaot.facade.gradients import grad
from jaxaot.facade.indexing import data_dependent, indexing, selection
from jaxaot.facade.members import conversions, copying, metadata, placements, queries
from jaxaot.facade.members import legacy_signatures as old_forms
from jaxaot.facade.members.help import described, document, help_in_place, help_of, parameters_of, sentence_of
from jaxaot.facade.members.lazy_methods import Form, Functions, Method, form_of
from jaxaot.facade.members.operators import AUGMENTED, OPERANDS, OPERATORS, REFLECTED, TENSORS, augmented, binary
from jaxaot.facade.members.printing import set_printoptions, tensor_html, tensor_repr
from jaxaot.facade.memory.devices import is_meta
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes import hooks
from jaxaot.facade.view_ops import multi_view as several
from jaxaot.facade.view_ops import split_views as splits
from jaxaot.facade.view_ops import strided, view_copies, views
from jaxaot.facade.wrappers import plain_subclass
from jaxaot.ops.promotion import is_bool, is_integral
from jaxaot.ops.schema import REQUIRED, Parameter
from jaxaot.ops.table import OpSpec, lookup, overloads, rows

# -- generated forms ---------------------------------------------------------------------------------------------------


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


def fingerprint(name: str, source: str) -> str:
    """Returns what a function of the op table goes by in `_forms.py`, which tools/forms.py writes."""
    return "_" + hashlib.sha256(source.replace(f"def {name}(", "def (", 1).encode()).hexdigest()[:24]


def compiled(name: str, source: str, scope: dict[str, Any]) -> Any:
    """Returns a function of its text, which may be in `_forms.py` already.

    Args:
      name: Its name.
      source: Its text.
      scope: What the text uses.
    """
    from jaxaot.facade.members._forms import FORMS  # a process of arrays alone needs none

    found: Any = FORMS.get(fingerprint(name, source))
    if found is None:  # a file name inside the package, so that user lines are looked for above it
        exec(compile(source, os.path.join(os.path.dirname(__file__), f"<op {name}>"), "exec"), scope)
        return scope[name]
    code = found.__code__.replace(co_name=name, co_qualname=name)  # one of its own: Python's caches lie in it
    fn = types.FunctionType(code, scope, name, found.__defaults__)
    fn.__kwdefaults__ = found.__kwdefaults__
    return fn


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


def _documented(fn: Any) -> Any:
    """Gives a form of rows its help, and returns it."""
    variants = tuple(spec for spec, _ in fn.forms)
    is_written = fn.__name__ == variants[0].inplace_name
    fn.__doc__ = (help_in_place if is_written else help_of)(variants, parameters_of(fn))
    return fn


def function_of(spec: OpSpec) -> Callable[..., Any]:
    """Returns the function form of a row, with `out=` where it has one."""
    dynamic, static, generator = _arguments(spec)
    if spec.is_factory or not any(p.type == "Tensor" for p in spec.schema.dynamic):
        return _documented(_factory_of(spec, dynamic, static, generator))
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
    return _documented(_compile(spec.name, source, spec))


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


def _finished(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
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
    return _documented(_compile(name, source, spec))


def _first_that_fits(variants: Sequence[OpSpec], form: Callable[[OpSpec], Callable[..., Any]]) -> Callable[..., Any]:
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
    return _documented(fn)


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


def _with_inplace(function: Callable[..., Any], write: Callable[..., Any] | None) -> Callable[..., Any]:
    """Returns an activation of `nn.functional` that also takes `inplace`, after its other parameters."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    position = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)

    @functools.wraps(function)
    def fn(*args: Any, **kwargs: Any) -> Tensor:
        if len(args) > position and "inplace" not in kwargs:
            kwargs["inplace"], args = args[position], args[:position] + args[position + 1 :]
        if not kwargs.pop("inplace", False):
            return function(*args, **kwargs)
        target, *rest = args or [kwargs.pop("input")]
        return write(target, *rest, **kwargs) if write is not None else target.copy_(function(target, *rest, **kwargs))

    return _documented(with_parameters(fn, function, "inplace=False", position))


def _with_indices(spec: OpSpec, function: Callable[..., Any], both: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a pooling function that also takes `return_indices`, after its other public parameters."""
    position = sum(not parameter.name.startswith("_") for parameter in spec.schema.parameters)

    @functools.wraps(function)
    def fn(*args: object, **kwargs: Any) -> Any:
        if args[position] if len(args) > position else kwargs.get("return_indices", False):
            return both(*args, **kwargs)
        kwargs.pop("return_indices", None)
        return function(*args[:position], *args[position + 1 :], **kwargs)

    return _documented(with_parameters(fn, function, "return_indices=False", position))


def _with_varargs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of a list of tensors that also takes them one by one."""

    @functools.wraps(function)
    def fn(*tensors: object, **kwargs: Any) -> Any:
        listed = len(tensors) == 1 and isinstance(tensors[0], (list, tuple))
        return function(tensors[0] if listed else list(tensors), **kwargs)

    return _documented(with_parameters(fn, function, "*tensors", 0, ["tensors", "matrices"]))


def _einsum(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `einsum`, which takes its operands as a list or one by one."""

    @functools.wraps(function)
    def fn(equation: str, *operands: Any) -> Tensor:
        listed = len(operands) == 1 and isinstance(operands[0], (list, tuple))
        return function(equation, list(operands[0] if listed else operands))

    return _documented(with_parameters(fn, function, "*operands", 1, ["operands", "out"]))


def _histogramdd(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `histogramdd`, whose second result is the edges of all dims."""

    @functools.wraps(function)
    def fn(*args: object, **kwargs: Any) -> tuple[Tensor, tuple[Tensor, ...]]:
        counts, *edges = function(*args, **kwargs)
        return counts, tuple(edges)

    return fn


def _with_from(write: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns a fill that also takes its lower bound as `from`, PyTorch's name, which is a word of Python."""

    @functools.wraps(write)
    def fn(self: Tensor, *args: object, **kwargs: Any) -> Tensor:
        if "from" in kwargs:
            kwargs["low"] = kwargs.pop("from")
            if write.__name__ == "random_" and "to" not in kwargs:
                raise ArgumentError("random_() takes `from` together with `to`: `random_(from, to)` or `random_(to)`")
        return write(self, *args, **kwargs)

    return fn


def _taking_inplace(form: Form, inplace_name: str) -> Form:
    return Form(lambda: _with_inplace(form.made, getattr(Tensor, inplace_name, None)))


def _taking_indices(name: str, form: Form, both: Form) -> Form:
    return Form(lambda: _with_indices(lookup(name), form.made, both.made))


_TAKES_INPLACE = (
    "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "hardtanh", "hardswish", "hardsigmoid",
    "threshold", "dropout", "rrelu", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
)  # fmt: skip


# -- methods written by hand -------------------------------------------------------------------------------------------


def _initialize(self: Tensor, *args: Any) -> None:
    self._restore(old_forms.construct(args)._snapshot())


def _write_real(self: Tensor, value: Any) -> None:
    views.real(self).copy_(value)


def _write_imag(self: Tensor, value: Any) -> None:
    views.imag(self).copy_(value)


def backward(
    self: Tensor,
    gradient: Array | None = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    inputs: object = None,
) -> None:
    """Adds the gradients of this tensor to the `.grad` of the leaves it depends on."""
    grad.backward(self, None if gradient is None else [gradient], retain_graph, create_graph, inputs)


def _truth(self: Tensor) -> bool:
    if self.numel() != 1:
        raise TensorValueError(
            f"Boolean value of Tensor with {self.numel()} values is ambiguous. Write `x.any()` or `x.all()`, or "
            "`ja.where(x, a, b)` for a choice at each element."
        )
    return bool(self._concrete("A Python `if`, `while` or `bool()`").reshape(()).item())


def _python_number(kind: type) -> Callable[[Tensor], Any]:
    def convert(self: Tensor) -> Any:
        if self.numel() != 1:
            raise TensorValueError(
                f"only one element tensors can be converted to Python scalars (got {self.numel()}). Write "
                "`x.tolist()` for all values, or make them one, `x.sum().item()`."
            )
        return kind(self._concrete(f"`{kind.__name__}()`").reshape(()).item())

    return convert


def _index_number(self: Tensor) -> int:
    if self.numel() != 1 or not (is_integral(self.dtype) or is_bool(self.dtype)):
        raise TensorTypeError("only integer tensors of a single element can be converted to an index")
    instead = (
        "An index in brackets may be a tensor, with one program for all its values, which `narrow`, `range` and the "
        "like are not:\n\n    y = x[:, n]\n    x[:, n : n + 1] = y\n\n"
    )
    return int(self._concrete("Use as a Python index", instead).reshape(()).item())


def _iterate(self: Tensor) -> Any:
    if self.ndim == 0:
        raise TensorTypeError("iteration over a 0-d tensor. It is one number: `x.item()`.")
    return iter(splits.unbind(self, 0))


def _reversed(self: Tensor) -> Tensor:
    return FUNCTIONS[""]["flip"](self, tuple(range(self.ndim)))


def _contains(self: Tensor, item: Any) -> bool:
    if not isinstance(item, OPERANDS):
        raise ArgumentError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(item)}.")
    return bool((self == item).any().item())


def _delete(self: Tensor, index: object) -> None:
    raise TensorTypeError(
        "Tensor does not support deleting items: a tensor has as many elements as its shape says. Take the others: "
        "`ja.cat((x[:i], x[i + 1:]))`."
    )


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Returns the elements of this tensor where a condition holds, and those of another elsewhere.

    Args:
      condition: Where it holds.
      other: The other tensor, or a number.
    """
    return call(lookup("where"), (condition, self, other), ())


def _formatted(self: Tensor, spec: str) -> str:
    return format(self.item(), spec) if self.ndim == 0 and spec else repr(self)


def repeat(self: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Returns copies of the tensor laid side by side along each dim."""
    return call(lookup("repeat"), (self,), (views._sizes(sizes, repeats),))


def _polygamma(self: Tensor, n: int) -> Tensor:
    """Returns the n-th derivative of the digamma function of each element."""
    return FUNCTIONS[""]["polygamma"](n, self)


def _taking_dims(name: str) -> Form:
    def make() -> Any:
        method = _dim_or_dims(name)
        return described(method, method.__doc__ or "", name, "", "torch.Tensor")

    return Form(make)


def _dim_or_dims(name: str) -> Callable[..., Any]:
    row = lookup(name)

    def of_sizes(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
        return call(row, (self,), (views._sizes(sizes, size),))

    def of_dims(self: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
        return call(row, (self,), (views._sizes(sizes, dims),))

    method = of_sizes if name == "sum_to_size" else of_dims
    method.__doc__ = sentence_of(row)
    return method


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Returns whether all elements are close."""
    return bool(FUNCTIONS[""]["isclose"](input, other, rtol=rtol, atol=atol, equal_nan=equal_nan).all().item())


def equal(input: Tensor, other: Tensor) -> bool:
    """Returns whether two tensors have the same shape and elements."""
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all().item())


# -- binding -----------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Functions] = {}
"""Namespace → name → function; `""` is `ja` itself."""


def _set(name: str, form: Form) -> None:
    setattr(Tensor, name, Method(name, form))


def _bind_row(spec: OpSpec) -> None:
    variants = overloads(spec.name)
    namespaces = [FUNCTIONS.setdefault(namespace, Functions()) for namespace in spec.namespaces]
    form = Form(lambda: _first_that_fits(variants, function_of))
    if spec.is_function and not spec.is_inplace_only:
        for namespace, functions in zip(spec.namespaces, namespaces, strict=True):
            for name in (spec.name_in(namespace), *spec.aliases):
                functions[name] = form
    if spec.takes_tensor and spec.has_method and not spec.is_inplace_only:
        for name in (spec.name, *spec.aliases):
            _set(name, form)
    writable = [variant for variant in variants if variant.has_inplace]
    if writable and spec.takes_tensor:
        inplace = Form(lambda: _first_that_fits(writable, inplace_of))
        for name in (str(spec.inplace_name), *(f"{alias}_" for alias in spec.aliases)):
            _set(name, inplace)
            for functions in () if spec.is_inplace_only else namespaces:
                if name not in functions:
                    functions[name] = inplace


def _bind() -> None:
    for spec in rows():
        if spec.overload_of is None:
            _bind_row(spec)
    functional = FUNCTIONS["nn.functional"]
    for name in set(_TAKES_INPLACE) & set(functional):
        functional[name] = _taking_inplace(functional.form(name), f"{name}_")
    for both in [name for name in functional if name.endswith("_with_indices")]:
        pool = both.removesuffix("_with_indices")
        functional[pool] = _taking_indices(pool, functional.form(pool), functional.form(both))
    functional["unfold"] = Form(lambda: function_of(lookup("unfold_patches")))
    here = FUNCTIONS.setdefault("", Functions())
    here.update(views.VIEWS | several.FUNCTIONS | splits.SPLITS)
    here.update(data_dependent.FUNCTIONS)
    for name, fn in data_dependent.FUNCTIONS.items():
        setattr(Tensor, name, fn)
    here.update(view_copies.FUNCTIONS)
    for name in ("block_diag", "cartesian_prod", "chain_matmul"):
        here[name] = here.form(name).around(_with_varargs)
    here["einsum"] = here.form("einsum").around(_einsum)
    here["histogramdd"] = here.form("histogramdd").around(_histogramdd)
    FUNCTIONS["linalg"]["diagonal"] = views.matrix_diagonal
    here.update({name: metadata.METHODS[name] for name in ("as_strided_", "detach_", "resize_as_")})
    here["zero_"] = form_of(Tensor, "zero_")
    here.update(empty_strided=_finished(strided.empty_strided), as_strided_scatter=strided.as_strided_scatter)
    for name in ("addcmul", "addcdiv"):
        here[name] = here.form(name).around(old_forms.with_value_second)
        _set(name, here.form(name))
        _set(f"{name}_", form_of(Tensor, f"{name}_").around(old_forms.with_value_second))
    for name in ("index_put", "index_put_"):
        here[name] = form_of(Tensor, name).around(indexing.taking_masks)
        _set(name, here.form(name))
    here["where"] = here.form("where").around(old_forms.where_or_places)
    here["unravel_index"] = here.form("unravel_index").around(old_forms.with_shape_of_numbers)
    functional.update(sigmoid=here.form("sigmoid"), tanh=here.form("tanh"))
    functional["embedding_bag"] = functional.form("embedding_bag").around(old_forms.with_table_first)
    here["layer_norm"] = here.form("layer_norm").around(
        lambda fn: _documented(old_forms.with_ignored(fn, "cudnn_enable"))
    )
    here["group_norm"] = here.form("group_norm").around(
        lambda fn: _documented(old_forms.with_ignored(fn, "cudnn_enabled"))
    )
    here["batch_norm"] = old_forms.batch_norm_of(functional.form("batch_norm"))
    here["instance_norm"] = old_forms.instance_norm_of(functional.form("instance_norm"))
    here.update(queries.FUNCTIONS, allclose=allclose, equal=equal, set_printoptions=set_printoptions)
    for name, fn in {**views.VIEWS, **splits.SPLITS, **views.METHODS, **metadata.METHODS, **queries.BOTH}.items():
        setattr(Tensor, name, fn)
    for name, row in OPERATORS.items():
        setattr(Tensor, name, binary(row, False))
    for name, row in REFLECTED.items():
        setattr(Tensor, name, binary(row, True))
    for name, row in AUGMENTED.items():
        setattr(Tensor, name, augmented(row))
    by_hand: dict[str, Any] = {
        "polygamma": _polygamma,
        "__pos__": lambda self: self, "__bool__": _truth, "__int__": _python_number(int),
        "__float__": _python_number(float), "__complex__": _python_number(complex), "__index__": _index_number,
        "__iter__": _iterate, "__contains__": _contains,
        "__reversed__": _reversed, "where": _where, "type": old_forms.kind_of, "apply_": old_forms.apply_,
        "map_": old_forms.map_, "map2_": old_forms.map_with_both, "__init__": _initialize,
        "__repr__": tensor_repr, "_repr_html_": tensor_html, "__format__": _formatted, "__getitem__": indexing.getitem,
        "__setitem__": indexing.setitem, "__delitem__": _delete,
        "backward": backward, "register_hook": hooks.register_hook,
        "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
        **hooks.PROPERTIES, "retain_grad": hooks.retain_grad, "allclose": allclose, "equal": equal,
        "as_strided_scatter": strided.as_strided_scatter,
        "new_empty_strided": _finished(strided.new_empty_strided),
        "repeat": repeat, "data": property(metadata.get_data, metadata.set_data, metadata.delete_data),
        "T": property(lambda self: views.permute(self, *reversed(range(self.ndim)))),
        "mT": property(views.matrix_transpose), "mH": property(views.adjoint), "H": property(views.matrix_adjoint),
        "real": property(views.real, _write_real), "imag": property(views.imag, _write_imag), "new_tensor": _new_tensor,
        "new": old_forms.made_alike,
    }  # fmt: skip
    for name, asks in {**queries.PROPERTIES, **placements.PROPERTIES}.items():
        setattr(Tensor, name, property(asks))
    more = conversions.METHODS | placements.METHODS | view_copies.METHODS | plain_subclass.METHODS
    for name, value in (by_hand | more).items():
        setattr(Tensor, name, value)
    for name, row in (("__neg__", "neg"), ("__abs__", "abs"), ("__invert__", "bitwise_not")):
        _set(name, here.form(row))
    for name in ("uniform_", "random_"):
        _set(name, form_of(Tensor, name).around(_with_from))
    for name in ("flip", "tile", "sum_to_size"):
        _set(name, _taking_dims(name))


def _new_tensor(
    self: Tensor, data: object, dtype: DTypeLike | None = None, device: object = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Returns a leaf with a copy of `data`, by default of this tensor's dtype."""
    return tensor(data, self.dtype if dtype is None else dtype, device, requires_grad)


_bind()
document(FUNCTIONS, Tensor, {*views.VIEWS, *splits.SPLITS, *views.METHODS}, lambda *given: compiled(*given))
for _kind, _methods in copying.PROTOCOLS.items():
    for _name, _method in _methods.items():
        setattr(_kind, _name, _method)
selection.bind(tuple(OPERATORS), tuple(REFLECTED), {i: f"__{i[3:]}" for i in AUGMENTED})
