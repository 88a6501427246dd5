"""Two tensors that go through one program side by side; what tests of subclasses use, as PyTorch's do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot import _trees as pytree
from jaxaot.errors import MissingMemoryError, ShapeMismatchError, TensorTypeError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op


class TwoTensor(Tensor):
    """A pair of tensors of one shape and dtype: each operation is carried out on both.

    Args:
      a: The first.
      b: The second.
    """

    a: Tensor
    b: Tensor

    @staticmethod
    def __new__(cls, a: Tensor, b: Tensor) -> TwoTensor:
        if not isinstance(a, Tensor) or not isinstance(b, Tensor):
            raise TensorTypeError(
                f"TwoTensor(): two tensors are expected, not {type(a).__name__} and {type(b).__name__}."
            )
        if a.shape != b.shape or a.dtype != b.dtype:
            raise ShapeMismatchError(
                f"TwoTensor(): both tensors are of one shape and dtype, and these are {a.dtype}{list(a.shape)} and "
                f"{b.dtype}{list(b.shape)}."
            )
        return Tensor._make_wrapper_subclass(cls, a.shape, a.stride(), dtype=a.dtype)

    def __init__(self, a: Tensor, b: Tensor):
        self.a = a
        self.b = b

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["a", "b"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: dict[str, Tensor], context: None, size: object, stride: object) -> TwoTensor:
        return cls(inner["a"], inner["b"])

    @classmethod
    def __tensor_dispatch__(cls, op: Op, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented  # another class may know how the two go together
        if op.is_inplace and not isinstance(args[0], TwoTensor):
            return NotImplemented  # one tensor does not hold two results
        is_tensor = lambda value: isinstance(value, Tensor)

        def run(name: str) -> Any:
            pick = lambda value: getattr(value, name) if isinstance(value, TwoTensor) else value
            picked_args, picked_kwargs = pytree.mapped(pick, (args, kwargs), is_leaf=is_tensor)
            return op(*picked_args, **picked_kwargs)

        pair = lambda a, b: cls(a, b) if is_tensor(a) else _common(op, a, b)
        return pytree.mapped(pair, run("a"), run("b"), is_leaf=is_tensor)


def _common(op: Op, a: object, b: object) -> object:
    """Returns what Python gets of both, such as a number: one value does not stand for two."""
    if a != b and not (a != a and b != b):
        raise MissingMemoryError(
            f"`{op.name}` of a TwoTensor is {a!r} for the first tensor and {b!r} for the second, and Python takes one "
            "value. Ask its inner tensors, `.a`, `.b`."
        )
    return a
