"""What to do when carrying out a call failed: say which argument has no value, or try again.

A call that fails before it has results has changed nothing. Two such failures come from other threads and pass: a
storage may hold the symbol of a trace, or an array that another call was just given to overwrite.
"""

from __future__ import annotations

import os
import pathlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jaxlib

import jaxaot.settings
from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer
from jaxaot.errors import DeletedArrayError, SignatureMismatchError
from jaxaot.facade.cells.cells import is_leaf
from jaxaot.facade.deferred.stretch import Pending
from jaxaot.facade.trace_state import RUNNING, TRACING
from jaxaot.plan.call import CallPlan
from jaxaot.plan.difference import leaf_name, place_name
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.source import SOURCE_NAME

_PAUSE_SECONDS = 0.0005

_OURS = tuple(f"{pathlib.Path(str(module.__file__)).parent}{os.sep}" for module in (jax, jaxlib, jaxaot.settings))
"""Where the code of JAX and of this package lies."""


def may_be_tried_again(error: BaseException) -> bool:
    """Returns whether a call failed in its own code or in JAX's, before there were results, so that nothing changed.

    What the handler of a signal raised, such as a watchdog's `TimeoutError`, goes to the caller.
    """
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        name = frame.f_code.co_filename
        if name == SOURCE_NAME:
            if frame.f_locals.get("out") is not None:
                return False
        elif not name.startswith(_OURS):
            return False
        traceback = traceback.tb_next
    return True


def is_passing(error: Exception, call: CallPlan, fn: Any, args: Any, kwargs: Any, parameters: Sequence[str]) -> bool:
    """Returns whether a call failed for a reason that passes, once it did.

    Args:
      error: What it failed with.
      call: What it takes.
      fn: The function.
      args: Its arguments.
      kwargs: Its keyword arguments.
      parameters: What the user calls the positional arguments.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    is_symbol = isinstance(error, jax.errors.UnexpectedTracerError)
    if is_symbol and RUNNING:
        with TRACING:
            return True
    storages = list(_storages(call, fn, args, kwargs))
    pending = [storage for _, storage in storages if type(storage.array) is Pending]
    for storage in pending:  # of a stretch of operations, which is run for this
        storage.check_alive()
    if pending:
        return True
    arrays = [(path, storage.array) for path, storage in storages]
    has_symbols = any(is_tracer(array) for _, array in arrays)
    has_deleted = any(is_deleted(array) for _, array in arrays)
    if has_symbols and any(storage.trace is not None for _, storage in storages):
        with TRACING:
            return True
    if has_deleted:
        is_called_elsewhere = another_thread_calls()
        time.sleep(_PAUSE_SECONDS)  # whoever overwrites it stores the result before it returns
        if is_called_elsewhere or any(s.array is not a for (_, s), (_, a) in zip(storages, arrays, strict=True)):
            return True
    _refuse(call, arrays, args, kwargs, parameters)
    return (is_symbol and not has_symbols) or ("has been deleted" in str(error) and not has_deleted)


def another_thread_calls() -> bool:
    """Returns whether another thread is inside of a compiled call."""
    mine = threading.get_ident()
    for thread, frame in sys._current_frames().items():
        while thread != mine and frame is not None:
            if frame.f_code.co_filename == SOURCE_NAME:
                return True
            frame = frame.f_back
    return False


def is_deleted(array: Any) -> bool:
    """Returns whether an array has lost its buffer."""
    return isinstance(array, jax.Array) and not is_tracer(array) and array.is_deleted()


def refuse_without_values(call: CallPlan, fn: Any, args: Any, kwargs: Any, parameters: Sequence[str]) -> None:
    """Raises if what a call takes has no values.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    arrays = [(path, storage.array) for path, storage in _storages(call, fn, args, kwargs)]
    if any(is_deleted(array) for _, array in arrays) and another_thread_calls():
        arrays = []  # whoever overwrites it is about to store the result; the call itself will tell
    _refuse(call, arrays, args, kwargs, parameters)


def _refuse(call: CallPlan, arrays: Any, args: Any, kwargs: Any, parameters: Sequence[str]) -> None:
    deleted = [place_name(path, parameters) for path, array in arrays if is_deleted(array)]
    leaves = pytree.leaves((args, kwargs), is_leaf=is_leaf)
    paths = pytree.leaves_with_path((args, kwargs), is_leaf=is_leaf)
    abstract = []
    for value in call.values:
        name = leaf_name(paths[value.leaf][0], parameters)
        if isinstance(leaves[value.leaf], jax.ShapeDtypeStruct):
            abstract.append(name)
        elif is_deleted(leaves[value.leaf]):
            deleted.append(name)
    if abstract:
        raise SignatureMismatchError(
            f"{_listed(abstract)} only a type (`jax.ShapeDtypeStruct`), and a compiled function computes with values. "
            "To look at the graph for such types, write `step.trace(...)` or `step.explain(...)`."
        )
    if deleted:
        raise DeletedArrayError(
            f"{_listed(deleted)} an array that was deleted: it was donated to another computation, as by "
            "`jax.jit(f, donate_argnums=...)`, or `.delete()` was called. Use what that computation returned, or copy "
            "the array before: `ja.tensor(array)`."
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    return f"{shown} {'is' if len(set(names)) == 1 else 'are each'}"


def _storages(call: CallPlan, fn: Any, args: Any, kwargs: Any) -> Iterator[tuple[Path, Any]]:
    """Yields the storages that a call reaches, each with the path of a tensor that shows it."""
    roots = [((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), fn)]
    for number in (*(held.tensor for held in call.storages), *call.parts):
        path = call.tensors[number].path
        try:
            yield path, follow(roots, path)._storage
        except (AttributeError, LookupError, TypeError, ValueError):  # another call fits no more
            continue
