"""Starting values of parameters, written in place (`torch.nn.init`): the same distributions, other draws."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from jaxaot._util import show_only_own as _show_only_own
from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.errors.absent import missing_name
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor

_F = TypeVar("_F", bound=Callable[..., Any])
_TOP: Mapping[str, Callable[..., Any]] = FUNCTIONS[""]


def _as_what(value: object) -> str:
    cls = type(value)
    return f"a {cls.__name__}" if cls.__module__ == "builtins" else f"a {cls.__module__.split('.')[0]}.{cls.__name__}"


def _unrecorded(fn: _F) -> _F:
    @functools.wraps(fn)
    def run(*args: object, **kwargs: Any) -> Any:
        tensor = args[0] if args else kwargs.get("tensor")
        if (args or "tensor" in kwargs) and not isinstance(tensor, Tensor):
            raise TensorTypeError(
                f"`{fn.__name__}` writes into a `ja.Tensor`, and was given {_as_what(tensor)}. Write "
                f"`ja.nn.init.{fn.__name__}(ja.empty(3, 5))`, or pass a parameter, `layer.weight`."
            )
        with recording(False):
            return fn(*args, **kwargs)

    return run  # type: ignore[return-value]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Returns the factor by which the standard deviation is multiplied in front of an activation.

    Args:
      nonlinearity: Its name, as a function of `nn.functional`.
      param: The slope of a leaky ReLU, 0.01 by default.
    """
    if nonlinearity in ("linear", "conv1d", "conv2d", "conv3d", "sigmoid", "selu") or "conv_transpose" in nonlinearity:
        return 0.75 if nonlinearity == "selu" else 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if isinstance(param, bool) or not isinstance(param, (int, float, type(None))):
            raise TensorValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    raise TensorValueError(
        f"Unsupported nonlinearity {nonlinearity}. There are linear, sigmoid, tanh, relu, leaky_relu and selu; for "
        "others multiply by a factor of your own."
    )


@_unrecorded
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with draws from [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@_unrecorded
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with draws from a normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


@_unrecorded
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with draws from a normal distribution of which only what lies in [a, b] is left."""
    below = lambda x: (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    low, high = below((a - mean) / std), below((b - mean) / std)
    tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
    return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


@_unrecorded
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills a tensor with a number."""
    return tensor.fill_(val)


@_unrecorded
def ones_(tensor: Tensor) -> Tensor:
    """Fills a tensor with ones."""
    return constant_(tensor, 1.0)


@_unrecorded
def zeros_(tensor: Tensor) -> Tensor:
    """Fills a tensor with zeros."""
    return constant_(tensor, 0.0)


@_unrecorded
def eye_(tensor: Tensor) -> Tensor:
    """Fills a matrix with the identity."""
    if tensor.ndim != 2:
        raise TensorValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(_TOP["eye"](*tensor.shape, dtype=tensor.dtype))


@_unrecorded
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills the weight of a convolution so that it keeps as many channels as it can, in each group."""
    if tensor.ndim not in (3, 4, 5):
        raise TensorValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise TensorValueError("dim 0 must be divisible by groups")
    n = tensor.shape[0] // groups
    tensor.zero_()
    centre = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for i in range(min(n, tensor.shape[1])):
            tensor[(group * n + i, i, *centre)] = 1
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise TensorValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


@_unrecorded
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a weight with uniform draws by Glorot and Bengio (2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_fans(tensor)))
    return tensor.uniform_(-bound, bound, generator=generator)


@_unrecorded
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a weight with normal draws by Glorot and Bengio (2010)."""
    return tensor.normal_(0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator=generator)


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise TensorValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode.lower() == "fan_out"]


@_unrecorded
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills a weight with uniform draws by He et al. (2015).

    Args:
      tensor: The weight.
      a: The slope of the leaky ReLU that follows.
      mode: What keeps its variance: `"fan_in"` that of values, `"fan_out"` that of gradients.
      nonlinearity: The activation that follows.
      generator: What draws.
    """
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return tensor.uniform_(-bound, bound, generator=generator)


@_unrecorded
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills a weight with normal draws by He et al. (2015); see `kaiming_uniform_`."""
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return tensor.normal_(0, std, generator=generator)


@_unrecorded
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fills a weight with a random orthogonal matrix, times `gain`; dims after the first count as one."""
    if tensor.ndim < 2:
        raise TensorValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = _TOP["empty"](max(rows, columns), min(rows, columns), dtype=tensor.dtype).normal_(0, 1, generator=generator)
    q, r = FUNCTIONS["linalg"]["qr"](drawn)
    q = q * _TOP["diag"](r).sign()
    return tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape)).mul_(gain)


@_unrecorded
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fills a matrix with normal draws, of which in each column a part `sparsity` is zero."""
    if tensor.ndim != 2:
        raise TensorValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    n_zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    order = _TOP["rand"](rows, columns, generator=generator).argsort(0)
    return tensor.scatter_(0, order[:n_zeros], 0.0)


_FIRST_NAMES = ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
                "kaiming_normal", "orthogonal", "sparse")  # fmt: skip
"""Names that PyTorch had for functions that write in place, and keeps with a warning."""


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _FIRST_NAMES:
        raise missing_name(__name__, name, __all__)

    def first_name(*args: Any, **kwargs: Any) -> Any:
        words = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
        warnings.warn(words, FutureWarning, stacklevel=2)
        return globals()[f"{name}_"](*args, **kwargs)

    return first_name


__all__: list[str]

_show_only_own(globals())
