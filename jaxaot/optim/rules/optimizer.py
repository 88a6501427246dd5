"""`Optimizer`: groups of parameters, what is kept of each, and one step (`torch.optim.Optimizer`).

Compiled functions look into optimizers as into objects of the user's: parameters and what is kept of them are inputs
and written in place, numbers of groups are guarded by their values. The learning rate is the exception: it is an input
of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from jaxaot.errors import TensorTypeError
from jaxaot.errors.absent import check_keywords
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.hooks import add_hook
from jaxaot.optim.groups import (
    call_hooks,
    check_defaults,
    completed,
    listed,
    load_state_dict,
    no_update,
    state_dict_of,
    text_of,
    update_complex,
)
from jaxaot.optim.updates import updates_of
from jaxaot.tape.hooks import RemovableHandle

ParamsT = Iterable[Any]


class Optimizer:
    """What changes parameters by their gradients.

    Attributes:
      param_groups: Dicts with the parameters of a group, `params`, and its options.
      state: Parameter → what is kept of it.
      defaults: The options of groups that do not say otherwise.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if kwargs:
            check_keywords(cls, kwargs)
        return super().__new__(cls)

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        check_defaults(defaults)
        self.defaults = defaults
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.param_groups: list[dict[str, Any]] = []
        self._hooks: Any = None
        for group in listed(params):
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group: a dict with `params`, and options that are not the defaults."""
        group = completed(param_group, self.defaults, self.param_groups)
        self.param_groups.append(group)
        with recording(False):
            for parameter in group["params"]:
                if parameter.requires_grad:
                    self._begin(parameter, group)

    def _begin(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        made = self._start(parameter, group)
        self.state[parameter] = made
        return made

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Returns what is kept of a parameter before its first step."""
        return {}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Changes a parameter, and what is kept of it, in place."""
        raise no_update(self)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes the parameters that have gradients, in place.

        Args:
          closure: Computes the loss and its gradients anew.

        Returns:
          What `closure` returns, else None.

        Raises:
          TensorTypeError: If the closure is no function.
        """
        if closure is not None and not callable(closure):
            raise TensorTypeError(
                f"`step` takes a function that computes the loss, and was given {closure!r}. Write "
                "`loss.backward()`, then `optimizer.step()`."
            )
        hooks = self._hooks
        if hooks is not None:
            call_hooks(self, hooks, "step_pre", closure)
        loss = None
        if closure is not None:
            with recording(True):
                loss = closure()
        with recording(False):
            self._step()
        if hooks is not None:
            call_hooks(self, hooks, "step_post", closure)
        return loss

    def _step(self) -> None:
        for group in self.param_groups:
            is_ascent = group.get("maximize", False)
            waiting = updates_of(self, group)
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                state = self.state.get(parameter)
                if state is None:
                    state = self._begin(parameter, group)
                if waiting is not None:
                    if waiting.takes(parameter, gradient, state):
                        continue
                    waiting.run()
                if is_ascent:
                    gradient = -gradient
                if parameter.is_complex():
                    update_complex(self, parameter, gradient, state, group)
                else:
                    self._update(parameter, gradient, state, group)
            if waiting is not None:
                waiting.run()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of the parameters, or sets them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad = parameter.grad.detach().zero_()

    def state_dict(self) -> dict[str, Any]:
        """Returns the groups, with numbers in the place of parameters, and what is kept by these numbers."""
        return state_dict_of(self)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Loads groups and what is kept of parameters, in the order of the parameters.

        Raises:
          StateDictError: If there are other groups, or groups of other sizes. Nothing is loaded then.
        """
        load_state_dict(self, state_dict)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(optimizer, args, kwargs)` called before each step."""
        return add_hook(self, "step_pre", hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(optimizer, args, kwargs)` called after each step."""
        return add_hook(self, "step_post", hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(optimizer)` called before a state dict is made."""
        return add_hook(self, "state_dict_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(optimizer, state_dict)` called when a state dict was made; what it returns takes its place."""
        return add_hook(self, "state_dict_post", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(optimizer, state_dict)` called before a state dict is loaded; its result takes its place."""
        return add_hook(self, "load_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has `hook(optimizer)` called when a state dict was loaded."""
        return add_hook(self, "load_post", hook)

    def __repr__(self) -> str:
        return text_of(self)
