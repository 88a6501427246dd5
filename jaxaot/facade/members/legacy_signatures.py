"""PyTorch's old spellings that programs still use: `ja.Tensor(2, 3)`, `x.new(…)`, `x.type()`, `x.map_(…)`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import AutogradError, TensorTypeError
from jaxaot.facade.dispatch.create import as_dtype, tensor
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.signatures import with_parameters
from jaxaot.facade.indexing.data_dependent import where_true
from jaxaot.facade.kernels.kernels import DTYPE_NAMES, dtype_name
from jaxaot.facade.members import metadata
from jaxaot.facade.members.typed_storage import TypedStorage
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Size, Tensor
from jaxaot.facade.view_ops.views import alias
from jaxaot.ops.promotion import default_float
from jaxaot.ops.table import lookup

_KINDS = {kind: name for name, kind in DTYPE_NAMES.items()}


def construct(args: tuple[Any, ...], dtype: DTypeLike | None = None) -> Tensor:
    """Returns what PyTorch's old constructors make: of numbers a tensor of that shape, of a sequence one of its values.

    Args:
      args: What the constructor is given.
      dtype: The dtype; by default that of floats, whatever the values are.

    Raises:
      TensorTypeError: If it is neither.
    """
    wanted = default_float() if dtype is None else as_dtype(dtype)
    if not args:
        return tensor([], dtype=wanted)
    first = args[0]
    if len(args) == 1 and not isinstance(first, Size):
        if isinstance(first, (Storage, TypedStorage)):
            return metadata.set_(tensor([], dtype=wanted), first)
        if isinstance(first, Tensor):
            if first.dtype != wanted:
                raise TensorTypeError(
                    f"expected a tensor of {wanted} and got one of {first.dtype}. Write `x.to(dtype)`, or "
                    "`x.detach().clone()` for a copy."
                )
            return alias(first.detach())
        if isinstance(first, (list, tuple, range, np.ndarray, jax.Array)) and np.ndim(first) != 0:
            return tensor(list(first) if isinstance(first, range) else first, dtype=wanted)
    sizes = tuple(first) if isinstance(first, Size) else args
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes):
        raise TensorTypeError(
            f"`ja.Tensor(…)` takes sizes or a sequence, not {type(sizes[0]).__name__}; write `ja.tensor(value)` for a "
            "tensor of a number."
        )
    return call(lookup("empty"), (), (tuple(int(n) for n in sizes), wanted))


def made_alike(self: Tensor, *args: Any, size: Sequence[int] | None = None) -> Tensor:
    """Returns a tensor of this dtype: of sizes, `x.new(2, 3)`, or with the values of a sequence, `x.new([1, 2])`."""
    return construct(args if size is None else (Size(size),), self.dtype)


def kind_of(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Returns the name of PyTorch's class for the dtype, as `"torch.FloatTensor"`, or the tensor as another dtype.

    Args:
      dtype: A dtype, or such a name; None for the name.
      non_blocking: Accepted and ignored: JAX never waits for a copy.
    """
    del non_blocking
    if dtype is None:
        return f"torch.{dtype_name(self.dtype)}Tensor"
    if dtype is Tensor:
        dtype = default_float()
    if isinstance(dtype, str) and dtype.startswith("torch.") and dtype.endswith("Tensor"):
        kind = dtype.removeprefix("torch.").removesuffix("Tensor")
        if kind not in _KINDS:
            raise TensorTypeError(f"invalid type: '{dtype}'; write a dtype, such as `x.type(ja.float32)`")
        dtype = _KINDS[kind]
    return self.to(dtype)


def _computed(target: Tensor, name: str, fn: Callable[..., Any], others: Sequence[Tensor]) -> Tensor:
    """Writes to each element what a function of Python makes of it and of those of other tensors, and returns it."""
    if not callable(fn):
        raise TensorTypeError(f"{name}: a function is expected, and {type(fn).__name__} is not callable")
    if any(t.requires_grad for t in (target, *others)):
        raise AutogradError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    columns = [t.expand(target.shape).reshape(-1).tolist() for t in (target, *others)]
    values = tensor([fn(*row) for row in zip(*columns, strict=True)], dtype=target.dtype)
    return target.copy_(values.reshape(target.shape))


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by what a function of Python makes of it: slowly, one after the other."""
    return _computed(self, "apply_", callable, ())


def map_(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by what a function of Python makes of it and of that of `other`: one after the other."""
    return _computed(self, "map_", callable, (other,))


def map_with_both(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replaces each element by what a function of Python makes of it and of those of `x` and `y`: one by one."""
    return _computed(self, "map2_", callable, (x, y))


def with_value_second(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `addcmul` or the like that also takes `value` in the second place, as PyTorch's old form does."""
    name = function.__name__

    @functools.wraps(function)
    def fn(input: Tensor, tensor1: Any, tensor2: Tensor, *more: Any, **kwargs: Any) -> Any:
        if not more:
            return function(input, tensor1, tensor2, **kwargs)
        warn_user(
            f"This overload of {name} is deprecated: {name}(value, tensor1, tensor2). "
            f"Write {name}(tensor1, tensor2, value=value)."
        )
        return function(input, tensor2, *more, value=tensor1, **kwargs)

    return with_parameters(fn, function)


def with_shape_of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `unravel_index` that says in PyTorch's words that a tensor is no shape."""

    @functools.wraps(function)
    def unravel_index(indices: Tensor, shape: Any) -> Any:
        if isinstance(shape, Tensor):
            raise TensorTypeError(
                "expected 'shape' to be int or sequence of ints, but got a tensor. Write `shape.tolist()`."
            )
        return function(indices, shape)

    return with_parameters(unravel_index, function)


def where_or_places(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `where` that also takes a condition alone, and then returns where it holds."""

    @functools.wraps(function)
    def where(condition: Tensor, *both: Any, **kwargs: Any) -> Any:
        if both or kwargs:
            return function(condition, *both, **kwargs)
        return where_true(condition)

    return with_parameters(where, function)


def with_table_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `embedding_bag` that also takes the table before the indices, as PyTorch's old form does."""

    @functools.wraps(function)
    def embedding_bag(input: Tensor, weight: Tensor, *more: Any, **kwargs: Any) -> Any:
        both = isinstance(input, Tensor) and isinstance(weight, Tensor)
        if both and input.is_floating_point() and np.issubdtype(weight.dtype, np.integer):
            warn_user(
                "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` "
                "is deprecated, and should now be `embedding_bag(input, weight, ...)`."
            )
            input, weight = weight, input
        return function(input, weight, *more, **kwargs)

    return with_parameters(embedding_bag, function)


def with_ignored(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Returns a function that also takes a flag, after its other parameters, which says nothing here."""
    n = len([p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD])

    @functools.wraps(function)
    def fn(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop(name, None)
        return function(*args[:n], *args[n + 1 :], **kwargs)

    return with_parameters(fn, function, f"{name}=True", n)


def batch_norm_of(functional: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `torch.batch_norm`, which takes the arguments of that of `nn.functional` in another order."""

    def batch_norm(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        training: bool,
        momentum: float,
        eps: float,
        cudnn_enabled: bool = False,
    ) -> Tensor:
        """Normalizes each channel over the batch, and updates the running statistics; see `nn.functional`."""
        del cudnn_enabled
        return functional(input, running_mean, running_var, weight, bias, training, momentum, eps)

    return batch_norm


def instance_norm_of(functional: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `torch.instance_norm`, which takes the arguments of that of `nn.functional` in another order."""

    def instance_norm(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        use_input_stats: bool,
        momentum: float,
        eps: float,
        cudnn_enabled: bool = False,
    ) -> Tensor:
        """Normalizes each channel of each sample, and updates the running statistics; see `nn.functional`."""
        del cudnn_enabled
        return functional(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)

    return instance_norm
