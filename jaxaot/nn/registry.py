"""What a module keeps apart from its other attributes: parameters, buffers, modules and hooks.

The attributes of modules are guarded by what the code of their classes names. This file is no part of that code, so it
may look at attributes by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from jaxaot.errors import MissingMethodError, MissingNameError, TensorTypeError, TensorValueError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.parameter import Buffer, Parameter

_KEPT = ("_parameters", "_buffers", "_modules")


def missing_attribute(module: object, name: str) -> MissingNameError:
    """Returns the error for an attribute that a module does not have."""
    cls = type(module).__name__
    if name in ("cuda", "ipu", "xpu", "mtia"):
        return MissingNameError(
            f"'{cls}' object has no attribute '{name}'. Arrays live where JAX puts them, on the first accelerator if "
            "there is one. To move a module write `model.to(jax.devices('gpu')[0])`.",
            name=name,  # and no object: Python would add a name of it that it finds alike
        )
    return MissingNameError(f"'{cls}' object has no attribute '{name}'")


def refuse_in_jax(module: object) -> None:
    """Raises the error for a module that a function of JAX was given."""
    cls = type(module).__name__
    raise TensorValueError(
        f"`{cls}`, a module on tensors, was passed to a function of JAX, such as `jax.jit`, `jax.grad` or an `init` of "
        "optax. Compile what uses it by `ja.compile(step)`, and train it by `ja.optim`. Or pass its parameters: "
        "`ja.func.functional_call(model, params, (x,))` in a function of `params`."
    )


def refuse_uninitialized(module: Any, what: str) -> None:
    """Raises if the `__init__` of `Module` has not run."""
    if module._parameters is None:
        raise MissingNameError(
            f"cannot assign {what} before Module.__init__() call. Begin the `__init__` of {type(module).__name__} with "
            "`super().__init__()`."
        )


def refuse_as_module(value: Any) -> NoReturn:
    """Raises the error for what was added to a module as a module and is none."""
    if isinstance(value, type):
        name = value.__name__
        raise TensorTypeError(f"{name} is a class, and a module was wanted. Make one: `{name}()`.")
    said = f"{type(value).__name__} is not a Module subclass."
    if isinstance(value, list | tuple):
        raise TensorTypeError(f"{said} Write `ja.nn.Sequential(*modules)`, or `ja.nn.ModuleList(modules)`.")
    raise TensorTypeError(
        f"{said} Write a module, such as `ja.nn.ReLU()` for a function or a name, or a class with a `forward`; tensors "
        "are parameters: `ja.nn.Parameter(x)`."
    )


def check_name(module: Any, name: Any, what: str, kept: str) -> None:
    """Raises unless something can be registered under a name.

    Args:
      module: Where.
      name: The name.
      what: What is registered, for the message.
      kept: The attribute that keeps it.
    """
    refuse_uninitialized(module, what)
    if not isinstance(name, str):
        raise TensorTypeError(f"{what} name should be a string. Got {type(name).__name__}")
    if "." in name:
        raise TensorValueError(f'{what} name can\'t contain ".", got: {name}')
    if not name:
        raise TensorValueError(f'{what} name can\'t be empty string ""')
    if name not in getattr(module, kept) and (hasattr(module, name) if what != "parameter" else name in dir(module)):
        raise TensorValueError(
            f"attribute '{name}' already exists. Choose another name, or remove it: `del module.{name}`."
        )


def assign(module: Any, name: str, value: object) -> None:
    """Sets an attribute of a module; parameters, buffers and modules are registered."""
    attributes = vars(module)
    parameters = attributes.get("_parameters")
    if parameters is None:
        if isinstance(value, (Parameter, Buffer)) or _is_module(value):
            refuse_uninitialized(module, "parameters" if isinstance(value, Parameter) else "modules")
        object.__setattr__(module, name, value)
    elif isinstance(value, Parameter):
        _remove(module, name, "_buffers", "_modules")
        module.register_parameter(name, value)
    elif name in parameters:
        if value is not None:
            _refuse(value, "parameter", name, "ja.nn.Parameter or None")
        parameters[name] = None
    elif _is_module(value):
        _remove(module, name, "_parameters", "_buffers")
        module._modules[name] = value
    elif name in module._modules:
        if value is not None:
            _refuse(value, "child module", name, "ja.nn.Module or None")
        module._modules[name] = None
    elif isinstance(value, Buffer) or name in module._buffers:
        if value is not None and not isinstance(value, Tensor):
            _refuse(value, "buffer", name, "ja.nn.Buffer, ja.Tensor or None")
        if isinstance(value, Buffer):
            attributes.pop(name, None)
            module.register_buffer(name, value, value._mark == "buffer")
        else:
            module._buffers[name] = value
    else:
        object.__setattr__(module, name, value)


def _is_module(value: object) -> bool:
    return isinstance(getattr(value, "_modules", None), dict) and hasattr(type(value), "named_modules")


def _refuse(value: object, what: str, name: str, expected: str) -> None:
    raise TensorTypeError(
        f"cannot assign '{type(value).__name__}' as {what} '{name}' ({expected} expected). "
        + ("Write `with ja.no_grad(): module." + name + ".copy_(value)`." if what == "parameter" else "")
    )


def _remove(module: Any, name: str, *kept: str) -> None:
    vars(module).pop(name, None)
    for attribute in kept:
        getattr(module, attribute).pop(name, None)
    module._non_persistent_buffers_set.discard(name)


def delete(module: Any, name: str) -> None:
    """Deletes an attribute of a module."""
    for attribute in _KEPT:
        kept = getattr(module, attribute)
        if kept is not None and name in kept:
            del kept[name]
            module._non_persistent_buffers_set.discard(name)
            return
    object.__delattr__(module, name)


def listed(module: Any) -> list[str]:
    """Returns what `dir()` shows of a module."""
    names = [*dir(type(module)), *vars(module)]
    for attribute in _KEPT:
        names += getattr(module, attribute) or ()
    return sorted(name for name in names if not name[:1].isdigit())


def named_members(module: Any, kept: str, prefix: str, recurse: bool, once: bool) -> Iterator[tuple[str, Any]]:
    """Yields the parameters or buffers of a module and of those below it, each with its name.

    Args:
      module: Where to start.
      kept: The attribute that keeps them.
      prefix: In front of each name.
      recurse: Whether to look below.
      once: Whether what has several names comes once.
    """
    seen: set[int] = set()
    modules = module.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, module)]
    for place, found in modules:
        for name, value in getattr(found, kept).items():
            if value is None or id(value) in seen:
                continue
            if once:
                seen.add(id(value))
            yield f"{place}.{name}" if place else name, value


def indented(text: str) -> str:
    """Returns a text of several lines with all but the first indented."""
    return text.replace("\n", "\n  ")


def module_repr(module: Any) -> str:
    """Returns the text of a module, as PyTorch's."""
    extra = module.extra_repr()
    lines = extra.split("\n") if extra else []
    children = [f"({name}): {indented(repr(child))}" for name, child in module._modules.items()]
    name = module._get_name()
    if len(lines) == 1 and not children:
        return f"{name}({lines[0]})"
    if not lines and not children:
        return f"{name}()"
    return f"{name}(\n  " + "\n  ".join(lines + children) + "\n)"


def missing_forward(module: object) -> MissingMethodError:
    """Returns the error for a module that is called and has no `forward`."""
    cls = type(module).__name__
    return MissingMethodError(
        f'Module [{cls}] is missing the required "forward" function. Write `def forward(self, x): …` in {cls}.'
    )


def no_extra_state(name: str) -> MissingMethodError:
    """Returns the error for a module that is asked for state that its class does not have."""
    return MissingMethodError(
        f"Reached a code path in Module.{name}() that should never be called: the class has no state besides "
        f"parameters and buffers. Define `{name}` in the class of the module."
    )


def computed_parameter(name: str) -> TensorValueError:
    """Returns the error for a parameter that is the result of a computation."""
    return TensorValueError(
        f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly: write "
        "`ja.nn.Parameter(x.detach())`."
    )


def no_mode(mode: object) -> TensorValueError:
    """Returns the error for a training mode that is no bool."""
    return TensorValueError(f"training mode is expected to be boolean, not {type(mode).__name__}")
