"""Functions of PyTorch that differ from jaxaot's in form: in arguments, in where a result lies, in what hooks get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot.bridge.exchange import copied_from_torch, plain_of, unwrapped, wrapped
from jaxaot.bridge.library import DEVICE, DEVICE_TYPE, FORMATS, is_here, overrides, torch
from jaxaot.bridge.modes import called_back
from jaxaot.bridge.names import OURS, refuses, sends, without_check
from jaxaot.bridge.tensor import HANDLERS, Tensor, call, handle_of, held_by
from jaxaot.errors import ForeignTensorError, NoCounterpartError
from jaxaot.facade.gradients import grad as of_tape
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor as Held
from jaxaot.nn import functional
from jaxaot.nn.packed import PackedSequence, mask_of, padded
from jaxaot.nn.recurrence import run_layers
from jaxaot.nn.utils import rnn
from jaxaot.tape.modes import state

T = torch.Tensor


def _is(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def put(handler: Callable[..., Any]) -> Callable[..., Any]:
        HANDLERS.update(dict.fromkeys(functions, handler))
        return handler

    return put


# -- where values lie ------------------------------------------------------------


class _Left(torch.autograd.Function):
    """From JAX to PyTorch: a gradient of PyTorch's goes on along jaxaot's tape."""

    @staticmethod
    def forward(ctx: Any, handle: Any) -> Any:
        ctx.held = handle.__wrapped__
        return plain_of(ctx.held)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> None:
        of_tape.backward(ctx.held, [copied_from_torch(gradient)], retain_graph=True)


@_is(T.cpu)
def to_cpu(x: Any, *args: object, **kwargs: object) -> Any:
    """Returns a tensor of PyTorch with the values; gradients flow from it into jaxaot's tape."""
    held = held_by(x)
    return _Left.apply(x) if held.requires_grad and state.grad_enabled else plain_of(held)


def to_here(x: Any) -> Any:
    """Returns a tensor of PyTorch on JAX; gradients flow from it into PyTorch's tape."""
    held = copied_from_torch(x)
    if x.requires_grad and torch.is_grad_enabled():
        held.requires_grad_()
        if x.grad_fn is not None:
            held.register_hook(lambda g: torch.autograd.backward(x, plain_of(g), retain_graph=True))
    return handle_of(held)


@_is(T.to)
def to(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns a tensor in another dtype, or on another device."""
    wanted = dict(zip(("a", "b", "non_blocking", "copy"), args, strict=False)) | kwargs
    if len(args) > 1 and isinstance(args[1], bool):  # to(dtype or other, non_blocking, copy)
        wanted = dict(zip(("a", "non_blocking", "copy"), args, strict=False)) | kwargs
    dtype, device, form = kwargs.get("dtype"), kwargs.get("device"), kwargs.get("memory_format")
    for value in (wanted.get("a"), wanted.get("b"), kwargs.get("other")):
        if isinstance(value, torch.dtype):
            dtype = value
        elif value is not None and isinstance(value, torch.Tensor):
            dtype, device = value.dtype, value.device
        elif isinstance(value, (str, torch.device)):
            device = value
    if not isinstance(x, Tensor):
        x = to_here(x)
    kind = None if device is None or is_here(device) else torch.device(device).type
    if kind not in (None, "cpu", "meta"):
        raise NoCounterpartError(
            f"`x.to({str(device)!r})`: tensors are on JAX, `ja.torch.device()`, or on the CPU. JAX's own devices are "
            "chosen by `jax.default_device`, before `ja.torch.move`."
        )
    options: dict[str, Any] = {"copy": bool(wanted.get("copy", False))}
    if form not in (None, torch.preserve_format):
        options["memory_format"] = FORMATS[form]
    held = held_by(x)
    if kind == "meta":
        options["device"] = "meta"
    made = held.to(held._layout.dtype if dtype is None else unwrapped(dtype), **options)
    return to_cpu(wrapped(made)) if kind == "cpu" else wrapped(made)


@_is(T.type)
def type_(x: Any, dtype: Any = None, non_blocking: bool = False, **_: object) -> Any:
    """Returns the name of a tensor's type, or the tensor in another one."""
    if dtype is None:
        return f"torch.{DEVICE_TYPE}.{plain_of(held_by(x)[:0] if x.ndim else held_by(x)).type().rpartition('.')[2]}"
    return to(x, getattr(torch, dtype.removeprefix("torch.")) if isinstance(dtype, str) else dtype)


@_is(T.type_as)
def type_as(x: Any, other: Any) -> Any:
    """Returns a tensor in the dtype of another, where that is."""
    return to(x, other)


@_is(T.cuda, T.xpu, T.ipu, T.mtia, T.pin_memory, T.share_memory_)
def elsewhere(*_: object, **__: object) -> Any:
    """Refuses to move a tensor to a device of PyTorch's."""
    raise NoCounterpartError(
        "The tensor is on JAX, and no device or memory of PyTorch's. `ja.torch.to_torch(x)` takes it to PyTorch."
    )


@_is(T.is_pinned, T.is_inference, T.is_shared, torch.is_inference, T.is_distributed, torch.is_distributed)
def is_not(*_: object, **__: object) -> bool:
    """Returns False: what nothing on JAX is."""
    return False


_NOT = [
    "cpu",
    "cuda",
    "ipu",
    "maia",
    "meta",
    "mkldnn",
    "mps",
    "mtia",
    "nested",
    "quantized",
    "sparse",
    "sparse_csr",
    "vulkan",
    "xpu",
]
HANDLERS.update({getattr(T, f"is_{n}").__get__: is_not for n in _NOT if hasattr(T, f"is_{n}")})
HANDLERS[T.get_device] = HANDLERS[torch.get_device] = lambda x: DEVICE.index
HANDLERS[T.is_xla.__get__] = lambda x: True
HANDLERS[T.grad_dtype.__get__] = lambda x: x.dtype
HANDLERS[T._is_all_true], HANDLERS[T._is_any_true] = (lambda x: x.all()), (lambda x: x.any())
for _name in ("storage_type", "index", "__setstate__"):
    HANDLERS[getattr(T, _name)] = refuses(f"torch.Tensor.{_name}")
HANDLERS[T.sparse_dim], HANDLERS[T.dense_dim] = (lambda x: 0), (lambda x: x.ndim)
HANDLERS[T.is_meta.__get__] = lambda x: held_by(x)._is_without_values
HANDLERS[T.name.__get__] = HANDLERS[T._post_accumulate_grad_hooks.__get__] = lambda x: None


@_is(T.copy_)
def copy_(x: Any, source: Any, non_blocking: bool = False) -> Any:
    """Copies between tensors, those of PyTorch too."""
    if not isinstance(x, Tensor):
        return x.copy_(to_cpu(source))
    held_by(x).copy_(held_by(source) if isinstance(source, Tensor) else held_by(to_here(source)))
    return x


@_is(T.__setitem__)
def set_item(x: Any, index: Any, value: Any) -> None:
    """Writes a part of a tensor."""
    if not isinstance(x, Tensor):
        raise ForeignTensorError(
            "A tensor of PyTorch's own is written from a tensor on JAX. Move it before: `x = ja.torch.to_jax(x)`."
        )
    held_by(x)[_indices(index)] = unwrapped(value)


@_is(T.__getitem__)
def get_item(x: Any, index: Any) -> Any:
    """Returns a part of a tensor; indices may be of PyTorch's own, as on other devices."""
    if not isinstance(x, Tensor):
        raise ForeignTensorError("A tensor of PyTorch's own is indexed by one on JAX: `ja.torch.to_torch(index)`.")
    return wrapped(held_by(x)[_indices(index)])


@_is(torch.ops.aten.slice, torch.ops.aten.slice.Tensor)
def slice_(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """Returns a part of a tensor along a dim."""
    return get_item(x, (slice(None),) * (dim % x.ndim) + (slice(start, end, step),))


def _indices(index: Any) -> Any:
    if state.trace is None and isinstance(index, torch.Tensor) and not isinstance(index, Tensor):
        return copied_from_torch(index)
    if state.trace is None and type(index) is tuple:
        return tuple(map(_indices, index))
    return unwrapped(index)


@_is(T.numpy)
def numpy(x: Any, *, force: bool = False) -> Any:
    """Returns the values in a NumPy array of its own."""
    return np.array(held_by(x).numpy(force=force))


@_is(T.__array__)
def array(x: Any, dtype: Any = None, copy: Any = None) -> Any:
    """Returns the values as NumPy asks for them."""
    return np.array(held_by(x).numpy(), dtype)


@_is(torch.result_type)
def result_type(one: Any, other: Any) -> Any:
    """Returns the dtype that two operands are promoted to."""
    like = lambda v: torch.empty(v.shape, dtype=v.dtype, device="meta") if isinstance(v, torch.Tensor) else v
    return torch.result_type(like(one), like(other))


@_is(torch._has_compatible_shallow_copy_type)
def is_compatible(one: Any, other: Any) -> bool:
    """Returns whether `one.data = other` works."""
    return isinstance(one, Tensor) == isinstance(other, Tensor)


# -- gradients ------------------------------------------------------------


@_is(T.backward, torch.autograd.backward)
def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False,
    inputs: Any = None, gradient: Any = None,
) -> None:  # fmt: skip
    """Adds the gradients of tensors to the `.grad` of the leaves that they depend on."""
    given = unwrapped(grad_tensors if gradient is None else gradient)
    inputs = list(inputs.values()) if isinstance(inputs, dict) else inputs
    with recording(state.grad_enabled):
        of_tape.backward(unwrapped(tensors), given, retain_graph, create_graph, _edges(inputs))


def _edges(inputs: Any) -> Any:
    return None if inputs is None else unwrapped(inputs if isinstance(inputs, T) else list(inputs))


@_is(torch.autograd.grad)
def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Returns the gradients of outputs with respect to inputs."""
    return wrapped(of_tape.grad(unwrapped(outputs), unwrapped(inputs), unwrapped(grad_outputs), *args, **kwargs))


@_is(T.register_hook)
def register_hook(x: Any, hook: Callable[[Any], Any]) -> Any:
    """Calls a hook with each gradient of a tensor."""
    return held_by(x).register_hook(lambda gradient: unwrapped(called_back(hook, wrapped(gradient))))


@_is(T.register_post_accumulate_grad_hook)
def register_post_hook(x: Any, hook: Callable[[Any], Any]) -> Any:
    """Calls a hook with a leaf when its gradient was added."""
    return held_by(x).register_post_accumulate_grad_hook(lambda held: called_back(hook, wrapped(held)))


# -- recurrences, and names that C++ has ------------------------------------------------------------


def _recurrence(mode: str) -> Callable[..., Any]:
    def run(input: Any, *args: Any) -> Any:
        is_packed = not isinstance(args[1], bool) and isinstance(args[2], (list, tuple))
        batch_sizes, (hx, weights, has_biases, n_layers, dropout, training, both, *rest) = (
            (args[0], args[1:]) if is_packed else (None, args)
        )
        x, states = held_by(input), tuple(map(held_by, hx if isinstance(hx, (tuple, list)) else (hx,)))
        weights, n = list(map(held_by, weights)), len(weights) // (n_layers * (2 if both else 1))
        layers = [_weights(weights[i : i + n], has_biases) for i in range(0, len(weights), n)]
        packed, mask = None, None
        if batch_sizes is not None:
            packed = PackedSequence.of_sizes(x, batch_sizes.tolist())
            x, mask = padded(packed), mask_of(packed)
        is_first = not is_packed and bool(rest and rest[0])
        x = x.transpose(0, 1) if is_first else x
        output, after = run_layers(mode, x, states, layers, 2 if both else 1, dropout, training, mask)
        output = output[packed.places] if packed is not None else output.transpose(0, 1) if is_first else output
        return (wrapped(output), *map(wrapped, after))

    return run


def _weights(given: Sequence[Any], has_biases: bool) -> Sequence[Any]:
    n = 4 if has_biases else 2
    biases = given[2:n] if has_biases else (None, None)
    return (*given[:2], *biases, given[n] if len(given) > n else None)


for _name, _mode in (("lstm", "LSTM"), ("gru", "GRU"), ("rnn_tanh", "RNN_TANH"), ("rnn_relu", "RNN_RELU")):
    HANDLERS[getattr(torch, _name)] = _recurrence(_mode)


def _cell(mode: str) -> Callable[..., Any]:
    run = _recurrence(mode)

    def step(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        weights = [w for w in (w_ih, w_hh, b_ih, b_hh) if w is not None]
        states = tuple(h[None] for h in hx) if isinstance(hx, (tuple, list)) else hx[None]
        _, *after = run(input[None], states, weights, len(weights) > 2, 1, 0.0, False, False, False)
        return after[0][0] if len(after) == 1 else tuple(h[0] for h in after)

    return step


for _name, _mode in (("lstm", "LSTM"), ("gru", "GRU"), ("rnn_tanh", "RNN_TANH"), ("rnn_relu", "RNN_RELU")):
    HANDLERS[getattr(torch, f"{_name}_cell")] = _cell(_mode)


@_is(torch._pack_padded_sequence)
def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool) -> Any:
    """Returns the steps of sequences that come longest first, and how many sequences have each step."""
    packed = rnn.pack_padded_sequence(held_by(input), lengths.tolist(), batch_first)
    return wrapped(packed.data), _on_cpu(packed.sizes)


@_is(torch._pad_packed_sequence)
def pad_packed_sequence(data: Any, batch_sizes: Any, batch_first: bool, value: float, total_length: int) -> Any:
    """Returns packed sequences side by side, and their lengths."""
    packed = PackedSequence.of_sizes(held_by(data), batch_sizes.tolist())
    made, _ = rnn.pad_packed_sequence(packed, batch_first, value, total_length if total_length > 0 else None)
    return wrapped(made), _on_cpu((packed.sizes[:, None] > np.arange(packed.sizes[0])).sum(0))


def _on_cpu(numbers: Any) -> Any:
    with torch._C.DisableTorchFunction():
        return torch.from_numpy(np.array(numbers, np.int64))


@_is(torch.norm_except_dim)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """Returns the norms of the slices along a dim."""
    dims = [i for i in range(v.ndim) if i != dim]
    return v.norm(pow) if dim == -1 else torch.linalg.vector_norm(v, pow, dim=dims, keepdim=True)


@_is(torch._weight_norm)
def weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """Returns `v` with the norms `g`."""
    return v * (g / norm_except_dim(v, 2, dim))


@_is(torch.convolution)
def convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Any:  # fmt: skip
    """Returns a convolution of any number of dims."""
    name = f"conv{'_transpose' if transposed else ''}{input.ndim - 2}d"
    more = (output_padding, groups, dilation) if transposed else (dilation, groups)
    return getattr(torch.nn.functional, name)(input, weight, bias, stride, padding, *more)


def _loss(name: str) -> Callable[..., Any]:
    """Returns a loss as C++ has it: a number says what its values are reduced to, and by default nothing does."""
    overloads = getattr(torch.ops.aten, name)
    names = [argument.name for argument in getattr(overloads, overloads.overloads()[0])._schema.arguments]
    names = ["input" if of == "self" else of for of in names]

    def run(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | kwargs
        given["reduction"] = ("none", "mean", "sum")[given.get("reduction", 0)]
        return getattr(torch.nn.functional, name)(**given)

    return run


for _name in (
    "binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss", "hinge_embedding_loss", "kl_div",
    "margin_ranking_loss", "poisson_nll_loss", "triplet_margin_loss",
):  # fmt: skip
    HANDLERS[getattr(torch, _name)] = _loss(_name)


@_is(torch.embedding_bag)
def embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Returns the sums, means or maxima of the rows of bags, and none of what C++ keeps for their gradients."""
    kind, more = ("sum", "mean", "max")[mode], (per_sample_weights, include_last_offset, padding_idx)
    bag = torch.nn.functional.embedding_bag
    return bag(indices, weight, offsets, None, 2.0, scale_grad_by_freq, kind, sparse, *more), None, None, None


@_is(torch.adaptive_max_pool1d)
def adaptive_max_pool1d(input: Any, output_size: Any) -> Any:
    """Returns maxima, and where they are."""
    return torch.nn.functional.adaptive_max_pool1d(input, output_size, True)


@_is(torch.frobenius_norm)
def frobenius_norm(x: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Returns the root of the sum of squares."""
    return torch.linalg.vector_norm(x, 2, dim, keepdim, out=out)


@_is(torch.nuclear_norm)
def nuclear_norm(x: Any, dim: Any = (-2, -1), keepdim: bool = False, *, out: Any = None) -> Any:
    """Returns the sum of singular values."""
    dim, keepdim = ((-2, -1), dim) if isinstance(dim, bool) else (dim, keepdim)
    return torch.linalg.matrix_norm(x, "nuc", dim, keepdim, out=out)


@_is(torch.nn.functional.conv_tbc)
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Returns a convolution along the first dim, channels last."""
    made = torch.nn.functional.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return made.permute(2, 0, 1)


@_is(T.to_dense)
def to_dense(x: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """Returns a tensor as it is, in a dtype: it is dense."""
    return x if dtype is None else x.to(dtype)


@_is(T.as_subclass)
def as_subclass(x: Any, cls: type) -> Any:
    """Returns a tensor on the same memory; classes of PyTorch's have none on JAX."""
    if cls is not T and not issubclass(cls, Tensor):
        raise NoCounterpartError(f"`x.as_subclass({cls.__name__})`: a tensor on JAX is of no class of PyTorch's.")
    return wrapped(held_by(x).view_as(held_by(x)))


@_is(T.__dlpack__)
def dlpack(x: Any, *, stream: Any = -1, **options: Any) -> Any:
    """Returns a capsule of the values; a stream of -1 is none."""
    return held_by(x).__dlpack__(stream=None if stream == -1 else stream, **options)


@_is(T.__cuda_array_interface__.__get__)
def cuda_array_interface(x: Any) -> Any:
    """Has `hasattr` say that there is none."""
    raise AttributeError("A tensor on JAX has no `__cuda_array_interface__`: read it by `__dlpack__`.")


@_is(T.chalf)
def chalf(x: Any, **_: object) -> Any:
    """Refuses a dtype that JAX has not."""
    raise NoCounterpartError("JAX has no dtype `torch.complex32`. Write `x.cfloat()`.")


for _function, _ours in (
    (torch.nn.functional.logsigmoid, functional.logsigmoid),
    (torch.nn.functional.native_channel_shuffle, functional.channel_shuffle),
    (torch.native_channel_shuffle, functional.channel_shuffle),
    (torch.linalg.matmul, OURS.matmul),
    (torch._grouped_mm, functional.grouped_mm),
):
    HANDLERS[_function] = sends(_ours, _ours.__name__)

HANDLERS[torch.nn.functional.triplet_margin_with_distance_loss] = without_check(
    torch.nn.functional.triplet_margin_with_distance_loss  # a function of PyTorch's code is called in it
)
for _name, _other in (
    ("__div__", "__truediv__"), ("__itruediv__", "div_"), ("__idiv__", "div_"), ("__nonzero__", "__bool__"),
    ("__long__", "__int__"), ("_conj_physical", "conj_physical"), 
):  # fmt: skip
    HANDLERS[getattr(T, _name, None) or getattr(torch, _name)] = sends(getattr(Held, _other), _other)

for _name in ("T", "mT", "H", "mH"):
    HANDLERS[getattr(T, _name).__get__] = lambda x, name=_name: wrapped(getattr(held_by(x), name))


HANDLERS.update(
    {f: without_check(f) for name, f in vars(torch.nn.init).items() if name.endswith("_") and hasattr(f, "__code__")}
)


@_is(T.view_as)
def view_as(x: Any, other: Any) -> Any:
    """Returns a view in the shape of another tensor; C++ asks for one of `x` where a Function returns `x` itself."""
    made = wrapped(held_by(x).view_as(held_by(other)))
    if x is other:
        made.__dict__["_may_be_result"] = True
    return made


# -- methods that C++ does not announce ------------------------------------------------------------

_ANNOUNCED = {function for found in overrides.get_overridable_functions().values() for function in found}
_OF_SHELLS = {
    "_make_subclass", "_make_wrapper_subclass", "_dtensor__new__", "_python_dispatch", "_has_symbolic_sizes_strides",
}  # fmt: skip
"""What makes shells, or says of the class that it has one."""


def _announced(name: str) -> Callable[..., Any]:
    function = getattr(T, name)
    return lambda self, *args, **kwargs: call(function, (self, *args), kwargs)


for _name, _member in vars(torch._C.TensorBase).items():
    _own = getattr(T, _name)
    if _name in vars(Tensor) or _name in _OF_SHELLS or _own in _ANNOUNCED:
        continue
    if getattr(_own, "__get__", None) not in _ANNOUNCED and callable(_member):
        setattr(Tensor, _name, _announced(_name))
