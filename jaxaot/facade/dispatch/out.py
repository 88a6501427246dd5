"""Ops with `out=`: results are stored in tensors that are given, which are resized to fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot.errors import ArgumentError, AutogradError, TensorTypeError
from jaxaot.facade.dispatch.arguments import STAND_INS, flatten
from jaxaot.facade.dispatch.dispatch import call, call_uncast
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.dispatch.write import check_writable, write_value
from jaxaot.facade.kernels.kernels import fit_into
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import SUBCLASSES, holds_subclass
from jaxaot.facade.trace_state import refuses_unrecorded
from jaxaot.ops.table import OpSpec, lookup
from jaxaot.tape.modes import state

_AS_OUT = ("sum", "prod", "cumsum", "cumprod")
"""Ops that compute in the dtype of `out=` where none is given."""


def call_out(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], out: Any, generator: Any = None) -> Any:
    """Runs an op and stores its results in the tensors given as `out=`, which are resized to fit.

    Raises:
      AutogradError: If the op would be recorded.
      DtypeError: If `out` cannot hold the results' kind of number.
    """
    if SUBCLASSES and holds_subclass((*dynamic, out)):
        return _call_out_wrapper(spec, dynamic, static, out, generator)
    if state.dual is not None:
        return state.dual.call_out(spec, dynamic, static, out, generator)
    if spec.schema.n_results == 1 and isinstance(out, (tuple, list)):
        raise TensorTypeError(f"{spec.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    outs = out if isinstance(out, (tuple, list)) else (out,)
    flat, _ = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
    records = state.grad_enabled and any(isinstance(v, Tensor) and v.requires_grad for v in (*flat, *outs))
    if records and refuses_unrecorded():
        raise AutogradError(
            f"{spec.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    if spec.name in _AS_OUT and isinstance(outs[0], Tensor):
        names = [p.name for p in spec.schema.static]
        static = tuple(
            outs[0]._layout.dtype if n == "dtype" and v is None else v for n, v in zip(names, static, strict=True)
        )
    results = call_uncast(spec, dynamic, static, generator)
    values = results if isinstance(results, (tuple, list)) else (results,)
    if len(outs) != len(values):
        raise ArgumentError(f"{spec.name}() returns {len(values)} tensors, but out= names {len(outs)}.")
    for target, result in zip(outs, values, strict=True):
        if not isinstance(target, Tensor):
            if type(target) in STAND_INS:
                target.settled(f"`{spec.name}(out=…)`")
            raise TensorTypeError(f"{spec.name}(): argument 'out' must be Tensor, not {type(target).__name__}")
        if spec.name == "bernoulli" and result.dtype != target.dtype:
            result = call(lookup("cast"), (result,), (target.dtype,))  # zeros and ones, which any dtype holds
        value = fit_into(result._read(), tuple(result.shape), target.dtype)
        if target._layout.size != tuple(result.shape):
            if target._layout.numel:
                warn_user(
                    f"An output with one or more elements was resized since it had shape {list(target._layout.size)}, "
                    f"which does not match the required output shape {list(result.shape)}. This behavior is "
                    "deprecated, and in a future PyTorch release outputs will not be resized unless they have zero "
                    "elements. Give an output of that shape, or an empty one: `out.resize_(0)`."
                )
            target.resize_(tuple(result.shape))
        if records:
            call_inplace(lookup("copy"), (target, result), (False,))
            continue
        check_writable(target, False)
        write_value(target, value)
    return outs[0] if spec.schema.n_results == 1 else spec.pack(outs)


def _call_out_wrapper(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], out: Any, generator: Any) -> Any:
    """As `call_out`, with wrappers among the arguments: what it makes is copied to the targets."""
    results = call_uncast(spec, dynamic, static, generator)
    targets = out if isinstance(out, (tuple, list)) else (out,)
    values = results if isinstance(results, (tuple, list)) else (results,)
    for target, value in zip(targets, values, strict=True):
        call_inplace(lookup("copy"), (target, value), (False,))
    return out if isinstance(out, Tensor) else spec.pack(targets)
