"""Decorators of the two halves of a custom Function: its backward runs under the autocast of its forward."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxaot.facade.dispatch.autocast_operands import cast
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.tape.autocast import autocast, get_autocast_dtype, is_autocast_enabled


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str | None = None, cast_inputs: Any = None
) -> Callable[..., Any]:
    """Decorates the `forward` of a custom Function, whose first argument is its `ctx`.

    Args:
      fwd: The forward.
      device_type: As for `autocast`.
      cast_inputs: A dtype: under autocast, floats among the arguments are cast to it, and the forward runs without
        autocast. None: it runs under the autocast of the call.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: object, **kwargs: Any) -> Any:
        is_on = is_autocast_enabled(device_type)
        ctx._autocast = (is_on and cast_inputs is None, get_autocast_dtype(device_type))
        if not is_on or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        dtype = np.dtype(cast_inputs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast_inputs(args, dtype), **_cast_inputs(kwargs, dtype))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str | None = None) -> Callable[..., Any]:
    """Decorates the `backward` of a custom Function whose forward has `custom_fwd`: both run under one autocast.

    Args:
      bwd: The backward.
      device_type: As for `autocast`.
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: object, **kwargs: Any) -> Any:
        is_on, dtype = ctx._autocast
        with autocast(device_type, enabled=is_on, dtype=dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated


def _cast_inputs(value: object, dtype: np.dtype) -> Any:
    if isinstance(value, dict):
        return {key: _cast_inputs(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_cast_inputs(item, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return cast(call, value, dtype)
