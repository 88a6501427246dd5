"""What stands for a function of PyTorch: jaxaot's of its name, PyTorch's own code, or an error that names it.

A handler takes what the function takes. `forms.py` has those that differ in form; the rest is found here by name.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from jaxaot import fft, linalg, special
from jaxaot.bridge.exchange import plain_of, unwrapped, wrapped
from jaxaot.bridge.library import RESULTS, is_here, overrides, torch
from jaxaot.bridge.modes import drawn_seed
from jaxaot.bridge.tensor import HANDLERS, MAKING, Tensor
from jaxaot.errors import ForeignTensorError, MissingNameError, NoCounterpartError
from jaxaot.facade.dispatch import create
from jaxaot.facade.members.foreach import FOREACH
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.generator import default_generator
from jaxaot.facade.memory.tensor import Tensor as Held
from jaxaot.nn import functional
from jaxaot.ops.table import rows
from jaxaot.tape.modes import state

Handler = Callable[..., Any]
_IGNORED = {"pin_memory": (None, False), "layout": (None, torch.strided), "names": (None,), "non_blocking": None,
            "_stacklevel": None}  # fmt: skip
"""Keyword → the values that mean nothing here; None if all of them do."""
_AS_NUMBERS = {"alpha": None, "beta": None, "value": ("addcmul", "addcdiv", "addcmul_", "addcdiv_")}
"""Keyword that is a number here → the functions in which it is; None if in all."""
_RANDOM = {row.name for row in rows() if row.is_random} | {"dropout_", "rand_like", "randn_like", "randint_like"}
_MADE = {name: getattr(create, name) for name in ("tensor", "as_tensor", "from_numpy", "from_dlpack")}


_SCALES = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}
"""Function → the number among its keywords that scales what it adds, which may be a tensor."""


class _Names:
    """Functions by name, as attributes."""

    def __init__(self, *tables: Mapping[str, Any]):
        self._tables = tables

    def __getattr__(self, name: str) -> Any:
        for table in self._tables:
            if name in table:
                return table[name]
        raise AttributeError(name)


OURS: Any = _Names(_MADE, FUNCTIONS[""], FOREACH)
_OF_MODULES = {"linalg": linalg, "fft": fft, "special": special}


def found_in(space: Any, name: str) -> Any:
    """Returns what a namespace has under a name; None if it has nothing."""
    try:
        return getattr(space, name)
    except (AttributeError, MissingNameError):
        return None


def name_of(function: Any) -> str:
    """Returns the name by which PyTorch's documentation calls a function: `torch.Tensor.add_`."""
    try:
        full = overrides.resolve_name(function)
    except Exception:  # it looks the function up in ways that some functions do not bear
        full = None
    return full or f"{getattr(function, '__module__', None) or 'torch'}.{getattr(function, '__name__', function)}"


def by_name(function: Any) -> Any:
    """Returns jaxaot's function of the same name; None if it has none."""
    parts = name_of(function).split(".")
    name = getattr(function, "__name__", parts[-1])
    if parts[-1] == "__get__":
        return (lambda x: getattr(x, parts[-2])) if hasattr(Held, parts[-2]) else None
    if parts[-1] in ("__set__", "__delete__"):
        return None
    if parts[:2] == ["torch", "Tensor"]:
        return found_in(Held, name) if not name.startswith("_") or name.startswith("__") or name in _OWN else None
    module = next((m for m in _OF_MODULES if m in parts[1:-1] or f"_{m}" in parts[1:-1]), None)
    if module is not None:
        return found_in(_OF_MODULES[module], name.removeprefix(f"{module}_"))
    if "init" in parts or "autograd" in parts:
        return None
    in_functional = parts[1:-1] in (["nn", "functional"], ["_C", "_nn"])
    for space in (functional, OURS, Held) if in_functional else (OURS, functional, Held):
        found = found_in(space, name)
        if found is not None and not isinstance(found, property):
            return found
    return None


_AUGMENTED = ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_WRITES = {f"__i{name}__" for name in _AUGMENTED}
_OWN = {"_version", "_base", "_is_view"}


_OP = type(torch.ops.aten.add)
_SPACES = [torch, *(getattr(torch._C, f"_{name}") for name in ("nn", "linalg", "special", "fft"))]
"""Where Python has functions of C++, by the names of their operators."""


def of_aten(function: Any) -> Any:
    """Returns the function of C++ that Python has for `torch.ops.aten.…`, which takes the same; None for others."""
    packet = getattr(function, "overloadpacket", function)
    if not isinstance(packet, _OP) or not str(packet).startswith("aten."):
        return None
    found = (getattr(space, packet.__name__, None) for space in _SPACES)
    return next((of for of in found if isinstance(of, types.BuiltinFunctionType)), None)


def decomposed(function: Any) -> Handler | None:
    """Returns what does a function of C++ by others: PyTorch's own decomposition, where it has one."""
    packet: Any = function if isinstance(function, _OP) else getattr(function, "overloadpacket", None)
    if packet is None and isinstance(function, types.BuiltinFunctionType):
        packet = getattr(torch.ops.aten, str(function.__name__), None)
    if not isinstance(packet, _OP):
        return None
    is_overload, names = hasattr(function, "overloadpacket"), getattr(packet, "overloads")()  # noqa: B009
    overloads = [function] if is_overload else [getattr(packet, name) for name in names]
    table = importlib.import_module("torch._decomp").decomposition_table
    forms = [table[op] for op in overloads if op in table and not op._schema.is_mutable]
    return _by_others(name_of(function), forms) if forms else None


def _by_others(name: str, forms: list[Handler]) -> Handler:
    """Returns a handler that calls the first of some functions that takes what is given."""

    def decomposition(*args: Any, **kwargs: Any) -> Any:
        args = tuple(list(x) if type(x) is list else x for x in args)  # PyTorch's code writes to what it is given
        for form in forms:
            try:
                inspect.signature(form).bind(*args, **kwargs)
            except TypeError:
                continue
            with MAKING[0]():
                return form(*args, **kwargs)
        return refuses(name)()

    return decomposition


def handler_of(function: Any) -> Handler:
    """Returns what does here what a function of PyTorch does."""
    op = of_aten(function)
    if op is not None:
        return HANDLERS[op]
    found = by_name(function)
    name = name_of(function)
    if found is not None:
        return sends(found, name)
    inner = inspect.unwrap(function) if isinstance(function, types.FunctionType) else function
    if isinstance(inner, types.FunctionType):
        return without_check(inner)
    by_others = decomposed(function)
    if by_others is not None:
        return by_others
    return refuses(name)


def refuses(name: str) -> Handler:
    """Returns a handler that refuses a function of PyTorch by its name."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NoCounterpartError(
            f"`{name}` was called with a tensor that is on JAX, where nothing stands for it. Move the tensor, "
            "`ja.torch.to_torch(x)`, or write what JAX has in its place."
        )

    return refuse


HANDLERS.find = handler_of


def sends(function: Handler, full: str) -> Handler:
    """Returns a handler that calls a function of jaxaot's, with what it takes in the place of what PyTorch does.

    Args:
      function: Itself.
      full: The name of PyTorch's.
    """
    name = full.rpartition(".")[2]
    writes = (name.endswith("_") and not name.endswith("__")) or name in _WRITES
    scale = _SCALES.get(name.removesuffix("_"), "")
    is_random = name.removesuffix("_") in _RANDOM or name in _RANDOM
    is_of_lists = name.startswith("_foreach_") and writes
    of_several = RESULTS.get(f"linalg_{name.removeprefix('linalg_')}" if "linalg" in full else name)

    def handle(*args: Any, **kwargs: Any) -> Any:
        if state.trace is not None and kwargs and isinstance(kwargs.get(scale), torch.Tensor):
            return _scaled(name, args, kwargs[scale])
        away = settled(kwargs, name) if kwargs else None
        if is_foreign(kwargs.get("out")) or (writes and args and is_foreign(args[0])):
            raise ForeignTensorError(
                f"`{full}` writes to a tensor of PyTorch's own from tensors on JAX. Move it to JAX before: "
                "`x = ja.torch.to_jax(x)`."
            )
        if kwargs:
            kwargs = {key: unwrapped(value) for key, value in kwargs.items()}
        if is_random:
            result = _drawn(function, tuple(map(unwrapped, args)), kwargs)
        else:
            result = function(*map(unwrapped, args), **kwargs)
        if away is not None:
            return plain_of(result)
        if result is None and is_of_lists:
            return args[0]
        return wrapped(result) if of_several is None or type(result) is Held else of_several(wrapped(result))

    handle.__name__ = name
    return handle


def is_foreign(written: Any) -> bool:
    """Returns whether what a function is to write is, or has among it, a tensor of PyTorch's own."""
    if isinstance(written, (list, tuple)):
        return any(map(is_foreign, written))
    return isinstance(written, torch.Tensor) and not isinstance(written, Tensor)


def _scaled(name: str, args: tuple[Any, ...], scale: Any) -> Any:
    """Returns what a function adds by a number that a trace knows as a tensor alone."""
    x, *rest = args
    made = rest[0] * rest[1] if name.startswith("addcmul") else rest[0] / rest[1] if len(rest) > 1 else rest[0]
    made = made * (-scale if name.startswith("sub") else scale)
    return x.add_(made) if name.endswith("_") else x + made


def settled(kwargs: dict[str, Any], name: str) -> Any:
    """Takes from some keywords what means nothing here; returns the device if the result is to be elsewhere."""
    device = kwargs.pop("device", None)
    for key in kwargs.keys() & _IGNORED.keys():
        allowed, value = _IGNORED[key], kwargs.pop(key)
        if allowed is not None and value not in allowed:
            raise NoCounterpartError(f"`{name}(…, {key}={value})` has no counterpart on JAX. Leave `{key}` out.")
    for key in kwargs.keys() & _AS_NUMBERS.keys():
        of = _AS_NUMBERS[key]
        if isinstance(kwargs[key], torch.Tensor) and (of is None or name in of):
            kwargs[key] = kwargs[key].item()
    if device is None or is_here(device):
        return None
    if torch.device(device).type == "meta":
        kwargs["device"] = "meta"
        return None
    if torch.device(device).type != "cpu":
        raise NoCounterpartError(f"`{name}(…, device={device!r})`: tensors are on JAX or the CPU.")
    return device


def _drawn(function: Handler, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what a function draws: from a seed that PyTorch's generator draws, which alone is seeded."""
    generator = kwargs.pop("generator", None)
    if isinstance(args and args[-1], torch.Generator):
        args, generator = args[:-1], args[-1]
    if state.trace is not None:
        if generator is not None or state.saved_hooks is not None:
            what = "a `torch.Generator` is given" if generator is not None else "hooks on saved tensors recompute"
            raise NoCounterpartError(
                f"A compiled function draws random numbers where {what}. They would not be those of PyTorch's "
                "generator. Draw outside, or let `ja.compile(fn, memory_budget=…)` recompute."
            )
        return function(*args, **kwargs)
    seed, before = drawn_seed(generator), default_generator.position
    default_generator.manual_seed(seed)
    try:
        return function(*args, **kwargs)
    finally:
        default_generator.position = before


class _Unchecked:
    """A module of which some names are others."""

    def __init__(self, module: Any, **others: Any):
        self.__dict__.update(others, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _never(*_: object, **__: object) -> bool:
    return False


_CHECKS = {name: _never for name in dir(overrides) if name.startswith("has_torch_function")}
_OVERRIDES = _Unchecked(overrides, **_CHECKS)
_TORCH = _Unchecked(torch, overrides=_OVERRIDES)


def without_check(function: types.FunctionType) -> Handler:
    """Returns PyTorch's own code of a function, which does not ask whether somebody else has it; it makes on JAX."""
    scope = dict(function.__globals__)
    scope.update({name: _never for name in scope if name.startswith("has_torch_function")})
    for name, value in (("torch", _TORCH), ("overrides", _OVERRIDES)):
        if scope.get(name) is getattr(value, "_module"):  # noqa: B009  an attribute of its own
            scope[name] = value
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__

    def run(*args: Any, **kwargs: Any) -> Any:
        with MAKING[0]():
            return made(*args, **kwargs)

    return run
