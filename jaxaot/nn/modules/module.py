"""`Module`: what holds parameters, buffers and other modules, and is called (`torch.nn.Module`).

Compiled functions guard those attributes of a module that are read while they are traced. So the methods here read what
they need one by one, and leave the rest to `jaxaot.nn.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from jaxaot._callables import name_init
from jaxaot._jax import load, refuse_values_of
from jaxaot.errors import MissingNameError, TensorTypeError
from jaxaot.errors.absent import check_keywords
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import registry
from jaxaot.nn.hooks import add_hook, call_with_hooks
from jaxaot.nn.moving import applied, target_of
from jaxaot.nn.parameter import Parameter
from jaxaot.nn.state import IncompatibleKeys, load_own_state, load_state_dict, save_own_state, state_dict_of
from jaxaot.tape.hooks import RemovableHandle


class Module:
    """A part of a network: parameters, buffers and other modules, assigned to attributes.

        class Net(ja.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = ja.nn.Linear(4, 2)

            def forward(self, x):
                return self.linear(x).relu()

    Attributes:
      training: Whether the module is in training mode, as dropout and batch norm ask.
    """

    _parameters: Any = None
    _buffers: Any = None
    _modules: Any = None
    _hooks: Any = None
    _non_persistent_buffers_set: set[str]
    _version: int = 1
    training: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_init(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if kwargs:
            check_keywords(cls, kwargs)
        return super().__new__(cls)

    def __init__(self) -> None:
        vars(self).update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(), _modules={}, _hooks=None
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of the module; each class has its own."""
        raise registry.missing_forward(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return call_with_hooks(self, hooks, args, kwargs)

    def _compiled_by(self, compile: Callable[..., Any]) -> Any:
        """Returns what `ja.compile` makes of the module; `compile` makes a compiled function of it."""
        return load("jaxaot.nn.compiled_module").with_compiled_call(compile(self))

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        hooks = {kind: found for kind, found in (self._hooks or {}).items() if kind != "compiled"}
        return call_with_hooks(self, hooks, args, kwargs) if hooks else self.forward(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Has calls of this module run as `ja.compile` of them, with its options; a copy of it runs eagerly.

        Args:
          *args: As of `ja.compile`, without the function.
          **kwargs: The same by name.
        """
        from jaxaot.api import compile

        self._hooks = {**(self._hooks or {}), "compiled": compile(self._call_impl, *args, **kwargs)}

    def __getstate__(self) -> dict[str, Any]:
        hooks = self._hooks
        if not hooks or "compiled" not in hooks:
            return vars(self)
        kept = {kind: found for kind, found in hooks.items() if kind != "compiled"}
        return {**vars(self), "_hooks": kept or None}

    # -- attributes ------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        parameters = self._parameters
        if parameters is not None:
            if name in parameters:
                return parameters[name]
            buffers = self._buffers
            if name in buffers:
                return buffers[name]
            modules = self._modules
            if name in modules:
                return modules[name]
        raise registry.missing_attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        registry.assign(self, name, value)

    def __delattr__(self, name: str) -> None:
        registry.delete(self, name)

    def __dir__(self) -> list[str]:
        return registry.listed(self)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter; None keeps its name for one that there is not."""
        registry.check_name(self, name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TensorTypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (ja.nn.Parameter or None "
                "required)"
            )
        if param is not None and param.grad_fn is not None:
            raise registry.computed_parameter(name)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a buffer: state that is not trained.

        Args:
          name: The attribute by which it is reached.
          tensor: The buffer; None keeps its name for one that there is not.
          persistent: Whether it is part of `state_dict()`.
        """
        registry.check_name(self, name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TensorTypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (ja.Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a module under a name."""
        registry.check_name(self, name, "module", "_modules")
        if module is not None and not isinstance(module, Module):
            registry.refuse_as_module(module)
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """Adds a module under a name."""
        self.add_module(name, module)

    # -- what there is ---------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yields this module and all below it, each with its name, `layers.0.linear`."""
        memo = set() if memo is None else memo
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    place = f"{prefix}.{name}" if prefix else name
                    yield from module.named_modules(memo, place, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yields this module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yields the modules that this one holds itself, each with its name."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Yields the modules that this one holds itself."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yields the parameters, each with its name.

        Args:
          prefix: In front of each name.
          recurse: Whether those of the modules below come too.
          remove_duplicate: Whether one that has several names comes once.
        """
        return registry.named_members(self, "_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yields the parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yields the buffers, each with its name; see `named_parameters`."""
        return registry.named_members(self, "_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yields the buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """Returns the module of a name, `layers.0.linear`."""
        module = self
        for name in target.split(".") if target else ():
            found = module._modules.get(name)
            if found is None:
                there = ", ".join(module._modules) or "none"
                raise MissingNameError(
                    f"{type(module).__name__} has no attribute `{name}` that is a module. Its modules are: {there}."
                )
            module = found
        return module

    def set_submodule(self, target: str, module: Module) -> None:
        """Puts a module in the place of the one of a name."""
        parent, _, name = target.rpartition(".")
        holder = self.get_submodule(parent)
        holder._modules[name] = module

    def get_parameter(self, target: str) -> Parameter:
        """Returns the parameter of a name, `layers.0.weight`."""
        place, _, name = target.rpartition(".")
        found = self.get_submodule(place)._parameters.get(name)
        if found is None:
            raise MissingNameError(f"there is no parameter `{target}`")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Returns the buffer of a name, `layers.0.running_mean`."""
        place, _, name = target.rpartition(".")
        found = self.get_submodule(place)._buffers.get(name)
        if found is None:
            raise MissingNameError(f"there is no buffer `{target}`")
        return found

    # -- changing all ----------------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls a function with every module below, and then with this one; returns this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Says whether this module and all below it are in training mode; returns it."""
        if not isinstance(mode, bool):
            raise registry.no_mode(mode)
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Puts this module and all below it in evaluation mode; returns it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Says whether gradients of the parameters are wanted; returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of the parameters, or sets them to zero."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = parameter.grad.detach().zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        if recurse:
            for module in self.children():
                module._apply(fn)
        applied(self, fn)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Moves parameters and buffers in place, or converts those that are floats; returns the module.

        model.to(ja.bfloat16)
        model.to(jax.devices()[0])
        """
        return self._apply(target_of(args, kwargs))

    def to_empty(self, *, device: object, recurse: bool = True) -> Self:
        """Moves parameters and buffers in place to memory whose values do not matter yet; returns the module.

        model = ja.nn.Linear(3, 4, device="meta").to_empty(device="cpu")

        Args:
          device: Where the memory is.
          recurse: Whether those of the modules inside are moved as well.
        """
        return self._apply(lambda tensor: Tensor.new_empty(tensor, tuple(tensor.shape), device=device), recurse)

    def type(self, dst_type: Any) -> Self:
        """Converts all parameters and buffers to a dtype, in place; returns the module."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Converts what is a float to float32, in place; returns the module."""
        return self._apply(target_of(("float32",), {}))

    def double(self) -> Self:
        """Converts what is a float to float64, in place; returns the module."""
        return self._apply(target_of(("float64",), {}))

    def half(self) -> Self:
        """Converts what is a float to float16, in place; returns the module."""
        return self._apply(target_of(("float16",), {}))

    def bfloat16(self) -> Self:
        """Converts what is a float to bfloat16, in place; returns the module."""
        return self._apply(target_of(("bfloat16",), {}))

    def cpu(self) -> Self:
        """Moves parameters and buffers to the host, in place; returns the module."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Moves parameters and buffers to a GPU, in place; where JAX has none it raises, as PyTorch does without CUDA.

        Args:
          device: Which one, by its number.
        """
        return self._apply(lambda tensor: tensor.cuda(device))

    # -- state -----------------------------------------------------------------------------------------------------

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Returns parameters and persistent buffers by PyTorch's names, on the memory of the module.

        Args:
          destination: A dict that gets them; by default a new one.
          prefix: In front of each name.
          keep_vars: Whether the tensors come as they are, rather than detached.
        """
        return state_dict_of(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies a state dict into parameters and buffers, in place.

        Args:
          state_dict: Name → tensor, jax or NumPy array, or tensor of PyTorch.
          strict: Whether the names have to be those of the module.
          assign: Whether the tensors take the place of those of the module, with their dtypes.

        Returns:
          The names that are missing in the state dict, and those that the module does not have.

        Raises:
          StateDictError: If names or shapes do not fit. Nothing is loaded then.
        """
        return load_state_dict(self, state_dict, strict, assign)

    def get_extra_state(self) -> Any:
        """Returns what the state dict has besides parameters and buffers; a class that has such says it."""
        raise registry.no_extra_state("get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Takes what `get_extra_state` returned."""
        raise registry.no_extra_state("set_extra_state")

    get_extra_state.is_of_module = set_extra_state.is_of_module = True  # type: ignore[attr-defined]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        save_own_state(self, destination, prefix, keep_vars)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *lists: list[str]
    ) -> None:
        load_own_state(self, state_dict, prefix, local_metadata, strict, *lists)

    def _upgrade_state(self, state: dict[str, Any], prefix: str, metadata: dict[str, Any]) -> None:
        """Adds to a state dict of an older version what it lacks."""

    # -- hooks -----------------------------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has `hook(module, args)` called before `forward`; what it returns takes the place of the arguments.

        Args:
          hook: The function.
          prepend: Whether it is called before those that are there.
          with_kwargs: Whether it is `hook(module, args, kwargs)`, and returns both.
        """
        return add_hook(self, "forward_pre", hook, prepend, pre_with_kwargs=with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Has `hook(module, args, output)` called after `forward`; what it returns takes the place of the output.

        Args:
          hook: The function.
          prepend: Whether it is called before those that are there.
          with_kwargs: Whether it is `hook(module, args, kwargs, output)`.
          always_call: Whether it is called also where `forward` raises.
        """
        return add_hook(self, "forward", hook, prepend, with_kwargs=with_kwargs, always_call=always_call)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has `hook(module, grad_output)` called before the backward of the module."""
        return add_hook(self, "backward_pre", hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has `hook(module, grad_input, grad_output)` called after the backward of the module."""
        return add_hook(self, "backward", hook, prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(module, prefix, keep_vars)` called before the state dict of the module is made."""
        return add_hook(self, "state_dict_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(module, state_dict, prefix, local_metadata)` called after the state dict of the module is made."""
        return add_hook(self, "state_dict_post", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` called first."""
        return add_hook(self, "load_pre", hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return self.register_load_state_dict_pre_hook(hook if with_module else lambda _, *given: hook(*given))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return self.register_state_dict_post_hook(hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(module, incompatible_keys)` called when a state dict has been compared with the module."""
        return add_hook(self, "load_post", hook)

    # -- text ------------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Returns what the text of the module says of it, `in_features=4, out_features=2`."""
        return ""

    def __repr__(self) -> str:
        return registry.module_repr(self)


refuse_values_of(Module, registry.refuse_in_jax)
