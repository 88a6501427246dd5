"""`Distribution`: what all of them have, and `Independent`, which counts dims of a batch as dims of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxaot.distributions.constraints import Constraint, independent
from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_tensor, on_host
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Size, Tensor
from jaxaot.ops.promotion import default_float
from jaxaot.tape.modes import state

TOP: Mapping[str, Callable[..., Any]] = FUNCTIONS[""]

Shape = Sequence[int]
Value = Tensor | float


def as_parameters(values: Mapping[str, Value]) -> dict[str, Tensor]:
    """Returns parameters as tensors; numbers get the dtype of the first tensor."""
    tensor = next((value for value in values.values() if isinstance(value, Tensor)), None)
    options = {"dtype": default_float()} if tensor is None else {"dtype": tensor.dtype, "device": tensor.device}
    return {n: value if isinstance(value, Tensor) else as_tensor(value, **options) for n, value in values.items()}


def summed(value: Tensor, n: int) -> Tensor:
    """Returns the sums over the last `n` dims."""
    return value.sum(tuple(range(-n, 0))) if n else value


def _refuse(distribution: object, name: str) -> Any:
    cls = type(distribution).__name__
    raise NotImplementedError(f"{cls} has no `{name}`: there is no formula for it. Write it in a class of your own.")


class Distribution:
    """A distribution, or a batch of them.

    What parameters and values may be is checked: always where `validate_args` says so, by default outside of compiled
    functions, as checks ask for values.

    Attributes:
      arg_constraints: What each parameter may be.
      support: What values it has.
      batch_shape: The shape of the batch.
      event_shape: The shape of one value.
      has_rsample: Whether draws have gradients.
      has_enumerate_support: Whether all values can be listed.
    """

    arg_constraints: Mapping[str, Constraint] = {}
    support: Any = None
    has_rsample = False
    has_enumerate_support = False
    _checks: bool = True
    _event_dims: Mapping[str, int] = {}
    _kept: tuple[str, ...] = ()

    def __init__(self, batch_shape: Shape = (), event_shape: Shape = (), validate_args: bool | None = None) -> None:
        self.batch_shape = Size(batch_shape)
        self.event_shape = Size(event_shape)
        self._validate_args = validate_args
        if self._is_validated():
            for name in self._kept:
                if name in self.arg_constraints:
                    self._check_parameter(name, getattr(self, name), self.arg_constraints[name])

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Says whether distributions are checked that do not say themselves.

        Raises:
          TensorValueError: If it is no bool.
        """
        if value not in (True, False):
            raise TensorValueError(f"the default of `validate_args` is True or False, and {value!r} was given")
        Distribution._checks = value

    def _is_validated(self) -> bool:
        given = self._validate_args
        return (self._checks and state.trace is None) if given is None else given

    def _keep(self, validate_args: bool | None, event_shape: Shape = (), **given: Value) -> None:
        """Keeps parameters, made tensors of one batch shape, as attributes."""
        parameters = as_parameters(given)
        dims = [tensor.ndim - self._event_dims.get(name, 0) for name, tensor in parameters.items()]
        shapes = [tensor.shape[:n] for tensor, n in zip(parameters.values(), dims, strict=True)]
        batch_shape = TOP["broadcast_shapes"](*shapes)
        for (name, tensor), n in zip(parameters.items(), dims, strict=True):
            shape = (*batch_shape, *tensor.shape[n:])
            setattr(self, name, tensor if tuple(tensor.shape) == shape else tensor.expand(shape))
        self._kept = tuple(parameters)
        Distribution.__init__(self, batch_shape, event_shape, validate_args)

    def expand(self, batch_shape: Shape, _instance: object = None) -> Any:
        """Returns the distribution with a larger batch, without copies of its parameters."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        n = len(self.batch_shape)
        for name in self._kept:
            value = getattr(self, name)
            setattr(made, name, value.expand((*batch_shape, *value.shape[n:])))
        made.batch_shape = Size(batch_shape)
        return made

    # -- what each of them defines, as a row of functions; these have been checked -------------------------------------

    mean: Any = property(lambda self: _refuse(self, "mean"))
    mode: Any = property(lambda self: _refuse(self, "mode"))
    variance: Any = property(lambda self: _refuse(self, "variance"))
    stddev: Any = property(lambda self: self.variance.sqrt())

    def _draw(self, shape: Size) -> Tensor:
        return _refuse(self, "sample")

    def _density(self, v: Tensor) -> Tensor:
        return _refuse(self, "log_prob")

    def _below(self, v: Tensor) -> Tensor:
        return _refuse(self, "cdf")

    def _entropy(self) -> Tensor:
        return _refuse(self, "entropy")

    def icdf(self, value: Tensor) -> Tensor:
        """Returns of which values the `cdf` is `value`."""
        return _refuse(self, "icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Returns all values along a new first dim."""
        return _refuse(self, "enumerate_support")

    # -- what follows --------------------------------------------------------------------------------------------------

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        """Returns draws that have gradients by the parameters, of shape (*sample_shape, *batch_shape, *event_shape)."""
        if not self.has_rsample:
            raise NotImplementedError(
                f"{type(self).__name__} has no `rsample`. Write `sample`, and weigh by `log_prob`."
            )
        return self._draw(self._extended_shape(sample_shape))

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Returns draws without gradients, of shape (*sample_shape, *batch_shape, *event_shape)."""
        with recording(False):
            return self._draw(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Returns the logarithm of the density, or of the probability, at values."""
        self._check_value(value)
        return self._density(value)

    def cdf(self, value: Tensor) -> Tensor:
        """Returns the probability of at most a value."""
        self._check_value(value)
        return self._below(value)

    def entropy(self) -> Tensor:
        """Returns the entropy, of shape `batch_shape`."""
        return self._entropy()

    def perplexity(self) -> Tensor:
        """Returns the exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Shape = ()) -> Size:
        return Size((*sample_shape, *self.batch_shape, *self.event_shape))

    def _blank(self, shape: Shape) -> Tensor:
        """Returns a tensor for draws, of the dtype and on the device of the parameters."""
        return getattr(self, self._kept[0]).detach().new_empty(tuple(shape))

    def _uniform(self, shape: Shape) -> Tensor:
        """Returns draws between 0 and 1, and neither of them."""
        return self._blank(shape).uniform_(float(np.finfo(np.float32).tiny), 1.0).clamp(max=1 - 2.0**-24)

    # -- checks --------------------------------------------------------------------------------------------------------

    def _holds(self, value: Tensor, constraint: Constraint) -> bool:
        value = value.detach()
        array = on_host(value)
        return bool(constraint.check(value if array is None else array).all())

    def _check_parameter(self, name: str, value: Tensor, constraint: Constraint) -> None:
        if not self._holds(value, constraint):
            raise TensorValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self} to satisfy the constraint {constraint}, but found invalid values:\n{value}"
            )

    def _check_value(self, value: object) -> None:
        """Raises unless values are of this distribution, where that is checked."""
        if not isinstance(value, Tensor):
            raise TensorTypeError(
                f"The value argument to log_prob must be a Tensor, and a {type(value).__name__} was given. Write "
                "`ja.tensor(value)`."
            )
        if not self._is_validated():
            return
        for one, other in zip(reversed(value.shape), reversed(self._extended_shape()), strict=False):
            if 1 not in (one, other) and one != other:
                raise TensorValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {list(value.shape)} vs "
                    f"{list(self._extended_shape())}."
                )
        if self.support is not None and not self._holds(value, self.support):
            raise TensorValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({self.support}) of the distribution {self}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in self._kept}
        is_known = state.trace is None
        parts = (f"{n}: {x.item() if is_known and not x.ndim else list(x.shape)}" for n, x in shown.items())
        return f"{type(self).__name__}({', '.join(parts)})"


class Independent(Distribution):
    """A distribution of which the last dims of the batch are dims of the event.

    Args:
      base_distribution: The distribution.
      reinterpreted_batch_ndims: How many dims.
      validate_args: As of all.
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        shape = tuple(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > len(shape):
            raise TensorValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(shape)}"
            )
        n = len(shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:n], (*shape[n:], *base_distribution.event_shape), validate_args)

    def expand(self, batch_shape: Shape, _instance: object = None) -> Any:
        base, n = self.base_dist, self.reinterpreted_batch_ndims
        shape = (*batch_shape, *self.event_shape[:n])
        return type(self)(base.expand(shape), n, self._validate_args)

    has_rsample: Any = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def support(self) -> Any:  # type: ignore[override]
        base, n = self.base_dist.support, self.reinterpreted_batch_ndims
        return independent(base, n) if n else base

    def _draw(self, shape: Size) -> Tensor:
        n = len(shape) - len(self.batch_shape) - len(self.event_shape)
        return self.base_dist._draw(self.base_dist._extended_shape(shape[:n]))

    def log_prob(self, value: Tensor) -> Tensor:
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def _entropy(self) -> Tensor:
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
