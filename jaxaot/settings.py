"""Settings, in one frozen value that is scoped or set for the whole program.

`Config` is the value, `get` reads the one in force; `config`, users' `ja.config`, replaces fields for a block, and
`config.set` for the program. What the result of a compilation depends on is part of its cache key as a whole `Config`.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from jaxaot._immutable import immutable
from jaxaot.errors import ArgumentError, UnknownSettingError, UsageError


@immutable
class Config:
    """Every setting of jaxaot.

    Attributes:
      policy: Name of the partition policy: `"min_cut"`, `"save_all"` or another registered one.
      memory_budget: What the forward may save: `None`, a fraction of `save_all`, bytes such as `"512MiB"`, or what
        everything has to fit in, such as `"fit:16GiB"`.
      offload: Whether a budget may be met by moving values to the memory of the host between forward and backward.
      costs: How long an equation takes to recompute, where a budget has to choose: by the `"roofline"` of the device in
        use, of another one by name (`"h100"`, `"v5e"`, …), or `"measured"` on the device in use.
      recompute_collectives: Whether the backward may repeat exchanges between devices rather than save their results.
      passes: Names of the graph passes, or functions from a ClosedJaxpr to one with the same inputs and outputs; those
        of the joint graph run in this order. By default those that `jaxaot.passes.pipeline.default_passes()` returns;
        `("cse", "dce")` is these two alone.
      blocks: What is computed in blocks on CPU where that is estimated to save at least 8 MiB, see
        `docs/fit_into_memory.md`: `"attention"` over 2,048 positions or more, `"losses"` over many classes; `True` is
        both. Some models take longer with them.
      donate: Whether compiled calls may reuse the buffers of the storages that they write.
      max_breaks: At most this many branches on values in one call are programs; with more Python runs it.
      max_values: At most this many distinct values that Python branches on at one place get a compiled program;
        any further value runs eagerly.
      fuse_backward: Whether backward kernels of small eager ops that often run one after the other are fused.
      check_graphs: Whether every stage checks its graph, and a pass that fails raises; slow, for debugging.
      check_executables: Whether what a program of XLA returns at its first call is compared with what the equations of
        its graph give one by one; slow, for debugging. A difference that rounding does not explain is a
        `WrongExecutableError`, see `docs/xla_faults.md`. Programs with side effects are not looked at.
      exact_rounding: Whether each operation rounds its result as it does alone. XLA then neither takes `log(exp(x))`
        for `x`, nor adds a product without rounding it, nor keeps halves in float32; and no pass of jaxaot reorders
        sums (see `is_exact` in `jaxaot.backend.cpu.pipeline`). Compensated sums need it. It holds for `ja.compile`,
        `ja.jit` and eager ops, outside of transformations of JAX, whose `jit` takes no options there; on CPU for all
        of this, elsewhere without the rounding of products.
      trust_large_containers: Whether a list, dict or set with more than 100,000 items that a compiled function reads is
        guarded by its type and length alone. Otherwise such a function is refused.
      validate_guards: Whether it is proved of each program of `ja.compile` that its guards imply what the trace relied
        on of Python; slow, for debugging. It needs `pip install "jaxaot[validate]"`. Where they do not, that is an
        `UnsoundGuardsError`, see `docs/python.md`.
      cache_dir: A directory in which graphs are kept for later processes, see `docs/shipping.md`; None for none.
        At first that of the environment variable `JAXAOT_CACHE_DIR`.
      cache_bytes: What its files may take; beyond that those go that were used least recently.
      kernels_dir: A directory in which programs of eager ops are kept for later processes, see `docs/shipping.md`; None
        for none. At first that of the environment variable `JAXAOT_KERNELS_DIR`, or one in the user's folder of caches;
        an empty variable is None.
      strict_cache: Whether a graph that cannot be kept there is an error.
      keep_heaps: Whether the process may keep memory that large programs on CPU free, for their next call, see
        `docs/speed.md`. `False`, set in a block or globally, gives back at once what the process keeps.
      progress: Whether what takes more than two seconds says on a terminal what is done.
    """

    policy: str = "min_cut"
    memory_budget: float | str | None = None
    offload: bool = False
    costs: str = "roofline"
    recompute_collectives: bool = False
    passes: tuple[str | Callable[[Any], Any], ...] | None = None
    blocks: bool | tuple[str, ...] = False
    donate: bool = True
    max_breaks: int = dataclasses.field(default=64, compare=False)  # no program depends on these two
    max_values: int = dataclasses.field(default=8, compare=False)
    fuse_backward: bool = True
    check_graphs: bool = False
    check_executables: bool = False
    exact_rounding: bool = False
    trust_large_containers: bool = False
    validate_guards: bool = False
    cache_dir: str | None = dataclasses.field(default=None, compare=False)
    cache_bytes: int = dataclasses.field(default=1 << 30, compare=False)
    kernels_dir: str | None = dataclasses.field(default=None, compare=False)
    strict_cache: bool = dataclasses.field(default=False, compare=False)
    keep_heaps: bool = dataclasses.field(default=True, compare=False)
    progress: bool = dataclasses.field(default=True, compare=False)

    def replace(self, **settings: Any) -> Config:
        """Returns this config with some fields replaced.

        Raises:
          UnknownSettingError: If a name is not a setting.
          UsageError: If a pass is neither a name nor a function.
        """
        known = [field.name for field in dataclasses.fields(self)]
        unknown = [name for name in settings if name not in known]
        if unknown:
            raise UnknownSettingError(unknown, known)
        for name, value in settings.items():
            _check_type(name, value)
        if not isinstance(settings.get("blocks", True), bool):
            settings["blocks"] = tuple(settings["blocks"])
        if settings.get("passes") is not None:
            settings["passes"] = tuple(settings["passes"])
            wrong = [one for one in settings["passes"] if not isinstance(one, str) and not callable(one)]
            if wrong:
                raise UsageError(
                    f"`passes` are names and functions from graph to graph, and {wrong[0]!r} is neither. Write for "
                    "instance `ja.config(passes=('cse', 'dce'))`."
                )
        for name, value in settings.items():
            if name in _checks and value != getattr(self, name):
                _checks[name](value)
        return dataclasses.replace(self, **settings)


BLOCKS = ("losses", "attention")
"""What may be computed in blocks."""

_TYPES = {field.name: type(field.default) for field in dataclasses.fields(Config)}


def _check_type(name: str, value: object) -> None:
    """Raises if a setting that is a bool, an int or a folder is given something else.

    Raises:
      UsageError: If so.
    """
    wanted = _TYPES[name]
    if name == "blocks":
        is_right = isinstance(value, bool) or (isinstance(value, (list, tuple)) and {*value} <= {*BLOCKS})
        what = f"True, False, or which of {BLOCKS}"
    elif name in ("cache_dir", "kernels_dir"):
        is_right, what = value is None or isinstance(value, (str, os.PathLike)), "the path of a folder, or None"
    elif wanted is bool:
        is_right, what = isinstance(value, bool), "True or False"
    elif wanted is int:
        is_right, what = isinstance(value, int) and not isinstance(value, bool), "an int"
    elif name == "passes":
        is_right, what = not isinstance(value, str), f"a tuple of passes: `passes=({value!r},)`"
    else:
        return
    if not is_right:
        raise UsageError(f"The setting `{name}` is {what}, and {value!r} was given.")


def _users_kernels() -> str | None:
    """Returns where kernels are kept if the user says nothing: where the system has what can be made again."""
    if sys.platform == "darwin":
        root = os.path.expanduser("~/Library/Caches")
    elif sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA", "")
    else:
        root = os.environ.get("XDG_CACHE_HOME", "")
        root = root if os.path.isabs(root) else os.path.expanduser("~/.cache")
    return os.path.join(root, "jaxaot", "kernels") if os.path.isabs(root) else None


USERS_KERNELS = _users_kernels()
"""The `kernels_dir` of those who name none."""

_default = Config(
    cache_dir=os.environ.get("JAXAOT_CACHE_DIR") or None,
    kernels_dir=os.environ.get("JAXAOT_KERNELS_DIR", USERS_KERNELS) or None,
)
_kernels_differ = False  # whether some thread has, or had, settings under which eager kernels are others
_when_kernels_differ: list[Callable[[], None]] = []
_when_heaps_are_given_back: list[Callable[[], None]] = []


_checks: dict[str, Callable[[Any], object]] = {}


def check_values_of(name: str, check: Callable[[Any], object]) -> None:
    """Has a function called with each new value of a setting, which raises if it is none."""
    _checks[name] = check


def kernels_differ() -> bool:
    """Returns whether eager kernels have to look at the settings in force: since such settings were first used."""
    return _kernels_differ


def when_kernels_differ(callback: Callable[[], None]) -> Callable[[], None]:
    """Has a function called once when eager kernels have to look at the settings in force; now, if they do."""
    _when_kernels_differ.append(callback)
    if _kernels_differ:
        callback()
    return callback


def when_heaps_are_given_back(callback: Callable[[], None]) -> Callable[[], None]:
    """Has a function called whenever settings that keep no heaps come in force."""
    _when_heaps_are_given_back.append(callback)
    return callback


def _note(config: Config) -> Config:
    global _kernels_differ
    if config.cache_dir is not None:  # by name: nothing else of the room is needed, nor without a directory this
        keeper = importlib.import_module("jaxaot.lower.warm.executables")
        keeper.keep_executables(config.cache_dir, config.cache_bytes)
    if not config.keep_heaps:
        for callback in _when_heaps_are_given_back:
            callback()
    if (config.exact_rounding or config.check_executables) and not _kernels_differ:
        _kernels_differ = True
        for callback in _when_kernels_differ:
            callback()
    return config


_scoped: contextvars.ContextVar[Config | None] = contextvars.ContextVar("jaxaot_config", default=None)
scoped_value = _scoped.get
"""Returns the settings of the innermost `with` block, or None; for callers that cannot afford `get`."""


def get() -> Config:
    """Returns the settings in force here."""
    return _scoped.get() or _default


def _refuse_unnamed(called: str, positional: tuple[object, ...]) -> None:
    if positional:
        raise ArgumentError(
            f"`ja.{called}` takes settings by name, and was given {positional[0]!r} without one. Write for instance "
            f"`ja.{called}(policy='save_all')`; `ja.config.get()` shows them all."
        )


@contextlib.contextmanager
def _scoped_block(settings: dict[str, Any]) -> Iterator[Config]:
    config = _note(get().replace(**settings))
    token = _scoped.set(config)
    try:
        yield config
    finally:
        _scoped.reset(token)


class Settings:
    """Replaces settings: inside a `with` block when it is called, for the whole program by `set`; `get` shows them.

        with ja.config(policy="save_all"):
            step(x)
        ja.config.set(cache_dir="graphs")

    Args:
      **settings: Fields of the `Config` that `ja.config.get()` returns.

    Raises:
      ArgumentError: If a value has no name.
      UnknownSettingError: If there is no such setting.
    """

    def __call__(self, *positional: object, **settings: object) -> contextlib.AbstractContextManager[Config]:
        _refuse_unnamed("config", positional)
        get().replace(**settings)  # so that what is wrong fails here, with or without `with`
        return _scoped_block(settings)

    @staticmethod
    def get() -> Config:
        """Returns the settings in force here."""
        return get()

    @staticmethod
    def set(*positional: object, **settings: object) -> None:
        """Replaces settings for the rest of the program, in every thread.

        Raises:
          ArgumentError: If a value has no name.
          UnknownSettingError: If there is no such setting.
        """
        global _default
        _refuse_unnamed("config.set", positional)
        _default = _note(_default.replace(**settings))

    def __repr__(self) -> str:
        return f"<ja.config: {get()}>"


config = Settings()
"""What `ja.config` is."""

_note(_default)  # the environment may name a directory
