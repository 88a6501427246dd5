"""The ways on from objects that a traced function reached, and whose modules and variables are looked at."""

from __future__ import annotations

import types
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

from jaxaot import _trees as pytree
from jaxaot.facade.cells.cells import is_leaf, kind_of, members_of, owners_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.paths import Path, children_of
from jaxaot.tracer.observe.boundary import is_foreign, is_installed, package_of
from jaxaot.tracer.observe.code_names import Named
from jaxaot.tracer.observe.containers import MAPPINGS, SEQUENCES, is_a, item_steps
from jaxaot.tracer.observe.noting import MISSING
from jaxaot.tracer.observe.side_effects import content_of

_NO_CODE = (lambda: None).__code__
_anchors: weakref.WeakValueDictionary[int, types.FunctionType] = weakref.WeakValueDictionary()


def anchor(variables: dict[str, Any]) -> types.FunctionType:
    """Returns a function with some global variables, always the same one."""
    found = _anchors.get(id(variables))
    if found is None or found.__globals__ is not variables:
        found = _anchors[id(variables)] = types.FunctionType(_NO_CODE, variables)
    return found


def names_of(path: Path, named: Named) -> set[str]:
    """Returns the attributes that code names of what a path leads to, by its last name: `config.scale`, `np.pi`."""
    kind, name = path[-1]
    name = name[1] if kind == "closure" else getattr(name, "__name__", None) if kind == "module" else name
    return {attribute for of, attribute in named.pairs if of == name}


def variables_of_library(path: Path, fn: types.FunctionType) -> Iterator[tuple[Path, Any]]:
    """Yields what the closure of a function of a library holds, but its own caches."""
    for i, (name, cell) in enumerate(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)):
        content = content_of(cell)
        is_cache = is_a(content, (dict, list, set, deque, weakref.WeakKeyDictionary)) and name != "registry"
        if content is not MISSING and name != "__class__" and not is_cache:
            yield (*path, ("closure", (i, name))), content


def is_users_module(module: types.ModuleType) -> bool:
    """Returns whether a module is the user's own."""
    name = vars(module).get("__name__")
    if package_of(name if isinstance(name, str) else None) == "jaxaot":
        return str(name).startswith("jaxaot.demo")
    return not is_foreign(name) and not is_installed(name if isinstance(name, str) else None)


def nodes_in(value: Any) -> Iterator[Any]:
    """Yields the objects in some arguments that JAX takes apart, but its own containers."""
    stack = [value]
    while stack:
        item = stack.pop()
        if is_a(item, (tuple, list)):
            stack.extend(item)
        elif is_a(item, dict):
            stack.extend(item.values())
        elif item is not None and not is_leaf(item) and pytree.is_node(item):
            yield item
            stack.extend(child for _, child in children_of(item))


def holds_tensors(value: object) -> bool:
    """Returns whether a variable of a library is a tensor, a module or an optimizer, or holds some."""
    if is_a(value, (*MAPPINGS, *SEQUENCES)):
        return any(not is_a(child, (*MAPPINGS, *SEQUENCES)) and holds_tensors(child) for _, child in item_steps(value))
    return is_a(value, Tensor) or kind_of(value) is not None or is_in_class(value, "zero_grad")


def is_made_by_python(frame: types.FrameType) -> bool:
    """Returns whether a frame runs code that Python made for a class, of which it says no file."""
    name = frame.f_globals.get("__name__")
    is_libraries = is_foreign(name) or is_installed(name) or str(name).startswith("namedtuple_")
    return frame.f_code.co_filename == "<string>" and is_libraries


def is_plain(path: Path) -> bool:
    """Returns whether a path leads through containers of Python alone."""
    return all(kind != "child" for kind, _ in path)


def attributes_below(path: Path, value: Any, attributes: dict[str, Any], step: str = "attr") -> list[tuple[Path, Any]]:
    """Returns the attributes of an object with their paths, but a library's own notes on it."""
    kind = kind_of(value)
    return [((*path, (step, name)), child) for name, child in attributes.items() if not (kind and kind.is_hidden(name))]


def found_in_class(cls: type, name: str) -> tuple[type | None, Any]:
    """Returns the class that an attribute is found in, and what it is there; no code of its metaclass runs."""
    for owner in owners_of(cls):
        if name in members_of(owner):
            return owner, members_of(owner)[name]
    return None, None


def attribute_path(path: Path, value: Any, name: str) -> Path:
    """Returns the path to an attribute of its own of an object, by which none of its class is computed in its place."""
    owner, member = found_in_class(type(value), name)
    is_computed = hasattr(type(member), "__get__") and not is_a(member, types.MemberDescriptorType)
    is_own = owner is None or not is_computed
    return (*path, ("attr", name)) if is_own else (*path, ("attr", "__dict__"), ("item", name))


def is_in_class(value: Any, name: str) -> bool:
    """Returns whether the class of an object has an attribute."""
    return found_in_class(type(value), name)[0] is not None
