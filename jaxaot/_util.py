"""Small tools that the standard library lacks."""

from __future__ import annotations

import contextlib
import errno
import functools
import gc
import importlib
import inspect
import os
import stat
import sys
import threading
import types
import weakref
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, MutableSet
from itertools import starmap
from types import MappingProxyType
from typing import Any, TypeVar

from jaxaot.errors.absent import missing_name

T = TypeVar("T")


class OrderedSet(MutableSet[T]):
    """A set that remembers the order of insertion."""

    def __init__(self, items: Iterable[T] = ()):
        self._items: dict[T, None] = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: T) -> None:
        self._items[value] = None

    def discard(self, value: T) -> None:
        self._items.pop(value, None)


class KeptWith:
    """Values that are kept as long as an object lives, which they must not keep alive themselves.

    Objects are told apart by identity: two bound methods may be equal, and one of them live longer.
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[weakref.ref[Any], dict[Any, Any]]] = {}

    def of(self, owner: object) -> dict[Any, Any]:
        """Returns the dict kept with an object, to be added to; a fresh one if the object has no weak references."""
        number = id(owner)
        found = self._found.get(number)
        if found is not None and found[0]() is owner:
            return found[1]

        def forget(gone: weakref.ref[Any]) -> None:
            if number in self._found and self._found[number][0] is gone:
                del self._found[number]

        kept: dict[Any, Any] = {}
        with contextlib.suppress(TypeError):
            self._found[number] = weakref.ref(owner, forget), kept
        return kept


def frozen(value: Any) -> Hashable:
    """Returns options as a key: lists and dictionaries by what they hold, numbers by their types too."""
    if type(value) is dict:
        return dict, frozenset((key, frozen(item)) for key, item in value.items())
    if type(value) in (list, tuple):
        return type(value), tuple(map(frozen, value))
    return type(value), value


def public_names(namespace: dict[str, Any], modules: Collection[str] = ()) -> list[str]:
    """Returns the names that a module shows: its `__all__` and what `dir()` lists.

    Args:
      namespace: The `globals()` of the module.
      modules: Which of the modules in it are public; packages get an attribute for each of their submodules.
    """
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_") and (name in modules or not isinstance(value, types.ModuleType))
    )


def show_only_public(
    namespace: dict[str, Any], modules: Collection[str] = (), later: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Gives a module `__all__` and `__dir__`, its public names, and a `__getattr__` that says of others what to write.

    Args:
      namespace: The `globals()` of the module.
      modules: As of `public_names`.
      later: Name → the module that is loaded when the name is first asked for; it is public too.
    """
    place, names = namespace["__name__"], sorted({*public_names(namespace, modules), *later})

    def find(name: str) -> Any:
        if name not in later:
            raise missing_name(place, name, names)
        namespace[name] = found = getattr(importlib.import_module(later[name]), name)
        return found

    namespace.update(__all__=names, __dir__=lambda: list(names), __getattr__=find)


class Noted(types.ModuleType):
    """A module of PyTorch's settings that have no effect here: any is taken, and read back.

    Args:
      name: Of the module, by which it can be imported.
      **settings: Those that can be read before they are set.
    """

    def __init__(self, name: str, **settings: object):
        super().__init__(name, "Settings of PyTorch's: taken, and read back. They have no effect here.")
        vars(self).update(settings)
        sys.modules[name] = self

    def __getattr__(self, name: str) -> Any:  # for type checkers
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return self.__all__

    @property
    def __all__(self) -> list[str]:
        return public_names(vars(self))

    @contextlib.contextmanager
    def patch(self, name: str | dict[str, object] = "", value: object = None, **settings: object) -> Iterator[None]:
        """Sets some of them for a block, or while a function runs."""
        changes = {**(name if isinstance(name, dict) else {name: value} if name else {}), **settings}
        before = {name: getattr(self, name) for name in changes}
        vars(self).update(changes)
        try:
            yield
        finally:
            vars(self).update(before)

    flags = patch


def show_only_own(namespace: dict[str, Any]) -> None:
    """Gives a module `__all__` and `__dir__`: the functions and classes that are defined in it."""
    place = namespace["__name__"]
    names = public_names({name: x for name, x in namespace.items() if getattr(x, "__module__", None) == place})
    namespace["__all__"] = names
    namespace["__dir__"] = lambda: list(names)


def signature_of(fn: Callable[..., Any]) -> inspect.Signature | None:
    """Returns the signature of a function, None of one that has none, such as some built-in functions."""
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


def look_like(wrapper: Any, fn: Callable[..., Any]) -> None:
    """Gives an object that can be called a function's name, documentation and attributes, as `functools.wraps` does.

    Attributes that are named as one of the object's own methods are left out.
    """
    functools.update_wrapper(wrapper, fn, updated=())
    of_fn = getattr(fn, "__dict__", {})
    vars(wrapper).update({name: value for name, value in of_fn.items() if not hasattr(type(wrapper), name)})


def shown(fn: Any) -> str:
    """Returns the text of a function, or of an object that can be called, whose own `__repr__` may raise."""
    try:
        return repr(fn)
    except Exception:
        return object.__repr__(fn)


def referable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function, or the same wrapped if nothing can refer to it weakly, as `jax.jit` has to.

    Such are the functions of NumPy and objects with slots. JAX raises a TypeError for the first, crashes at the second.
    """
    try:
        weakref.ref(fn)
    except TypeError:
        return functools.wraps(fn)(lambda *args, **kwargs: fn(*args, **kwargs))
    return fn


class _Wait:
    """One wait of the collector, which is over once nothing refers to it: after an interrupt too."""


class _Collector:
    """Python's search for garbage in cycles, which any number of threads may have wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waits: weakref.WeakSet[_Wait] = weakref.WeakSet()
        self._was_on = False

    @contextlib.contextmanager
    def waits(self) -> Iterator[None]:
        """Has Python look for no garbage meanwhile."""
        wait = _Wait()
        try:
            with self._lock:
                self._waits.add(wait)
                if gc.isenabled():
                    self._was_on = True
                    gc.disable()
            yield
        finally:
            with self._lock:
                self._waits.discard(wait)
                if not self._waits and self._was_on:
                    self._was_on = False
                    gc.enable()


collector = _Collector()
"""That of the process. To go through all objects, of JAX too, takes it a tenth of a second, and what makes graphs makes
so many objects that it would: hardly any are in cycles."""


def format_bytes(n_bytes: float) -> str:
    """Returns a size for people, such as `29.5 MiB`."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if abs(size) < 1024 or unit == "EiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


def format_seconds(seconds: float) -> str:
    """Returns a time for people, such as `3.2 ms`."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError("the last unit takes any time")


@contextlib.contextmanager
def written_at_once(path: str | os.PathLike[str], mode: int | None = None) -> Iterator[str]:
    """Gives the path of a file to write, which then takes its place at once: readers see all of it or what was there.

    If writing fails, what was there stays. Besides, it is as if the file itself were written: links are followed,
    a file that is there keeps its owner and mode, and what is no file, such as a pipe, gets the content.

    Args:
      path: Where.
      mode: Of a file for its owner alone, which takes the place of a link; None for that of any new file.

    Raises:
      OSError: If it cannot be written, with its path.
    """
    import shutil  # these take milliseconds that the import of jaxaot need not wait for
    import tempfile

    given, there = os.fsdecode(path), None
    target = os.path.realpath(given) if mode is None else os.path.abspath(given)
    if mode is None:
        with contextlib.suppress(FileNotFoundError):
            there = os.stat(given)
    if there is not None and (stat.S_ISDIR(there.st_mode) or not os.access(given, os.W_OK)):
        number = errno.EISDIR if stat.S_ISDIR(there.st_mode) else errno.EACCES
        raise OSError(number, os.strerror(number), given)
    is_file = there is None or stat.S_ISREG(there.st_mode)
    folder = os.path.dirname(target) if is_file else tempfile.gettempdir()
    unfinished = os.path.join(folder, f".{os.path.basename(target)[:40]}.{os.urandom(8).hex()}")
    if mode is None:  # what others may not read they may not read meanwhile either
        mode = 0o666 if there is None or not is_file else stat.S_IMODE(there.st_mode) & 0o777 | 0o600
    try:
        handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, given) from error
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    os.close(handle)
    try:
        yield unfinished
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
            if not is_file:
                with open(given, "wb") as out:
                    shutil.copyfileobj(file, out)
        if not is_file:
            os.unlink(unfinished)
            return
        if there is not None:
            with contextlib.suppress(OSError, AttributeError):  # another owner's, which only root may give back
                os.chown(unfinished, there.st_uid, there.st_gid)
            mode = stat.S_IMODE(there.st_mode)
        os.chmod(unfinished, mode)  # libraries may have put a file of their own there
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def set_together(changes: Iterable[tuple[Any, str, Any]]) -> None:
    """Sets attributes, (object, attribute, value) each, by one call into C: an interrupt comes before or after.

    Args:
      changes: Of objects whose classes leave it to Python's own `__setattr__`.
    """
    any(starmap(setattr, changes))
