"""aot_module: an object with parameters, called like itself, compiled like a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.aot.flax_modules import LiftedLinen, LiftedNnx, is_linen_module, is_nnx_module
from jaxaot.aot.function import aot_function
from jaxaot.aot.lift import AbstractLifted, LiftedObject, holds_tensors
from jaxaot.aot.partitions import min_cut_rematerialization_partition
from jaxaot.errors import ModuleLiftError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.report.record import Report


def lift(module: object, variables: object = None) -> AbstractLifted:
    """Returns a module with its parameters and buffers as tensors."""
    if is_linen_module(module):
        return LiftedLinen(module, variables)
    if variables is not None:
        raise ModuleLiftError(f"`variables` are those of a linen module; this is a {type(module).__name__}.")
    return LiftedNnx(module) if is_nnx_module(module) else LiftedObject(module)


def lifted_function(lifted: AbstractLifted) -> Callable[..., Any]:
    """Returns a module as a function of its parameters, its buffers, what else a program depends on, and a call."""

    def functional(
        parameters: Any, buffers: Any, depends_on: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return lifted.run(args, kwargs)

    return functional


class AotModule:
    """A module whose calls are compiled.

    Attributes:
      module: The module itself.
    """

    def __init__(self, lifted: AbstractLifted, compiled: Any):
        self._lifted = lifted
        self._compiled = compiled
        self.module = lifted.module

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        lifted = self._lifted
        depends_on = lifted.refresh()
        args, kwargs = lifted.inputs(args, kwargs)
        return tuple(lifted.parameters.values()), tuple(lifted.buffers.values()), depends_on, args, kwargs

    def __call__(self, /, *args: object, **kwargs: Any) -> Any:
        result = self._compiled(*self._arguments(args, kwargs))
        self._lifted.store()
        return result

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The parameters by name, as of the last call."""
        return dict(self._lifted.parameters)

    @property
    def buffers(self) -> dict[str, Tensor]:
        """The buffers by name, as of the last call."""
        return dict(self._lifted.buffers)

    @property
    def variables(self) -> Any:
        """The variables of a linen module; assign to replace them."""
        return self._linen().variables

    @variables.setter
    def variables(self, variables: Any) -> None:
        self._linen().variables = variables

    def _linen(self) -> LiftedLinen:
        if not isinstance(self._lifted, LiftedLinen):
            raise ModuleLiftError(f"Only linen modules have variables; this is a {type(self.module).__name__}.")
        return self._lifted

    def gradients(self) -> Any:
        """Returns the parameters' gradients, in the container that the module's library has for parameters.

        A dict by name of an object that holds tensors; an `nnx.State`, as `nnx.grad` returns, of an nnx module; a tree
        like `variables["params"]` of a linen module.
        """
        return self._lifted.gradients()

    def zero_grad(self) -> None:
        """Forgets the gradients of all parameters."""
        for tensor in self._lifted.parameters.values():
            tensor.grad = None

    def trace(self, /, *args: object, **kwargs: Any) -> Any:
        """Returns the traced graph of a call; nothing is changed by it."""
        return self._compiled.trace(*self._arguments(args, kwargs))

    def explain(self, /, *args: object, **kwargs: Any) -> Report:
        """Returns a report on every stage that a call goes through, to print or to save."""
        return self._compiled.explain(*self._arguments(args, kwargs))

    def cache_info(self) -> Any:
        """Returns how many calls found a program, how many had one built, and how many there are."""
        return self._compiled.cache_info()

    def clear_cache(self) -> None:
        """Drops all compiled versions."""
        self._compiled.clear_cache()


def aot_module(module: object, *args: Any, variables: object = None, **kwargs: Any) -> AotModule:
    """Returns a callable like `module`, compiled as by `aot_function`.

    Its graphs take the parameters, then the buffers, then what it is called with; tensors held at several places are
    one input. It returns tensors, and `.backward()` leaves gradients in the parameters: `gradients()` returns them as
    the module's library holds parameters, `zero_grad()` forgets them. Buffers that change are changed in the module,
    in an nnx module's Variables too; those of a linen module, which holds nothing, in `.variables`.

        step = ja.aot.aot_module(model, "xla")          # an nnx model
        loss = step(x).square().mean()
        loss.backward()
        optimizer.update(model, step.gradients())
        step.zero_grad()

    Args:
      module: Any callable object that holds tensors, also in objects, lists and dicts below it; a flax nnx module; a
        flax linen module.
      *args: As of `aot_function`, from `fw_compiler` on.
      variables: Of a linen module that is not bound: the collection `params` are parameters, the others buffers.
      **kwargs: As of `aot_function`.

    Raises:
      ModuleLiftError: If its state cannot become inputs.
    """
    lifted = lift(module, variables)
    n = len(lifted.parameters) + len(lifted.buffers)
    compiled = aot_function(lifted_function(lifted), *args, **{"num_params_buffers": n, **kwargs})
    return AotModule(lifted, compiled)


def memory_efficient_fusion(fn: Callable[..., Any], **options: Any) -> Any:
    """Returns a function, or a module, compiled by XLA with the fewest bytes kept for the backward.

    Args:
      fn: A function for `aot_function`, or an object with parameters for `aot_module`.
      **options: Other arguments of these, which replace the compiler and the partition function.
    """
    options = {"fw_compiler": "xla", "partition_fn": min_cut_rematerialization_partition, **options}
    is_module = is_nnx_module(fn) or is_linen_module(fn) or holds_tensors(fn)
    return aot_module(fn, **options) if is_module else aot_function(fn, **options)
