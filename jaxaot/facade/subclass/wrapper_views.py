"""Views of tensors that are made of inner tensors: each step is an op that their class is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op, carry_out, is_wrapper
from jaxaot.views.chain import AsStrided, ViewChain

_OP_NAMES = {
    "Reshape": "view", "AsStrided": "as_strided", "Conjugate": "conj", "AsReal": "view_as_real",
    "AsComplex": "view_as_complex", "AsDtype": "view_dtype",
}  # fmt: skip
"""What `__tensor_dispatch__` is asked for at a kind of step that is not called as the op, `Slice` as `slice`.

The arguments are the fields of the step.
"""

_ops: dict[type, Op] = {}


def through_wrapper(make_view: Callable[..., Any], parent: Tensor, steps: ViewChain) -> Any:
    """Returns the view of a wrapper some steps further."""
    for step in steps:
        if not is_wrapper(parent):  # a class made a plain tensor of the step before
            parent = make_view(parent, step)
            continue
        kind = type(step)
        fields = tuple(getattr(step, field.name) for field in dataclasses.fields(step))  # type: ignore[arg-type]
        if kind not in _ops:
            _ops[kind] = _view_op(make_view, kind)
        parent = carry_out(_ops[kind], (parent, *(fields[:3] if kind is AsStrided else fields)), {})
    return parent


def _view_op(make_view: Callable[..., Any], kind: Any) -> Op:
    is_strided = kind is AsStrided

    def run(input: Any, *fields: Any) -> Any:
        return make_view(input, kind(*fields, *((input._geometry,) if is_strided else ())))

    return Op(_OP_NAMES.get(str(kind.__name__)) or kind.__name__.lower(), run)
