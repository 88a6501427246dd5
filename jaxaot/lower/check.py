"""Whether a program computes what its graph says: its outputs against the evaluation of the graph by equations.

XLA may round otherwise, and order sums otherwise, so floats need not be equal. Two values *agree* within a part of the
largest magnitude of the output. Where they do not, the graph is evaluated in float64, several times, each time with
another small error in the result of each operation that rounds: what lies among these values, or nearer to them than
the evaluation by equations does, is rounding that the graph blows up. What lies elsewhere is a *fault*.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import Literal, has_side_effects, is_key_dtype
from jaxaot._typing import Aval, ClosedJaxpr, Eqn
from jaxaot.errors import WrongExecutableError
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.ir.walk import backward_slice
from jaxaot.lower.interpret import Interpreter

TOLERANCE = 1e-4
"""By how much of the largest magnitude floats may differ; with halves, by `EPSILONS` of the coarsest type."""

EPSILONS = 8
N_SAMPLES = 4

_NOT_ROUNDED = """
    broadcast_in_dim reshape squeeze expand_dims transpose rev slice dynamic_slice dynamic_update_slice gather pad
    concatenate select_n copy copy_p optimization_barrier sort max min reduce_max reduce_min cummax cummin clamp neg abs
    stop_gradient reduce_window_max reduce_window_min sign floor ceil round split top_k select_and_gather_add
    convert_element_type scatter iota real imag tile
    """
_MOVES = frozenset(_NOT_ROUNDED.split())
"""Operations that give values of their operands, or whole numbers: they do not round."""

_SCATTERS: dict[str, Callable[..., Any]] = {"scatter": lax.scatter} | {
    f"scatter{separator}{name}": getattr(lax, f"scatter_{name}")
    for name in ("add", "mul", "min", "max", "sub")
    for separator in "-_"
}
"""By primitive, what binds it: the body that combines two elements has to be made for their type."""


class Difference(NamedTuple):
    """An output that is not what the graph says.

    Attributes:
      output: Its position.
      place: An element of it.
      got: What the program gives there.
      right: What the evaluation by equations gives there.
      n_wrong: How many elements are wrong.
      size: Of how many.
    """

    output: int
    place: tuple[int, ...]
    got: Any
    right: Any
    n_wrong: int
    size: int


def evaluate(closed: ClosedJaxpr, args: Sequence[Any], name: str = "graph") -> list[Any]:
    """Returns the outputs of a graph by its equations, those of short loops and of branches too."""
    return Interpreter(inline(closed, also_custom=True), name=name, opens_bodies=True).call(*args)


def differences(closed: ClosedJaxpr, args: Sequence[Any], got: Sequence[Any], right: Sequence[Any]) -> list[Difference]:
    """Returns the outputs of a program that are not what its graph says.

    Args:
      closed: The graph, a ClosedJaxpr.
      args: Its inputs.
      got: What the program returned for them.
      right: What the evaluation by equations returned.
    """
    pairs = [(_as_numpy(g), _as_numpy(r)) for g, r in zip(got, right, strict=True)]
    tolerance = _tolerance(closed)
    apart = {i: _apart(g, r, tolerance) for i, (g, r) in enumerate(pairs) if g.size}
    apart = {i: wrong for i, wrong in apart.items() if wrong.any()}
    inexact = _inexact_outputs(closed)
    if any(i in inexact for i in apart):
        samples = _samples(closed, args)
        for i, wrong in apart.items():
            if i in inexact and samples:
                wrong &= _is_fault(*pairs[i], [_as_numpy(sample[i]) for sample in samples], tolerance)
    found = []
    for i, wrong in apart.items():
        if wrong.any():
            place = tuple(map(int, np.argwhere(wrong)[0]))
            g, r = pairs[i]
            found.append(Difference(i, place, g[place], r[place], int(wrong.sum()), wrong.size))
    return found


def first_wrong_equation(
    closed: ClosedJaxpr, args: Sequence[Any], output: int, compiled: Callable[[Any], Any]
) -> str | None:
    """Returns the first equation after which the graph, cut there and compiled, gives something else; None if none.

    Args:
      closed: The graph, a ClosedJaxpr.
      args: Its inputs.
      output: The position of an output that is wrong: only what it depends on is looked at.
      compiled: Takes a graph to the function that XLA makes of it.
    """
    graph = inline(closed, also_custom=True)
    target = graph.jaxpr.outvars[output]
    for position in sorted(backward_slice(graph.jaxpr, [target])):
        eqn = graph.jaxpr.eqns[position]
        needed = sorted(backward_slice(graph.jaxpr, eqn.outvars))
        cut = rebuild(graph, [graph.jaxpr.eqns[i] for i in needed], eqn.outvars)
        if differences(cut, args, compiled(cut)(*args), evaluate(cut, args)):
            return Interpreter(graph).shown(position)
    return None


def require_right(
    closed: ClosedJaxpr,
    args: Sequence[Any],
    got: Sequence[Any],
    right: Sequence[Any],
    name: str,
    name_of: Callable[[int], str],
    compiled: Callable[[Any], Any],
) -> None:
    """Raises if the outputs of a program are not what its graph says.

    Args:
      closed: The graph, a ClosedJaxpr.
      args: Its inputs.
      got: What the program returned for them.
      right: What the evaluation by equations returned.
      name: What the program goes by.
      name_of: Takes the position of an output to what the user calls it.
      compiled: Takes a graph to the function that XLA makes of it.

    Raises:
      WrongExecutableError: If they are not.
    """
    found = differences(closed, args, got, right)
    if not found:
        return
    first, *others = found
    equation = first_wrong_equation(closed, args, first.output, compiled)
    where = (
        f"The first equation that is wrong where the graph is cut behind it and compiled:\n  {equation}\n"
        if equation is not None
        else "No part of the graph that ends at an equation is wrong when it is compiled alone.\n"
    )
    also = f" So are {', '.join(name_of(d.output) for d in others)}." if others else ""
    place = f" at {list(first.place)}" if first.place else ""
    raise WrongExecutableError(
        f"XLA's program for `{name}` does not compute what its graph says: {name_of(first.output)} is {first.got}"
        f"{place}, and the same equations one by one give {first.right}. {first.n_wrong} of {first.size} elements are "
        f"wrong.{also}"
        f"\n{where}docs/xla_faults.md lists the known faults of XLA. Write that operation in another way, try "
        "`ja.config(exact_rounding=True)`, or run the function by equations: `ja.compile(…, backend='interpret')`."
    )


def checked(
    closed: ClosedJaxpr,
    call: Callable[..., Any],
    donated: Sequence[int],
    name: str,
    name_of: Callable[[int], str],
    compiled: Callable[[Any], Any],
) -> Callable[..., Any]:
    """Returns a function that looks at what a program returns when it is called for the first time.

    The first call runs the program on copies of what it may delete, so that nothing is lost if it is wrong. A graph
    with side effects is not looked at, as they would happen twice.

    Args:
      closed: The graph, a ClosedJaxpr.
      call: The program: arrays in, a list of arrays out.
      donated: The positions of the inputs that it may delete.
      name: What it goes by.
      name_of: Takes the position of an output to what the user calls it.
      compiled: Takes a graph to the function that XLA makes of it.
    """
    if any(map(has_side_effects, closed.jaxpr.eqns)):
        return call
    is_known = False

    def first_checked(*args: Any) -> Any:
        nonlocal is_known
        if not is_known:
            right = evaluate(closed, args, name)
            given = [jnp.array(x, copy=True) if i in donated else x for i, x in enumerate(args)]
            require_right(closed, args, call(*given), right, name, name_of, compiled)
            is_known = True
        return call(*args)

    return first_checked


class _Wide(Interpreter):
    """The evaluation of a graph in float64, with an error in each result that its own type would round.

    Attributes:
      sample: Which errors; 0 for none.
    """

    sample = 0

    def _literal(self, literal: Any) -> Any:
        return _widened(np.asarray(literal.val, literal.aval.dtype))

    def _bind(self, eqn: Eqn, operands: list[Any]) -> list[Any]:
        params = {
            key: _wide_dtype(value) if isinstance(value, np.dtype) else value
            for key, value in eqn.primitive.get_bind_params(eqn.params).items()
        }
        name = eqn.primitive.name
        if name in _SCATTERS:
            options = ("indices_are_sorted", "unique_indices", "mode")
            chosen = {key: params[key] for key in options}
            results = _SCATTERS[name](*operands, params["dimension_numbers"], **chosen)
        else:
            results = eqn.primitive.bind(*operands, **params)
        results = list(results) if eqn.primitive.multiple_results else [results]
        widens = name == "convert_element_type" and jnp.issubdtype(eqn.invars[0].aval.dtype, jnp.floating)
        exact = name in _MOVES and not (widens and _epsilon(eqn.outvars[0].aval) > _epsilon(eqn.invars[0].aval))
        if self.sample and not exact:
            results = [self._with_error(x, var.aval, name) for x, var in zip(results, eqn.outvars, strict=True)]
        return results

    def _with_error(self, value: Any, aval: Aval, name: str) -> Any:
        if not jnp.issubdtype(value.dtype, jnp.inexact):
            return value
        rng = np.random.default_rng((self.sample, zlib.crc32(name.encode()), value.size))
        return value * (1 + _epsilon(aval) * rng.uniform(-1, 1, value.shape))

    def _evaluate(self, body: Any, operands: Sequence[Any]) -> list[Any]:
        inner = _Wide(inline(body, also_custom=True), name=self.name, opens_bodies=True)
        inner.sample = self.sample
        return inner.call(*operands)


def _samples(closed: ClosedJaxpr, args: Sequence[Any]) -> list[list[Any]]:
    """Returns the outputs of a graph in float64 without and with errors; empty if an equation cannot be widened."""
    graph = inline(closed, also_custom=True)
    found = []
    try:
        with jax.enable_x64(True):
            for sample in range(N_SAMPLES + 1):
                wide = _Wide(graph.replace(consts=list(map(_widened, graph.consts))), opens_bodies=True)
                wide.sample = sample
                found.append([_as_numpy(x) for x in wide.call(*map(_widened, args))])
    except (TypeError, ValueError, NotImplementedError, jax.errors.JaxRuntimeError):
        return []
    return found


def _is_fault(got: np.ndarray, right: np.ndarray, samples: list[np.ndarray], tolerance: float) -> np.ndarray:
    """Returns which elements of an output no rounding could give, further off than those by equations."""
    exact = samples[0]
    if not jnp.issubdtype(got.dtype, jnp.inexact):
        return ~np.any([got == sample for sample in samples], axis=0)
    got, right = _finite_part(got), _finite_part(right)
    exact, *others = map(_finite_part, samples)
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.max([np.abs(other - exact) for other in others], axis=0)
        off, usual = np.abs(got - exact), np.abs(right - exact)
        largest = np.max(np.abs(exact), initial=0)
        return ~((off <= 8 * spread + tolerance * largest) | (off <= 4 * usual) | (got == exact))


def _finite_part(value: np.ndarray) -> np.ndarray:
    """Returns an output in float64, what is no number as a number like no other."""
    wide = value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)
    wide[np.isnan(wide)] = 2e300
    return np.clip(wide, -1e300, 1e300) if not np.iscomplexobj(wide) else wide


def _apart(got: np.ndarray, right: np.ndarray, tolerance: float) -> np.ndarray:
    """Returns which elements of two arrays do not agree."""
    if not jnp.issubdtype(right.dtype, jnp.inexact):
        return np.asarray(got != right)
    kind = np.complex128 if np.iscomplexobj(right) else np.float64
    got, right = got.astype(kind), right.astype(kind)
    finite = np.abs(right[np.isfinite(right)])
    with np.errstate(invalid="ignore"):
        is_near = np.abs(got - right) <= tolerance * finite.max(initial=0)
    return np.asarray(~(is_near | (got == right) | (np.isnan(got) & np.isnan(right))))


def _tolerance(closed: ClosedJaxpr) -> float:
    """Returns by how much of the largest magnitude the floats of a graph may differ."""
    made = [var.aval for eqn in closed.jaxpr.eqns for var in eqn.outvars]
    coarsest = max(map(_epsilon, [*closed.in_avals, *made]), default=0.0)
    return max(TOLERANCE, EPSILONS * coarsest)


def _epsilon(aval: Aval) -> float:
    """Returns the distance of 1 to the next number of a type; 0 if it is no float."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None or is_key_dtype(dtype) or not jnp.issubdtype(dtype, jnp.inexact):
        return 0.0
    return float(jnp.finfo(dtype).eps)


def _inexact_outputs(closed: ClosedJaxpr) -> set[int]:
    """Returns the positions of the outputs that depend on a float."""
    tainted = {var for var in (*closed.jaxpr.invars, *closed.jaxpr.constvars) if _epsilon(var.aval)}
    for eqn in closed.jaxpr.eqns:
        if any(not isinstance(a, Literal) and a in tainted for a in eqn.invars) or any(
            _epsilon(var.aval) for var in eqn.outvars
        ):
            tainted.update(eqn.outvars)
    outvars = closed.jaxpr.outvars
    return {i for i, atom in enumerate(outvars) if not isinstance(atom, Literal) and atom in tainted}


def _wide_dtype(dtype: Any) -> Any:
    if is_key_dtype(dtype) or not jnp.issubdtype(dtype, jnp.inexact):
        return dtype
    return np.dtype(np.complex128 if jnp.issubdtype(dtype, jnp.complexfloating) else np.float64)


def _widened(value: Any) -> Any:
    dtype = value.dtype
    return value if is_key_dtype(dtype) else jnp.asarray(np.asarray(value).astype(_wide_dtype(dtype)))


def _as_numpy(value: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(value) if is_key_dtype(value.dtype) else value)
