"""Modules and parameters in rows and by name (`torch.nn.Sequential`, `ModuleList`, `ParameterDict`, …)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, overload

from jaxaot.errors import DimError, MissingMethodError, TensorTypeError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter
from jaxaot.nn.registry import indented

_V = TypeVar("_V")


def _place(index: Any, size: int) -> int:
    """Returns a place in a row, counted from its start."""
    index = operator.index(index)
    if not -size <= index < size:
        raise DimError(f"index {index} is out of range")
    return index % size


def _no_forward(module: Module) -> MissingMethodError:
    return MissingMethodError(
        f"{type(module).__name__} should not be called. It holds what other modules call: write "
        "`for layer in self.layers: x = layer(x)`."
    )


class _Container(Module):
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raises: what a container holds is called, not the container."""
        raise _no_forward(self)


class _Row(_Container):
    """Modules with the names 0, 1, …"""

    def _renumber(self, modules: Iterable[Any]) -> None:
        found = list(modules)
        self._modules.clear()
        for i, module in enumerate(found):
            self.add_module(str(i), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self._modules.values()))

    def _get(self, index: Any) -> Any:
        values = list(self._modules.values())
        return values[index] if isinstance(index, slice) else values[_place(index, len(values))]

    def __setitem__(self, index: int, module: Module) -> None:
        name = list(self._modules)[_place(index, len(self))]
        setattr(self, name, module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        gone = names[index] if isinstance(index, slice) else [names[_place(index, len(names))]]
        for name in gone:
            del self._modules[name]
        if all(name.isdigit() for name in self._modules):
            self._renumber(self._modules.values())

    def insert(self, index: int, module: Module) -> Any:
        """Adds a module before another one."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def append(self, module: Module) -> Self:
        """Adds a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end; returns the container."""
        if isinstance(modules, Module) and not isinstance(modules, Iterable):
            raise TensorTypeError(f"{type(self).__name__} takes several modules. Write `[module]` for a single one.")
        if not isinstance(modules, Iterable):
            raise TensorTypeError(f"{type(self).__name__} takes several modules, and {modules!r} was given.")
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Removes modules and returns them."""
        found = self[key]  # type: ignore[index]
        del self[key]
        return found

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


class Sequential(_Row):
    """Modules that are called one after the other.

    ja.nn.Sequential(ja.nn.Linear(4, 8), ja.nn.ReLU(), ja.nn.Linear(8, 2))
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: Mapping[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> Sequential: ...
    def __getitem__(self, idx: int | slice) -> Module:
        if isinstance(idx, slice):
            return type(self)(dict(list(self._modules.items())[idx]))
        return self._get(idx)

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before another one; returns the container."""
        super().insert(index, module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*(module for _ in range(times) for module in self))

    __rmul__ = __mul__

    def forward(self, input: Any) -> Any:
        """Returns the result of the last module."""
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Row):
    """Modules in a row."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> ModuleList: ...
    def __getitem__(self, idx: int | slice) -> Module:
        return type(self)(self._get(idx)) if isinstance(idx, slice) else self._get(idx)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        runs: list[tuple[int, int, str]] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            f"({start}): {text}" if start == stop else f"({start}-{stop}): {stop - start + 1} x {text}"
            for start, stop, text in runs
        ]
        inside = "\n  ".join(map(indented, lines))
        return f"{self._get_name()}(\n  {inside}\n)"


class _ByName(_Container, Generic[_V]):
    """What has names: `_held` is the dict of the module that keeps it."""

    _held: dict[str, _V]

    def __getitem__(self, key: str) -> _V:
        return self._held[key]

    def __delitem__(self, key: str) -> None:
        del self._held[key]

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._held))

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def clear(self) -> None:
        """Removes everything."""
        self._held.clear()

    def pop(self, key: str) -> _V:
        """Removes what has a name, and returns it."""
        return self._held.pop(key)

    def keys(self) -> Iterable[str]:
        """Returns the names."""
        return self._held.keys()

    def items(self) -> Iterable[tuple[str, _V]]:
        """Returns the names, and what has them."""
        return self._held.items()

    def values(self) -> Iterable[_V]:
        """Returns what has the names."""
        return self._held.values()


class ModuleDict(_ByName[Module]):
    """Modules by name."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    @property
    def _held(self) -> dict[str, Module]:
        return self._modules

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds modules by name."""
        if not isinstance(modules, Iterable):
            raise TensorTypeError(f"{type(self).__name__} takes modules by name, and {modules!r} was given.")
        for name, module in dict(modules).items():
            self.add_module(name, module)


def _parameter(value: Any) -> Any:
    if value is None or isinstance(value, Parameter):
        return value
    if isinstance(value, Tensor):
        return Parameter(value)
    raise TensorTypeError(
        f"A {type(value).__name__} is no parameter. These containers hold tensors; keep other values in a list or dict."
    )


def _described(name: object, value: Any) -> str:
    size = "x".join(map(str, value.shape))
    return f"  ({name}): Parameter containing: [ja.{value.dtype.name} of size {size}]"


class ParameterList(_Container):
    """Parameters in a row; tensors become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    @overload
    def __getitem__(self, idx: int) -> Parameter: ...
    @overload
    def __getitem__(self, idx: slice) -> ParameterList: ...
    def __getitem__(self, idx: int | slice) -> Any:
        values = list(self._parameters.values())
        return ParameterList(values[idx]) if isinstance(idx, slice) else values[_place(idx, len(values))]

    def __setitem__(self, idx: int, param: Any) -> None:
        self._parameters[str(_place(idx, len(self)))] = _parameter(param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(list(self._parameters.values()))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: Any) -> Self:
        """Adds a parameter at the end; returns the list."""
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds parameters at the end; returns the list."""
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(i, value) for i, value in enumerate(self))


class ParameterDict(_ByName[Parameter]):
    """Parameters by name; tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    @property
    def _held(self) -> dict[str, Parameter]:
        return self._parameters

    def __setitem__(self, key: str, value: Any) -> None:
        self._parameters[key] = _parameter(value)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a parameter, or a default where there is none of that name."""
        return self._parameters.get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Returns a parameter, which is added where there is none of that name."""
        if key not in self._parameters:
            self[key] = default
        return self._parameters[key]

    def update(self, parameters: Any) -> None:
        """Adds parameters by name."""
        found = parameters.items() if isinstance(parameters, ParameterDict) else dict(parameters).items()
        for name, value in found:
            self[name] = value

    def extra_repr(self) -> str:
        return "\n".join(_described(name, value) for name, value in self.items())


class DataParallel(Module):
    """A module under the name `module`, which it calls: on how many devices a batch lies is said by the batch.

    Args:
      module: The module.
      device_ids: Ignored.
      output_device: Ignored.
      dim: Ignored.
    """

    def __init__(self, module: Module, device_ids: object = None, output_device: object = None, dim: int = 0) -> None:
        super().__init__()
        del device_ids, output_device, dim
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the module does."""
        return self.module(*args, **kwargs)
