"""`ja.func`: the transformations of JAX on functions of tensors, which may write to them inside (`torch.func`).

A function is made pure, as by `ja.func.functionalize`, and transformed by JAX on the values of its tensors. What comes
back are tensors. Calls nest; in a trace, and where an argument requires grad, a call is recorded like an operation.
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
from jaxaot._placement import are_several, placed_like
from jaxaot.errors import ArgumentError, AutogradError, MissingMethodError, TensorValueError
from jaxaot.facade.gradients.custom_function import jvp_missing
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.kernels.grad_kernels import conjugate
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import carrying, is_wrapper, take_apart
from jaxaot.facade.subclass.wrapper_gradients import carried
from jaxaot.ops.promotion import is_complex, is_inexact
from jaxaot.tape.modes import state
from jaxaot.tape.saved_hooks import disable_saved_tensors_hooks
from jaxaot.tracer.bodies.pure import RANDOMNESS, run_pure
from jaxaot.transforms.call_as_op import call_on_tensors
from jaxaot.transforms.writes import Writes

Argnums = int | Sequence[int]

_NO_HOOKS = (
    "ja.func.{grad, vjp, jacrev, hessian} don't support saved tensor hooks: JAX saves what these need, and would never "
    "call them. Compute the gradient on the tape, `ja.autograd.grad`, or leave the hooks out."
)


def _pure(
    func: Callable[..., Any],
    writes: Writes,
    check: Callable[[Any], None] | None = None,
    *,
    has_aux: bool = False,
    leaves: Sequence[int] | None = (),
    randomness: str = "same",
) -> Any:
    """Returns a function as one of arrays, to its output, and to what comes besides: its `aux` and what it wrote.

    What JAX is to differentiate is sealed: arguments, output and `aux`.

    Args:
      func: The function.
      writes: Notes the arguments that it writes to.
      check: Takes its result, and raises if it cannot be differentiated.
      has_aux: Whether it returns a pair of the output and an `aux`.
      leaves: The leaves of its arguments of which gradients are taken, in reverse mode; they may not be written. None
        if none are.
      randomness: What random operations do; see `ja.func.vmap`.
    """
    differentiates = leaves is not None

    def finish(arguments: Sequence[Any], result: Any) -> Any:
        if check is not None:
            check(result)
        output, aux = result if has_aux else (result, None)
        return output, (aux, writes.note(arguments))

    def without_hooks(*args: object, **kwargs: Any) -> Any:
        with disable_saved_tensors_hooks(_NO_HOOKS):
            return func(*args, **kwargs)

    func_of_rules = without_hooks if differentiates else func
    options: Any = {"transforms": True, "differentiates": differentiates, "randomness": randomness, "finish": finish}

    def pure(*args: object, **kwargs: Any) -> Any:
        opened = tuple(map(pytree.unsealed, args))
        output, (aux, after) = run_pure(func_of_rules, opened, kwargs, leaf_places=leaves or (), **options)
        return pytree.sealed(output), (pytree.sealed(aux), after)

    return pure


def _places(args: Sequence[Any], argnums: Any) -> list[int]:
    """Returns which leaves of the arguments are those of the chosen ones."""
    several = (argnums,) if isinstance(argnums, int) else argnums
    chosen = {i % len(args) for i in several}
    ends = np.cumsum([0, *(len(_leaves(arg)) for arg in args)]).tolist()
    return [place for i in sorted(chosen) for place in range(ends[i], ends[i + 1])]


def _sealed(values: Sequence[Any]) -> tuple[Any, ...]:
    """Returns arguments as JAX takes them: it does not sort what is in them."""
    return tuple(map(pytree.sealed, values))


def _run(transformed: Callable[..., Any], writes: Writes, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what a function of arrays computes for tensors, and writes to these what it says besides.

    Raises:
      MissingMethodError: If forward mode meets a function that has a backward alone.
    """
    try:
        results, after = pytree.unsealed(call_on_tensors(transformed, args, kwargs))
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        raise MissingMethodError(
            f"{jvp_missing()} A product in float8 has a backward alone, too. In reverse mode write "
            "`ja.func.jacrev(f)` in place of `jacfwd`, and `ja.func.jacrev(ja.func.grad(f))` in place of `hessian`."
        ) from error
    writes.carry_out(_leaves((args, kwargs)), after)
    return results


# -- what cannot be differentiated -------------------------------------------------------------------------------------


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, (Tensor, jax.Array, np.ndarray))


def _leaves(tree: Any) -> list[Any]:
    return pytree.leaves(tree, is_leaf=lambda leaf: leaf is None)


def _check_argnums(argnums: Argnums, args: Sequence[Any]) -> Any:
    """Returns which arguments are differentiated, as JAX takes it.

    Raises:
      AutogradError: If they are no arguments, or no tensors of floats.
    """
    if not isinstance(argnums, (int, tuple)):
        raise AutogradError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    several = (argnums,) if isinstance(argnums, int) else argnums
    if not several:
        raise AutogradError("argnums must be non-empty")
    for argnum in several:
        if not isinstance(argnum, int):
            raise AutogradError(f"argnum must be int, got: {type(argnum)}")
        if not -len(args) <= argnum < len(args):
            raise AutogradError(f"Got argnum={argnum}, but only {len(args)} positional inputs")
    if len({argnum % len(args) for argnum in several}) < len(several):
        raise AutogradError(f"argnums elements must be unique, got {argnums}")
    for argnum in several:
        _check_kinds(f"Argument {argnum}", args[argnum])
        for leaf in pytree.leaves(args[argnum]):
            if _is_array(leaf) and not is_inexact(leaf.dtype):
                raise AutogradError(
                    f"only Tensors of floating point dtype can require gradients; argument {argnum} holds one of "
                    f"{leaf.dtype}"
                )
    return argnums


def _check_kinds(name: str, argument: object) -> None:
    """Raises if what is differentiated holds something that has no derivative as a whole.

    Args:
      name: What the argument is called, for messages.
      argument: A pytree.

    Raises:
      AutogradError: If it holds a wrapper of which some inner tensors carry no gradients.
      UnfinishedSumError: If it holds a sum that is not finished.
    """
    for leaf in pytree.leaves(argument, is_leaf=is_wrapper):
        if is_wrapper(leaf):
            inner, frame = take_apart(leaf)
            carriers = carrying(leaf)
            others = [each for each in frame.names if each not in carriers]
            if others:
                kind = type(leaf).__name__
                tape = f" On the tape {carriers} carry them: `ja.autograd.grad(f(x), x)`." if carriers else ""
                raise AutogradError(
                    f"{name} is a `{kind}`, whose inner tensors {others} carry no gradients, so it has no derivative "
                    "as a whole. Differentiate a function of what it is made of, `lambda t: f(make(t))`, where `make` "
                    f"returns the `{kind}`.{tape}"
                )
            _check_kinds(name, inner)
        elif not _is_array(leaf) and hasattr(type(leaf), "__jax_array__"):
            leaf.__jax_array__()  # a sum that is not finished says so


def _check_primal_kinds(primals: Sequence[object]) -> None:
    for place, primal in enumerate(primals):
        _check_kinds(f"Primal {place}", primal)


def _check_tensors(said: str, has_aux: bool, result: Any) -> None:
    """Raises unless a result is made of tensors, at least one."""
    if has_aux:
        result = _without_aux(said, result)
    leaves = _leaves(result)
    if not leaves or leaves == [None]:
        raise AutogradError(f"{said}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not _is_array(leaf):
            raise AutogradError(
                f"{said}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )


def _without_aux(said: str, result: Any) -> Any:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise AutogradError(f"{said}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for leaf in _leaves(result[1]):
        if not _is_array(leaf):
            raise AutogradError(
                f"{said}: Expected tensors, got unsupported type {type(leaf)} in `aux`. Return what is none by another "
                "way, such as a list of the function's surroundings."
            )
    return result[0]


def _check_scalar(has_aux: bool, result: Any) -> None:
    """Raises unless a result is one real number."""
    said = "grad_and_value(f)(*args)"
    result = _without_aux(said, result) if has_aux else result
    if not _is_array(result):
        raise AutogradError(f"{said}: Expected f(*args) to return a Tensor, got {type(result)}")
    if result.ndim:
        raise AutogradError(
            f"{said}: Expected f(*args) to return a scalar Tensor, got tensor with {result.ndim} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )
    if is_complex(result.dtype):
        raise AutogradError(f"grad can be implicitly created only for real scalar outputs but got {result.dtype}")


def _in_torchs_convention(gradients: Any) -> Any:
    return pytree.mapped(conjugate, gradients)


def _gradients_of(primals: Any, gradients: Any) -> Any:
    """Returns gradients in the convention of PyTorch, each over the devices as what it belongs to."""
    return pytree.mapped(lambda p, g: placed_like(g, p, leads=False), primals, _in_torchs_convention(gradients))


def _chosen(args: Sequence[Any], argnums: Any) -> Any:
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def _gradient(func: Callable[..., Any], argnums: Argnums, has_aux: bool, writes: Writes) -> Callable[..., Any]:
    """Returns a function of arrays to the gradient, the value and the `aux` of a call, and what it wrote."""

    def transformed(*args: object, **kwargs: Any) -> Any:
        chosen, check = _check_argnums(argnums, args), functools.partial(_check_scalar, has_aux)
        pure = _pure(func, writes, check, has_aux=has_aux, leaves=_places(args, chosen))

        args = _sealed(args)

        def number(*args: object, **kwargs: Any) -> Any:
            output, besides = pure(*args, **kwargs)
            value = pytree.unsealed(output)
            return (sum(carried(value)) if is_wrapper(value) else value), (value, besides)

        (_, (value, (aux, after))), gradients = jax.value_and_grad(number, chosen, True)(*args, **kwargs)
        return (_gradients_of(_chosen(args, chosen), gradients), value, aux), after

    return transformed


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function that computes the gradient of `func`, and its value.

    Args:
      func: Takes tensors, in any pytrees, to a tensor without dims. It may write to those that are not differentiated.
      argnums: The positions of the arguments to differentiate.
      has_aux: Whether `func` returns a pair of such a tensor and anything else.

    Raises:
      AutogradError: By the function returned, if arguments or result cannot be differentiated.
      LeafWriteError: By the function returned, if `func` writes to an argument that is differentiated.
    """
    require_function(func, "ja.func.grad_and_value", "ja.func.grad_and_value(f)")

    @functools.wraps(func)
    def run(*args: object, **kwargs: Any) -> Any:
        writes = Writes()
        gradients, value, aux = _run(_gradient(func, argnums, has_aux, writes), writes, args, kwargs)
        return gradients, (value, aux) if has_aux else value

    return run


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns the gradient of `func` as a function; with `has_aux`, that and what `func` returns besides.

    Args:
      func: As for `grad_and_value`.
      argnums: As for `grad_and_value`.
      has_aux: As for `grad_and_value`.
    """
    require_function(func, "ja.func.grad", "ja.func.grad(f)")

    @functools.wraps(func)
    def run(*args: object, **kwargs: Any) -> Any:
        writes = Writes()
        gradients, _, aux = _run(_gradient(func, argnums, has_aux, writes), writes, args, kwargs)
        return (gradients, aux) if has_aux else gradients

    return run


def vjp(func: Callable[..., Any], *primals: object, has_aux: bool = False) -> Any:
    """Returns the result of `func`, and a function from its cotangents to a tuple of gradients, one for each primal.

    Args:
      func: Takes tensors to tensors.
      *primals: What it is called with.
      has_aux: Whether it returns a pair of tensors and something else, which is returned last.

    Raises:
      AutogradError: If the result is not made of tensors; by the function returned, if cotangents do not fit it.
    """
    require_function(func, "ja.func.vjp", "ja.func.vjp(f, x)")
    check = functools.partial(_check_tensors, "vjp(f, *primals)", has_aux)
    _check_primal_kinds(primals)
    writes = Writes()

    def forward(*primals: object) -> Any:
        pure = _pure(func, writes, check, has_aux=has_aux, leaves=range(len(_leaves(primals))))
        output, pull, (aux, after) = jax.vjp(pure, *_sealed(primals), has_aux=True)
        return (output, pull, aux), after

    # where nothing is recorded, the gradients are all the same: they are computed later
    with recording(True):
        output, pull, aux = _run(forward, writes, primals, {})
    if not state.grad_enabled:
        output, aux = pytree.mapped(lambda x: x.detach() if isinstance(x, Tensor) else x, (output, aux))

    # what gradients belong to says where they lie
    like = pytree.mapped(lambda x: x.detach() if isinstance(x, Tensor) else x, primals) if are_several() else None

    def pull_back(pull: Callable[..., Any], cotangents: Sequence[Any], like: Any) -> Any:
        gradients = pytree.unsealed(pull(pytree.sealed(_in_torchs_convention(cotangents))))
        return _in_torchs_convention(gradients) if like is None else _gradients_of(like, gradients)

    def gradients(cotangents: Sequence[Any], retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        del retain_graph, create_graph  # what JAX saved stays, and the tape is on where gradients are recorded
        wanted = pytree.structure(output)
        cotangents = pytree.in_order(wanted, cotangents)
        given = pytree.structure(cotangents)
        if given != wanted:
            raise AutogradError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {pytree.shown(given)}, primal output: {pytree.shown(wanted)}"
            )
        for i, (ct, out) in enumerate(zip(pytree.leaves(cotangents), pytree.leaves(output), strict=True)):
            if ct.shape != out.shape:
                raise AutogradError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {list(ct.shape)} and output[{i}] has a shape "
                    f"of {list(out.shape)}."
                )
        return call_on_tensors(pull_back, (pull, cotangents, like), {})

    return (output, gradients, aux) if has_aux else (output, gradients)


def jvp(
    func: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Returns the result of `func` and its derivative in a direction; with `has_aux`, also its auxiliary output.

    Args:
      func: Takes tensors to tensors; it may write to those that it is passed.
      primals: What it is called with, a tuple.
      tangents: A direction for each.
      strict: Whether a result that does not depend on the primals is an error.
      has_aux: Whether it returns a pair of tensors and something else.

    Raises:
      AutogradError: If primals, tangents and results do not fit, or if `strict` and a result does not depend on the
        primals.
    """
    require_function(func, "ja.func.jvp", "ja.func.jvp(f, (x,), (t,))")
    said = "jvp(f, primals, tangents)"
    tangents = pytree.in_order(pytree.structure(primals), tangents)
    _check_primals(said, primals, tangents)
    writes = Writes()
    pure = _pure(func, writes, functools.partial(_check_tensors, said, has_aux), has_aux=has_aux, leaves=None)

    def transformed(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        primals, tangents = _sealed(primals), _sealed(tangents)
        if strict and not _depends(lambda *primals: pure(*primals)[0], primals):
            raise AutogradError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        output, directions, (aux, after) = jax.jvp(pure, primals, tangents, has_aux=True)
        return ((output, directions, aux) if has_aux else (output, directions)), after

    return _run(transformed, writes, (tuple(primals), tuple(tangents)), {})


def _check_primals(said: str, primals: Any, tangents: Any) -> None:
    if not isinstance(primals, (tuple, list)):
        raise AutogradError(f"{said}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    given, wanted = pytree.structure(tangents), pytree.structure(primals)
    if given != wanted:
        raise AutogradError(
            f"{said}: Expected primals and tangents to have the same python structure. Got primals with structure "
            f"{pytree.shown(wanted)} and tangents with structure {pytree.shown(given)}"
        )
    _check_primal_kinds(primals)
    leaves = pytree.leaves(primals)
    if not leaves:
        raise AutogradError(f"{said}: Expected primals to contain at least one Tensor.")
    for name, tree in (("primals", primals), ("tangents", tangents)):
        for leaf in pytree.leaves(tree):
            if not _is_array(leaf):
                raise AutogradError(f"{said}: Expected {name} to only contain Tensors, got leaf of type {type(leaf)}")
    for primal, tangent in zip(leaves, pytree.leaves(tangents), strict=True):
        if tuple(primal.shape) != tuple(tangent.shape):
            raise AutogradError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
                f"{list(tangent.shape)}."
            )


def _depends(fn: Callable[..., Any], primals: Sequence[Any]) -> bool:
    """Returns whether each result of a function of arrays depends on its arguments."""
    jaxpr = jax.make_jaxpr(fn)(*primals).jaxpr
    reached = {id(v) for v in jaxpr.invars}
    for eqn in jaxpr.eqns:
        if any(id(atom) in reached for atom in eqn.invars):
            reached |= {id(v) for v in eqn.outvars}
    return all(id(atom) in reached for atom in jaxpr.outvars)


def linearize(func: Callable[..., Any], *primals: object) -> tuple[Any, Callable[..., Any]]:
    """Returns the result of `func`, and its derivative there as a linear function of tangents."""

    _check_primal_kinds(primals)
    writes = Writes()

    def forward(*primals: object) -> Any:
        output, push, (_, after) = jax.linearize(_pure(func, writes, leaves=None), *_sealed(primals), has_aux=True)
        return (output, push), after

    output, push = _run(forward, writes, primals, {})

    def pushed(*tangents: object) -> Any:
        apply = lambda push, *tangents: pytree.unsealed(push(*_sealed(tangents)))
        return call_on_tensors(apply, (push, *tangents), {})

    return output, pushed


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Returns the Jacobian of `func` as a function, row by row in reverse mode.

    Args:
      func: Takes tensors to tensors.
      argnums: The positions of the arguments to differentiate.
      has_aux: Whether `func` returns a pair of tensors and something else.
      chunk_size: How many rows are computed at once; all by default.

    Raises:
      TensorValueError: If `chunk_size` is not positive.
    """
    del _preallocate_and_copy  # PyTorch's way to hold no chunk twice
    if chunk_size is None:
        return _jacobian("jacrev", "vjp(f, *primals)", jax.jacrev, func, argnums, has_aux)
    if chunk_size <= 0:
        raise TensorValueError("jacrev: `chunk_size` should be greater than 0.")
    by_chunks = functools.partial(_jacrev_by_chunks, chunk_size)
    return _jacobian("jacrev", "vjp(f, *primals)", by_chunks, func, argnums, has_aux)


def _jacrev_by_chunks(chunk_size: int, fn: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Callable[..., Any]:
    """Returns what `jax.jacrev` returns, for functions whose rows are computed some at a time."""
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def jacobian(*args: object, **kwargs: Any) -> Any:
        def of_chosen(*parts: object) -> Any:
            filled = list(args)
            for place, part in zip(chosen, parts, strict=True):
                filled[place] = part
            return fn(*filled, **kwargs)

        output, pull, *aux = jax.vjp(of_chosen, *(args[i] for i in chosen), has_aux=has_aux)
        leaves, tree = pytree.flatten(output)
        ends = np.cumsum([leaf.size for leaf in leaves])
        if not ends[-1]:
            return jax.jacrev(fn, argnums, has_aux)(*args, **kwargs)

        def pull_row(row: Any) -> Any:
            def cotangent(leaf: Any, end: int) -> Any:
                places = jnp.arange(end - leaf.size, end)
                return (places == row).astype(leaf.dtype).reshape(leaf.shape)

            return pull(tree.unflatten(map(cotangent, leaves, ends.tolist())))

        chunks = [jnp.arange(first, min(first + chunk_size, ends[-1])) for first in range(0, ends[-1], chunk_size)]
        one = lambda row: pytree.mapped(lambda x: x[None], pull_row(row[0]))
        found = [one(rows) if chunk_size == 1 else jax.vmap(pull_row)(rows) for rows in chunks]
        rows = pytree.mapped(lambda *parts: jnp.concatenate(parts), *found)

        def of_leaf(leaf: Any, end: int) -> Any:
            own = pytree.mapped(lambda x: x[end - leaf.size : end].reshape(leaf.shape + x.shape[1:]), rows)
            return own[0] if isinstance(argnums, int) else own

        result = tree.unflatten(map(of_leaf, leaves, ends.tolist()))
        return (result, *aux) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Returns the Jacobian of `func` as a function, column by column in forward mode.

    Args:
      func: Takes tensors to tensors.
      argnums: The positions of the arguments to differentiate.
      has_aux: Whether `func` returns a pair of tensors and something else.
      randomness: What random operations inside do: `"error"`, they are refused; with the others all columns see the
        same random numbers, as `func` runs once.

    Raises:
      ArgumentError: If `randomness` is not one of `"error"`, `"same"` and `"different"`.
    """
    if randomness not in RANDOMNESS:
        raise ArgumentError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    return _jacobian("jacfwd", "jvp(f, primals, tangents)", jax.jacfwd, func, argnums, has_aux, randomness)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Returns the second derivatives of `func` as a function, forward over reverse."""
    return _jacobian("hessian", "hessian(f)", jax.hessian, func, argnums, False, "error")


def _jacobian(
    name: str,
    said: str,
    jacobian: Callable[..., Any],
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    randomness: str = "same",
) -> Callable[..., Any]:
    def check(result: Any) -> None:
        _check_tensors(said, has_aux, result)
        _check_real(name, "output", result[0] if has_aux else result)

    require_function(func, f"ja.func.{name}", f"ja.func.{name}(f)")

    @functools.wraps(func)
    def run(*args: object, **kwargs: Any) -> Any:
        writes = Writes()

        def transformed(*args: object, **kwargs: Any) -> Any:
            chosen = _check_argnums(argnums, args)
            _check_real(name, "input", [args[i] for i in ((chosen,) if isinstance(chosen, int) else chosen)])
            leaves = None if jacobian is jax.jacfwd else _places(args, chosen)
            pure = _pure(func, writes, check, has_aux=has_aux, leaves=leaves, randomness=randomness)
            result, (aux, after) = jacobian(pure, chosen, has_aux=True)(*_sealed(args), **kwargs)
            return ((result, aux) if has_aux else result), after

        return _run(transformed, writes, args, kwargs)

    return run


def _check_real(name: str, which: str, tree: Any) -> None:
    """Raises if a tensor is complex: its Jacobian is not one matrix."""
    for place, leaf in enumerate(pytree.leaves(tree)):
        if _is_array(leaf) and is_complex(leaf.dtype):
            raise AutogradError(
                f"{name}: Expected all {which}s to be real but received complex tensor at flattened {which} idx: "
                f"{place}. Differentiate its parts, `ja.view_as_real(x)`."
            )
