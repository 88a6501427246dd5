"""`ja.autograd.functional`: derivatives of functions by the tape (`torch.autograd.functional`).

With `create_graph` what comes back is on the tape, so that it can be differentiated again. With `strict` an output that
does not depend on an input is an error rather than zeros.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot.errors import AutogradError, IndependentInputError, TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.gradients.grad import grad, recording
from jaxaot.facade.marks.trees import to_arrays, to_tensors
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops.views import detached, reshape, view_as
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state
from jaxaot.tracer.bodies.pure import is_transformed, run_pure

_OUTPUTS = "outputs of the user-provided function"
_REVERSE, _FORWARD = "reverse-mode", "forward-mode"

Tensors = tuple[Tensor, ...]

zeros_like = FUNCTIONS[""]["zeros_like"]


# -- what goes in and comes out ----------------------------------------------------------------------------------------


def _listed(value: Any, name: str, fn: str) -> tuple[bool, Tensors]:
    """Returns whether a value is a tuple, and the tensors in it.

    Raises:
      TensorTypeError: If there is anything else.
    """
    is_tuple = isinstance(value, tuple)
    for i, item in enumerate(value if is_tuple else (value,)):
        if not isinstance(item, Tensor):
            found = f"the value at index {i}" if is_tuple else f"the given {name}"
            raise TensorTypeError(
                f"The {name} given to {fn} must be either a Tensor or a tuple of Tensors but {found} has type "
                f"{type(item)}."
            )
    return is_tuple, value if is_tuple else (value,)


def _unlisted(values: Sequence[Any], is_tuple: bool) -> Any:
    return tuple(values) if is_tuple else values[0]


def _refuse_lost_gradients(inputs: Tensors) -> None:
    """Raises where `ja.func` would differentiate a result that has no graph, and find zeros."""
    if is_transformed() and state.grad_enabled and any(x.requires_grad for x in inputs):
        raise AutogradError(
            "A function that `ja.func` differentiates calls one of torch.autograd.functional "
            "without `create_graph=True`: its result would count as a constant. Compute it by `ja.func.jacrev`, "
            "`ja.func.vjp` or `ja.func.jvp`, or pass `create_graph=True`."
        )


def _inputs_anew(inputs: Tensors, create_graph: bool, needs_graph: bool = True) -> Tensors:
    """Returns inputs as tensors of their own, apart from those that the function reaches by itself."""
    if not create_graph:
        _refuse_lost_gradients(inputs)
    return tuple(
        view_as(x, x) if create_graph and x.requires_grad else detached(x).requires_grad_(needs_graph) for x in inputs
    )


def _results(values: Any, create_graph: bool) -> Any:
    """Returns nested tuples of tensors, off the tape unless it is to be recorded."""
    if isinstance(values, Tensor):
        return values if create_graph else detached(values)
    return tuple(_results(value, create_graph) for value in values)


def _vector(v: Any, like: Tensors, is_tuple: bool, fn: str, create_graph: bool) -> Tensors:
    """Returns the vector of a product, of the shapes of `like`.

    Raises:
      AutogradError: If its shapes are others.
    """
    _, given = _listed(v, "v", fn)
    given = _inputs_anew(given, create_graph, needs_graph=False)
    if len(like) != len(given):
        if is_tuple:
            raise AutogradError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
        raise AutogradError("The given v should contain a single Tensor.")
    for i, (own, other) in enumerate(zip(given, like, strict=True)):
        if own.shape != other.shape:
            prefix = f"Entry {i} in " if is_tuple else ""
            raise AutogradError(f"{prefix}v has invalid size: should be {list(other.shape)} but got {list(own.shape)}.")
    return given


def _single_input(inputs: Tensors) -> None:
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise AutogradError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            "element. Pass `v`."
        )


_INDEPENDENT = {
    "outputs": (
        "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "gradients": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is "
        "not allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
        "for example)."
    ),
}


def _check_dependence(values: Sequence[Tensor | None], what: str, strict: bool) -> None:
    """Raises in strict mode if one of some values does not depend on the inputs."""
    for i, value in enumerate(values if strict else ()):
        if value is None:
            raise IndependentInputError(_UNUSED["the output"].format(i=i))
        if not value.requires_grad:
            raise IndependentInputError(_INDEPENDENT[what].format(i=i))


_UNUSED = {
    "the output": (
        "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
    ),
    "the gradient": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "the jacobian": (
        "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode."
    ),
    "the hessian": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}


def _filled(found: Sequence[Tensor | None], like: Tensors, strict: bool, create_graph: bool, what: str) -> Tensors:
    """Returns gradients with zeros for those that there are not.

    Raises:
      IndependentInputError: In strict mode, if there are such.
    """
    for i, gradient in enumerate(found if strict else ()):
        if gradient is None:
            raise IndependentInputError(_UNUSED[what].format(i=i))
        if create_graph and not gradient.requires_grad:
            order = "hessian" if what in ("the jacobian", "the hessian") else "jacobian"
            raise IndependentInputError(
                f"The {order} of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode when create_graph=True."
            )
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True))


def _gradients(outputs: Sequence[Any], inputs: Tensors, cotangents: Sequence[Any] | None = None, **options: Any) -> Any:
    """Returns gradients, None for what is not used, also if none of the outputs requires grad."""
    cotangents = [None] * len(outputs) if cotangents is None else cotangents
    pairs = [(y, ct) for y, ct in zip(outputs, cotangents, strict=True) if y is not None and y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad([y for y, _ in pairs], inputs, [ct for _, ct in pairs], allow_unused=True, **options)


def _single_output(is_tuple: bool, outputs: Tensors, fn: str) -> None:
    if is_tuple:
        raise AutogradError(f"The function given to {fn} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise AutogradError(f"The Tensor returned by the function given to {fn} should contain a single element")


# -- products ----------------------------------------------------------------------------------------------------------


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Returns a function's result, and a vector times its Jacobian.

    Args:
      func: Takes tensors to a tensor or a tuple of them.
      inputs: A tensor or a tuple of them.
      v: Of the shapes of the outputs; may be left out for a single one of one element.
      create_graph: Whether what is returned can be differentiated.
      strict: Whether an output that is independent of an input is an error.

    Raises:
      IndependentInputError: If it is, with `strict`.
      AutogradError: If `v` does not fit.
    """
    with recording(True):
        several, inputs = _listed(inputs, "inputs", "vjp")
        inputs = _inputs_anew(inputs, create_graph)
        returns_several, outputs = _listed(func(*inputs), _OUTPUTS, "vjp")
        _check_dependence(outputs, "outputs", strict)
        if v is not None:
            v = _vector(v, outputs, returns_several, "vjp", create_graph)
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise AutogradError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element. Pass `v`."
            )
    with recording(create_graph or state.grad_enabled):
        found = _gradients(outputs, inputs, v, create_graph=create_graph)
        found = _filled(found, inputs, strict, create_graph, "the output")
    return _unlisted(_results(outputs, create_graph), returns_several), _unlisted(
        _results(found, create_graph), several
    )


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Returns a function's result, and its Jacobian times a vector, by two backwards.

    Args:
      func: As for `vjp`.
      inputs: As for `vjp`.
      v: Of the shapes of the inputs; may be left out for a single one of one element.
      create_graph: As for `vjp`.
      strict: As for `vjp`.

    Raises:
      IndependentInputError: As for `vjp`.
      AutogradError: As for `vjp`.
    """
    with recording(True):
        several, inputs = _listed(inputs, "inputs", "jvp")
        inputs = _inputs_anew(inputs, create_graph)
        if v is not None:
            v = _vector(v, inputs, several, "jvp", create_graph)
        else:
            _single_input(inputs)
        returns_several, outputs = _listed(func(*inputs), _OUTPUTS, "jvp")
        _check_dependence(outputs, "outputs", strict)
        cotangents = tuple(zeros_like(y).requires_grad_() for y in outputs)
        pulled = _gradients(outputs, inputs, cotangents, create_graph=True)
        _check_dependence(pulled, "gradients", strict)
    with recording(create_graph or state.grad_enabled):
        found = _gradients(pulled, cotangents, v, create_graph=create_graph)
        found = _filled(found, outputs, strict, create_graph, "the gradient")
    return tuple(_unlisted(_results(x, create_graph), returns_several) for x in (outputs, found))  # type: ignore


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Returns a function's result, and a vector times its Hessian.

    Args:
      func: Takes tensors to a tensor of one element.
      inputs: As for `vjp`.
      v: Of the shapes of the inputs; may be left out for a single one of one element.
      create_graph: As for `vjp`.
      strict: As for `vjp`.

    Raises:
      IndependentInputError: As for `vjp`.
      AutogradError: As for `vjp`.
    """
    several, inputs, v, outputs, slopes = _slopes(func, inputs, v, create_graph, strict, "vhp")
    with recording(create_graph or state.grad_enabled):
        found = _gradients(slopes, inputs, v, create_graph=create_graph)
        found = _filled(found, inputs, strict, create_graph, "the jacobian")
    return _results(outputs[0], create_graph), _unlisted(_results(found, create_graph), several)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Returns a function's result, and its Hessian times a vector; `vhp` gives the same with less work.

    Args:
      func: As for `vhp`.
      inputs: As for `vhp`.
      v: As for `vhp`.
      create_graph: As for `vhp`.
      strict: As for `vhp`.

    Raises:
      IndependentInputError: As for `vhp`.
      AutogradError: As for `vhp`.
    """
    several, inputs, v, outputs, slopes = _slopes(func, inputs, v, create_graph, strict, "hvp")
    with recording(True):
        cotangents = tuple(zeros_like(x).requires_grad_() for x in inputs)
        pulled = _gradients(slopes, inputs, cotangents, create_graph=True)
    with recording(create_graph or state.grad_enabled):
        found = _gradients(pulled, cotangents, v, create_graph=create_graph)
        found = _filled(found, inputs, strict, create_graph, "the hessian")
    return _results(outputs[0], create_graph), _unlisted(_results(found, create_graph), several)


def _slopes(func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, fn: str) -> Any:
    """Returns whether there are several inputs, the inputs, the vector, the output and its gradients, recorded."""
    with recording(True):
        several, inputs = _listed(inputs, "inputs", fn)
        inputs = _inputs_anew(inputs, create_graph)
        if v is not None:
            v = _vector(v, inputs, several, fn, create_graph)
        else:
            _single_input(inputs)
        returns_several, outputs = _listed(func(*inputs), _OUTPUTS, fn)
        _check_dependence(outputs, "outputs", strict)
        _single_output(returns_several, outputs, fn)
        slopes = _gradients(outputs, inputs, create_graph=True)
        _check_dependence(slopes, "jacobian", strict)
    return several, inputs, v, outputs, slopes


# -- matrices ----------------------------------------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = _REVERSE,
) -> Any:
    """Returns the Jacobian of a function: for each output, and in it for each input, a tensor of both their shapes.

    Args:
      func: Takes tensors to a tensor or a tuple of them.
      inputs: A tensor or a tuple of them.
      create_graph: Whether what is returned can be differentiated.
      strict: Whether an output that is independent of an input is an error.
      vectorize: Whether all rows, or columns, are computed at once.
      strategy: `"reverse-mode"`, row by row, or `"forward-mode"`, column by column, which `vectorize` has to go with.

    Raises:
      IndependentInputError: If there is such an output, with `strict`.
      AutogradError: If options do not go together.
    """
    if strategy not in (_REVERSE, _FORWARD):
        raise TensorValueError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", not {strategy!r}. Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to '
            'use "reverse-mode".'
        )
    if strategy == _FORWARD:
        return _by_columns(func, inputs, create_graph, strict, vectorize)
    with recording(True):
        several, inputs = _listed(inputs, "inputs", "jacobian")
        inputs = _inputs_anew(inputs, create_graph)
        returns_several, outputs = _listed(func(*inputs), _OUTPUTS, "jacobian")
        _check_dependence(outputs, "outputs", strict)
        if vectorize and strict:
            raise AutogradError(
                "jacobian: `strict=True` and `vectorize=True` are not supported together. Please either set "
                "`strict=False` or `vectorize=False`."
            )
        if vectorize:
            found = _rows_at_once(outputs, inputs, create_graph)
        else:
            found = [_rows_one_by_one(i, y, inputs, create_graph, strict) for i, y in enumerate(outputs)]
    found = _results(found, create_graph)
    return _unlisted([_unlisted(row, several) for row in found], returns_several)


def _rows_one_by_one(i: int, output: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> Any:
    """Returns the derivatives of an output by the inputs, a backward for each of its elements."""
    rows: list[list[Tensor]] = [[] for _ in inputs]
    flat = reshape(output, -1)
    for j in range(output.numel()):
        found = _gradients((flat[j],), inputs, retain_graph=True, create_graph=create_graph)
        for k, gradient in enumerate(found):
            if strict and gradient is None:
                raise IndependentInputError(
                    f"Output {i} of the user-provided function is independent of input {k}. This is not allowed in "
                    "strict mode."
                )
            if strict and create_graph and not gradient.requires_grad:
                raise IndependentInputError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
                    "strict mode when create_graph=True."
                )
            rows[k].append(zeros_like(inputs[k]) if gradient is None else gradient)
    return [_shaped(_stacked(row, x), output, x) for row, x in zip(rows, inputs, strict=True)]


def _stacked(rows: list[Tensor], like: Tensor) -> Tensor:
    return call(lookup("stack"), (rows,), (0,)) if rows else like.new_zeros((0, *like.shape))


def _rows_at_once(outputs: Tensors, inputs: Tensors, create_graph: bool) -> Any:
    """Returns the derivatives of all outputs by the inputs, by one batched backward."""
    ends = list(itertools.accumulate(y.numel() for y in outputs))
    found: Any = [None] * len(inputs)
    if ends[-1]:
        basis = [y.new_zeros((ends[-1], y.numel())) for y in outputs]
        for chunk, end in zip(basis, ends, strict=True):
            chunk[end - chunk.shape[1] : end].diagonal().fill_(1)
        flat = [reshape(y, -1) for y in outputs]
        found = _gradients(flat, inputs, basis, create_graph=create_graph, is_grads_batched=True)
    rows = [x.new_zeros((ends[-1], *x.shape)) if g is None else g for g, x in zip(found, inputs, strict=True)]
    return [
        [_shaped(row[end - y.numel() : end], y, x) for row, x in zip(rows, inputs, strict=True)]
        for y, end in zip(outputs, ends, strict=True)
    ]


def _shaped(rows: Tensor, output: Tensor, like: Tensor) -> Tensor:
    return reshape(rows, (*output.shape, *like.shape))


def _by_columns(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    for option, is_set in (("create_graph", create_graph), ("strict", strict)):
        if is_set:
            raise AutogradError(
                f'jacobian: `{option}=True` and `strategy="forward-mode"` are not supported together (yet). Please '
                f'either set `{option}=False` or `strategy="reverse-mode"`.'
            )
    if not vectorize:
        raise AutogradError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )
    several, inputs = _listed(inputs, "inputs", "jacobian")
    _refuse_lost_gradients(inputs)
    form: list[bool] = []

    def outputs_of(*values: Tensor) -> tuple[Any, ...]:
        def listed(*given: Any) -> Tensors:
            returns_several, outputs = _listed(func(*given), "outputs", "jacobian")
            form[:] = [returns_several]
            return outputs

        return run_pure(listed, values, {})

    found = to_tensors(jax.jacfwd(outputs_of, tuple(range(len(inputs))))(*to_arrays(inputs)))
    return _unlisted([_unlisted(row, several) for row in found], form[0])


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = _REVERSE,
) -> Any:
    """Returns the second derivatives of a function: for each input, and in it for each input, a tensor of both shapes.

    Args:
      func: Takes tensors to a tensor of one element.
      inputs: As for `jacobian`.
      create_graph: As for `jacobian`.
      strict: As for `jacobian`.
      vectorize: As for `jacobian`.
      outer_jacobian_strategy: How the gradient is differentiated: the `strategy` of `jacobian`.

    Raises:
      IndependentInputError: As for `jacobian`.
      AutogradError: If the function returns anything else, or options do not go together.
    """
    several, inputs = _listed(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in (_REVERSE, _FORWARD):
        raise TensorValueError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", not {outer_jacobian_strategy!r}.'
        )

    def single(*given: Any) -> Tensor:
        is_tuple, outputs = _listed(func(*given), _OUTPUTS, "hessian")
        _check_dependence(outputs, "outputs", strict)
        _single_output(is_tuple, outputs, "hessian")
        return reshape(outputs[0], ())

    def slopes(*given: Any) -> Tensors:
        found = jacobian(single, given, create_graph=True)
        _check_dependence(found, "jacobian", strict)
        return found

    found = jacobian(slopes, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return _unlisted([_unlisted(row, several) for row in found], several)
