"""The only file that names a private part of JAX or of `jax.extend`, or what differs between its versions."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import pathlib
import sys
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import checkify, compilation_cache, compiler, linear_util, source_info_util
from jax._src import core as jex  # `jax.extend` would import all of Pallas, half of what an `import jaxaot` takes
from jax._src.config import trace_context as trace_context
from jax._src.config import use_shardy_partitioner
from jax._src.core import no_axis_name, pytype_aval_mappings, set_current_trace, trace_ctx, unshard_aval
from jax._src.core import pvary_p as pvary_p
from jax._src.dtypes import register_canonicalize_value_handler
from jax._src.extend.random import define_prng_impl as define_prng_impl
from jax._src.interpreters.batching import BatchTrace, BatchTracer
from jax._src.interpreters.partial_eval import DynamicJaxprTracer
from jax._src.interpreters.pxla import batched_device_put
from jax._src.lib.mlir.dialects import func, sdy
from jax._src.mesh import empty_abstract_mesh
from jax._src.named_sharding import UNSPECIFIED as UNSPECIFIED
from jax._src.random.threefry2x32 import threefry2x32_p as threefry2x32_p
from jax._src.random.threefry2x32 import threefry_2x32 as threefry_2x32
from jax._src.random.threefry2x32 import threefry_prng_impl as threefry_prng_impl
from jax._src.source_info_util import user_frames
from jax._src.xla_bridge import backends as backends
from jax.custom_derivatives import SymbolicZero
from jax.interpreters import ad, batching, mlir, partial_eval
from jax.sharding import AxisType, SingleDeviceSharding
from jax.typing import DTypeLike
from jaxlib.mlir import ir

from jaxaot._immutable import immutable

OWN_PATHS: tuple[str, ...] = tuple(
    str(child) for child in sorted(pathlib.Path(__file__).parent.iterdir()) if child.name not in ("demo", "__pycache__")
)
"""Files whose lines are never the user's: equations traced through them name the caller's line. The demo is a user."""
for _path in OWN_PATHS:
    source_info_util.register_exclusion(_path)

Jaxpr = jex.Jaxpr
if TYPE_CHECKING:
    ClosedJaxpr = jex.Jaxpr
else:  # two classes before JAX 0.11
    ClosedJaxpr = getattr(jex, "ClosedJaxpr", jex.Jaxpr)
DropVar = jex.DropVar
JaxprEqn = jex.JaxprEqn
Literal = jex.Literal
Primitive = jex.Primitive
Var = jex.Var
Tracer = jax.core.Tracer
ShapedArray = jax.core.ShapedArray
Atom: TypeAlias = jex.Var | jex.Literal
Aval: TypeAlias = jax.core.AbstractValue
Eqn: TypeAlias = jex.JaxprEqn
jaxpr_as_fun, new_jaxpr_eqn, no_effects = jex.jaxpr_as_fun, jex.new_jaxpr_eqn, jex.no_effects


def load(module: str) -> Any:
    """Returns a module, loaded if it is not yet: what it computes then is part of no trace that is running."""
    if module in sys.modules:
        return sys.modules[module]
    with jax.ensure_compile_time_eval():
        return importlib.import_module(module)


def make_jaxpr_object(
    invars: Sequence[Var],
    outvars: Sequence[Atom],
    eqns: Sequence[Eqn],
    constvars: Sequence[Var] = (),
    effects: Any = None,
    debug_info: Any = None,
) -> Any:
    """Returns an open Jaxpr: the one place that calls its constructor."""
    if effects is None:
        effects = set().union(*(eqn.effects for eqn in eqns)) if eqns else set()
    if debug_info is None:
        debug_info = jex.DebugInfo("jaxaot", "graph", None, None)
    return jex.Jaxpr(list(constvars), list(invars), list(outvars), list(eqns), effects, debug_info)


def as_one_call(closed: ClosedJaxpr, name: str) -> Callable[..., list[Any]]:
    """Returns the function of a graph, for `jax.jit`: what that traces is one call, and not each equation once more.

    Args:
      closed: A ClosedJaxpr.
      name: What HLO and profiles call it.
    """
    jaxpr = closed.jaxpr
    position = {var: i for i, var in enumerate((*jaxpr.constvars, *jaxpr.invars))}
    given = [None if isinstance(atom, Literal) else position.get(atom) for atom in jaxpr.outvars]
    made = [atom for atom, k in zip(jaxpr.outvars, given, strict=True) if k is None]
    body = close_jaxpr(make_jaxpr_object([*position], made, jaxpr.eqns, (), jaxpr.effects))
    n_in, n_out, free = len(position), len(made), UNSPECIFIED
    chosen = {"jaxpr": body, "name": name, "in_shardings": (free,) * n_in, "out_shardings": (free,) * n_out}
    chosen |= {"in_layouts": (None,) * n_in, "out_layouts": (None,) * n_out, "donated_invars": (False,) * n_in}

    def call(*args: object) -> list[Any]:
        values = (*closed.consts, *args)
        (usual,) = jax.make_jaxpr(jax.jit(lambda: ()))().eqns
        results = iter(usual.primitive.bind(*values, **{**usual.params, **chosen}))
        return [next(results) if k is None else values[k] for k in given]  # `jax.jit` does not copy what it is given

    return call


def needs_lowering(closed: Any) -> bool:
    """Returns whether a graph holds types or primitives, at any depth, that JAX lowers to others ("hijax")."""
    is_high = bool(getattr(closed.jaxpr, "is_high", False))  # which a graph that is made of equations does not say
    return is_high or any(eqn.primitive.name == "call_hi_primitive" for eqn in closed.jaxpr.eqns)


def make_var(aval: Aval) -> Var:
    """Returns a new variable of type `aval`."""
    return jex.Var(aval)


def is_key_dtype(dtype: DTypeLike) -> bool:
    """Returns whether a dtype is one of JAX's extended dtypes, such as that of `jax.random.key(0)`."""
    return jnp.issubdtype(dtype, jax.dtypes.extended)


def canonical_dtype(dtype: DTypeLike) -> Any:
    """Returns the dtype that an array has in a graph: 64 bits become 32 where x64 is off; that of keys stays."""
    return dtype if is_key_dtype(dtype) else np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def check_types(jaxpr: Jaxpr) -> str | None:
    """Returns the message of JAX's own type checker for an open jaxpr, or `None` if it finds no error."""
    try:
        jex.check_jaxpr(jaxpr)
    except jex.JaxprTypeError as error:
        return str(error).split("\n\nwhile checking jaxpr")[0]
    return None


def close_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any] = ()) -> Any:
    """Returns `jaxpr` with its constants attached."""
    return ClosedJaxpr(jaxpr, list(consts))


def is_tracer(value: object) -> bool:
    """Returns whether `value` is a symbol of a JAX trace rather than an array."""
    return isinstance(value, Tracer)


def refuse_values_of(cls: type, refuse: Callable[[Any], Any]) -> None:
    """Has JAX call `refuse`, which raises, where one of its transformations or functions gets an object of a class.

    The error may not be a TypeError: JAX takes the place of that with an error of its own.
    """
    pytype_aval_mappings[cls] = refuse
    register_canonicalize_value_handler(cls, refuse)


def trace_level() -> Any:
    """Returns an identity of the running JAX trace: the body of a scan, for instance, has its own."""
    return jex.get_opaque_trace_state(convention="flax")


def running_traces() -> Iterator[tuple[Any, str]]:
    """Yields the running traces, innermost first, with what a graph is for, such as `"scan"`; of others the class."""
    trace: Any = trace_ctx.trace
    while getattr(trace, "parent_trace", None) is not None:
        debug_info = getattr(getattr(trace, "frame", None), "debug_info", None)
        yield trace, getattr(debug_info, "traced_for", type(trace).__name__)
        trace = trace.parent_trace


def symbol_of(value: object) -> Any:
    """Returns the variable that a tracer stands for in the graph that is being made; None if it stands for none."""
    value = _primal(value)
    return value.val if isinstance(value, DynamicJaxprTracer) and isinstance(value.val, Var) else None


def maker_of(value: object) -> tuple[Any, Sequence[Any]]:
    """Returns the equation that made what a tracer stands for, and the tracers that it read; None and () if none is."""
    parent: Any = getattr(_primal(value), "parent", None)
    if parent is None:
        return None, ()
    atoms = [x.val if isinstance(x, DynamicJaxprTracer) else x for x in parent.in_tracers]
    made = {"primitive": parent.primitive, "params": parent.params, "effects": parent.effects}
    return types.SimpleNamespace(invars=atoms, outvars=parent.outvars, **made), parent.in_tracers


def _primal(value: Any) -> Any:
    """Returns the tracer of a graph that a tracer of forward mode stands on; other values are returned as they are."""
    while hasattr(value, "primal") and hasattr(value, "tangent"):
        value = value.primal
    return value


mark_p = Primitive("mark")
"""An identity that says something of its operand: `word`. Gradients pass through unmarked."""
mark_p.def_impl(lambda x, *, word: x)
mark_p.def_abstract_eval(lambda aval, *, word: aval)
ad.primitive_jvps[mark_p] = lambda primals, tangents, *, word: (mark_p.bind(*primals, word=word), tangents[0])
ad.primitive_transposes[mark_p] = lambda cotangent, _, *, word: [cotangent]
batching.primitive_batchers[mark_p] = lambda args, axes, *, word: (mark_p.bind(*args, word=word), axes[0])
mlir.register_lowering(mark_p, lambda ctx, x, *, word: [x])


place_as_p = Primitive("place_as")
"""Its first operand, which XLA lays over the devices as the second one. Gradients pass through, for the first alone.

With `leads` it is computed so from the start; else where its operands lie, as a sum over a spread batch should be.
"""
place_as_p.def_impl(lambda x, y, **_: x if len(y.sharding.device_set) == 1 else jax.device_put(x, y.sharding))
place_as_p.def_abstract_eval(lambda aval, like, *, leads: aval)
ad.primitive_jvps[place_as_p] = lambda primals, tangents, **how: (place_as_p.bind(*primals, **how), tangents[0])
ad.primitive_transposes[place_as_p] = lambda cotangent, *_, leads: [cotangent, None]
_groups = itertools.count(2**40)  # where no numbers of JAX's own begin


def _place_as_mapped(args: Sequence[Any], axes: Sequence[int | None], *, leads: bool) -> Any:
    (x, like), (of_x, of_like) = args, axes
    if of_x is None or of_like is None:  # what is mapped has an axis more than the other
        return x, of_x
    return place_as_p.bind(x, jnp.moveaxis(like, of_like, of_x), leads=leads), of_x


def _lower_place_as(ctx: Any, x: Any, like: Any, *, leads: bool) -> list[Any]:
    if use_shardy_partitioner.value:  # the partitioner before it has no public form of it in all versions
        group = next(_groups)
        # a value of its own: where an argument lies is fixed
        x = sdy.propagation_barrier(x, sdy.PropagationDirection.BACKWARD if leads else sdy.PropagationDirection.NONE)
        for value in (x, like):
            sdy.sharding_group(value, group)
    return [x]


batching.primitive_batchers[place_as_p] = _place_as_mapped
mlir.register_lowering(place_as_p, _lower_place_as, cacheable=False)  # values of one type are no group


def bind_params(eqn: Eqn) -> dict[str, Any]:
    """Returns the parameters by which an equation is bound again.

    The rule of a `custom_jvp` may return symbolic zeros though it did not ask for them. JAX takes them in `jvp`, and in
    `linearize` only as its own kind of zeros.
    """
    params = eqn.primitive.get_bind_params(eqn.params)
    if eqn.primitive.name != "custom_jvp_call" or params["symbolic_zeros"]:
        return params
    fn, rule = params["subfuns"]

    def jvp(*args: object) -> list[Any]:
        results = rule.call_wrapped(*args)
        return [ad.Zero(x.aval) if isinstance(x, SymbolicZero) else x for x in results]

    return {**params, "subfuns": (fn, linear_util.wrap_init(jvp, debug_info=rule.debug_info))}


def bind_again(eqn: Eqn, operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """Returns the results of the primitive of an equation for other operands and parameters."""
    results = eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(params))
    return list(results) if eqn.primitive.multiple_results else [results]


def present_traceback() -> Any:
    """Returns where the program is, as the equations that are traced note it."""
    return source_info_util.current().traceback


def user_places(eqn: Eqn) -> Iterator[tuple[str, int]]:
    """Yields the files and lines outside of JAX and Python that lead to an equation, innermost first."""
    for frame in user_frames(eqn.source_info.traceback):
        yield frame.file_name, frame.start_line


def varying_axes(value: object) -> frozenset[Any]:
    """Returns the mesh axes over which a value of a `shard_map` body differs from device to device."""
    return type_varies_over(jax.typeof(value))


def type_varies_over(aval: Aval) -> frozenset[Any]:
    """Returns the mesh axes over which values of a type differ from device to device."""
    return frozenset(_varying(aval))


def _varying(aval: Aval) -> Collection[Any]:
    manual = getattr(aval, "mat", None)  # earlier versions say `vma`
    return manual.varying if manual is not None else getattr(aval, "vma", ())


is_outermost: Callable[[], bool] = trace_ctx.is_top_level
"""Returns whether no transformation of JAX, such as `jit` or `grad`, is running; bound here because each op asks it."""


def placed_as(array: np.ndarray[Any, Any], like: Any, aval: Any, sharding: Any) -> Any:
    """Returns a NumPy array as a jax array that lies where another one does; `jax.device_put` takes ten times as long.

    Args:
      array: The array.
      like: A jax array.
      aval: The type of the result.
      sharding: How the result lies: as that array, or, over several devices, along fewer axes.
    """
    if not isinstance(sharding, SingleDeviceSharding):
        return jax.device_put(array, sharding if like.committed else None)
    return batched_device_put(aval, sharding, [array], list(sharding.device_set), like.committed)


_Jitted = type(jax.jit(lambda: None))


def n_prepared(fn: Any) -> int:
    """Returns for how many kinds of arrays C alone dispatches a jitted function: those it was called with; else 0."""
    return fn._cache_size() if type(fn) is _Jitted else 0


def is_jitted(fn: Any) -> bool:
    """Returns whether a function is one that `jax.jit` made."""
    return type(fn) is _Jitted


def names_of_policy(policy: Any) -> tuple[frozenset[str], bool] | None:
    """Returns the names that a policy of JAX goes by, and whether it saves values of these rather than of others.

    Args:
      policy: The policy; None is returned for one that does not go by names alone.
    """
    own, kind = {"save_only_these_names": True, "save_any_names_but_these": False}, type(policy).__name__
    if kind in ("SaveOnlyTheseNames", "SaveAnyNamesButThese"):  # until JAX 0.10
        saves = kind == "SaveOnlyTheseNames"
        return frozenset(policy.saveable_names if saves else policy.names), saves
    maker, _, rest = getattr(policy, "__qualname__", "").partition(".")
    if rest != "<locals>.policy" or maker not in own or not policy.__module__.startswith("jax."):
        return None
    held = [cell.cell_contents for cell in policy.__closure__ or ()]
    return (frozenset(held[0]), own[maker]) if len(held) == 1 else None


def is_from_jax(jaxpr: Jaxpr) -> bool:
    """Returns whether an open jaxpr was traced from a function that JAX itself defines."""
    place = str(getattr(jaxpr.debug_info, "func_src_info", "") or "")
    return "/jax/_src/" in place or "/jax/experimental/" in place


def has_side_effects(eqn: Eqn) -> bool:
    """Returns whether an equation does more than compute its outputs. Named axes of a mesh do not count."""
    return any(type(effect).__name__ != "NamedAxisEffect" for effect in eqn.effects)


def is_unspecified(value: object) -> bool:
    """Returns whether a sharding of a `jit` equation was left to the compiler."""
    return type(value).__name__ == "UnspecifiedValue"


def make_literal(value: object, aval: Aval) -> Any:
    """Returns a literal of type `aval`."""
    return jex.Literal(value, aval)


def with_type_of(value: object, aval: Aval) -> Any:
    """Returns `value` as weakly typed as `aval` is."""
    if jax.typeof(value).weak_type == aval.weak_type:
        return value
    kept = {"new_dtype": aval.dtype, "weak_type": aval.weak_type, "sharding": None}
    return jax.lax.convert_element_type_p.bind(value, **kept)


stored_p = Primitive("stored_program")
"""A program of `jax.export` for one device, as `Exported.call` lowers it, which loads all of scipy.linalg first."""
stored_p.multiple_results = True
stored_p.def_impl(lambda *args, program: jax.jit(functools.partial(stored_p.bind, program=program))(*args))
stored_p.def_abstract_eval(lambda *_, program: list(program.out_avals))


def _lower_stored(ctx: Any, *args: Any, program: Any) -> Any:
    whole = ctx.module_context
    with whole.module.context:
        module = program.mlir_module(serialized=False)
    results = ir.SymbolTable(module.operation)["main"].type.results
    name = mlir.merge_mlir_modules(whole.module, f"call_{program.fun_name}", module, dst_symtab=whole.symbol_table)
    return func.CallOp(results, ir.FlatSymbolRefAttr.get(name), list(args)).results


mlir.register_lowering(stored_p, _lower_stored)
_NEEDS_MORE = (b"lapack", b"sdy.", b"shape_assertion")
"""Words in a stored program that needs what `Exported.call` prepares: kernels of LAPACK, meshes, sizes that vary."""


def call_stored(program: Any, *args: Any) -> Sequence[Any]:
    """Returns the results of a program of `jax.export` that takes and returns flat arrays."""
    is_plain = (
        program.nr_devices == len(program.platforms) == 1
        and not (program.ordered_effects or program.unordered_effects or program.uses_global_constants)
        and len(program.module_kept_var_idx) == len(args)
        and not any(word in program.mlir_module_serialized for word in _NEEDS_MORE)
    )
    return stored_p.bind(*args, program=program) if is_plain else program.call(*args)


compile_module: Any = compiler.backend_compile_and_load  # (backend, module, devices, options, callbacks)
program_key: Any = compilation_cache.get_cache_key  # (module, devices, options, backend) → a text for all processes


def have_programs_made_by(way: Callable[..., Any]) -> None:
    """Has JAX call `way(usual, *args)` to make a program, where it calls `usual(*args)`, which looks into its cache."""
    compiler.compile_or_get_cached = functools.partial(way, compiler.compile_or_get_cached)


def uses_axis(jaxpr: Jaxpr, name: Any) -> bool:
    """Returns whether an equation of an open jaxpr, at any depth, names an axis of a `vmap` or a mesh."""
    return any(getattr(effect, "name", None) == name for effect in jaxpr.effects)


@immutable
class MappedAxis:
    """The axis that a `vmap` adds.

    Attributes:
      size: Its size.
      name: What collectives call it; None if it has no name.
      spmd_name: The mesh axes over which it is sharded.
    """

    size: int
    name: Any
    spmd_name: Any

    def vmap(self, fn: Callable[..., Any], in_axes: Sequence[int | None], out_axes: Any = 0) -> Callable[..., Any]:
        """Returns `fn` mapped over this axis."""
        options = {"axis_name": self.name, "axis_size": self.size, "spmd_axis_name": self.spmd_name}
        return jax.vmap(fn, in_axes=tuple(in_axes), out_axes=out_axes, **options)


class InnermostMap:
    """The `vmap` whose function is running, innermost of the transformations.

    Attributes:
      size: Of the axis that it maps over.
    """

    def __init__(self, trace: Any):
        self._trace = trace
        self.size: int = trace.axis_data.size

    @classmethod
    def running(cls) -> InnermostMap | None:
        """Returns it; None if another transformation is innermost."""
        return cls(trace_ctx.trace) if isinstance(trace_ctx.trace, BatchTrace) else None

    def whole(self, value: object) -> tuple[Any, int | None]:
        """Returns what a value is for all indices, and which axis it is mapped over; None for none."""
        return self._trace.to_batch_info(value)

    def part(self, whole: Any, axis: int | None) -> Any:
        """Returns the value for each index of what `whole` is for all."""
        return whole if axis is None else BatchTracer(self._trace, whole, axis)

    def outside(self) -> contextlib.AbstractContextManager[None]:
        """Inside, what is computed is not part of it."""
        return set_current_trace(self._trace.parent_trace)


def unmapped(value: object) -> Any:
    """Returns what a value is for all indices of every `vmap` that maps it; of other values, themselves."""
    while isinstance(value, BatchTracer):
        value = value.val
    return value


def known_value(symbol: object) -> Any:
    """Returns the array that a symbol of a derivative stands for; None where JAX computes on nothing but symbols."""
    while is_tracer(symbol):
        symbol = getattr(symbol, "primal", None)
    return symbol


def layers_of(symbol: object) -> tuple[list[int | None], Any]:
    """Returns the axis of each `vmap` around a value, None for derivatives, outermost first; and the value or None."""
    layers: list[int | None] = []
    while is_tracer(symbol):
        if not isinstance(symbol, BatchTracer):
            layers.insert(0, None)
            symbol = getattr(symbol, "primal", None)
            continue
        if symbol.batch_dim is not None:
            layers.insert(0, symbol.batch_dim)
        symbol = symbol.val
    return layers, symbol


def varies_in_vmap(symbol: object) -> bool:
    """Returns whether a symbol stands for another value at each index of a `vmap`."""
    while is_tracer(symbol) and not isinstance(symbol, BatchTracer):
        symbol = getattr(symbol, "primal", None)
    return isinstance(symbol, BatchTracer)


@immutable
class Rules:
    """What JAX has to know of a primitive, as functions; None stands for a tangent or cotangent that is zero.

    Attributes:
      evaluate: (operands, parameters by name) → results; also what it is lowered to, unless `lower` says otherwise.
      types: (parameters) → types of the results, and effects.
      jvp: (operands, tangents, parameters) → results, tangents.
      batch: (axis, operands, positions of the axis, parameters) → results, positions of the axis.
      transpose: (cotangents, operands with None where linear, parameters) → cotangents of the operands.
      graph: (parameters) → the ClosedJaxpr that is evaluated.
      like: (ClosedJaxpr, parameters) → the function that takes its place where `checkify` adds checks to that graph.
      lower: What it is lowered to.
      split: (positions of operands that are not known yet, parameters) → positions of the results that do not depend on
        these, a function from the other operands to them, and parameters for the remaining results; or None.
    """

    evaluate: Callable[..., Sequence[Any]]
    types: Callable[..., tuple[Sequence[Any], Any]]
    jvp: Callable[..., tuple[Sequence[Any], Sequence[Any]]]
    batch: Callable[..., tuple[Sequence[Any], Sequence[Any]]]
    transpose: Callable[..., Sequence[Any]]
    graph: Callable[..., Any]
    like: Callable[..., Callable[..., Sequence[Any]]] = lambda graph, **_: jaxpr_as_fun(graph)
    lower: Callable[..., Sequence[Any]] | None = None
    split: Callable[..., tuple[Sequence[int], Callable[..., Sequence[Any]], dict[str, Any]] | None] | None = None


def make_primitive(name: str, rules: Rules) -> Any:
    """Returns a primitive with several results that follows some rules under every transformation of JAX."""
    primitive = jex.Primitive(name)
    primitive.multiple_results = True
    primitive.def_impl(rules.evaluate)
    primitive.def_effectful_abstract_eval(lambda *_, **params: rules.types(**params))
    mlir.register_lowering(primitive, mlir.lower_fun(rules.lower or rules.evaluate, multiple_results=True))

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        known = [None if isinstance(tangent, ad.Zero) else _as_array(tangent) for tangent in tangents]
        results, found = rules.jvp(primals, known, **params)
        zeros = [ad.Zero(jax.typeof(result).to_tangent_aval()) for result in results]
        return results, [zero if t is None else t for zero, t in zip(zeros, found, strict=True)]

    def batch(axis: Any, operands: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
        axis_name = None if axis.name is no_axis_name else axis.name
        return rules.batch(MappedAxis(axis.size, axis_name, axis.spmd_name), operands, dims, **params)

    def transpose(cotangents: Sequence[Any], *operands: object, **params: Any) -> Any:
        cotangents = [None if isinstance(cotangent, ad.Zero) else cotangent for cotangent in cotangents]
        known = [None if ad.is_undefined_primal(operand) else operand for operand in operands]
        return rules.transpose(cotangents, known, **params)

    def check(*args: Any, **params: Any) -> tuple[Any, Sequence[Any]]:
        graph = rules.graph(**params)
        n = len(args) - len(graph.in_avals)
        *context, error, kinds = args[:n]  # a context is since JAX 0.11
        if kinds <= checkify.user_checks and not graph.effects:
            return error, primitive.bind(*args[n:], **params)
        run = lambda error, *operands: checkify.checkify_jaxpr(*context, graph, kinds, error, *operands)
        checked, types = jax.make_jaxpr(run, return_shape=True)(error, *args[n:])
        results = rules.like(checked, **params)(*jax.tree.leaves(error), *args[n:])
        return jax.tree.unflatten(jax.tree.structure(types), results)

    def partially(trace: Any, *tracers: Any, **params: Any) -> Any:
        missing = [i for i, tracer in enumerate(tracers) if not tracer.is_known()]
        found = rules.split(missing, **params) if rules.split is not None and missing else None
        if found is None:
            return trace.default_process_primitive(primitive, tracers, params)
        places, run, rest = found
        known = run(*(tracer.pval.get_known() for tracer in tracers if tracer.is_known()))
        results = dict(zip(places, known, strict=True))
        others = iter(trace.default_process_primitive(primitive, tracers, rest))
        n_results = len(rules.types(**params)[0])
        return [results[i] if i in results else next(others) for i in range(n_results)]

    partial_eval.custom_partial_eval_rules[primitive] = partially
    ad.primitive_jvps[primitive] = jvp
    batching.fancy_primitive_batchers[primitive] = batch
    ad.primitive_transposes[primitive] = transpose
    checkify.error_checks[primitive] = check
    return primitive


def _as_array(value: Any) -> Any:
    """Returns a value, a Python number as an array: JAX takes such for tangents as well."""
    return jnp.asarray(value) if isinstance(value, int | float | complex) else value


def stacked_aval(length: int, aval: Aval) -> Any:
    """Returns the type of `length` values of type `aval` along a new first axis."""
    return strong_aval(jex.unmapped_aval(length, 0, aval))


def strong_aval(aval: Aval) -> Any:
    """Returns a type with a dtype that promotion does not give way."""
    return aval.update(weak_type=False)


def body_spec(eqn: Eqn, aval: Aval) -> Any:
    """Returns the spec with which a value leaves the body of a `shard_map` equation: over all axes it varies on."""
    mesh, manual = eqn.params["mesh"], eqn.params["newly_manual_axes"]
    return aval.nospec(mesh, eqn.params["check_vma"], tuple(name for name in mesh.axis_names if name in manual))


def unsharded_aval(eqn: Eqn, spec: Any, aval: Aval, gets_axis: bool) -> Any:
    """Returns the type outside a `shard_map` equation of a value of its body, which may get an axis of size 1 first."""
    with eqn.ctx.manager:
        local = stacked_aval(1, aval) if gets_axis else strong_aval(aval)
        return unshard_aval(eqn.params["mesh"], eqn.params["check_vma"], spec, local)


def is_plainly_placed(aval: Aval) -> bool:
    """Returns whether an array's type does not say where it lies: it names no mesh, or one that XLA lays out."""
    sharding = getattr(aval, "sharding", None)
    if sharding is not None and sharding.mesh is empty_abstract_mesh:  # passes ask of every array; nothing varies here
        return True
    is_free = sharding is None or all(kind == AxisType.Auto for kind in sharding.mesh.axis_types)
    return is_free and not _varying(aval)


def scan_counts(scan: Any) -> tuple[int, int]:
    """Returns how many operands of a `scan` its body sees whole, and how many go from iteration to iteration."""
    params = scan.params
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()  # since JAX 0.11
    return len(consts), len(carry)


def scan_params(scan: Any, n_consts: int, n_carry: int, n_rows: int, n_stacked: int) -> dict[str, Any]:
    """Returns the parameters of a `scan` that say what its operands and results are.

    Args:
      scan: An equation that is a `scan`.
      n_consts: How many operands its body sees whole.
      n_carry: How many go from iteration to iteration.
      n_rows: How many it sees row by row.
      n_stacked: How many results are made row by row.
    """
    if "ft_in" not in scan.params:
        return {"num_consts": n_consts, "num_carry": n_carry}
    from jax._src import flattree

    pack = lambda *sizes: flattree.pack(tuple(map(flattree.nones, sizes)))
    return {"ft_in": pack(n_consts, n_carry, n_rows), "ft_out": pack(n_carry, n_stacked)}
