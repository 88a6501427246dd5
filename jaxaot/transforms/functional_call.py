"""Modules called as functions of their parameters and buffers (`torch.func.functional_call`).

A *state* says by name which tensors a module is to be called with. The names of a flax nnx module are the paths of its
Variables, `linear.kernel`; those of any other object come from its `named_parameters` and `named_buffers`, or else from
the attributes that lead to its tensors. What a call writes is found in the state afterwards, or in the module where the
state does not name it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.errors import AutogradError, ModuleLiftError, TensorValueError
from jaxaot.facade.cells.cells import CODE, CellKind, cell_kinds, children_of, kind_of, kind_of_cell
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.marks.trees import pack_keys, to_arrays, unpack_keys
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.table import lookup
from jaxaot.transforms.jax_function import jax_function

_ARRAYS = (Tensor, jax.Array, np.ndarray)


def functional_call(
    module: object,
    parameter_and_buffer_dicts: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Returns the result of a module called with other parameters and buffers.

        loss = lambda state: ja.func.functional_call(model, state, x).sum()
        slopes = ja.func.grad(loss)(dict(model.named_parameters()))

    Args:
      module: An object that is called and that holds tensors, or a flax nnx module.
      parameter_and_buffer_dicts: Name → tensor, or several such dicts with names of their own. Of an nnx module also
        its `nnx.State`. What is not named is the module's own.
      args: A tuple of arguments, or a single one.
      kwargs: Arguments by name.
      tie_weights: Whether a tensor that the module holds under several names is replaced under all of them.
      strict: Whether all parameters and buffers have to be named, and nothing else.

    Raises:
      TensorValueError: If a name comes twice, or with several values for what is one tensor in the module.
      ModuleLiftError: If a name leads to no tensor of the module, or if `strict` and one is missing.
    """
    cell_kinds()
    state = _merged(parameter_and_buffer_dicts)
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    kind = kind_of(module)
    if kind is not None:
        return _call_of_kind(kind, module, state, given, kwargs or {}, strict)
    return _call_of_object(module, state, given, kwargs or {}, tie_weights, strict)


# -- states ------------------------------------------------------------------------------------------------------------


class _Entry:
    """A tensor in a state, and where it lies there.

    Attributes:
      value: The tensor or array.
      put: Puts another one in its place.
    """

    __slots__ = ("put", "value")

    def __init__(self, value: object, put: Callable[[Any], None]):
        self.value = value
        self.put = put


def _merged(dicts: Any) -> dict[str, _Entry]:
    if isinstance(dicts, Mapping):
        return dict(_entries(dicts, ""))
    if not isinstance(dicts, Sequence) or isinstance(dicts, str):
        raise TensorValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}. Pass `dict(module.named_parameters())`."
        )
    if not all(isinstance(d, Mapping) for d in dicts):
        raise TensorValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    found = [entry for d in dicts for entry in _entries(d, "")]
    names = [name for name, _ in found]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise TensorValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous. Leave each name "
            "in one of them."
        )
    return dict(found)


def _entries(state: Any, prefix: str) -> Iterator[tuple[str, _Entry]]:
    for key, value in list(state.items()):
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _entries(value, f"{name}.")
        elif kind_of(value) is not None:
            kind = kind_of_cell(value)
            yield name, _Entry(getattr(value, kind.value_attribute), functools.partial(kind.write, value))
        else:
            yield name, _Entry(value, functools.partial(_set_item, state, key))


def _set_item(state: Any, key: Any, value: object) -> None:
    if isinstance(state, MutableMapping):
        state[key] = value


def _check_names(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Raises unless the same names are given as known."""
    problems = []
    for word, names in (
        ("Unexpected", [n for n in given if n not in known]),
        ("Missing", [n for n in known if n not in given]),
    ):
        if names:
            problems.append(f"{word} key(s): {', '.join(map(repr, sorted(names)))}.")
    if problems:
        said = "\n\t".join(problems)
        raise ModuleLiftError(f"Error(s) in reparametrizing for {name}:\n\t{said}\nPass `strict=False` to name a part.")


# -- objects that hold tensors -----------------------------------------------------------------------------------------


def _call_of_object(
    module: object,
    state: dict[str, _Entry],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tie_weights: bool,
    strict: bool,
) -> Any:
    for name, entry in state.items():
        if not isinstance(entry.value, _ARRAYS):
            raise ModuleLiftError(f"{entry.value!r} is not an instance of ja.Tensor; it was given for `{name}`.")
    tied = _tied_names(module) if tie_weights else {}
    values = {name: entry.value for name, entry in state.items()}
    for name in state:
        names = tied.get(name, ())
        if len({id(state[n].value) for n in names if n in state}) > 1:
            raise TensorValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        values.update(dict.fromkeys(names, state[name].value))
    if strict:
        _check_names(type(module).__name__, list(values), [name for name, _ in _named(module)])
    places = {name: _place(module, name) for name in values}
    before: dict[str, Any] = {}
    fn = module if callable(module) else getattr(module, "forward", None)
    if fn is None:
        raise ModuleLiftError(
            f"An object of type {type(module).__name__} cannot be called, so it is no module. Give its class a method "
            "`__call__` or `forward`."
        )
    try:
        for name, value in values.items():
            before[name] = places[name].swap(value)
        return fn(*args, **kwargs)
    finally:
        after = {name: places[name].swap(value) for name, value in reversed(before.items())}
        for name, entry in state.items():
            if name in after and after[name] is not entry.value:
                entry.put(after[name])


def _named(module: object) -> list[tuple[str, Tensor]]:
    """Returns the tensors of an object, under each of their names."""
    if not hasattr(module, "named_parameters") and not hasattr(module, "named_buffers"):
        return list(_reached(module, "", set()))
    found: list[tuple[str, Tensor]] = []
    for listed in (getattr(module, "named_parameters", None), getattr(module, "named_buffers", None)):
        if listed is not None:
            lists_twice = "remove_duplicate" in inspect.signature(listed).parameters
            found += listed(remove_duplicate=False) if lists_twice else listed()
    return found


def _reached(value: object, prefix: str, around: set[int]) -> Iterator[tuple[str, Tensor]]:
    """Yields the tensors that attributes and items of an object lead to; its own before those of what it holds."""
    if id(value) in around or isinstance(value, CODE):
        return
    around = around | {id(value)}
    children = list(children_of(value))
    yield from ((prefix + name, child) for name, child in children if isinstance(child, Tensor))
    for name, child in children:
        if not isinstance(child, Tensor):
            yield from _reached(child, f"{prefix}{name}.", around)


def _tied_names(module: object) -> dict[str, list[str]]:
    """Returns for each name of a tensor that has several all of them."""
    by_tensor: dict[int, list[str]] = {}
    for name, tensor in _named(module):
        by_tensor.setdefault(id(tensor), []).append(name)
    return {name: names for names in by_tensor.values() if len(names) > 1 for name in names}


_NOTHING = object()


class _Place:
    """Where an object holds a tensor: an attribute, or an item of a dict or list."""

    __slots__ = ("holder", "key")

    def __init__(self, holder: Any, key: Any):
        self.holder = holder
        self.key = key

    def swap(self, value: object) -> Any:
        """Puts a value there, or takes what is there away for `_NOTHING`; returns what was there."""
        holder, key = self.holder, self.key
        if isinstance(holder, (dict, list)):
            before = holder[key]
            holder[key] = value
            return before
        before = getattr(holder, key, _NOTHING)
        if value is _NOTHING:
            delattr(holder, key)
        else:
            setattr(holder, key, value)
        return before


def _place(module: object, name: str) -> _Place:
    """Returns where an object holds the tensor of a name.

    Raises:
      ModuleLiftError: If the name leads nowhere, or to something else.
    """
    holder, (*path, last) = module, name.split(".")
    for part in path:
        found = _held(holder, part)
        if found is _NOTHING or isinstance(found, Tensor):
            raise ModuleLiftError(
                f"{type(module).__name__} has no attribute `{part}` that holds tensors, which `{name}` asks for. The "
                f"names are: {', '.join(n for n, _ in _named(module))}."
            )
        holder = found
    registry = next((r for r in _registries(holder) if last in r), None)
    if registry is not None:
        return _Place(registry, last)
    present = _held(holder, last)
    if present is not _NOTHING and present is not None and not isinstance(present, Tensor):
        raise ModuleLiftError(f"attribute `{name}`: {present!r} is not an instance of ja.Tensor")
    if isinstance(holder, list):
        return _Place(holder, int(last))
    if isinstance(holder, dict):
        return _Place(holder, next((key for key in holder if str(key) == last), last))
    return _Place(holder, last)


def _held(holder: Any, part: str) -> Any:
    if isinstance(holder, (list, tuple)):
        return holder[int(part)] if part.isdecimal() and int(part) < len(holder) else _NOTHING
    if isinstance(holder, Mapping):
        return next((value for key, value in holder.items() if str(key) == part), _NOTHING)
    return getattr(holder, part, _NOTHING)


def _registries(holder: Any) -> list[dict[str, Any]]:
    """Returns the dicts in which an object keeps parameters and buffers apart from its attributes, as in PyTorch."""
    found = [vars(holder).get(name) for name in ("_parameters", "_buffers")] if hasattr(holder, "__dict__") else []
    return [registry for registry in found if isinstance(registry, dict)]


# -- modules of a library ----------------------------------------------------------------------------------------------


def _call_of_kind(
    kind: CellKind,
    module: object,
    state: dict[str, _Entry],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    strict: bool,
) -> Any:
    structure, arrays = kind.take_apart((module,))
    names = [name for name, _ in kind.leaves(structure)]
    unknown = [name for name in state if name not in names]
    if strict or unknown:
        _check_names(type(module).__name__, list(state), names if strict else list(state.keys() & set(names)))
    values = [state[name].value if name in state else array for name, array in zip(names, arrays, strict=True)]
    run = _as_function(kind, type(module).__name__, structure)
    result, after = run(pack_keys(values), pack_keys(args), pack_keys(kwargs))
    written = {i: unpack_keys([value])[0] for i, value in after.items()}
    kind.write_arrays((module,), structure, to_arrays({i: x for i, x in written.items() if names[i] not in state}))
    for i, value in written.items():
        if names[i] in state:
            entry = state[names[i]]
            entry.put(value if isinstance(entry.value, Tensor) else to_arrays(value))
    return result


@functools.lru_cache(maxsize=256)
def _as_function(kind: CellKind, name: str, structure: Any) -> Callable[..., Any]:
    """Returns modules of a structure as a function of their arrays and arguments, to (result, changed arrays)."""

    def compute(values: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arrays = unpack_keys(values)
        (module,) = kind.put_together(structure, arrays)
        result = module(*unpack_keys(args), **unpack_keys(kwargs))
        changed, after = kind.take_apart((module,))
        if changed != structure:
            raise ModuleLiftError(
                f"`{name}` changed its structure during the call: a Variable or a plain attribute is another one. Of "
                "a functional call only the values of Variables are kept. Make every Variable in `__init__`, and keep "
                "counters in Variables."
            )
        moved = {i: x for i, (x, before) in enumerate(zip(after, arrays, strict=True)) if x is not before}
        return result, pack_keys(moved)

    compute.__name__ = name
    return jax_function(compute)


# -- stacks of modules -------------------------------------------------------------------------------------------------


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Returns the parameters and the buffers of several modules of one class, each stacked along a first dim.

        params, buffers = ja.func.stack_module_state(models)
        call = lambda params, buffers, x: ja.func.functional_call(models[0], (params, buffers), x)
        ja.func.vmap(call, in_dims=(0, 0, None))(params, buffers, x)

    Raises:
      AutogradError: If the modules are not alike.
    """
    if not len(models):
        raise AutogradError("stack_module_state: Expected at least one model, got 0.")
    modes = {bool(getattr(model, "training", True)) for model in models}
    if len(modes) > 1:
        raise AutogradError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise AutogradError("stack_module_state: Expected all models to be of the same class.")
    listed = [_parameters_and_buffers(model) for model in models]
    first = listed[0]
    if any(found[kind].keys() != first[kind].keys() for found in listed for kind in (0, 1)):
        raise AutogradError("stack_module_state: Expected all models to have parameters and buffers of the same names.")
    stack = lambda kind: {name: _stacked([found[kind][name] for found in listed], name) for name in first[kind]}
    return stack(0), stack(1)


def _parameters_and_buffers(model: object) -> tuple[dict[str, Any], dict[str, Any]]:
    cell_kinds()
    kind = kind_of(model)
    if kind is not None:
        structure, arrays = kind.take_apart((model,))
        leaves = list(zip(kind.leaves(structure), pack_keys(arrays), strict=True))
        return tuple({n: x for (n, p), x in leaves if p is wanted} for wanted in (True, False))  # type: ignore
    if hasattr(model, "named_parameters"):
        return dict(model.named_parameters()), dict(getattr(model, "named_buffers", dict)())
    named = _named(model)
    is_parameter = lambda tensor: tensor.requires_grad and tensor.is_leaf
    return {n: t for n, t in named if is_parameter(t)}, {n: t for n, t in named if not is_parameter(t)}


def _stacked(values: Sequence[Any], name: str) -> Any:
    required = {leaf.requires_grad for value in values for leaf in pytree.leaves(value) if isinstance(leaf, Tensor)}
    if len(required) > 1:
        raise AutogradError(f"Expected {name} from each model to have the same .requires_grad")
    with recording(False):
        stacked = pytree.mapped(lambda *leaves: call(lookup("stack"), (list(leaves),), (0,)), *values)
    return stacked.requires_grad_() if True in required else stacked


# -- modules that write to themselves ----------------------------------------------------------------------------------


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Returns a module in which no batch norm keeps running statistics: each normalizes by its batch alone.

    Under `ja.func.vmap` and `ja.func.grad` a module cannot write to buffers that it was not called with.

    Args:
      root: A module with `modules()`, which is changed in place.
    """
    for module in root.modules():
        forget = getattr(module, "_forget_running_stats", None)
        if forget is not None:
            forget()
    return root
