"""The flow in five calls: trace, joint, partition, lower, wrap."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import config
from jaxaot._jax import jaxpr_as_fun
from jaxaot._util import format_bytes, signature_of
from jaxaot.errors import NotDifferentiableError, SignatureMismatchError, UsageError
from jaxaot.facade.anomaly import is_anomaly_check_nan_enabled
from jaxaot.facade.iterated import read_iterators
from jaxaot.facade.tensor import Tensor
from jaxaot.ir.sequence import sequence_rows, sequence_table
from jaxaot.ir.tape import runs_backward
from jaxaot.ir.text import to_text
from jaxaot.ir.walk import short_aval
from jaxaot.joint import build_joint
from jaxaot.lower.backends import get_backend
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.costs import cut_options
from jaxaot.lower.executable import Executable
from jaxaot.partition.budget import check_budget
from jaxaot.partition.pareto import Pareto, trade_offs
from jaxaot.partition.partition import partition as partition_joint
from jaxaot.partition.policies import get_policy
from jaxaot.partition.segments import FromInput, cut_segments
from jaxaot.partition.timeline import Timeline, memory_timeline
from jaxaot.passes.finish import finish_backward, finish_forward
from jaxaot.passes.pipeline import joint_passes, run_passes
from jaxaot.passes.saved_hooks import pack_residuals
from jaxaot.plan import stages
from jaxaot.plan.difference import CallKey
from jaxaot.plan.signature import Signature, make_signature
from jaxaot.runtime.call import generate
from jaxaot.runtime.compiled import MAX_PROGRAMS, CompiledFunction
from jaxaot.runtime.links import Walk
from jaxaot.runtime.program import Program, forward_graph
from jaxaot.runtime.recovery import is_deleted, refuse_without_values
from jaxaot.runtime.segmented import ExecutableCache, SegmentedFunction, ask, make_linker, trace_through
from jaxaot.runtime.watched import watching
from jaxaot.tape.modes import state
from jaxaot.tracer.hooks import trace_hooks
from jaxaot.tracer.pure import run_pure
from jaxaot.tracer.snapshot import Undo, snapshot
from jaxaot.tracer.trace import roots, trace_call


class Traced(stages.Traced):
    """A function as a functional graph; see `jaxaot.plan.stages.Traced`."""

    @functools.cached_property
    def signature(self) -> Signature:
        """What the function takes, changes and returns."""
        return make_signature(self.call, self.alias, self.rng, (self.in_tree, self.out_tree), self.places)

    def joint(self, argnums: int | Sequence[int] | None = None) -> JointGraph:
        """Returns the joint graph of outputs and gradients.

        Args:
          argnums: For a function of bare arrays: the arguments to differentiate, by default the first. Tensors are
            differentiated where they require grad.

        Raises:
          NotDifferentiableError: If there is nothing to differentiate.
        """
        inputs = [graph_input for graph_input, _ in self.alias.reached]
        outputs = list(self.alias.differentiable)
        if not self.call.tensors:
            inputs, outputs = self._array_arguments(argnums)
        elif not inputs or not outputs:
            raise NotDifferentiableError(
                "There is nothing to differentiate: no input that requires grad reaches an output. Make a leaf with "
                "`requires_grad=True`, or return a float that depends on it."
            )
        refills = [self.call.tensors[self.call.storages[freed.storage].tensor].name for freed in self.alias.refills]
        joint = build_joint(self.jaxpr, inputs, outputs, names=self.input_names, refill_names=refills)
        settings = config.get()
        passed = run_passes(joint, joint_passes(settings.passes, settings.exact_rounding), check=settings.check_graphs)
        return JointGraph.of(passed)

    def _array_arguments(self, argnums: int | Sequence[int] | None) -> tuple[list[int], list[int]]:
        """Returns which graph inputs belong to the arguments `argnums`, and which outputs are floats."""
        given = (0,) if argnums is None else (argnums,) if isinstance(argnums, int) else tuple(argnums)
        arguments = self.in_tree.children()[0].children()
        missing = [i for i in given if not -len(arguments) <= i < len(arguments)]
        if missing:
            raise NotDifferentiableError(
                f"`argnums` names the argument {missing[0]}, and the function was traced with {len(arguments)} "
                "positional ones. Count from 0, or from -1 backwards."
            )
        wanted = {i % len(arguments) for i in given}
        owner = [i for i, tree in enumerate(arguments) for _ in range(tree.num_leaves)]
        inputs = [
            i
            for i, value in enumerate(self.call.values)
            if value.leaf < len(owner) and owner[value.leaf] in wanted and jnp.issubdtype(value.dtype, jnp.inexact)
        ]
        avals = self.jaxpr.out_avals
        outputs = [i for i, aval in enumerate(avals) if jnp.issubdtype(aval.dtype, jnp.inexact)]
        if not inputs or not outputs:
            types = [
                self.jaxpr.in_avals[i]
                for i, v in enumerate(self.call.values)
                if v.leaf < len(owner) and owner[v.leaf] in wanted
            ]
            numbers = ", ".join(map(str, sorted(wanted)))
            problem = (
                f"of the arguments {numbers}, by which it is differentiated, none has a float ({_listed(types)})"
                if not inputs
                else f"it returns no float ({_listed(avals)})"
            )
            raise NotDifferentiableError(
                f"There is nothing to differentiate: {problem}. Only floats and complex numbers have gradients: "
                "convert with `x.astype(float)`, or name other arguments with `argnums`."
            )
        return inputs, outputs


def _listed(avals: Sequence[Any]) -> str:
    return ", ".join(map(short_aval, avals)) or "nothing at all"


class JointGraph(stages.JointGraph):
    """The forward and the backward in one graph; see `jaxaot.plan.stages.JointGraph`."""

    @classmethod
    def of(cls, joint: stages.JointGraph) -> JointGraph:
        """Returns a joint graph as a stage of the flow."""
        return cls(**{field.name: getattr(joint, field.name) for field in dataclasses.fields(joint)})

    def partition(self, policy: Any = None, memory_budget: Any = None) -> Partition:
        """Returns the graph cut into forward and backward.

        Args:
          policy: Name of a policy or one itself; by default the setting in force.
          memory_budget: `None`, a fraction of what `save_all` keeps, bytes such as `"512MiB"`, or the memory that
            everything has to fit in, such as `"fit:16GiB"`.

        Raises:
          PolicyError: If there is no such policy, or if what it says cannot be done.
          BudgetError: If the budget cannot be read or met.
          OffloadError: If the settings allow to offload, and the device cannot.
        """
        settings = config.get()
        policy = settings.policy if policy is None else policy
        memory_budget = settings.memory_budget if memory_budget is None else memory_budget
        return Partition.of(with_hooks(partition_joint(self, policy, memory_budget, **cut_options(settings))))

    def __call__(self, primals: Sequence[Any], cotangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Returns the outputs, and for each primal its gradient, or None where it has none.

        Args:
          primals: One for each input of the function.
          cotangents: One for each of `differentiable_outputs`.

        Raises:
          SignatureMismatchError: If these are not what was traced.
        """
        values = list(map(array_of, (*primals, *cotangents)))
        require_inputs(self.jaxpr.in_avals, values)
        results = jaxpr_as_fun(self.jaxpr)(*values)
        gradients: list[Any] = [None] * self.n_primals
        first = self.n_outputs + self.n_refills
        for position, gradient in zip(self.differentiable_inputs, results[first:], strict=True):
            gradients[position] = gradient
        return list(results[: self.n_outputs]), gradients


class Partition(stages.Partition):
    """A joint graph cut in two; see `jaxaot.plan.stages.Partition`."""

    @classmethod
    def of(cls, partition: stages.Partition) -> Partition:
        """Returns a partition as a stage of the flow."""
        return cls(**{field.name: getattr(partition, field.name) for field in dataclasses.fields(partition)})

    @functools.cached_property
    def timeline(self) -> Timeline:
        """The memory in use over the forward and the backward, estimated from shapes."""
        return memory_timeline(self)

    def compile(self, backend: str = "xla") -> Compiled:
        """Returns the forward and the backward as executables."""
        make = get_backend(backend)
        backward = finish_backward(self.backward, len(self.plan.residuals))
        return Compiled(make(finish_forward(self.forward), (), "forward"), make(backward, (), "backward"), self)


def with_hooks(partition: stages.Partition) -> stages.Partition:
    """Returns a partition whose residuals are packed by the hooks on saved tensors that are in force."""
    return pack_residuals(partition, state.saved_hooks, functools.cache(trace_hooks))


@dataclasses.dataclass(frozen=True, eq=False)
class Compiled:
    """A forward and a backward executable on flat arrays.

    Attributes:
      forward: Graph inputs to outputs and extra residuals.
      backward: Residuals and cotangents to gradients.
      partition: Where they come from.
    """

    forward: Any
    backward: Any
    partition: stages.Partition

    def __call__(self, *inputs: Any) -> list[Any]:
        """Returns the outputs of the forward, without its residuals.

        Raises:
          SignatureMismatchError: If the inputs are not those that were traced.
        """
        values = list(map(array_of, inputs))
        require_inputs(self.partition.forward.in_avals, values)
        return list(self.forward(*values))[: self.partition.joint.n_outputs]

    def memory_analysis(self) -> dict[str, Any]:
        """Returns what XLA says of the memory of both."""
        return {"forward": self.forward.memory_analysis(), "backward": self.backward.memory_analysis()}

    def cost_analysis(self) -> dict[str, Any]:
        """Returns what XLA says of the cost of both."""
        return {"forward": self.forward.cost_analysis(), "backward": self.backward.cost_analysis()}

    def as_text(self) -> str:
        """Returns the StableHLO of both."""
        return f"{self.forward.as_text()}\n{self.backward.as_text()}"


def array_of(value: Any) -> Any:
    """Returns the values of a tensor; anything else as it is."""
    return value.jax() if isinstance(value, Tensor) else value


def require_inputs(avals: Sequence[Any], values: Sequence[Any]) -> None:
    """Raises unless values have the shapes and dtypes that a graph takes.

    Raises:
      SignatureMismatchError: If they do not.
    """
    if len(values) != len(avals):
        problems = [f"it takes {len(avals)} arrays and is called with {len(values)}"]
    else:
        pairs = ((i, _type_text(aval), _given_text(x)) for i, (aval, x) in enumerate(zip(avals, values, strict=True)))
        problems = [f"argument {i} is {given} instead of {taken}" for i, taken, given in pairs if given != taken]
    if problems:
        taken = ", ".join(map(_type_text, avals))
        raise SignatureMismatchError(
            f"This program was traced for ({taken}): {'; '.join(problems)}. Call it with arrays of those shapes "
            "and dtypes, one after the other, or trace the function again for these."
        )


def _type_text(aval: Any) -> str:
    return f"{aval.dtype}{list(aval.shape)}"


def _given_text(value: Any) -> str:
    """Returns the type of what a stage was called with, or what is wrong with it."""
    if isinstance(value, jax.ShapeDtypeStruct):
        return "a type without a value"
    if is_deleted(value):
        return "a deleted array"
    if isinstance(value, (jax.Array, np.ndarray, np.generic)):
        return _type_text(jax.ShapeDtypeStruct(value.shape, jax.dtypes.canonicalize_dtype(value.dtype)))
    if isinstance(value, (bool, int, float, complex)):
        return _type_text(jax.ShapeDtypeStruct((), jnp.result_type(value)))
    return f"a {type(value).__name__}"


def trace(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Traced:
    """Returns the functional graph of `fn(*args, **kwargs)`; nothing is changed by it.

    Args:
      fn: A function of tensors, arrays, numbers and containers of them. Tensors that it reaches through its closure,
        globals or objects become inputs.
      *args: Example arguments.
      **kwargs: Example keyword arguments.

    Raises:
      TraceError: If the function cannot be traced.
    """
    if isinstance(fn, SegmentedFunction):
        return fn.trace(*args, **kwargs)
    fn = fn.fn if isinstance(fn, CompiledFunction) else fn
    return _stage(trace_call(fn, *read_iterators(args, kwargs)))


def _stage(traced: stages.Traced) -> Traced:
    """Returns a trace with the methods that chain."""
    return Traced(**{field.name: getattr(traced, field.name) for field in dataclasses.fields(stages.Traced)})


def compile(
    fn: Callable[..., Any] | None = None,
    *,
    policy: Any = None,
    memory_budget: Any = None,
    backend: str = "xla",
    max_programs: int = MAX_PROGRAMS,
    segments: bool = False,
) -> Any:
    """Returns `fn`, traced and compiled once for each kind of call; a decorator if `fn` is left out.

    Values, versions, sharing and gradients after a call are those of `fn` itself. Tensors that `fn` reaches without
    being passed are inputs, found anew at every call. Ints, bools, strings and None are part of the program; Python
    floats are traced.

    With `segments=True` Python may ask for values (`if x.sum() > 0`, `int(n)`, `.item()`, `while err > tol`). The call
    runs what it has captured so far, hands Python the value, and goes on; each segment is compiled, and a later call
    whose values are the same runs them one after the other. To find the segments, `fn` is run again from its start for
    each further value. Before, whatever it did to tensors, lists, dicts, attributes, variables and generators is put
    back; prints, files and the like happen again. Values that differ in many ways, or very many of them in one call,
    make a call run eagerly, after a warning: see `max_values` and `max_breaks` of `ja.config`.

    Args:
      fn: What to compile.
      policy: What the forward saves for the backward: `"min_cut"`, `"save_all"`, … or a policy.
      memory_budget: `None`, a fraction of what `save_all` keeps, bytes such as `"512MiB"`, or the memory that
        everything has to fit in, such as `"fit:16GiB"`.
      backend: `"xla"`, or `"interpret"` to run one equation at a time.
      max_programs: How many compiled versions are kept; the least recently used one is dropped.
      segments: Whether Python may ask for values of traced tensors.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
      UsageError: If no version at all may be kept.
    """
    if fn is None:
        return functools.partial(
            compile, policy=policy, memory_budget=memory_budget, backend=backend, max_programs=max_programs,
            segments=segments,
        )  # fmt: skip
    if max_programs < 1:
        raise UsageError(f"max_programs is {max_programs}, and at least one program has to be kept: write 1 or more.")
    if policy is not None:
        get_policy(policy)
    check_budget(memory_budget)
    make = get_backend(backend)

    def cut(traced: Traced) -> Partition:
        return traced.joint().partition(policy, memory_budget)

    def build(fn: Callable[..., Any], args: Any, kwargs: Any, writing: Any) -> Program:
        traced, key = trace_for_call(fn, args, kwargs)
        return make_program(traced, key, cut(traced) if traced.needs_backward else None, make, writing)

    if segments:
        builder = SegmentBuilder(cut, make)
        return SegmentedFunction(fn, builder, Inspector(cut, builder.trace), max_programs)
    return CompiledFunction(fn, build, Inspector(cut), max_programs)


def trace_for_call(fn: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Traced, CallKey]:
    """Returns the graph of a call that is about to be carried out, and all that the guards of its program look at.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    traced = trace(fn, *args, **kwargs)
    return traced, key_for_call(traced, fn, args, kwargs)


def key_for_call(traced: stages.Traced, fn: Callable[..., Any], args: Any, kwargs: Any) -> CallKey:
    """Returns all that the guards of a program for a call look at.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    parameters, settings = parameter_names(fn), config.get()
    refuse_without_values(traced.call, fn, args, kwargs, parameters)
    hooks = state.saved_hooks if traced.needs_backward else None
    has_backward = not traced.asked and runs_backward(traced.jaxpr.jaxpr)
    watches = is_anomaly_check_nan_enabled() if has_backward else None
    return CallKey(
        traced.call, traced.places, traced.rng, traced.in_tree, settings, jax_settings(), parameters, traced.asked,
        hooks, watches,
    )  # fmt: skip


def make_program(
    traced: Traced, key: CallKey, partition: stages.Partition | None, make: Any, writing: Any, donate: bool = True
) -> Program:
    """Returns what carries out the calls that are like the traced one.

    Args:
      traced: The traced function.
      key: All that the guards look at.
      partition: Its forward and backward; None if no gradient flows.
      make: The backend that compiles them.
      writing: The lock that calls of the function hold which write.
      donate: Whether the buffers of written storages may be reused, if the settings allow it.
    """
    if key.watches:
        make, donate = watching(make), False
    program = Program(traced, partition, make, key.settings.donate and donate, key)
    generate(program, writing)
    return program


@dataclasses.dataclass(frozen=True, eq=False)
class SegmentBuilder:
    """Makes the programs of a function that is compiled in segments.

    Attributes:
      cut: Makes the partition of a traced function.
      make: The backend.
    """

    cut: Callable[[Traced], stages.Partition]
    make: Callable[..., Any]

    @functools.cached_property
    def executables(self) -> ExecutableCache:
        """Those of the segments."""
        return ExecutableCache(self.make)

    def __call__(
        self, fn: Any, args: Any, kwargs: Any, writing: Any, walk: Walk, programs: Sequence[Program]
    ) -> Program:
        """Returns a program for a call; other programs that run some of its segments compute more from then on."""
        traced = self._trace(fn, args, kwargs, writing, walk.known)
        key = key_for_call(traced, fn, args, kwargs)
        before = {link.segment: link.segment.call for p in programs for link in p.links or ()}
        linker = make_linker(traced, walk, programs, lambda graph: self.executables(graph, key.jax_settings))
        partition = self.cut(traced) if traced.needs_backward else None
        program = Program(traced, partition, self.make, key.settings.donate, key, linker)
        generate(program, writing)
        for other in programs:
            if any(link.segment.call is not before[link.segment] for link in other.links or ()):
                generate(other, writing)
        return program

    def snapshot(self, fn: Any, args: Any, kwargs: Any) -> Undo:
        """Returns what puts the Python world back that a call reaches."""
        return snapshot(roots(fn, args, kwargs))

    def _trace(self, fn: Any, args: Any, kwargs: Any, writing: Any, known: tuple[np.ndarray, ...]) -> Traced:
        call = (fn, args, kwargs)

        def run(traced: stages.Traced) -> np.ndarray:
            return ask(traced, key_for_call(traced, *call), call, self.make, writing)

        trace = lambda known: trace_call(fn, args, kwargs, known)
        return _stage(trace_through(trace, run, known, config.get().max_breaks))

    def trace(self, fn: Any, args: Any, kwargs: Any) -> Traced:
        """Returns the traced graph of a call."""
        return self._trace(fn, *read_iterators(args, kwargs), threading.RLock(), ())


def parameter_names(fn: Callable[..., Any], n_most: int = 64) -> tuple[str, ...]:
    """Returns what a function calls its positional arguments, those of `*args` by their index."""
    signature = signature_of(fn)
    if signature is None:
        return ()
    parameters = signature.parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    return (*names, *(f"{name}[{i}]" for name in rest for i in range(n_most)))


def _trace_of(fn: Any, args: Any, kwargs: Any) -> Traced:
    return trace(fn, *args, **kwargs)


@dataclasses.dataclass(frozen=True)
class Inspector:
    """What a compiled function shows of its stages.

    Attributes:
      cut: Makes the partition of a traced function.
      trace: Takes (fn, args, kwargs) to the traced graph of a call.
    """

    cut: Callable[[Traced], stages.Partition]
    trace: Callable[[Any, Any, Any], Traced] = _trace_of

    def explain(self, fn: Any, args: Any, kwargs: Any) -> str:
        """Returns every stage that a call goes through, as text."""
        traced = self.trace(fn, args, kwargs)
        return explain_stages(traced, self.cut(traced) if traced.needs_backward else None)


def explain(traced: Traced, policy: Any = None, memory_budget: Any = None) -> str:
    """Returns every stage of a traced function as text."""
    return explain_stages(traced, traced.joint().partition(policy, memory_budget) if traced.needs_backward else None)


def explain_stages(traced: Traced, partition: stages.Partition | None) -> str:
    """Returns a traced function and its partition as text."""
    parts = [f"# signature\n{traced.signature}", f"# traced\n{traced}"]
    if partition is not None:
        plan = partition.plan
        parts += [
            f"# joint\n{partition.joint}",
            f"# sequence numbers\n{sequence_table(sequence_rows(partition.joint.jaxpr))}",
            f"# partition\n{partition}",
            f"# memory\nsaved for the backward: {format_bytes(plan.saved_bytes)} "
            f"(save_all: {format_bytes(plan.save_all_bytes)})\n{memory_timeline(partition)}",
        ]
    if traced.asked:
        parts += _segment_texts(traced, partition)
    graphs = {"forward": finish_forward(forward_graph(traced, partition))}
    if partition is not None:
        graphs["backward"] = finish_backward(partition.backward, len(partition.plan.residuals))
    parts.append("\n".join(["# lowered", *(Executable(graph, (), name).explain() for name, graph in graphs.items())]))
    return "\n\n".join(parts)


def pareto(fn: Callable[..., Any], /, *args: Any, policy: Any = None, n: int = 24, **kwargs: Any) -> Pareto:
    """Returns bytes against time over all memory budgets of a function: as data, `.table()` and `.plot()`.

    Nothing is compiled or run; times are by the costs of the settings, `ja.config(costs=…)`.

    Args:
      fn: A function of tensors, arrays, modules, or types of these such as `jax.ShapeDtypeStruct`.
      *args: Its arguments.
      policy: The policy whose word holds at every budget; by default the setting in force.
      n: How many budgets to try besides the corners of the frontier.
      **kwargs: Its keyword arguments.

    Raises:
      TraceError: If the function cannot be traced.
      NotDifferentiableError: If there is nothing to differentiate.
      PolicyError: If there is no such policy, or if what it says cannot be done.
    """
    settings = config.get()
    policy = settings.policy if policy is None else policy
    return trade_offs(trace(fn, *args, **kwargs).joint(), policy, n=n, **cut_options(settings))


def _segment_texts(traced: Traced, partition: stages.Partition | None) -> list[str]:
    """Returns the segments of a forward as text, each with the value that it computes and who asked for it."""
    cut = cut_segments(forward_graph(traced, partition), [asked.output for asked in traced.asked])
    whys = [f"computes {asked.shown} for {asked.line}" for asked in traced.asked] + ["computes the rest"]
    texts = []
    for k, (part, why) in enumerate(zip(cut.parts, whys, strict=True)):
        inputs = ", ".join(
            f"input {source.index}" if isinstance(source, FromInput) else f"segment {source.segment}.{source.output}"
            for source in part.inputs
        )
        texts.append(f"# segment {k}: {why}\ntakes ({inputs})\n{to_text(part.jaxpr, name=f'segment {k}')}")
    return texts


def functionalize(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a pure function on jax values that does what `fn` does on tensors.

    Arrays among the arguments are shown to `fn` as tensors on storages of their own, and tensors in its result come
    back as arrays. What `fn` writes into its arguments stays inside; return what is wanted. The result composes with
    `jax.jit`, `jax.grad`, `jax.vmap` and the other transformations, and `jax.make_jaxpr` of it is PyTorch's `make_fx`.
    Gradients follow the tape's rules: none flow through `.detach()`, nor to what was written under `no_grad`.

    Args:
      fn: A function of tensors. Tensors that it reaches without being passed are constants. It draws random numbers
        from Python's generators, under `jax.jit` once for all calls; pass a key to draw by.

    Raises:
      TraceError: If `fn` changes a tensor that it was not passed, which a pure function cannot do.
    """

    @functools.wraps(fn)
    def pure(*args: Any, **kwargs: Any) -> Any:
        return run_pure(fn, args, kwargs)

    return pure
