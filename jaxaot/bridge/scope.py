"""Where PyTorch's factories make tensors on JAX: inside `scope()`, in the forward of moved modules, and in traces."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from jaxaot.bridge import forms
from jaxaot.bridge.library import DEVICE, DEVICE_TYPE, is_here, need_wide_dtypes, overrides, torch
from jaxaot.bridge.modes import take_seed
from jaxaot.bridge.tensor import MAKING, Tensor, call
from jaxaot.errors import NoCounterpartError
from jaxaot.tape.modes import state
from jaxaot.tracer.trace import AROUND_TRACES

_FACTORIES = {
    getattr(torch, name)
    for name in (
        "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_permuted",
        "empty_strided", "eye", "from_numpy", "full", "hamming_window", "hann_window", "kaiser_window", "linspace",
        "logspace", "normal", "ones", "rand", "randint", "randn", "randperm", "range", "scalar_tensor", "tensor",
        "tril_indices", "triu_indices", "zeros",
    )
}  # fmt: skip
_MOVES = {torch.Tensor.to, torch.Tensor.type_as}
_LIKE = {getattr(torch, f"{name}_like") for name in ("empty", "full", "ones", "rand", "randint", "randn", "zeros")}


class _Steps(threading.local):
    """Whether a step of an optimizer is traced in this thread."""

    counts = False


_steps = _Steps()


class _Entered(threading.local):
    """What ends the forwards of moved modules that run in this thread."""

    def __init__(self) -> None:
        self.forwards: list[contextlib.ExitStack] = []


ENTERED = _Entered()


def begin() -> None:
    """Has factories make tensors on JAX until `end`; one mode does for all that begin inside of each other."""
    ENTERED.forwards.append(contextlib.ExitStack())
    if len(ENTERED.forwards) == 1:
        ENTERED.forwards[-1].enter_context(_Factories())


def end(n: int) -> None:
    """Ends all but the first `n`: a trace that ends inside of a forward does not come to that one's end."""
    while len(ENTERED.forwards) > n:
        ENTERED.forwards.pop().close()


class _Factories(overrides.TorchFunctionMode):
    """Makes tensors on JAX that say no other device."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _FACTORIES:
            device = None if _steps.counts else kwargs.get("device")
            if device is None or is_here(device):
                return _made(func, args, kwargs)
        elif func in _MOVES and type(args[0]) is not Tensor and not isinstance(args[0], Tensor):
            named = (*args[1:], *kwargs.values())
            if any(isinstance(value, Tensor) or is_here_named(value) for value in named):
                return forms.to(*args, **kwargs)
        elif func in _LIKE and not isinstance(args[0], Tensor) and is_here(kwargs.get("device")):
            return call(func, (forms.to_here(args[0]), *args[1:]), kwargs)
        return func(*args, **kwargs)


MAKING.append(_Factories)


def is_here_named(value: object) -> bool:
    """Returns whether an argument of `.to(…)` is the bridge's device; other strings are none."""
    return isinstance(value, (str, torch.device)) and str(value).partition(":")[0] == DEVICE.type


def _made(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if func in (torch.as_tensor, torch.asarray, torch.tensor) and isinstance(args[0], torch.Tensor):
        x = args[0] if isinstance(args[0], Tensor) else forms.to_here(args[0])
        x = x if kwargs.get("dtype") is None else x.to(kwargs["dtype"])
        if func is not torch.tensor:
            return x
        return x.detach().clone().requires_grad_(kwargs.get("requires_grad", False))
    if _steps.counts:
        is_count = func in (torch.tensor, torch.zeros, torch.ones) and kwargs.get("dtype") is torch.float32
        kwargs = kwargs | {"device": DEVICE} | ({"dtype": torch.float64} if is_count else {})
    return call(func, args, kwargs)


def device() -> Any:
    """Returns the device that tensors on JAX say they are on, for `torch.zeros(…, device=…)` inside of `scope()`."""
    return DEVICE


@contextlib.contextmanager
def scope() -> Iterator[None]:
    """Inside, PyTorch's factories make tensors on JAX, `torch.tensor` and `torch.zeros` among them.

    The forward of a moved module, and a compiled function while it is traced, are in it by themselves. Tensors that
    name another device, `device="cpu"`, are made there.

    Raises:
      DtypeError: If JAX has no dtypes of 64 bits.
    """
    need_wide_dtypes()
    n = len(ENTERED.forwards)
    begin()
    try:
        yield
    finally:
        end(n)


@contextlib.contextmanager
def around_trace() -> Iterator[None]:
    """Inside, a function is traced: its tensors are on JAX, and code that asks whether it is compiled is told so."""
    take_seed()
    before, n_entered = torch.compiler._is_compiling_flag, len(ENTERED.forwards)
    torch.compiler._is_compiling_flag = True
    try:
        begin()
        yield
    finally:
        end(n_entered)
        torch.compiler._is_compiling_flag = before


AROUND_TRACES.append(around_trace)


# -- what names the device outside of a scope ------------------------------------------------------------


def _refuse(*_: object, **__: object) -> Any:
    raise NoCounterpartError(
        "PyTorch makes a tensor on the device of JAX, outside of where the bridge does it. Write "
        "`with ja.torch.scope():` around `model.generate(…)`, `optimizer.load_state_dict(…)`, or what it is."
    )


_kept = torch.library.Library("aten", "IMPL")
"""PyTorch's dispatcher has it refuse: what C++ then writes past all classes, such as numbers, would be lost."""
for _name in ("empty.memory_format", "empty_strided"):
    _kept.impl(_name, _refuse, DEVICE_TYPE.upper())


# -- optimizers ------------------------------------------------------------


def before_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    """Has the counts that an optimizer makes in a trace be float64: it computes with Python's floats eagerly."""
    _steps.counts = state.trace is not None


def after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    """Moves what an optimizer counts in, which it makes on the CPU, to JAX, where a compiled step finds it."""
    _steps.counts = False
    for parameter, of_one in optimizer.state.items():
        if not isinstance(parameter, Tensor):
            return
        move_state(of_one)


def move_state(of_one: Any) -> None:
    """Moves the tensors in what an optimizer keeps of a parameter."""
    for name, value in of_one.items():
        if isinstance(value, torch.Tensor) and not isinstance(value, Tensor):
            of_one[name] = forms.to_here(value.double() if name == "step" else value)
