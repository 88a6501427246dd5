"""Groups of parameters: how they are made, saved, loaded and shown.

Optimizers are guarded by what the code of their classes names. This file is no part of that code.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxaot.errors import MissingMethodError, OptionError, StateDictError, TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.wrapper_gradients import carried
from jaxaot.nn.hooks import hooks_of
from jaxaot.nn.on_tensors import parameter_of, parameters_of

REQUIRED: Any = object()
"""The default of an option that each group has to say."""

_view_as_real: Callable[[Tensor], Tensor] = FUNCTIONS[""]["view_as_real"]


class Group(dict[str, Any]):
    """A group: a dict, whose learning rate is an input of graphs rather than part of them."""

    moving_numbers = frozenset({"lr", "momentum"})


def declared(given: Mapping[str, Any], last: str = "") -> dict[str, Any]:
    """Returns the options of a rule, of the names in its `__init__`: its signature declares them.

    Args:
      given: What `locals()` returns there.
      last: Names that come behind the others, where PyTorch's groups have another order than its signatures.
    """
    names = [name for name in given if name not in ("self", "params", "__class__", *last.split())]
    return {name: given[name] for name in (*names, *last.split())}


def check_defaults(defaults: Mapping[str, Any]) -> None:
    """Raises if an option has no meaning."""
    if defaults.get("differentiable"):
        raise OptionError(
            "`differentiable=True` would record the step, which writes to leaves. Write the step as a function of "
            "parameters: `ja.func.grad` differentiates it."
        )
    check_options(defaults)


def check_options(options: Mapping[str, Any]) -> None:
    """Raises if a number is out of its range."""
    words = {
        "lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value",
        "momentum": "momentum value", "alpha": "alpha value", "rho": "rho value", "lr_decay": "lr_decay value",
        "momentum_decay": "momentum_decay value",
    }  # fmt: skip
    for name, word in words.items():
        value = options.get(name)
        if name == "eps" and "beta2_decay" in options:  # a pair, of which the first may be None
            value = next((one for one in value or () if one is not None and not one >= 0), 0)
        if isinstance(value, (str, bytes, list, tuple, dict, set)) or callable(value):
            raise TensorTypeError(
                f"`{name}={value!r}` of the optimizer is of type {type(value).__name__}, and a number is wanted. "
                f"Schedules are in `ja.optim.lr_scheduler`."
            )
        if isinstance(value, (int, float)) and not value >= 0:
            raise TensorValueError(f"Invalid {word}: {value}")
    if isinstance(rho := options.get("rho"), (int, float)) and rho > 1:
        raise TensorValueError(f"Invalid rho value: {rho}")
    for name in ("etas", "step_sizes"):
        pair = options.get(name)
        if pair is not None and (not isinstance(pair, (tuple, list)) or len(pair) != 2):
            raise TensorTypeError(f"`{name}={pair!r}` of the optimizer are to be two numbers.")
    if (etas := options.get("etas")) is not None and not 0.0 < etas[0] < 1.0 < etas[1]:
        raise TensorValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
    betas = options.get("betas")
    if betas is not None and (not isinstance(betas, (tuple, list)) or len(betas) != 2):
        raise TensorTypeError(f"`betas={betas!r}` of the optimizer are to be two numbers. Write `betas=(0.9, 0.999)`.")
    for i, beta in enumerate(betas or ()):
        if isinstance(beta, (int, float)) and not 0.0 <= beta < 1.0:
            raise TensorValueError(f"Invalid beta parameter at index {i}: {beta}")


def listed(params: Any) -> list[dict[str, Any]]:
    """Returns groups, made of parameters, pairs of name and parameter, or groups.

    Raises:
      TensorTypeError: If it is a tensor.
      TensorValueError: If there are none.
    """
    if isinstance(params, Tensor):
        raise TensorTypeError(
            "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a tensor. Write "
            "`[w]`."
        )
    of_module = parameters_of(params)
    if of_module is None and not isinstance(params, Iterable):
        raise TensorTypeError(
            "params argument given to the optimizer should be an iterable of Tensors, and a "
            f"{type(params).__name__} was given. Pass `model.parameters()`."
        )
    found: list[Any] = list(params) if of_module is None else of_module
    if not found:
        raise TensorValueError("optimizer got an empty parameter list. Pass `model.parameters()`.")
    return found if isinstance(found[0], dict) else [{"params": found}]


def completed(given: Any, defaults: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Group:
    """Returns a group with all options.

    Args:
      given: The group as the user has it.
      defaults: Options that it need not say.
      others: The groups that there are.

    Raises:
      TensorTypeError: If something is no tensor.
      TensorValueError: If a parameter is computed, or in a group already.
    """
    if not isinstance(given, dict):
        raise TensorTypeError(f"param_group must be a dict, but got {type(given).__name__}")
    group = Group(given)
    if "params" not in group:
        near = difflib.get_close_matches("params", map(str, group), 1)
        advice = f"Write `params` for {near[0]!r}." if near else 'Write `{"params": [w], "lr": 0.1}`.'
        there = ", ".join(map(repr, group)) or "nothing"
        raise TensorValueError(f"A group of parameters is a dict with `params`, and one of {there} was given. {advice}")
    params = group["params"]
    if not isinstance(params, (Tensor, Iterable)) and parameters_of(params) is None:
        raise TensorTypeError(
            f"`params` of a group is a list of parameters, and {params!r} was given. Write `[w]` for a single one."
        )
    if isinstance(params, set):
        raise TensorTypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    of_module = parameters_of(params)
    params = [params] if isinstance(params, Tensor) else list(params) if of_module is None else of_module
    is_named = bool(params) and all(isinstance(p, tuple) for p in params)
    named = params if is_named else [("", parameter) for parameter in params]
    named = [(name, parameter_of(parameter)) for name, parameter in named]
    for _, parameter in named:
        if not isinstance(parameter, Tensor):
            raise TensorTypeError(
                f"optimizer can only optimize Tensors, but one of the params is {type(parameter)}. Make a parameter of "
                "an array: `ja.nn.Parameter(array)`."
            )
    # of a tensor that is made of inner tensors, those that carry gradients
    named = [(name, inner) for name, parameter in named for inner in carried(parameter)]
    params = [parameter for _, parameter in named]
    if is_named:
        group["param_names"] = [name for name, _ in named]
    for parameter in params:
        if not parameter.is_leaf:
            raise TensorValueError("can't optimize a non-leaf Tensor. Write `w.detach().requires_grad_()`.")
    group["params"] = params
    for name, default in defaults.items():
        if default is REQUIRED and name not in group:
            raise TensorValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        group.setdefault(name, default)
    check_options(group)
    if len({id(p) for p in params}) != len(params):
        raise TensorValueError("optimizer contains a parameter group with duplicate parameters")
    there = {id(p) for other in others for p in other["params"]}
    if any(id(p) in there for p in params):
        raise TensorValueError("some parameters appear in more than one parameter group. Each belongs in one alone.")
    return group


def no_update(optimizer: object) -> MissingMethodError:
    """Returns the error for an optimizer that does not say how it changes a parameter."""
    name = type(optimizer).__name__
    return MissingMethodError(
        f"{name} has neither `step` nor `_update(self, parameter, gradient, state, group)`. Write one of them."
    )


def update_complex(optimizer: Any, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: Any) -> None:
    """Changes a complex parameter as PyTorch does: as pairs of real numbers, on the same memory."""
    seen = {
        name: _view_as_real(value) if isinstance(value, Tensor) and value.is_complex() else value
        for name, value in state.items()
    }
    optimizer._update(_view_as_real(parameter.detach()), _view_as_real(gradient), seen, group)


# -- state dicts -------------------------------------------------------------------------------------------------------


def _numbered(groups: Iterable[Mapping[str, Any]]) -> dict[int, int]:
    """Returns id of each parameter → its number, in the order of the groups."""
    params = [parameter for group in groups for parameter in group["params"]]
    return {id(parameter): i for i, parameter in enumerate(params)}


def state_dict_of(optimizer: Any) -> dict[str, Any]:
    """Returns what `Optimizer.state_dict` does."""
    for hook in hooks_of(optimizer, "state_dict_pre"):
        hook(optimizer)
    numbers = _numbered(optimizer.param_groups)
    groups = [
        {
            **{name: value for name, value in group.items() if name != "params"},
            "params": [numbers[id(p)] for p in group["params"]],
        }
        for group in optimizer.param_groups
    ]
    kept = sorted((numbers[id(p)], dict(s)) for p, s in optimizer.state.items() if id(p) in numbers and s)
    made: dict[str, Any] = {"state": dict(kept), "param_groups": groups}
    for hook in hooks_of(optimizer, "state_dict_post"):
        changed = hook(optimizer, made)
        made = made if changed is None else changed
    return made


def load_state_dict(optimizer: Any, state_dict: Mapping[str, Any]) -> None:
    """Does what `Optimizer.load_state_dict` does."""
    if not isinstance(state_dict, Mapping):
        raise StateDictError(
            f"`load_state_dict` takes what `state_dict()` returned, and a {type(state_dict).__name__} was given."
        )
    state_dict = dict(state_dict)
    for hook in hooks_of(optimizer, "load_pre"):
        changed = hook(optimizer, state_dict)
        state_dict = state_dict if changed is None else changed
    groups, saved = optimizer.param_groups, state_dict.get("param_groups")
    if not isinstance(saved, (list, tuple)) or not isinstance(state_dict.get("state"), Mapping):
        raise StateDictError("A state dict of an optimizer has `param_groups`, a list, and `state`, a dict.")
    if not all(isinstance(group, Mapping) and "params" in group for group in saved):
        raise StateDictError("Each group of a state dict of an optimizer is a dict with `params`.")
    if len(groups) != len(saved):
        raise StateDictError(
            f"loaded state dict has a different number of parameter groups: {len(saved)} instead of {len(groups)}"
        )
    for i, (group, other) in enumerate(zip(groups, saved, strict=True)):
        if len(group["params"]) != len(other["params"]):
            raise StateDictError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: group "
                f"{i} has {len(other['params'])} parameters instead of {len(group['params'])}"
            )
    numbers = [number for group in saved for number in group["params"]]
    params = [parameter for group in groups for parameter in group["params"]]
    by_number = {int(number): kept for number, kept in state_dict["state"].items()}
    with recording(False):
        made = {
            parameter: {name: _loaded(value, parameter, name) for name, value in by_number[int(number)].items()}
            for number, parameter in zip(numbers, params, strict=True)
            if int(number) in by_number
        }
    _check_options(optimizer, saved)
    _check_kept(optimizer, saved, made)
    for group, other in zip(groups, saved, strict=True):
        options = {name: _as_saved(value, group.get(name)) for name, value in other.items() if name != "params"}
        params = group["params"]
        newer = {name: value for name, value in group.items() if name in _NEWER}
        group.clear()
        group.update(**{**newer, **options}, params=params)
    optimizer.state.clear()
    optimizer.state.update(made)
    for hook in hooks_of(optimizer, "load_post"):
        hook(optimizer)


_NEWER = ("maximize", "foreach", "capturable", "differentiable", "fused", "decoupled_weight_decay", "amsgrad")
"""Options that state dicts of before may lack: those of the optimizer hold."""


def _check_options(optimizer: Any, saved: Iterable[Mapping[str, Any]]) -> None:
    """Raises if the groups of a state dict lack options of the optimizer."""
    for i, group in enumerate(saved):
        missing = [name for name in optimizer.defaults if name not in group and name not in _NEWER]
        if missing:
            there = [name for name in group if name != "params" and name not in optimizer.defaults]
            more = f", and has {', '.join(f'`{name}`' for name in there)}" if there else ""
            raise StateDictError(
                f"group {i} of the state dict has no {', '.join(f'`{name}`' for name in missing)}{more}: it is that of "
                f"another optimizer than {type(optimizer).__name__}. Load it into one of the kind that saved it."
            )


def _check_kept(optimizer: Any, saved: Sequence[Mapping[str, Any]], kept: Mapping[Tensor, Mapping[str, Any]]) -> None:
    """Raises if what a state dict keeps of parameters is not what the optimizer keeps of them."""
    for group, options in zip(optimizer.param_groups, saved, strict=True):
        parameter = next((p for p in group["params"] if kept.get(p)), None)
        if parameter is None:
            continue
        with recording(False):
            wanted = optimizer._start(parameter, {**group, **options})
        missing = [name for name in wanted if name not in kept[parameter]]
        if missing:
            raise StateDictError(
                f"the state dict keeps {', '.join(f'`{name}`' for name in kept[parameter])} of a parameter, and "
                f"{type(optimizer).__name__} needs {', '.join(f'`{name}`' for name in missing)}: it is that of another "
                "optimizer. Load it into one of the kind that saved it."
            )


def _as_saved(value: Any, before: Any) -> Any:
    """Returns an option of a state dict; pairs are tuples again, which files may hold as lists."""
    return tuple(value) if isinstance(value, list) and isinstance(before, tuple) else value


def _loaded(value: Any, parameter: Tensor, name: str) -> Any:
    """Returns a copy of what was kept of a parameter, with its dtype if it is a float."""
    if isinstance(value, dict):
        return {key: _loaded(item, parameter, key) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_loaded(item, parameter, name) for item in value)
    if not isinstance(value, Tensor):
        if isinstance(value, (bool, int, float, str, type(None))) or not hasattr(value, "__array__"):
            return value
        value = as_tensor(np.asarray(value.detach() if hasattr(value, "detach") else value))
    made = value.detach().clone()
    return made.to(parameter.dtype) if name != "step" and parameter.is_floating_point() else made


# -- hooks and text ----------------------------------------------------------------------------------------------------


def call_hooks(optimizer: Any, hooks: Mapping[str, Mapping[int, Any]], kind: str, closure: Any) -> None:
    """Calls the hooks around a step."""
    for hook in list(hooks.get(kind, {}).values()):
        hook(optimizer, () if closure is None else (closure,), {})


def text_of(optimizer: Any) -> str:
    """Returns the text of an optimizer, as PyTorch's."""
    lines = [f"{type(optimizer).__name__} ("]
    for i, group in enumerate(optimizer.param_groups):
        lines.append(f"Parameter Group {i}")
        lines += [f"    {name}: {group[name]}" for name in sorted(group) if name not in ("params", "param_names")]
    return "\n".join([*lines, ")"])
