"""State dicts of modules: made by PyTorch's names, and loaded (`torch.nn.Module.state_dict`)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot.errors import StateDictError, TensorTypeError
from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.hooks import hooks_of
from jaxaot.nn.parameter import Parameter

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` returns.

    Attributes:
      missing_keys: Names of the module that the state dict lacks.
      unexpected_keys: Names of the state dict that the module lacks.
    """

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


def state_dict_of(module: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Returns the state of a module and of those below it, see `Module.state_dict`."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local = {"version": module._version}
    metadata = getattr(destination, "_metadata", None)
    if metadata is not None:
        metadata[prefix[:-1]] = local
    for hook in hooks_of(module, "state_dict_pre"):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    if has_extra_state(module, "get"):
        destination[f"{prefix}{_EXTRA}"] = module.get_extra_state()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in hooks_of(module, "state_dict_post"):
        changed = hook(module, destination, prefix, local)
        destination = destination if changed is None else changed
    return destination


def save_own_state(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Adds the state of a module itself, and not of those below it, to a state dict."""
    for name, value in _own_state(module).items():
        destination[prefix + name] = value if keep_vars else value.detach()


def has_extra_state(module: Any, how: str) -> bool:
    """Returns whether the class of a module has a `get_extra_state`, or `set_extra_state`, of its own."""
    return not getattr(getattr(type(module), f"{how}_extra_state"), "is_of_module", False)


def _own_state(module: Any) -> dict[str, Tensor]:
    kept = {name: x for name, x in module._buffers.items() if name not in module._non_persistent_buffers_set}
    return {name: value for name, value in (*module._parameters.items(), *kept.items()) if value is not None}


class _Loading:
    """One loading of a state dict.

    Args:
      assign: Whether tensors of the state dict take the place of those of the module.
    """

    def __init__(self, assign: bool):
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []
        self.writes: list[Any] = []

    def __enter__(self) -> _Loading:
        _in_progress.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _in_progress.pop()

    def check(self, module: Any, state: dict[str, Any], prefix: str, metadata: Mapping[str, Any]) -> None:
        """Compares the state with a module and those below it, and notes what is to be written."""
        local = dict(metadata.get(prefix[:-1], {}))
        module._load_from_state_dict(state, prefix, local, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                inside = f"{prefix}{name}."
                self.check(child, {k: v for k, v in state.items() if k.startswith(inside)}, inside, metadata)

    def check_own(self, module: Any, state: dict[str, Any], prefix: str) -> None:
        """Compares the state with a module itself, and notes what is to be written."""
        own = _own_state(module)
        for name, tensor in own.items():
            if f"{prefix}{name}" in state:
                self._compare(module, name, tensor, f"{prefix}{name}", state[f"{prefix}{name}"])
            else:
                self.missing.append(f"{prefix}{name}")
        extra = f"{prefix}{_EXTRA}"
        takes_extra = has_extra_state(module, "set")
        if takes_extra and extra in state:
            self.writes.append(lambda: module.set_extra_state(state[extra]))
        elif takes_extra:
            self.missing.append(extra)
        elif extra in state:
            self.unexpected.append(extra)
        for key in state:
            if key.startswith(prefix) and key != extra:
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in (module._modules if dot else own):
                    self.unexpected.append(key)

    def _compare(self, module: Any, name: str, tensor: Tensor, key: str, value: Any) -> None:
        if not isinstance(value, (Tensor, jax.Array, np.ndarray)) and not hasattr(value, "__array__"):
            self.errors.append(
                f'While copying the parameter named "{key}", expected ja.Tensor or an array from checkpoint but '
                f"received {type(value)}"
            )
            return
        with recording(False):
            given = (
                value
                if isinstance(value, Tensor)
                else as_tensor(value if isinstance(value, jax.Array) else _array(value))
            )
            if not tensor.ndim and tuple(given.shape) == (1,):
                given = given[0]  # as PyTorch before 0.4 had them
        if tuple(given.shape) != tuple(tensor.shape):
            self.errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}."
            )
        elif self.assign:
            if isinstance(tensor, Parameter):
                given = Parameter(given, requires_grad=tensor.requires_grad)
            self.writes.append(lambda: setattr(module, name, given))
        else:
            self.writes.append(lambda: tensor.copy_(given))


_in_progress: list[_Loading] = []


def load_own_state(
    module: Any, state: dict[str, Any], prefix: str, local: Any, strict: bool, *lists: list[str]
) -> None:
    """Loads the state of a module itself, and not of those below it: see `Module._load_from_state_dict`.

    Args:
      module: The module.
      state: Name → value, of the module and those below it.
      prefix: In front of each name.
      local: What is known of the module that was saved.
      strict: Whether the names have to be those of the module.
      *lists: To which missing names, unexpected ones and errors are added.
    """
    for hook in hooks_of(module, "load_pre"):
        hook(module, state, prefix, local, strict, *lists)
    module._upgrade_state(state, prefix, local)
    here = _in_progress[-1] if _in_progress else _Loading(False)
    here.missing, here.unexpected, here.errors = lists
    here.check_own(module, state, prefix)
    if not _in_progress:  # it is called by itself
        with recording(False):
            for write in here.writes:
                write()


def _array(value: Any) -> Any:
    """Returns an array of another library, such as a tensor of PyTorch, as one of NumPy; one of JAX as it is."""
    if isinstance(value, jax.Array):
        return value
    if hasattr(value, "detach"):
        value = value.detach()
        if str(getattr(value, "dtype", "")) == "torch.bfloat16":
            return value.float().numpy().astype(jax.numpy.bfloat16)
    return np.asarray(value)


def load_state_dict(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Loads the state of a module and of those below it, see `Module.load_state_dict`.

    Nothing is written if anything does not fit.
    """
    if not isinstance(state_dict, Mapping):
        raise TensorTypeError(
            f"Expected state_dict to be dict-like, got {type(state_dict)}. Files are read by `ja.load(path)`: "
            "`model.load_state_dict(ja.load(path))`."
        )
    with _Loading(assign) as loading:
        loading.check(module, dict(state_dict), "", getattr(state_dict, "_metadata", {}))
    found = IncompatibleKeys(loading.missing, list(dict.fromkeys(loading.unexpected)))
    for child in module.modules():
        for hook in hooks_of(child, "load_post"):
            hook(child, found)
    errors = list(loading.errors)
    if strict:
        for word, keys in (("Missing", found.missing_keys), ("Unexpected", found.unexpected_keys)):
            if keys:
                errors.append(f"{word} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ". ")
    if errors:
        of_names = strict and (found.missing_keys or found.unexpected_keys) and not loading.errors
        advice = "\nPass `strict=False` to load what fits." if of_names else ""
        raise StateDictError(
            "Error(s) in loading state_dict for {}:\n\t{}".format(type(module).__name__, "\n\t".join(errors)) + advice
        )
    with recording(False):
        for write in loading.writes:
            write()
    return found
