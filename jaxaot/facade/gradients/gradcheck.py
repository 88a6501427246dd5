"""Gradients against finite differences: `gradcheck` and `gradgradcheck`.

Both see a function as one of real numbers: a complex element is two. Its Jacobian by differences is compared with that
of the tape, whose rows are the gradients for each real direction of the outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.errors import (
    GradientMismatchError,
    JaxaotError,
    NothingToCheckError,
    OverlappingWriteError,
    UsageError,
)
from jaxaot.facade.dispatch.create import from_numpy
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.gradients.forward import dual_level, make_dual, unpack_dual
from jaxaot.facade.gradients.grad import grad
from jaxaot.facade.memory.generator import default_generator
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.facade.wrappers.wrapper_function import Opened
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import enable_grad, no_grad
from jaxaot.tape.node import Node

Problems = Iterator[str]

_STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
"""Steps and weights of a difference whose error is of fourth order: steps may be large where numbers are short."""

_DEFAULTS = {8: (3e-5, 1e-6, 1e-5), 4: (3e-2, 2e-4, 2e-4), 2: (3e-1, 1e-1, 1e-1)}
"""By the bytes of a real number: step, absolute and relative tolerance."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Returns whether the gradients of a function agree with finite differences (`torch.autograd.gradcheck`).

    Args:
      func: Takes tensors to a tensor or several.
      inputs: A tensor or several; those that require grad are varied, in place, and put back.
      eps: The step; by default as the dtypes of the input and the outputs allow, in float32 about 0.03.
      atol: How far values may be apart; by default as the dtype allows.
      rtol: The same, in proportion.
      raise_exception: Whether to raise rather than return False.
      nondet_tol: How far two backwards of the same call may be apart.
      check_undefined_grad: Whether the backward has to take None for gradients of outputs, and with `check_forward_ad`
        a `jvp` for tangents of inputs.
      check_grad_dtypes: Whether gradients have to have the dtypes of the inputs.
      check_batched_grad: Whether gradients of several cotangents at once have to be those of one after the other.
      check_batched_forward_grad: The same of tangents, with `check_forward_ad`.
      check_forward_ad: Whether tangents in forward mode are compared with finite differences, too.
      check_backward_ad: Whether gradients are.
      fast_mode: Whether to compare in one random direction rather than in all.
      masked: What holds for sparse tensors in PyTorch; it says nothing here.

    Raises:
      GradientMismatchError: If they do not agree, unless `raise_exception` is false.
      NothingToCheckError: If nothing is to be compared.
      UsageError: If no input requires grad, or what is asked for does not go together.
    """
    if not (check_forward_ad or check_backward_ad):
        raise NothingToCheckError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True: else nothing is compared."
        )
    if check_batched_grad and not check_backward_ad:
        raise UsageError("Setting check_batched_grad=True requires check_backward_ad to be True.")
    if check_batched_forward_grad and not check_forward_ad:
        raise UsageError("Setting check_batched_forward_grad=True requires check_forward_ad to be True.")
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    func, given = _opened(func, given)
    check = _Check(func, given, nondet_tol, fast_mode)
    if not check.varied:
        raise UsageError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True. Make one with `ja.tensor(…, requires_grad=True)`, best of float64 under "
            '`jax.config.update("jax_enable_x64", True)`.'
        )
    _warn_of_inputs(given)
    try:
        with enable_grad():
            check.begin(eps, atol, rtol)
            asked = {
                check.backward(check_grad_dtypes): check_backward_ad,
                check.batched(): check_batched_grad,
                check.zeros(): check_backward_ad,
                check.undefined(): check_undefined_grad and check_backward_ad,
                check.forward(): check_forward_ad,
                check.undefined_forward(): check_undefined_grad and check_forward_ad,
                check.batched_forward(): check_batched_forward_grad,
            }
            checks = [found for found, is_asked in asked.items() if is_asked]
            for problem in itertools.chain(*(checks if check.outputs else [check.constant()])):
                raise GradientMismatchError(problem)
    except GradientMismatchError:
        if raise_exception:
            raise
        return False
    return True


def _width(x: Tensor) -> int:
    """Returns the bytes of a real number in a tensor, as far as they are told apart."""
    return max(x.dtype.itemsize // (2 if x.is_complex() else 1), 2)


def _warn_of_inputs(given: Sequence[Any]) -> None:
    """Warns of inputs whose numbers are too short to be compared closely.

    Raises:
      OverlappingWriteError: If elements of an input share memory, so that one cannot be varied alone.
    """
    for place, x in enumerate(given):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        if x.dtype.itemsize // (2 if x.is_complex() else 1) < 8:
            warn_user(
                f"Input #{place} requires gradient and is not a double precision floating point or complex. Its "
                f"elements are {x.dtype}, which are compared less closely; `jax.config.update('jax_enable_x64', True)` "
                "allows longer ones."
            )
        if x._layout.is_overlapping:
            raise OverlappingWriteError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                "`.contiguous` on the input before passing it to gradcheck."
            )


def _opened(func: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a function and its arguments, with inner tensors in the place of wrappers."""
    if not any(map(is_wrapper, given)):
        return func, given
    opened = Opened(given)
    return lambda *flat: func(*opened.filled(flat)), tuple(opened.flat)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    check_undefined_grad: bool = True,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **options: Any,
) -> bool:
    """Returns whether second derivatives agree with differences of first ones (`torch.autograd.gradgradcheck`).

    Args:
      func: As for `gradcheck`.
      inputs: As for `gradcheck`.
      grad_outputs: Cotangents of the outputs; by default random ones.
      gen_non_contig_grad_outputs: Whether these are every other element of larger tensors.
      raise_exception: As for `gradcheck`.
      check_undefined_grad: As for `gradcheck`.
      check_fwd_over_rev: Whether tangents of gradients are compared.
      check_rev_over_rev: Whether gradients of gradients are.
      **options: The others of `gradcheck`.

    Raises:
      GradientMismatchError: If they do not agree, unless `raise_exception` is false.
      NothingToCheckError: If nothing is to be compared.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise NothingToCheckError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True.")
    func, given = _opened(func, (inputs,) if isinstance(inputs, Tensor) else tuple(inputs))
    with enable_grad():
        outputs = _outputs(func, given)
    if grad_outputs is None:
        random = np.random.default_rng(0)
        cotangents = [_tensor(_draw(random, out), out) for out in outputs]
        if gen_non_contig_grad_outputs:
            cotangents = [_stack((ct, ct), -1)[..., 0] for ct in cotangents]
    else:
        cotangents = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    cotangents = [ct if ct.requires_grad else ct.detach().requires_grad_() for ct in cotangents]
    n = len(given)

    def first(*args: object) -> Any:
        # under forward mode the inputs require no grad, and are varied all the same
        varied = [x if x.requires_grad else x.requires_grad_() for x, y in zip(args[:n], given, strict=True)
                  if isinstance(x, Tensor) and isinstance(y, Tensor) and y.requires_grad]  # fmt: skip
        found = grad(_outputs(func, args[:n]), varied, list(args[n:]), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first,
        (*given, *cotangents),
        raise_exception=raise_exception,
        check_undefined_grad=check_undefined_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        **options,
    )


def _outputs(fn: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    return [x for x in _floats(fn, inputs) if x.requires_grad]


class _Check:
    """A function with its arguments, and the checks of its derivatives; each yields what it finds wrong, in words.

    Args:
      func: The function.
      given: Its arguments; those that require grad are varied.
      nondet_tol: How far two backwards of the same call may be apart.
      is_fast: Whether to compare in one random direction rather than in all.
    """

    def __init__(self, func: Callable[..., Any], given: Sequence[Any], nondet_tol: float, is_fast: bool) -> None:
        self.func = func
        self.given = given
        self.varied = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
        self.places = [i for i, x in enumerate(given) if any(x is y for y in self.varied)]
        self.nondet_tol = nondet_tol
        self.is_fast = is_fast

    def begin(self, eps: float | None, atol: float | None, rtol: float | None) -> None:
        """Computes the differences that derivatives are compared with."""
        _, absolute, relative = _DEFAULTS[min(map(_width, self.varied))]
        self.atol = absolute if atol is None else atol
        self.rtol = relative if rtol is None else rtol
        self.outputs = self.run()
        widths = [min(map(_width, (x, *self.outputs))) for x in self.varied]
        self.steps = [_DEFAULTS[width][0] if eps is None else eps for width in widths]
        self.random = np.random.default_rng(0)
        if self.outputs:
            self.directions = [_draws(self.random, x) if self.is_fast else _units(x) for x in self.varied]
            self.differences = [
                [_difference(self.run, x, direction, step) for direction in directions]
                for x, directions, step in zip(self.varied, self.directions, self.steps, strict=True)
            ]

    def run(self) -> list[Tensor]:
        """Returns the results that gradients flow to."""
        return _outputs(self.func, self.given)

    def constant(self) -> Problems:
        """Checks a function whose results say that they depend on nothing."""
        run = lambda: _floats(self.func, self.given)
        for x, step in zip(self.varied, self.steps, strict=True):
            for direction in _units(x):
                if any(np.abs(d).max(initial=0) > self.atol for d in _difference(run, x, direction, step)):
                    yield (
                        "Numerical gradient for function expected to be zero: no output requires grad, but they change "
                        "with the inputs. Something detaches them, such as `.item()`, `.detach()` or `ja.tensor(x)`."
                    )

    def backward(self, checks_dtypes: bool) -> Problems:
        """Compares gradients with differences."""
        for position, out in enumerate(self.run()):
            rows = [("", 0, _draws(self.random, out)[0])] if self.is_fast else _rows(out)
            graphs = out, self.run()[position]
            for part, row, cotangent in rows:
                first, second = (_gradients(graph, self.varied, cotangent, checks_dtypes) for graph in graphs)
                for number, (gradient, again) in enumerate(zip(first, second, strict=True)):
                    if np.abs(gradient - again).max(initial=0) > self.nondet_tol:
                        yield (
                            "Backward is not reentrant, i.e., running backward with same input and grad_output "
                            f"multiple times gives different values: output {position}, input {number}. Draw the same "
                            "random numbers at each call, or pass `nondet_tol`."
                        )
                    for column, direction in enumerate(self.directions[number]):
                        ours = float(np.vdot(gradient, direction).real)
                        theirs = float(np.vdot(cotangent, self.differences[number][column][position]).real)
                        if not self._is_close(ours, theirs):
                            where = "in a random direction" if self.is_fast else f"of element {row} by element {column}"
                            yield (
                                f"{part}Jacobian mismatch for output {position} with respect to input {number}, "
                                f"{where}: the backward says {ours:.6g}, finite differences say {theirs:.6g} "
                                f"({self._measures(number)}). If the function is smooth there, its backward is wrong."
                            )

    def _measures(self, number: int) -> str:
        return f"step {self.steps[number]:g}, tolerances {self.atol:g} and {self.rtol:g} times the value"

    def _is_close(self, ours: object, theirs: object) -> bool:
        return bool(np.allclose(ours, theirs, self.rtol, self.atol, equal_nan=True))  # type: ignore[arg-type]

    def batched(self) -> Problems:
        """Compares gradients of two cotangents at once with those of one after the other."""
        failed = "gradcheck or gradgradcheck failed while testing batched gradient computation"
        options = {"retain_graph": True, "allow_unused": True}
        for position, out in enumerate(self.run()):
            cotangents = [_tensor(_draw(self.random, out), out) for _ in range(2)]
            single = [grad(out, self.varied, ct, **options) for ct in cotangents]
            try:
                both = grad(out, self.varied, _stack(cotangents), is_grads_batched=True, **options)
            except Exception as error:
                raise GradientMismatchError(f"{failed} of output {position}: {error}") from error
            for number, gradient in enumerate(both):
                pairs = [(gradient[row], one[number]) for row, one in enumerate(single) if gradient is not None]
                for ours, theirs in pairs:
                    if theirs is not None and not np.allclose(_numbers(ours), _numbers(theirs), 1e-4, 1e-6):
                        yield (
                            f"{failed}: for output {position} and input {number} several gradients at once are not "
                            "those of one after the other."
                        )

    def zeros(self) -> Problems:
        """Looks whether a backward makes zeros of cotangents of zeros."""
        outputs = self.run()
        for number, gradient in enumerate(grad(outputs, self.varied, _zeros(outputs), allow_unused=True)):
            if _has_values(gradient):
                yield (
                    f"backward not multiplied by grad_output: where all cotangents are zeros, the gradient of input "
                    f"{number} is not. A backward is linear in its cotangents."
                )

    def undefined(self) -> Problems:
        """Looks whether a backward makes None or zeros of gradients that are None."""
        n = len(self.run())
        for apart in [range(n), *([i] for i in range(n) if n > 1)]:
            outputs = [_without_gradient(out) if i in apart else out for i, out in enumerate(self.run())]
            try:
                found = grad(outputs, self.varied, _zeros(outputs), allow_unused=True)
            except Exception as error:
                warn_user(_UNDEFINED)
                raise GradientMismatchError(
                    "Expected backward function to handle undefined output grads: where an output has no gradient, its "
                    f"cotangent is None. It raised: {error}"
                ) from error
            if any(map(_has_values, found)):
                warn_user(_UNDEFINED)
                yield (
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    "Return None, or zeros, from `backward` where its cotangents are None."
                )

    def forward(self) -> Problems:
        """Compares tangents with differences."""
        kept = [i for i, out in enumerate(_floats(self.func, self.given)) if out.requires_grad]
        zeros = dict(zip(self.places, _zeros(self.varied), strict=True))
        for number, place in enumerate(self.places):
            for column, direction in enumerate(self.directions[number]):
                tangents = self._tangents({**zeros, place: _tensor(direction, self.given[place])})
                for position, output in enumerate(kept):
                    theirs, ours = self.differences[number][column][position], tangents[output]
                    ours = np.zeros_like(theirs) if ours is None else ours
                    if not self._is_close(ours, theirs):
                        yield (
                            f"Jacobian computed with forward mode mismatch for output {position} with respect to input "
                            f"{number}: it is {float(np.abs(ours - theirs).max()):.6g} off finite differences "
                            f"({self._measures(number)}). Look at its `jvp`."
                        )

    def undefined_forward(self) -> Problems:
        """Looks whether an input whose tangent is zeros gives the tangents of one without a tangent."""
        random = np.random.default_rng(0)
        tangents = {place: _tensor(_draw(random, self.given[place]), self.given[place]) for place in self.places}
        for place, zeros in zip(self.places, _zeros(self.varied), strict=True):
            with_zeros = self._tangents({**tangents, place: zeros})
            without = self._tangents({i: t for i, t in tangents.items() if i != place})
            for position, (ours, theirs) in enumerate(zip(with_zeros, without, strict=True)):
                if ours is not None and theirs is not None and not np.allclose(ours, theirs, 1e-5, 1e-8):
                    yield (
                        f"Mismatch in tangent values for output with index: {position}. Input {place} has a tangent of "
                        "zeros at first and then none, which means the same. Look at how its `jvp` takes None."
                    )

    def batched_forward(self) -> Problems:
        """Compares tangents of two directions at once with those of one after the other."""
        random = np.random.default_rng(0)
        for place in self.places:
            x = self.given[place]
            drawn = [_draw(random, x) for _ in range(2)]
            rows = [self._tangents({place: _tensor(direction, x)}) for direction in drawn]
            indices = [i for i, row in enumerate(rows[0]) if row is not None]
            for position, found in zip(indices, self._at_once(place, drawn, indices), strict=True):
                if not np.allclose(_wide(np.asarray(found)), np.stack([row[position] for row in rows]), 1e-4, 1e-6):
                    yield (
                        "gradcheck failed while testing batched gradient computation in forward mode: for output "
                        f"{position} and input {place} several tangents at once are not those of one after the other."
                    )

    def _at_once(self, place: int, directions: Sequence[np.ndarray], indices: Sequence[int]) -> list[Any]:
        def mapped(direction: Any) -> list[Any]:
            found = self._tangents({place: wrap_array(direction)}, as_arrays=True)
            return [found[i] for i in indices]

        stacked = jnp.stack([jnp.asarray(np.asarray(d, self.given[place].dtype)) for d in directions])
        n_draws = default_generator.offset
        try:
            both = jax.vmap(mapped)(stacked)
        except (JaxaotError, jax.errors.JAXTypeError) as error:
            raise GradientMismatchError(
                f"While computing batched gradients, got: {error} It was computed in forward mode, for several "
                f"tangents of input {place} at once; leave `check_batched_forward_grad` out where the function cannot "
                "be mapped."
            ) from error
        if default_generator.offset != n_draws:
            raise GradientMismatchError(
                "While computing batched gradients, got: vmap: We do not yet support calling random operations inside "
                "of vmap. The function draws random numbers, which are others for several tangents at once; leave "
                "`check_batched_forward_grad` out."
            )
        return both

    def _tangents(self, tangents: Mapping[int, Tensor], as_arrays: bool = False) -> list[Any]:
        """Returns the tangents of all float results for those of some inputs, which require no grad meanwhile."""
        plain = [x.detach() if isinstance(x, Tensor) and x.requires_grad else x for x in self.given]
        with dual_level():
            duals = [make_dual(x, tangents[i]) if i in tangents else x for i, x in enumerate(plain)]
            found = [unpack_dual(out).tangent for out in _floats(self.func, duals)]
            if as_arrays:
                return [None if tangent is None else tangent._read() for tangent in found]
            return [None if tangent is None else _numbers(tangent) for tangent in found]


class _Undefined(Node):
    """Lets no gradient through: what lies below gets None."""

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        return [None]


def _without_gradient(tensor: Tensor) -> Tensor:
    made = wrap_array(tensor.detach()._read())
    made._storage.is_shared = True
    made._history = History(made._layout, 0, True, _Undefined("UndefinedGrad", [tensor._gradient_edge()]), 0)
    return made


_UNDEFINED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    "`check_undefined_grad=False` to disable the feature."
)


def _floats(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    return [x for x in pytree.leaves(func(*inputs)) if isinstance(x, Tensor) and is_inexact(x.dtype)]


def _gradients(output: Tensor, varied: list[Tensor], cotangent: np.ndarray, checks_dtypes: bool) -> list[np.ndarray]:
    found = grad(output, varied, _tensor(cotangent, output), retain_graph=True, allow_unused=True)
    pairs = list(zip(found, varied, strict=True))
    for g, x in pairs if checks_dtypes else ():
        if g is not None and g.dtype != x.dtype:
            raise GradientMismatchError(f"The gradient has dtype {g.dtype}, and its input {x.dtype}.")
    return [np.zeros(x.shape) if g is None else _numbers(g) for g, x in pairs]


def _difference(run: Callable[[], list[Tensor]], x: Tensor, direction: np.ndarray, step: float) -> list[np.ndarray]:
    """Returns the derivative of all outputs in a direction of one input."""
    start = x.detach().clone()
    total: list[Any] = []
    types = None
    try:
        for n, weight in _STENCIL:
            with no_grad():
                x.copy_(_tensor(_wide(start.numpy()) + n * step * direction, x))
            outputs = run()
            found = [(tuple(out.shape), out.dtype) for out in outputs]
            _check_types(types or found, found, step)
            types = found
            values = [weight / step * _numbers(out) for out in outputs]
            total = values if not total else [a + b for a, b in zip(total, values, strict=True)]
    finally:
        with no_grad():
            x.copy_(start)
    return total


def _check_types(before: Sequence[Any], after: Sequence[Any], step: float) -> None:
    """Raises if outputs change their number, shape or dtype as inputs are varied."""
    for (shape, dtype), (other, other_dtype) in zip(before, after, strict=False):
        if shape != other:
            raise GradientMismatchError(
                "Expected `func` to return outputs with the same shape when inputs are perturbed by "
                f"{step:g}, but got: shapes {list(shape)} and {list(other)}."
            )
        if dtype != other_dtype:
            raise GradientMismatchError(
                "Expected `func` to return outputs with the same dtype when inputs are perturbed by "
                f"{step:g}, but got: dtypes {dtype} and {other_dtype}."
            )
    if len(before) != len(after):
        raise GradientMismatchError(
            f"Expected `func` to return as many outputs when inputs are perturbed by {step:g}, but got: {len(before)} "
            f"and {len(after)}."
        )


def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return call(lookup("stack"), (list(tensors),), (dim,))


def _zeros(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [_tensor(np.zeros(tuple(x.shape)), x) for x in tensors]


def _has_values(gradient: Tensor | None) -> bool:
    return gradient is not None and bool(np.any(_numbers(gradient) != 0))


def _numbers(x: Tensor) -> np.ndarray:
    return _wide(x.detach().numpy())


def _wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)


def _tensor(values: np.ndarray, like: Tensor) -> Tensor:
    return from_numpy(np.asarray(values, like.dtype))


def _draw(random: np.random.Generator, x: Tensor) -> np.ndarray:
    values = random.normal(size=tuple(x.shape))
    return values + 1j * random.normal(size=tuple(x.shape)) if x.is_complex() else values


def _draws(random: np.random.Generator, x: Tensor) -> list[np.ndarray]:
    values = _draw(random, x)
    return [values / max(float(np.linalg.norm(values)), 1e-12)]


def _rows(out: Tensor) -> list[tuple[str, int, np.ndarray]]:
    """Returns a cotangent for each real number in an output: what is said of it, the number of its element, and it."""
    units = [unit.reshape(tuple(out.shape)) for unit in np.eye(out.numel())]
    if not out.is_complex():
        return [("", row, unit) for row, unit in enumerate(units)]
    parts = {"imaginary": 1j, "real": 1}
    return [
        (f"While considering the {part} part of complex outputs only, ", row, one * unit)
        for part, one in parts.items() for row, unit in enumerate(units)
    ]  # fmt: skip


def _units(x: Tensor) -> list[np.ndarray]:
    """Returns a direction for each real number in a tensor."""
    units = [unit.reshape(tuple(x.shape)) for unit in np.eye(x.numel())]
    return [*units, *(1j * unit for unit in units)] if x.is_complex() else units
