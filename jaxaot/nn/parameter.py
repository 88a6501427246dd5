"""Parameters and buffers: tensors that a module keeps under a name (`torch.nn.Parameter`, `torch.nn.Buffer`).

Both are plain tensors that are marked as such. Operations on them make plain tensors without the mark.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from jaxaot import _trees as pytree
from jaxaot.errors import TensorTypeError
from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op
from jaxaot.facade.wrappers.plain_subclass import plain_of

_empty = FUNCTIONS[""]["empty"]


class _Marked(type):
    """The class of `Parameter` and `Buffer`: their instances are the tensors that are marked so.

    A class that derives from one of them is a subclass of Tensor, whose instances are marked.
    """

    marks: tuple[str, ...] = ()

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        if not any(isinstance(base, cls) for base in bases):
            return super().__new__(cls, name, bases, namespace)
        own = tuple(_own_base(base) if isinstance(base, cls) else base for base in bases)
        return types.new_class(name, own, exec_body=lambda body: body.update(namespace))

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor):
            return False
        instance._ask("mark")
        return getattr(instance, "_mark", None) in cls.marks


@functools.cache
def _own_base(marked: Any) -> type[Tensor]:
    """Returns what classes derive from that are derived from `Parameter` or `Buffer`: ops of it make plain tensors."""

    class Own(Tensor):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            tensor = marked(*args, **kwargs)
            made = object.__new__(cls)
            made.__dict__["plain"], made._mark = plain_of(tensor), tensor._mark
            return made

    def dispatch(cls: type, op: Op, types: Any, args: Any, kwargs: Any) -> Any:
        open_one = lambda value: vars(value)["plain"] if isinstance(value, Own) else value
        opened, named = pytree.mapped(open_one, (args, kwargs), is_leaf=lambda value: isinstance(value, Tensor))
        return op(*opened, **named)

    Own.__tensor_dispatch__ = classmethod(dispatch)
    return Own


def _marked(data: Any, requires_grad: bool, mark: str) -> Tensor:
    if data is None:
        data = _empty(0)
    elif not isinstance(data, Tensor):
        data = as_tensor(data)
    made = data.detach()
    made._mark = mark
    return made.requires_grad_(requires_grad)


if TYPE_CHECKING:

    class Parameter(Tensor):
        """A tensor that is trained: assigned to an attribute of a module, it is one of its parameters."""

        def __init__(self, data: Any = None, requires_grad: bool = True) -> None: ...

    class Buffer(Tensor):
        """A tensor that belongs to the state of a module and is not trained."""

        def __init__(self, data: Any = None, *, persistent: bool = True) -> None: ...

    class UninitializedParameter(Parameter):
        """A parameter of a lazy layer before its first call, which has no size yet."""

        def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None: ...

else:

    class Parameter(metaclass=_Marked):
        """A tensor that is trained: assigned to an attribute of a module, it is one of its parameters.

        Args:
          data: Its values, whose memory it shares.
          requires_grad: Whether gradients are wanted.
        """

        marks = ("parameter", "waiting")

        def __new__(cls, data=None, requires_grad=True):
            return _marked(data, requires_grad, "parameter")

    class UninitializedParameter(metaclass=_Marked):
        """A parameter of a lazy layer before its first call, which has no size yet.

        Args:
          requires_grad: Whether gradients are wanted.
          device: Where it will be.
          dtype: Of which dtype it will be.
        """

        marks = ("waiting",)

        def __new__(cls, requires_grad=True, device=None, dtype=None):
            made = _empty(0, dtype=dtype)
            return _marked(made if device is None else made.to(device=device), requires_grad, "waiting")

    class Buffer(metaclass=_Marked):
        """A tensor that belongs to the state of a module and is not trained.

        Args:
          data: Its values, whose memory it shares.
          persistent: Whether it is part of `state_dict()`.
        """

        marks = ("buffer", "transient")

        def __new__(cls, data=None, *, persistent=True):
            if data is not None and not isinstance(data, Tensor):
                raise TensorTypeError(f"A Buffer is made of a tensor, not of {type(data).__name__}.")
            return _marked(data, False, "buffer" if persistent else "transient")
