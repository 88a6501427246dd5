"""Parameters and buffers: tensors that a module keeps under a name (`torch.nn.Parameter`, `torch.nn.Buffer`).

Both are plain tensors that are marked as such. Operations on them make plain tensors without the mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxaot.errors import TensorTypeError
from jaxaot.facade.create import as_tensor
from jaxaot.facade.methods import FUNCTIONS
from jaxaot.facade.tensor import Tensor

_empty = FUNCTIONS[""]["empty"]


class _Marked(type):
    """The class of `Parameter` and `Buffer`: their instances are the tensors that are marked so."""

    marks: tuple[str, ...] = ()

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_mark", None) in cls.marks


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

else:

    class Parameter(metaclass=_Marked):
        """A tensor that is trained: assigned to an attribute of a module, it is one of its parameters.

        Args:
          data: Its values, whose memory it shares.
          requires_grad: Whether gradients are wanted.
        """

        marks = ("parameter",)

        def __new__(cls, data=None, requires_grad=True):
            return _marked(data, requires_grad, "parameter")

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
