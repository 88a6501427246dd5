"""Values from PyTorch to JAX and back: tensors by dlpack, without a copy where both take the memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxaot.bridge.library import DEVICE_TYPE, FORMATS, TO_JAX, TO_TORCH, need_wide_dtypes, torch
from jaxaot.bridge.tensor import HANDLERS, Tensor, handle_of, held_by
from jaxaot.errors import ForeignTensorError, NoCounterpartError
from jaxaot.facade.dispatch.create import tensor as tensor_of
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Size
from jaxaot.facade.memory.tensor import Tensor as Held
from jaxaot.ops.dtypes import dtype as Dtype
from jaxaot.tape.modes import state

_PLAIN = {int, float, bool, complex, str, type(None), type(Ellipsis)}
_BY_FLOATS = {torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2}
"""dtypes that NumPy has not; float32 holds their values."""


def copied_from_torch(tensor: Any) -> Held:
    """Returns a tensor of jaxaot with the values and strides of one of PyTorch, in memory of its own.

    Raises:
      NoCounterpartError: If it is sparse, nested or quantized.
    """
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        raise NoCounterpartError(
            f"A tensor of the layout {tensor.layout} has no counterpart on JAX. Write `x.to_dense()`."
        )
    found, empty = tensor.detach(), FUNCTIONS[""]["empty"]
    if found.device.type == "meta":
        return empty(tuple(found.shape), dtype=TO_JAX[found.dtype], device="meta")
    found = found.cpu().resolve_conj().resolve_neg()
    if found.dtype in _BY_FLOATS:
        held = tensor_of(found.float().numpy()).to(TO_JAX[found.dtype])
    else:
        held = tensor_of(found.numpy())
    is_dense = found.numel() and 0 not in found.stride()
    if is_dense and tuple(held.stride()) != found.stride():
        laid_out = FUNCTIONS[""]["empty_strided"](tuple(found.shape), found.stride(), dtype=held.dtype)
        held = laid_out.copy_(held)
    return held


def to_jax(value: Any) -> Any:
    """Returns PyTorch's tensors on JAX: handles, in the containers that they came in.

    Args:
      value: A tensor, or lists, tuples and dicts of tensors. What is on JAX already stays as it is, and so does all
        that is no tensor. Tensors keep dtype, strides and `requires_grad`; their values are copied.

    Raises:
      DtypeError: If JAX has no dtypes of 64 bits.
    """
    need_wide_dtypes()

    def move(leaf: Any) -> Any:
        if isinstance(leaf, Held):
            return handle_of(leaf)
        if not isinstance(leaf, torch.Tensor) or isinstance(leaf, Tensor):
            return leaf
        return handle_of(copied_from_torch(leaf).requires_grad_(leaf.requires_grad))

    return torch.utils._pytree.tree_map(move, value)


def plain_of(held: Held) -> Any:
    """Returns a tensor of PyTorch on the CPU with the values of one of jaxaot, in memory of its own."""
    if held._is_without_values:
        return torch.empty(tuple(held.shape), dtype=TO_TORCH[held._layout.dtype], device="meta")
    values = np.asarray(held.detach().jax())
    wanted = TO_TORCH[values.dtype]
    if wanted in _BY_FLOATS:
        return torch.from_numpy(values.astype(np.float32)).to(wanted)
    return torch.from_numpy(np.array(values))


def to_torch(value: Any) -> Any:
    """Returns tensors on JAX as PyTorch's own on the CPU, detached, in the containers that they came in.

    Args:
      value: A handle or a tensor of jaxaot, or lists, tuples and dicts of them, such as `model.state_dict()`.
    """

    def move(leaf: Any) -> Any:
        return plain_of(leaf if isinstance(leaf, Held) else held_by(leaf)) if isinstance(leaf, (Held, Tensor)) else leaf

    return torch.utils._pytree.tree_map(move, value)


def pickled(handle: Any) -> Any:
    """Returns what a file holds for a handle: a tensor or a Parameter of PyTorch."""
    held = handle.__wrapped__
    plain = plain_of(held)
    if handle.__dict__.get("_is_param"):
        return torch.nn.Parameter(plain, held.requires_grad)
    return plain.requires_grad_(held.requires_grad and held.is_leaf)


def foreign(tensor: Any) -> Held:
    """Returns a tensor of PyTorch that is used with tensors on JAX, where that is allowed: one number, eagerly.

    Raises:
      ForeignTensorError: If it is not.
    """
    if state.trace is not None:
        raise ForeignTensorError(
            f"A compiled function reads a tensor of PyTorch's own, of shape {tuple(tensor.shape)}. Its value would "
            "be a constant of the program, whatever it is later. Move it to JAX outside: `x = ja.torch.to_jax(x)`, or "
            "`ja.torch.move(module)` for what modules and optimizers hold."
        )
    if tensor.dim() and tensor.device.type != "meta":
        raise ForeignTensorError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{DEVICE_TYPE}:0 and {tensor.device}: one of shape {tuple(tensor.shape)} is PyTorch's own. Move it "
            "to JAX, `x = ja.torch.to_jax(x)`, or make it there: `with ja.torch.scope(): ...`."
        )
    return copied_from_torch(tensor)


def unwrapped(value: Any) -> Any:
    """Returns an argument as functions of jaxaot take it."""
    cls = type(value)
    if cls in _PLAIN:
        return value
    if cls is Tensor:
        return held_by(value)
    if cls is torch.dtype:
        if value not in TO_JAX:
            raise NoCounterpartError(f"JAX has no dtype `{value}`. Write one of {', '.join(map(str, TO_JAX))}.")
        return TO_JAX[value]
    if cls is torch.Size:
        return tuple(value)
    if cls is torch.memory_format:
        return FORMATS[value]
    if isinstance(value, torch.Tensor):
        return held_by(value) if isinstance(value, Tensor) else foreign(value)
    if isinstance(value, tuple):
        return value._make(map(unwrapped, value)) if hasattr(value, "_make") else tuple(map(unwrapped, value))
    if cls is list:
        return list(map(unwrapped, value))
    if cls is dict:
        return {key: unwrapped(item) for key, item in value.items()}
    if cls is slice and any(isinstance(v, torch.Tensor) for v in (value.start, value.stop, value.step)):
        return slice(*map(unwrapped, (value.start, value.stop, value.step)))
    return value


def wrapped(result: Any) -> Any:
    """Returns a result of jaxaot as PyTorch's code takes it."""
    cls = type(result)
    if cls is Held:
        return handle_of(result)
    if cls in _PLAIN:
        return result
    if cls is Size:
        return torch.Size(result)
    if cls is Dtype or isinstance(result, np.dtype):
        return TO_TORCH[np.dtype(result)]
    if isinstance(result, tuple):
        return result._make(map(wrapped, result)) if hasattr(result, "_make") else tuple(map(wrapped, result))
    if cls is list:
        return list(map(wrapped, result))
    if cls is dict:
        return {key: wrapped(item) for key, item in result.items()}
    return result


HANDLERS[held_by] = unwrapped
HANDLERS["pickled"] = pickled


def made_in_cpp(plain: Any) -> Any:
    """Returns what C++ wrote numbers to, on JAX; whether it has a gradient is said afterwards."""
    made = handle_of(copied_from_torch(plain), may_have_gradient=False)
    made.__dict__["_made"] = True
    return made


HANDLERS["made"] = made_in_cpp
