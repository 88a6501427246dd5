"""What is recorded: `no_grad`, `enable_grad`, `inference_mode`, as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from jaxaot.errors import UnknownSettingError
from jaxaot.tape.threads import threads


class _State(threading.local):
    """What holds for the running thread.

    Attributes:
      grad_enabled: Whether operations are recorded.
      trace: The trace in progress, or None.
      region: The run of a checkpointed function in progress, or None.
      stops_recomputing: Whether a checkpointed function that runs again ends once all is there that was saved.
      lists_operations: What `set_checkpoint_debug_enabled` said; None where each checkpointed call says it.
      streams: What generators draw from while a branch or a loop runs eagerly; None outside of them.
      inlines: Whether compiled functions run as the functions themselves, because one that calls them gave up.
      checks_versions: Whether a backward refuses when what it saved was written since.
      saved_hooks: The `HookPair` that packs what is saved, or None.
      hooks_outside: The pairs around that one, innermost first: (pair, outer ones), or None.
      hooks_disabled: What the error says where such hooks are forbidden, or None.
      saves_plainly: Whether what is saved is neither packed nor noted.
      anomaly: What notes the lines of nodes and looks at what they compute, in anomaly mode and in traces; else None.
      backward_pass: The backward in progress, the innermost; None if none is.
      depth: How many are in progress, each in a backward of the user's that the one around it called.
      infers: Whether tensors that are made are inference tensors, which cannot be saved.
      compiles_tape: What runs backwards as programs, a `TapeCompiler`; None if the engine does, node by node.
      autocast: In which precision listed ops run, an `Autocast`; None as long as nothing was set.
      autocast_before: What `autocast` was outside of each context that was entered.
      dual: The level of forward mode, whose tangents are computed; None outside of it.
      uses_threads: What `set_multithreading_enabled` said.
      makes_abstract: Whether tensors that say no device are made without values, by `with ja.device("meta")`.
      recorder: What has operations wait, so that stretches of them run together; None if they run at once.
      may_write_saved: The `MutationContext` that `allow_mutation_on_saved_tensors` entered, or None.
      devices_before: For each `ja.device` that was entered: what `makes_abstract` was, and what places arrays of JAX.
      casts: Weights that were cast in the outermost of these contexts; see `facade/dispatch/autocast_operands.py`.
    """

    grad_enabled: bool = True
    trace: Any = None
    region: Any = None
    stops_recomputing: bool = True
    lists_operations: bool | None = None
    streams: Any = None
    inlines: bool = False
    checks_versions: bool = False
    saved_hooks: Any = None
    hooks_outside: Any = None
    hooks_disabled: str | None = None
    saves_plainly: bool = True
    infers: bool = False
    backward_pass: Any = None
    depth: int = 0
    autocast: Any = None
    anomaly: Any = None
    compiles_tape: Any = None
    dual: Any = None
    recorder: Any = None
    uses_threads: bool = True
    may_write_saved: Any = None
    makes_abstract: bool = False

    def __init__(self) -> None:  # runs once in each thread
        threads.note()
        self.autocast_before: list[Any] = []
        self.casts: dict[Any, Any] = {}
        self.devices_before: list[Any] = []

    def note_saving(self) -> None:
        """Sets `saves_plainly` by what it depends on."""
        notes = self.checks_versions or self.may_write_saved is not None
        self.saves_plainly = self.saved_hooks is None and not notes


state = _State()


class _SetAtOnce:
    """Sets a field of the state at once; a `with` block sets it too, and restores it afterwards."""

    _field = ""

    def __init__(self, value: bool):
        self._before, self._value = getattr(state, self._field), value
        self._set(value)

    def __enter__(self) -> None:
        self._set(self._value)

    def __exit__(self, *_: object) -> None:
        self._set(self._before)

    def _set(self, value: bool) -> None:
        setattr(state, self._field, value)
        state.note_saving()


class set_grad_enabled(_SetAtOnce):
    """Switches recording on or off at once, and as a context manager restores it afterwards."""

    _field = "grad_enabled"

    def __init__(self, mode: bool):
        super().__init__(bool(mode))

    def __call__(self, fn: Callable[..., Any]) -> Any:
        state.grad_enabled = self._before  # as a decorator it says nothing of what surrounds the function
        return _within(lambda: set_grad_enabled(self._value), fn)


def _within(mode: Callable[[], Any], fn: Callable[..., Any]) -> Any:
    """Returns a function that runs in a mode; a generator or coroutine is in it while it runs, not its caller."""
    if isinstance(fn, type):
        warnings.warn(
            f"Decorating classes is deprecated: only `{fn.__name__}(...)` would run in the mode, and its methods would "
            "not. Decorate `__init__` and the methods that are meant.",
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isgeneratorfunction(fn):

        @functools.wraps(fn)
        def generate(*args: object, **kwargs: Any) -> Any:
            return _steps_within(mode, fn(*args, **kwargs))

        return generate
    if inspect.isasyncgenfunction(fn):

        @functools.wraps(fn)
        def generate_awaiting(*args: object, **kwargs: Any) -> Any:
            return _awaited_steps_within(mode, fn(*args, **kwargs))

        return generate_awaiting
    if inspect.iscoroutinefunction(fn):

        @functools.wraps(fn)
        async def run(*args: object, **kwargs: Any) -> Any:
            return await _Awaited(_steps_within(mode, fn(*args, **kwargs)))

        return run

    @functools.wraps(fn)
    def inside(*args: object, **kwargs: Any) -> Any:
        with mode():
            return fn(*args, **kwargs)

    return inside


class _Awaited:
    """What a coroutine waits for, as an object that `await` takes."""

    def __init__(self, steps: Generator[Any, Any, Any]):
        self._steps = steps

    def __await__(self) -> Any:
        return self._steps


async def _awaited_steps_within(mode: Callable[[], Any], steps: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
    """Yields what an asynchronous generator yields; each of its steps runs in a mode."""
    step: Callable[[], Any] = functools.partial(steps.asend, None)
    try:
        while True:
            try:
                value = await _Awaited(_steps_within(mode, step()))
            except StopAsyncIteration:
                return
            try:
                step = functools.partial(steps.asend, (yield value))
            except GeneratorExit:
                raise
            except BaseException as error:  # thrown into it: it may go on
                step = functools.partial(steps.athrow, error)
    finally:
        await _Awaited(_steps_within(mode, steps.aclose()))


def _steps_within(mode: Callable[[], Any], steps: Any) -> Generator[Any, Any, Any]:
    """Yields what a generator or a coroutine yields; each of its steps runs in a mode."""
    step: Callable[[], Any] = functools.partial(steps.send, None)
    try:
        while True:
            try:
                with mode():
                    value = step()
            except StopIteration as stop:
                return stop.value
            try:
                step = functools.partial(steps.send, (yield value))
            except GeneratorExit:
                raise
            except BaseException as error:  # thrown into it: it may go on
                step = functools.partial(steps.throw, error)
    finally:
        with mode():
            steps.close()


class _Mode:
    """A context manager, and a decorator, that sets `grad_enabled`."""

    _enabled = True

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(state.grad_enabled)
        state.grad_enabled = self._enabled

    def __exit__(self, *_: object) -> None:
        state.grad_enabled = self._before.pop()

    def __call__(self, fn: Callable[..., Any]) -> Any:
        return _within(self._again, fn)

    def _again(self) -> Any:
        return type(self)()


class no_grad(_Mode):
    """Inside, operations are not recorded: results do not require grad."""

    _enabled = False

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if fn is None else super().__new__(cls)(fn)

    def __init__(self, fn: Callable[..., Any] | None = None) -> None:
        super().__init__()


class enable_grad(no_grad):
    """Inside, operations are recorded, also within `no_grad`."""

    _enabled = True


class inference_mode(no_grad):
    """As `no_grad`; and what is made inside can never be saved for a backward."""

    _enabled = False

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return super().__new__(cls)(mode)
        return super().__new__(cls)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self._enabled = not mode if not callable(mode) else False
        self._inferred: list[bool] = []

    def _again(self) -> Any:
        return type(self)(not self._enabled)

    def __enter__(self) -> None:
        super().__enter__()
        self._inferred.append(state.infers)
        state.infers = not self._enabled

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        state.infers = self._inferred.pop()


def is_grad_enabled() -> bool:
    """Returns whether operations are being recorded."""
    return state.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Returns whether tensors that are made now are inference tensors."""
    return state.infers


class set_multithreading_enabled(_SetAtOnce):
    """Sets at once whether a backward may use several threads, as PyTorch's does; a `with` block restores it.

    It is only noted here: a backward runs where it is called, and each operation uses what threads XLA has.

    Args:
      mode: Whether it may.
    """

    _field = "uses_threads"

    def __init__(self, mode: bool):
        super().__init__(bool(mode))


def is_multithreading_enabled() -> bool:
    """Returns what `set_multithreading_enabled` said last."""
    return state.uses_threads


class set_version_check(_SetAtOnce):
    """Sets at once what a backward does when a tensor that it saved was written since; a `with` block restores it.

    Values here are immutable, so what was saved cannot change, and the gradient is right whatever is written later.
    PyTorch refuses instead; `"error"` does so too, for those who port a program and compare.

    Args:
      mode: `"off"`, the default, or `"error"`.

    Raises:
      UnknownSettingError: If it is neither.
    """

    _field = "checks_versions"

    def __init__(self, mode: str):
        if mode not in ("off", "error"):
            raise UnknownSettingError([mode], ["off", "error"])
        super().__init__(mode == "error")
