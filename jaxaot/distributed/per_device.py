"""What each device holds and exchanges in the programs of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.api import trace
from jaxaot.lower.on_devices import DeviceProgram, device_program
from jaxaot.runtime.compiled import compiled_function_of
from jaxaot.runtime.on_devices import device_programs


def per_device(fn: Callable[..., Any], /, *args: object, **kwargs: Any) -> dict[str, DeviceProgram]:
    """Returns what one device does in the programs of a call: `"forward"`, and `"backward"` if there is one.

        for name, program in ja.distributed.per_device(step, batch).items():
            print(name, program)              # collectives with their bytes, and what a device holds

    Nothing is run; the programs are compiled once more, by themselves.

    Args:
      fn: A function under `ja.compile`, or one of tensors, which is traced; or one under `ja.jit` or `jax.jit`, whose
        program is called `"program"`.
      *args: The arguments of the call, placed as they will be.
      **kwargs: Its keyword arguments.
    """
    compiled = compiled_function_of(fn)
    if compiled is None and hasattr(fn, "lower"):
        return {"program": device_program(fn.lower(*args, **kwargs).compile())}  # pyright: ignore[reportFunctionMemberAccess]
    traced = trace(fn, *args, **kwargs)
    if not traced.needs_backward:
        return device_programs(traced, None)
    cut = compiled._inspect.cut if compiled is not None else lambda traced: traced.joint().partition()
    return device_programs(traced, cut(traced))
