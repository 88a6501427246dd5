"""Other spellings of PyTorch's than those of rows: `ja.Tensor(2, 3)`, `x.new(…)`, `F.relu(x, inplace=True)`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import ArgumentError, AutogradError, TensorTypeError
from jaxaot.facade.dispatch.create import as_dtype, tensor
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.signatures import with_parameters
from jaxaot.facade.indexing.data_dependent import where_true
from jaxaot.facade.kernels.kernels import DTYPE_NAMES, dtype_name
from jaxaot.facade.members import metadata
from jaxaot.facade.members.help import described, sentence_of
from jaxaot.facade.members.row_functions import documented, number_value
from jaxaot.facade.members.typed_storage import TypedStorage
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Size, Tensor
from jaxaot.facade.view_ops.views import alias
from jaxaot.ops.dims import sizes_of
from jaxaot.ops.dtypes import dtype as Dtype
from jaxaot.ops.promotion import default_float
from jaxaot.ops.table import OpSpec, lookup

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
    if isinstance(dtype, type) and isinstance(getattr(dtype, "dtype", None), Dtype):  # `ja.FloatTensor`
        dtype = dtype.dtype
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

    return documented(with_parameters(fn, function, f"{name}=True", n))


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


def embedding_of(functional: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `torch.embedding`, which takes the arguments of that of `nn.functional` in another order."""

    def embedding(
        weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
    ) -> Tensor:
        """Returns the rows of a table at indices; see `nn.functional`.

        Args:
          weight: The table.
          indices: Which rows.
          padding_idx: The row that gets no gradient; none if it is negative.
          scale_grad_by_freq: Whether the gradient of a row is divided by how often it is read.
          sparse: Ignored: gradients are dense.
        """
        row = None if padding_idx < 0 else padding_idx
        return functional(indices, weight, row, None, 2.0, scale_grad_by_freq, sparse)

    return embedding


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


def with_inplace(function: Callable[..., Any], write: Callable[..., Any] | None) -> Callable[..., Any]:
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

    return documented(with_parameters(fn, function, "inplace=False", position))


def with_indices(spec: OpSpec, function: Callable[..., Any], both: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a pooling function that also takes `return_indices`, after its other public parameters."""
    position = sum(not parameter.name.startswith("_") for parameter in spec.schema.parameters)

    @functools.wraps(function)
    def fn(*args: object, **kwargs: Any) -> Any:
        if args[position] if len(args) > position else kwargs.get("return_indices", False):
            return both(*args, **kwargs)
        kwargs.pop("return_indices", None)
        return function(*args[:position], *args[position + 1 :], **kwargs)

    return documented(with_parameters(fn, function, "return_indices=False", position))


def with_varargs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of a list of tensors that also takes them one by one."""

    @functools.wraps(function)
    def fn(*tensors: object, **kwargs: Any) -> Any:
        listed = len(tensors) == 1 and isinstance(tensors[0], (list, tuple))
        return function(tensors[0] if listed else list(tensors), **kwargs)

    return documented(with_parameters(fn, function, "*tensors", 0, ["tensors", "matrices"]))


def with_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `einsum`, which takes its operands as a list or one by one."""

    @functools.wraps(function)
    def fn(equation: str, *operands: Any) -> Tensor:
        listed = len(operands) == 1 and isinstance(operands[0], (list, tuple))
        return function(equation, list(operands[0] if listed else operands))

    return documented(with_parameters(fn, function, "*operands", 1, ["operands", "out"]))


def with_edges(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `histogramdd`, whose second result is the edges of all dims."""

    @functools.wraps(function)
    def fn(*args: object, **kwargs: Any) -> tuple[Tensor, tuple[Tensor, ...]]:
        counts, *edges = function(*args, **kwargs)
        return counts, tuple(edges)

    return fn


def with_from(write: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns a fill that also takes its lower bound as `from`, PyTorch's name, which is a word of Python."""

    @functools.wraps(write)
    def fn(self: Tensor, *args: object, **kwargs: Any) -> Tensor:
        if "from" in kwargs:
            kwargs["low"] = kwargs.pop("from")
            if write.__name__ == "random_" and "to" not in kwargs:
                raise ArgumentError("random_() takes `from` together with `to`: `random_(from, to)` or `random_(to)`")
        return write(self, *args, **kwargs)

    return fn


def where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Returns the elements of this tensor where a condition holds, and those of another elsewhere.

    Args:
      condition: Where it holds.
      other: The other tensor, or a number.
    """
    return call(lookup("where"), (condition, self, other), ())


def repeat(self: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Returns copies of the tensor laid side by side along each dim."""
    return call(lookup("repeat"), (self,), (sizes_of(sizes, repeats),))


def polygamma(self: Tensor, n: int) -> Tensor:
    """Returns the n-th derivative of the digamma function of each element."""
    return call(lookup("polygamma"), (self,), (number_value(n, "n"),))


def method_of_dims(name: str) -> Callable[..., Any]:
    """Returns the method of a row that takes dims, or sizes, one by one or as a sequence."""
    row = lookup(name)

    def of_sizes(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
        return call(row, (self,), (sizes_of(sizes, size),))

    def of_dims(self: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
        return call(row, (self,), (sizes_of(sizes, dims),))

    method = of_sizes if name == "sum_to_size" else of_dims
    return described(method, sentence_of(row), name, "", "torch.Tensor")
