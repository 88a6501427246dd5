"""The help of each op: what it does, its arguments, where its result lives, and what differs from PyTorch."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping
from typing import Any

from jaxaot.facade.dispatch.keywords import OTHER_NAMES, public, with_second_names
from jaxaot.facade.members.lazy_methods import Form, Functions, Method, compiled
from jaxaot.ops.table import OpSpec

_RANDOM = "The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`."
_UNSURE = "Which of several equal elements is meant may differ from PyTorch."

DIFFERENCES: dict[str, str] = {
    "nonzero": "Its shape depends on values, so a compiled function runs in parts; else use `nonzero_static`.",
    "masked_select": "Its shape depends on values, so a compiled function runs in parts; else use `ja.where`.",
    "unique": "Its shape depends on values, so a compiled function runs in parts.",
    "unique_consecutive": "Its shape depends on values, so a compiled function runs in parts.",
    "bincount": "Its shape depends on values, so a compiled function runs in parts.",
    "empty": "Other than PyTorch's, the values are zeros.",
    "empty_like": "Other than PyTorch's, the values are zeros.",
    "chalf": "JAX has no complex numbers of half precision: these are complex64.",
    "median": _UNSURE,
    "mode": _UNSURE,
    "kthvalue": _UNSURE,
    "logcumsumexp": "Its gradient is more exact than PyTorch's in float32.",
    "linear_cross_entropy": "It is computed in float32, where PyTorch rounds the logits.",
}
"""Function → what its users of PyTorch have to know."""


def sentence_of(spec: OpSpec) -> str:
    """Returns the sentence that describes a row."""
    from jaxaot.ops.sentences import SENTENCES  # much text, which nobody reads before an op is used

    return SENTENCES.get(spec.name) or SENTENCES.get(spec.overload_of or "", "")


def meaning(op: str, name: str) -> str:
    """Returns the meaning of a parameter of an op; empty if it is not described."""
    from jaxaot.ops.sentences import OF_OPS, PARAMETERS

    return OF_OPS.get((op, name)) or PARAMETERS.get(name, "")


def arguments(op: str, names: Iterable[str]) -> str:
    """Returns the section on the arguments of a function; empty if it has none."""
    lines = [f"  {name}: {meaning(op, name)}" for name in names]
    return "\n".join(["Args:", *lines]) if lines else ""


def _names(variants: Iterable[OpSpec], more: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*(public(p) for spec in variants for p in spec.schema.parameters), *more]))


def help_of(variants: tuple[OpSpec, ...], more: Iterable[str] = ()) -> str:
    """Returns the help of the function form of a row, with all its signatures.

    Args:
      variants: The row, and those that are other signatures of it.
      more: Parameters of the function that are in no schema, such as `out`.
    """
    spec = variants[0]
    remarks = [text for v in variants if (text := _remark(v))]
    names = spec.namespaced_names
    parts = [sentence_of(spec), *remarks, arguments(spec.name, _names(variants, more))]
    if spec.inplace_name is not None and not spec.is_inplace_only:
        parts.append(f"The result has memory of its own; `Tensor.{spec.inplace_name}` writes it to `input`.")
    else:
        parts.append("The result has memory of its own.")
    if spec.is_random:
        parts.append(_RANDOM)
    if spec.name in DIFFERENCES:
        parts.append(DIFFERENCES[spec.name])
    others = [f"`{name}`" for name in spec.aliases]
    parts.append(f"See `torch.{names[0]}`" + (f"; also called {', '.join(others)}." if others else "."))
    return "\n\n".join(filter(None, parts))


def help_in_place(variants: tuple[OpSpec, ...], more: Iterable[str] = ()) -> str:
    """Returns the help of the in-place form of a row, see `help_of`."""
    spec = variants[0]
    sentence = sentence_of(spec)
    if not spec.is_inplace_only and sentence.startswith("Returns "):
        sentence = f"Writes to the tensor what `{spec.name}` returns: {sentence.removeprefix('Returns ')}"
    parts = [
        sentence,
        arguments(spec.name, _names(variants, more)),
        "Works in place: all views of the same memory see it. Returns the tensor.",
        _RANDOM if spec.is_random else "",
        f"See `torch.Tensor.{spec.inplace_name}`.",
    ]
    return "\n\n".join(filter(None, parts))


def _remark(spec: OpSpec) -> str:
    """Returns the docstring of the row after its first sentence."""
    text = "\n".join(line.strip() for line in (spec.fn.__doc__ or "").strip().splitlines())
    return "" if text.startswith("Returns ") and "\n\n" not in text else text.partition("\n\n")[2] or text


_MAY_COPY = ("clone", "reshape", "reshape_as", "flatten", "ravel", "contiguous", "resolve_conj", "resolve_neg", "imag")
"""Functions among the views that copy, or may: their sentences say when."""


def document(functions: Mapping[str, Functions], tensor: type, views: set[str]) -> None:
    """Gives functions and methods that are no rows their help, which says which return views, and PyTorch's keywords.

    They get it when they are first read.
    """
    forms: dict[Any, Form] = {}

    def form_of(fn: types.FunctionType, name: str, place: str) -> Form:
        note = "The result is a view: it shares memory with `input`." if name in views - {*_MAY_COPY} else ""
        text = fn.__doc__ or ""  # before another name of the same function has its help
        make = lambda: described(with_second_names(name, fn, compiled), text, name, note, place)
        return forms.setdefault((id(fn), OTHER_NAMES.get(name) and name), Form(make))

    for namespace, found in functions.items():
        for name, fn in found.made().items():
            if _is_by_hand(name, fn):
                found[name] = form_of(fn, name, f"torch.{namespace}".rstrip("."))
    for name, fn in list(vars(tensor).items()):
        if _is_by_hand(name, fn):
            setattr(tensor, name, Method(name, form_of(fn, name, "torch.Tensor")))


def _is_by_hand(name: str, fn: object) -> bool:
    is_public = not name.startswith("_") and isinstance(fn, types.FunctionType)
    return is_public and not hasattr(fn, "forms") and fn.__doc__ is not None


def parameters_of(fn: Any) -> list[str]:
    """Returns the names of the parameters of a function, those of a wrapper as its signature has them."""
    signature = getattr(fn, "__signature__", None)
    if signature is not None:
        return list(signature.parameters)
    code = fn.__code__
    n = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return list(code.co_varnames[:n])


def described(fn: Any, text: str, op: str, note: str, place: str) -> Any:
    """Gives a function that is no row its help, which begins with a text, and returns it."""
    text = inspect.cleandoc(text)
    if "Args:" not in text:
        text = "\n\n".join(filter(None, [text, arguments(op, parameters_of(fn))]))
    fn.__doc__ = "\n\n".join(filter(None, [text, note, DIFFERENCES.get(op, ""), f"See `{place}.{op}`."]))
    return fn
