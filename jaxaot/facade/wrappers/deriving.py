"""Deriving a class from Tensor: what is noted of it, what it gets, and how its `__new__` makes a wrapper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import SubclassError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import SUBCLASSES, register_kind
from jaxaot.facade.wrappers import plain_subclass
from jaxaot.facade.wrappers.wrapper import MEMBERS
from jaxaot.views.layout import contiguous_stride, layout_of

_PROTOCOL = ("__tensor_flatten__", "__tensor_unflatten__", "__tensor_dispatch__")


def _note_subclass(cls: type[Tensor], **kwargs: Any) -> None:
    """Takes note of a new subclass.

    Raises:
      SubclassError: If it says only a part of the protocol, or in a way that cannot be called.
    """
    super(Tensor, cls).__init_subclass__(**kwargs)
    missing = [name for name in _PROTOCOL if not hasattr(cls, name)]
    is_plain = len(missing) == len(_PROTOCOL)
    if missing and not is_plain:
        raise SubclassError(
            f"`{cls.__qualname__}` derives from `ja.Tensor` and has no `{'`, no `'.join(missing)}`. A subclass is made "
            "of inner tensors: it names them in `__tensor_flatten__`, is made of others by `__tensor_unflatten__`, and "
            "carries ops out on them in `__tensor_dispatch__`. It says all three, or none: then it is a plain tensor "
            "under another name."
        )
    for name in _PROTOCOL[1:]:
        own = cls.__dict__.get(name)
        if own is not None and not isinstance(own, (classmethod, staticmethod)):
            kind = "staticmethod" if name == "__tensor_unflatten__" else "classmethod"
            raise SubclassError(f"`{cls.__qualname__}.{name}` is called on the class: write `@{kind}` above it.")
    above = [owner for owner in cls.__mro__ if owner is not Tensor and issubclass(owner, Tensor)]
    for name, member in (MEMBERS | plain_subclass.MEMBERS if is_plain else MEMBERS).items():
        if not any(name in owner.__dict__ for owner in above):
            setattr(cls, name, member)
    register_kind(cls)


def make_wrapper(
    cls: type[Tensor],
    size: Sequence[int],
    strides: Sequence[int] | None = None,
    storage_offset: int = 0,
    *,
    dtype: DTypeLike,
    layout: object = None,
    device: object = None,
    requires_grad: bool = False,
) -> Any:
    """Returns a new wrapper without inner tensors, for the `__new__` of its class.

    Args:
      cls: Its class.
      size: Its shape.
      strides: Its strides, by default those of row-major order.
      storage_offset: PyTorch's, and says nothing: it is that of the inner tensors.
      dtype: Its dtype.
      layout: PyTorch's, and says nothing: there is one.
      device: PyTorch's, and says nothing: it is that of the inner tensors.
      requires_grad: PyTorch's, and says nothing: inner tensors require grad, and `requires_grad_()` makes them.
    """
    del storage_offset, layout, device, requires_grad
    if cls not in SUBCLASSES:
        raise SubclassError(f"`{cls.__qualname__}` is no subclass of `ja.Tensor`: derive one, and make that.")
    made = object.__new__(cls)
    shape = tuple(map(int, size))
    made._layout = layout_of(shape, contiguous_stride(shape) if strides is None else tuple(strides), np.dtype(dtype))
    made._offset = 0
    return made


METHODS = {
    "__init_subclass__": classmethod(_note_subclass), "_make_wrapper_subclass": staticmethod(make_wrapper),
    **plain_subclass.METHODS,
}  # fmt: skip
"""What every tensor has because of subclasses."""
