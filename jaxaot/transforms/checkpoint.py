"""`ja.utils.checkpoint`: a function whose intermediate values are not kept for the backward; a region in a graph."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack, overload

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._callables import require_function
from jaxaot.errors import BudgetError, OptionError
from jaxaot.facade.gradients.recompute import run_dropping
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.regions import region
from jaxaot.partition.budget import parse_budget, parse_fit
from jaxaot.partition.policies import RegionPolicy, get_policy
from jaxaot.tape.modes import state

P = ParamSpec("P")
R = TypeVar("R")


class _Options(TypedDict, total=False):
    """What `checkpoint` takes by name."""

    policy: str | Callable[..., Any] | None
    memory_budget: float | str | None
    use_reentrant: bool | None
    preserve_rng_state: bool
    determinism_check: str
    context_fn: Any
    debug: bool


@overload
def checkpoint(fn: Callable[P, R], /, **options: Unpack[_Options]) -> Callable[P, R]: ...
@overload
def checkpoint(
    fn: Callable[..., R],
    /,
    *args: Any,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
    **kwargs: Any,
) -> R: ...
@overload
def checkpoint(fn: None = None, /, **options: Unpack[_Options]) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def checkpoint(
    fn: Callable[..., Any] | None = None,
    /,
    *args: object,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    context_fn: Callable[..., Any] | None = None,
    debug: bool = False,
    **kwargs: Any,
) -> Any:
    """Returns `fn(*args, **kwargs)`, keeping little of what happens inside for the backward, which computes it again.

        from jaxaot.utils.checkpoint import checkpoint

        y = checkpoint(block, x)                        # as `torch.utils.checkpoint.checkpoint(block, x)`
        block = checkpoint(block)                       # without arguments: a function, also as a decorator
        @checkpoint(policy="save_matmuls")              # a decorator with options

    In a trace (`ja.compile`, `ja.trace`, `ja.aot`) the call is a *region* of the graph, with a policy or a budget of
    its own; the cut of the whole graph respects it. Called on arrays alone outside of one it is `jax.checkpoint`, and a
    region wherever jaxaot makes a joint graph of it. Called on tensors eagerly, nothing inside is kept, whatever the
    policy says: the backward runs `fn` again, from the values that its tensors had and with the same random numbers.
    What `fn` does to tensors happens once; what it does to other Python objects happens again.

    Args:
      fn: A function of tensors, arrays or anything else, in any containers. A function without arguments is called as
        `checkpoint(fn)()`.
      *args: Its arguments.
      policy: What is saved inside: a policy or its name; by default nothing, or if there is a budget, what is best.
      memory_budget: The most that is saved inside: a fraction of what `save_all` saves there, or bytes such as
        `"16MiB"`. Where the policy saves more, what it never recomputes is recomputed after all.
      use_reentrant: PyTorch's switch between two implementations, of which there is one here. With True the backward
        may only be one of all leaves, as in PyTorch: neither `autograd.grad` nor `backward(inputs=…)`.
      preserve_rng_state: As in PyTorch, but the same random numbers cost nothing here, so they are drawn in any case.
      determinism_check: `"default"`, or `"none"` to accept residuals of other shapes when `fn` runs again eagerly.
      context_fn: PyTorch's way to a policy; refused.
      debug: Whether the error about a second run that does something else lists the operations of both.
      **kwargs: Keyword arguments of `fn`.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
      OptionError: If an option has no meaning here.
    """
    _check(policy, memory_budget, determinism_check, context_fn)
    options = {"policy": policy, "memory_budget": memory_budget, "is_strict": determinism_check != "none"}
    call = functools.partial(_call, lists=debug, is_reentrant=bool(use_reentrant), **options)
    if fn is None:
        if args or kwargs:
            raise OptionError(
                "`ja.utils.checkpoint.checkpoint` got arguments and no function. Write `checkpoint(fn, x)`, or "
                '`checkpoint(policy="save_matmuls")` for a decorator.'
            )
        return lambda fn: _wrapped(fn, call)
    require_function(fn, "ja.utils.checkpoint.checkpoint", "ja.utils.checkpoint.checkpoint(f, x)")
    return call(fn, args, kwargs) if args or kwargs else _wrapped(fn, call)


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **options: Any,
) -> Any:
    """Returns what a sequence of functions makes of an input; all but the last of several segments is checkpointed.

        y = ja.utils.checkpoint.checkpoint_sequential(layers, 4, x)

    Args:
      functions: Functions of one argument; each gets what the one before it returned.
      segments: How many runs of functions that follow one another there are, each of as many as fit, the last of the
        rest.
      input: What the first gets.
      use_reentrant: As for `checkpoint`.
      **options: The other options of `checkpoint`, such as `policy`.

    Raises:
      OptionError: If there are more segments than functions, or less than one.
    """
    listed = list(functions)
    if not 1 <= segments <= max(len(listed), 1):
        raise OptionError(
            f"{len(listed)} functions make no {segments} segments. Write a number from 1 to the number of functions."
        )
    n = len(listed) // segments
    starts = [i * n for i in range(segments)]
    *kept_little, last = [listed[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    run = lambda functions, value: functools.reduce(lambda value, fn: fn(value), functions, value)
    for part in kept_little:
        input = checkpoint(functools.partial(run, part), input, use_reentrant=use_reentrant, **options)
    return run(last, input)


class _Setting:
    """A context manager that sets a field of the thread's state."""

    _field = ""

    def __init__(self, enable: bool | None):
        self._enable = None if enable is None else bool(enable)
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(getattr(state, self._field))
        setattr(state, self._field, self._enable)

    def __exit__(self, *_: object) -> None:
        setattr(state, self._field, self._before.pop())


class set_checkpoint_early_stop(_Setting):
    """Inside, says whether a checkpointed function that runs again ends as soon as all is there that a backward needs.

    By default it does. It holds for the functions that are called inside, whenever their backward is.

    Args:
      enable: Whether it does.
    """

    _field = "stops_recomputing"


class set_checkpoint_debug_enabled(_Setting):
    """Inside, says for all calls of `checkpoint` whether their errors list operations, whatever `debug=` says.

    Args:
      enable: Whether they do; None leaves it to `debug=`.
    """

    _field = "lists_operations"


@contextlib.contextmanager
def memory_budget(budget: float | str) -> Iterator[None]:
    """Makes what is traced in the block a region with a budget of its own; eagerly it does nothing.

    Args:
      budget: The most that is saved of the block: a fraction of what `save_all` saves there, or bytes such as
        `"16MiB"`.

    Raises:
      BudgetError: If the budget cannot be read.
    """
    _check_budget(budget)
    with region(memory_budget=budget):
        yield


def _check(
    policy: str | Callable[..., Any] | None,
    memory_budget: float | str | None,
    determinism_check: str,
    context_fn: Callable[..., Any] | None,
) -> None:
    if policy is not None:
        get_policy(policy)
    _check_budget(memory_budget)
    if determinism_check not in ("default", "none"):
        raise OptionError(f"`determinism_check` is {determinism_check!r}; write 'default' or 'none'.")
    if context_fn is not None:
        raise OptionError(
            "`context_fn` makes contexts that intercept PyTorch's operations. To say what is saved inside, pass a "
            "policy: `ja.utils.checkpoint.checkpoint(fn, x, policy=ja.policies.save_only_these_names('attention'))`."
        )


def _check_budget(budget: float | str | None) -> None:
    if parse_fit(budget) is not None:
        raise BudgetError(
            f"The memory budget {budget!r} is for the memory of everything, and a region is only a part. Write what is "
            "to be saved of it, such as `memory_budget=0.5` or `memory_budget='16MiB'`, or pass "
            f"`memory_budget={budget!r}` to `ja.compile`."
        )
    if budget is not None:
        parse_budget(budget, 0)


def _wrapped(fn: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def checkpointed(*args: object, **kwargs: Any) -> Any:
        return call(fn, args, kwargs)

    return checkpointed


def _call(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    policy: str | Callable[..., Any] | None,
    memory_budget: float | str | None,
    is_strict: bool,
    lists: bool,
    is_reentrant: bool,
) -> Any:
    if state.trace is not None:
        with region(policy, memory_budget):
            return fn(*args, **kwargs)
    leaves, tree = pytree.flatten((args, kwargs))
    is_array = [isinstance(leaf, (jax.Array, np.ndarray)) for leaf in leaves]
    if any(isinstance(leaf, Tensor) for leaf in leaves) or not any(is_array):
        return run_dropping(fn, args, kwargs, is_strict, lists, is_reentrant)

    def of_arrays(*arrays: object) -> Any:
        given = iter(arrays)
        filled = [next(given) if wanted else leaf for leaf, wanted in zip(leaves, is_array, strict=True)]
        args, kwargs = pytree.unflatten(tree, filled)
        return fn(*args, **kwargs)

    arrays = [leaf for leaf, wanted in zip(leaves, is_array, strict=True) if wanted]
    return jax.checkpoint(of_arrays, policy=RegionPolicy(policy, memory_budget))(*arrays)
