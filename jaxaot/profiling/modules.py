"""Modules of libraries as functions of their parameters, and the names of modules in what is traced.

flax linen says itself, in scopes, to which module an equation belongs. nnx does not: while a function of nnx modules is
traced, the `__call__` of their classes puts each call into a scope of the module's path.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot import _trees as pytree
from jaxaot.facade.cells.cells import cell_kinds, kind_of
from jaxaot.facade.memory.tensor import Tensor

_lock = threading.RLock()


def as_function(fn: Callable[..., Any], args: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a function and its arguments, of which the parameters of a module come first."""
    cell_kinds()
    linen = sys.modules.get("flax.linen")
    if linen is not None and isinstance(fn, linen.Module):
        return _of_linen(fn, args)
    owner = getattr(fn, "__self__", None)
    method: Any = getattr(fn, "__func__", None)
    if owner is not None and method is not None and _holds_arrays(owner):
        return method, (owner, *args)
    if _holds_arrays(fn):
        return _called(type(fn)), (fn, *args)
    return fn, tuple(args)


def _holds_arrays(value: Any) -> bool:
    """Returns whether a value is an nnx module, or a module that is a pytree, such as those of equinox."""
    if kind_of(value) is not None:
        return True
    if isinstance(value, type | Tensor) or not callable(value):
        return False
    leaves = pytree.leaves(value)
    return leaves != [value] and any(hasattr(leaf, "shape") and hasattr(leaf, "dtype") for leaf in leaves)


@functools.lru_cache(256)
def _called(module_type: type) -> Callable[..., Any]:
    def call(module: Any, *args: Any) -> Any:
        return module(*args)

    call.__name__ = call.__qualname__ = module_type.__name__
    return call


def _of_linen(module: Any, args: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns the `apply` of a linen module, and its variables, from shapes alone: the parameters come first."""
    keys = {name: jax.random.key(0) for name in ("params", "dropout")}
    types = pytree.mapped(lambda x: jax.ShapeDtypeStruct(jnp.shape(x), jnp.result_type(x)), tuple(args))
    variables = dict(jax.eval_shape(lambda *a: module.init(keys, *a), *types))
    params = variables.pop("params", {})
    try:
        applied = _kept_applied(module)
    except TypeError:  # a field of the module has no hash
        applied = _applied(module)
    return applied, (params, variables, *args)


@functools.lru_cache(64)
def _kept_applied(module: Any) -> Callable[..., Any]:
    return _applied(module)


def _applied(module: Any) -> Callable[..., Any]:
    def call(params: Any, others: Any, *args: Any) -> Any:
        keys = {"dropout": jax.random.key(0)}
        result, _ = module.apply({"params": params, **others}, *args, rngs=keys, mutable=list(others))
        return result

    call.__name__ = call.__qualname__ = type(module).__name__
    return call


@contextlib.contextmanager
def naming() -> Iterator[None]:
    """Puts each call of an nnx module in a scope of its path, such as `Model/blocks/0`."""
    nnx = sys.modules.get("flax.nnx")
    if nnx is None:
        yield
        return
    with _lock:
        own = {cls: cls.__dict__["__call__"] for cls in _subclasses(nnx.Module) if "__call__" in cls.__dict__}
        try:
            for cls, call in own.items():
                cls.__call__ = _scoped(call, nnx)
            yield
        finally:
            for cls, call in own.items():
                cls.__call__ = call


def _subclasses(cls: Any) -> set[Any]:
    found = set(cls.__subclasses__())
    return found.union(*map(_subclasses, found))


class _Inside(threading.local):
    """The module whose call is being traced, and where the modules inside of it are, by identity."""

    module: Any = None
    paths: dict[int, str] | None = None


_inside = _Inside()


def _scoped(call: Callable[..., Any], nnx: Any) -> Callable[..., Any]:
    @functools.wraps(call)
    def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer, paths = _inside.module, _inside.paths
        if outer is self:  # its class calls the one that it inherits from
            return call(self, *args, **kwargs)
        if outer is not None and paths is None:
            paths = _inside.paths = {id(m): "/".join(map(str, path)) for path, m in nnx.iter_modules(outer)}
        name = (paths or {}).get(id(self)) or type(self).__name__
        _inside.module, _inside.paths = self, None
        try:
            with jax.named_scope(name):
                return call(self, *args, **kwargs)
        finally:
            _inside.module, _inside.paths = outer, paths

    return scoped
