"""`ja.jit`: `jax.jit` after graph rewrites for the platform; `version.py` says how a call is carried out."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import jax

from jaxaot import settings as config
from jaxaot._frames import without_own_frames
from jaxaot._jax import is_outermost
from jaxaot._placement import are_several as are_spread
from jaxaot._progress import working
from jaxaot._unpicklable import name_in_module
from jaxaot._util import KeptWith, frozen, look_like, referable, shown, signature_of
from jaxaot.lower.placed import carrying_out
from jaxaot.lower.platforms import SEVERAL, are_several, platform_of
from jaxaot.lower.static import counted_from_first, refuse_cycles
from jaxaot.lower.version import Checked, HasObjects, Objects, OfObjects, OtherSpecialization, Version
from jaxaot.settings import Config

if TYPE_CHECKING:
    from jaxaot.report.record import Report

P = ParamSpec("P")
R = TypeVar("R")

_versions = KeptWith()
"""By options, the versions of functions, each a dictionary by settings."""


def _versions_of(fn: Callable[..., Any], options: dict[str, Any]) -> dict[Any, Version]:
    """Returns the compiled versions of a function: in a loop, `ja.jit(fn)(x)` compiles once, as with `jax.jit`."""
    try:
        return _versions.of(fn).setdefault(frozen(options), {})
    except TypeError:  # an option has no hash
        return {}


class _Traced:
    """A traced function, `jax.stages.Traced`, which is lowered for any platform by what is for that one."""

    def __init__(self, stage: Callable[[str], Any], platform: str):
        """Traces; `stage` returns what JAX traced of the graph for a platform."""
        self._stage, self._platform, self._traced = stage, platform, stage(platform)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._traced, name)

    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None, **options: Any) -> Any:
        """Returns the lowered stage, as `jax.stages.Traced.lower` does."""
        asked = set(lowering_platforms or (self._platform,))
        platform = asked.pop() if len(asked) == 1 else SEVERAL
        traced = self._traced if platform == self._platform else self._stage(platform)
        return traced.lower(lowering_platforms=lowering_platforms, **options)


class Jitted(Generic[P, R]):
    """A jitted function; it has the methods of what `jax.jit` returns.

    In a transformation of JAX, such as another `jit`, it is the function that `jax.jit` would return. What is compiled
    is shared by all that are made of the same function with the same options.
    """

    def __init__(self, fn: Callable[P, R], options: dict[str, Any], objects: Objects):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          options: Those of `jax.jit`.
          objects: How calls with objects are carried out.
        """
        look_like(self, fn)
        self.__signature__ = signature_of(fn)
        options = counted_from_first(fn, options)
        self._fn, self._options, self._objects = fn, options, objects
        self._made_of_objects: OfObjects | None = None  # at the first call that needs it
        self._said: dict[str, Any] = {}  # of sizes
        self._inside: Any = jax.jit(referable(fn), **options)
        self._versions = _versions_of(fn, options)  # made at the first call: what XLA needs depends on the backend
        self._latest: tuple[Config | None, Any] = None, None  # one value, as other threads may have other settings

    def _current(self, platform: str) -> Version:
        """Returns the version for a platform under the settings in force."""
        settings = config.get()
        key = platform, settings.passes, settings.blocks, settings.check_graphs, settings.exact_rounding
        key += (settings.check_executables,)
        version = self._versions.get(key)
        if version is None:
            checked = Checked(self._fn, self._objects)
            version = self._versions.setdefault(key, Version(checked, self._options, settings, platform))
        return version

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if not is_outermost():
                refuse_cycles((args, kwargs), "The arguments")
                if self._objects.are_in((args, kwargs)):  # `jax.jit` would drop what the function changes in them
                    return self._fn(*args, **kwargs)
                return self._inside(*args, **kwargs)
            if self._made_of_objects is not None and self._objects.are_in((args, kwargs)):
                return self._made_of_objects(*args, **kwargs)
            settings, version = self._latest
            if settings is not config.get():
                refuse_cycles((args, kwargs), "The arguments")  # once: each call would take longer by it
                version = self._current(platform_of(args, kwargs, self._options))
                if not are_several():  # else the next call may be for another one
                    self._latest = config.get(), version
                    with working(f"the first call of `{self._name}`"):
                        return self(*args, **kwargs)
            found = None
            try:
                if are_spread():
                    with carrying_out(args, kwargs):
                        return version.run(*args, **kwargs)
                return version.run(*args, **kwargs)
            except OtherSpecialization as ended:  # which holds the frames that it was raised through
                found = ended.found
            except (HasObjects, TypeError):  # JAX may know no such objects
                if not self._objects.are_in((args, kwargs)):
                    raise
            except RuntimeError as error:
                self._objects.explain_deleted(error, self._fn, args, kwargs)
                raise
            if found is not None:
                return version.run_other(found, args, kwargs)
            return self._of_objects()(*args, **kwargs)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception

    def _of_objects(self) -> OfObjects:
        if self._made_of_objects is None:
            self._made_of_objects = self._objects.make(self._fn, self._options, **self._said)
        return self._made_of_objects

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Jitted[P, R]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        return name_in_module(self) or (type(self), (self._fn, self._options, self._objects))

    def lower(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the function lowered for some arguments or types, as one program, a `jax.stages.Lowered`."""
        return self._staged("lower", args, kwargs)

    def trace(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the function traced for some arguments or types, as one program, a `jax.stages.Traced`."""
        return self._staged("trace", args, kwargs)

    def _staged(self, method: str, args: Any, kwargs: Any) -> Any:
        """Returns the result of a method of the function that `jax.jit` made for the place of the call."""
        try:
            return self._stage_of(method, args, kwargs)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception

    def _stage_of(self, method: str, args: Any, kwargs: Any) -> Any:
        refuse_cycles((args, kwargs), "The arguments")
        if self._objects.are_in((args, kwargs)):
            return self._of_objects().staged(method, self._name, args, kwargs)
        if is_outermost():
            platform = platform_of(args, kwargs, self._options)
            stage = lambda platform: self._current(platform).staged(method, args, kwargs)
            return stage(platform) if method == "lower" else _Traced(stage, platform)
        return getattr(self._inside, method)(*args, **kwargs)

    @property
    def _name(self) -> str:
        return getattr(self._fn, "__name__", "fn")

    def eval_shape(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the types of the results for some arguments or types."""
        refuse_cycles((args, kwargs), "The arguments")
        if self._objects.are_in((args, kwargs)):
            return self._of_objects().graph_of(args, kwargs).types
        return self._inside.eval_shape(*args, **kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> Report:
        """Returns a report to print or save: what passes for the platform do, memory, and the graph of a call.

        Functions under `ja.remat` of which there are gradients are opened. Nothing is run by it, and compiled only
        where arguments lie over several devices.
        """
        from jaxaot.lower.jit_report import OfCall, jitted_report, on_devices  # which nothing else needs

        refuse_cycles((args, kwargs), "The arguments")
        try:
            of_arrays = lambda: OfCall(self._inside.trace(*args, **kwargs).jaxpr)
            call = self._of_objects().graph_of(args, kwargs) if self._objects.are_in((args, kwargs)) else of_arrays()
            exchanges = on_devices(lambda: self.lower(*args, **kwargs), args, kwargs)
            notes = dict.fromkeys(note for version in self._versions.values() for note in version.notes)
            call = call._replace(on_devices=exchanges, notes=tuple(notes))
            return jitted_report(self._name, call, self._options)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception

    def clear_cache(self) -> None:
        """Drops all that was compiled."""
        self._inside.clear_cache()
        for version in list(self._versions.values()):
            version.clear()

    def __repr__(self) -> str:
        return f"<ja.jit of {shown(self._fn)}>"
