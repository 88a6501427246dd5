"""`cond`, `while_loop`, `scan`, `map`: branches and loops whose functions may write to the tensors they reach.

Eagerly they are what one would write in Python, and the tape sees what ran. In a trace they become one equation of the
graph, `cond`, `while` or `scan`. Both show the functions the same: a loop's carried values and slices are fresh tensors
in each iteration, everything else is the tensor itself; results are fresh contiguous tensors. So both give the same
values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._callables import require_function
from jaxaot.errors import ControlFlowMismatchError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.generator import Generator, Streams, fold_iteration
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state
from jaxaot.tracer.bodies.body import Body, trace_body, trace_iteration
from jaxaot.tracer.bodies.effects import (
    Keys,
    Operands,
    captured_by_branches,
    captured_by_iterations,
    check_generators,
    find,
    left_by,
    perform,
    unite,
    wrap_result,
)
from jaxaot.tracer.bodies.leaves import Carry, LeafSpec, differences, flag_of, fresh, leaves_of, spec_of, truth_of
from jaxaot.tracer.bodies.pure import inline_trace

# -- cond --------------------------------------------------------------------------------------------------------------


def cond(pred: object, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """Returns `true_fn(*operands)` or `false_fn(*operands)`, whichever `pred` says (`torch.cond`).

    The functions may write to tensors that they are passed or reach. What they return is copied, so that it shares
    memory with nothing.

    Args:
      pred: A bool, or a tensor or array of one element.
      true_fn: Runs if `pred` is true.
      false_fn: Runs if it is false. It returns what `true_fn` does: the same structure, shapes and dtypes.
      operands: A tuple of tensors or anything else.

    Raises:
      ControlFlowMismatchError: In a trace, if the two do not return the same.
      CapturedTensorChangedError: In a trace, if one changes more of a tensor from outside than its values.
    """
    require_function(true_fn, "ja.cond", "ja.cond(pred, f, g, (x,))")
    require_function(false_fn, "ja.cond", "ja.cond(pred, f, g, (x,))")
    operands = tuple(operands) if isinstance(operands, (tuple, list)) else (operands,)
    if state.trace is not None:
        return _cond_traced(pred, true_fn, false_fn, operands)
    chosen = true_fn if truth_of(pred, "pred") else false_fn
    with Streams().iteration():
        leaves, tree = leaves_of(chosen(*operands), "result")
        return pytree.unflatten(tree, [fresh(leaf) for leaf in leaves])


def _cond_traced(
    pred: object, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: tuple[Any, ...]
) -> Any:
    trees: list[Any] = []

    def traced(fn: Callable[..., Any]) -> Body:
        def run(_: list[Any]) -> list[Any]:
            leaves, tree = leaves_of(fn(*operands), "result")
            trees.append(tree)
            return leaves

        return trace_body(run, ())

    keys = Keys(state.trace)
    if isinstance(pred, (bool, np.bool_)):  # known while tracing
        results = _branched(keys, None, [traced(true_fn if pred else false_fn)])
        return pytree.unflatten(trees[0], results)
    bodies = [traced(true_fn), traced(false_fn)]
    names = ("`true_fn`", "`false_fn`")
    found = differences(names, (trees[0], trees[1]), (bodies[0].results, bodies[1].results), "result")
    if found:
        listed = "\n".join(f"  - {problem}" for problem in found)
        raise ControlFlowMismatchError(
            f"The branches of a `cond` have to return the same structure, shapes and dtypes:\n{listed}\nConvert in one "
            "of them, for instance `x.to(ja.float32)` or `x.expand(3)`; for what only one of them has, return zeros "
            "in the other."
        )
    check_generators(bodies)
    return pytree.unflatten(trees[0], _branched(keys, flag_of(pred, "pred"), bodies))


def _branched(keys: Keys, pred: object, bodies: list[Body], arguments: Sequence[Any] = ()) -> list[Any]:
    """Returns the results of one of two bodies, or of the only one if `pred` is None, as part of the trace.

    Args:
      keys: Of the control flow call.
      pred: A bool symbol.
      bodies: The branches.
      arguments: Tensors and arrays that they are passed.
    """
    outer = state.trace
    effects = unite(*bodies)
    operands = Operands(outer)
    given = _add_all(operands, arguments)
    choice = None if pred is None else operands.add(pred)
    seeds = _seeds(keys, operands, bodies)
    sources, before = captured_by_branches(effects, operands)

    def run(values: Sequence[Any]) -> list[Any]:
        stream = lambda generator: fold_iteration(values[seeds[generator]], jnp.uint32(0))

        def branch(body: Body, found: Any) -> list[Any]:
            outputs = body(*(values[i] for i in given), *find(found, values, (), stream))
            left = left_by(body, effects, outputs, [values[i] for i in before])
            return outputs[: len(body.results)] + left

        branches = [functools.partial(branch, *both) for both in zip(bodies, sources, strict=True)]
        return branches[0]() if choice is None else jax.lax.cond(values[choice], *branches)

    flags = [any(body.results[i].requires_grad for body in bodies) for i in range(len(bodies[0].results))]
    results = perform("CondBackward", outer, effects, operands, flags, run)
    return _wrapped(bodies[0].results, results)


def _add_all(operands: Operands, leaves: Sequence[Any]) -> list[int]:
    return [
        operands.add(leaf._read(), leaf if spec_of(leaf).requires_grad else None)
        if isinstance(leaf, Tensor)
        else operands.add(leaf)
        for leaf in leaves
    ]


def _seeds(keys: Keys, operands: Operands, bodies: Sequence[Body]) -> dict[Generator, int]:
    """Returns the place of the operand that is the key of each generator drawn from."""
    generators = dict.fromkeys(generator for body in bodies for generator in body.generators)
    return {generator: operands.add(keys.of(generator)) for generator in generators}


def _wrapped(specs: Sequence[LeafSpec], results: Sequence[Any]) -> list[Any]:
    return [
        wrap_result(state.trace, *result) if spec.is_tensor else result[0]
        for spec, result in zip(specs, results, strict=True)
    ]


def _next(iteration: Any) -> Any:
    """Returns the number of the next iteration; None where nothing is drawn and so nobody counts."""
    return None if iteration is None else iteration + 1


# -- while_loop --------------------------------------------------------------------------------------------------------


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: object) -> Any:
    """Returns the carried values once `cond_fn(*carried)` is false; until then `body_fn(*carried)` replaces them.

    As `torch.while_loop`. In each iteration what is carried are fresh tensors. The functions may write to other tensors
    that they reach. Gradients flow through it eagerly; in a trace the number of iterations is unknown, so they do not.

    Args:
      cond_fn: Returns a bool, or a tensor or array of one element.
      body_fn: Returns what is carried on: the same structure, shapes and dtypes.
      carried_inputs: A tuple, spread over the arguments; anything else is one argument.

    Raises:
      ControlFlowMismatchError: If `body_fn` returns something else than it takes.
      CapturedTensorChangedError: In a trace, if one changes more of a tensor from outside than its values.
    """
    require_function(cond_fn, "ja.while_loop", "ja.while_loop(f, g, (x,))")
    require_function(body_fn, "ja.while_loop", "ja.while_loop(f, g, (x,))")
    loop = _While(cond_fn, body_fn, carried_inputs)
    return pytree.unflatten(loop.carry.tree, loop.eagerly() if state.trace is None else loop.traced())


class _While:
    def __init__(self, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried: Any):
        self.cond_fn = cond_fn
        self.body_fn = body_fn
        self.is_spread = isinstance(carried, (tuple, list))
        self.carry = Carry(tuple(carried) if self.is_spread else carried, "carried_inputs")

    def call(self, fn: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        carried = pytree.unflatten(self.carry.tree, list(leaves))
        return fn(*carried) if self.is_spread else fn(carried)

    def goes_on(self, leaves: Sequence[Any]) -> Any:
        """Returns whether there is another iteration; what `cond_fn` does to its arguments stays there."""
        return self.call(self.cond_fn, [fresh(leaf) for leaf in leaves])

    def iteration(self, leaves: Sequence[Any]) -> list[Any]:
        result = self.call(self.body_fn, leaves)
        if self.is_spread and isinstance(result, (tuple, list)):
            result = tuple(result)
        return self.carry.fit(result, "body_fn")

    def eagerly(self) -> list[Any]:
        streams = Streams()
        leaves = [fresh(leaf) for leaf in self.carry.leaves]
        with streams.iteration():
            goes_on = truth_of(self.goes_on(leaves), "cond_fn(...)")
        while goes_on:
            with streams.iteration():
                leaves = [fresh(leaf) for leaf in self.iteration(leaves)]
                goes_on = truth_of(self.goes_on(leaves), "cond_fn(...)")
        return leaves

    def traced(self) -> list[Any]:
        outer = state.trace
        keys = Keys(outer)
        specs = self.carry.specs
        test = lambda leaves: [flag_of(self.goes_on(leaves), "cond_fn(...)")]
        begun = [fresh(leaf) for leaf in self.carry.leaves]  # what `cond_fn` does to them elsewhere comes later
        first = trace_body(test, specs)
        (flag,) = _branched(keys, None, [first], begun)

        def iteration(leaves: list[Any]) -> list[Any]:
            left = self.iteration(leaves)
            return [*left, *test(left)]

        body = trace_iteration(iteration, specs, len(specs))
        check_generators([body], first.generators)
        effects = unite(body)
        operands = Operands(outer)
        given = _add_all(operands, [*begun, flag])
        seeds = _seeds(keys, operands, [body])
        sources, starts = captured_by_iterations(effects, operands)
        n = len(given)

        def run(values: Sequence[Any]) -> list[Any]:
            def step(held: tuple[Any, list[Any]]) -> tuple[Any, list[Any]]:
                iteration, (*carried, _), captured = held[0], held[1][:n], held[1][n:]
                stream = lambda generator: fold_iteration(values[seeds[generator]], iteration)
                outputs = body(*carried, *find(sources, values, captured, stream))
                return _next(iteration), outputs[:n] + left_by(body, effects, outputs, captured)

            start = [values[i] for i in (*given, *starts)]
            counter = jnp.uint32(1) if seeds else None
            return jax.lax.while_loop(lambda held: held[1][n - 1], step, (counter, start))[1]

        flags = [
            result.requires_grad or spec.requires_grad for result, spec in zip(body.results[:-1], specs, strict=True)
        ]
        results = perform("WhileLoopBackward", outer, effects, operands, [*flags, False], run)
        return _wrapped(specs, results[:-1])


# -- scan, map ---------------------------------------------------------------------------------------------------------


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: object = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Returns the last carry of `carry, y = f(carry, x)` over the x of xs along dim 0, and the ys stacked.

    As `jax.lax.scan`. In each iteration what is carried and the slices are fresh tensors. `f` may write to other
    tensors that it reaches.

    Args:
      f: The iteration. What it returns to be carried has the structure, shapes and dtypes of `init`.
      init: What the first iteration is passed.
      xs: Tensors or arrays with the same number of elements along dim 0, in containers; None with `length`.
      length: The number of iterations, if `xs` does not say it.
      reverse: Whether to begin with the last element; the ys keep the order of the xs.
      unroll: How many iterations a pass of the compiled loop holds; True for all. Eagerly it means nothing.

    Raises:
      ControlFlowMismatchError: If lengths differ, or if `f` returns something else to be carried than it takes.
      CapturedTensorChangedError: In a trace, if it changes more of a tensor from outside than its values.
    """
    require_function(f, "ja.scan", "ja.scan(f, carry, xs)")
    return _Scan("scan", f, init, xs, length, bool(reverse), unroll).run()


def map(f: Callable[..., Any], xs: object, *args: object) -> Any:
    """Returns `f(x, *args)` for each x of xs along dim 0, stacked (`jax.lax.map`, torch's `map`).

    The iterations run one after the other, and `f` may write to tensors that it reaches; the slices are fresh tensors.

    Args:
      f: The iteration.
      xs: Tensors or arrays with the same number of elements along dim 0, in containers.
      *args: What else `f` is passed, the same in each iteration.

    Raises:
      ControlFlowMismatchError: If the lengths of the xs differ.
      CapturedTensorChangedError: In a trace, if `f` changes more of a tensor from outside than its values.
    """
    require_function(f, "ja.map", "ja.map(f, xs)")
    return _Scan("map", lambda _, x: ((), f(x, *args)), (), xs, None, False, 1).run()[1]


class _Scan:
    def __init__(self, name: str, f: Any, init: Any, xs: object, length: int | None, reverse: bool, unroll: int | bool):
        self.name = name
        self.f = f
        self.carry = Carry(init, "init")
        self.xs, self.xs_tree = leaves_of(xs, "xs")
        self.length = self._length(xs, length)
        self.reverse = reverse
        self.unroll = unroll
        self.ys_tree: Any = None

    def _length(self, xs: object, length: int | None) -> int:
        paths, _ = pytree.flatten_with_path(xs)
        lengths = {
            f"xs{jax.tree_util.keystr(path)}": len(leaf) if len(leaf.shape) else None
            for (path, _), leaf in zip(paths, self.xs, strict=True)
        }
        if length is not None:
            lengths["length"] = int(length)
        if not lengths or None in lengths.values() or len(set(lengths.values())) > 1:
            shown = ", ".join(f"`{k}`: {'no dim' if n is None else n}" for k, n in lengths.items())
            raise ControlFlowMismatchError(
                f"`{self.name}` runs once for each element along dim 0 of xs, and how many there are is not the "
                f"same everywhere: {shown or 'nothing is given'}. Pass `length=` where there are no xs; what is the "
                "same in each iteration is better reached than passed."
            )
        return next(iter(lengths.values()))  # type: ignore[return-value]

    def iteration(self, leaves: Sequence[Any]) -> list[Any]:
        """Returns the next carry and the ys, from the carry and the slices."""
        n = len(self.carry.specs)
        carry = pytree.unflatten(self.carry.tree, list(leaves[:n]))
        result = self.f(carry, pytree.unflatten(self.xs_tree, list(leaves[n:])))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise ControlFlowMismatchError(
                f"The function of a `scan` returned {_kind(result)}; it returns a pair, what is carried on and what is "
                "stacked: `return carry, y`. Where nothing is stacked, `return carry, None`."
            )
        carried = self.carry.fit(result[0], "f")
        ys, self.ys_tree = leaves_of(result[1], "y")
        return [*carried, *ys]

    def run(self) -> tuple[Any, Any]:
        if state.trace is not None:
            carried, ys = self.traced()
        elif self.length:
            carried, ys = self.eagerly()
        else:  # no iteration tells what the ys are
            Streams()
            carried = [fresh(leaf) for leaf in self.carry.leaves]
            with inline_trace():
                body = trace_iteration(self.iteration, self.arguments(), len(self.carry.specs))
            ys = self.no_ys(body)
        return pytree.unflatten(self.carry.tree, carried), pytree.unflatten(self.ys_tree, ys)

    def arguments(self) -> list[LeafSpec]:
        slices = [spec_of(x) for x in self.xs]
        return [*self.carry.specs, *(LeafSpec(s.shape[1:], s.dtype, s.is_tensor, s.requires_grad) for s in slices)]

    def no_ys(self, body: Body) -> list[Any]:
        """Returns the ys of no iteration."""
        specs = body.results[len(self.carry.specs) :]
        zeros = [jnp.zeros((0, *spec.shape), spec.dtype) for spec in specs]
        return [from_jax(value) if spec.is_tensor else value for spec, value in zip(specs, zeros, strict=True)]

    def eagerly(self) -> tuple[list[Any], list[Any]]:
        streams = Streams()
        n = len(self.carry.specs)
        carried = [fresh(leaf) for leaf in self.carry.leaves]
        xs = [fresh(x) for x in self.xs]  # what `f` does to them elsewhere comes later
        iterations: list[list[Any]] = []
        for i in reversed(range(self.length)) if self.reverse else range(self.length):
            with streams.iteration():
                left = [fresh(leaf) for leaf in self.iteration([*carried, *(fresh(x[i]) for x in xs)])]
            carried = left[:n]
            iterations.append(left[n:])
            self._check_ys(iterations[0], iterations[-1])
        if self.reverse:
            iterations.reverse()
        return carried, [_stacked(leaves) for leaves in zip(*iterations, strict=True)]

    def _check_ys(self, first: Sequence[Any], last: Sequence[Any]) -> None:
        """Raises unless iterations return ys of one kind, which only an eager loop can get wrong."""
        kinds = [[str(spec_of(y)) for y in ys] for ys in (first, last)]
        if kinds[0] != kinds[1]:
            raise ControlFlowMismatchError(
                f"Each iteration of a `{self.name}` has to return ys of one kind, as they are stacked: one returned "
                f"({', '.join(kinds[0])}), and a later one ({', '.join(kinds[1])})."
            )

    def traced(self) -> tuple[list[Any], list[Any]]:
        outer = state.trace
        keys = Keys(outer)
        n = len(self.carry.specs)
        body = trace_iteration(self.iteration, self.arguments(), n)
        if not self.length:
            return [fresh(leaf) for leaf in self.carry.leaves], self.no_ys(body)
        effects = unite(body)
        operands = Operands(outer)
        given, sliced = _add_all(operands, self.carry.leaves), _add_all(operands, self.xs)
        seeds = _seeds(keys, operands, [body])
        sources, starts = captured_by_iterations(effects, operands)

        def run(values: Sequence[Any]) -> list[Any]:
            def step(held: Any, x: Any) -> Any:
                iteration, carried, captured = held
                stream = lambda generator: fold_iteration(values[seeds[generator]], iteration)
                outputs = body(*carried, *x, *find(sources, values, captured, stream))
                left = left_by(body, effects, outputs, captured)
                return (_next(iteration), outputs[:n], left), outputs[n : len(body.results)]

            counter = jnp.uint32(0) if seeds else None
            start = (counter, [values[i] for i in given], [values[i] for i in starts])
            (_, carried, captured), ys = jax.lax.scan(
                step, start, [values[i] for i in sliced], self.length, self.reverse, self.unroll
            )
            return [*carried, *ys, *captured]

        flags = [result.requires_grad for result in body.results]
        name = f"{self.name.capitalize()}Backward"
        results = _wrapped(body.results, perform(name, outer, effects, operands, flags, run, self.length))
        return results[:n], results[n:]


def _stacked(leaves: Sequence[Any]) -> Any:
    if isinstance(leaves[0], Tensor):
        return call(lookup("stack"), (list(leaves),), (0,))
    return jnp.stack(leaves)


def _kind(result: object) -> str:
    return f"{len(result)} values" if isinstance(result, (tuple, list)) else f"a {type(result).__name__}"
