"""`ja.compiler.compiled_autograd`: whole backwards as compiled programs (`torch._dynamo.compiled_autograd`)."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import types
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from jaxaot.api import compile as compile_function
from jaxaot.errors import JaxaotError, UsageError
from jaxaot.facade.gradients.grad import run_engine
from jaxaot.facade.gradients.leaves import ADDING
from jaxaot.facade.gradients.tape_reader import NotCompilable, Tape, read_tape
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.hooks import wrap_gradient
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge
from jaxaot.tape.threads import threads
from jaxaot.tracer.observe.observer import Observer

_MAX_TAPES = 64
_MAX_NODES = 20_000
_MAX_REASONS = 64
_running: contextvars.ContextVar[Tape] = contextvars.ContextVar("jaxaot_tape")


class TapeCacheInfo(NamedTuple):
    """What `cache_info()` of a `compiled_autograd` returns.

    Attributes:
      hits: Backwards that ran a program that was there.
      misses: Programs that were compiled.
      currsize: Tapes that are known, each with its programs.
      eager: Backwards that the engine ran node by node; `eager_reasons()` says why.
    """

    hits: int
    misses: int
    currsize: int
    eager: int


class _Known:
    """What is known of the tapes of one form.

    Attributes:
      run: The compiled backward, a function of the arrays that nodes hold, with the cotangents of the roots, and of
        the leaves whose `.grad` is added to, with what keeps its gradient.
      enter: Takes `functions`, `contexts` and `packed`: what code of the user may reach, so that paths lead there.
      reason: Why the engine runs them; None if the program does.
    """

    def __init__(self) -> None:
        world: Any = None

        def backward(arrays: Sequence[Any], tensors: Sequence[Tensor]) -> Any:
            assert None not in (tensors, world.functions, world.contexts), "what is named here is guarded"
            return _run_with(arrays, world.packed)

        def enter(reached: Any) -> None:
            nonlocal world
            world = reached

        self.enter = enter
        self.run: CompiledFunction[..., Any] = compile_function(backward, dynamic=False)
        self.run.runs_eagerly = False  # the engine does
        self.reason: str | None = None


class TapeCompiler:
    """Compiles backwards, one program for each form of the tape and types of what it holds.

    Programs are shared by all contexts that use one compiler. It may be used from several threads.

    Args:
      max_tapes: How many forms of tapes are kept; the least recently used one is dropped.
    """

    def __init__(self, max_tapes: int = _MAX_TAPES):
        if max_tapes < 1:
            raise UsageError(f"max_tapes is {max_tapes}, and at least one has to be kept: write 1 or more.")
        self._max_tapes = max_tapes
        self._known: OrderedDict[Hashable, _Known] = OrderedDict()
        self._lock = threading.Lock()
        self._reasons: OrderedDict[str, int] = OrderedDict()
        self._dropped = (0, 0)
        self._n_eager = 0

    def run(
        self, roots: Sequence[tuple[Edge, Any]], keep_graph: bool, inputs: Sequence[Edge] | None, accumulates: bool
    ) -> dict[Edge, Any]:
        """Runs a tape backward, see `run_backward`; of several threads one after the other."""
        if threads.are_several:
            with ADDING:
                return self._run(roots, keep_graph, inputs, accumulates)
        return self._run(roots, keep_graph, inputs, accumulates)

    def _run(
        self, roots: Sequence[tuple[Edge, Any]], keep_graph: bool, inputs: Sequence[Edge] | None, accumulates: bool
    ) -> dict[Edge, Any]:
        tape = Tape.of(roots, inputs, accumulates)
        try:
            found = self._by_program(tape)
            if found is None:
                return run_engine(roots, keep_graph, False, inputs, accumulates)
        finally:
            if keep_graph:
                tape.drop_again()
        if not keep_graph:
            tape.release()
        return found

    def _by_program(self, tape: Tape) -> dict[Edge, Any] | None:
        """Returns the gradients at the inputs of a tape; None if the engine has to find them."""
        try:
            read_tape(tape)
            if len(tape.nodes) > _MAX_NODES:
                raise NotCompilable(f"a tape of {len(tape.nodes)} nodes is too long for one program")
            known = self._look_up(tape)
            if known.reason is not None:
                raise NotCompilable(known.reason)
            return self._call(known, tape)
        except NotCompilable as error:
            self._note(str(error))
            return None

    def _look_up(self, tape: Tape) -> _Known:
        with self._lock:
            known = self._known.get(tape.cache_key)
            if known is None:
                known = self._known[tape.cache_key] = _Known()
                if len(self._known) > self._max_tapes:
                    _, dropped = self._known.popitem(last=False)
                    info = dropped.run.cache_info()
                    self._dropped = self._dropped[0] + info.hits, self._dropped[1] + info.misses
            self._known.move_to_end(tape.cache_key)
            return known

    def _call(self, known: _Known, tape: Tape) -> dict[Edge, Any]:
        """Returns the gradients at the inputs of a tape, by its program.

        Raises:
          NotCompilable: If its hooks and functions cannot be traced; nothing has changed then.
        """
        packed = [item.value for item in tape.world.packed]
        world = types.SimpleNamespace(functions=tape.world.functions, contexts=tape.world.contexts, packed=packed)
        is_new = tape.has_code and not known.run.cache_info().currsize
        known.enter(world)
        observer = Observer(is_strict=False) if is_new else None
        if observer is not None:
            observer.reach(((("root", "world"),), world))
        token = _running.set(tape)
        try:
            with observer or contextlib.nullcontext():
                results = known.run(tuple(tape.arrays), tuple(tape.tensors))
        except Exception as error:
            if observer is not None:
                observer.world.put_back()
            if not (tape.has_code or isinstance(error, JaxaotError)):
                raise
            known.reason = f"the program could not be made: {_first_line(error)}"
            raise NotCompilable(known.reason) from error
        finally:
            _running.reset(token)
            known.enter(None)
        if observer is not None:
            if observer.world.is_changed():  # which a program does once
                known.reason = "a hook changes Python objects, which has to happen in each backward"
            observer.forget()
        return {edge: t._read() for edge, t in zip(tape.inputs or (), results, strict=False) if t is not None}

    def _note(self, reason: str) -> None:
        with self._lock:
            self._n_eager += 1
            self._reasons[reason] = self._reasons.pop(reason, 0) + 1
            if len(self._reasons) > _MAX_REASONS:
                self._reasons.popitem(last=False)

    def cache_info(self) -> TapeCacheInfo:
        """Returns how many backwards found a program, how many programs were made, and what the engine ran."""
        with self._lock:
            infos = [known.run.cache_info() for known in self._known.values()]
            hits, misses = self._dropped
            return TapeCacheInfo(
                hits + sum(i.hits for i in infos), misses + sum(i.misses for i in infos), len(infos), self._n_eager
            )

    def eager_reasons(self) -> dict[str, int]:
        """Returns why backwards were left to the engine, each reason with how often."""
        with self._lock:
            return dict(self._reasons)

    def cache_clear(self) -> None:
        """Forgets all programs."""
        with self._lock:
            self._known.clear()
            self._reasons.clear()
            self._dropped, self._n_eager = (0, 0), 0


def _run_with(arrays: Sequence[Any], packed: Sequence[Any]) -> Any:
    """Runs the tape in progress with other values, and returns the gradients at its inputs as tensors."""
    tape = _running.get()
    with tape.holding(arrays, packed) as roots:
        found = run_engine(roots, True, False, tape.inputs, tape.accumulates)
    return tuple(None if edge not in found else wrap_gradient(found[edge]) for edge in tape.inputs or ())


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


_shared = TapeCompiler()


class compiled_autograd:
    """Inside, each `backward()` and `ja.autograd.grad` is compiled as a whole, and found again by its structure.

    Eager nodes, compiled calls, hooks, custom Functions, what unpacks saved tensors, and the accumulation into `.grad`
    become one program. A later backward over a tape of the same form, with values of the same types, runs the program.
    Hooks are part of it: what they compute is compiled. Where one cannot be, because it asks for values, prints into a
    list or fails, the engine runs the tape node by node, now and later, with the same results. So it does for
    `create_graph=True` and in anomaly mode.

    Args:
      compiler: Where programs are kept; by default all contexts share one.

    Example:
      with ja.compiler.compiled_autograd() as tapes:
          loss.backward()
      tapes.cache_info()

    Source: `torch._dynamo.compiled_autograd`.
    """

    def __init__(self, compiler: TapeCompiler | None = None):
        self._compiler = _shared if compiler is None else compiler
        self._before: list[Any] = []

    def __enter__(self) -> TapeCompiler:
        self._before.append(state.compiles_tape)
        state.compiles_tape = self._compiler
        return self._compiler

    def __exit__(self, *_: object) -> None:
        state.compiles_tape = self._before.pop()
